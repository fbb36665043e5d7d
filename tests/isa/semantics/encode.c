#include "tests/isa/semantics/encode.h"

static bool has_role(const struct sg_isa_row *row, unsigned role)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].role == role)
			return true;
	return false;
}

static void encode_vop3(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	static const unsigned base[SG_N_ENCS] = {
		[SG_ENC_VOPC] = 0,
		[SG_ENC_VOP2] = 0x100,
		[SG_ENC_VOP1] = 0x140,
		[SG_ENC_VOP3] = 0,
	};
	bool vop3b = row->enc != SG_ENC_VOPC && has_role(row, SG_ROLE_CO);
	uint32_t low = 0xd0000000u | (base[row->enc] + row->op) << 16 | e->clamp << 15;

	low |= row->enc == SG_ENC_VOPC ? e->sdst : e->vdst;
	low |= vop3b ? e->sdst << 8 : e->abs << 8 | e->op_sel << 11;
	emit(out, low);
	emit(out, e->src[0] | e->src[1] << 9 | e->src[2] << 18 | e->omod << 27 | e->neg << 29);
}

static void encode_short(struct words *out, const struct sg_isa_row *row, const struct enc *e,
			 unsigned src0)
{
	unsigned src1 = e->src[1] & 0xff;

	switch (row->enc) {
	case SG_ENC_VOP1:
		emit(out, 0x7e000000u | e->vdst << 17 | (uint32_t)row->op << 9 | src0);
		break;
	case SG_ENC_VOP2:
		emit(out, (uint32_t)row->op << 25 | e->vdst << 17 | src1 << 9 | src0);
		break;
	default:
		emit(out, 0x7c000000u | (uint32_t)row->op << 17 | src1 << 9 | src0);
	}
}

static void encode_sdwa(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	uint32_t w = (e->src[0] & 0xff) | e->src_sel[0] << 16;

	if (row->enc != SG_ENC_VOP1) /* no second source: must be 0 */
		w |= e->src_sel[1] << 24;
	w |= (e->sext & 1) << 19 | (e->neg & 1) << 20 | (e->abs & 1) << 21;
	w |= (e->sext >> 1 & 1) << 27 | (e->neg >> 1 & 1) << 28 | (e->abs >> 1 & 1) << 29;
	if (row->enc == SG_ENC_VOPC)
		w |= e->sdst == SG_OPND_VCC_LO ? 0 : e->sdst << 8 | 1u << 15;
	else
		w |= e->dst_sel << 8 | e->dst_unused << 11 | e->clamp << 13 | e->omod << 14;
	encode_short(out, row, e, SG_OPND_SDWA);
	emit(out, w);
}

static void encode_dpp(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	uint32_t w = (e->src[0] & 0xff) | e->dpp_ctrl << 8 | e->bound_ctrl << 19;

	w |= (e->neg & 1) << 20 | (e->abs & 1) << 21 | (e->neg >> 1 & 1) << 22 |
	     (e->abs >> 1 & 1) << 23;
	w |= e->bank_mask << 24 | e->row_mask << 28;
	encode_short(out, row, e, SG_OPND_DPP);
	emit(out, w);
}

static void encode_vop3p(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	emit(out, 0xd3800000u | (uint32_t)row->op << 16 | e->clamp << 15 |
			  (e->op_sel_hi >> 2 & 1) << 14 | e->op_sel << 11 | e->neg_hi << 8 |
			  e->vdst);
	emit(out, e->src[0] | e->src[1] << 9 | e->src[2] << 18 | (e->op_sel_hi & 3) << 27 |
			  e->neg << 29);
}

void encode_vector(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	if (row->enc == SG_ENC_VOP3P) {
		encode_vop3p(out, row, e);
		return;
	}
	if (row->enc == SG_ENC_VOP3 || e->form == SG_FORM_VOP3) {
		encode_vop3(out, row, e);
		return;
	}
	if (e->form == SG_FORM_SDWA) {
		encode_sdwa(out, row, e);
	} else if (e->form == SG_FORM_DPP) {
		encode_dpp(out, row, e);
	} else {
		encode_short(out, row, e, e->src[0]);
		if (e->src[0] == SG_OPND_LITERAL || has_role(row, SG_ROLE_K))
			emit(out, e->literal);
	}
}

static void encode_scale_prefix(struct words *out, const struct enc *e)
{
	uint32_t low = (e->scale_byte[0] & 1) | (e->scale_byte[1] & 1) << 1;
	uint32_t high = e->scale_byte[0] >> 1 | (e->scale_byte[1] >> 1) << 1;

	emit(out, 0xd3ac0000u | low << 11);
	emit(out, e->scale[0] | e->scale[1] << 9 | high << 27);
}

void encode_mfma(struct words *out, const struct sg_isa_row *row, const struct enc *e)
{
	bool scaled = row->enc == SG_ENC_VOP3PX;

	if (scaled)
		encode_scale_prefix(out, e);
	emit(out, 0xd3800000u | (uint32_t)row->op << 16 | e->acc_cd << 15 |
			  (scaled ? 1 : e->abid) << 11 | e->cbsz << 8 | e->vdst);
	emit(out, e->src[0] | e->src[1] << 9 | e->src[2] << 18 | e->acc_ab << 27 | e->blgp << 29);
}
