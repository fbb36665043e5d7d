/*
 * timing_insn: what the timing model has to know about one instruction: where it issues, how long
 * it occupies the unit, what it moves, which registers it reads and writes, which counters it belongs to.
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

/* Results that need not be there when the next instruction issues; how late they are depends on the chip. */
enum sg_result {
	SG_RESULT_PROMPT,
	SG_RESULT_TRANS,  /* of a transcendental instruction */
	SG_RESULT_SCALAR, /* SGPRs, VCC or EXEC that a vector instruction writes */
	SG_RESULT_MATRIX,
	SG_N_RESULTS
};

/* What reads a register. */
enum sg_reader {
	SG_READER_VECTOR,      /* also what a matrix instruction multiplies */
	SG_READER_SCALAR,      /* scalar arithmetic, branches, scalar memory */
	SG_READER_MEMORY,      /* addresses and data of vector memory and LDS */
	SG_READER_ACCUMULATOR, /* what a matrix instruction adds to, if it is not the same registers */
	SG_READER_NONE,
	SG_N_READERS = SG_READER_NONE
};

/* Registers that follow each other: scalar operands as encoded, VGPRs from 256, AGPRs from 512. n = 0: none. */
struct sg_reg_span {
	uint16_t first, n;
};
#define SG_REG_VGPR0 256
#define SG_REG_AGPR0 512

static inline bool sg_reg_overlap(struct sg_reg_span a, struct sg_reg_span b)
{
	return a.first < b.first + b.n && b.first < a.first + a.n;
}

#define SG_NO_WAIT 0xff
#define SG_MAX_READS 5

struct sg_timing_insn {
	uint8_t dwords;        /* 0: this slot has not been decoded yet */
	uint8_t unit;          /* enum sg_unit */
	uint8_t insn_class;    /* enum sg_insn_class */
	uint16_t weight;       /* packed: elements; matrix: operations / 512 */
	uint8_t passes;        /* quad-cycles that it occupies the unit */
	uint8_t matrix_passes; /* ... the matrix unit; 0: not a matrix instruction */
	uint8_t mem_kind;      /* enum sg_mem_kind */
	uint8_t bytes;         /* per lane (scalar: in all) and access */
	uint8_t flags;         /* SG_INSN_* */
	bool glc : 1;          /* a load that bypasses L1 */
	bool slc : 1;          /* streamed through L2 */
	bool simple : 1;       /* arithmetic of one quad-cycle, without other effects */
	bool in_block : 1;     /* the following one is fetched along with it; filled by the model */
	uint8_t wait_vm, wait_lgkm; /* s_waitcnt: continues when at most so many are left */
	uint16_t idle;              /* s_nop, s_sleep: cycles */
	uint16_t pair[2];           /* pairs: bytes that are added to the address */

	uint8_t result, reader; /* enum sg_result, enum sg_reader */
	uint8_t n_reads;
	uint8_t late[SG_N_READERS]; /* quad-cycles from issue to a reader's; filled by the model */
	uint8_t late_most;          /* the greatest of them; 0: nothing is late */
	struct sg_reg_span reads[SG_MAX_READS];
	struct sg_reg_span accumulator; /* of a matrix instruction; not in reads[] */
	struct sg_reg_span vdst;
	struct sg_reg_span late_regs[2]; /* those that the late result is in */
};
_Static_assert(sizeof(struct sg_timing_insn) == 64, "an index is a shift");

struct sg_timing_insn sg_timing_insn_of(const struct sg_decoded_insn *insn,
					enum sg_isa_target target);

#endif
