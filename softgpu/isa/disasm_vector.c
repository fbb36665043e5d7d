/* Printing the vector formats. */
#include "softgpu/isa/isa_priv.h"

static bool is_vop3(const struct sg_decoded_insn *insn)
{
	return insn->form == SG_FORM_VOP3 || insn->row->enc == SG_ENC_VOP3;
}

static bool is_vop3p(const struct sg_isa_row *row)
{
	return row->enc == SG_ENC_VOP3P || row->enc == SG_ENC_VOP3PX;
}

/* LLVM marks the form of what has more than one; an instruction without operands is just itself. */
static const char *suffix(const struct sg_decoded_insn *insn)
{
	static const char *const suffixes[] = { "_e32", "_e64", "_sdwa", "_dpp" };
	const struct sg_isa_row *row = insn->row;

	if (row->enc == SG_ENC_VOP3 || is_vop3p(row) || !row->n_operands)
		return "";
	if (row->forms == 1 << SG_FORM_PLAIN && !(row->flags & SG_ISA_E32))
		return "";
	return suffixes[insn->form];
}

static void put_source_mods(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
			    unsigned k, const struct sg_isa_operand *desc)
{
	const struct sg_isa_row *row = insn->row;
	bool is_mix = row->flags & SG_ISA_MIX;
	bool neg = insn->neg >> k & 1, abs = (is_mix ? insn->neg_hi : insn->abs) >> k & 1;
	bool sext = insn->sext >> k & 1;
	unsigned operand = insn->src[k];
	bool neg_in_words;

	if (is_vop3p(row) && !is_mix)
		neg = abs = false; /* printed behind, as neg_lo and neg_hi */
	/* -1.0 would read as the constant of that value */
	neg_in_words = neg && !abs && sg_isa_is_constant(operand);
	sg_isa_put(text, "%s%s%s", sext ? "sext(" : "",
		   neg_in_words ? "neg("
		   : neg        ? "-"
				: "",
		   abs ? "|" : "");
	sg_isa_put_source(text, insn, operand, desc, insn->src_acc >> k & 1);
	sg_isa_put(text, "%s%s%s", abs ? "|" : "", neg_in_words ? ")" : "", sext ? ")" : "");
}

static void put_vector_source(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
			      unsigned k, const struct sg_isa_operand *desc)
{
	struct sg_isa_operand matrix;

	if (insn->row->flags & SG_ISA_MFMA) {
		matrix = sg_isa_matrix_source(insn, k);
		desc = &matrix;
	}
	put_source_mods(text, insn, k, desc);
}

static void put_output_mods(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	static const char *const omods[] = { "", " mul:2", " mul:4", " div:2" };

	if (insn->clamp)
		sg_isa_put(text, " clamp");
	sg_isa_put(text, "%s", omods[insn->omod]);
}

static void put_sdwa(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	static const char *const sels[] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
					    "WORD_0", "WORD_1", "DWORD" };
	static const char *const unused[] = { "UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE" };

	if (insn->row->enc != SG_ENC_VOPC && !(insn->row->flags & SG_ISA_SRCSEL))
		sg_isa_put(text, " dst_sel:%s dst_unused:%s", sels[insn->dst_sel],
			   unused[insn->dst_unused]);
	sg_isa_put(text, " src0_sel:%s", sels[insn->src_sel[0]]);
	if (sg_isa_find(insn->row, SG_ROLE_SRC1))
		sg_isa_put(text, " src1_sel:%s", sels[insn->src_sel[1]]);
}

static void put_dpp(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	static const char *const shifts[] = { "row_shl", "row_shr", "row_ror" };
	static const char *const waves[] = { "wave_shl", "wave_rol", "wave_shr", "wave_ror" };
	static const char *const rows[] = { "row_mirror", "row_half_mirror", "row_bcast:15",
					    "row_bcast:31" };
	unsigned ctrl = insn->dpp_ctrl;

	if (ctrl < 0x100)
		sg_isa_put(text, " quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3,
			   ctrl >> 6 & 3);
	else if (ctrl < 0x130)
		sg_isa_put(text, " %s:%u", shifts[(ctrl >> 4) - 0x10], ctrl & 0xf);
	else if (ctrl < 0x140)
		sg_isa_put(text, " %s:1", waves[ctrl >> 2 & 3]);
	else if (ctrl < 0x150)
		sg_isa_put(text, " %s", rows[ctrl & 3]);
	else
		sg_isa_put(text, " row_newbcast:%u", ctrl & 0xf);
	sg_isa_put(text, " row_mask:0x%x bank_mask:0x%x", insn->row_mask, insn->bank_mask);
	if (insn->bound_ctrl)
		sg_isa_put(text, " bound_ctrl:1");
}

static void put_bit_list(struct sg_isa_text *text, const char *name, unsigned bits, unsigned n)
{
	sg_isa_put(text, " %s:[", name);
	for (unsigned i = 0; i < n; i++)
		sg_isa_put(text, "%s%u", i ? "," : "", bits >> i & 1);
	sg_isa_put(text, "]");
}

static void put_packed_mods(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
			    unsigned n)
{
	const struct sg_isa_row *row = insn->row;
	bool is_mix = row->flags & SG_ISA_MIX;
	unsigned usual_hi = is_mix ? 0 : (1u << n) - 1;

	if (row->flags & SG_ISA_MFMA) {
		if (row->enc == SG_ENC_VOP3PX && insn->op_sel)
			put_bit_list(text, "op_sel", insn->op_sel, n);
		if (row->enc == SG_ENC_VOP3PX)
			put_bit_list(text, "op_sel_hi", insn->op_sel_hi, n);
		if (insn->cbsz)
			sg_isa_put(text, " cbsz:%u", insn->cbsz);
		if (insn->abid)
			sg_isa_put(text, " abid:%u", insn->abid);
		if (insn->blgp)
			sg_isa_put(text, " blgp:%u", insn->blgp);
		if (insn->neg)
			put_bit_list(text, "neg", insn->neg, 3);
		return;
	}
	if (n == 1)
		return;
	if (insn->op_sel)
		put_bit_list(text, "op_sel", insn->op_sel, n);
	if (insn->op_sel_hi != usual_hi)
		put_bit_list(text, "op_sel_hi", insn->op_sel_hi, n);
	if (!is_mix && insn->neg)
		put_bit_list(text, "neg_lo", insn->neg, n);
	if (!is_mix && insn->neg_hi)
		put_bit_list(text, "neg_hi", insn->neg_hi, n);
}

void sg_isa_print_vector(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;
	unsigned n_sources = 0;

	sg_isa_put(text, "%s%s", row->mnemonic, suffix(insn));
	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		sg_isa_put_separator(text);
		switch (desc->role) {
		case SG_ROLE_VDST:
			sg_isa_put_regs(text, insn->dst_acc ? 'a' : 'v', insn->vdst, desc->n_regs);
			break;
		case SG_ROLE_SDST:
			sg_isa_put_scalar(text, insn->sdst, desc->n_regs);
			break;
		case SG_ROLE_CO:
			sg_isa_put_scalar(text, insn->sdst, 2);
			break;
		case SG_ROLE_CI: {
			struct sg_isa_operand mask = { .n_regs = 2, .bits = 64 };

			sg_isa_put_source(text, insn, insn->src[2], &mask, false);
			break;
		}
		case SG_ROLE_K:
			sg_isa_put(text, "0x%x", insn->literal);
			break;
		case SG_ROLE_SCALE0:
		case SG_ROLE_SCALE1:
			sg_isa_put_source(text, insn, insn->scale[desc->role - SG_ROLE_SCALE0],
					  desc, false);
			break;
		default:
			put_vector_source(text, insn, desc->role - SG_ROLE_SRC0, desc);
			n_sources++;
		}
	}
	if (is_vop3p(row))
		put_packed_mods(text, insn, n_sources);
	if (insn->bitop3)
		sg_isa_put(text, insn->bitop3 <= 10 ? " bitop3:%u" : " bitop3:0x%x", insn->bitop3);
	if (row->flags & SG_ISA_PERMSWAP) {
		sg_isa_put(text, "%s%s", insn->op_sel & 2 ? " bound_ctrl:1" : "",
			   insn->op_sel & 1 ? " fi:1" : "");
	} else if (is_vop3(insn) && insn->op_sel) {
		/* the destination's bit comes last */
		unsigned n = row->flags & SG_ISA_SEL4 ? 3 : n_sources;
		unsigned sources = insn->op_sel & ((1u << n) - 1);

		put_bit_list(text, "op_sel", sources | (insn->op_sel >> 3) << n, n + 1);
	}
	put_output_mods(text, insn);
	if (insn->form == SG_FORM_SDWA)
		put_sdwa(text, insn);
	if (insn->form == SG_FORM_DPP)
		put_dpp(text, insn);
}
