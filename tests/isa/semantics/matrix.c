/*
 * Matrix rows: small whole numbers, where every order of accumulation gives the same bits, and then
 * arbitrary numbers, where the reference says how far apart two orders may be.
 */
#include "tests/isa/semantics/matrix.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tests/isa/ref/fp.h"
#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"

enum { V_A = 0, V_B = 8, V_SCALE = 32, V_INDEX = 40, V_C = 64, V_D = 128, S_SCALE = 20 };

enum kind { WHOLE, ANY, SPECIAL, N_KINDS };

/* A code of at most 8 bits. Whole: multiples of 1/8 up to 16, whose products add up exactly. */
static uint64_t small_number(enum ref_mfma_type type, enum ref_target target, enum kind kind,
			     struct rng *rng)
{
	for (;;) {
		uint64_t code = rng_next(rng) & ((1u << ref_mfma_bits(type)) - 1);
		double v = ref_mfma_value(type, target, code);

		if (kind == SPECIAL || (kind == ANY && isfinite(v)) ||
		    (fabs(v) <= 16 && v * 8 == rint(v * 8)))
			return code;
	}
}

static uint64_t number(enum ref_mfma_type type, enum ref_target target, enum kind kind,
		       struct rng *rng)
{
	static const double special[] = { 0,       -0.0,    1, -1,       65504,
					  0x1p-24, 0x1p-14, 3, 0x1p-130, 0x1p60 };
	uint64_t r = rng_next(rng);
	double v = (double)(int64_t)(r % 17) - 8;
	enum fp_format f = type == REF_MFMA_F16 ? F16 : type == REF_MFMA_F64 ? F64 : F32;
	uint64_t bits;

	if (type == REF_MFMA_I8)
		return r >> 8 & 0xff;
	if (ref_mfma_bits(type) <= 8)
		return small_number(type, target, kind, rng);
	if (kind == ANY)
		v = ((double)(r >> 11) * 0x1p-52 - 1) * (r & 1 ? 1 : 100);
	else if (kind == SPECIAL)
		v = special[r % 10];
	bits = fp_rounded(f, v, ROUND_NEAREST);
	if (kind == SPECIAL && (r >> 32) % 29 == 0)
		bits = (r >> 40) % 2 ? fp_inf(f, r >> 41 & 1) : fp_nan(f);
	return type == REF_MFMA_BF16 ? bits >> 16 : bits;
}

static void fill_sources(enum ref_mfma_type type, unsigned n_elements, enum ref_target target,
			 enum kind kind, struct rng *rng, uint32_t (*regs)[64])
{
	const unsigned bits = ref_mfma_bits(type);

	for (unsigned lane = 0; lane < 64; lane++) {
		for (unsigned r = 0; r < n_elements * bits / 32; r++)
			regs[r][lane] = 0;
		for (unsigned at = 0; at < n_elements * bits; at += bits) {
			uint64_t x = number(type, target, kind, rng);

			regs[at / 32][lane] |= (uint32_t)(x << at % 32);
			if (at % 32 + bits > 32)
				regs[at / 32 + 1][lane] |= (uint32_t)(x >> (32 - at % 32));
		}
	}
}

static void fill_accumulators(const struct ref_mfma *op, enum kind kind, struct rng *rng,
			      uint32_t (*regs)[64], unsigned n)
{
	bool f64 = op->a == REF_MFMA_F64;

	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < n; i += f64 ? 2 : 1) {
			uint64_t x = op->a == REF_MFMA_I8
					     ? rng_next(rng)
					     : number(f64 ? REF_MFMA_F64 : REF_MFMA_F32, REF_GFX942,
						      kind, rng);

			regs[i][lane] = (uint32_t)x;
			if (f64)
				regs[i + 1][lane] = (uint32_t)(x >> 32);
		}
}

/* Near one, so that sums stay exact, or any. */
static void fill_scales(enum kind kind, struct rng *rng, uint32_t *reg)
{
	for (unsigned lane = 0; lane < 64; lane++) {
		uint32_t r = (uint32_t)rng_next(rng);

		reg[lane] = kind == WHOLE ? 0x7f7f7f7f + (r & 0x03030303) : r;
	}
}

struct matrix_config {
	enum kind kind;
	unsigned cbsz, abid, blgp, acc_ab, acc_cd;
	uint64_t exec;
	unsigned c_constant; /* src2's operand number; 0: registers */
	unsigned scale_byte[2];
	unsigned scale_operand; /* of A, a scalar register or a constant; 0: registers */
};

/* An inline constant is the same number in every element of C. */
static void fill_constant(const struct ref_mfma *op, unsigned opnd, uint32_t (*regs)[64],
			  unsigned n)
{
	bool f64 = op->a == REF_MFMA_F64, one = opnd == SG_OPND_F_0_5 + 2;
	uint64_t x = one ? fp_one(f64 ? F64 : F32) : opnd - SG_OPND_INT_0;

	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < n; i++)
			regs[i][lane] = (uint32_t)(f64 && i % 2 ? x >> 32 : x);
}

static void compare(struct tally *t, const struct ref_mfma *op, const struct matrix_config *cfg,
		    enum sg_isa_target target, const uint32_t (*got_regs)[64],
		    const uint32_t (*want)[64], const double (*slack)[64])
{
	bool f64 = op->a == REF_MFMA_F64;

	for (unsigned lane = 0; lane < 64; lane++)
		for (unsigned i = 0; i < ref_mfma_regs_cd(op); i += f64 ? 2 : 1) {
			uint64_t got = got_regs[i][lane], expected = want[i][lane];
			/* whole numbers below 2^24 are exact in any order */
			double tolerance =
				cfg->kind == WHOLE || op->a == REF_MFMA_I8 ? 0 : slack[i][lane];

			if (f64) {
				got |= (uint64_t)got_regs[i + 1][lane] << 32;
				expected |= (uint64_t)want[i + 1][lane] << 32;
			}
			t->compared++;
			/* the sign of a sum that is exactly zero depends on the order as well */
			if (op->a == REF_MFMA_I8 ? got != expected
						 : !within(f64 ? 64 : 32, expected, got, tolerance))
				fail(t,
				     "%s, kind %d cbsz %u abid %u blgp %u acc %x %x, register %u "
				     "lane %u: got %" PRIx64 ", expected %" PRIx64 " +- %g",
				     sg_isa_target_name(target), cfg->kind, cfg->cbsz, cfg->abid,
				     cfg->blgp, cfg->acc_ab, cfg->acc_cd, i, lane, got, expected,
				     tolerance);
		}
}

static void run(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
		enum sg_isa_target target, struct sg_step *st, struct rng *rng,
		const struct matrix_config *cfg)
{
	static uint32_t want[64][64];
	static double slack[64][64];
	static uint32_t scalar_scale[64];
	enum ref_target ref_target = (enum ref_target)__builtin_ctz(target);
	unsigned n_cd = ref_mfma_regs_cd(op);
	uint32_t(*a)[64] = cfg->acc_ab & 1 ? st->agpr : st->vgpr;
	uint32_t(*b)[64] = cfg->acc_ab & 2 ? st->agpr : st->vgpr;
	uint32_t(*cd)[64] = cfg->acc_cd || target == SG_ISA_GFX908 ? st->agpr : st->vgpr;
	unsigned v_c = op->sparse ? V_D : V_C; /* sparse matrices are added to their destination */
	struct words words = { .n = 0 };
	struct enc e = { .vdst = V_D,
			 .src = { 256 + V_A, 256 + V_B, 256 + (op->sparse ? V_INDEX : V_C) },
			 .cbsz = cfg->cbsz,
			 .abid = cfg->abid,
			 .blgp = cfg->blgp,
			 .acc_ab = cfg->acc_ab,
			 .acc_cd = cfg->acc_cd,
			 .scale = { 256 + V_SCALE, 257 + V_SCALE },
			 .scale_byte = { cfg->scale_byte[0], cfg->scale_byte[1] } };
	struct ref_mfma_in in = { .a = (const uint32_t(*)[64])(a + V_A),
				  .b = (const uint32_t(*)[64])(b + V_B),
				  .c = (const uint32_t(*)[64])(cd + v_c),
				  .index = st->vgpr[V_INDEX],
				  .scale_a = st->vgpr[V_SCALE],
				  .scale_b = st->vgpr[V_SCALE + 1],
				  .scale_byte_a = cfg->scale_byte[0],
				  .scale_byte_b = cfg->scale_byte[1],
				  .cbsz = cfg->cbsz,
				  .abid = cfg->abid };
	enum sg_fault_kind fault;

	*(op->a == REF_MFMA_F64 ? &in.neg : &in.blgp) = cfg->blgp;
	sg_step_init(st);
	fill_sources(op->f8f6f4 ? ref_mfma_f8f6f4_type(cfg->cbsz) : op->a,
		     op->k_per_lane / (op->sparse ? 2u : 1u), ref_target, cfg->kind, rng, a + V_A);
	fill_sources(op->f8f6f4 ? ref_mfma_f8f6f4_type(cfg->blgp) : op->b, op->k_per_lane,
		     ref_target, cfg->kind, rng, b + V_B);
	fill_accumulators(op, cfg->kind, rng, cd + v_c, n_cd);
	for (unsigned lane = 0; lane < 64; lane++)
		st->vgpr[V_INDEX][lane] = (uint32_t)rng_next(rng);
	for (unsigned k = 0; k < 2; k++)
		fill_scales(cfg->kind, rng, st->vgpr[V_SCALE + k]);
	if (cfg->scale_operand) {
		uint32_t v = cfg->scale_operand < SG_OPND_INT_0
				     ? st->sgpr[cfg->scale_operand] = 0x7f807e81
				     : cfg->scale_operand - SG_OPND_INT_0;

		for (unsigned lane = 0; lane < 64; lane++)
			scalar_scale[lane] = v;
		in.scale_a = scalar_scale;
		e.scale[0] = cfg->scale_operand;
	}
	if (cfg->c_constant) {
		fill_constant(op, cfg->c_constant, cd + V_C, n_cd);
		e.src[2] = cfg->c_constant;
	}
	ref_mfma_run(op, ref_target, &in, want, slack);
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
	compare(t, op, cfg, target, (const uint32_t(*)[64])(cd + V_D), (const uint32_t(*)[64])want,
		(const double(*)[64])slack);
}

/* cbsz and blgp name the formats of A and B. */
static void run_formats(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
			enum sg_isa_target target, struct sg_step *st, struct rng *rng)
{
	struct matrix_config cfg = { .exec = ~0ull };

	for (unsigned n = 0; n < 25; n++) {
		cfg.cbsz = n % 5;
		cfg.blgp = n / 5;
		cfg.kind = n % 3;
		cfg.scale_byte[0] = n % 4;
		cfg.scale_byte[1] = n / 4 % 4;
		run(t, row, op, target, st, rng, &cfg);
		cfg.kind = WHOLE;
		run(t, row, op, target, st, rng, &cfg);
	}
	cfg.scale_operand = S_SCALE;
	run(t, row, op, target, st, rng, &cfg);
	cfg.scale_operand = SG_OPND_INT_0 + 64;
	cfg.scale_byte[0] = 0;
	run(t, row, op, target, st, rng, &cfg);
}

/* cbsz 0: abid is the part of the index register; else the first one. */
static void run_indices(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
			enum sg_isa_target target, struct sg_step *st, struct rng *rng)
{
	for (unsigned n = 0; n < 8; n++)
		run(t, row, op, target, st, rng,
		    &(struct matrix_config){
			    .kind = WHOLE, .cbsz = n / 4, .abid = n % 4, .exec = ~0ull });
}

void test_matrix_row(struct tally *t, const struct sg_isa_row *row, const struct ref_mfma *op,
		     enum sg_isa_target target, struct sg_step *st)
{
	struct rng rng;
	bool is_f64 = op->a == REF_MFMA_F64, has_neg = is_f64 && target >= SG_ISA_GFX942;
	bool broadcasts = !is_f64 && !op->sparse && !op->f8f6f4;

	rng_seed(&rng, row->mnemonic);
	for (unsigned kind = 0; kind < N_KINDS; kind++)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = kind, .exec = ~0ull });
	/* EXEC does not matter; sources in accumulation registers */
	for (unsigned acc = 0; acc < 4; acc++)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){
			    .kind = WHOLE, .acc_ab = acc, .exec = acc ? ~0ull : 0x10f });
	/* on gfx908 the accumulators are always AGPRs, and the bit is 0 */
	if (target >= SG_ISA_GFX90A)
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = WHOLE, .acc_cd = 1, .exec = ~0ull });
	if (!op->sparse) {
		unsigned number = op->a == REF_MFMA_I8 ? SG_OPND_INT_0 + 5 : SG_OPND_F_0_5 + 2;

		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){
			    .kind = WHOLE, .exec = ~0ull, .c_constant = SG_OPND_INT_0 });
		run(t, row, op, target, st, &rng,
		    &(struct matrix_config){ .kind = WHOLE, .exec = ~0ull, .c_constant = number });
	}
	if (op->f8f6f4)
		run_formats(t, row, op, target, st, &rng);
	if (op->sparse)
		run_indices(t, row, op, target, st, &rng);
	/* the 8-bit floats and xf32 have no blgp */
	for (unsigned blgp = 1; blgp < 8; blgp++)
		if (has_neg || (broadcasts && op->a < REF_MFMA_F64))
			run(t, row, op, target, st, &rng,
			    &(struct matrix_config){ .kind = WHOLE, .blgp = blgp, .exec = ~0ull });
	for (unsigned cbsz = 1; broadcasts && 1u << cbsz <= op->blocks; cbsz++)
		for (unsigned abid = 0; abid < 1u << cbsz; abid += cbsz)
			run(t, row, op, target, st, &rng,
			    &(struct matrix_config){
				    .kind = WHOLE, .cbsz = cbsz, .abid = abid, .exec = ~0ull });
}
