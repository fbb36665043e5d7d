/*
 * What a scope means to the caches: which loads look into a CU's L1, and which cache maintenance empties it. One
 * wave reads a line, does something, and reads it again.
 */
#include "tests/unit/unit.h"

#include "tests/softgpu/synth.h"

#define LINES_OF_WAVE 4 /* 64 lanes of 8 bytes in lines of 128 bytes */

/* Requests of L1 to L2 for data, of one workgroup with one wave. */
static uint64_t requests(const struct sg_hw *hw, struct synth_inst between, struct synth_inst load)
{
	const struct synth_inst insts[] = {
		{ "global_load_dwordx2", 2, .base = SYNTH_VRAM, .per_lane = 8 },
		{ "s_waitcnt", 1, .simm = 0x0f70 },
		between,
		{ "s_waitcnt", 1, .simm = 0x0f70 },
		load,
		{ "s_waitcnt", 1, .simm = 0x0f70 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = sizeof(insts) / sizeof(insts[0]),
				  .loop_from = 1,
				  .code = SYNTH_CODE };
	struct sg_model *m = sg_model_create(hw);
	struct sg_model_result r;
	struct synth_run run;
	uint64_t n;

	assert_non_null(m);
	synth_prepare(&run, &k, 1, 1);
	run.d.cold = true;
	assert_true(sg_model_run(m, &run.d, &r));
	n = SG_SUM(&r, TCP, TCP_TCC_READ_REQ);
	sg_model_result_free(&r);
	sg_model_destroy(m);
	return n;
}

static struct synth_inst load(bool glc, bool sc1)
{
	return (struct synth_inst){
		"global_load_dwordx2", 2, .glc = glc, .sc1 = sc1, .base = SYNTH_VRAM, .per_lane = 8
	};
}

static struct synth_inst maintenance(const char *mnemonic, bool glc, bool sc1)
{
	return (struct synth_inst){ mnemonic, 2, .glc = glc, .sc1 = sc1 };
}

static const struct synth_inst nothing = { "s_nop", 1 };

static void glc_loads_of_gfx90a_do_not_look_into_l1(void **state)
{
	uint64_t once = requests(&sg_hw_mi210, nothing, nothing);

	assert_true(once > 0);
	assert_int_equal(requests(&sg_hw_mi210, nothing, load(false, false)), once);
	assert_true(requests(&sg_hw_mi210, nothing, load(true, false)) >= 2 * once);
	/* there, scc is about memory that others cache */
	assert_int_equal(requests(&sg_hw_mi210, nothing, load(false, true)), once);
}

static void a_workgroup_shares_l1_and_the_device_does_not(void **state)
{
	static const struct sg_hw *const models[] = { &sg_hw_mi300x, &sg_hw_mi300a, &sg_hw_mi350x };

	for (size_t n = 0; n < sizeof(models) / sizeof(models[0]); n++) {
		uint64_t once = requests(models[n], nothing, nothing);

		assert_int_equal(once, LINES_OF_WAVE);
		assert_int_equal(requests(models[n], nothing, load(false, false)), once);
		assert_int_equal(requests(models[n], nothing, load(true, false)), once);
		assert_true(requests(models[n], nothing, load(false, true)) >= 2 * once);
		assert_true(requests(models[n], nothing, load(true, true)) >= 2 * once);
	}
}

static void buffer_inv_empties_l1_for_the_device_and_the_system(void **state)
{
	const struct sg_hw *hw = &sg_hw_mi300x;
	struct synth_inst again = load(false, false);
	uint64_t once = requests(hw, nothing, nothing);

	assert_int_equal(requests(hw, maintenance("buffer_inv", false, false), again), once);
	assert_int_equal(requests(hw, maintenance("buffer_inv", true, false), again), once);
	assert_int_equal(requests(hw, maintenance("buffer_inv", false, true), again), 2 * once);
	assert_int_equal(requests(hw, maintenance("buffer_inv", true, true), again), 2 * once);
}

static void write_back_of_l2_leaves_l1_alone(void **state)
{
	struct synth_inst again = load(false, false), wb = maintenance("buffer_wbl2", true, true);
	struct synth_inst inv = maintenance("buffer_wbinvl1", false, false);

	assert_int_equal(requests(&sg_hw_mi300x, wb, again),
			 requests(&sg_hw_mi300x, nothing, nothing));
	assert_int_equal(requests(&sg_hw_mi210, wb, again),
			 requests(&sg_hw_mi210, nothing, nothing));
	assert_int_equal(requests(&sg_hw_mi210, inv, again),
			 2 * requests(&sg_hw_mi210, nothing, nothing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(glc_loads_of_gfx90a_do_not_look_into_l1),
		cmocka_unit_test(a_workgroup_shares_l1_and_the_device_does_not),
		cmocka_unit_test(buffer_inv_empties_l1_for_the_device_and_the_system),
		cmocka_unit_test(write_back_of_l2_leaves_l1_alone),
	};

	return RUN(tests);
}
