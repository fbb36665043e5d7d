/* Scalar rows that are a function of their operands: SOP1, SOP2, SOPC, SOPK. */
#include "tests/isa/semantics/scalar.h"

#include <inttypes.h>

#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"
#include "tests/isa/semantics/vector.h"

enum { S_DST = 8, S_SRC0 = 12, S_SRC1 = 16 };

struct scalar_case {
	uint64_t s[2], old;
	uint16_t simm;
	bool scc;
	uint32_t literal; /* behind the instruction if an operand is 255 */
	unsigned opnd[2]; /* operand numbers: S_SRC0, S_SRC1 or a constant */
};

static void set_pair(struct sg_step *st, unsigned reg, uint64_t v)
{
	st->sgpr[reg] = (uint32_t)v;
	st->sgpr[reg + 1] = (uint32_t)(v >> 32);
}

static void run_case(struct tally *t, const struct sg_isa_row *row, const struct ref_row *ref,
		     enum sg_isa_target target, struct sg_step *st, const struct scalar_case *c)
{
	const struct sg_isa_operand *sdst = operand_of(row, SG_ROLE_SDST);
	const struct sg_isa_operand *src0 = operand_of(row, SG_ROLE_SRC0);
	const struct sg_isa_operand *src1 = operand_of(row, SG_ROLE_SRC1);
	bool sopk = row->enc == SG_ENC_SOPK, wide = sdst && sdst->n_regs == 2;
	struct ref_in in = { .s = { c->s[0], c->s[1] }, .d_old = c->old, .ci = c->scc };
	struct ref_out want = { 0 };
	struct words words = { .n = 0 };
	enum sg_fault_kind fault;
	uint64_t got, expected;

	sg_step_init(st);
	st->scc = c->scc;
	set_pair(st, S_DST, c->old);
	set_pair(st, S_SRC0, c->s[0]);
	set_pair(st, S_SRC1, c->s[1]);
	switch (row->enc) {
	case SG_ENC_SOP1:
		encode_sop1(&words, row->op, S_DST, c->opnd[0]);
		break;
	case SG_ENC_SOP2:
		encode_sop2(&words, row->op, S_DST, c->opnd[0], c->opnd[1]);
		break;
	case SG_ENC_SOPC:
		encode_sopc(&words, row->op, c->opnd[0], c->opnd[1]);
		break;
	default:
		encode_sopk(&words, row->op, S_DST, c->simm);
		in.s[0] = c->old;
		in.s[1] = (uint64_t)(int64_t)(int16_t)c->simm;
	}
	if (c->opnd[0] == SG_OPND_LITERAL || c->opnd[1] == SG_OPND_LITERAL)
		emit(&words, c->literal);
	if (src0 && src0->n_regs < 2)
		in.s[0] &= UINT32_MAX;
	if (src1 && src1->n_regs < 2)
		in.s[1] &= UINT32_MAX;
	ref->fn(&in, &want);
	fault = sg_step_run(target, words.w, words.n, st);
	t->runs++;
	t->compared++;
	t->row_tested = true;
	if (fault) {
		fail(t, "fault %d: %s", fault, st->fault.text);
		return;
	}
	got = st->sgpr[S_DST] | (uint64_t)st->sgpr[S_DST + 1] << 32;
	expected = want.d_written ? want.d : c->old;
	if (!wide || !want.d_written)
		expected = (expected & UINT32_MAX) | c->old >> 32 << 32;
	if (wide && want.d_written)
		expected = want.d;
	if (sopk && !want.d_written)
		expected = c->old;
	if (got != expected)
		fail(t,
		     "s0 %" PRIx64 " s1 %" PRIx64 " simm %x old %" PRIx64 " scc %d: got %" PRIx64
		     ", expected %" PRIx64,
		     in.s[0], in.s[1], c->simm, c->old, c->scc, got, expected);
	if (st->scc != (want.scc_written ? want.scc : c->scc))
		fail(t, "s0 %" PRIx64 " s1 %" PRIx64 " simm %x scc %d: scc %u, expected %d",
		     in.s[0], in.s[1], c->simm, c->scc, st->scc,
		     want.scc_written ? want.scc : c->scc);
}

void test_scalar_row(struct tally *t, const struct sg_isa_row *row, const struct ref_row *ref,
		     enum sg_isa_target target, struct sg_step *st)
{
	static const struct sg_isa_operand word = { .bits = 32, .n_regs = 1 },
					   two = { .bits = 64, .n_regs = 2 };
	const struct sg_isa_operand *s0 = operand_of(row, SG_ROLE_SRC0),
				    *s1 = operand_of(row, SG_ROLE_SRC1);
	const struct sg_isa_operand *sdst = operand_of(row, SG_ROLE_SDST);
	bool wide0 = s0 && s0->n_regs == 2, wide1 = s1 && s1->n_regs == 2;
	size_t n0 = input_n_edges(wide0 ? &two : &word),
	       n1 = s1 ? input_n_edges(wide1 ? &two : &word) : 1;
	struct rng rng;

	rng_seed(&rng, row->mnemonic);
	for (size_t i = 0; i < n0 * n1 + 150; i++) {
		bool edge = i < n0 * n1;
		struct scalar_case c = { .opnd = { S_SRC0, S_SRC1 } };

		c.s[0] = edge ? input_edge(wide0 ? &two : &word, i % n0) : rng_next(&rng);
		c.s[1] = edge && s1 ? input_edge(wide1 ? &two : &word, i / n0) : rng_next(&rng);
		if (!edge && s1 && !wide1 && (i & 1)) /* fields: an offset and a width */
			c.s[1] = (rng_next(&rng) & 0x7f003f);
		c.old = sdst && sdst->n_regs < 2 && edge
				? input_edge(&word, i % n0) | 0xabcdull << 32
				: rng_next(&rng);
		c.simm = (uint16_t)(i % 7 == 0 ? c.old : i % 7 == 1 ? 0x8000 : rng_next(&rng));
		c.scc = rng_next(&rng) & 1;
		if (!edge && i % 5 == 0) { /* an inline constant */
			unsigned which = i % 2 && s1 ? 1 : 0;
			unsigned opnd = 128 + (unsigned)(rng_next(&rng) % 81);

			c.opnd[which] = opnd;
			c.s[which] =
				opnd <= 192 ? opnd - 128 : (uint64_t)(int64_t)(192 - (int)opnd);
		}
		if (!edge && i % 5 == 1 && row->enc != SG_ENC_SOPK) { /* a literal */
			unsigned which = i % 2 && s1 ? 1 : 0;
			const struct sg_isa_operand *op = which ? s1 : s0;

			c.opnd[which] = SG_OPND_LITERAL;
			c.literal = (uint32_t)(i % 3 ? rng_next(&rng) : 0xfffffff0);
			c.s[which] = op->type_class == SG_TYPE_I
					     ? (uint64_t)(int64_t)(int32_t)c.literal
					     : c.literal;
		}
		run_case(t, row, ref, target, st, &c);
	}
}
