/*
 * The vector copy that AMD recorded on an MI200 and an MI100, in its recorded instruction mix: three
 * dispatches, of which the first is cold and ends with a write-back. Numbers are from the recordings.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "programs/fidelity/recorded_vcopy.h"
#include "softgpu/counting/selection.h"
#include "tests/softgpu/synth.h"

static double value(const struct sg_hw *hw, const struct sg_model_result *r, const char *name)
{
	uint64_t values[256], sum = 0;
	struct sg_selection s;
	char error[200];

	if (!strcmp(name, "duration_ns"))
		return (double)r->duration_ns;
	if (sg_selection_make(&s, hw, &name, 1, error, sizeof(error)))
		fail_msg("%s", error);
	sg_selected_values(&s.items[0], r, values);
	for (uint32_t k = 0; k < sg_selected_n_values(&s.items[0], hw); k++)
		sum += values[k];
	sg_selection_free(&s);
	return (double)sum;
}

static void compare(const char *name, int dispatch, double got, double want, double within)
{
	if (fabs(got - want) > within * want)
		fail_msg("%s of dispatch %d is %.0f, recorded %.0f, more than %.0f %% apart", name,
			 dispatch, got, want, 100 * within);
}

static void check(const struct sg_hw *hw, int chip)
{
	struct synth_kernel k = synth_vcopy();
	struct sg_model *m = sg_model_create(hw);
	struct sg_model_result r;
	struct synth_run run;

	assert_non_null(m);
	for (int dispatch = 0; dispatch < 3; dispatch++) {
		synth_prepare(&run, &k, 4096, 4);
		run.d.cold = run.d.system_release = dispatch == 0;
		assert_true(sg_model_run(m, &run.d, &r));
		assert_int_equal(run.n_released, 4096);
		for (size_t n = 0; n < sizeof(fid_recorded_vcopy) / sizeof(fid_recorded_vcopy[0]);
		     n++) {
			const struct fid_recorded *row = &fid_recorded_vcopy[n];
			double want = chip ? row->mi100[dispatch] : row->mi200[dispatch];

			if (want != FID_NOT_RECORDED)
				compare(row->name, dispatch, value(hw, &r, row->name), want,
					row->within);
		}
		/* equalities of the recordings */
		assert_true(value(hw, &r, "SQ_CYCLES") == 8 * value(hw, &r, "GRBM_COUNT"));
		assert_true(value(hw, &r, "TCC_CYCLE") == 32 * value(hw, &r, "GRBM_COUNT"));
		assert_true(value(hw, &r, "CPF_CPF_STAT_BUSY") == value(hw, &r, "GRBM_COUNT"));
		sg_model_result_free(&r);
	}
	sg_model_destroy(m);
}

static void vcopy_counts_as_recorded_on_mi200(void **state)
{
	check(&sg_hw_mi210, 0);
}

static void vcopy_counts_as_recorded_on_mi100(void **state)
{
	check(&sg_hw_mi100, 1);
}

static void a_damaged_trace_is_no_result(void **state)
{
	struct synth_kernel k = synth_vcopy();
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;

	synth_prepare(&run, &k, 64, 4);
	run.cut = true;
	assert_false(sg_model_run(m, &run.d, &r));
	synth_prepare(&run, &k, 64, 4); /* and the model is as good as before */
	assert_true(sg_model_run(m, &run.d, &r));
	assert_int_equal(run.n_released, 64);
	assert_int_equal(SG_SUM(&r, SQ, SQ_WAVES), 256);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi200),
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi100),
		cmocka_unit_test(a_damaged_trace_is_no_result),
	};

	return RUN(tests);
}
