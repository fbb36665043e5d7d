/* Waves that sleep long: their cycles are modelled, not lived through. */
#include "tests/unit/unit.h"

#include <time.h>

#include "tests/softgpu/synth.h"

#define N_SLEEPS 40000ull
#define CYCLES (64 * 127) /* of one */

static double cpu_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void long_sleeps_take_cycles_and_no_time(void **state)
{
	static const struct synth_inst insts[] = {
		{ "s_mov_b32", 1 }, { "s_sleep", 1, .simm = 127 },
		{ "s_sub_i32", 1 }, { "s_cbranch_scc0", 1 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 5,
				  .loop_from = 1,
				  .loop_to = 3,
				  .turns = N_SLEEPS,
				  .code = SYNTH_CODE };
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;
	double before;
	uint64_t cycles;

	synth_prepare(&run, &k, 1, 1);
	before = cpu_s();
	assert_true(sg_model_run(m, &run.d, &r));
	/* one window of the model after the other, it took 5 s */
	assert_true(cpu_s() - before < 1.5);
	cycles = sg_model_sum(&r, SG_BLOCK_GRBM, SG_C_GRBM_GUI_ACTIVE);
	assert_in_range(cycles, N_SLEEPS * CYCLES, N_SLEEPS * (CYCLES + 60));
	assert_int_equal(sg_model_sum(&r, SG_BLOCK_SQ, SG_C_SQ_INSTS), 3 * N_SLEEPS + 2);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

static bool is_too_long(void *ctx, uint64_t cycles)
{
	return cycles > N_SLEEPS * CYCLES / 2;
}

/* It fails, and the next one is not affected. */
static void what_takes_too_long_is_given_up(void **state)
{
	static const struct synth_inst insts[] = {
		{ "s_sleep", 1, .simm = 127 },
		{ "s_cbranch_scc0", 1 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = {
		.insts = insts, .n_insts = 3, .loop_to = 1, .turns = N_SLEEPS, .code = SYNTH_CODE
	};
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;

	synth_prepare(&run, &k, 1, 1);
	run.d.is_too_long = is_too_long;
	assert_false(sg_model_run(m, &run.d, &r));
	k.turns = N_SLEEPS / 4;
	synth_prepare(&run, &k, 1, 1);
	run.d.is_too_long = is_too_long;
	assert_true(sg_model_run(m, &run.d, &r));
	assert_int_equal(sg_model_sum(&r, SG_BLOCK_SQ, SG_C_SQ_INSTS), 2 * N_SLEEPS / 4 + 1);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_sleeps_take_cycles_and_no_time),
		cmocka_unit_test(what_takes_too_long_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
