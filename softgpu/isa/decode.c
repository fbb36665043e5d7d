/* Decoding: the encoding, the scalar formats, and what all formats share. */
#include <string.h>

#include "softgpu/isa/isa_priv.h"

bool sg_isa_read_row(const struct sg_isa_reader *r, enum sg_enc enc, unsigned op)
{
	unsigned number = sg_isa_lookup[__builtin_ctz(r->target)][enc][op];

	if (!number)
		return false;
	r->insn->row = &sg_isa_rows[number - 1];
	return true;
}

bool sg_isa_scalar_operand(unsigned *operand, unsigned n_regs, bool is_dst)
{
	unsigned v = *operand;
	unsigned align = n_regs == 1 ? 1 : n_regs == 2 ? 2 : 4;

	/* Register tuples are aligned; the hardware ignores the low bits of their number. */
	if (v < SG_OPND_FLAT_SCRATCH_LO) {
		/* the file goes on behind s101, a tuple may end in flat_scratch */
		*operand = v & ~(align - 1);
		return *operand + n_regs <= SG_OPND_VCC_LO;
	}
	if (v >= SG_OPND_TTMP0 && v < SG_OPND_M0) {
		*operand = SG_OPND_TTMP0 + ((v - SG_OPND_TTMP0) & ~(align - 1));
		return *operand + n_regs <= SG_OPND_M0;
	}
	if (v < SG_OPND_TTMP0 || v == SG_OPND_EXEC_LO || v == SG_OPND_EXEC_HI)
		return n_regs == 1 || (n_regs == 2 && v % 2 == 0);
	if (v == SG_OPND_M0)
		return n_regs == 1;
	if (is_dst)
		return false;
	if ((v >= SG_OPND_INT_0 && v <= SG_OPND_INT_M16) ||
	    (v >= SG_OPND_F_0_5 && v <= SG_OPND_F_INV_2PI) || v == SG_OPND_LITERAL)
		return true;
	if (v == SG_OPND_LDS_DIRECT)
		return n_regs == 1;
	return n_regs <= 2 && ((v >= SG_OPND_SHARED_BASE && v <= SG_OPND_POPS_WAVE_ID) ||
			       (v >= SG_OPND_VCCZ && v <= SG_OPND_SCC));
}

bool sg_isa_vector_source(unsigned *operand, unsigned n_regs)
{
	if (*operand >= SG_OPND_VGPR0)
		return *operand + n_regs <= SG_OPND_VGPR0 + 256;
	return sg_isa_scalar_operand(operand, n_regs, false);
}

bool sg_isa_read_literal(const struct sg_isa_reader *r, unsigned operand)
{
	if (operand != SG_OPND_LITERAL || r->insn->n_dwords > 1)
		return true; /* two operands may name the one literal */
	if (r->n_words < 2)
		return false;
	r->insn->literal = r->words[1];
	r->insn->n_dwords = 2;
	return true;
}

static bool scalar_source(const struct sg_isa_reader *r, unsigned k, unsigned operand)
{
	const struct sg_isa_operand *desc = sg_isa_find(r->insn->row, SG_ROLE_SRC0 + k);

	if (!desc)
		return true; /* whatever an unused field says */
	if (!sg_isa_read_literal(r, operand) ||
	    !sg_isa_scalar_operand(&operand, desc->n_regs, false))
		return false;
	if ((r->insn->row->flags & SG_ISA_REGSRC) && sg_isa_is_constant(operand))
		return false;
	r->insn->src[k] = operand;
	return true;
}

static bool scalar_dst(const struct sg_isa_reader *r, unsigned operand)
{
	const struct sg_isa_operand *desc = sg_isa_find(r->insn->row, SG_ROLE_SDST);

	if (!desc)
		return true;
	if (!sg_isa_scalar_operand(&operand, desc->n_regs, true))
		return false;
	r->insn->sdst = operand;
	return true;
}

static bool decode_sop2(const struct sg_isa_reader *r)
{
	uint32_t w = r->words[0];

	return sg_isa_read_row(r, SG_ENC_SOP2, sg_isa_bits(w, 23, 7)) &&
	       scalar_dst(r, sg_isa_bits(w, 16, 7)) && scalar_source(r, 0, sg_isa_bits(w, 0, 8)) &&
	       scalar_source(r, 1, sg_isa_bits(w, 8, 8));
}

static bool decode_sop1(const struct sg_isa_reader *r)
{
	uint32_t w = r->words[0];

	return sg_isa_read_row(r, SG_ENC_SOP1, sg_isa_bits(w, 8, 8)) &&
	       scalar_dst(r, sg_isa_bits(w, 16, 7)) && scalar_source(r, 0, sg_isa_bits(w, 0, 8));
}

static bool decode_sopc(const struct sg_isa_reader *r)
{
	uint32_t w = r->words[0];

	r->insn->simm = sg_isa_bits(w, 8, 8); /* s_set_gpr_idx_on has a constant in place of src1 */
	return sg_isa_read_row(r, SG_ENC_SOPC, sg_isa_bits(w, 16, 7)) &&
	       scalar_source(r, 0, sg_isa_bits(w, 0, 8)) &&
	       scalar_source(r, 1, sg_isa_bits(w, 8, 8));
}

static bool decode_sopk(const struct sg_isa_reader *r)
{
	uint32_t w = r->words[0];

	r->insn->simm = sg_isa_sbits(w, 0, 16);
	if (!sg_isa_read_row(r, SG_ENC_SOPK, sg_isa_bits(w, 23, 5)))
		return false;
	if (sg_isa_find(r->insn->row, SG_ROLE_IMM32) && !sg_isa_read_literal(r, SG_OPND_LITERAL))
		return false;
	return scalar_dst(r, sg_isa_bits(w, 16, 7));
}

static bool decode_sopp(const struct sg_isa_reader *r)
{
	uint32_t w = r->words[0];

	r->insn->simm = sg_isa_sbits(w, 0, 16);
	if (!sg_isa_read_row(r, SG_ENC_SOPP, sg_isa_bits(w, 16, 7)))
		return false;
	return r->insn->row->n_operands || !r->insn->simm;
}

/* The leading bits tell the encodings apart; longer patterns stand first. */
static const struct {
	uint8_t shift;
	uint16_t value;
	bool (*decode)(const struct sg_isa_reader *r);
} formats[] = {
	{ 23, 0x17f, decode_sopp },         { 23, 0x17e, decode_sopc },
	{ 23, 0x17d, decode_sop1 },         { 28, 0xb, decode_sopk },
	{ 30, 0x2, decode_sop2 },           { 31, 0x0, sg_isa_decode_vector },
	{ 23, 0x1a7, sg_isa_decode_vop3p }, { 26, 0x34, sg_isa_decode_vop3 },
	{ 26, 0x30, sg_isa_decode_smem },   { 26, 0x36, sg_isa_decode_ds },
	{ 26, 0x37, sg_isa_decode_flat },   { 26, 0x38, sg_isa_decode_mubuf },
	{ 26, 0x3a, sg_isa_decode_mtbuf },
};

bool sg_isa_decode(enum sg_isa_target target, const uint32_t *words, size_t n_words,
		   struct sg_decoded_insn *out)
{
	struct sg_isa_reader r = { target, words, n_words, out };

	*out = (struct sg_decoded_insn){ .n_dwords = 1 };
	if (!n_words)
		return false;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (words[0] >> formats[i].shift != formats[i].value)
			continue;
		if (formats[i].decode(&r))
			return true;
		break;
	}
	*out = (struct sg_decoded_insn){ .n_dwords = 1 };
	return false;
}
