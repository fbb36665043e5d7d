#include "tests/isa/semantics/pk32.h"

#include <string.h>

#include "tests/isa/semantics/encode.h"
#include "tests/isa/semantics/inputs.h"
#include "tests/isa/semantics/vector.h"

/* The destination may lie over the first source, and the registers behind it must not change. */
enum { V_S0 = 0, V_S1 = 40, V_RANDOM = 60, V_SCALE = 61, V_D = 64, N_REGS = 128, S_SCALE = 20 };

struct pk32_config {
	const char *name;
	uint64_t exec;
	uint32_t mode;
	unsigned vdst;
	unsigned scale_operand; /* 0: a vector register */
	uint32_t scale;         /* what it is */
};

static uint32_t source_bits(const struct ref_pk32 *ref, struct rng *rng)
{
	static const struct sg_isa_operand f32 = {
		.type_class = SG_TYPE_F, .bits = 32, .n_regs = 1, .is_float = true
	};
	static const struct sg_isa_operand f16 = {
		.type_class = SG_TYPE_PK16, .bits = 16, .n_regs = 1, .is_float = true
	};

	if (ref->kind == REF_PK32_FROM)
		return (uint32_t)rng_next(rng);
	if (ref->number == REF_MFMA_F16)
		return (uint32_t)input_random(&f16, rng);
	if (ref->number == REF_MFMA_F32)
		return (uint32_t)input_random(&f32, rng);
	return (uint32_t)(input_random(&f32, rng) >> 16 | input_random(&f32, rng) >> 16 << 16);
}

/* Near one, so that results are numbers of the format, or any. */
static uint32_t scale_bits(struct rng *rng)
{
	uint64_t r = rng_next(rng);

	return r % 4 ? (uint32_t)(r >> 32 & 0x807fffff) | (120 + (uint32_t)(r >> 8) % 16) << 23
		     : (uint32_t)(r >> 32);
}

static bool is_float_match(const struct ref_pk32 *ref, uint32_t got, uint32_t want)
{
	static const struct ref_row as[] = { { .result = REF_F32 },
					     { .result = REF_V2F16 },
					     { .result = REF_INT } };

	if (ref->kind != REF_PK32_FROM || ref->number == REF_MFMA_BF16)
		return value_matches(&as[2], want, got, 0, REF_MODE_DEFAULT);
	return value_matches(&as[ref->number == REF_MFMA_F16], want, got, 0, REF_MODE_DEFAULT);
}

static void compare_lane(struct tally *t, const struct ref_pk32 *ref, const struct pk32_config *cfg,
			 const struct ref_pk32_in *in, unsigned n_d, unsigned lane,
			 uint32_t (*before)[64], struct sg_step *st)
{
	bool active = cfg->exec >> lane & 1;
	uint32_t want[32];

	ref_pk32_run(ref, in, want);
	for (unsigned r = 0; r < N_REGS; r++) {
		bool written = active && r >= cfg->vdst && r < cfg->vdst + n_d;
		uint32_t got = st->vgpr[r][lane];

		t->compared += written;
		if (written ? !is_float_match(ref, got, want[r - cfg->vdst])
			    : got != before[r][lane])
			fail(t, "%s, mode %06x, scale %08x, v%u lane %u: got %08x, expected %08x",
			     cfg->name, cfg->mode, in->scale, r, lane, got,
			     written ? want[r - cfg->vdst] : before[r][lane]);
	}
}

static void run(struct tally *t, const struct sg_isa_row *row, const struct ref_pk32 *ref,
		enum sg_isa_target target, struct sg_step *st, struct rng *rng,
		const struct pk32_config *cfg)
{
	static uint32_t before[N_REGS][64];
	struct words words = { .n = 0 };
	struct enc e = { .form = SG_FORM_VOP3, .vdst = cfg->vdst, .src = { 256 + V_S0 } };
	unsigned scale = cfg->scale_operand ? cfg->scale_operand : 256 + V_SCALE;
	bool two = ref->kind == REF_PK32_FROM || ref->kind == REF_PK32_NEAREST;
	enum sg_fault_kind fault;

	e.src[two ? 1 : 2] = scale;
	if (!two)
		e.src[1] = 256 + (ref->kind == REF_PK32_RANDOM ? V_RANDOM : V_S1);
	sg_step_init(st);
	st->mode = cfg->mode;
	st->sgpr[S_SCALE] = cfg->scale;
	for (unsigned lane = 0; lane < 64; lane++) {
		for (unsigned r = 0; r < N_REGS; r++)
			st->vgpr[r][lane] = source_bits(ref, rng);
		st->vgpr[V_RANDOM][lane] = (uint32_t)rng_next(rng);
		st->vgpr[V_SCALE][lane] = scale_bits(rng);
	}
	memcpy(before, st->vgpr, sizeof(before));
	st->sgpr[SG_OPND_EXEC_LO] = (uint32_t)cfg->exec;
	st->sgpr[SG_OPND_EXEC_HI] = (uint32_t)(cfg->exec >> 32);
	encode_vector(&words, row, &e);
	fault = sg_step_run(target, words.w, words.n, st);
	t->runs++;
	if (fault) {
		fail(t, "%s: fault %d: %s", cfg->name, fault, st->fault.text);
		return;
	}
	t->row_tested = true;
	for (unsigned lane = 0; lane < 64; lane++) {
		struct ref_pk32_in in = {
			.random = before[V_RANDOM][lane],
			.scale = cfg->scale_operand ? cfg->scale : before[V_SCALE][lane],
			.mode = cfg->mode,
		};

		for (unsigned r = 0; r < 32; r++)
			in.s0[r] = before[V_S0 + r][lane];
		for (unsigned r = 0; r < 16; r++)
			in.s1[r] = before[V_S1 + r][lane];
		compare_lane(t, ref, cfg, &in, operand_of(row, SG_ROLE_VDST)->n_regs, lane, before,
			     st);
	}
}

void test_pk32_row(struct tally *t, const struct sg_isa_row *row, const struct ref_pk32 *ref,
		   enum sg_isa_target target, struct sg_step *st)
{
	static const struct pk32_config configs[] = {
		{ "all lanes", ~0ull, REF_MODE_DEFAULT, V_D, 0, 0 },
		{ "some lanes", 0xf00f5a5a0000ffffull, REF_MODE_DEFAULT, V_D, 0, 0 },
		{ "no lane", 0, REF_MODE_DEFAULT, V_D, 0, 0 },
		{ "over the source", ~0ull, REF_MODE_DEFAULT, V_S0, 0, 0 },
		{ "over the source, some lanes", 0x5555, REF_MODE_DEFAULT, V_S0 + 3, 0, 0 },
		{ "scale of a scalar register", ~0ull, REF_MODE_DEFAULT, V_D, S_SCALE, 0x41ffffff },
		{ "scale of a constant", ~0ull, REF_MODE_DEFAULT, V_D, SG_OPND_F_0_5 + 7,
		  0xc0800000 },
		{ "denormals off", ~0ull, REF_MODE_DX10_CLAMP | REF_MODE_IEEE, V_D, 0, 0 },
		{ "rounding up", ~0ull, REF_MODE_DEFAULT | 0x5, V_D, 0, 0 },
		{ "FP16_OVFL", ~0ull, REF_MODE_DEFAULT | 1u << 23, V_D, 0, 0 },
	};
	struct rng rng;

	rng_seed(&rng, row->mnemonic);
	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		run(t, row, ref, target, st, &rng, &configs[i]);
}
