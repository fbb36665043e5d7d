/*
 * GPUs of several dies: the vector copy that AMD recorded on an MI300X and an MI300A, and what the dies share.
 */
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "programs/fidelity/recorded_dies.h"
#include "softgpu/counting/selection.h"
#include "tests/softgpu/synth.h"

/* Every workgroup reads the same 4 KiB. */
static const struct synth_inst same_insts[] = {
	{ "global_load_dwordx2", 2, .base = SYNTH_VRAM, .per_wave = 512, .per_lane = 8 },
	{ "s_waitcnt", 1, .simm = 0x0f70 },
	{ "s_endpgm", 1 },
};

static struct synth_kernel kernel_of(const struct synth_inst *insts, uint32_t n,
				     struct sg_memory_kind host)
{
	return (struct synth_kernel){ .insts = insts,
				      .n_insts = n,
				      .loop_from = 1,
				      .code = SYNTH_CODE,
				      .host_from = SYNTH_HOST,
				      .host_kind = host };
}
#define KERNEL(insts, ...)                                                                         \
	kernel_of(insts, sizeof(insts) / sizeof(insts[0]), (struct sg_memory_kind){ __VA_ARGS__ })

static double value(const struct sg_hw *hw, const struct sg_model_result *r, const char *name)
{
	uint64_t values[1024], sum = 0;
	struct sg_selection s;
	char error[200];

	if (sg_selection_make(&s, hw, &name, 1, error, sizeof(error)))
		fail_msg("%s", error);
	assert_true(sg_selected_n_values(&s.items[0], hw) <= 1024);
	sg_selected_values(&s.items[0], r, values);
	for (uint32_t k = 0; k < sg_selected_n_values(&s.items[0], hw); k++)
		sum += values[k];
	sg_selection_free(&s);
	return (double)sum;
}

static void run(struct sg_model *m, const struct synth_kernel *k, uint64_t n_wgs, bool cold,
		struct sg_model_result *r)
{
	struct synth_run run;

	synth_prepare(&run, k, n_wgs, 4);
	run.d.cold = cold;
	assert_true(sg_model_run(m, &run.d, r));
	assert_int_equal(run.n_released, n_wgs);
}

static void compare(const char *name, int dispatch, double got, double want, double within)
{
	if (want != FID_NOT_RECORDED && fabs(got - want) > within * want)
		fail_msg("%s of dispatch %d is %.0f, recorded %.0f, more than %.0f %% apart", name,
			 dispatch, got, want, 100 * within);
}

static void check(const struct sg_hw *hw, const struct synth_kernel *k, bool is_mi300a)
{
	struct sg_model *m = sg_model_create(hw);

	assert_non_null(m);
	for (int dispatch = 0; dispatch < 3; dispatch++) {
		struct sg_model_result r;

		run(m, k, 4096, dispatch == 0, &r);
		for (size_t n = 0; n < sizeof(fid_recorded_dies) / sizeof(fid_recorded_dies[0]);
		     n++) {
			const struct fid_recorded_die *row = &fid_recorded_dies[n];

			compare(row->name, dispatch, value(hw, &r, row->name),
				is_mi300a ? row->mi300a[dispatch] : row->mi300x[dispatch],
				row->within);
		}
		/* equalities of the recordings: four engines and 16 channels in each die */
		assert_true(value(hw, &r, "SQ_CYCLES") == 4 * value(hw, &r, "GRBM_COUNT"));
		assert_true(value(hw, &r, "TCC_CYCLE") == 16 * value(hw, &r, "GRBM_COUNT"));
		sg_model_result_free(&r);
	}
	sg_model_destroy(m);
}

static void vcopy_counts_as_recorded_on_mi300x(void **state)
{
	struct synth_kernel k = synth_vcopy_mi300(false);

	check(&sg_hw_mi300x, &k, false);
}

/* Kernel arguments are in the host's memory, which is its own. */
static void vcopy_counts_as_recorded_on_mi300a(void **state)
{
	struct synth_kernel k = synth_vcopy_mi300(true);

	check(&sg_hw_mi300a, &k, true);
}

static void workgroups_are_dealt_to_the_dies_in_turn(void **state)
{
	struct synth_kernel k = KERNEL(same_insts, SG_MTYPE_UC, SG_ROUTE_IO, 1);
	struct sg_model *m = sg_model_create(&sg_hw_mi300x);
	struct sg_model_result r;

	run(m, &k, 19, true, &r); /* three for the first three dies, two for the others */
	for (uint32_t xcc = 0; xcc < 8; xcc++) {
		uint64_t n = 0;

		for (uint32_t se = 0; se < 4; se++)
			n += r.values[SG_BLOCK_SPI]
				     [(xcc * 4 + se) * SG_N_SPI + SG_C_SPI_CSN_NUM_THREADGROUPS];
		assert_int_equal(n, xcc < 3 ? 3 : 2);
	}
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

/* What one die has in its L2 does not help the others; what is in the Infinity Cache does. */
static void each_die_has_an_l2_and_all_share_the_infinity_cache(void **state)
{
	struct synth_kernel k = KERNEL(same_insts, SG_MTYPE_UC, SG_ROUTE_IO, 1);
	struct sg_model *m = sg_model_create(&sg_hw_mi300x);
	struct sg_model_result first, second;

	run(m, &k, 64, true, &first);
	run(m, &k, 64, false, &second);
	/* 2 KiB of 128-byte lines in each of 8 dies, and again: L2 keeps nothing for the next kernel; and two lines
	 * of code in each */
	assert_int_equal(SG_SUM(&first, TCC, TCC_BUBBLE), (16 + 2) * 8);
	assert_int_equal(SG_SUM(&second, TCC, TCC_BUBBLE), 16 * 8);
	assert_true(SG_SUM(&second, TCC, TCC_EA_RDREQ_LEVEL) <
		    SG_SUM(&first, TCC, TCC_EA_RDREQ_LEVEL));
	sg_model_result_free(&first);
	sg_model_result_free(&second);
	sg_model_destroy(m);
}

/* A dispatch can be repeated from a saved state: the Infinity Cache is a part of it. */
static void a_saved_state_has_the_infinity_cache(void **state)
{
	struct synth_kernel k = KERNEL(same_insts, SG_MTYPE_UC, SG_ROUTE_IO, 1);
	struct sg_model *m = sg_model_create(&sg_hw_mi300x);
	struct sg_model_result first, again;
	uint64_t before;

	assert_true(sg_model_save(m));
	before = sg_model_state(m);
	run(m, &k, 64, true, &first);
	assert_true(sg_model_state(m) != before);
	sg_model_restore(m);
	assert_true(sg_model_state(m) == before);
	run(m, &k, 64, true, &again);
	assert_int_equal(SG_SUM(&first, TCC, TCC_EA_RDREQ_LEVEL),
			 SG_SUM(&again, TCC, TCC_EA_RDREQ_LEVEL));
	assert_int_equal(first.duration_ns, again.duration_ns);
	sg_model_result_free(&first);
	sg_model_result_free(&again);
	sg_model_destroy(m);
}

/* A partition of one die has its share of the CUs, and 16 channels. */
static void a_partition_is_the_same_chip_with_fewer_dies(void **state)
{
	struct synth_kernel k = synth_vcopy_mi300(true);
	struct sg_hw one = sg_hw_mi300x;
	struct sg_model *m, *whole = sg_model_create(&sg_hw_mi300x);
	struct sg_model_result r, of_all;

	one.n_xcc = 1;
	m = sg_model_create(&one);
	run(m, &k, 4096, true, &r);
	run(whole, &k, 4096, true, &of_all);
	assert_int_equal(r.n_instances[SG_BLOCK_TCC], 16);
	assert_int_equal(r.n_instances[SG_BLOCK_SQ], 4);
	assert_int_equal(r.n_instances[SG_BLOCK_GRBM], 1);
	assert_int_equal(SG_SUM(&r, SQ, SQ_INSTS), SG_SUM(&of_all, SQ, SQ_INSTS));
	assert_true(2 * r.duration_ns > 3 * of_all.duration_ns);
	/* its L2 is all there is: nobody else reads from memory what it wrote */
	assert_int_equal(SG_SUM(&r, TCC, TCC_ALL_TC_OP_WB_WRITEBACK), 0);
	assert_int_equal(SG_SUM(&of_all, TCC, TCC_ALL_TC_OP_WB_WRITEBACK), 4096 * 16);
	sg_model_result_free(&r);
	sg_model_result_free(&of_all);
	sg_model_destroy(m);
	sg_model_destroy(whole);
}

/* Recordings of one target may contradict the model, and those of others confirm it. */
static void a_counter_is_refused_where_it_is_not_supported(void **state)
{
	const char *name = "TCC_NORMAL_EVICT";
	struct sg_selection s;
	char error[200] = "";

	assert_int_equal(sg_selection_make(&s, &sg_hw_mi300x, &name, 1, error, sizeof(error)),
			 EINVAL);
	assert_non_null(strstr(error, "not supported by the software GPU: what L2 keeps"));
	assert_int_equal(sg_selection_make(&s, &sg_hw_mi210, &name, 1, error, sizeof(error)), 0);
	sg_selection_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi300x),
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi300a),
		cmocka_unit_test(workgroups_are_dealt_to_the_dies_in_turn),
		cmocka_unit_test(each_die_has_an_l2_and_all_share_the_infinity_cache),
		cmocka_unit_test(a_saved_state_has_the_infinity_cache),
		cmocka_unit_test(a_partition_is_the_same_chip_with_fewer_dies),
		cmocka_unit_test(a_counter_is_refused_where_it_is_not_supported),
	};

	return RUN(tests);
}
