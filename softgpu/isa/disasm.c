/* Printing: what all formats share, and the scalar ones. */
#include <stdarg.h>
#include <stdio.h>

#include "softgpu/isa/isa_priv.h"

void sg_isa_put(struct sg_isa_text *text, const char *format, ...)
{
	va_list args;
	bool fits = text->len < text->size;
	int n;

	va_start(args, format);
	n = vsnprintf(fits ? text->buf + text->len : NULL, fits ? text->size - text->len : 0,
		      format, args);
	va_end(args);
	text->len += n;
}

void sg_isa_put_separator(struct sg_isa_text *text)
{
	sg_isa_put(text, text->n_operands++ ? ", " : " ");
}

void sg_isa_put_regs(struct sg_isa_text *text, char file, unsigned first, unsigned n_regs)
{
	if (n_regs == 1)
		sg_isa_put(text, "%c%u", file, first);
	else
		sg_isa_put(text, "%c[%u:%u]", file, first, first + n_regs - 1);
}

void sg_isa_put_scalar(struct sg_isa_text *text, unsigned operand, unsigned n_regs)
{
	static const char *const halves[] = {
		[SG_OPND_FLAT_SCRATCH_LO] = "flat_scratch_lo",
		"flat_scratch_hi",
		"xnack_mask_lo",
		"xnack_mask_hi",
		"vcc_lo",
		"vcc_hi",
		[SG_OPND_M0] = "m0",
		[SG_OPND_EXEC_LO] = "exec_lo",
		"exec_hi",
		[SG_OPND_SHARED_BASE] = "src_shared_base",
		"src_shared_limit",
		"src_private_base",
		"src_private_limit",
		"src_pops_exiting_wave_id",
		[SG_OPND_VCCZ] = "src_vccz",
		"src_execz",
		"src_scc",
		"src_lds_direct",
		[255] = NULL,
	};
	static const char *const pairs[] = {
		[SG_OPND_FLAT_SCRATCH_LO] = "flat_scratch",
		[SG_OPND_XNACK_MASK_LO] = "xnack_mask",
		[SG_OPND_VCC_LO] = "vcc",
		[SG_OPND_EXEC_LO] = "exec",
		[255] = NULL,
	};

	if (operand < SG_OPND_FLAT_SCRATCH_LO)
		sg_isa_put_regs(text, 's', operand, n_regs);
	else if (operand < SG_OPND_TTMP0 || operand >= SG_OPND_M0)
		sg_isa_put(text, "%s",
			   n_regs > 1 && pairs[operand] ? pairs[operand] : halves[operand]);
	else if (n_regs == 1)
		sg_isa_put(text, "ttmp%u", operand - SG_OPND_TTMP0);
	else
		sg_isa_put(text, "ttmp[%u:%u]", operand - SG_OPND_TTMP0,
			   operand - SG_OPND_TTMP0 + n_regs - 1);
}

/* The bits of the inline floating-point constants 240..248 in each format, and their spelling. */
static const struct {
	const char *text;
	uint16_t f16;
	uint32_t f32;
} inline_floats[] = {
	{ "0.5", 0x3800, 0x3f000000 },        { "-0.5", 0xb800, 0xbf000000 },
	{ "1.0", 0x3c00, 0x3f800000 },        { "-1.0", 0xbc00, 0xbf800000 },
	{ "2.0", 0x4000, 0x40000000 },        { "-2.0", 0xc000, 0xc0000000 },
	{ "4.0", 0x4400, 0x40800000 },        { "-4.0", 0xc400, 0xc0800000 },
	{ "0.15915494", 0x3118, 0x3e22f983 },
};

#define N_INLINE_FLOATS (sizeof(inline_floats) / sizeof(*inline_floats))

static void put_literal_32(struct sg_isa_text *text, uint32_t value)
{
	int32_t number = value;

	if (number >= -16 && number <= 64) {
		sg_isa_put(text, "%d", number);
		return;
	}
	for (unsigned i = 0; i < N_INLINE_FLOATS; i++) {
		if (inline_floats[i].f32 == value) {
			sg_isa_put(text, "%s", inline_floats[i].text);
			return;
		}
	}
	sg_isa_put(text, "0x%x", value);
}

/*
 * LLVM 15 looks at the upper half of a float, too. Later versions look at half of a float and at
 * the whole of an integer or a pair, as if it had 32 bits.
 */
static void put_literal_16(struct sg_isa_text *text, uint32_t literal,
			   const struct sg_isa_operand *desc, bool is_pair)
{
	bool is_bf16 = desc->type_class == SG_TYPE_BF || desc->type_class == SG_TYPE_PKBF16;
	bool is_later = text->target >= SG_ISA_GFX942, is_float = desc->is_float;
	uint16_t value = literal;
	int32_t number = is_later && (is_pair || !is_float) ? (int32_t)literal : (int16_t)value;

	if (number >= -16 && number <= 64) {
		sg_isa_put(text, "%d", number);
		return;
	}
	for (unsigned i = 0; (is_float || is_later) && i < N_INLINE_FLOATS; i++) {
		uint16_t f16 = is_bf16 ? inline_floats[i].f32 >> 16 : inline_floats[i].f16;

		if (is_float ? f16 == (is_later ? value : literal)
			     : inline_floats[i].f32 == literal) {
			sg_isa_put(text, "%s", inline_floats[i].text);
			return;
		}
	}
	sg_isa_put(text, "0x%x", is_bf16 ? literal : value);
}

/* Which of LLVM's three spellings of a number an operand gets. */
static unsigned spelled_bits(const struct sg_isa_row *row, const struct sg_isa_operand *desc)
{
	bool is_packed_int = desc->type_class == SG_TYPE_PK16 && !desc->is_float;

	if (desc->bits != 16)
		return desc->bits == 64 ? 64 : 32;
	/* Packed integers in short forms are 32-bit integers to LLVM, and so is f16's exponent. */
	if (is_packed_int && row->enc != SG_ENC_VOP3P)
		return 32;
	return !desc->is_float && !is_packed_int && sg_isa_has_float_source(row) ? 32 : 16;
}

static void put_literal(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
			const struct sg_isa_operand *desc)
{
	/* where k comes first (madmk) it is 32 bits, and src0 can only repeat it */
	bool repeats_k = insn->row->n_operands > 2 && insn->row->operand[2].role == SG_ROLE_K;
	unsigned bits =
		repeats_k && text->target < SG_ISA_GFX942 ? 32 : spelled_bits(insn->row, desc);
	uint32_t value = insn->literal;

	if (bits == 64) {
		bool is_hex = desc->is_float && text->target >= SG_ISA_GFX942;

		sg_isa_put(text, value <= 64 && !is_hex ? "%u" : "0x%x", value);
	} else if (bits == 16) {
		bool is_pair =
			desc->type_class == SG_TYPE_PK16 || desc->type_class == SG_TYPE_PKBF16;
		bool is_whole = is_pair && text->target >= SG_ISA_GFX942 && value > UINT16_MAX;

		if (is_whole) /* later versions have all of it, as a number */
			sg_isa_put(text,
				   (int32_t)value >= -16 && (int32_t)value < 0 ? "%d" : "0x%x",
				   (int32_t)value);
		else
			put_literal_16(text, is_pair ? (uint16_t)value : value, desc, is_pair);
	} else {
		put_literal_32(text, value);
	}
}

void sg_isa_put_source(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
		       unsigned operand, const struct sg_isa_operand *desc, bool is_acc)
{
	if (operand >= SG_OPND_VGPR0) {
		sg_isa_put_regs(text, is_acc ? 'a' : 'v', operand - SG_OPND_VGPR0, desc->n_regs);
	} else if (operand >= SG_OPND_INT_0 && operand <= SG_OPND_INT_M16) {
		sg_isa_put(text, "%d",
			   operand <= SG_OPND_INT_64 ? (int)operand - SG_OPND_INT_0
						     : SG_OPND_INT_64 - (int)operand);
	} else if (operand >= SG_OPND_F_0_5 && operand <= SG_OPND_F_INV_2PI) {
		unsigned i = operand - SG_OPND_F_0_5;

		/* LLVM 15 has no spelling for a float in an integer; later ones only for pairs */
		if (!desc->is_float && spelled_bits(insn->row, desc) == 16 &&
		    (text->target < SG_ISA_GFX942 || desc->type_class != SG_TYPE_PK16))
			sg_isa_put(text, "0x%x", inline_floats[i].f16);
		else if (operand == SG_OPND_F_INV_2PI && desc->bits == 64)
			sg_isa_put(text, "0.15915494309189532");
		else
			sg_isa_put(text, "%s", inline_floats[i].text);
	} else if (operand == SG_OPND_LITERAL) {
		put_literal(text, insn, desc);
	} else {
		sg_isa_put_scalar(text, operand, desc->n_regs);
	}
}

static void put_hwreg(struct sg_isa_text *text, uint16_t value)
{
	static const char *const names[64] = {
		[1] = "MODE", "STATUS",    "TRAPSTS", "HW_ID",
		"GPR_ALLOC",  "LDS_ALLOC", "IB_STS",  [15] = "SH_MEM_BASES",
		"TBA_LO",     "TBA_HI",    "TMA_LO",  "TMA_HI",
	};
	static const char *const later_names[64] = {
		[20] = "XCC_ID",          "SQ_PERF_SNAPSHOT_DATA",  "SQ_PERF_SNAPSHOT_DATA1",
		"SQ_PERF_SNAPSHOT_PC_LO", "SQ_PERF_SNAPSHOT_PC_HI",
	};
	unsigned id = value & 0x3f, offset = value >> 6 & 0x1f, width = (value >> 11) + 1;

	sg_isa_put(text, "hwreg(");
	if (names[id])
		sg_isa_put(text, "HW_REG_%s", names[id]);
	else if (text->target >= SG_ISA_GFX942 && later_names[id])
		sg_isa_put(text, "HW_REG_%s", later_names[id]);
	else
		sg_isa_put(text, "%u", id);
	if (offset || width != 32)
		sg_isa_put(text, ", %u, %u", offset, width);
	sg_isa_put(text, ")");
}

/* Counters at their maximum are not waited for and not printed, unless that leaves none. */
static void put_waitcnt(struct sg_isa_text *text, uint16_t value)
{
	unsigned vm = (value & 0xf) | (value >> 14 & 3) << 4, exp = value >> 4 & 7;
	unsigned lgkm = value >> 8 & 0xf;
	bool none = vm == 63 && exp == 7 && lgkm == 15;
	const char *gap = "";

	if (vm != 63 || none) {
		sg_isa_put(text, "vmcnt(%u)", vm);
		gap = " ";
	}
	if (exp != 7 || none) {
		sg_isa_put(text, "%sexpcnt(%u)", gap, exp);
		gap = " ";
	}
	if (lgkm != 15 || none)
		sg_isa_put(text, "%slgkmcnt(%u)", gap, lgkm);
}

static void put_sendmsg(struct sg_isa_text *text, uint16_t value)
{
	static const char *const gs_ops[] = { "GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT",
					      "GS_OP_EMIT_CUT" };
	static const char *const sys_ops[] = { NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT",
					       "SYSMSG_OP_REG_RD", "SYSMSG_OP_HOST_TRAP_ACK",
					       "SYSMSG_OP_TTRACE_PC" };
	static const struct {
		const char *name;
		const char *const *ops; /* NULL: the operation is 0 */
		uint8_t first_op, last_op;
	} messages[16] = {
		[1] = { "MSG_INTERRUPT", NULL, 0, 0 },
		[2] = { "MSG_GS", gs_ops, 1, 3 },
		[3] = { "MSG_GS_DONE", gs_ops, 0, 3 },
		[4] = { "MSG_SAVEWAVE", NULL, 0, 0 },
		[5] = { "MSG_STALL_WAVE_GEN", NULL, 0, 0 },
		[6] = { "MSG_HALT_WAVES", NULL, 0, 0 },
		[7] = { "MSG_ORDERED_PS_DONE", NULL, 0, 0 },
		[8] = { "MSG_EARLY_PRIM_DEALLOC", NULL, 0, 0 },
		[9] = { "MSG_GS_ALLOC_REQ", NULL, 0, 0 },
		[10] = { "MSG_GET_DOORBELL", NULL, 0, 0 },
		[15] = { "MSG_SYSMSG", sys_ops, 1, 4 },
	};
	unsigned id = value & 0xf, op = value >> 4 & 7, stream = value >> 8 & 3;
	bool has_stream = messages[id].ops == gs_ops && op != 0;

	/* LLVM 15 knows an acknowledgement that gfx9 does not have */
	bool is_named = text->target < SG_ISA_GFX942 || id != 15 || op != 3;

	if (messages[id].name && op >= messages[id].first_op && op <= messages[id].last_op &&
	    (has_stream || !stream) && is_named) {
		sg_isa_put(text, "sendmsg(%s", messages[id].name);
		if (messages[id].ops)
			sg_isa_put(text, ", %s", messages[id].ops[op]);
		if (has_stream)
			sg_isa_put(text, ", %u", stream);
		sg_isa_put(text, ")");
	} else if (!(value & ~0x37f)) {
		sg_isa_put(text, "sendmsg(%u, %u, %u)", id, op, stream);
	} else {
		sg_isa_put(text, "%u", value);
	}
}

static void put_gpr_idx(struct sg_isa_text *text, uint16_t value)
{
	static const char *const names[] = { "SRC0", "SRC1", "SRC2", "DST" };
	const char *gap = "";

	if (value > 0xf) {
		sg_isa_put(text, "0x%x", value);
		return;
	}
	sg_isa_put(text, "gpr_idx(");
	for (unsigned i = 0; i < 4; i++) {
		if (value >> i & 1) {
			sg_isa_put(text, "%s%s", gap, names[i]);
			gap = ",";
		}
	}
	sg_isa_put(text, ")");
}

static void put_simm16(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	uint16_t value = insn->simm;

	if (insn->row->enc == SG_ENC_SOPK)
		sg_isa_put(text, "0x%x", value);
	else if (insn->row->flags & SG_ISA_OPTIMM)
		sg_isa_put(text, "%u", value);
	else
		sg_isa_put(text, value <= 64 ? "%u" : "0x%x", value);
}

void sg_isa_print_scalar(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;

	sg_isa_put(text, "%s", row->mnemonic);
	if ((row->flags & SG_ISA_OPTIMM) && !insn->simm)
		return;
	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		sg_isa_put_separator(text);
		switch (desc->role) {
		case SG_ROLE_SDST:
			sg_isa_put_scalar(text, insn->sdst, desc->n_regs);
			break;
		case SG_ROLE_SRC0:
		case SG_ROLE_SRC1: {
			/* scalar operands are whole registers, whatever part of them counts */
			struct sg_isa_operand whole = { .n_regs = desc->n_regs,
							.bits = 32 * desc->n_regs };

			sg_isa_put_source(text, insn, insn->src[desc->role - SG_ROLE_SRC0], &whole,
					  false);
			break;
		}
		case SG_ROLE_SIMM16:
			put_simm16(text, insn);
			break;
		case SG_ROLE_LABEL:
			sg_isa_put(text, "%u", (uint16_t)insn->simm);
			break;
		case SG_ROLE_HWREG:
			put_hwreg(text, insn->simm);
			break;
		case SG_ROLE_WAITCNT:
			put_waitcnt(text, insn->simm);
			break;
		case SG_ROLE_SENDMSG:
			put_sendmsg(text, insn->simm);
			break;
		case SG_ROLE_GPR_IDX:
			put_gpr_idx(text, insn->simm);
			break;
		case SG_ROLE_IMM32:
			put_literal_32(text, insn->literal);
			break;
		}
	}
}

int sg_isa_print(enum sg_isa_target target, const struct sg_decoded_insn *insn, uint64_t pc,
		 char *buf, size_t size)
{
	struct sg_isa_text text = { target, buf, size, 0, 0 };

	if (size)
		buf[0] = '\0';
	if (!insn->row)
		return 0;
	switch ((enum sg_enc)insn->row->enc) {
	case SG_ENC_SOP2:
	case SG_ENC_SOPK:
	case SG_ENC_SOP1:
	case SG_ENC_SOPC:
	case SG_ENC_SOPP:
		sg_isa_print_scalar(&text, insn);
		break;
	case SG_ENC_VOP2:
	case SG_ENC_VOP1:
	case SG_ENC_VOPC:
	case SG_ENC_VOP3:
	case SG_ENC_VOP3P:
	case SG_ENC_VOP3PX:
		sg_isa_print_vector(&text, insn);
		break;
	default:
		sg_isa_print_memory(&text, insn);
	}
	return (int)text.len;
}
