/*
 * Windows that repeat are not simulated (softgpu/timing/steady.c). Loops with all that may or must not repeat in them: every
 * counter of every instance is the same as when each window is simulated.
 */
#include "tests/unit/unit.h"

#include "tests/softgpu/synth.h"

#define V(n) (SG_OPND_VGPR0 + (n))
#define VCC SG_OPND_VCC_LO
#define LGKM0 0xc07f
#define VM0 0x0f70

struct loop {
	const char *what;
	struct synth_inst body[8];
	uint32_t n, turns, wgs, waves;
	bool repeats; /* at least half of the windows in which a SIMD has waves */
};

static const struct loop loops[] = {
	{ "one chain for each SIMD",
	  { { "v_fma_f32", 2 }, { "v_fma_f32", 2 }, { "v_fma_f32", 2 }, { "s_add_u32", 1 } },
	  4,
	  150,
	  104,
	  4,
	  true },
	{ "some waves for each SIMD, more than there is room for",
	  { { "v_fma_f32", 2 }, { "v_mul_f32", 1 }, { "s_add_u32", 1 }, { "v_add_f32", 1 } },
	  4,
	  120,
	  600,
	  4,
	  true },
	{ "an instruction of several quad-cycles, and s_nop",
	  { { "v_fma_f64", 2 },
	    { "s_nop", 1, .simm = 3 },
	    { "v_rcp_f32", 1, .vdst = 1, .src = { V(2) } } },
	  3,
	  100,
	  208,
	  4,
	  true },
	{ "late results: of transcendentals, and scalars of vector instructions",
	  { { "v_rcp_f32", 1, .vdst = 1, .src = { V(2) } },
	    { "v_mul_f32", 1, .vdst = 3, .src = { V(1), V(1) } },
	    { "v_cmp_gt_i32", 1, .sdst = VCC, .src = { V(3), V(4) } },
	    { "s_and_b64", 1, .src = { VCC, VCC } } },
	  4,
	  100,
	  208,
	  4,
	  true },
	{ "matrices whose results are read",
	  { { "v_mfma_f32_32x32x8f16", 2, .vdst = 0, .src = { V(40), V(44), V(0) } },
	    { "v_mfma_f32_32x32x8f16", 2, .vdst = 16, .src = { V(40), V(44), V(16) } },
	    { "v_add_f32", 1, .vdst = 48, .src = { V(0), V(1) } } },
	  3,
	  100,
	  208,
	  4,
	  true },
	{ "a matrix that is read later",
	  { { "v_mfma_f32_32x32x8f16", 2, .vdst = 0, .src = { V(40), V(44), V(16) } },
	    { "v_mov_b32", 1, .vdst = 60 },
	    { "s_add_u32", 1 },
	    { "v_mov_b32", 1, .vdst = 61 },
	    { "s_add_u32", 1 },
	    { "s_add_u32", 1 },
	    { "v_add_f32", 1, .vdst = 48, .src = { V(0), V(1) } } },
	  7,
	  60,
	  208,
	  4,
	  true },
	{ "a load, far from the next one",
	  { { "v_fma_f32", 2 },
	    { "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 1024, .per_wave = 256,
	      .per_turn = 4096, .per_lane = 4 },
	    { "s_waitcnt", 1, .simm = VM0 },
	    { "s_sleep", 1, .simm = 4 },
	    { "v_fma_f32", 2 } },
	  5,
	  30,
	  208,
	  4,
	  false },
	{ "LDS and a barrier",
	  { { "v_fma_f32", 2 },
	    { "ds_read_b32", 2, .per_lane = 4 },
	    { "s_waitcnt", 1, .simm = LGKM0 },
	    { "s_barrier", 1 },
	    { "v_fma_f32", 2 } },
	  5,
	  60,
	  208,
	  4,
	  false },
};

static void lay_out(const struct loop *l, struct synth_inst insts[16], struct synth_kernel *k)
{
	uint32_t at = 0;

	insts[at++] = (struct synth_inst){ "s_nop", 1 };
	for (uint32_t n = 0; n < l->n; n++)
		insts[at++] = l->body[n];
	*k = (struct synth_kernel){
		.insts = insts, .loop_from = 1, .loop_to = at, .turns = l->turns, .code = SYNTH_CODE
	};
	insts[at++] = (struct synth_inst){ "s_cbranch_scc1", 1 };
	insts[at++] = (struct synth_inst){ "global_store_dword", 2,
					   .base = SYNTH_VRAM,   .per_wg = 1024,
					   .per_wave = 256,      .per_lane = 4 };
	insts[at++] = (struct synth_inst){ "s_endpgm", 1 };
	k->n_insts = at;
}

static void assert_same(const struct loop *l, const struct sg_model_result *a,
			const struct sg_model_result *b)
{
	for (unsigned block = 0; block < SG_N_BLOCKS; block++)
		for (uint32_t k = 0; k < a->n_instances[block] * sg_blocks[block].n; k++)
			if (a->values[block][k] != b->values[block][k])
				fail_msg("%s: counter %u of block %s, instance %u: %lu, not %lu",
					 l->what, k % sg_blocks[block].n, sg_blocks[block].name,
					 k / sg_blocks[block].n, (unsigned long)a->values[block][k],
					 (unsigned long)b->values[block][k]);
	assert_memory_equal(a->accumulated, b->accumulated,
			    a->n_instances[SG_BLOCK_SQ] * SG_N_SQ * sizeof(uint64_t));
	assert_int_equal(a->cycles, b->cycles);
	assert_int_equal(a->duration_ns, b->duration_ns);
}

/* Two dispatches: the second one finds its code in the instruction caches. */
static void compare(const struct sg_hw *hw, const struct loop *l)
{
	struct sg_model *model = sg_model_create(hw), *whole = sg_model_create(hw);
	struct synth_inst insts[16];
	struct synth_kernel k;

	assert_non_null(model);
	assert_non_null(whole);
	lay_out(l, insts, &k);
	for (unsigned n = 0; n < 2; n++) {
		struct sg_model_result r, all;
		struct synth_run run;

		synth_prepare(&run, &k, l->wgs, l->waves);
		run.d.vgprs = 128;
		run.d.lds_bytes = 1024;
		run.d.cold = !n;
		assert_true(sg_model_run(model, &run.d, &r));
		run.d.every_window = true;
		assert_true(sg_model_run(whole, &run.d, &all));
		assert_same(l, &r, &all);
		assert_int_equal(sg_model_state(model), sg_model_state(whole));
		assert_int_equal(sg_model_n_repeated(whole), 0);
		/* each SIMD has waves most of the time */
		if (l->repeats)
			assert_true(sg_model_n_repeated(model) >
				    r.cycles / hw->request * 4 * sg_hw_instances(hw, SG_BLOCK_TCP) /
					    4);
		sg_model_result_free(&r);
		sg_model_result_free(&all);
	}
	sg_model_destroy(model);
	sg_model_destroy(whole);
}

static void repeated_windows_have_the_values_of_simulated_ones(void **state)
{
	static const struct sg_hw *const chips[] = { &sg_hw_mi210, &sg_hw_mi100 };

	for (size_t c = 0; c < sizeof(chips) / sizeof(chips[0]); c++)
		for (size_t n = 0; n < sizeof(loops) / sizeof(loops[0]); n++)
			compare(chips[c], &loops[n]);
}

static void dies_repeat_windows_too(void **state)
{
	struct loop few = loops[0];

	few.wgs = 304;
	few.turns = 60;
	few.repeats = false; /* a part of the windows is the way to the loop */
	compare(&sg_hw_mi300x, &few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_windows_have_the_values_of_simulated_ones),
		cmocka_unit_test(dies_repeat_windows_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
