/* Printing the memory formats. */
#include "softgpu/isa/isa_priv.h"

static char data_file(const struct sg_decoded_insn *insn)
{
	return insn->dst_acc ? 'a' : 'v';
}

static void put_flag(struct sg_isa_text *text, bool is_set, const char *name)
{
	if (is_set)
		sg_isa_put(text, " %s", name);
}

/* The cache policy; gfx942 named the same bits after what they now mean, the scope. */
static void put_policy(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	bool scopes = text->target >= SG_ISA_GFX942;

	put_flag(text, insn->glc, scopes ? "sc0" : "glc");
	put_flag(text, insn->slc, scopes ? "nt" : "slc");
	put_flag(text, insn->scc, scopes ? "sc1" : "scc");
}

static void put_smem_offset(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const char *sign = insn->simm < 0 ? "-" : "";
	unsigned size = insn->simm < 0 ? -insn->simm : insn->simm;

	if (insn->soffset_en)
		sg_isa_put_scalar(text, insn->soffset, 1);
	if (insn->imm_en)
		sg_isa_put(text, "%s%s0x%x", insn->soffset_en ? " offset:" : "", sign, size);
}

static void print_smem(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;
	bool has_glc = sg_isa_find(row, SG_ROLE_SDATA) && sg_isa_find(row, SG_ROLE_SBASE);

	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		sg_isa_put_separator(text);
		if (desc->role == SG_ROLE_SDATA)
			sg_isa_put_scalar(text, insn->sdst, desc->n_regs);
		else if (desc->role == SG_ROLE_SBASE)
			sg_isa_put_scalar(text, insn->saddr, desc->n_regs);
		else if (desc->role == SG_ROLE_SIMM16) /* what to probe for, in sdata's place */
			sg_isa_put(text, insn->sdst <= 64 ? "%u" : "0x%x", insn->sdst);
		else
			put_smem_offset(text, insn);
	}
	put_flag(text, insn->glc && has_glc, "glc");
}

/* The three masks of ds_swizzle's bit mode, as the picture of what becomes of 5 bits. */
static void put_bitmask_swizzle(struct sg_isa_text *text, unsigned offset)
{
	unsigned and_mask = offset & 0x1f, or_mask = offset >> 5 & 0x1f;
	unsigned xor_mask = offset >> 10 & 0x1f;

	if (and_mask == 0x1f && or_mask == 0 && xor_mask && !(xor_mask & (xor_mask - 1))) {
		sg_isa_put(text, "swizzle(SWAP,%u)", xor_mask);
		return;
	}
	if (and_mask == 0x1f && or_mask == 0 && xor_mask && !(xor_mask & (xor_mask + 1))) {
		sg_isa_put(text, "swizzle(REVERSE,%u)", xor_mask + 1);
		return;
	}
	if (xor_mask == 0) {
		unsigned group = 0x20 - and_mask; /* and_mask 11..100: groups of a power of two */

		if (group > 1 && !(group & (group - 1)) && or_mask < group) {
			sg_isa_put(text, "swizzle(BROADCAST,%u,%u)", group, or_mask);
			return;
		}
	}
	sg_isa_put(text, "swizzle(BITMASK_PERM,\"");
	for (unsigned bit = 0x10; bit; bit >>= 1) {
		/* what a lane number of all zeros and one of all ones become */
		bool zero = or_mask & bit, one = (and_mask | or_mask) & bit;

		if (xor_mask & bit) {
			zero = !zero;
			one = !one;
		}
		sg_isa_put(text, "%c", zero == one ? (zero ? '1' : '0') : one ? 'p' : 'i');
	}
	sg_isa_put(text, "\")");
}

static void put_swizzle(struct sg_isa_text *text, unsigned offset)
{
	if (!offset)
		return;
	sg_isa_put(text, " offset:");
	if (!(offset & 0x8000))
		put_bitmask_swizzle(text, offset);
	else if ((offset & 0xff00) == 0x8000)
		sg_isa_put(text, "swizzle(QUAD_PERM,%u,%u,%u,%u)", offset & 3, offset >> 2 & 3,
			   offset >> 4 & 3, offset >> 6 & 3);
	else
		sg_isa_put(text, "%u", offset);
}

static void print_ds(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;
	char address_file = (row->flags & SG_ISA_GDSONLY) ? data_file(insn) : 'v';

	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		switch (desc->role) {
		case SG_ROLE_VDST:
			sg_isa_put_separator(text);
			sg_isa_put_regs(text, data_file(insn), insn->vdst, desc->n_regs);
			break;
		case SG_ROLE_VADDR:
			sg_isa_put_separator(text);
			sg_isa_put_regs(text, address_file, insn->vaddr, desc->n_regs);
			break;
		case SG_ROLE_DATA0:
			sg_isa_put_separator(text);
			sg_isa_put_regs(text, data_file(insn), insn->vdata, desc->n_regs);
			break;
		case SG_ROLE_DATA1:
			sg_isa_put_separator(text);
			sg_isa_put_regs(text, data_file(insn), insn->data1, desc->n_regs);
			break;
		case SG_ROLE_OFFSET:
			if (insn->simm)
				sg_isa_put(text, " offset:%d", insn->simm);
			break;
		case SG_ROLE_OFFSET0:
			if (insn->offset0)
				sg_isa_put(text, " offset0:%u", insn->offset0);
			break;
		case SG_ROLE_OFFSET1:
			if (insn->offset1)
				sg_isa_put(text, " offset1:%u", insn->offset1);
			break;
		case SG_ROLE_SWIZZLE:
			put_swizzle(text, insn->simm);
			break;
		case SG_ROLE_GDS:
			put_flag(text, insn->gds, "gds");
			break;
		}
	}
}

static void put_flat_vaddr(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	bool has_saddr = insn->saddr != 0x7f;

	if (insn->seg == 1 && !insn->sve)
		sg_isa_put(text, "off");
	else
		sg_isa_put_regs(text, 'v', insn->vaddr, insn->seg == 1 || has_saddr ? 1 : 2);
}

static void print_flat(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;
	bool has_vdst = !insn->lds && (!(row->flags & SG_ISA_ATOMIC) || insn->glc);

	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		if (desc->role == SG_ROLE_LDS || (desc->role == SG_ROLE_VDST && !has_vdst) ||
		    (desc->role == SG_ROLE_SADDR && !insn->seg))
			continue;
		sg_isa_put_separator(text);
		if (desc->role == SG_ROLE_VDST)
			sg_isa_put_regs(text, data_file(insn), insn->vdst, desc->n_regs);
		else if (desc->role == SG_ROLE_VDATA)
			sg_isa_put_regs(text, data_file(insn), insn->vdata, desc->n_regs);
		else if (desc->role == SG_ROLE_VADDR)
			put_flat_vaddr(text, insn);
		else if (insn->saddr == 0x7f)
			sg_isa_put(text, "off");
		else
			sg_isa_put_scalar(text, insn->saddr, insn->seg == 1 ? 1 : 2);
	}
	if (insn->simm)
		sg_isa_put(text, " offset:%d", insn->simm);
	put_policy(text, insn);
	put_flag(text, insn->lds && sg_isa_find(row, SG_ROLE_VDST), "lds");
}

static void put_buffer_format(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	static const char *const data[] = {
		"INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
		"10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
		"16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"
	};
	static const char *const num[] = { "UNORM", "SNORM", "USCALED",    "SSCALED",
					   "UINT",  "SINT",  "RESERVED_6", "FLOAT" };
	bool has_data = insn->dfmt != 1, has_num = insn->nfmt != 0; /* 8 UNORM is the usual */

	if (!has_data && !has_num)
		return;
	sg_isa_put(text, " format:[");
	if (has_data)
		sg_isa_put(text, "BUF_DATA_FORMAT_%s%s", data[insn->dfmt], has_num ? "," : "");
	if (has_num)
		sg_isa_put(text, "BUF_NUM_FORMAT_%s", num[insn->nfmt]);
	sg_isa_put(text, "]");
}

static void print_buffer(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;
	unsigned n_vaddr = insn->offen + insn->idxen;
	static const struct sg_isa_operand word = { .n_regs = 1, .bits = 32 };

	for (unsigned i = 0; i < row->n_operands; i++) {
		const struct sg_isa_operand *desc = &row->operand[i];

		if (desc->role == SG_ROLE_LDS || (desc->role == SG_ROLE_VDATA && insn->lds))
			continue;
		sg_isa_put_separator(text);
		if (desc->role == SG_ROLE_VDATA)
			sg_isa_put_regs(text, data_file(insn), insn->vdata, desc->n_regs);
		else if (desc->role == SG_ROLE_VADDR && !n_vaddr)
			sg_isa_put(text, "off");
		else if (desc->role == SG_ROLE_VADDR)
			sg_isa_put_regs(text, 'v', insn->vaddr, n_vaddr);
		else if (desc->role == SG_ROLE_SRSRC)
			sg_isa_put_scalar(text, insn->saddr, 4);
		else
			sg_isa_put_source(text, insn, insn->soffset, &word, false);
	}
	if (!row->n_operands) { /* cache maintenance: the bits are its scope, and before that nothing */
		put_flag(text, insn->glc && text->target >= SG_ISA_GFX942, "sc0");
		put_flag(text, insn->scc && text->target >= SG_ISA_GFX942, "sc1");
		return;
	}
	if (row->enc == SG_ENC_MTBUF)
		put_buffer_format(text, insn);
	put_flag(text, insn->idxen, "idxen");
	put_flag(text, insn->offen, "offen");
	if (insn->simm)
		sg_isa_put(text, " offset:%d", insn->simm);
	if (!sg_isa_find(row, SG_ROLE_VDATA)) /* buffer_store_lds_dword: no option */
		put_flag(text, true, "lds");
	put_policy(text, insn);
	put_flag(text, insn->tfe, "tfe");
	put_flag(text, insn->lds && sg_isa_find(row, SG_ROLE_VDATA), "lds");
}

void sg_isa_print_memory(struct sg_isa_text *text, const struct sg_decoded_insn *insn)
{
	static const char *const segments[] = { "flat", "scratch", "global" };

	if (insn->row->enc == SG_ENC_FLAT)
		sg_isa_put(text, "%s%s", segments[insn->seg], insn->row->mnemonic + 4);
	else
		sg_isa_put(text, "%s", insn->row->mnemonic);
	switch (insn->row->enc) {
	case SG_ENC_SMEM:
		print_smem(text, insn);
		break;
	case SG_ENC_DS:
		print_ds(text, insn);
		break;
	case SG_ENC_FLAT:
		print_flat(text, insn);
		break;
	default:
		print_buffer(text, insn);
	}
}
