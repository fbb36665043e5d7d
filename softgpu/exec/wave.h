/*
 * wave: the state of one wavefront, and an instruction as the interpreter runs it.
 *
 * Registers are arrays over lanes: VGPR n of lane l is vgpr[n * 64 + l], and a 64-bit value in
 * v[n:n+1] has its halves in two neighbouring arrays. So an operation is one loop over 64 lanes that
 * the compiler turns into vector code, and a lane never reads what another lane writes.
 *
 * A source of a vector operation is always such an array: constants stand in a pool, splatted once
 * when the instruction is decoded; a scalar register is splatted into w->tmp just before use.
 *
 * Threads  a wave belongs to the thread that runs its workgroup. Decoded instructions are shared:
 *          `head` is published last (release), the rest is constant from then on.
 */
#ifndef WS_SOFTGPU_EXEC_WAVE_H
#define WS_SOFTGPU_EXEC_WAVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/exec/launch.h"

#define WS_LANES 64
#define WS_N_VGPRS 256

struct ws_inst;
struct ws_insn;
struct ws_wave;
struct ws_code_window;

/* Why the interpreter leaves a wave. */
enum ws_stop {
	WS_GO,                /* next instruction */
	WS_STOP_END,          /* s_endpgm */
	WS_STOP_BARRIER,      /* arrived at s_barrier */
	WS_STOP_WAIT,         /* s_sleep, a GWS resource: let others run first */
	WS_STOP_FAULT,        /* w->fault is filled */
	WS_STOP_MODE,         /* MODE or GPR indexing changed: choose the loop again */
	WS_STOP_BUDGET,
};

typedef enum ws_stop (*ws_handler)(struct ws_wave *w, const struct ws_inst *i);

/* Where the lane array of a vector operand lies. */
enum ws_base { WS_BASE_VGPR, WS_BASE_AGPR, WS_BASE_CONST, WS_BASE_TMP, WS_N_BASES };

enum { WS_D, WS_S0, WS_S1, WS_S2, WS_N_OPERANDS }; /* index of an operand in ws_inst */

/* Bits of the head: handler, length, and what the slow loops have to know. */
#define WS_HEAD_HANDLER 0xffffu
#define WS_HEAD_DWORDS(head) (((head) >> 16) & 0xf)
#define WS_HEAD_FP32 (1u << 24)       /* rounds and flushes by MODE's f32 fields */
#define WS_HEAD_FP64 (1u << 25)       /* ... by the f64/f16 fields */
#define WS_HEAD_VECTOR (1u << 26)     /* VALU: subject to GPR indexing */
#define WS_HEAD_LANES (1u << 27)      /* works on lanes, VALU or memory: VSKIP skips it */

/* One instruction, ready to run. There is a slot for every dword of code, so that a branch is an
 * addition; all zero means "not decoded yet", which is what fresh pages are. */
struct ws_inst {
	_Atomic uint32_t head;
	uint8_t base[WS_N_OPERANDS];          /* enum ws_base */
	union {
		uint32_t off[WS_N_OPERANDS];  /* vector operands: from the base, in dwords */
		uint64_t k[2];                /* scalar instructions: constants of src0, src1 */
	};
	/* Scalar operand k is at byte s_off[k] of the wave, or (bit k of s_const) of this struct. */
	uint16_t s_off[WS_N_OPERANDS];
	uint8_t s_const;
	uint8_t splat;                /* bit k: vector operand k is scalar; bit k + 4: more than 32 bits */
	uint8_t sdst;                 /* register number of a mask or scalar destination */
	uint8_t clamp;                /* integer saturation, for the handlers that know it; memory: save.h */
	uint16_t inner;               /* the handler that a wrapper calls */
	uint16_t n_regs;              /* registers of the vector destination */
	int32_t imm;                  /* simm16, branch distance in slots, memory offset */
	uint32_t literal;
	const struct ws_insn *fields; /* as decoded, for what is not on the hot path */
	uint64_t target;              /* GPU address of a branch that leaves the window */
};
_Static_assert(sizeof(struct ws_inst) == 64, "one instruction is one cache line");

/* MODE register */
#define WS_MODE_FP_DEFAULT 0xf0u      /* round to nearest even, denormals kept */
#define WS_MODE_FP_MASK 0xffu
#define WS_MODE_DX10_CLAMP (1u << 8)
#define WS_MODE_IEEE (1u << 9)
#define WS_MODE_GPR_IDX_EN (1u << 27)
#define WS_MODE_VSKIP (1u << 28)

/* Scalar file: operand numbers 0..127 are registers; above them live those that change by themselves. */
#define WS_S_VCC 106
#define WS_S_M0 124
#define WS_S_EXEC 126
#define WS_S_VCCZ 128
#define WS_S_EXECZ 129
#define WS_S_SCC 130
#define WS_S_ZERO 131                 /* and 132: a 64-bit zero */
#define WS_S_LDS_DIRECT 133
#define WS_S_APERTURES 134            /* shared base, shared limit, private base, private limit: 64 bits each */
#define WS_N_SCALARS 144

struct ws_wave {
	uint32_t *base[WS_N_BASES];
	const struct ws_inst *pc;     /* next instruction */
	const struct ws_inst *at;     /* the one being run: a fault names it */
	const ws_handler *handlers;
	uint32_t scc;
	uint32_t mode;
	uint32_t s[WS_N_SCALARS] __attribute__((aligned(16)));
	struct ws_code_window *window; /* pc is a slot of it */
	struct ws_launch *launch;
	const struct ws_mem_map *mem;
	uint8_t *lds;
	uint32_t lds_bytes;
	uint32_t shared_hi, private_hi; /* upper halves of the flat apertures */
	uint32_t gpr_idx_mask;        /* s_set_gpr_idx_on: bits src0 src1 src2 dst */
	uint32_t scratch_bytes;       /* of this wave */
	uint64_t scratch;             /* GPU address of this wave's slice */
	uint32_t hw_id, trap_sts, status_priv;
	uint32_t index;               /* in the workgroup */
	uint8_t run_state;            /* enum ws_stop it was left with */
	uint64_t n_instructions;
	uint64_t gws_wait;            /* gws.h: what this wave waits for */
	struct ws_fault fault;

	/* --- a new workgroup leaves what follows as it is --- */
	uint64_t mask_of;             /* the EXEC that lane_mask was expanded from */
	uint32_t lane_mask[WS_LANES] __attribute__((aligned(64))); /* 0 or ~0, see ws_lane_mask() */
	uint32_t result[16 * WS_LANES] __attribute__((aligned(64))); /* of a handler while EXEC is partial */
	uint32_t tmp[WS_N_OPERANDS][4 * WS_LANES] __attribute__((aligned(64))); /* splats, modified sources */
};

static inline uint64_t ws_s64(const struct ws_wave *w, unsigned reg)
{
	uint64_t v;

	__builtin_memcpy(&v, &w->s[reg], sizeof(v));
	return v;
}

static inline void ws_s64_put(struct ws_wave *w, unsigned reg, uint64_t v)
{
	__builtin_memcpy(&w->s[reg], &v, sizeof(v));
}

static inline uint64_t ws_exec(const struct ws_wave *w)
{
	return ws_s64(w, WS_S_EXEC);
}

/* Fills w->fault for the instruction and returns WS_STOP_FAULT. */
enum ws_stop ws_wave_fault(struct ws_wave *w, const struct ws_inst *i, enum ws_fault_kind kind,
			   uint64_t address, bool write);

/* GPU address of an instruction, and the way back: continue at `address` (or fault). */
uint64_t ws_wave_pc(const struct ws_wave *w, const struct ws_inst *i);
enum ws_stop ws_wave_jump(struct ws_wave *w, const struct ws_inst *from, uint64_t address);

/* Brings the scalar operands up to date that change by themselves (vccz, execz, scc, lds_direct). */
void ws_wave_refresh_specials(struct ws_wave *w);

/* Runs until something other than the next instruction is to be done. */
enum ws_stop ws_wave_run(struct ws_wave *w, uint64_t budget);

#endif
