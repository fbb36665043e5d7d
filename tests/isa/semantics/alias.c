#include "tests/isa/semantics/alias.h"

#include <stdio.h>
#include <string.h>

/*
 * Vector and accumulation registers alike: a window of 16 for each of 4 instructions, then copies of
 * the windows, then the scalar window, VCC and EXEC, each in all lanes. Scalar registers: what VCC
 * and EXEC are before each instruction, the windows, their copies, and what VCC and EXEC became.
 */
enum { N_WINDOWS = 4, V_WINDOW = 16, V_COPY = 64, V_SPLAT = 128, V_VCC = 160, V_EXEC = 162 };
enum { S_VCC_IN = 4, S_EXEC_IN = 6, S_NEAR = 8, S_WINDOW = 8, S_COPY = 32, S_OUT = 72 };
enum { N_VECTOR_REGS = 176 };

static struct sg_step before, shared, apart;

/* Mostly numbers of moderate size: a result that overflows hides which source it came from. */
static uint32_t some_bits(struct rng *rng)
{
	uint64_t r = rng_next(rng);

	if (r >> 62 == 0)
		return (uint32_t)r;
	return ((uint32_t)r & 0x807fffffu) | (123 + (uint32_t)(r >> 40) % 8) << 23;
}

static void fill(struct rng *rng, uint64_t exec, uint32_t mode)
{
	sg_step_init(&before);
	before.mode = mode;
	before.scc = rng_next(rng) & 1;
	for (unsigned n = 0; n < 32; n++)
		before.sgpr[S_NEAR + n] = before.sgpr[S_NEAR + S_COPY + n] = some_bits(rng);
	before.sgpr[S_VCC_IN] = before.sgpr[106] = (uint32_t)rng_next(rng);
	before.sgpr[S_VCC_IN + 1] = before.sgpr[107] = (uint32_t)rng_next(rng);
	before.sgpr[S_EXEC_IN] = before.sgpr[126] = (uint32_t)exec;
	before.sgpr[S_EXEC_IN + 1] = before.sgpr[127] = (uint32_t)(exec >> 32);
	for (unsigned l = 0; l < 64; l++) {
		for (unsigned n = 0; n < V_COPY; n++)
			before.vgpr[n][l] = before.vgpr[V_COPY + n][l] = some_bits(rng);
		for (unsigned n = 0; n < 32; n++)
			before.vgpr[V_SPLAT + n][l] = before.sgpr[S_NEAR + n];
		for (unsigned n = 0; n < 2; n++) {
			before.vgpr[V_VCC + n][l] = before.sgpr[S_VCC_IN + n];
			before.vgpr[V_EXEC + n][l] = before.sgpr[S_EXEC_IN + n];
		}
	}
	memcpy(before.agpr, before.vgpr, N_VECTOR_REGS * sizeof(before.vgpr[0]));
}

static bool same(struct tally *t, const char *what, const char *file, const void *a, const void *b,
		 size_t n_bytes)
{
	const uint32_t *got = a, *expected = b;

	if (!memcmp(a, b, n_bytes))
		return true;
	for (size_t n = 0; n < n_bytes / 4; n++)
		if (got[n] != expected[n]) {
			fail(t, "aliasing: %s: %s %zu lane %zu: got %08x, expected %08x", what,
			     file, n / (*file == 's' ? 1 : 64), *file == 's' ? 0 : n % 64, got[n],
			     expected[n]);
			break;
		}
	return false;
}

static bool run(struct tally *t, enum sg_isa_target target, const struct words *words,
		struct sg_step *out)
{
	enum sg_fault_kind fault;

	*out = before;
	fault = sg_step_run(target, words->w, words->n, out);
	t->runs++;
	if (fault)
		fail(t, "aliasing: fault %d: %s", fault, out->fault.text);
	return !fault;
}

static void compare(struct tally *t, enum sg_isa_target target, const struct words *near,
		    const struct words *away, const char *what)
{
	if (!run(t, target, near, &shared) || !run(t, target, away, &apart))
		return;
	if (same(t, what, "vgpr", shared.vgpr, apart.vgpr, sizeof(shared.vgpr)) &&
	    same(t, what, "agpr", shared.agpr, apart.agpr, sizeof(shared.agpr)) &&
	    same(t, what, "sgpr", shared.sgpr, apart.sgpr, sizeof(shared.sgpr)) &&
	    shared.scc != apart.scc)
		fail(t, "aliasing: %s: scc %u, expected %u", what, shared.scc, apart.scc);
	t->compared++;
}

/* ---- vector instructions ---- */

static bool is_sgpr(unsigned opnd)
{
	return opnd < SG_OPND_INT_0;
}

/* A scalar register that the instruction may also write: of window w, VCC or EXEC. */
static unsigned scalar_source(struct rng *rng, unsigned w, unsigned n_regs)
{
	uint64_t r = rng_next(rng);
	unsigned reg = S_NEAR + S_WINDOW * w + (unsigned)(r >> 8) % (S_WINDOW - 1);

	if (r % 8 == 0)
		return SG_OPND_VCC_LO;
	if (r % 8 == 1)
		return SG_OPND_EXEC_LO;
	return n_regs > 1 ? reg & ~1u : reg;
}

/* Where its value stands in all lanes. */
static unsigned splat_of(unsigned sgpr)
{
	return 256 + (sgpr == SG_OPND_VCC_LO    ? V_VCC
		      : sgpr == SG_OPND_EXEC_LO ? V_EXEC
						: V_SPLAT + sgpr - S_NEAR);
}

static void build(struct vector_test *v, const struct config *cfg, unsigned w, struct words *near,
		  struct words *away, char *what, size_t what_bytes)
{
	const struct sg_isa_row *row = v->row;
	bool vop3 = cfg->e.form == SG_FORM_VOP3;
	unsigned base = w * V_WINDOW;
	struct enc a = cfg->e, b;

	a.vdst = base + (unsigned)(rng_next(&v->rng) % 6);
	a.literal = (uint32_t)rng_next(&v->rng);
	a.sdst = SG_OPND_VCC_LO;
	if (vop3 || (cfg->e.form == SG_FORM_SDWA && row->enc == SG_ENC_VOPC && w % 2))
		a.sdst = S_NEAR + S_WINDOW * w + 2 * (unsigned)(rng_next(&v->rng) % 3);
	b = a;
	for (unsigned k = 0; k < 3; k++) {
		const struct sg_isa_operand *op = operand_of(row, SG_ROLE_SRC0 + k);

		if (!op)
			continue;
		if (cfg->scalar_src == k + 1 && !is_sgpr(cfg->scalar_opnd)) {
			a.src[k] = b.src[k] = cfg->scalar_opnd;
		} else if (cfg->scalar_src == k + 1) {
			a.src[k] = scalar_source(&v->rng, w, op->n_regs);
			b.src[k] = splat_of(a.src[k]);
		} else {
			a.src[k] = 256 + base + (unsigned)(rng_next(&v->rng) % 8);
			b.src[k] = a.src[k] + V_COPY;
		}
	}
	if (vop3 && operand_of(row, SG_ROLE_CI)) {
		a.src[2] = S_NEAR + S_WINDOW * w + 2 * (unsigned)(rng_next(&v->rng) % 3);
		b.src[2] = a.src[2] + S_COPY;
	}
	for (unsigned k = 0; k < 2; k++) {
		struct words *out = k ? away : near;

		encode_sop1(out, OP_S_MOV_B64, SG_OPND_VCC_LO, S_VCC_IN);
		encode_sop1(out, OP_S_MOV_B64, SG_OPND_EXEC_LO, S_EXEC_IN);
		encode_vector(out, row, k ? &b : &a);
		encode_sop1(out, OP_S_MOV_B64, S_OUT + 4 * w, SG_OPND_VCC_LO);
		encode_sop1(out, OP_S_MOV_B64, S_OUT + 4 * w + 2, SG_OPND_EXEC_LO);
	}
	snprintf(what + strlen(what), what_bytes - strlen(what), " %u/%u=%u,%u,%u", a.vdst, a.sdst,
		 a.src[0], a.src[1], a.src[2]);
}

void alias_vector(struct vector_test *v, const struct config *cfg)
{
	struct words near = { .n = 0 }, away = { .n = 0 };
	char what[240];

	snprintf(what, sizeof(what), "%s, %s, op_sel %x %x, registers:", cfg->name,
		 sg_isa_target_name(v->target), cfg->e.op_sel, cfg->e.op_sel_hi);
	fill(&v->rng, cfg->exec, cfg->mode);
	for (unsigned w = 0; w < N_WINDOWS; w++)
		build(v, cfg, w, &near, &away, what, sizeof(what));
	compare(v->t, v->target, &near, &away, what);
}

/* ---- matrices ---- */

void alias_matrix(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target)
{
	enum { COPY = 96 }; /* windows are 24 + 32 registers */
	struct rng rng;

	rng_seed(&rng, row->mnemonic);
	for (unsigned n = 0; n < 12; n++) {
		struct words near = { .n = 0 }, away = { .n = 0 };
		struct enc e = { .acc_ab = 3, .acc_cd = target >= SG_ISA_GFX90A };
		char what[80];

		sg_step_init(&before);
		for (unsigned r = 0; r < COPY; r++)
			for (unsigned l = 0; l < 64; l++)
				before.agpr[r][l] = before.agpr[COPY + r][l] = some_bits(&rng);
		e.vdst = 2 * (unsigned)(rng_next(&rng) % 12);
		for (unsigned k = 0; k < 3; k++)
			e.src[k] = 256 + 2 * (unsigned)(rng_next(&rng) % 12);
		snprintf(what, sizeof(what), "registers %u=%u,%u,%u", e.vdst, e.src[0], e.src[1],
			 e.src[2]);
		encode_mfma(&near, row, &e);
		for (unsigned k = 0; k < 3; k++)
			e.src[k] += COPY;
		encode_mfma(&away, row, &e);
		compare(t, target, &near, &away, what);
	}
}

/* ---- scalar instructions ---- */

static unsigned copy_of(unsigned sgpr)
{
	return sgpr == SG_OPND_VCC_LO    ? S_VCC_IN
	       : sgpr == SG_OPND_EXEC_LO ? S_EXEC_IN
					 : sgpr + S_COPY;
}

void alias_scalar(struct tally *t, const struct sg_isa_row *row, enum sg_isa_target target)
{
	const struct sg_isa_operand *src[2] = { operand_of(row, SG_ROLE_SRC0),
						operand_of(row, SG_ROLE_SRC1) };
	struct rng rng;

	if (row->enc == SG_ENC_SOPK) /* its one register is both by definition */
		return;
	rng_seed(&rng, row->mnemonic);
	for (unsigned n = 0; n < 12; n++) {
		struct words words[2] = { { .n = 0 }, { .n = 0 } };
		unsigned sdst = scalar_source(&rng, 0, 2), reg[2][2] = { { 0 } };
		char what[80];

		fill(&rng, rng_next(&rng), 0xf0);
		for (unsigned k = 0; k < 2 && src[k]; k++) {
			reg[0][k] = scalar_source(&rng, 0, src[k]->n_regs);
			reg[1][k] = copy_of(reg[0][k]);
		}
		for (unsigned k = 0; k < 2; k++)
			if (row->enc == SG_ENC_SOP1)
				encode_sop1(&words[k], row->op, sdst, reg[k][0]);
			else if (row->enc == SG_ENC_SOP2)
				encode_sop2(&words[k], row->op, sdst, reg[k][0], reg[k][1]);
			else
				encode_sopc(&words[k], row->op, reg[k][0], reg[k][1]);
		snprintf(what, sizeof(what), "registers %u=%u,%u", sdst, reg[0][0], reg[0][1]);
		compare(t, target, &words[0], &words[1], what);
	}
}
