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

/* of different waves, a SIMD issues one instruction per unit and quad-cycle */
enum sg_unit {
	SG_UNIT_VALU,
	SG_UNIT_SALU,
	SG_UNIT_SMEM,
	SG_UNIT_VMEM,
	SG_UNIT_FLAT,
	SG_UNIT_LDS,
	SG_UNIT_GDS,
	SG_UNIT_MISC, /* branches, messages, barrier, end */
	SG_UNIT_NONE, /* s_waitcnt, s_nop, s_sleep: takes no issue slot */
	SG_N_UNITS
};

enum sg_mem_kind {
	SG_MEM_NONE,
	SG_MEM_LOAD,
	SG_MEM_STORE,
	SG_MEM_ATOMIC,
	SG_MEM_ATOMIC_RET,
	SG_MEM_CACHE /* invalidations and write-backs: no address */
};

/* in the order of the SQ_INSTS_VALU_* counters, gfx90a */
enum sg_valu_class {
	SG_VALU_OTHER,
	SG_VALU_ADD_F16,
	SG_VALU_MUL_F16,
	SG_VALU_FMA_F16,
	SG_VALU_TRANS_F16,
	SG_VALU_ADD_F32,
	SG_VALU_MUL_F32,
	SG_VALU_FMA_F32,
	SG_VALU_TRANS_F32,
	SG_VALU_ADD_F64,
	SG_VALU_MUL_F64,
	SG_VALU_FMA_F64,
	SG_VALU_TRANS_F64,
	SG_VALU_INT32,
	SG_VALU_INT64,
	SG_VALU_CVT,
	SG_VALU_MFMA_I8,
	SG_VALU_MFMA_F16,
	SG_VALU_MFMA_BF16,
	SG_VALU_MFMA_F32,
	SG_VALU_MFMA_F64,
	SG_N_VALU_CLASSES
};

/* flags */
enum {
	SG_INST_END = 1 << 0,
	SG_INST_BARRIER = 1 << 1,
	SG_INST_BRANCH = 1 << 2,
	SG_INST_MESSAGE = 1 << 3,
	SG_INST_PACKED = 1 << 4, /* counts twice in its class */
	SG_INST_SLC = 1 << 5,
	SG_INST_PAIR = 1 << 6,   /* ds_read2 and the like: two accesses per lane */
	SG_INST_TO_LDS = 1 << 7, /* a load that lands in LDS */
};

/* of s_ instructions, as a sampling profiler tells them apart */
enum sg_scalar_kind {
	SG_SCALAR_NONE, /* arithmetic and loads, and whatever is not scalar */
	SG_SCALAR_BRANCH,
	SG_SCALAR_CBRANCH,
	SG_SCALAR_JUMP,
	SG_SCALAR_MESSAGE,
	SG_SCALAR_BARRIER,
	SG_SCALAR_END,
	SG_SCALAR_WAITCNT,
	SG_SCALAR_NOP,
	SG_SCALAR_SLEEP,
	SG_SCALAR_OTHER,
};

#define SG_NO_WAIT 0xff

struct sg_timing_insn {
	uint8_t dwords;        /* 0: nothing is known about this slot yet */
	uint8_t unit;          /* enum sg_unit */
	uint8_t passes;        /* quad-cycles that it keeps the unit */
	uint8_t matrix_passes; /* ... the matrix unit */
	uint8_t mem;           /* enum sg_mem_kind */
	uint8_t bytes;         /* per lane (scalar: in all) and access */
	uint8_t flags;
	uint8_t valu;               /* enum sg_valu_class */
	uint8_t wait_vm, wait_lgkm; /* s_waitcnt: may go on with so many left */
	uint8_t ops512;             /* matrix: operations / 512 */
	uint8_t glc;                /* a load that goes past L1 */
	uint8_t scalar;             /* enum sg_scalar_kind */
	uint8_t simple;             /* arithmetic of one quad-cycle: nothing but that happens */
	uint16_t idle;              /* s_nop, s_sleep: cycles */
	uint16_t pair[2];           /* ds_read2: what is added to the address, bytes */
};

struct sg_inst_source {
	const char *mnemonic;
	bool gfx90a;
	uint8_t dwords;
	bool glc, slc, lds, gds;
	uint16_t simm;            /* of s_waitcnt, s_nop, s_sleep */
	uint8_t offset0, offset1; /* of ds pairs */
};

struct sg_timing_insn sg_tinst_of(const struct sg_inst_source *src);

/* Does it leave a record in the memory stream of the trace? */
static inline bool sg_inst_has_address(struct sg_timing_insn t)
{
	return t.mem != SG_MEM_NONE && t.mem != SG_MEM_CACHE;
}

#endif
