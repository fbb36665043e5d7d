/*
 * Every counter that was recorded of AMD's vector copy, on each of five GPUs, against the model: test_recorded DIR
 *
 * DIR has the unpacked recordings (recorded.py). Exact counters are equal; modelled ones are judged as `wavescope
 * fidelity` does (programs/fidelity/judge.h), and none may be outside. There is no executor here, so that GPUs are
 * compared which the runtimes of this machine do not know.
 */
#include "tests/unit/unit.h"

#include "programs/fidelity/judge.h"
#include "softgpu/counters/catalogue.h"
#include "tests/softgpu/synth.h"

#include <stdio.h>
#include <string.h>

static const char *folder; /* of the recordings */

struct compared_gpu {
	unsigned chip; /* in fid_chips */
	const struct sg_hw *hw;
	struct synth_kernel kernel;
	unsigned least; /* rows that have to be compared */
};

static const char *class_of(const struct sg_counter_info *counter, const struct sg_hw *hw)
{
	return !sg_counter_is_supported(counter, hw->target) ? "unsupported"
	       : counter->fidelity == SG_EXACT               ? "exact"
							     : "modelled";
}

/* In the form of fidelity-kernels. */
static void add_dispatch(struct ws_buf *out, const struct sg_hw *hw, unsigned dispatch,
			 const struct sg_model_result *r)
{
	if (hw->n_xcc == 1) /* the other recordings have no times */
		ws_buf_printf(out, "vcopy\t%u\tduration_ns\tmodelled\t-\t%llu\n", dispatch,
			      (unsigned long long)r->duration_ns);
	for (size_t k = 0; k < sg_n_counters; k++) {
		const struct sg_counter_info *c = &sg_counters[k];

		if (!(c->targets & hw->target))
			continue;
		ws_buf_printf(out, "vcopy\t%u\t%s\t%s\t-\t", dispatch, c->name, class_of(c, hw));
		if (!sg_counter_is_supported(c, hw->target))
			ws_buf_printf(out, "%s\n", sg_counter_text(c, hw->target));
		else
			ws_buf_printf(out, "%llu\n",
				      (unsigned long long)sg_model_sum(r, c->block, c->place));
		if (c->fidelity == SG_LEVEL_COUNTER)
			ws_buf_printf(out, "vcopy\t%u\t%s_ACCUM\tmodelled\t-\t%llu\n", dispatch,
				      c->name,
				      (unsigned long long)sg_model_accumulated(r, c->place));
	}
}

static void run_vcopy(const struct compared_gpu *gpu, struct ws_buf *out)
{
	struct sg_model *m = sg_model_create(gpu->hw);

	assert_non_null(m);
	for (unsigned dispatch = 0; dispatch < FID_DISPATCHES; dispatch++) {
		struct sg_model_result r;
		struct synth_run run;

		synth_prepare(&run, &gpu->kernel, 4096, 4);
		run.d.cold = dispatch == 0;
		run.d.system_release = dispatch == 0 && gpu->hw->n_xcc == 1;
		assert_true(sg_model_run(m, &run.d, &r));
		add_dispatch(out, gpu->hw, dispatch, &r);
		sg_model_result_free(&r);
	}
	sg_model_destroy(m);
}

static void check(const struct compared_gpu *gpu)
{
	const struct fid_chip *chip = &fid_chips[gpu->chip];
	unsigned n = 0, n_wrong = 0;
	struct fid_recording rec;
	struct fid_rows rows;
	struct ws_buf out;
	struct ws_err err;

	ws_buf_init(&out, 16u << 20);
	ws_vec_init(&rows, 1u << 20);
	run_vcopy(gpu, &out);
	if (fid_recording_read(&rec, folder, chip->recording, &err))
		fail_msg("%s", err.text);
	assert_int_equal(fid_compare(gpu->chip, &rec, ws_buf_view(&out), &rows, &err), WS_OK);
	ws_vec_each(row, &rows) {
		bool is_wrong;

		if (!row->has_expected || row->reason.n)
			continue;
		n++;
		is_wrong = row->exact ? fid_error(row) != 0 : fid_judge(&rows, row) == FID_OUTSIDE;
		if (is_wrong)
			print_error("%s: %.*s of dispatch %u is %.0f, recorded %.0f (%+.0f %%)\n",
				    chip->gpu, WS_STR_ARGS(row->counter), row->dispatch, row->value,
				    row->expected, 100 * fid_error(row));
		n_wrong += is_wrong;
	}
	fid_recording_fini(&rec);
	ws_vec_fini(&rows);
	ws_buf_fini(&out);
	assert_true(n >= gpu->least);
	assert_int_equal(n_wrong, 0);
}

static void an_mi200_counts_as_recorded(void **state)
{
	check(&(struct compared_gpu){ 0, &sg_hw_mi210, synth_vcopy(), 700 });
}

static void an_mi100_counts_as_recorded(void **state)
{
	check(&(struct compared_gpu){ 1, &sg_hw_mi100, synth_vcopy(), 640 });
}

static void an_mi300x_counts_as_recorded(void **state)
{
	check(&(struct compared_gpu){ 2, &sg_hw_mi300x, synth_vcopy_mi300(false), 680 });
}

static void an_mi300a_counts_as_recorded(void **state)
{
	check(&(struct compared_gpu){ 3, &sg_hw_mi300a, synth_vcopy_mi300(true), 680 });
}

/* The part that was recorded; its runtime has kernel arguments in the GPU's memory. */
static void an_early_mi350_counts_as_recorded(void **state)
{
	struct sg_hw early = sg_hw_mi350x;

	early.n_xcc = 4;
	early.sclk_mhz = early.cold_sclk_mhz = early.busy_mhz = 440;
	check(&(struct compared_gpu){ 5, &early, synth_vcopy_mi300(true), 700 });
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_mi200_counts_as_recorded),
		cmocka_unit_test(an_mi100_counts_as_recorded),
		cmocka_unit_test(an_mi300x_counts_as_recorded),
		cmocka_unit_test(an_mi300a_counts_as_recorded),
		cmocka_unit_test(an_early_mi350_counts_as_recorded),
	};

	assert_int_equal(argc, 2);
	folder = argv[1];
	return RUN(tests);
}
