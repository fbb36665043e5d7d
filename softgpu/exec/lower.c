#include "softgpu/exec/lower.h"
#include "softgpu/exec/traced_run.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "exec_list.h" /* generated: SG_N_ROW_HANDLERS */
#include "softgpu/exec/const_pool.h"
#include "softgpu/exec/wave.h"
#include "softgpu/isa/isa.h"

uint32_t sg_extra_handler(enum sg_extra_handler which)
{
	return 1 + SG_N_ROW_HANDLERS + which;
}

uint16_t sg_lower_sreg(unsigned operand)
{
	return (uint16_t)(offsetof(struct sg_wave, s) + 4 * operand);
}

/* ---- constants ---- */

/* 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in the three sizes */
static const uint16_t f16_constants[] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
					  0xc000, 0x4400, 0xc400, 0x3118 };
static const uint32_t f32_constants[] = { 0x3f000000, 0xbf000000, 0x3f800000,
					  0xbf800000, 0x40000000, 0xc0000000,
					  0x40800000, 0xc0800000, 0x3e22f983 };
static const uint64_t f64_constants[] = { 0x3fe0000000000000, 0xbfe0000000000000,
					  0x3ff0000000000000, 0xbff0000000000000,
					  0x4000000000000000, 0xc000000000000000,
					  0x4010000000000000, 0xc010000000000000,
					  0x3fc45f306dc9c882 };

static bool is_constant(unsigned operand)
{
	return (operand >= SG_OPND_INT_0 && operand <= SG_OPND_INT_M16) ||
	       (operand >= SG_OPND_F_0_5 && operand <= SG_OPND_F_INV_2PI) ||
	       operand == SG_OPND_LITERAL;
}

/* The constant as the instruction sees it; `bits` is the size of one element of the operand. */
static uint64_t constant_value(unsigned operand, uint32_t literal, unsigned type_class,
			       unsigned bits)
{
	bool wide = bits == 64;

	if (operand == SG_OPND_LITERAL) {
		if (!wide)
			return literal;
		if (type_class == SG_TYPE_F) /* the upper half of the double */
			return (uint64_t)literal << 32;
		return type_class == SG_TYPE_I ? (uint64_t)(int64_t)(int32_t)literal : literal;
	}
	if (operand <= SG_OPND_INT_M16) {
		int64_t v = operand <= SG_OPND_INT_64 ? (int)operand - SG_OPND_INT_0
						      : SG_OPND_INT_64 - (int)operand;

		return wide ? (uint64_t)v : (uint32_t)v;
	}
	if (wide)
		return f64_constants[operand - SG_OPND_F_0_5];
	if (type_class == SG_TYPE_BF || type_class == SG_TYPE_PKBF16)
		return f32_constants[operand - SG_OPND_F_0_5] >> 16;
	return bits == 16 ? f16_constants[operand - SG_OPND_F_0_5]
			  : f32_constants[operand - SG_OPND_F_0_5];
}

/* ---- scalar operands ---- */

/* Where the wave keeps a scalar operand that is no constant; 0: there is no such operand. */
static uint16_t scalar_place(unsigned operand, bool *out_special)
{
	*out_special = true;
	switch (operand) {
	case SG_OPND_VCCZ:
		return sg_lower_sreg(SG_S_VCCZ);
	case SG_OPND_EXECZ:
		return sg_lower_sreg(SG_S_EXECZ);
	case SG_OPND_SCC:
		return sg_lower_sreg(SG_S_SCC);
	case SG_OPND_LDS_DIRECT:
		return sg_lower_sreg(SG_S_LDS_DIRECT);
	}
	*out_special = false;
	if (operand >= SG_OPND_SHARED_BASE && operand <= SG_OPND_PRIVATE_LIMIT)
		return sg_lower_sreg(SG_S_APERTURES + 2 * (operand - SG_OPND_SHARED_BASE));
	if (operand < SG_OPND_INT_0)
		return sg_lower_sreg(operand);
	return sg_lower_sreg(SG_S_ZERO); /* pops_exiting_wave_id and reserved numbers */
}

bool sg_lower_scalar(struct sg_exec_insn *out, unsigned k, unsigned operand, uint32_t literal,
		     unsigned type_class, unsigned bits)
{
	bool special = false;

	if (!is_constant(operand)) {
		out->s_off[k] = scalar_place(operand, &special);
		return special;
	}
	uint64_t v = constant_value(operand, literal, type_class, bits);

	out->s_const |= 1u << k;
	if (k == SG_S2) {
		out->target = v;
		out->s_off[k] = offsetof(struct sg_exec_insn, target);
	} else {
		out->k[k - SG_S0] = v;
		out->s_off[k] = (uint16_t)(offsetof(struct sg_exec_insn, k) + 8 * (k - SG_S0));
	}
	return false;
}

static uint32_t lower_scalar_insn(const struct sg_decoded_insn *insn, uint32_t slot,
				  uint32_t n_slots, uint64_t pc, struct sg_exec_insn *out)
{
	const struct sg_isa_row *row = insn->row;
	bool special = false;

	out->sdst = insn->sdst;
	out->imm = insn->simm;
	out->literal = insn->literal;
	out->s_off[SG_D] = sg_lower_sreg(insn->sdst & 127);
	for (unsigned n = 0; n < row->n_operands; n++) {
		const struct sg_isa_operand *o = &row->operand[n];

		switch (o->role) {
		case SG_ROLE_SRC0:
		case SG_ROLE_SRC1: {
			unsigned k = o->role == SG_ROLE_SRC0 ? 0 : 1;
			/* SOPK comparisons name their one register where others have the destination */
			unsigned operand = row->enc == SG_ENC_SOPK ? insn->sdst : insn->src[k];

			special |= sg_lower_scalar(out, SG_S0 + k, operand, insn->literal,
						   o->type_class, o->bits);
			break;
		}
		case SG_ROLE_LABEL: {
			int64_t to = (int64_t)slot + 1 + insn->simm;

			out->imm = 1 + insn->simm;
			if (to < 0 || to >= n_slots)
				out->target = pc + 4 + 4 * (int64_t)insn->simm;
			break;
		}
		default:
			break;
		}
	}
	if (!special)
		return row->handler;
	out->inner = row->handler;
	return sg_extra_handler(SG_X_SPECIAL);
}

/* ---- vector operands ---- */

static bool lower_vector_source(const struct sg_decoded_insn *insn, unsigned n,
				const struct sg_isa_operand *o, struct sg_exec_insn *out)
{
	unsigned operand = insn->src[n], k = SG_S0 + n;
	bool special = false;

	if (operand >= SG_OPND_VGPR0) {
		out->base[k] = insn->src_acc & 1u << n ? SG_BASE_AGPR : SG_BASE_VGPR;
		out->off[k] = (operand - SG_OPND_VGPR0) * SG_LANES;
	} else if (is_constant(operand)) {
		out->base[k] = SG_BASE_CONST;
		out->off[k] = sg_const_pool_get(
			constant_value(operand, insn->literal, o->type_class,
				       o->type_class == SG_TYPE_PK32 ? 32 : o->bits));
	} else {
		out->s_off[k] = scalar_place(operand, &special);
		out->splat |= 1u << k;
		if (o->n_regs > 1)
			out->splat |= 0x10u << k;
		out->base[k] = SG_BASE_TMP;
		out->off[k] = k * (sizeof(((struct sg_wave *)0)->tmp[0]) / 4);
	}
	return special;
}

/* The matrix of a src2 constant is not in the pool: it may be 32 registers of it. */
static void lower_matrix_constant(const struct sg_decoded_insn *insn,
				  const struct sg_isa_operand *o, struct sg_exec_insn *out)
{
	uint64_t v = constant_value(insn->src[2], 0, o->is_float ? SG_TYPE_F : SG_TYPE_I,
				    o->n_regs == 2 || o->bits == 64 ? 64 : 32);

	out->s_const |= 1u << SG_S2;
	out->literal = (uint32_t)v;
	out->target = o->bits == 64 ? v : 0;
}

/* op_sel picks halves of packed sources; elsewhere in VOP3P its bits mean nothing. */
static bool selects_halves(const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;

	for (unsigned n = 0; n < row->n_operands; n++) {
		const struct sg_isa_operand *o = &row->operand[n];
		unsigned bit = 1u << (o->role - SG_ROLE_SRC0);

		if (o->role < SG_ROLE_SRC0 || o->role > SG_ROLE_SRC2)
			continue;
		if ((o->type_class == SG_TYPE_PK16 || o->type_class == SG_TYPE_PKBF16 ||
		     o->type_class == SG_TYPE_PK32) &&
		    (insn->op_sel & bit || !(insn->op_sel_hi & bit)))
			return true;
	}
	return false;
}

static bool has_modifiers(const struct sg_decoded_insn *insn, const struct sg_isa_operand *dst)
{
	bool float_clamp = insn->clamp && dst && dst->is_float;

	if (insn->form == SG_FORM_SDWA || insn->form == SG_FORM_DPP)
		return true;
	if (insn->row->enc == SG_ENC_VOP3P)
		return selects_halves(insn) || insn->neg || insn->neg_hi || float_clamp;
	return insn->neg || insn->abs || insn->omod || insn->op_sel || float_clamp;
}

static uint32_t fp_bits(const struct sg_isa_row *row)
{
	const struct sg_isa_operand *o = NULL;

	/* the destination rounds; without a float one (compare, convert to integer) the source's
	 * fields decide how denormals come in */
	for (unsigned n = 0; n < row->n_operands && !o; n++)
		if (row->operand[n].is_float && row->operand[n].role <= SG_ROLE_VDST)
			o = &row->operand[n];
	if (!o)
		return 0;
	return o->bits == 32 ? SG_HEAD_FP32 : SG_HEAD_FP64;
}

static uint32_t lower_vector_insn(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	const struct sg_isa_row *row = insn->row;
	const struct sg_isa_operand *dst = NULL;
	bool matrix = row->flags & SG_ISA_MFMA, mixed = row->flags & SG_ISA_MIX;
	bool pair_move = row->flags & SG_ISA_HALVES;
	bool special = false, has_co = row->enc == SG_ENC_VOPC;

	out->literal = insn->literal;
	for (unsigned n = 0; n < row->n_operands; n++) {
		const struct sg_isa_operand *o = &row->operand[n];

		switch (o->role) {
		case SG_ROLE_VDST:
			dst = o;
			out->n_regs = o->n_regs;
			out->base[SG_D] = insn->dst_acc ? SG_BASE_AGPR : SG_BASE_VGPR;
			out->off[SG_D] = insn->vdst * SG_LANES;
			break;
		case SG_ROLE_SRC0:
		case SG_ROLE_SRC1:
		case SG_ROLE_SRC2: {
			unsigned k = o->role - SG_ROLE_SRC0;

			if (matrix && k == 2 && insn->src[2] < SG_OPND_VGPR0)
				lower_matrix_constant(insn, o, out);
			else
				special |= lower_vector_source(insn, k, o, out);
			/* it takes one half of each source, so the other one need not be there */
			if (pair_move && insn->op_sel & 1u << k)
				out->off[SG_S0 + k] += SG_LANES;
			break;
		}
		case SG_ROLE_SCALE0:
		case SG_ROLE_SCALE1: {
			unsigned k = o->role - SG_ROLE_SCALE0;

			if (is_constant(insn->scale[k])) /* see mfma_scaled.h */
				out->target |= constant_value(insn->scale[k], 0, SG_TYPE_B, 32)
					       << 32 * k;
			break;
		}
		case SG_ROLE_CO:
			has_co = true;
			break;
		case SG_ROLE_CI:
			sg_lower_scalar(out, SG_S2,
					insn->form == SG_FORM_VOP3 || row->enc == SG_ENC_VOP3
						? insn->src[2]
						: SG_OPND_VCC_LO,
					0, SG_TYPE_B, 64);
			break;
		default:
			break;
		}
	}
	/* only the long form and the SDWA form of a comparison name the mask's register */
	if (has_co && insn->form != SG_FORM_VOP3 && row->enc != SG_ENC_VOP3 &&
	    !(insn->form == SG_FORM_SDWA && row->enc == SG_ENC_VOPC))
		out->sdst = SG_OPND_VCC_LO;
	else
		out->sdst = insn->sdst;
	out->clamp = insn->clamp && !(dst && dst->is_float);

	uint32_t head = fp_bits(row) | SG_HEAD_VECTOR | SG_HEAD_LANES;

	if (matrix || mixed || !(special || (!pair_move && has_modifiers(insn, dst))))
		return head | row->handler;
	out->inner = row->handler;
	return head | sg_extra_handler(SG_X_VALU_MODS);
}

static uint32_t record_kind(const struct sg_decoded_insn *insn)
{
	switch (insn->row->enc) {
	case SG_ENC_SMEM:
		return SG_MEMORY_SCALAR;
	case SG_ENC_DS:
		return SG_MEMORY_LOCAL;
	case SG_ENC_FLAT:
		return SG_MEMORY_FLAT;
	default:
		return SG_MEMORY_BUFFER;
	}
}

uint32_t sg_lower(const struct sg_decoded_insn *insn, uint32_t slot, uint32_t n_slots, uint64_t pc,
		  struct sg_exec_insn *out)
{
	uint32_t head;

	memset((char *)out + sizeof(out->head), 0, sizeof(*out) - sizeof(out->head));
	out->fields = insn;
	switch (insn->row->enc) {
	case SG_ENC_SOP2:
	case SG_ENC_SOPK:
	case SG_ENC_SOP1:
	case SG_ENC_SOPC:
	case SG_ENC_SOPP:
		head = lower_scalar_insn(insn, slot, n_slots, pc, out);
		break;
	case SG_ENC_VOP2:
	case SG_ENC_VOP1:
	case SG_ENC_VOPC:
	case SG_ENC_VOP3:
	case SG_ENC_VOP3P:
	case SG_ENC_VOP3PX:
		head = lower_vector_insn(insn, out);
		break;
	default:
		sg_lower_memory(insn, out);
		head = insn->row->handler | (insn->row->enc == SG_ENC_SMEM ? 0 : SG_HEAD_LANES) |
		       (sg_isa_has_address(insn)
				? SG_HEAD_MEMORY | record_kind(insn) << SG_HEAD_KIND_SHIFT
				: 0);
		break;
	}
	return head | (uint32_t)insn->n_dwords << 16;
}
