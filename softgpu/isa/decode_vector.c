/* Decoding the vector formats: VOP1, VOP2, VOPC with their VOP3, SDWA and DPP forms, and VOP3P. */
#include "softgpu/isa/isa_priv.h"

bool sg_isa_has_clamp(const struct sg_isa_row *row)
{
	const struct sg_isa_operand *vdst = sg_isa_find(row, SG_ROLE_VDST);

	if (row->flags & (SG_ISA_CLASS | SG_ISA_NOCLAMP))
		return false;
	return (row->flags & (SG_ISA_CLAMP | SG_ISA_OPSEL)) || sg_isa_has_float_source(row) ||
	       (vdst && vdst->is_float);
}

bool sg_isa_has_omod(const struct sg_isa_row *row, enum sg_isa_target target)
{
	const struct sg_isa_operand *vdst = sg_isa_find(row, SG_ROLE_VDST);

	if (!vdst || (row->flags & SG_ISA_NOMOD))
		return false;
	if (row->flags & SG_ISA_OPSEL) /* LLVM 15 does not know that f16 results have it, too */
		return target >= SG_ISA_GFX942 && vdst->is_float && vdst->type_class == SG_TYPE_F;
	return sg_isa_has_float_source(row) || vdst->is_float;
}

static unsigned n_sources(const struct sg_isa_row *row)
{
	unsigned n = 0;

	while (n < 3 && sg_isa_find(row, SG_ROLE_SRC0 + n))
		n++;
	return n;
}

bool sg_isa_has_form(const struct sg_isa_row *row, enum sg_isa_target target, enum sg_form form)
{
	if (!(row->forms & (1u << form)))
		return false;
	if (form == SG_FORM_PLAIN || form == SG_FORM_VOP3)
		return true;
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].bits == 64)
			return form == SG_FORM_DPP && target >= SG_ISA_GFX90A;
	return true;
}

static bool vector_dst(const struct sg_isa_reader *r, unsigned field)
{
	const struct sg_isa_row *row = r->insn->row;
	const struct sg_isa_operand *vdst = sg_isa_find(row, SG_ROLE_VDST);
	const struct sg_isa_operand *sdst = sg_isa_find(row, SG_ROLE_SDST);

	if (sdst) {
		if (!sg_isa_scalar_operand(&field, sdst->n_regs, true))
			return false;
		r->insn->sdst = field;
		return true;
	}
	r->insn->vdst = field;
	r->insn->dst_acc |= (row->flags & SG_ISA_ACCDST) != 0;
	return vdst ? field + vdst->n_regs <= 256 : field == 0;
}

static bool mask_dst(const struct sg_isa_reader *r, unsigned field)
{
	if (!sg_isa_scalar_operand(&field, 2, true))
		return false;
	r->insn->sdst = field;
	return true;
}

static bool source(const struct sg_isa_reader *r, unsigned k, unsigned field)
{
	const struct sg_isa_row *row = r->insn->row;
	const struct sg_isa_operand *desc = sg_isa_find(row, SG_ROLE_SRC0 + k);

	if (!desc)
		return field == 0;
	if (!sg_isa_vector_source(&field, desc->n_regs))
		return false;
	/* A lane can only be read from a register, and wide operands have no constants. */
	if (sg_isa_is_constant(field) &&
	    ((k == 0 && sg_isa_find(row, SG_ROLE_SDST)) || desc->n_regs > 2))
		return false;
	if (field < SG_OPND_VGPR0 &&
	    ((row->flags & SG_ISA_ACCSRC) || ((row->flags & SG_ISA_VGPRS) && desc->n_regs > 1)))
		return false;
	r->insn->src[k] = field;
	r->insn->src_acc |= ((row->flags & SG_ISA_ACCSRC) != 0 && field >= SG_OPND_VGPR0) << k;
	return true;
}

/*
 * neg of an integer source is sext in LLVM's eyes (or nothing, with op_sel), and abs is nothing: an
 * interpreter that applies neg and abs finds them on floats only.
 */
static void settle_integer_mods(struct sg_decoded_insn *insn)
{
	for (unsigned k = 0; k < 3; k++) {
		const struct sg_isa_operand *desc = sg_isa_find(insn->row, SG_ROLE_SRC0 + k);
		unsigned bit = 1u << k;

		if (!desc || desc->is_float || (insn->row->flags & SG_ISA_NEGABS))
			continue;
		if ((insn->neg & bit) && !(insn->row->flags & SG_ISA_OPSEL))
			insn->sext |= bit;
		insn->neg &= ~bit;
		insn->abs &= ~bit;
	}
}

static bool dpp_ctrl_exists(const struct sg_isa_reader *r, unsigned ctrl)
{
	const struct sg_isa_row *row = r->insn->row;
	bool is_64_bit = sg_isa_find(row, SG_ROLE_SRC0)->bits == 64;

	/* the later parts' rule, or the later LLVM's: by the widest operand */
	for (unsigned i = 0; r->target >= SG_ISA_GFX942 && i < row->n_operands; i++)
		is_64_bit |= row->operand[i].n_regs == 2;

	if (ctrl >= 0x150 && ctrl <= 0x15f) /* row_newbcast */
		return r->target >= SG_ISA_GFX90A;
	if (is_64_bit)
		return false;
	if (ctrl < 0x100) /* quad_perm */
		return true;
	if (ctrl < 0x130) /* row_shl, row_shr, row_ror by 1 to 15 */
		return ctrl & 0xf;
	if (ctrl < 0x140) /* wave_shl, wave_rol, wave_shr, wave_ror by 1 */
		return ctrl % 4 == 0;
	return ctrl <= 0x143; /* row_mirror, row_half_mirror, row_bcast */
}

static bool decode_dpp(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	unsigned n = n_sources(insn->row);
	uint32_t w;

	if (r->n_words < 2 || !sg_isa_has_form(insn->row, r->target, SG_FORM_DPP))
		return false;
	w = r->words[1];
	insn->n_dwords = 2;
	insn->form = SG_FORM_DPP;
	insn->dpp_ctrl = sg_isa_bits(w, 8, 9);
	insn->bound_ctrl = sg_isa_bits(w, 19, 1);
	insn->bank_mask = sg_isa_bits(w, 24, 4);
	insn->row_mask = sg_isa_bits(w, 28, 4);
	insn->neg = sg_isa_bits(w, 20, 1) | sg_isa_bits(w, 22, 1) << 1;
	insn->abs = sg_isa_bits(w, 21, 1) | sg_isa_bits(w, 23, 1) << 1;
	if ((insn->row->flags & SG_ISA_IGNMODS) ||
	    ((insn->row->flags & SG_ISA_NEGABS) && r->target < SG_ISA_GFX942)) {
		insn->neg = insn->abs = 0;
	} else {
		for (unsigned k = 0; k < 2; k++)
			if ((k >= n || !sg_isa_has_source_mods(insn->row, k)) &&
			    ((insn->neg | insn->abs) >> k & 1))
				return false;
		settle_integer_mods(insn);
	}
	return dpp_ctrl_exists(r, insn->dpp_ctrl) &&
	       source(r, 0, SG_OPND_VGPR0 + sg_isa_bits(w, 0, 8));
}

/* SDWA names a scalar by a bit of its own, so the operand is a VGPR or 8 bits of scalar. */
static bool sdwa_source(const struct sg_isa_reader *r, unsigned k, unsigned field, uint32_t mods)
{
	const struct sg_isa_operand *desc = sg_isa_find(r->insn->row, SG_ROLE_SRC0 + k);
	unsigned sel = sg_isa_bits(mods, 0, 3);
	bool sext = sg_isa_bits(mods, 3, 1), neg = sg_isa_bits(mods, 4, 1);
	bool abs = sg_isa_bits(mods, 5, 1), is_scalar = sg_isa_bits(mods, 7, 1);
	bool has_float_mods;

	if (!desc)
		return field == 0 && (mods & 0xbf) == 0;
	has_float_mods = desc->is_float ||
			 ((r->insn->row->flags & SG_ISA_NEGABS) && r->target >= SG_ISA_GFX942);
	if (sel > 6 || (has_float_mods ? sext : neg || abs))
		return false;
	r->insn->src_sel[k] = sel;
	r->insn->sext |= sext << k;
	r->insn->neg |= neg << k;
	r->insn->abs |= abs << k;
	if (is_scalar && field == SG_OPND_LITERAL)
		return false;
	return source(r, k, is_scalar ? field : SG_OPND_VGPR0 + field);
}

static bool decode_sdwa(const struct sg_isa_reader *r, unsigned src1)
{
	struct sg_decoded_insn *insn = r->insn;
	const struct sg_isa_operand *vdst = sg_isa_find(insn->row, SG_ROLE_VDST);
	uint32_t w;

	if (r->n_words < 2 || !sg_isa_has_form(insn->row, r->target, SG_FORM_SDWA))
		return false;
	w = r->words[1];
	insn->n_dwords = 2;
	insn->form = SG_FORM_SDWA;
	if (insn->row->enc == SG_ENC_VOPC) {
		if (sg_isa_bits(w, 15, 1) && !mask_dst(r, sg_isa_bits(w, 8, 7)))
			return false;
	} else {
		insn->dst_sel = sg_isa_bits(w, 8, 3);
		insn->dst_unused = sg_isa_bits(w, 11, 2);
		if (insn->row->flags & SG_ISA_SRCSEL) {
			if (insn->dst_sel != 6)
				return false;
			insn->dst_unused = 0;
		}
		insn->clamp = sg_isa_bits(w, 13, 1);
		insn->omod = sg_isa_bits(w, 14, 2);
		if (insn->dst_sel > 6 || insn->dst_unused > 2 || (insn->omod && !vdst->is_float))
			return false;
	}
	return sdwa_source(r, 0, sg_isa_bits(w, 0, 8), w >> 16 & 0xff) &&
	       sdwa_source(r, 1, src1, w >> 24);
}

bool sg_isa_decode_vector(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0];
	unsigned src0 = sg_isa_bits(w, 0, 9), src1 = 0, vdst = sg_isa_bits(w, 17, 8);
	const struct sg_isa_row *row;

	if (w >> 25 == 0x3f) {
		if (!sg_isa_read_row(r, SG_ENC_VOP1, sg_isa_bits(w, 9, 8)))
			return false;
	} else {
		bool is_vopc = w >> 25 == 0x3e;
		unsigned op = is_vopc ? sg_isa_bits(w, 17, 8) : sg_isa_bits(w, 25, 6);

		if (!sg_isa_read_row(r, is_vopc ? SG_ENC_VOPC : SG_ENC_VOP2, op))
			return false;
		src1 = sg_isa_bits(w, 9, 8);
		if (is_vopc)
			vdst = 0;
	}
	row = insn->row;
	if (sg_isa_find(row, SG_ROLE_CO))
		insn->sdst = SG_OPND_VCC_LO;
	if (sg_isa_find(row, SG_ROLE_CI) || (row->flags & SG_ISA_VCC))
		insn->src[2] = SG_OPND_VCC_LO;
	if (!vector_dst(r, vdst))
		return false;
	/* Without operands src0 is ignored, but not the second word that these values announce. */
	if (!sg_isa_find(row, SG_ROLE_SRC0))
		return src0 != SG_OPND_SDWA && src0 != SG_OPND_DPP && src0 != SG_OPND_LITERAL;
	if (src0 == SG_OPND_SDWA)
		return decode_sdwa(r, src1);
	if (sg_isa_find(row, SG_ROLE_SRC1) && !source(r, 1, SG_OPND_VGPR0 + src1))
		return false;
	if (src0 == SG_OPND_DPP)
		return decode_dpp(r);
	if (sg_isa_find(row, SG_ROLE_K) && !sg_isa_read_literal(r, SG_OPND_LITERAL))
		return false;
	if (!(row->forms & ~(1u << SG_FORM_PLAIN)) && row->enc == SG_ENC_VOP1 &&
	    !sg_isa_find(row, SG_ROLE_SDST) && src0 < SG_OPND_VGPR0)
		return false; /* v_swap_b32 and v_accvgpr_mov_b32 know vector registers only */
	if ((row->flags & SG_ISA_PERMSWAP) && src0 < SG_OPND_VGPR0)
		return false;
	return sg_isa_read_literal(r, src0) && source(r, 0, src0);
}

/* neg and abs bits (VOP3) that the instruction has no use for. */
static bool unused_mods(const struct sg_isa_row *row, unsigned neg, unsigned abs)
{
	for (unsigned k = 0; k < 3; k++)
		if (((neg | abs) >> k & 1) && !sg_isa_has_source_mods(row, k))
			return true;
	return false;
}

bool sg_isa_decode_vop3(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_row *row;

	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_VOP3, sg_isa_bits(w, 16, 10)))
		return false;
	row = insn->row;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->form = row->enc == SG_ENC_VOP3 ? SG_FORM_PLAIN : SG_FORM_VOP3;
	insn->clamp = sg_isa_bits(w, 15, 1);
	insn->omod = sg_isa_bits(x, 27, 2);
	insn->neg = sg_isa_bits(x, 29, 3);
	if (row->enc == SG_ENC_VOPC) {
		if (!mask_dst(r, sg_isa_bits(w, 0, 8)))
			return false;
	} else if (!vector_dst(r, sg_isa_bits(w, 0, 8))) {
		return false;
	}
	if (row->enc != SG_ENC_VOPC && sg_isa_find(row, SG_ROLE_CO)) {
		if (!mask_dst(r, sg_isa_bits(w, 8, 7)))
			return false;
	} else {
		insn->abs = sg_isa_bits(w, 8, 3);
		if (row->flags & SG_ISA_OPSEL) {
			insn->op_sel = sg_isa_bits(w, 11, 4);
			if (n_sources(row) < 3 && (insn->op_sel & 4) && !(row->flags & SG_ISA_SEL4))
				return false;
		}
	}
	if (row->flags & SG_ISA_SEL4) { /* these bits of the third source do not exist */
		insn->neg &= ~(n_sources(row) < 3 ? 4 : 0);
		insn->abs &= ~(n_sources(row) < 3 ? 4 : 0);
	}
	if (row->flags & SG_ISA_BITOP3) { /* the bits of the modifiers are its truth table */
		insn->bitop3 = insn->neg | insn->abs << 3 | insn->omod << 6;
		insn->neg = insn->abs = insn->omod = 0;
		if (!(row->flags & SG_ISA_OPSEL) && sg_isa_bits(w, 11, 4))
			return false;
	}
	if (row->flags & SG_ISA_PERMSWAP)
		insn->op_sel = sg_isa_bits(w, 11, 2);
	if (row->flags & SG_ISA_IGNMODS) {
		insn->neg &= ~3;
		insn->abs &= ~3;
	}
	if ((insn->clamp && !sg_isa_has_clamp(row)) ||
	    (insn->omod && !sg_isa_has_omod(row, r->target)) ||
	    unused_mods(row, insn->neg, insn->abs))
		return false;
	settle_integer_mods(insn);
	if (row->flags & SG_ISA_VCC)
		insn->src[2] = SG_OPND_VCC_LO;
	for (unsigned k = 0; k < 3; k++) {
		unsigned field = sg_isa_bits(x, 9 * k, 9);

		if (field == SG_OPND_LITERAL)
			return false;
		if (k == 0 && (row->flags & SG_ISA_PERMSWAP) && field < SG_OPND_VGPR0)
			return false;
		if (k == 2 && sg_isa_find(row, SG_ROLE_CI)) {
			if (sg_isa_is_constant(field) || !sg_isa_scalar_operand(&field, 2, false))
				return false;
			insn->src[2] = field;
		} else if (!source(r, k, field)) {
			return false;
		}
	}
	return true;
}

struct sg_isa_operand sg_isa_matrix_source(const struct sg_decoded_insn *insn, unsigned k)
{
	static const uint8_t regs[8] = { 8, 8, 6, 6, 4, 8, 8, 8 }; /* of 32 elements, by format */
	struct sg_isa_operand desc = *sg_isa_find(insn->row, SG_ROLE_SRC0 + k);

	if ((insn->row->flags & SG_ISA_F8F6F4) && k < 2)
		desc.n_regs = regs[k ? insn->blgp : insn->cbsz];
	return desc;
}

/* Fields of which a matrix instruction does not have all. */
static bool matrix_fields(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;

	if (r->target >= SG_ISA_GFX942 && sg_isa_find(insn->row, SG_ROLE_SRC0)->bits == 64) {
		insn->neg = insn->blgp; /* of A, B and C */
		insn->blgp = 0;
	}
	if (insn->row->enc == SG_ENC_VOP3PX) {
		insn->abid = 0; /* was 1: there is a prefix */
		return true;
	}
	return !(insn->row->flags & SG_ISA_F8F6F4) || !insn->abid;
}

static bool decode_mfma(const struct sg_isa_reader *r, uint32_t w, uint32_t x)
{
	struct sg_decoded_insn *insn = r->insn;
	bool is_sparse = insn->row->flags & SG_ISA_SPARSE;
	bool is_acc_d = r->target == SG_ISA_GFX908 || sg_isa_bits(w, 15, 1);

	insn->cbsz = sg_isa_bits(w, 8, 3);
	insn->abid = sg_isa_bits(w, 11, 4);
	insn->blgp = sg_isa_bits(x, 29, 3);
	insn->dst_acc = is_acc_d;
	insn->src_acc = sg_isa_bits(x, 27, 2) | (unsigned)(is_acc_d && !is_sparse) << 2;
	if (!vector_dst(r, sg_isa_bits(w, 0, 8)) || !matrix_fields(r) || (is_sparse && insn->blgp))
		return false;
	for (unsigned k = 0; k < 3; k++) {
		struct sg_isa_operand desc = sg_isa_matrix_source(insn, k);
		unsigned field = sg_isa_bits(x, 9 * k, 9);

		/* the matrices are in vector registers; the accumulator may start as a constant */
		if (field < SG_OPND_VGPR0) {
			if (k != 2 || is_sparse || field == SG_OPND_LITERAL ||
			    !sg_isa_is_constant(field))
				return false;
			insn->src_acc &= ~(1u << k);
		} else if (!sg_isa_vector_source(&field, desc.n_regs)) {
			return false;
		}
		insn->src[k] = field;
	}
	return true;
}

/* Two instructions in one: v_mfma_ld_scale_b32 is the prefix that names the scales. */
static bool decode_scaled(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x = r->words[1];

	insn->n_dwords = 4;
	insn->op_sel = sg_isa_bits(w, 11, 2);
	insn->op_sel_hi = sg_isa_bits(x, 27, 2);
	for (unsigned k = 0; k < 2; k++) {
		unsigned field = sg_isa_bits(x, 9 * k, 9);

		if (field == SG_OPND_LITERAL || !sg_isa_vector_source(&field, 1) ||
		    (field > SG_OPND_INT_M16 && field < SG_OPND_VGPR0 &&
		     !sg_isa_is_constant(field)))
			return false;
		insn->scale[k] = field;
	}
	return decode_mfma(r, r->words[2], r->words[3]);
}

bool sg_isa_is_prefix(enum sg_isa_target target, uint32_t word)
{
	enum { ENCODING = 0x1a7, OP_LD_SCALE = 0x2c };

	return word >> 23 == ENCODING && sg_isa_bits(word, 16, 7) == OP_LD_SCALE &&
	       target >= SG_ISA_GFX950;
}

static bool is_scaled(const struct sg_isa_reader *r)
{
	enum { ABID_SCALED = 1 };
	uint32_t next;

	if (r->n_words < 4 || !sg_isa_is_prefix(r->target, r->words[0]))
		return false;
	next = r->words[2];
	return next >> 23 == r->words[0] >> 23 && sg_isa_bits(next, 11, 4) == ABID_SCALED &&
	       sg_isa_read_row(r, SG_ENC_VOP3PX, sg_isa_bits(next, 16, 7));
}

bool sg_isa_decode_vop3p(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_row *row;
	unsigned n;

	if (is_scaled(r))
		return decode_scaled(r);
	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_VOP3P, sg_isa_bits(w, 16, 7)))
		return false;
	row = insn->row;
	x = r->words[1];
	n = n_sources(row);
	insn->n_dwords = 2;
	if (row->flags & SG_ISA_MFMA)
		return decode_mfma(r, w, x);
	insn->clamp = sg_isa_bits(w, 15, 1);
	insn->neg_hi = sg_isa_bits(w, 8, 3);
	insn->neg = sg_isa_bits(x, 29, 3);
	insn->op_sel = sg_isa_bits(w, 11, 3);
	insn->op_sel_hi = sg_isa_bits(x, 27, 2) | sg_isa_bits(w, 14, 1) << 2;
	if (row->flags & SG_ISA_IGNMODS) {
		insn->neg &= ~3;
		insn->neg_hi &= ~3;
	}
	if (insn->clamp && (row->flags & SG_ISA_NOCLAMP))
		return false;
	if (n == 1) { /* the moves between the register files have no modifiers */
		if (insn->neg_hi || insn->neg || insn->op_sel)
			return false;
		insn->clamp = false;
		insn->op_sel_hi = 0;
	}
	insn->op_sel_hi &= (1u << n) - 1;
	for (unsigned k = 0; k < 3; k++) {
		const struct sg_isa_operand *desc = sg_isa_find(row, SG_ROLE_SRC0 + k);
		bool has_neg =
			desc && (k == 0 || desc->is_float || desc->type_class != SG_TYPE_PK16 ||
				 r->target >= SG_ISA_GFX942);
		unsigned field = sg_isa_bits(x, 9 * k, 9);

		if ((!has_neg && ((insn->neg | insn->neg_hi) >> k & 1)) ||
		    (!desc && (insn->op_sel >> k & 1)))
			return false;
		if (field == SG_OPND_LITERAL || !source(r, k, field))
			return false;
	}
	return vector_dst(r, sg_isa_bits(w, 0, 8));
}
