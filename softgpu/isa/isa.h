/*
 * isa: the instruction set of gfx908 and gfx90a: decoding and printing.
 *
 * ws_isa_decode() turns instruction words into fields by name; it knows the tables in this folder
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
enum ws_isa_target { WS_ISA_GFX908 = 1, WS_ISA_GFX90A = 2 }; /* also bits of ws_isa_row.targets */

enum ws_enc {
	WS_ENC_SOP2, WS_ENC_SOPK, WS_ENC_SOP1, WS_ENC_SOPC, WS_ENC_SOPP, WS_ENC_SMEM,
	WS_ENC_VOP2, WS_ENC_VOP1, WS_ENC_VOPC, WS_ENC_VOP3, WS_ENC_VOP3P,
	WS_ENC_DS, WS_ENC_FLAT, WS_ENC_MUBUF, WS_ENC_MTBUF,
	WS_N_ENCS
};

/* The form an instruction of the VOP1, VOP2, VOPC tables is written in. */
enum ws_form { WS_FORM_PLAIN, WS_FORM_VOP3, WS_FORM_SDWA, WS_FORM_DPP };

enum ws_role { /* the roles of README.md */
	WS_ROLE_NONE, WS_ROLE_SDST, WS_ROLE_SRC0, WS_ROLE_SRC1, WS_ROLE_SRC2, WS_ROLE_SIMM16,
	WS_ROLE_LABEL, WS_ROLE_HWREG, WS_ROLE_WAITCNT, WS_ROLE_SENDMSG, WS_ROLE_IMM32,
	WS_ROLE_SDATA, WS_ROLE_SBASE, WS_ROLE_SOFFSET, WS_ROLE_VDST, WS_ROLE_CO, WS_ROLE_CI,
	WS_ROLE_K, WS_ROLE_VADDR, WS_ROLE_DATA0, WS_ROLE_DATA1, WS_ROLE_OFFSET, WS_ROLE_OFFSET0,
	WS_ROLE_OFFSET1, WS_ROLE_GDS, WS_ROLE_VDATA, WS_ROLE_SADDR, WS_ROLE_SEG, WS_ROLE_SRSRC,
	WS_ROLE_LDS, WS_ROLE_GPR_IDX, WS_ROLE_SWIZZLE
};

enum ws_type_class { WS_TYPE_B, WS_TYPE_U, WS_TYPE_I, WS_TYPE_F, WS_TYPE_PK16, WS_TYPE_PK32,
		     WS_TYPE_MATRIX };

enum ws_isa_flag { /* the flags of README.md */
	WS_ISA_CLAMP = 1 << 0, WS_ISA_NOMOD = 1 << 1, WS_ISA_CLASS = 1 << 2, WS_ISA_OPSEL = 1 << 3,
	WS_ISA_NEGABS = 1 << 4, WS_ISA_IGNMODS = 1 << 5, WS_ISA_VCC = 1 << 6, WS_ISA_MIX = 1 << 7,
	WS_ISA_MFMA = 1 << 8, WS_ISA_E32 = 1 << 9, WS_ISA_OPTIMM = 1 << 10,
	WS_ISA_GDSONLY = 1 << 11, WS_ISA_ATOMIC = 1 << 12, WS_ISA_NOSCC = 1 << 13,
	WS_ISA_NOGLC = 1 << 14, WS_ISA_ACCDST = 1 << 15, WS_ISA_ACCSRC = 1 << 16,
	WS_ISA_REGSRC = 1 << 17
};

struct ws_isa_operand {
	uint8_t role;         /* enum ws_role */
	uint8_t type_class;   /* enum ws_type_class; PK16 and PK32: packed pairs */
	uint8_t bits;         /* of one element, 8..64 (0: more than 64, see n_regs) */
	uint8_t n_regs;       /* 32-bit registers it takes */
	bool is_float;        /* inline constants are floats, neg/abs/omod/clamp exist */
};

#define WS_ISA_MAX_OPERANDS 7
struct ws_isa_row {
	const char *mnemonic;
	uint16_t op;
	uint16_t handler;     /* index into the interpreter's handler tables, from 1 */
	uint8_t enc;          /* enum ws_enc: the table it stands in */
	uint8_t targets;      /* bits of enum ws_isa_target */
	uint8_t segments;     /* flat: bit 0 flat, bit 1 scratch, bit 2 global */
	uint8_t forms;        /* bits of enum ws_form: the forms it can be written in */
	uint32_t flags;       /* enum ws_isa_flag */
	uint8_t n_operands;
	struct ws_isa_operand operand[WS_ISA_MAX_OPERANDS];
};

/* Operand numbers as the hardware encodes them. */
enum {
	WS_OPND_SGPR0 = 0, WS_OPND_FLAT_SCRATCH_LO = 102, WS_OPND_XNACK_MASK_LO = 104,
	WS_OPND_VCC_LO = 106, WS_OPND_VCC_HI = 107, WS_OPND_TTMP0 = 108, WS_OPND_M0 = 124,
	WS_OPND_EXEC_LO = 126, WS_OPND_EXEC_HI = 127, WS_OPND_INT_0 = 128, WS_OPND_INT_64 = 192,
	WS_OPND_INT_M16 = 208, WS_OPND_SHARED_BASE = 235, WS_OPND_SHARED_LIMIT = 236,
	WS_OPND_PRIVATE_BASE = 237, WS_OPND_PRIVATE_LIMIT = 238, WS_OPND_POPS_WAVE_ID = 239,
	WS_OPND_F_0_5 = 240, WS_OPND_F_INV_2PI = 248, WS_OPND_SDWA = 249, WS_OPND_DPP = 250,
	WS_OPND_VCCZ = 251, WS_OPND_EXECZ = 252, WS_OPND_SCC = 253, WS_OPND_LDS_DIRECT = 254,
	WS_OPND_LITERAL = 255, WS_OPND_VGPR0 = 256
};

struct ws_insn {
	const struct ws_isa_row *row;
	uint8_t form;                 /* enum ws_form */
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
	 * destination; neg and abs are set for floats only (and v_cndmask_b32).
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

	/* memory */
	uint8_t seg;                  /* flat: 0 flat, 1 scratch, 2 global */
	uint8_t vaddr, vdata, data1;  /* VGPR numbers; ds data0 is in vdata */
	uint8_t saddr;                /* flat: SGPRs, 0x7f none. smem: sbase. buffers: srsrc */
	uint8_t soffset;              /* smem, buffers: operand number */
	uint8_t offset0, offset1;     /* ds pairs */
	uint8_t dfmt, nfmt;           /* mtbuf */
	bool soffset_en, imm_en;      /* smem: which offsets count */
	bool glc, slc, scc, nv, lds, tfe, gds, idxen, offen;
};
/* clang-format on */

/*
 * Decodes the instruction at words[0]; n_words are readable. False: not an instruction of this
 * target (or cut off), out->n_dwords is 1 then.
 */
bool ws_isa_decode(enum ws_isa_target target, const uint32_t *words, size_t n_words,
		   struct ws_insn *out);

/*
 * Prints as LLVM's disassembler does; a branch target is the encoded distance then. pc is what a
 * target would be relative to. Returns the length, as snprintf.
 */
int ws_isa_print(enum ws_isa_target target, const struct ws_insn *insn, uint64_t pc, char *buf,
		 size_t size);

/* All rows, for tests and tools. */
extern const struct ws_isa_row ws_isa_rows[];
extern const size_t ws_isa_n_rows;

#endif
