/*
 * inst: what the models have to know about one instruction: where it issues, how long it keeps the
 * unit, what it moves, which counters it belongs to.
 *
 * Made once per instruction of a kernel from its mnemonic and a few fields; pure.
 */
#ifndef WS_SOFTGPU_TIMING_INST_H
#define WS_SOFTGPU_TIMING_INST_H

#include <stdbool.h>
#include <stdint.h>

enum ws_unit { /* of different waves, a SIMD issues one instruction per unit and quad-cycle */
	WS_UNIT_VALU, WS_UNIT_SALU, WS_UNIT_SMEM, WS_UNIT_VMEM, WS_UNIT_FLAT, WS_UNIT_LDS, WS_UNIT_GDS,
	WS_UNIT_MISC,         /* branches, messages, barrier, end */
	WS_UNIT_NONE,         /* s_waitcnt, s_nop, s_sleep: takes no issue slot */
	WS_N_UNITS
};

enum ws_mem_kind { WS_MEM_NONE, WS_MEM_LOAD, WS_MEM_STORE, WS_MEM_ATOMIC, WS_MEM_ATOMIC_RET,
		   WS_MEM_CACHE /* invalidations and write-backs: no address */ };

enum ws_valu_class { /* in the order of the SQ_INSTS_VALU_* counters, gfx90a */
	WS_VALU_OTHER,
	WS_VALU_ADD_F16, WS_VALU_MUL_F16, WS_VALU_FMA_F16, WS_VALU_TRANS_F16,
	WS_VALU_ADD_F32, WS_VALU_MUL_F32, WS_VALU_FMA_F32, WS_VALU_TRANS_F32,
	WS_VALU_ADD_F64, WS_VALU_MUL_F64, WS_VALU_FMA_F64, WS_VALU_TRANS_F64,
	WS_VALU_INT32, WS_VALU_INT64, WS_VALU_CVT,
	WS_VALU_MFMA_I8, WS_VALU_MFMA_F16, WS_VALU_MFMA_BF16, WS_VALU_MFMA_F32, WS_VALU_MFMA_F64,
	WS_N_VALU_CLASSES
};

enum { /* flags */
	WS_INST_END = 1 << 0, WS_INST_BARRIER = 1 << 1, WS_INST_BRANCH = 1 << 2, WS_INST_MESSAGE = 1 << 3,
	WS_INST_PACKED = 1 << 4,      /* counts twice in its class */
	WS_INST_SLC = 1 << 5,
	WS_INST_PAIR = 1 << 6,        /* ds_read2 and the like: two accesses per lane */
	WS_INST_TO_LDS = 1 << 7,      /* a load that lands in LDS */
};

enum ws_scalar_kind { /* of s_ instructions, as a sampling profiler tells them apart */
	WS_SCALAR_NONE,       /* arithmetic and loads, and whatever is not scalar */
	WS_SCALAR_BRANCH, WS_SCALAR_CBRANCH, WS_SCALAR_JUMP, WS_SCALAR_MESSAGE, WS_SCALAR_BARRIER,
	WS_SCALAR_END, WS_SCALAR_WAITCNT, WS_SCALAR_NOP, WS_SCALAR_SLEEP, WS_SCALAR_OTHER,
};

#define WS_NO_WAIT 0xff

struct ws_tinst {
	uint8_t dwords;               /* 0: nothing is known about this slot yet */
	uint8_t unit;                 /* enum ws_unit */
	uint8_t passes;               /* quad-cycles that it keeps the unit */
	uint8_t matrix_passes;        /* ... the matrix unit */
	uint8_t mem;                  /* enum ws_mem_kind */
	uint8_t bytes;                /* per lane (scalar: in all) and access */
	uint8_t flags;
	uint8_t valu;                 /* enum ws_valu_class */
	uint8_t wait_vm, wait_lgkm;   /* s_waitcnt: may go on with so many left */
	uint8_t ops512;               /* matrix: operations / 512 */
	uint8_t glc;                  /* a load that goes past L1 */
	uint8_t scalar;               /* enum ws_scalar_kind */
	uint8_t simple;               /* arithmetic of one quad-cycle: nothing but that happens */
	uint16_t idle;                /* s_nop, s_sleep: cycles */
	uint16_t pair[2];             /* ds_read2: what is added to the address, bytes */
};

struct ws_inst_source {
	const char *mnemonic;
	bool gfx90a;
	uint8_t dwords;
	bool glc, slc, lds, gds;
	uint16_t simm;                /* of s_waitcnt, s_nop, s_sleep */
	uint8_t offset0, offset1;     /* of ds pairs */
};

struct ws_tinst ws_tinst_of(const struct ws_inst_source *src);

/* Does it leave a record in the memory stream of the trace? */
static inline bool ws_inst_has_address(struct ws_tinst t)
{
	return t.mem != WS_MEM_NONE && t.mem != WS_MEM_CACHE;
}

#endif
