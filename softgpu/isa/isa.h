/*
 * isa: the instruction sets of gfx908, gfx90a, gfx942 and gfx950: decoding and printing.
 *
 * sg_isa_decode() turns instruction words into fields by name; it knows the tables in this folder
 * and nothing of waves or execution. The interpreter lowers the fields to what it runs
 * (exec/lower.c), the disassembler prints them as LLVM does.
 *
 * Threads  everything here is pure.
 */
#ifndef WS_SOFTGPU_ISA_ISA_H
#define WS_SOFTGPU_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* Also bits of sg_isa_row.targets. In the order of the generations: a later one is greater. */
enum sg_isa_target { SG_ISA_GFX908 = 1, SG_ISA_GFX90A = 2, SG_ISA_GFX942 = 4, SG_ISA_GFX950 = 8 };
#define SG_ISA_N_TARGETS 4

enum sg_enc {
	SG_ENC_SOP2, SG_ENC_SOPK, SG_ENC_SOP1, SG_ENC_SOPC, SG_ENC_SOPP, SG_ENC_SMEM,
	SG_ENC_VOP2, SG_ENC_VOP1, SG_ENC_VOPC, SG_ENC_VOP3, SG_ENC_VOP3P,
	SG_ENC_DS, SG_ENC_FLAT, SG_ENC_MUBUF, SG_ENC_MTBUF, SG_ENC_VOP3PX,
	SG_N_ENCS
};

/* The form an instruction of the VOP1, VOP2, VOPC tables is written in. */
enum sg_form { SG_FORM_PLAIN, SG_FORM_VOP3, SG_FORM_SDWA, SG_FORM_DPP };

/* the roles of README.md */
enum sg_role {
	SG_ROLE_NONE, SG_ROLE_SDST, SG_ROLE_SRC0, SG_ROLE_SRC1, SG_ROLE_SRC2, SG_ROLE_SIMM16,
	SG_ROLE_LABEL, SG_ROLE_HWREG, SG_ROLE_WAITCNT, SG_ROLE_SENDMSG, SG_ROLE_IMM32,
	SG_ROLE_SDATA, SG_ROLE_SBASE, SG_ROLE_SOFFSET, SG_ROLE_VDST, SG_ROLE_CO, SG_ROLE_CI,
	SG_ROLE_K, SG_ROLE_VADDR, SG_ROLE_DATA0, SG_ROLE_DATA1, SG_ROLE_OFFSET, SG_ROLE_OFFSET0,
	SG_ROLE_OFFSET1, SG_ROLE_GDS, SG_ROLE_VDATA, SG_ROLE_SADDR, SG_ROLE_SEG, SG_ROLE_SRSRC,
	SG_ROLE_LDS, SG_ROLE_GPR_IDX, SG_ROLE_SWIZZLE, SG_ROLE_SCALE0, SG_ROLE_SCALE1
};

enum sg_type_class { SG_TYPE_B, SG_TYPE_U, SG_TYPE_I, SG_TYPE_F, SG_TYPE_BF, SG_TYPE_PK16, SG_TYPE_PKBF16, SG_TYPE_PK32,
		     SG_TYPE_MATRIX };

/* the flags of README.md */
enum sg_isa_flag {
	SG_ISA_CLAMP = 1 << 0, SG_ISA_NOMOD = 1 << 1, SG_ISA_CLASS = 1 << 2, SG_ISA_OPSEL = 1 << 3,
	SG_ISA_NEGABS = 1 << 4, SG_ISA_IGNMODS = 1 << 5, SG_ISA_VCC = 1 << 6, SG_ISA_MIX = 1 << 7,
	SG_ISA_MFMA = 1 << 8, SG_ISA_E32 = 1 << 9, SG_ISA_OPTIMM = 1 << 10,
	SG_ISA_GDSONLY = 1 << 11, SG_ISA_ATOMIC = 1 << 12, SG_ISA_NOSCC = 1 << 13,
	SG_ISA_NOGLC = 1 << 14, SG_ISA_ACCDST = 1 << 15, SG_ISA_ACCSRC = 1 << 16,
	SG_ISA_REGSRC = 1 << 17, SG_ISA_EXEC = 1 << 18, SG_ISA_HALVES = 1 << 19,
	SG_ISA_NOCLAMP = 1 << 20, SG_ISA_SEL4 = 1 << 21, SG_ISA_SRCSEL = 1 << 22,
	SG_ISA_BITOP3 = 1 << 23, SG_ISA_PERMSWAP = 1 << 24, SG_ISA_SPARSE = 1 << 25,
	SG_ISA_F8F6F4 = 1 << 26, SG_ISA_VGPRS = 1 << 27
};

/*
 * The class column: the unit that executes the instruction, and the counter of its kind. Vector
 * classes are in the order of gfx90a's SQ_INSTS_VALU_* counters.
 */
enum sg_insn_class {
	SG_CLASS_VALU, /* vector arithmetic without a counter of its own */
	SG_CLASS_ADD_F16, SG_CLASS_MUL_F16, SG_CLASS_FMA_F16, SG_CLASS_TRANS_F16,
	SG_CLASS_ADD_F32, SG_CLASS_MUL_F32, SG_CLASS_FMA_F32, SG_CLASS_TRANS_F32,
	SG_CLASS_ADD_F64, SG_CLASS_MUL_F64, SG_CLASS_FMA_F64, SG_CLASS_TRANS_F64,
	SG_CLASS_INT32, SG_CLASS_INT64, SG_CLASS_CVT,
	SG_CLASS_MFMA_I8, SG_CLASS_MFMA_F16, SG_CLASS_MFMA_BF16, SG_CLASS_MFMA_F32,
	SG_CLASS_MFMA_F64, SG_CLASS_MFMA_XF32, SG_CLASS_MFMA_F8, SG_CLASS_MFMA_F6F4,
	SG_CLASS_SALU,
	SG_CLASS_BRANCH, SG_CLASS_CBRANCH, SG_CLASS_JUMP, SG_CLASS_MESSAGE, SG_CLASS_BARRIER,
	SG_CLASS_END, SG_CLASS_MISC,
	/* executed by the sequencer itself, without an issue slot */
	SG_CLASS_WAITCNT, SG_CLASS_NOP, SG_CLASS_SLEEP, SG_CLASS_INTERNAL,
	SG_CLASS_SMEM, SG_CLASS_VMEM, SG_CLASS_FLAT, SG_CLASS_LDS, SG_CLASS_GDS,
	SG_N_CLASSES
};

/* The memory column. */
enum sg_mem_kind {
	SG_MEM_NONE,
	SG_MEM_LOAD, SG_MEM_STORE, SG_MEM_ATOMIC, SG_MEM_ATOMIC_RTN,
	SG_MEM_CONTROL, /* reaches no address: cache maintenance, clocks, exchange between lanes */
	SG_N_MEM_KINDS
};
enum sg_mem_addressing {
	SG_ADDR_PLAIN,
	SG_ADDR_BUFFER, SG_ADDR_SCRATCH, /* smem: a descriptor; the wave's scratch */
	SG_ADDR_PAIR, SG_ADDR_PAIR64,    /* ds: two offsets, in elements or in 64 elements */
	SG_ADDR_FORMAT                   /* buffers: the descriptor's format decides the size */
};

struct sg_isa_operand {
	uint8_t role;         /* enum sg_role */
	uint8_t type_class;   /* enum sg_type_class; PK16, PKBF16 and PK32: packed pairs */
	uint8_t bits;         /* of one element, 8..64 (0: more than 64, see n_regs) */
	uint8_t n_regs;       /* 32-bit registers it takes */
	bool is_float;        /* inline constants are floats, neg/abs/omod/clamp exist */
};

#define SG_ISA_MAX_OPERANDS 7
struct sg_isa_row {
	const char *mnemonic;
	uint16_t op;
	uint16_t handler;     /* index into the interpreter's handler tables, from 1 */
	uint8_t enc;          /* enum sg_enc: the table it stands in */
	uint8_t targets;      /* bits of enum sg_isa_target */
	uint8_t segments;     /* flat: bit 0 flat, bit 1 scratch, bit 2 global */
	uint8_t forms;        /* bits of enum sg_form: the forms it can be written in */
	uint32_t flags;       /* enum sg_isa_flag */
	uint8_t insn_class;   /* enum sg_insn_class */
	uint16_t weight;      /* packed: elements; matrix: operations / 512 */
	uint8_t rate[SG_ISA_N_TARGETS]; /* quad-cycles; see sg_isa_rate() */
	uint8_t mem_kind;     /* enum sg_mem_kind; ATOMIC may be ATOMIC_RTN: sg_isa_mem_kind() */
	uint8_t mem_bytes;    /* per lane (smem: in all) and access */
	uint8_t addressing;   /* enum sg_mem_addressing */
	uint8_t n_operands;
	struct sg_isa_operand operand[SG_ISA_MAX_OPERANDS];
};

/* Operand numbers as the hardware encodes them. */
enum {
	SG_OPND_SGPR0 = 0, SG_OPND_FLAT_SCRATCH_LO = 102, SG_OPND_XNACK_MASK_LO = 104,
	SG_OPND_VCC_LO = 106, SG_OPND_VCC_HI = 107, SG_OPND_TTMP0 = 108, SG_OPND_M0 = 124,
	SG_OPND_EXEC_LO = 126, SG_OPND_EXEC_HI = 127, SG_OPND_INT_0 = 128, SG_OPND_INT_64 = 192,
	SG_OPND_INT_M16 = 208, SG_OPND_SHARED_BASE = 235, SG_OPND_SHARED_LIMIT = 236,
	SG_OPND_PRIVATE_BASE = 237, SG_OPND_PRIVATE_LIMIT = 238, SG_OPND_POPS_WAVE_ID = 239,
	SG_OPND_F_0_5 = 240, SG_OPND_F_INV_2PI = 248, SG_OPND_SDWA = 249, SG_OPND_DPP = 250,
	SG_OPND_VCCZ = 251, SG_OPND_EXECZ = 252, SG_OPND_SCC = 253, SG_OPND_LDS_DIRECT = 254,
	SG_OPND_LITERAL = 255, SG_OPND_VGPR0 = 256
};

struct sg_decoded_insn {
	const struct sg_isa_row *row;
	uint8_t form;                 /* enum sg_form */
	uint8_t n_dwords;
	uint16_t src[3];              /* operand numbers of src0..src2; VGPRs from 256 */
	uint8_t src_acc;              /* bit k: src[k] is an AGPR */
	uint8_t dst_acc;              /* vdst/vdata is an AGPR */
	uint8_t vdst;                 /* VGPR number (VOPC: unused) */
	uint8_t sdst;                 /* operand: scalar destination, carry-out, mask, smem data */
	uint32_t literal;             /* of operand 255, madmk's k, setreg's imm32 */
	int32_t simm;                 /* simm16, sign-extended; memory offset, if signed too */

	/*
	 * Vector modifiers. Bit k of neg, abs, op_sel, ... is source k, op_sel bit 3 the
	 * destination; neg and abs are set for floats only (and v_cndmask_b32). Matrices of f64 have
	 * neg from gfx942 on.
	 */
	uint8_t neg, abs, op_sel, op_sel_hi, neg_hi;
	uint8_t omod;                 /* 0 none, 1 *2, 2 *4, 3 /2 */
	bool clamp;
	/* SDWA */
	uint8_t src_sel[2], dst_sel, dst_unused, sext; /* sel: 0-3 byte, 4-5 word, 6 dword */
	/* DPP */
	uint16_t dpp_ctrl;
	uint8_t row_mask, bank_mask;
	bool bound_ctrl;              /* as encoded: invalid source lanes read 0 */
	/* MFMA */
	uint8_t cbsz, abid, blgp;
	uint16_t scale[2];            /* operand numbers; op_sel and op_sel_hi choose their bytes */
	uint8_t bitop3;               /* truth table: bit s0 * 4 + s1 * 2 + s2 */

	/* memory */
	uint8_t seg;                  /* flat: 0 flat, 1 scratch, 2 global */
	uint8_t vaddr, vdata, data1;  /* VGPR numbers; ds data0 is in vdata */
	uint8_t saddr;                /* flat: SGPRs, 0x7f none. smem: sbase. buffers: srsrc */
	uint8_t soffset;              /* smem, buffers: operand number */
	uint8_t offset0, offset1;     /* ds pairs */
	uint8_t dfmt, nfmt;           /* mtbuf */
	bool soffset_en, imm_en;      /* smem: which offsets count */
	bool glc, slc, scc;           /* from gfx942 on: sc0, nt, sc1 */
	bool nv, lds, tfe, gds, idxen, offen;
	bool sve;                     /* scratch: vaddr counts, not only saddr */
};
/* clang-format on */

/* "gfx90a"; the target of that name, 0: none. */
const char *sg_isa_target_name(enum sg_isa_target target);
enum sg_isa_target sg_isa_target_find(const char *name);

/* Quad-cycles for which the instruction occupies its unit; of a matrix instruction, the matrix unit. */
static inline uint8_t sg_isa_rate(const struct sg_isa_row *row, enum sg_isa_target target)
{
	return row->rate[__builtin_ctz(target)];
}

/* Neither matrix has 8-bit elements: twice as fast, and of the class mfma_f6f4. */
static inline bool sg_isa_is_f6f4(const struct sg_decoded_insn *insn)
{
	return (insn->row->flags & SG_ISA_F8F6F4) && insn->cbsz >= 2 && insn->cbsz <= 4 &&
	       insn->blgp >= 2 && insn->blgp <= 4;
}

/* The row's memory kind; outside LDS the glc bit of an atomic decides whether it returns a value. */
static inline enum sg_mem_kind sg_isa_mem_kind(const struct sg_decoded_insn *insn)
{
	return insn->row->mem_kind == SG_MEM_ATOMIC && insn->glc ? SG_MEM_ATOMIC_RTN
								 : insn->row->mem_kind;
}

/* It reaches memory or LDS at an address, which a wave trace records. */
static inline bool sg_isa_has_address(const struct sg_decoded_insn *insn)
{
	return insn->row->mem_kind != SG_MEM_NONE && insn->row->mem_kind != SG_MEM_CONTROL &&
	       !insn->gds;
}

/* Two accesses per lane: ds_read2 and the like. */
static inline bool sg_isa_is_pair(const struct sg_isa_row *row)
{
	return row->addressing == SG_ADDR_PAIR || row->addressing == SG_ADDR_PAIR64;
}

#define SG_ISA_MAX_WORDS 4

/* The first word of a prefix; it and what it stands before are one instruction of four words. */
bool sg_isa_is_prefix(enum sg_isa_target target, uint32_t word);

/*
 * Decodes the instruction at words[0]; n_words are readable. False: not an instruction of this
 * target (or cut off), out->n_dwords is 1 then.
 */
bool sg_isa_decode(enum sg_isa_target target, const uint32_t *words, size_t n_words,
		   struct sg_decoded_insn *out);

/*
 * Prints as LLVM's disassembler does; a branch target is the encoded distance then. pc is what a
 * target would be relative to. Returns the length, as snprintf.
 */
int sg_isa_print(enum sg_isa_target target, const struct sg_decoded_insn *insn, uint64_t pc,
		 char *buf, size_t size);

/* All rows, for tests and tools. */
extern const struct sg_isa_row sg_isa_rows[];
extern const size_t sg_isa_n_rows;

#endif
