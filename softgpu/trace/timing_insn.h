/*
 * timing_insn: what the timing model has to know about one instruction: where it issues, how long
 * it occupies the unit, what it moves, which counters it belongs to.
 *
 * Made once per instruction of a kernel from the decoder's result; all that is particular to an
 * instruction comes from its row of the tables (isa/README.md). Pure.
 */
#ifndef WS_SOFTGPU_TRACE_TIMING_INSN_H
#define WS_SOFTGPU_TRACE_TIMING_INSN_H

#include <stdint.h>

#include "softgpu/isa/isa.h"

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

/* flags */
enum {
	SG_INSN_END = 1 << 0,
	SG_INSN_BARRIER = 1 << 1,
	SG_INSN_BRANCH = 1 << 2,
	SG_INSN_MESSAGE = 1 << 3,
	SG_INSN_PAIR = 1 << 4,     /* ds_read2 and the like: two accesses per lane */
	SG_INSN_FLATSEG = 1 << 5,  /* flat, neither global nor scratch */
	SG_INSN_TO_LDS = 1 << 6,   /* a load from memory to LDS */
	SG_INSN_KEEPS_L1 = 1 << 7, /* cache maintenance that leaves L1 alone */
};

#define SG_NO_WAIT 0xff

struct sg_timing_insn {
	uint8_t dwords;             /* 0: this slot has not been decoded yet */
	uint8_t unit;               /* enum sg_unit */
	uint8_t insn_class;         /* enum sg_insn_class */
	uint16_t weight;            /* packed: elements; matrix: operations / 512 */
	uint8_t passes;             /* quad-cycles that it occupies the unit */
	uint8_t matrix_passes;      /* ... the matrix unit; 0: not a matrix instruction */
	uint8_t mem_kind;           /* enum sg_mem_kind */
	uint8_t bytes;              /* per lane (scalar: in all) and access */
	uint8_t flags;              /* SG_INSN_* */
	uint8_t glc;                /* a load that bypasses L1 */
	uint8_t slc;                /* streamed through L2 */
	uint8_t simple;             /* arithmetic of one quad-cycle, without other effects */
	uint8_t wait_vm, wait_lgkm; /* s_waitcnt: continues when at most so many are left */
	uint16_t idle;              /* s_nop, s_sleep: cycles */
	uint16_t pair[2];           /* pairs: bytes that are added to the address */
};

struct sg_timing_insn sg_timing_insn_of(const struct sg_decoded_insn *insn,
					enum sg_isa_target target);

#endif
