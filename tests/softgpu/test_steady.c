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
	uint32_t n, turns, wgs;
	bool repeats; /* more than an eighth of the windows of a SIMD that has waves */
};

/* clang-format off */
static const struct loop loops[] = {
	{ "chains",
	  { { "v_fma_f32", 2 }, { "v_fma_f32", 2 }, { "v_fma_f32", 2 }, { "s_add_u32", 1 } },
	  .n = 4, .turns = 100, .wgs = 6, .repeats = true },
	{ "several quad-cycles, and s_nop",
	  { { "v_fma_f64", 2 }, { "s_nop", 1, .simm = 3 }, { "v_rcp_f32", 1, .vdst = 1, .src = { V(2) } } },
	  .n = 3, .turns = 80, .wgs = 6, .repeats = true },
	{ "instructions without a unit, so that waves wait for the fetch port",
	  { { "s_nop", 1 }, { "s_nop", 1 }, { "s_nop", 1 }, { "s_nop", 1 }, { "s_nop", 1 },
	    { "s_nop", 1 }, { "s_nop", 1 }, { "v_mov_b32", 1 } },
	  .n = 8, .turns = 60, .wgs = 6, .repeats = true },
	{ "late results of transcendentals, and scalars of vector instructions",
	  { { "v_rcp_f32", 1, .vdst = 1, .src = { V(2) } },
	    { "v_mul_f32", 1, .vdst = 3, .src = { V(1), V(1) } },
	    { "v_cmp_gt_i32", 1, .sdst = VCC, .src = { V(3), V(4) } },
	    { "s_and_b64", 1, .src = { VCC, VCC } } },
	  .n = 4, .turns = 80, .wgs = 6, .repeats = true },
	{ "matrices that are read",
	  { { "v_mfma_f32_32x32x8f16", 2, .vdst = 0, .src = { V(40), V(44), V(0) } },
	    { "v_mfma_f32_32x32x8f16", 2, .vdst = 16, .src = { V(40), V(44), V(16) } },
	    { "v_add_f32", 1, .vdst = 48, .src = { V(0), V(1) } } },
	  .n = 3, .turns = 40, .wgs = 6, .repeats = true },
	{ "a matrix that is read later",
	  { { "v_mfma_f32_32x32x8f16", 2, .vdst = 0, .src = { V(40), V(44), V(16) } },
	    { "v_mov_b32", 1, .vdst = 60 }, { "s_add_u32", 1 }, { "v_mov_b32", 1, .vdst = 61 },
	    { "s_add_u32", 1 }, { "s_add_u32", 1 },
	    { "v_add_f32", 1, .vdst = 48, .src = { V(0), V(1) } } },
	  .n = 7, .turns = 40, .wgs = 6, .repeats = true },
	{ "a load, far from the next one",
	  { { "v_fma_f32", 2 },
	    { "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 1024, .per_wave = 256,
	      .per_turn = 4096, .per_lane = 4 },
	    { "s_waitcnt", 1, .simm = VM0 }, { "s_sleep", 1, .simm = 4 }, { "v_fma_f32", 2 } },
	  .n = 5, .turns = 8, .wgs = 8 },
	{ "LDS and a barrier",
	  { { "v_fma_f32", 2 }, { "ds_read_b32", 2, .per_lane = 4 },
	    { "s_waitcnt", 1, .simm = LGKM0 }, { "s_barrier", 1 }, { "v_fma_f32", 2 } },
	  .n = 5, .turns = 16, .wgs = 8 },
};
/* clang-format on */

/* More waves than there is room for. */
static const struct loop crowd = {
	"waves that take turns",
	{ { "v_fma_f32", 2 }, { "v_mul_f32", 1 }, { "s_add_u32", 1 }, { "v_add_f32", 1 } },
	.n = 4,
	.turns = 25,
	.wgs = 120,
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
static void compare(const struct sg_hw *hw, const struct loop *l, uint32_t waves_per_simd)
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

		synth_prepare(&run, &k, l->wgs, 4 * waves_per_simd);
		run.d.vgprs = 128;
		run.d.lds_bytes = 1024;
		run.d.cold = !n;
		assert_true(sg_model_run(model, &run.d, &r));
		run.d.every_window = true;
		assert_true(sg_model_run(whole, &run.d, &all));
		assert_same(l, &r, &all);
		assert_int_equal(sg_model_state(model), sg_model_state(whole));
		assert_int_equal(sg_model_n_repeated(whole), 0);
		if (l->repeats)
			assert_true(2 * sg_model_n_repeated(model) >
				    r.cycles / hw->request * l->wgs);
		sg_model_result_free(&r);
		sg_model_result_free(&all);
	}
	sg_model_destroy(model);
	sg_model_destroy(whole);
}

static void repeated_windows_have_the_values_of_simulated_ones(void **state)
{
	for (size_t n = 0; n < sizeof(loops) / sizeof(loops[0]); n++)
		for (uint32_t waves = 1; waves <= 3; waves++)
			compare(&sg_hw_mi210, &loops[n], waves);
	compare(&sg_hw_mi210, &crowd, 3);
}

static void so_they_do_on_other_chips(void **state)
{
	compare(&sg_hw_mi100, &loops[3], 2);
	compare(&sg_hw_mi300x, &loops[0], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_windows_have_the_values_of_simulated_ones),
		cmocka_unit_test(so_they_do_on_other_chips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
