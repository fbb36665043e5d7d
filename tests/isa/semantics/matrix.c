/*
 * Matrix rows: small whole numbers, where every order of accumulation gives the same bits, and then
 * arbitrary numbers, where the reference says how far apart two orders may be.
 */
#include "tests/isa/semantics/matrix.h"

#include <inttypes.h>
#include <string.h>

#include "tests/isa/ref/fp.h"
#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"

enum { V_A = 0, V_B = 8, V_C = 64, V_D = 128 };

enum kind { WHOLE, ANY, SPECIAL, N_KINDS };

static uint64_t number(enum ref_mfma_type type, enum kind kind, struct rng *rng)
{
	static const double special[] = { 0,       -0.0,    1, -1,       65504,
					  0x1p-24, 0x1p-14, 3, 0x1p-130, 0x1p60 };
	uint64_t r = rng_next(rng);
	double v = (double)(int64_t)(r % 17) - 8;
	enum fp_format f = type == REF_MFMA_F16 ? F16 : type == REF_MFMA_F64 ? F64 : F32;
	uint64_t bits;

	if (type == REF_MFMA_I8)
		return r >> 8 & 0xff;
	if (kind == ANY)
		v = ((double)(r >> 11) * 0x1p-52 - 1) * (r & 1 ? 1 : 100);
	else if (kind == SPECIAL)
		v = special[r % 10];
	bits = fp_rounded(f, v, ROUND_NEAREST);
	if (kind == SPECIAL && (r >> 32) % 29 == 0)
		bits = (r >> 40) % 2 ? fp_inf(f, r >> 41 & 1) : fp_nan(f);
	return type == REF_MFMA_BF16 ? bits >> 16 : bits;
}

static void fill_sources(const struct ref_mfma *op, enum kind kind, struct rng *rng,
			 uint32_t (*regs)[64], unsigned n)
{
	static const unsigned bits[] = { [REF_MFMA_F32] = 32,
					 [REF_MFMA_F16] = 16,
					 [REF_MFMA_BF16] = 16,
					 [REF_MFMA_I8] = 8,
					 [REF_MFMA_F64] = 64 };

	memset(regs, 0, n * sizeof(*regs));
	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned at = 0; at < 32 * n; at += bits[op->type]) {
			uint64_t x = number(op->type, kind, rng);

			regs[at / 32][lane] |= (uint32_t)x << at % 32;
			if (op->type == REF_MFMA_F64)
				regs[at / 32 + 1][lane] = (uint32_t)(x >> 32);
		}
}

static void fill_accumulators(const struct ref_mfma *op, enum kind kind, struct rng *rng,
			      uint32_t (*regs)[64], unsigned n)
{
	bool f64 = op->type == REF_MFMA_F64;

	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < n; i += f64 ? 2 : 1) {
			uint64_t x = op->type == REF_MFMA_I8
					     ? rng_next(rng)
					     : number(f64 ? REF_MFMA_F64 : REF_MFMA_F32, kind, rng);

			regs[i][lane] = (uint32_t)x;
			if (f64)
				regs[i + 1][lane] = (uint32_t)(x >> 32);
		}
}

struct matrix_config {
	enum kind kind;
	unsigned cbsz, abid, blgp, acc_ab, acc_cd;
	uint64_t exec;
	unsigned c_constant; /* src2's operand number; 0: registers */
};

/* An inline constant is the same number in every element of C. */
static void fill_constant(const struct ref_mfma *op, unsigned opnd, uint32_t (*regs)[64],
			  unsigned n)
{
	bool f64 = op->type == REF_MFMA_F64, one = opnd == SG_OPND_F_0_5 + 2;
	uint64_t x = one ? fp_one(f64 ? F64 : F32) : opnd - SG_OPND_INT_0;

	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < n; i++)
			regs[i][lane] = (uint32_t)(f64 && i % 2 ? x >> 32 : x);
}

static void run(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
		enum sg_isa_target target, struct sg_step *st, struct rng *rng,
		const struct matrix_config *cfg)
{
	static uint32_t want[64][64];
	static double slack[64][64];
	unsigned n_ab = ref_mfma_regs_ab(op), n_cd = ref_mfma_regs_cd(op);
	bool f64 = op->type == REF_MFMA_F64;
	uint32_t(*a)[64] = cfg->acc_ab & 1 ? st->agpr : st->vgpr;
	uint32_t(*b)[64] = cfg->acc_ab & 2 ? st->agpr : st->vgpr;
	uint32_t(*cd)[64] = cfg->acc_cd || target == SG_ISA_GFX908 ? st->agpr : st->vgpr;
	struct words words = { .n = 0 };
	struct enc e = { .vdst = V_D,
			 .src = { 256 + V_A, 256 + V_B, 256 + V_C },
			 .cbsz = cfg->cbsz,
			 .abid = cfg->abid,
			 .blgp = cfg->blgp,
			 .acc_ab = cfg->acc_ab,
			 .acc_cd = cfg->acc_cd };
	enum sg_fault_kind fault;

	sg_step_init(st);
	fill_sources(op, cfg->kind, rng, a + V_A, n_ab);
	fill_sources(op, cfg->kind, rng, b + V_B, n_ab);
	fill_accumulators(op, cfg->kind, rng, cd + V_C, n_cd);
	if (cfg->c_constant) {
		fill_constant(op, cfg->c_constant, cd + V_C, n_cd);
		e.src[2] = cfg->c_constant;
	}
	ref_mfma_run(op, (enum ref_target)__builtin_ctz(target), (const uint32_t(*)[64])(a + V_A),
		     (const uint32_t(*)[64])(b + V_B), (const uint32_t(*)[64])(cd + V_C), cfg->cbsz,
		     cfg->abid, cfg->blgp, want, slack);
	st->sgpr[SG_OPND_EXEC_LO] = (uint32_t)cfg->exec;
	st->sgpr[SG_OPND_EXEC_HI] = (uint32_t)(cfg->exec >> 32);
	encode_mfma(&words, row, &e);
	fault = sg_step_run(target, words.w, words.n, st);
	t->runs++;
	if (fault) {
		fail(t, "fault %d: %s", fault, st->fault.text);
		return;
	}
	t->row_tested = true;
	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < n_cd; i += f64 ? 2 : 1) {
			uint64_t got = cd[V_D + i][lane], expected = want[i][lane];
			/* whole numbers below 2^24 are exact in any order */
			double tolerance =
				cfg->kind == WHOLE || op->type == REF_MFMA_I8 ? 0 : slack[i][lane];

			if (f64) {
				got |= (uint64_t)cd[V_D + i + 1][lane] << 32;
				expected |= (uint64_t)want[i + 1][lane] << 32;
			}
			t->compared++;
			/* the sign of a sum that is exactly zero depends on the order as well */
			if (op->type == REF_MFMA_I8
				    ? got != expected
				    : !within(f64 ? 64 : 32, expected, got, tolerance))
				fail(t,
				     "%s, kind %d cbsz %u abid %u blgp %u acc %x %x, register %u "
				     "lane %u: got %" PRIx64 ", expected %" PRIx64 " +- %g",
				     sg_isa_target_name(target), cfg->kind, cfg->cbsz, cfg->abid,
				     cfg->blgp, cfg->acc_ab, cfg->acc_cd, i, lane, got, expected,
				     tolerance);
		}
}

void test_matrix_row(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
		     enum sg_isa_target target, struct sg_step *st)
{
	struct rng rng;
	bool broadcasts = op->type != REF_MFMA_F64;

	rng_seed(&rng, row->mnemonic);
	for (unsigned kind = 0; kind < N_KINDS; kind++)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = kind, .exec = ~0ull });
	/* EXEC does not matter; sources in accumulation registers */
	for (unsigned acc = 0; acc < 4; acc++)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){
			    .kind = WHOLE, .acc_ab = acc, .exec = acc ? ~0ull : 0x10f });
	if (target ==
	    SG_ISA_GFX90A) /* on gfx908 the accumulators are always AGPRs, and the bit is 0 */
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = WHOLE, .acc_cd = 1, .exec = ~0ull });
	run(t, row, op, target, st, &rng,
	    &(struct matrix_config){ .kind = WHOLE, .exec = ~0ull, .c_constant = SG_OPND_INT_0 });
	run(t, row, op, target, st, &rng,
	    &(struct matrix_config){ .kind = WHOLE,
				     .exec = ~0ull,
				     .c_constant = op->type == REF_MFMA_I8 ? SG_OPND_INT_0 + 5
									   : SG_OPND_F_0_5 + 2 });
	for (unsigned blgp = 1; broadcasts && blgp < 8; blgp++)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = WHOLE, .blgp = blgp, .exec = ~0ull });
	for (unsigned cbsz = 1; broadcasts && 1u << cbsz <= op->blocks; cbsz++)
		for (unsigned abid = 0; abid < 1u << cbsz; abid += cbsz)
			run(t, row, op, target, st, &rng,
			    &(struct matrix_config){
				    .kind = WHOLE, .cbsz = cbsz, .abid = abid, .exec = ~0ull });
}
