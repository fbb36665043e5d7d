/* Decoding the vector formats: VOP1, VOP2, VOPC with their VOP3, SDWA and DPP forms, and VOP3P. */
#include "softgpu/isa/isa_priv.h"

bool ws_isa_has_clamp(const struct ws_isa_row *row)
{
	const struct ws_isa_operand *vdst = ws_isa_find(row, WS_ROLE_VDST);

	if (row->flags & WS_ISA_CLASS)
		return false;
	return (row->flags & (WS_ISA_CLAMP | WS_ISA_OPSEL)) || ws_isa_has_float_source(row) ||
	       (vdst && vdst->is_float);
}

bool ws_isa_has_omod(const struct ws_isa_row *row)
{
	const struct ws_isa_operand *vdst = ws_isa_find(row, WS_ROLE_VDST);

	if (!vdst || (row->flags & (WS_ISA_NOMOD | WS_ISA_OPSEL)))
		return false;
	return ws_isa_has_float_source(row) || vdst->is_float;
}

static unsigned n_sources(const struct ws_isa_row *row)
{
	unsigned n = 0;

	while (n < 3 && ws_isa_find(row, WS_ROLE_SRC0 + n))
		n++;
	return n;
}

bool ws_isa_has_form(const struct ws_isa_row *row, enum ws_isa_target target, enum ws_form form)
{
	if (!(row->forms & (1u << form)))
		return false;
	if (form == WS_FORM_PLAIN || form == WS_FORM_VOP3)
		return true;
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].bits == 64)
			return form == WS_FORM_DPP && target == WS_ISA_GFX90A;
	return true;
}

static bool vector_dst(const struct ws_isa_reader *r, unsigned field)
{
	const struct ws_isa_row *row = r->insn->row;
	const struct ws_isa_operand *vdst = ws_isa_find(row, WS_ROLE_VDST);
	const struct ws_isa_operand *sdst = ws_isa_find(row, WS_ROLE_SDST);

	if (sdst) {
		if (!ws_isa_scalar_operand(&field, sdst->n_regs, true))
			return false;
		r->insn->sdst = field;
		return true;
	}
	r->insn->vdst = field;
	r->insn->dst_acc |= (row->flags & WS_ISA_ACCDST) != 0;
	return vdst ? field + vdst->n_regs <= 256 : field == 0;
}

static bool mask_dst(const struct ws_isa_reader *r, unsigned field)
{
	if (!ws_isa_scalar_operand(&field, 2, true))
		return false;
	r->insn->sdst = field;
	return true;
}

static bool source(const struct ws_isa_reader *r, unsigned k, unsigned field)
{
	const struct ws_isa_row *row = r->insn->row;
	const struct ws_isa_operand *desc = ws_isa_find(row, WS_ROLE_SRC0 + k);

	if (!desc)
		return field == 0;
	if (!ws_isa_vector_source(&field, desc->n_regs))
		return false;
	/* A lane can only be read from a register, and wide operands have no constants. */
	if (ws_isa_is_constant(field) &&
	    ((k == 0 && ws_isa_find(row, WS_ROLE_SDST)) || desc->n_regs > 2))
		return false;
	if (field < WS_OPND_VGPR0 && (row->flags & WS_ISA_ACCSRC))
		return false;
	r->insn->src[k] = field;
	r->insn->src_acc |= ((row->flags & WS_ISA_ACCSRC) != 0 && field >= WS_OPND_VGPR0) << k;
	return true;
}

/*
 * neg of an integer source is sext in LLVM's eyes (or nothing, with op_sel), and abs is nothing: an
 * interpreter that applies neg and abs finds them on floats only.
 */
static void settle_integer_mods(struct ws_insn *insn)
{
	for (unsigned k = 0; k < 3; k++) {
		const struct ws_isa_operand *desc = ws_isa_find(insn->row, WS_ROLE_SRC0 + k);
		unsigned bit = 1u << k;

		if (!desc || desc->is_float || (insn->row->flags & WS_ISA_NEGABS))
			continue;
		if ((insn->neg & bit) && !(insn->row->flags & WS_ISA_OPSEL))
			insn->sext |= bit;
		insn->neg &= ~bit;
		insn->abs &= ~bit;
	}
}

static bool dpp_ctrl_exists(const struct ws_isa_reader *r, unsigned ctrl)
{
	bool is_64_bit = ws_isa_find(r->insn->row, WS_ROLE_SRC0)->bits == 64;

	if (ctrl >= 0x150 && ctrl <= 0x15f) /* row_newbcast */
		return r->target == WS_ISA_GFX90A;
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

static bool decode_dpp(const struct ws_isa_reader *r)
{
	struct ws_insn *insn = r->insn;
	unsigned n = n_sources(insn->row);
	uint32_t w;

	if (r->n_words < 2 || !ws_isa_has_form(insn->row, r->target, WS_FORM_DPP))
		return false;
	w = r->words[1];
	insn->n_dwords = 2;
	insn->form = WS_FORM_DPP;
	insn->dpp_ctrl = ws_isa_bits(w, 8, 9);
	insn->bound_ctrl = ws_isa_bits(w, 19, 1);
	insn->bank_mask = ws_isa_bits(w, 24, 4);
	insn->row_mask = ws_isa_bits(w, 28, 4);
	insn->neg = ws_isa_bits(w, 20, 1) | ws_isa_bits(w, 22, 1) << 1;
	insn->abs = ws_isa_bits(w, 21, 1) | ws_isa_bits(w, 23, 1) << 1;
	if (insn->row->flags & (WS_ISA_IGNMODS | WS_ISA_NEGABS)) {
		insn->neg = insn->abs = 0;
	} else {
		for (unsigned k = 0; k < 2; k++)
			if ((k >= n || !ws_isa_has_source_mods(insn->row, k)) &&
			    ((insn->neg | insn->abs) >> k & 1))
				return false;
		settle_integer_mods(insn);
	}
	return dpp_ctrl_exists(r, insn->dpp_ctrl) &&
	       source(r, 0, WS_OPND_VGPR0 + ws_isa_bits(w, 0, 8));
}

/* SDWA names a scalar by a bit of its own, so the operand is a VGPR or 8 bits of scalar. */
static bool sdwa_source(const struct ws_isa_reader *r, unsigned k, unsigned field, uint32_t mods)
{
	const struct ws_isa_operand *desc = ws_isa_find(r->insn->row, WS_ROLE_SRC0 + k);
	unsigned sel = ws_isa_bits(mods, 0, 3);
	bool sext = ws_isa_bits(mods, 3, 1), neg = ws_isa_bits(mods, 4, 1);
	bool abs = ws_isa_bits(mods, 5, 1), is_scalar = ws_isa_bits(mods, 7, 1);

	if (!desc)
		return field == 0 && (mods & 0xbf) == 0;
	if (sel > 6 || (desc->is_float ? sext : neg || abs))
		return false;
	r->insn->src_sel[k] = sel;
	r->insn->sext |= sext << k;
	r->insn->neg |= neg << k;
	r->insn->abs |= abs << k;
	if (is_scalar && field == WS_OPND_LITERAL)
		return false;
	return source(r, k, is_scalar ? field : WS_OPND_VGPR0 + field);
}

static bool decode_sdwa(const struct ws_isa_reader *r, unsigned src1)
{
	struct ws_insn *insn = r->insn;
	const struct ws_isa_operand *vdst = ws_isa_find(insn->row, WS_ROLE_VDST);
	uint32_t w;

	if (r->n_words < 2 || !ws_isa_has_form(insn->row, r->target, WS_FORM_SDWA))
		return false;
	w = r->words[1];
	insn->n_dwords = 2;
	insn->form = WS_FORM_SDWA;
	if (insn->row->enc == WS_ENC_VOPC) {
		if (ws_isa_bits(w, 15, 1) && !mask_dst(r, ws_isa_bits(w, 8, 7)))
			return false;
	} else {
		insn->dst_sel = ws_isa_bits(w, 8, 3);
		insn->dst_unused = ws_isa_bits(w, 11, 2);
		insn->clamp = ws_isa_bits(w, 13, 1);
		insn->omod = ws_isa_bits(w, 14, 2);
		if (insn->dst_sel > 6 || insn->dst_unused > 2 || (insn->omod && !vdst->is_float))
			return false;
	}
	return sdwa_source(r, 0, ws_isa_bits(w, 0, 8), w >> 16 & 0xff) &&
	       sdwa_source(r, 1, src1, w >> 24);
}

bool ws_isa_decode_vector(const struct ws_isa_reader *r)
{
	struct ws_insn *insn = r->insn;
	uint32_t w = r->words[0];
	unsigned src0 = ws_isa_bits(w, 0, 9), src1 = 0, vdst = ws_isa_bits(w, 17, 8);
	const struct ws_isa_row *row;

	if (w >> 25 == 0x3f) {
		if (!ws_isa_read_row(r, WS_ENC_VOP1, ws_isa_bits(w, 9, 8)))
			return false;
	} else {
		bool is_vopc = w >> 25 == 0x3e;
		unsigned op = is_vopc ? ws_isa_bits(w, 17, 8) : ws_isa_bits(w, 25, 6);

		if (!ws_isa_read_row(r, is_vopc ? WS_ENC_VOPC : WS_ENC_VOP2, op))
			return false;
		src1 = ws_isa_bits(w, 9, 8);
		if (is_vopc)
			vdst = 0;
	}
	row = insn->row;
	if (ws_isa_find(row, WS_ROLE_CO))
		insn->sdst = WS_OPND_VCC_LO;
	if (ws_isa_find(row, WS_ROLE_CI) || (row->flags & WS_ISA_VCC))
		insn->src[2] = WS_OPND_VCC_LO;
	if (!vector_dst(r, vdst))
		return false;
	/* Without operands src0 is ignored, but not the second word that these values announce. */
	if (!ws_isa_find(row, WS_ROLE_SRC0))
		return src0 != WS_OPND_SDWA && src0 != WS_OPND_DPP && src0 != WS_OPND_LITERAL;
	if (src0 == WS_OPND_SDWA)
		return decode_sdwa(r, src1);
	if (ws_isa_find(row, WS_ROLE_SRC1) && !source(r, 1, WS_OPND_VGPR0 + src1))
		return false;
	if (src0 == WS_OPND_DPP)
		return decode_dpp(r);
	if (ws_isa_find(row, WS_ROLE_K) && !ws_isa_read_literal(r, WS_OPND_LITERAL))
		return false;
	if (!(row->forms & ~(1u << WS_FORM_PLAIN)) && row->enc == WS_ENC_VOP1 &&
	    !ws_isa_find(row, WS_ROLE_SDST) && src0 < WS_OPND_VGPR0)
		return false; /* v_swap_b32 and v_accvgpr_mov_b32 know vector registers only */
	return ws_isa_read_literal(r, src0) && source(r, 0, src0);
}

/* neg and abs bits (VOP3) that the instruction has no use for. */
static bool unused_mods(const struct ws_isa_row *row, unsigned neg, unsigned abs)
{
	for (unsigned k = 0; k < 3; k++)
		if (((neg | abs) >> k & 1) && !ws_isa_has_source_mods(row, k))
			return true;
	return false;
}

bool ws_isa_decode_vop3(const struct ws_isa_reader *r)
{
	struct ws_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct ws_isa_row *row;

	if (r->n_words < 2 || !ws_isa_read_row(r, WS_ENC_VOP3, ws_isa_bits(w, 16, 10)))
		return false;
	row = insn->row;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->form = row->enc == WS_ENC_VOP3 ? WS_FORM_PLAIN : WS_FORM_VOP3;
	insn->clamp = ws_isa_bits(w, 15, 1);
	insn->omod = ws_isa_bits(x, 27, 2);
	insn->neg = ws_isa_bits(x, 29, 3);
	if (row->enc == WS_ENC_VOPC) {
		if (!mask_dst(r, ws_isa_bits(w, 0, 8)))
			return false;
	} else if (!vector_dst(r, ws_isa_bits(w, 0, 8))) {
		return false;
	}
	if (row->enc != WS_ENC_VOPC && ws_isa_find(row, WS_ROLE_CO)) {
		if (!mask_dst(r, ws_isa_bits(w, 8, 7)))
			return false;
	} else {
		insn->abs = ws_isa_bits(w, 8, 3);
		if (row->flags & WS_ISA_OPSEL) {
			insn->op_sel = ws_isa_bits(w, 11, 4);
			if (n_sources(row) < 3 && (insn->op_sel & 4))
				return false;
		}
	}
	if ((insn->clamp && !ws_isa_has_clamp(row)) || (insn->omod && !ws_isa_has_omod(row)) ||
	    unused_mods(row, insn->neg, insn->abs))
		return false;
	settle_integer_mods(insn);
	if (row->flags & WS_ISA_VCC)
		insn->src[2] = WS_OPND_VCC_LO;
	for (unsigned k = 0; k < 3; k++) {
		unsigned field = ws_isa_bits(x, 9 * k, 9);

		if (field == WS_OPND_LITERAL)
			return false;
		if (k == 2 && ws_isa_find(row, WS_ROLE_CI)) {
			if (ws_isa_is_constant(field) || !ws_isa_scalar_operand(&field, 2, false))
				return false;
			insn->src[2] = field;
		} else if (!source(r, k, field)) {
			return false;
		}
	}
	return true;
}

static bool decode_mfma(const struct ws_isa_reader *r, uint32_t w, uint32_t x)
{
	struct ws_insn *insn = r->insn;
	bool is_acc_d = r->target == WS_ISA_GFX908 || ws_isa_bits(w, 15, 1);

	insn->cbsz = ws_isa_bits(w, 8, 3);
	insn->abid = ws_isa_bits(w, 11, 4);
	insn->blgp = ws_isa_bits(x, 29, 3);
	insn->dst_acc = is_acc_d;
	insn->src_acc = ws_isa_bits(x, 27, 2) | (unsigned)is_acc_d << 2;
	if (!vector_dst(r, ws_isa_bits(w, 0, 8)))
		return false;
	for (unsigned k = 0; k < 3; k++) {
		const struct ws_isa_operand *desc = ws_isa_find(insn->row, WS_ROLE_SRC0 + k);
		unsigned field = ws_isa_bits(x, 9 * k, 9);

		/* the matrices are in vector registers; the accumulator may start as a constant */
		if (field < WS_OPND_VGPR0) {
			if (k != 2 || field == WS_OPND_LITERAL || !ws_isa_is_constant(field))
				return false;
			insn->src_acc &= ~(1u << k);
		} else if (!ws_isa_vector_source(&field, desc->n_regs)) {
			return false;
		}
		insn->src[k] = field;
	}
	return true;
}

bool ws_isa_decode_vop3p(const struct ws_isa_reader *r)
{
	struct ws_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct ws_isa_row *row;
	unsigned n;

	if (r->n_words < 2 || !ws_isa_read_row(r, WS_ENC_VOP3P, ws_isa_bits(w, 16, 7)))
		return false;
	row = insn->row;
	x = r->words[1];
	n = n_sources(row);
	insn->n_dwords = 2;
	if (row->flags & WS_ISA_MFMA)
		return decode_mfma(r, w, x);
	insn->clamp = ws_isa_bits(w, 15, 1);
	insn->neg_hi = ws_isa_bits(w, 8, 3);
	insn->neg = ws_isa_bits(x, 29, 3);
	insn->op_sel = ws_isa_bits(w, 11, 3);
	insn->op_sel_hi = ws_isa_bits(x, 27, 2) | ws_isa_bits(w, 14, 1) << 2;
	if (n == 1) { /* the moves between the register files have no modifiers */
		if (insn->neg_hi || insn->neg || insn->op_sel)
			return false;
		insn->clamp = false;
		insn->op_sel_hi = 0;
	}
	insn->op_sel_hi &= (1u << n) - 1;
	for (unsigned k = 0; k < 3; k++) {
		const struct ws_isa_operand *desc = ws_isa_find(row, WS_ROLE_SRC0 + k);
		bool has_neg =
			desc && (k == 0 || desc->is_float || desc->type_class != WS_TYPE_PK16);
		unsigned field = ws_isa_bits(x, 9 * k, 9);

		if ((!has_neg && ((insn->neg | insn->neg_hi) >> k & 1)) ||
		    (!desc && (insn->op_sel >> k & 1)))
			return false;
		if (field == WS_OPND_LITERAL || !source(r, k, field))
			return false;
	}
	return vector_dst(r, ws_isa_bits(w, 0, 8));
}
