/*
 * What a wave waits for before it issues. A chain of instructions against the same instructions on other registers, one wave alone: the difference is
 * how late the results are. The numbers are the wait states of AMD's ISA manuals.
 */
#include "tests/unit/unit.h"

#include "tests/softgpu/synth.h"

#define TURNS 64
#define V(n) (SG_OPND_VGPR0 + (n))
#define VCC SG_OPND_VCC_LO

/* Quad-cycles of a turn of a loop around the pair. */
static uint64_t turn_of(const struct sg_hw *hw, const struct synth_inst pair[2])
{
	struct synth_inst insts[] = {
		{ "s_nop", 1 },
		pair[0],
		pair[1],
		{ "s_nop", 1, .simm = 15 },
		{ "s_nop", 1, .simm = 15 },
		{ "s_cbranch_scc1", 1 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = {
		.insts = insts, .n_insts = 7, .loop_from = 1, .loop_to = 5, .code = SYNTH_CODE
	};
	struct sg_model *m = sg_model_create(hw);
	uint64_t cycles[2];

	assert_non_null(m);
	for (unsigned n = 0; n < 2; n++) {
		struct sg_model_result r;
		struct synth_run run;

		k.turns = (n + 1) * TURNS;
		synth_prepare(&run, &k, 1, 1);
		assert_true(sg_model_run(m, &run.d, &r));
		cycles[n] = r.cycles;
		sg_model_result_free(&r);
	}
	sg_model_destroy(m);
	return (cycles[1] - cycles[0]) / TURNS / 4;
}

/* A turn is longer by this when the second instruction reads what the first one writes. */
static uint64_t wait_of(const struct sg_hw *hw, struct synth_inst first, struct synth_inst second,
			struct synth_inst apart)
{
	const struct synth_inst chain[] = { first, second }, stream[] = { first, apart };
	uint64_t with = turn_of(hw, chain), without = turn_of(hw, stream);

	assert_true(with >= without);
	return with - without;
}

static const struct sg_hw *const chips[] = { &sg_hw_mi100, &sg_hw_mi210, &sg_hw_mi300x };

static void arithmetic_has_its_result_at_once(void **state)
{
	static const char *const names[] = { "v_fma_f32", "v_fma_f64", "v_pk_fma_f16" };

	for (unsigned c = 0; c < 3; c++) {
		for (unsigned n = 0; n < 3; n++) {
			struct synth_inst first = { names[n], 2, .vdst = 8 };

			assert_int_equal(
				wait_of(chips[c], first,
					(struct synth_inst){ names[n], 2, .src = { V(8) } },
					(struct synth_inst){ names[n], 2, .src = { V(16) } }),
				0);
		}
		assert_int_equal(wait_of(chips[c], (struct synth_inst){ "s_add_u32", 1, .sdst = 8 },
					 (struct synth_inst){ "s_add_u32", 1, .src = { 8 } },
					 (struct synth_inst){ "s_add_u32", 1, .src = { 9 } }),
				 0);
	}
}

#define MFMA(...) ((struct synth_inst){ name, 2, __VA_ARGS__ })

static void matrices_are_late_for_all_but_the_same_sum(void **state)
{
	for (unsigned c = 0; c < 3; c++) {
		/* 4 registers each */
		bool half = chips[c] == &sg_hw_mi300x;
		const char *name = half ? "v_mfma_f32_16x16x16_f16" : "v_mfma_f32_16x16x16f16";
		uint64_t passes = half ? 4 : 8;
		struct synth_inst first = MFMA(.vdst = 8, .src = { V(40), V(44), V(8) });
		struct synth_inst apart = MFMA(.vdst = 16, .src = { V(40), V(44), V(16) });

		/* a sum that continues: as fast as another one */
		assert_int_equal(wait_of(chips[c], first, first, apart), 0);
		/* some of its registers */
		assert_int_equal(wait_of(chips[c], first,
					 MFMA(.vdst = 16, .src = { V(40), V(44), V(10) }), apart),
				 1);
		/* as a factor: passes + 3 wait states, where another one waits for the unit */
		assert_int_equal(wait_of(chips[c], first,
					 MFMA(.vdst = 16, .src = { V(8), V(44), V(16) }), apart),
				 4);
		/* what is not a matrix instruction would not wait at all */
		assert_int_equal(wait_of(chips[c], first,
					 (struct synth_inst){ "v_add_f32", 1, .src = { V(11) } },
					 (struct synth_inst){ "v_add_f32", 1, .src = { V(12) } }),
				 passes + 3);
		/* nor overwrite it before */
		assert_int_equal(wait_of(chips[c], first,
					 (struct synth_inst){ "v_mov_b32", 1, .vdst = 11 },
					 (struct synth_inst){ "v_mov_b32", 1, .vdst = 12 }),
				 passes + 3);
	}
}

static void masks_are_late_for_the_scalar_unit(void **state)
{
	struct synth_inst compare = { "v_cmp_gt_i32", 1, .sdst = VCC };
	struct synth_inst read = { "v_readfirstlane_b32", 1, .sdst = 20 };

	for (unsigned c = 0; c < 3; c++) {
		assert_int_equal(wait_of(chips[c], compare,
					 (struct synth_inst){ "s_and_b64", 1, .src = { VCC } },
					 (struct synth_inst){ "s_and_b64", 1, .src = { 10 } }),
				 4);
		assert_int_equal(wait_of(chips[c], read,
					 (struct synth_inst){ "s_add_u32", 1, .src = { 20 } },
					 (struct synth_inst){ "s_add_u32", 1, .src = { 21 } }),
				 4);
	}
}

static void a_branch_on_vcc_waits_for_the_comparison(void **state)
{
	struct synth_inst compare = { "v_cmp_gt_i32", 1, .sdst = VCC };

	for (unsigned c = 0; c < 3; c++)
		assert_int_equal(wait_of(chips[c], compare,
					 (struct synth_inst){ "s_cbranch_vccnz", 1 },
					 (struct synth_inst){ "s_cbranch_scc1", 1 }),
				 4);
}

/* From MI300 on, vector instructions wait for masks and for transcendentals, too. */
static void vector_results_are_late_on_mi300_only(void **state)
{
	struct synth_inst compare = { "v_cmp_gt_i32", 1, .sdst = VCC };
	struct synth_inst root = { "v_sqrt_f32", 1, .vdst = 8 };

	for (unsigned c = 0; c < 3; c++) {
		bool later = chips[c] == &sg_hw_mi300x;

		assert_int_equal(
			wait_of(chips[c], compare,
				(struct synth_inst){ "v_cndmask_b32", 1, .src = { [2] = VCC } },
				(struct synth_inst){ "v_cndmask_b32", 1, .src = { [2] = 30 } }),
			later ? 2 : 0);
		assert_int_equal(wait_of(chips[c], root,
					 (struct synth_inst){ "v_add_f32", 1, .src = { V(8) } },
					 (struct synth_inst){ "v_add_f32", 1, .src = { V(9) } }),
				 later ? 1 : 0);
	}
}

/* Other waves use the time. */
static void other_waves_hide_what_is_late(void **state)
{
	struct synth_inst insts[] = {
		{ "s_nop", 1 },
		{ "v_cmp_gt_i32", 1, .sdst = VCC },
		{ "s_and_b64", 1, .src = { VCC } },
		{ "v_fma_f32", 2 },
		{ "v_fma_f32", 2 },
		{ "s_cbranch_scc1", 1 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 7,
				  .loop_from = 1,
				  .loop_to = 5,
				  .turns = 100,
				  .code = SYNTH_CODE };
	uint64_t cycles[2][2], stalled[2][2]; /* [four waves][chain] */

	for (unsigned n = 0; n < 4; n++) {
		struct sg_model *m = sg_model_create(&sg_hw_mi210);
		struct sg_model_result r;
		struct synth_run run;

		insts[2].src[0] = n & 1 ? VCC : 10;
		synth_prepare(&run, &k, 1, n & 2 ? 16 : 4); /* of four SIMDs */
		assert_true(sg_model_run(m, &run.d, &r));
		cycles[n >> 1][n & 1] = r.cycles;
		stalled[n >> 1][n & 1] = SG_SUM(&r, SQ, SQ_WAIT_INST_ANY);
		sg_model_result_free(&r);
		sg_model_destroy(m);
	}
	assert_true(cycles[0][1] >= cycles[0][0] + 100 * 4 * 4);
	assert_true(stalled[0][1] >= stalled[0][0] + 4 * 100 * 4);
	/* 40 % longer alone, 20 % with four */
	assert_true(10 * cycles[1][1] * cycles[0][0] < 9 * cycles[1][0] * cycles[0][1]);
}

/* 16 waves load the same line of the host, n times each: 31 accesses enter the cache before the answer, 32 wait. */
static void scalar_loads_wait_for_a_line_that_is_far(void **state)
{
	static const uint32_t n_loads[] = { 1, 3, 8 };
	uint64_t refused[3], stalled[3];

	for (unsigned n = 0; n < 3; n++) {
		struct synth_inst insts[10] = { { "s_nop", 1 } };
		uint32_t loads = n_loads[n];
		struct synth_kernel k = { .insts = insts,
					  .n_insts = loads + 2,
					  .code = SYNTH_CODE,
					  .host_from = SYNTH_HOST,
					  .host_kind = { SG_MTYPE_UC, SG_ROUTE_IO, 1 } };
		struct sg_model *m = sg_model_create(&sg_hw_mi210);
		struct sg_model_result r;
		struct synth_run run;

		for (uint32_t i = 1; i <= loads; i++)
			insts[i] = (struct synth_inst){ "s_load_dword", 2, .base = SYNTH_HOST };
		insts[loads + 1] = (struct synth_inst){ "s_endpgm", 1 };
		synth_prepare(&run, &k, 1, 16);
		assert_true(sg_model_run(m, &run.d, &r));
		refused[n] = SG_SUM(&r, SQ, SQC_DCACHE_INPUT_VALID_READYB);
		stalled[n] = SG_SUM(&r, SQ, SQ_WAIT_INST_ANY);
		assert_int_equal(SG_SUM(&r, SQ, SQC_DCACHE_REQ), 16 * loads);
		sg_model_result_free(&r);
		sg_model_destroy(m);
	}
	assert_int_equal(refused[0], 0);
	assert_in_range(refused[1], 1500, 3000); /* the way to the host, in cycles of one CU */
	assert_true(stalled[1] < stalled[0] + 16 * 20);
	/* the last waves do not issue: 128 - 63 loads are left */
	assert_true(stalled[2] > stalled[1] + 7 * 1500 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_has_its_result_at_once),
		cmocka_unit_test(matrices_are_late_for_all_but_the_same_sum),
		cmocka_unit_test(masks_are_late_for_the_scalar_unit),
		cmocka_unit_test(a_branch_on_vcc_waits_for_the_comparison),
		cmocka_unit_test(vector_results_are_late_on_mi300_only),
		cmocka_unit_test(other_waves_hide_what_is_late),
		cmocka_unit_test(scalar_loads_wait_for_a_line_that_is_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
