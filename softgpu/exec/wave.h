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

#define SG_LANES 64
#define SG_N_VGPRS 256

struct sg_exec_insn;
struct sg_decoded_insn;
struct sg_wave;
struct sg_code_window;

/* Why the interpreter leaves a wave. */
enum sg_stop {
	SG_GO,           /* next instruction */
	SG_STOP_END,     /* s_endpgm */
	SG_STOP_BARRIER, /* arrived at s_barrier */
	SG_STOP_WAIT,    /* s_sleep, a GWS resource: let others run first */
	SG_STOP_FAULT,   /* w->fault is filled */
	SG_STOP_MODE,    /* MODE or GPR indexing changed: choose the loop again */
	SG_STOP_BUDGET,
};

typedef enum sg_stop (*sg_handler)(struct sg_wave *w, const struct sg_exec_insn *i);

/* Where the lane array of a vector operand lies. */
enum sg_base { SG_BASE_VGPR, SG_BASE_AGPR, SG_BASE_CONST, SG_BASE_TMP, SG_N_BASES };

enum { SG_D, SG_S0, SG_S1, SG_S2, SG_N_OPERANDS }; /* index of an operand in sg_exec_insn */

/* Bits of the head: handler, length, and what the slow loops have to know. */
#define SG_HEAD_HANDLER 0xffffu
#define SG_HEAD_DWORDS(head) (((head) >> 16) & 0xf)
#define SG_HEAD_FP32 (1u << 24)   /* rounds and flushes by MODE's f32 fields */
#define SG_HEAD_FP64 (1u << 25)   /* ... by the f64/f16 fields */
#define SG_HEAD_VECTOR (1u << 26) /* VALU: subject to GPR indexing */
#define SG_HEAD_LANES (1u << 27)  /* works on lanes, VALU or memory: VSKIP skips it */

/* One instruction, ready to run. There is a slot for every dword of code, so that a branch is an
 * addition; all zero means "not decoded yet", which is what fresh pages are. */
struct sg_exec_insn {
	_Atomic uint32_t head;
	uint8_t base[SG_N_OPERANDS]; /* enum sg_base */
	union {
		uint32_t off[SG_N_OPERANDS]; /* vector operands: from the base, in dwords */
		uint64_t k[2];               /* scalar instructions: constants of src0, src1 */
	};
	/* Scalar operand k is at byte s_off[k] of the wave, or (bit k of s_const) of this struct. */
	uint16_t s_off[SG_N_OPERANDS];
	uint8_t s_const;
	uint8_t splat;   /* bit k: vector operand k is scalar; bit k + 4: more than 32 bits */
	uint8_t sdst;    /* register number of a mask or scalar destination */
	uint8_t clamp;   /* integer saturation, for the handlers that know it; memory: save.h */
	uint16_t inner;  /* the handler that a wrapper calls */
	uint16_t n_regs; /* registers of the vector destination */
	int32_t imm;     /* simm16, branch distance in slots, memory offset */
	uint32_t literal;
	const struct sg_decoded_insn *fields; /* as decoded, for what is not on the hot path */
	uint64_t target;                      /* GPU address of a branch that leaves the window */
};
_Static_assert(sizeof(struct sg_exec_insn) == 64, "one instruction is one cache line");

/* As many slots as SG_HEAD_DWORDS() says, in bytes: a shift and a mask. */
#define SG_HEAD_BYTES(head) ((head) >> 10 & 0xfu << 6)
_Static_assert(SG_HEAD_BYTES(0xfu << 16) ==
		       SG_HEAD_DWORDS(0xfu << 16) * sizeof(struct sg_exec_insn),
	       "the size of a slot is a power of two");

/* MODE register */
#define SG_MODE_FP_DEFAULT 0xf0u /* round to nearest even, denormals kept */
#define SG_MODE_FP_MASK 0xffu
#define SG_MODE_DX10_CLAMP (1u << 8)
#define SG_MODE_IEEE (1u << 9)
#define SG_MODE_GPR_IDX_EN (1u << 27)
#define SG_MODE_VSKIP (1u << 28)

/* Scalar file: operand numbers 0..127 are registers; above them live those that change by themselves. */
#define SG_S_VCC 106
#define SG_S_M0 124
#define SG_S_EXEC 126
#define SG_S_VCCZ 128
#define SG_S_EXECZ 129
#define SG_S_SCC 130
#define SG_S_ZERO 131 /* and 132: a 64-bit zero */
#define SG_S_LDS_DIRECT 133
#define SG_S_APERTURES                                                                             \
	134 /* shared base, shared limit, private base, private limit: 64 bits each */
#define SG_N_SCALARS 144

struct sg_wave {
	uint32_t *base[SG_N_BASES];
	const struct sg_exec_insn *pc; /* next instruction */
	const struct sg_exec_insn *at; /* the one being run: a fault names it */
	const sg_handler *handlers;
	uint32_t scc;
	uint32_t mode;
	uint32_t s[SG_N_SCALARS] __attribute__((aligned(16)));
	struct sg_code_window *window; /* pc is a slot of it */
	struct sg_launch *launch;
	const struct sg_mem_map *mem;
	uint8_t *lds;
	uint32_t lds_bytes;
	uint32_t shared_hi, private_hi; /* upper halves of the flat apertures */
	uint32_t gpr_idx_mask;          /* s_set_gpr_idx_on: bits src0 src1 src2 dst */
	uint32_t scratch_bytes;         /* of this wave */
	uint64_t scratch;               /* GPU address of this wave's slice */
	uint32_t hw_id, xcc_id, trap_sts, status_priv;
	uint32_t index;      /* in the workgroup */
	uint8_t run_state;   /* enum sg_stop it was left with */
	bool behind_barrier; /* and has not waited for memory since (s_waitcnt) */
	uint64_t n_instructions;
	uint64_t gws_wait; /* gws.h: what this wave waits for */
	struct sg_fault fault;

	/* --- a new workgroup leaves what follows as it is --- */
	uint64_t mask_of; /* the EXEC that lane_mask was expanded from */
	uint32_t lane_mask[SG_LANES] __attribute__((aligned(64))); /* 0 or ~0, see sg_lane_mask() */
	uint32_t result[16 * SG_LANES]
		__attribute__((aligned(64))); /* of a handler while EXEC is partial */
	uint32_t tmp[SG_N_OPERANDS][4 * SG_LANES]
		__attribute__((aligned(64))); /* splats, modified sources */
};

static inline uint64_t sg_s64(const struct sg_wave *w, unsigned reg)
{
	uint64_t v;

	__builtin_memcpy(&v, &w->s[reg], sizeof(v));
	return v;
}

static inline void sg_s64_put(struct sg_wave *w, unsigned reg, uint64_t v)
{
	__builtin_memcpy(&w->s[reg], &v, sizeof(v));
}

static inline uint64_t sg_exec(const struct sg_wave *w)
{
	return sg_s64(w, SG_S_EXEC);
}

/* Fills w->fault for the instruction and returns SG_STOP_FAULT. */
enum sg_stop sg_wave_fault(struct sg_wave *w, const struct sg_exec_insn *i, enum sg_fault_kind kind,
			   uint64_t address, bool write);

/*
 * Where the wave goes on, mostly behind the instruction that it has executed. The host guesses that from the comparison. w->pc alone,
 * stored and loaded again, would make each instruction wait for the one before. The compiler must not know that both are equal.
 */
static inline const struct sg_exec_insn *sg_wave_next(const struct sg_wave *w,
						      const struct sg_exec_insn *behind)
{
	if (__builtin_expect(w->pc != behind, 0))
		return w->pc;
	__asm__("" : "+r"(behind));
	return behind;
}

/* GPU address of an instruction, and the way back: continue at `address` (or fault). */
uint64_t sg_wave_pc(const struct sg_wave *w, const struct sg_exec_insn *i);
enum sg_stop sg_wave_jump(struct sg_wave *w, const struct sg_exec_insn *from, uint64_t address);

/* Brings the scalar operands up to date that change by themselves (vccz, execz, scc, lds_direct). */
void sg_wave_refresh_specials(struct sg_wave *w);

/* Runs until something other than the next instruction is to be done. */
enum sg_stop sg_wave_run(struct sg_wave *w, uint64_t budget);

#endif
