#include "tests/isa/semantics/vector.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/ref/fp.h"
#include "tests/isa/semantics/alias.h"

/* Register plan. VGPRs of instance w start at 16 * w; SGPR pairs of it at the base plus 2 * w. */
enum { DST = 0, SRC0 = 4, SRC1 = 6, SRC2 = 8 };
enum { S_EXEC = 4, S_MASK_OUT = 20, S_MASK_IN = 36, S_EXEC_OUT = 52, S_SOURCE = 70 };
static const unsigned src_at[3] = { SRC0, SRC1, SRC2 };
static const unsigned src_role[3] = { SG_ROLE_SRC0, SG_ROLE_SRC1, SG_ROLE_SRC2 };

/* The inputs of one run, as the registers hold them. */
struct inputs {
	uint64_t s[N_INSTANCES][64][3], s2_hi[N_INSTANCES][64], old[N_INSTANCES][64];
	uint64_t old_hi[N_INSTANCES][64];
	uint64_t mask_in[N_INSTANCES];
	uint32_t k[N_INSTANCES];
};

const struct sg_isa_operand *operand_of(const struct sg_isa_row *row, unsigned role)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].role == role)
			return &row->operand[i];
	return NULL;
}

static bool is_cmpx(const struct sg_isa_row *row)
{
	return strncmp(row->mnemonic, "v_cmpx", 6) == 0;
}
static bool src_is_agpr(const struct sg_isa_row *row)
{
	return strcmp(row->mnemonic, "v_accvgpr_read_b32") == 0 ||
	       strcmp(row->mnemonic, "v_accvgpr_mov_b32") == 0;
}
static bool dst_is_agpr(const struct sg_isa_row *row)
{
	return strcmp(row->mnemonic, "v_accvgpr_write_b32") == 0 ||
	       strcmp(row->mnemonic, "v_accvgpr_mov_b32") == 0;
}
bool is_vop3_pair(const struct sg_isa_row *row, const struct sg_isa_operand *op)
{
	return row->enc == SG_ENC_VOP3 && (is_pair16(op) || op->type_class == SG_TYPE_PK32);
}
static bool reads_mask(const struct sg_isa_row *row)
{
	return operand_of(row, SG_ROLE_CI) || (row->flags & SG_ISA_VCC);
}

/* --- filling in -------------------------------------------------------------------------------- */

static uint64_t float_constant(unsigned opnd, unsigned bits)
{
	static const double values[8] = { 0.5, -0.5, 1, -1, 2, -2, 4, -4 };
	enum fp_format f = bits == 16 ? F16 : bits == 64 ? F64 : F32;

	if (opnd == SG_OPND_F_INV_2PI)
		return f == F16 ? 0x3118 : f == F32 ? 0x3e22f983 : 0x3fc45f306dc9c882;
	return fp_rounded(f, values[opnd - SG_OPND_F_0_5], ROUND_NEAREST);
}

/* What a source of this type reads from a scalar operand. */
static uint64_t scalar_value(const struct sg_isa_operand *op, unsigned opnd,
			     const struct sg_step *st, uint32_t literal)
{
	if (opnd >= SG_OPND_INT_0 && opnd <= SG_OPND_INT_64)
		return opnd - SG_OPND_INT_0;
	if (opnd > SG_OPND_INT_64 && opnd <= SG_OPND_INT_M16)
		return (uint64_t)(int64_t)(192 - (int)opnd);
	if (opnd >= SG_OPND_F_0_5 && opnd <= SG_OPND_F_INV_2PI) {
		if (op->type_class == SG_TYPE_BF || op->type_class == SG_TYPE_PKBF16)
			return float_constant(opnd, 32) >> 16;
		return float_constant(opnd, op->is_float ? op->bits : 32);
	}
	if (opnd ==
	    SG_OPND_LITERAL) { /* the upper half of a double; signed integers are extended */
		if (op->n_regs < 2)
			return literal;
		if (op->is_float)
			return (uint64_t)literal << 32;
		return op->type_class == SG_TYPE_I ? (uint64_t)(int64_t)(int32_t)literal : literal;
	}
	return st->sgpr[opnd] | (uint64_t)st->sgpr[opnd + 1] << 32;
}

static uint64_t choose(struct vector_test *v, const struct sg_isa_operand *op,
		       const struct config *cfg, size_t vector, unsigned k)
{
	const struct sg_isa_operand *s0 = operand_of(v->row, SG_ROLE_SRC0);
	size_t n0 = input_n_edges(s0), index = cfg->first_edge + vector;

	if (cfg->first_edge == SIZE_MAX || operand_of(v->row, SG_ROLE_SRC2) ||
	    operand_of(v->row, SG_ROLE_K))
		return input_random(op, &v->rng);
	if (k == 0)
		return input_edge(op, index % n0);
	if (index / n0 < input_n_edges(op))
		return input_edge(op, index / n0);
	return input_random(op, &v->rng);
}

static void put(uint32_t (*regs)[64], unsigned reg, unsigned n_regs, unsigned lane, uint64_t low,
		uint64_t high)
{
	uint64_t value[2] = { low, high };

	for (unsigned i = 0; i < n_regs && i < 4; i++)
		regs[reg + i][lane] = (uint32_t)(value[i / 2] >> 32 * (i % 2));
}

static void fill(struct vector_test *v, const struct config *cfg, unsigned n, struct inputs *in)
{
	struct sg_step *st = v->step;
	const struct sg_isa_operand *k_op = operand_of(v->row, SG_ROLE_K);
	bool scales = strncmp(v->row->mnemonic, "v_div_scale", 11) == 0;

	sg_step_init(st);
	st->mode = cfg->mode;
	for (unsigned i = 0; i < 16; i++)
		st->sgpr[S_MASK_OUT + i] = 0xdeadbeef;
	if (cfg->scalar_src) {
		uint64_t x =
			input_random(operand_of(v->row, src_role[cfg->scalar_src - 1]), &v->rng);

		st->sgpr[S_SOURCE] = (uint32_t)x;
		st->sgpr[S_SOURCE + 1] = (uint32_t)(x >> 32);
	}
	for (unsigned w = 0; w < n; w++) {
		unsigned base = w * REGS_PER_INSTANCE;

		in->mask_in[w] = rng_next(&v->rng);
		st->sgpr[S_MASK_IN + 2 * w] = (uint32_t)in->mask_in[w];
		st->sgpr[S_MASK_IN + 2 * w + 1] = (uint32_t)(in->mask_in[w] >> 32);
		if (k_op)
			in->k[w] = (uint32_t)input_random(k_op, &v->rng);
		for (unsigned lane = 0; lane < 64; lane++) {
			uint64_t *s = in->s[w][lane];

			for (unsigned k = 0; k < 3; k++) {
				const struct sg_isa_operand *op = operand_of(v->row, src_role[k]);

				s[k] = op ? choose(v, op, cfg, w * 64 + lane, k) : 0;
			}
			if (scales)
				s[0] = s[1 + rng_next(&v->rng) % 2];
			in->s2_hi[w][lane] = rng_next(&v->rng);
			for (unsigned k = 0; k < 3; k++) {
				const struct sg_isa_operand *op = operand_of(v->row, src_role[k]);

				if (op)
					put(src_is_agpr(v->row) ? st->agpr : st->vgpr,
					    base + src_at[k], op->n_regs, lane, s[k],
					    in->s2_hi[w][lane]);
			}
			in->old[w][lane] =
				operand_of(v->row, SG_ROLE_VDST)
					? input_random(operand_of(v->row, SG_ROLE_VDST), &v->rng)
					: 0;
			in->old[w][lane] =
				(in->old[w][lane] & UINT32_MAX) |
				(operand_of(v->row, SG_ROLE_VDST) &&
						 operand_of(v->row, SG_ROLE_VDST)->n_regs > 1
					 ? in->old[w][lane] >> 32 << 32
					 : 0xdeadbeefull << 32);
			in->old_hi[w][lane] = 0xfeedfacecafebeef;
			put(dst_is_agpr(v->row) ? st->agpr : st->vgpr, base + DST, 4, lane,
			    in->old[w][lane], in->old_hi[w][lane]);
		}
	}
}

static void build(struct vector_test *v, const struct config *cfg, unsigned n,
		  const struct inputs *in, struct words *out)
{
	const struct sg_isa_row *row = v->row;
	bool co = operand_of(row, SG_ROLE_CO), vop3 = cfg->e.form == SG_FORM_VOP3;

	out->n = 0;
	encode_sop1(out, OP_S_MOV_B64, S_EXEC, SG_OPND_EXEC_LO);
	for (unsigned w = 0; w < n; w++) {
		struct enc e = cfg->e;
		unsigned base = w * REGS_PER_INSTANCE;
		bool named;

		e.vdst = base + DST;
		for (unsigned k = 0; k < 3; k++)
			e.src[k] = operand_of(row, src_role[k]) ? 256 + base + src_at[k] : 0;
		if (cfg->scalar_src)
			e.src[cfg->scalar_src - 1] = cfg->scalar_opnd;
		if (operand_of(row, SG_ROLE_K))
			e.literal = in->k[w];
		/* SDWA comparisons may name their destination: every other one does */
		named = vop3 || (cfg->e.form == SG_FORM_SDWA && row->enc == SG_ENC_VOPC && w % 2);
		e.sdst = named ? S_MASK_OUT + 2 * w : SG_OPND_VCC_LO;
		if (vop3 && operand_of(row, SG_ROLE_CI))
			e.src[2] = S_MASK_IN + 2 * w;
		else if (reads_mask(row))
			encode_sop1(out, OP_S_MOV_B64, SG_OPND_VCC_LO, S_MASK_IN + 2 * w);
		encode_vector(out, row, &e);
		if (co && !named)
			encode_sop1(out, OP_S_MOV_B64, S_MASK_OUT + 2 * w, SG_OPND_VCC_LO);
		if (is_cmpx(row)) {
			encode_sop1(out, OP_S_MOV_B64, S_EXEC_OUT + 2 * w, SG_OPND_EXEC_LO);
			encode_sop1(out, OP_S_MOV_B64, SG_OPND_EXEC_LO, S_EXEC);
		}
	}
}

/* --- one lane ---------------------------------------------------------------------------------- */

/* What source k of a lane is after selection and modifiers. */
static uint64_t source(struct vector_test *v, const struct config *cfg, const struct inputs *in,
		       unsigned w, unsigned lane, unsigned k, bool *out_invalid)
{
	const struct sg_isa_operand *op = operand_of(v->row, src_role[k]);
	const struct enc *e = &cfg->e;
	bool packed = v->row->enc == SG_ENC_VOP3P;
	uint64_t x;

	if (!op)
		return 0;
	if (cfg->scalar_src == k + 1) {
		x = scalar_value(op, cfg->scalar_opnd, v->step, e->literal);
	} else if (e->form == SG_FORM_DPP && k == 0) {
		int from = ref_dpp_source(e->dpp_ctrl, lane);

		if (from < 0 || !(cfg->exec >> from & 1)) {
			*out_invalid = true;
			x = 0;
		} else {
			x = in->s[w][from][0];
		}
	} else {
		x = in->s[w][lane][k];
	}
	if (op->n_regs < 2)
		x &= UINT32_MAX;
	if (e->form == SG_FORM_SDWA && k < 2)
		x = ref_sdwa_src((uint32_t)x, e->src_sel[k], e->sext >> k & 1);
	if (e->form == SG_FORM_VOP3 && (v->row->flags & SG_ISA_OPSEL) && op->bits == 16 &&
	    !is_pair16(op))
		x = (e->op_sel >> k & 1 ? x >> 16 : x) & 0xffff;
	if (!packed && op->is_float && op->bits == 16 && !is_pair16(op))
		x &= 0xffff;
	if (is_vop3_pair(v->row, op)) { /* one neg and one abs for both */
		uint64_t mask = (1ull << op->bits) - 1, lo = x & mask, hi = x >> op->bits & mask;

		lo = ref_src_mod(op->bits, lo, e->neg >> k & 1, e->abs >> k & 1);
		hi = ref_src_mod(op->bits, hi, e->neg >> k & 1, e->abs >> k & 1);
		return lo | hi << op->bits;
	}
	if (!packed && (op->is_float || (v->row->flags & SG_ISA_NEGABS)) && !is_pair16(op))
		x = ref_src_mod(op->is_float ? op->bits : 32, x, e->neg >> k & 1, e->abs >> k & 1);
	return x;
}

static void reference(struct vector_test *v, const struct config *cfg, const struct inputs *in,
		      unsigned w, unsigned lane, uint32_t mode, struct ref_out *out,
		      bool *out_invalid)
{
	struct ref_in r = {
		.s2_hi = in->s2_hi[w][lane],
		.d_old = in->old[w][lane],
		.ci = in->mask_in[w] >> lane & 1,
		.clamp = cfg->e.clamp,
		.op_sel = (uint8_t)cfg->e.op_sel,
		.op_sel_hi = (uint8_t)cfg->e.op_sel_hi,
		.neg_lo = (uint8_t)cfg->e.neg,
		.neg_hi = (uint8_t)cfg->e.neg_hi,
		.lane = lane,
		.mode = mode,
		.target = (enum ref_target)__builtin_ctz(v->target),
	};
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);

	if (v->row->enc != SG_ENC_VOP3P) { /* dot2c, pk_fmac: both halves, in order */
		if (!(v->row->flags & SG_ISA_OPSEL))
			r.op_sel = 0;
		r.op_sel_hi = 3;
		r.neg_lo = r.neg_hi = 0;
	}
	for (unsigned k = 0; k < 3; k++)
		r.s[k] = source(v, cfg, in, w, lane, k, out_invalid);
	if (operand_of(v->row, SG_ROLE_K))
		r.s[2] = in->k[w];
	if (dst && dst->n_regs < 2)
		r.d_old &= UINT32_MAX;
	if (dst && dst->is_float && dst->bits == 16 && v->ref->result == REF_F16)
		r.d_old &= 0xffff;
	memset(out, 0, sizeof(*out));
	if (v->ref->flags & (REF_PK16 | REF_PK32))
		ref_packed(v->ref, &r, out);
	else
		v->ref->fn(&r, out);
}

static unsigned float_bits(const struct ref_row *ref)
{
	return ref->result == REF_F16   ? 16
	       : ref->result == REF_F32 ? 32
	       : ref->result == REF_F64 ? 64
					: 0;
}

/* Does the register hold `value` where it belongs, and what it held before elsewhere? */
static bool placed(struct vector_test *v, const struct config *cfg, uint64_t value, double slack,
		   uint64_t old, uint64_t got)
{
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);
	unsigned bits = float_bits(v->ref), flags = v->ref->flags;
	bool half = flags & (REF_D16 | REF_D16_KEEP | REF_D16_EITHER);

	/* flushed before it is scaled, or not: see float_matches() */
	if (cfg->e.omod && bits && is_flushed_edge(bits, value, cfg->mode) &&
	    placed(v, cfg, value & 1ull << (bits - 1), slack, old, got))
		return true;
	if (bits && !(flags & REF_NO_OMOD))
		value = ref_dst_mod(bits, value, cfg->e.omod, cfg->e.clamp, cfg->mode);
	if (dst->n_regs < 2) {
		got &= UINT32_MAX;
		old &= UINT32_MAX;
	}
	if (cfg->e.form == SG_FORM_SDWA && cfg->e.dst_sel != 6) {
		unsigned sel = cfg->e.dst_sel, n = sel < 4 ? 8 : 16,
			 at = sel < 4 ? 8 * sel : 16 * (sel - 4);
		uint32_t field = (uint32_t)(got >> at) & ((1u << n) - 1);

		if (n == 16 && bits == 16) /* the rest follows from the float that is there */
			return got == ref_sdwa_dst(field, (uint32_t)old, sel, cfg->e.dst_unused) &&
			       value_matches(v->ref, value, field, slack, cfg->mode);
		return got == ref_sdwa_dst((uint32_t)value, (uint32_t)old, sel, cfg->e.dst_unused);
	}
	if (half) {
		unsigned at = (flags & REF_D16_KEEP) && cfg->e.form == SG_FORM_VOP3 &&
					      (v->row->flags & SG_ISA_OPSEL) && (cfg->e.op_sel & 8)
				      ? 16
				      : 0;
		uint64_t rest = got & ~(0xffffull << at), kept = old & ~(0xffffull << at);
		bool rest_ok = flags & REF_D16        ? rest == 0
			       : flags & REF_D16_KEEP ? rest == kept
						      : rest == 0 || rest == kept;

		return rest_ok &&
		       value_matches(v->ref, value, got >> at & 0xffff, slack, cfg->mode);
	}
	return value_matches(v->ref, value, got, slack, cfg->mode);
}

static const char *describe(struct vector_test *v, const struct config *cfg,
			    const struct inputs *in, unsigned w, unsigned lane)
{
	static char text[400];
	const struct enc *e = &cfg->e;
	bool invalid = false;
	int n = snprintf(text, sizeof(text), "%s, %s, mode %03x, lane %u:", cfg->name,
			 sg_isa_target_name(v->target), cfg->mode, lane);

	for (unsigned k = 0; k < 3; k++)
		if (operand_of(v->row, src_role[k]))
			n += snprintf(text + n, sizeof(text) - (size_t)n, " s%u %" PRIx64, k,
				      source(v, cfg, in, w, lane, k, &invalid));
	if (operand_of(v->row, SG_ROLE_K))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " k %x", in->k[w]);
	n += snprintf(text + n, sizeof(text) - (size_t)n, " old %" PRIx64, in->old[w][lane]);
	if (reads_mask(v->row))
		n += snprintf(text + n, sizeof(text) - (size_t)n, " ci %u",
			      (unsigned)(in->mask_in[w] >> lane & 1));
	if (e->neg | e->abs | e->omod | e->clamp | e->op_sel | e->neg_hi)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      " [neg %x abs %x omod %u clamp %u op_sel %x hi %x neg_hi %x]", e->neg,
			      e->abs, e->omod, e->clamp, e->op_sel, e->op_sel_hi, e->neg_hi);
	if (e->form == SG_FORM_SDWA)
		snprintf(text + n, sizeof(text) - (size_t)n,
			 " [sdwa %u %u sext %x -> %u unused %u]", e->src_sel[0], e->src_sel[1],
			 e->sext, e->dst_sel, e->dst_unused);
	if (e->form == SG_FORM_DPP)
		snprintf(text + n, sizeof(text) - (size_t)n,
			 " [dpp %03x rows %x banks %x bound %u]", e->dpp_ctrl, e->row_mask,
			 e->bank_mask, e->bound_ctrl);
	return text;
}

static uint64_t got_value(struct vector_test *v, unsigned w, unsigned lane, unsigned at)
{
	uint32_t(*regs)[64] = dst_is_agpr(v->row) ? v->step->agpr : v->step->vgpr;
	unsigned reg = w * REGS_PER_INSTANCE + DST + at;

	return regs[reg][lane] | (uint64_t)regs[reg + 1][lane] << 32;
}

static void check_mask(struct vector_test *v, const struct config *cfg, const struct inputs *in,
		       unsigned w, unsigned lane, bool want)
{
	bool got = v->step->sgpr[S_MASK_OUT + 2 * w + lane / 32] >> lane % 32 & 1;
	bool exec = v->step->sgpr[S_EXEC_OUT + 2 * w + lane / 32] >> lane % 32 & 1;

	if (got != want)
		fail(v->t, "%s: mask bit %d, expected %d", describe(v, cfg, in, w, lane), got,
		     want);
	if (is_cmpx(v->row) && exec != want)
		fail(v->t, "%s: exec bit %d, expected %d", describe(v, cfg, in, w, lane), exec,
		     want);
}

static void check_lane(struct vector_test *v, const struct config *cfg, const struct inputs *in,
		       unsigned w, unsigned lane)
{
	const struct sg_isa_operand *dst = operand_of(v->row, SG_ROLE_VDST);
	uint64_t got = got_value(v, w, lane, 0), got_hi = got_value(v, w, lane, 2);
	uint64_t old = in->old[w][lane], old_hi = in->old_hi[w][lane];
	bool co = operand_of(v->row, SG_ROLE_CO), invalid = false, active = cfg->exec >> lane & 1,
	     ok;
	bool dpp = cfg->e.form == SG_FORM_DPP;
	struct ref_out want, other;

	reference(v, cfg, in, w, lane, cfg->mode, &want, &invalid);
	if (dpp && active) {
		active = ref_dpp_enabled(cfg->e.row_mask, cfg->e.bank_mask, lane) &&
			 (!invalid || cfg->e.bound_ctrl);
		if (!active && co) /* whether a masked lane clears its mask bit is not documented */
			co = false;
	}
	if (!active) {
		if (dst && (got != old || got_hi != old_hi))
			fail(v->t, "%s: inactive lane changed to %" PRIx64,
			     describe(v, cfg, in, w, lane), got);
		if (co)
			check_mask(v, cfg, in, w, lane, false);
		return;
	}
	if (want.skip)
		return;
	v->t->compared++;
	v->t->row_tested = true;
	if (co)
		check_mask(v, cfg, in, w, lane, want.co);
	if (!dst)
		return;
	ok = placed(v, cfg, want.d, want.slack, old, got) ||
	     (want.has_alt && placed(v, cfg, want.alt, want.slack, old, got));
	/* rows that may obey the denormal mode or not: all flushed, all kept */
	for (unsigned i = 0; !ok && i < 2 && (v->ref->flags & (REF_APPROX | REF_ANY_DENORM)); i++) {
		reference(v, cfg, in, w, lane, i ? cfg->mode | 0xf0 : cfg->mode & ~0xf0u, &other,
			  &invalid);
		ok = placed(v, cfg, other.d, other.slack, old, got) ||
		     (other.has_alt && placed(v, cfg, other.alt, other.slack, old, got));
	}
	ok = ok && (dst->n_regs == 4 ? got_hi == want.d_hi : got_hi == old_hi);
	if (ok && dst->n_regs == 1)
		ok = got >> 32 == old >> 32;
	if (!ok)
		fail(v->t, "%s: got %" PRIx64 ", expected %" PRIx64 "%s",
		     describe(v, cfg, in, w, lane), dst->n_regs == 1 ? got & UINT32_MAX : got,
		     want.d, cfg->e.omod || cfg->e.clamp ? " before omod and clamp" : "");
}

void vector_run(struct vector_test *v, const struct config *cfg, unsigned n)
{
	static struct inputs in;
	static struct words words;
	enum sg_fault_kind fault;

	fill(v, cfg, n, &in);
	build(v, cfg, n, &in, &words);
	v->step->sgpr[SG_OPND_EXEC_LO] = (uint32_t)cfg->exec;
	v->step->sgpr[SG_OPND_EXEC_HI] = (uint32_t)(cfg->exec >> 32);
	fault = sg_step_run(v->target, words.w, words.n, v->step);
	v->t->runs++;
	if (fault != SG_FAULT_NONE) {
		fail(v->t, "%s, %s: fault %d: %s (words %08x %08x)", cfg->name,
		     sg_isa_target_name(v->target), fault, v->step->fault.text, words.w[1],
		     words.w[2]);
		return;
	}
	for (unsigned w = 0; w < n; w++)
		for (unsigned lane = 0; lane < 64; lane++)
			check_lane(v, cfg, &in, w, lane);
	/* it depends on form, modifiers and EXEC, not on numbers and rounding */
	if (cfg->first_edge == SIZE_MAX && cfg->mode == REF_MODE_DEFAULT)
		alias_vector(v, cfg);
}
