/*
 * Engines that do the same are simulated together (softgpu/timing/lockstep.c): compares with engines that are
 * simulated apart. What follows from instructions is the same; time, and what follows from it, nearly.
 */
#include "tests/unit/unit.h"

#include "tests/softgpu/synth.h"

#define LGKM0 0xc07f
#define VM0 0x0f70

/* A tile of a matrix: two loads, by way of LDS, with barriers; a scalar load of each workgroup's own line. */
static const struct synth_inst tile_insts[] = {
	{ "s_load_dwordx4", 2, .base = SYNTH_VRAM + (900ull << 20), .per_wg = 64 },
	{ "s_waitcnt", 1, .simm = LGKM0 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 4096, .per_wave = 256,
	  .per_turn = 1 << 16, .per_lane = 4 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (64 << 20), .per_wave = 4096,
	  .per_turn = 1 << 16, .per_lane = 64 },
	{ "s_waitcnt", 1, .simm = VM0 },
	{ "ds_write_b32", 2, .per_wave = 256, .per_lane = 4 },
	{ "s_waitcnt", 1, .simm = LGKM0 },
	{ "s_barrier", 1 },
	{ "ds_read_b64", 2, .per_lane = 8 },
	{ "ds_read_b32", 2, .per_lane = 128 }, /* all lanes in one bank */
	{ "s_waitcnt", 1, .simm = LGKM0 },
	{ "v_fma_f32", 2 },
	{ "v_fma_f32", 2 },
	{ "s_barrier", 1 },
	{ "s_cbranch_scc1", 1 },
	{ "global_store_dword", 2, .base = SYNTH_VRAM + (128 << 20), .per_wg = 1024,
	  .per_wave = 256, .per_lane = 4 },
	{ "s_endpgm", 1 },
};

/* Atomics, which memory executes one after the other, and stores of parts of lines. */
static const struct synth_inst scatter_insts[] = {
	{ "s_nop", 1 },
	{ "global_atomic_add", 2, .base = SYNTH_VRAM, .per_turn = 64, .per_lane = 4 },
	{ "global_load_ubyte", 2, .base = SYNTH_VRAM + (32 << 20), .per_wg = 8192, .per_wave = 1024,
	  .per_turn = 4096, .per_lane = 36 },
	{ "v_rcp_f32", 1 },
	{ "s_waitcnt", 1, .simm = VM0 },
	{ "global_store_byte", 2, .base = SYNTH_VRAM + (64 << 20), .per_wg = 8192, .per_wave = 1024,
	  .per_turn = 4096, .per_lane = 20 },
	{ "s_cbranch_scc1", 1 },
	{ "s_endpgm", 1 },
};

#define N_INSTS(insts) (sizeof(insts) / sizeof((insts)[0]))

static const struct synth_kernel tile = { .insts = tile_insts,
					  .n_insts = N_INSTS(tile_insts),
					  .loop_from = 2,
					  .loop_to = 14,
					  .turns = 6,
					  .code = SYNTH_CODE };
static const struct synth_kernel scatter = { .insts = scatter_insts,
					     .n_insts = N_INSTS(scatter_insts),
					     .loop_from = 1,
					     .loop_to = 6,
					     .turns = 2,
					     .code = SYNTH_CODE };

/* Lanes that have work, so that workgroups take different paths. */
static uint32_t last_is_short(uint64_t wg)
{
	return wg == 599 ? 17 : 64;
}

/* A grid of 26 columns: the last one is narrower. */
static uint32_t edge(uint64_t wg)
{
	return wg % 26 == 25 ? 31 : 64;
}

/* The same of 27 columns, so that each die has some of the last one. */
static uint32_t edge_on_all_dies(uint64_t wg)
{
	return wg % 27 == 26 ? 31 : 64;
}

/* The narrow column of 32 is one die's alone. */
static uint32_t edge_on_one_die(uint64_t wg)
{
	return wg % 32 == 31 ? 31 : 64;
}

/* One of another path, on the fourth die of eight; and on the first. */
static uint32_t one_is_short_on_die_3(uint64_t wg)
{
	return wg == 811 ? 17 : 64;
}

static uint32_t first_is_short(uint64_t wg)
{
	return wg ? 64 : 17;
}

/* Two of a path that no other one takes, then many, each with its own. */
static uint32_t chaos_behind_400(uint64_t wg)
{
	return wg < 400 ? wg / 2 == 100 ? 5 : 64 : 1 + wg * 7 % 61;
}

static uint32_t chaos_behind_1000(uint64_t wg)
{
	return wg < 1000 ? 64 : 1 + wg * 7 % 61;
}

static uint32_t chaos_behind_300(uint64_t wg)
{
	return wg < 300 ? 64 : 1 + wg * 7 % 61;
}

static uint32_t chaos(uint64_t wg)
{
	return 1 + wg * 7 % 61;
}

struct comparison {
	const struct sg_hw *hw;
	struct synth_kernel kernel;
	uint64_t n_wgs;
	uint32_t (*lanes)(uint64_t wg);
	/* shader engines that are simulated for themselves at the end; 0: one for all */
	uint32_t n_leaders;
};

static void run_one(struct sg_model *m, const struct comparison *c, bool cold, bool apart,
		    struct sg_model_result *r)
{
	struct synth_run run;

	synth_prepare(&run, &c->kernel, c->n_wgs, 4);
	run.d.vgprs = 64;
	run.d.lds_bytes = 4096;
	run.d.cold = cold;
	run.d.apart = apart;
	run.lanes = c->lanes;
	assert_true(sg_model_run(m, &run.d, r));
	assert_int_equal(run.n_released, c->n_wgs);
}

static bool is_near(double a, double b, double percent)
{
	return a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100);
}

static void assert_exact_ones_equal(const struct sg_hw *hw, const struct sg_model_result *a,
				    const struct sg_model_result *b)
{
	uint32_t n = 0;
	const struct sg_counter_info *c = synth_first_different(hw, a, b, &n);

	if (c)
		fail_msg("%s, %s: %lu, apart %lu", hw->name, c->name,
			 (unsigned long)sg_model_sum(a, c->block, c->place),
			 (unsigned long)sg_model_sum(b, c->block, c->place));
	assert_true(n > 20);
}

static void compare(const struct comparison *c)
{
	static const struct {
		enum sg_block block;
		uint16_t place;
		double percent;
	} near[] = {
		{ SG_BLOCK_SQ, SG_C_SQ_WAVE_CYCLES, 8 },
		{ SG_BLOCK_SQ, SG_C_SQ_WAIT_ANY, 12 },
		{ SG_BLOCK_SQ, SG_C_SQ_BUSY_CYCLES, 8 },
		{ SG_BLOCK_SQ, SG_C_SQ_BUSY_CU_CYCLES, 8 },
		{ SG_BLOCK_TCC, SG_C_TCC_REQ, 6 },
		{ SG_BLOCK_TCC, SG_C_TCC_MISS, 1 },
		{ SG_BLOCK_TCC, SG_C_TCC_EA_RDREQ, 1 },
		{ SG_BLOCK_TCP, SG_C_TCP_TCC_READ_REQ, 8 },
		{ SG_BLOCK_TCP, SG_C_TCP_TCP_LATENCY, 12 },
		{ SG_BLOCK_SQ, SG_C_SQC_ICACHE_REQ, 0 },
	};
	struct sg_model *together = sg_model_create(c->hw), *apart = sg_model_create(c->hw);

	assert_non_null(together);
	assert_non_null(apart);
	for (unsigned n = 0; n < 2; n++) { /* the second one finds its code in the caches */
		struct sg_model_result a, b;

		run_one(together, c, !n, false, &a);
		run_one(apart, c, !n, true, &b);
		assert_exact_ones_equal(c->hw, &a, &b);
		assert_true(synth_requests_balance(c->hw, &a));
		assert_true(synth_requests_balance(c->hw, &b));
		if (!is_near((double)a.cycles, (double)b.cycles, 8))
			fail_msg("%s, %lu workgroups: %lu cycles, apart %lu", c->hw->name,
				 (unsigned long)c->n_wgs, (unsigned long)a.cycles,
				 (unsigned long)b.cycles);
		for (size_t k = 0; k < N_INSTS(near); k++) {
			double x = (double)sg_model_sum(&a, near[k].block, near[k].place),
			       y = (double)sg_model_sum(&b, near[k].block, near[k].place);

			if (!is_near(x, y, near[k].percent))
				fail_msg("%s, counter %u of block %s: %.0f, apart %.0f",
					 c->hw->name, near[k].place, sg_blocks[near[k].block].name,
					 x, y);
		}
		assert_int_equal(sg_model_n_leaders(together), c->n_leaders ? c->n_leaders : 1);
		assert_int_equal(sg_model_n_leaders(apart), sg_hw_n_engines(c->hw));
		sg_model_result_free(&a);
		sg_model_result_free(&b);
	}
	sg_model_destroy(together);
	sg_model_destroy(apart);
}

static void together_they_count_as_they_do_apart(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi210, synth_vcopy(), 1024 });
	compare(&(struct comparison){ &sg_hw_mi210, tile, 832 });
	compare(&(struct comparison){ &sg_hw_mi100, scatter, 512 });
	compare(&(struct comparison){ &sg_hw_mi300x, synth_vcopy_mi300(false), 1024 });
	compare(&(struct comparison){ &sg_hw_mi350x, tile, 512 });
}

/* ---- memory instructions ---- */

/* Each wave has 256 bytes of its own. */
static const struct synth_inst update_insts[] = {
	{ "s_nop", 1 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
	{ "s_waitcnt", 1, .simm = VM0 },
	{ "global_store_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
	{ "s_endpgm", 1 },
};

/* A load of lanes that are apart, and not by whole chunks in each workgroup, between two of lanes in order. */
static const struct synth_inst gather_insts[] = {
	{ "s_nop", 1 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
	{ "s_waitcnt", 1, .simm = VM0 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (64 << 20), .per_wg = 16384 + 64,
	  .per_lane = 256 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (128 << 20), .per_wg = 256, .per_lane = 4 },
	{ "s_endpgm", 1 },
};

/* Columns and tiles: of 64 rows, and of 4 rows of 16 lanes that begin in the middle of a line. */
static const struct synth_inst columns_insts[] = {
	{ "s_nop", 1 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + 36, .per_wg = 256, .per_lane = 4,
	  .per_row = 4096 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (64 << 20), .per_wg = 16384,
	  .per_lane = 256 },
	{ "s_waitcnt", 1, .simm = VM0 },
	{ "global_store_dword", 2, .base = SYNTH_VRAM + (128 << 20), .per_wg = 16384,
	  .per_lane = 256 },
	{ "global_store_dwordx2", 2, .base = SYNTH_VRAM + 36, .per_wg = 256, .per_lane = 8,
	  .per_row = 4096 },
	{ "s_endpgm", 1 },
};

/* They wait when an instruction comes that ends that: each CU has its own then. */
static const struct synth_inst columns_end_insts[] = {
	{ "s_nop", 1 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + 36, .per_wg = 256, .per_lane = 4,
	  .per_row = 4096 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (64 << 20), .per_wg = 16384,
	  .per_lane = 256 },
	{ "global_store_dword", 2, .base = SYNTH_VRAM + (128 << 20), .per_wg = 16384,
	  .per_lane = 256 },
	{ "global_load_dword", 2, .base = SYNTH_VRAM + (256 << 20), .per_wg = 64, .per_lane = 4 },
	{ "s_endpgm", 1 },
};

/* A wave's own chunk, that of the first workgroup, and the own one again; and the other way round. */
static const struct synth_inst again_insts[2][7] = {
	{
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "s_endpgm", 1 },
	},
	{
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_wg = 256, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "global_load_dword", 2, .base = SYNTH_VRAM, .per_lane = 4 },
		{ "s_waitcnt", 1, .simm = VM0 },
		{ "s_endpgm", 1 },
	},
};

static void one_wave_each(const struct sg_hw *hw, const struct synth_kernel *k, uint64_t n_wgs,
			  uint32_t (*lanes)(uint64_t wg), bool apart, struct sg_model_result *r,
			  uint64_t *n_joint)
{
	struct sg_model *m = sg_model_create(hw);
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, k, n_wgs, 1);
	run.d.apart = apart;
	run.lanes = lanes;
	assert_true(sg_model_run(m, &run.d, r));
	assert_true(synth_requests_balance(hw, r));
	*n_joint = sg_model_n_joint(m);
	sg_model_destroy(m);
}

static void memory_instructions_are_looked_up_together_while_all_are_in_order(void **state)
{
	struct synth_kernel update = { .insts = update_insts,
				       .n_insts = N_INSTS(update_insts),
				       .code = SYNTH_CODE };
	struct synth_kernel gather = { .insts = gather_insts,
				       .n_insts = N_INSTS(gather_insts),
				       .code = SYNTH_CODE };
	struct sg_model_result r;
	uint64_t n_joint;

	one_wave_each(&sg_hw_mi210, &update, 8 * 200, NULL, false, &r, &n_joint);
	assert_int_equal(n_joint, 2 * 200);
	sg_model_result_free(&r);
	one_wave_each(&sg_hw_mi300x, &update, 32 * 100, NULL, false, &r, &n_joint);
	assert_in_range(n_joint, 2 * 100, 2 * 110); /* some CUs are not on all engines */
	sg_model_result_free(&r);
	/* the first load of some waves, until one of them is at the second */
	one_wave_each(&sg_hw_mi210, &gather, 8 * 200, NULL, false, &r, &n_joint);
	assert_in_range(n_joint, 1, 200);
	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_READ_REQ), 8 * 200 * (4 + 64 + 4));
	sg_model_result_free(&r);
	one_wave_each(&sg_hw_mi210, &update, 8 * 200, NULL, true, &r, &n_joint);
	assert_int_equal(n_joint, 0);
	sg_model_result_free(&r);
}

/* What is counted of columns and tiles is what each engine alone counts. */
static void columns_are_looked_up_together(void **state)
{
	static const uint16_t counters[] = {
		SG_C_TCP_TCC_READ_REQ,   SG_C_TCP_TCC_WRITE_REQ,
		SG_C_TCP_TOTAL_ACCESSES, SG_C_TCP_TOTAL_CACHE_ACCESSES,
		SG_C_TCP_UTCL1_REQUEST,  SG_C_TCP_UTCL1_TRANSLATION_MISS,
	};
	const struct sg_hw *const gpus[] = { &sg_hw_mi210, &sg_hw_mi100, &sg_hw_mi300x,
					     &sg_hw_mi350x };
	struct synth_kernel columns = { .insts = columns_insts,
					.n_insts = N_INSTS(columns_insts),
					.code = SYNTH_CODE };
	struct synth_kernel end = { .insts = columns_end_insts,
				    .n_insts = N_INSTS(columns_end_insts),
				    .code = SYNTH_CODE };

	for (size_t k = 0; k < 2 * N_INSTS(gpus); k++) {
		const struct sg_hw *hw = gpus[k / 2];
		uint64_t n_wgs = 64 * sg_hw_n_engines(hw), n_joint[2];
		struct sg_model_result r[2];

		for (unsigned apart = 0; apart < 2; apart++)
			one_wave_each(hw, k % 2 ? &end : &columns, n_wgs, NULL, apart, &r[apart],
				      &n_joint[apart]);
		assert_int_equal(n_joint[1], 0);
		if (k % 2)
			assert_in_range(n_joint[0], 1, 3 * 64);
		else
			assert_in_range(n_joint[0], 4 * 64, 4 * 71); /* some CUs are not on all */
		for (size_t c = 0; c < N_INSTS(counters); c++)
			assert_int_equal(sg_model_sum(&r[0], SG_BLOCK_TCP, counters[c]),
					 sg_model_sum(&r[1], SG_BLOCK_TCP, counters[c]));
		for (uint32_t ram = 0; !hw->merge_wait && ram < 4; ram++) /* else times matter */
			assert_int_equal(
				sg_model_sum(&r[0], SG_BLOCK_TCP, SG_C_TCP_TAGRAM0_REQ + ram),
				sg_model_sum(&r[1], SG_BLOCK_TCP, SG_C_TCP_TAGRAM0_REQ + ram));
		assert_int_equal(SG_SUM(&r[0], TCC, TCC_WRITE_SECTORS),
				 SG_SUM(&r[1], TCC, TCC_WRITE_SECTORS));
		assert_int_equal(SG_SUM(&r[0], TCC, TCC_READ_SECTORS),
				 SG_SUM(&r[1], TCC, TCC_READ_SECTORS));
		sg_model_result_free(&r[0]);
		sg_model_result_free(&r[1]);
	}
}

/* Some engines' lines are in another kind of memory than their leader's, an odd number of chunks away. */
static void what_lines_are_is_counted_where_they_are(void **state)
{
	const struct sg_hw *const gpus[] = { &sg_hw_mi210, &sg_hw_mi100, &sg_hw_mi300x,
					     &sg_hw_mi350x };
	struct synth_kernel update = { .insts = update_insts,
				       .n_insts = N_INSTS(update_insts),
				       .code = SYNTH_CODE,
				       .host_from = SYNTH_VRAM + 517 * 256,
				       .host_kind = { SG_MTYPE_CC, SG_ROUTE_OWN, 0 } };

	for (size_t k = 0; k < N_INSTS(gpus); k++) {
		uint64_t lines = 256 / gpus[k]->l1_line, n_joint;
		struct sg_model_result r[2];

		for (unsigned apart = 0; apart < 2; apart++) {
			one_wave_each(gpus[k], &update, 1024, NULL, apart, &r[apart], &n_joint);
			assert_int_equal(n_joint != 0, !apart);
			assert_int_equal(SG_SUM(&r[apart], TCP, TCP_TCC_RW_READ_REQ), 517 * lines);
			assert_int_equal(SG_SUM(&r[apart], TCP, TCP_TCC_CC_READ_REQ), 507 * lines);
			assert_int_equal(SG_SUM(&r[apart], TCP, TCP_TCC_RW_WRITE_REQ), 517 * 4);
			assert_int_equal(SG_SUM(&r[apart], TCP, TCP_TCC_CC_WRITE_REQ), 507 * 4);
		}
		for (unsigned ram = 0; ram < 4; ram++)
			assert_int_equal(
				sg_model_sum(&r[0], SG_BLOCK_TCP, SG_C_TCP_TAGRAM0_REQ + ram),
				sg_model_sum(&r[1], SG_BLOCK_TCP, SG_C_TCP_TAGRAM0_REQ + ram));
		sg_model_result_free(&r[0]);
		sg_model_result_free(&r[1]);
	}
}

static uint32_t first_has_few_lanes(uint64_t wg)
{
	return wg ? 64 : 16; /* a line of them, so that it is looked up like the others */
}

/* CUs that have requested something. */
static uint32_t n_reading(const struct sg_model_result *r)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->n_instances[SG_BLOCK_TCP]; k++)
		n += r->values[SG_BLOCK_TCP][k * SG_N_TCP + SG_C_TCP_TCC_READ_REQ] != 0;
	return n;
}

/*
 * The distances between engines are not the same for the second load, and in the second run one workgroup of another path is
 * the first one on its CU: what a CU has not read must be missing there, and what it has read must not.
 */
static void lines_are_in_l1_of_those_that_have_read_them(void **state)
{
	const struct sg_hw *const gpus[] = { &sg_hw_mi210, &sg_hw_mi100, &sg_hw_mi300x,
					     &sg_hw_mi350x };
	for (size_t k = 0; k < 2 * N_INSTS(gpus); k++) {
		const struct sg_hw *hw = gpus[k / 2];
		struct synth_kernel again = { .insts = again_insts[k % 2],
					      .n_insts = N_INSTS(again_insts[0]),
					      .code = SYNTH_CODE };
		uint64_t lines = 256 / hw->l1_line, n_wgs = 400, n_joint;

		for (unsigned apart = 0; apart < 2; apart++) {
			struct sg_model_result r;
			uint32_t n_cus;

			one_wave_each(hw, &again, n_wgs, k % 2 ? first_has_few_lanes : NULL, apart,
				      &r, &n_joint);
			n_cus = n_reading(&r);
			assert_true(n_cus > 100);
			assert_int_equal(n_joint != 0, !apart);
			assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_READ_REQ),
					 lines * (n_wgs - 1 + n_cus));
			sg_model_result_free(&r);
		}
	}
}

/* ---- paths ---- */

/* As many as there are engines, and some. */
static void the_last_ones_are_fewer(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi210, tile, 835 });
	compare(&(struct comparison){ &sg_hw_mi100, synth_vcopy(), 1023 });
	compare(&(struct comparison){ &sg_hw_mi250x, tile, 511 });
	compare(&(struct comparison){ &sg_hw_mi300x, tile, 1027 });
	compare(&(struct comparison){ &sg_hw_mi300a, synth_vcopy_mi300(false), 1023 });
	compare(&(struct comparison){ &sg_hw_mi350x, scatter, 257 });
}

static void workgroups_of_one_path_are_launched_together(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi210, tile, 600, last_is_short });
	compare(&(struct comparison){ &sg_hw_mi210, synth_vcopy(), 26 * 32, edge });
	compare(&(struct comparison){ &sg_hw_mi300x, scatter, 1500, one_is_short_on_die_3 });
	compare(&(struct comparison){ &sg_hw_mi350x, synth_vcopy_mi300(false), 1416,
				      one_is_short_on_die_3 });
	compare(&(struct comparison){ &sg_hw_mi300a, scatter, 1225, first_is_short });
	compare(&(struct comparison){ &sg_hw_mi300x, synth_vcopy_mi300(false), 27 * 64,
				      edge_on_all_dies });
}

/* Each die has a leader of its own then. */
static void dies_part_where_their_workgroups_differ(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi300x, synth_vcopy_mi300(false), 26 * 64, edge, 8 });
	compare(&(struct comparison){ &sg_hw_mi300x, scatter, 1024, edge_on_one_die, 8 });
	compare(&(struct comparison){ &sg_hw_mi350x, synth_vcopy_mi300(false), 2048,
				      edge_on_one_die, 8 });
}

/* In the middle of waits, barriers and fetches, and at once. */
static void engines_part_at_many_paths(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi210, tile, 700, chaos_behind_400, 8 });
	compare(&(struct comparison){ &sg_hw_mi250x, synth_vcopy(), 1200, chaos_behind_400, 8 });
	compare(&(struct comparison){ &sg_hw_mi300a, scatter, 600, chaos_behind_400, 24 });
	compare(&(struct comparison){ &sg_hw_mi300x, scatter, 1500, chaos_behind_1000, 32 });
	compare(&(struct comparison){ &sg_hw_mi350x, synth_vcopy_mi300(false), 2500,
				      chaos_behind_1000, 32 });
	compare(&(struct comparison){ &sg_hw_mi100, tile, 300, chaos, 8 });
}

/* One that takes another path has no place on the first engine, if the workgroups fill the GPU exactly. */
static void engines_part_where_one_would_wait(void **state)
{
	compare(&(struct comparison){ &sg_hw_mi210, tile, 832, last_is_short, 8 });
}

static uint64_t computed_state(struct sg_model *m)
{
	size_t n_bytes = 0;
	uint64_t *copy = sg_model_copy_state(m, &n_bytes);

	assert_non_null(copy);
	sg_model_set_state(m, copy); /* which forgets its digest */
	free(copy);
	return sg_model_state(m);
}

/* The digest of the caches is kept as long as a dispatch leaves them as they are. */
static void the_state_is_that_of_the_caches(void **state)
{
	for (unsigned apart = 0; apart < 2; apart++) {
		struct comparison c = { &sg_hw_mi210, tile, 600 };
		struct sg_model *m = sg_model_create(c.hw);
		uint64_t states[5];

		assert_non_null(m);
		for (unsigned k = 0; k < 5; k++) {
			struct sg_model_result r;

			c.kernel.code = SYNTH_CODE + (k / 2 % 2 ? 1 << 14 : 0);
			run_one(m, &c, k == 0 || k == 4, apart, &r);
			states[k] = sg_model_state(m);
			assert_true(states[k] == computed_state(m));
			sg_model_result_free(&r);
		}
		assert_true(states[1] == states[0]);
		assert_true(states[2] != states[1] && states[3] == states[2]);
		assert_true(states[4] == states[0]);
		sg_model_destroy(m);
	}
}

/* Too few to be a sample. */
static void small_dispatches_are_simulated_whole(void **state)
{
	struct comparison c = { &sg_hw_mi210, tile, 63 };
	struct sg_model *m[2] = { sg_model_create(c.hw), sg_model_create(c.hw) };
	struct sg_model_result r[2];

	for (unsigned k = 0; k < 2; k++) {
		assert_non_null(m[k]);
		run_one(m[k], &c, true, k, &r[k]);
	}
	for (unsigned b = 0; b < SG_N_BLOCKS; b++)
		assert_memory_equal(r[0].values[b], r[1].values[b],
				    (size_t)r[0].n_instances[b] * sg_blocks[b].n *
					    sizeof(uint64_t));
	assert_int_equal(r[0].cycles, r[1].cycles);
	for (unsigned k = 0; k < 2; k++) {
		sg_model_result_free(&r[k]);
		sg_model_destroy(m[k]);
	}
}

/* A workgroup that follows ends in the middle: no result, everything is released, and the model can be used again. */
static void a_damaged_follower_is_no_result(void **state)
{
	struct comparison c = { &sg_hw_mi210, tile, 830 }; /* 415 is not for the leader */
	struct sg_model *m = sg_model_create(c.hw);
	struct sg_model_result r;
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, &c.kernel, c.n_wgs, 4);
	run.d.lds_bytes = 4096;
	run.cut = true;
	assert_false(sg_model_run(m, &run.d, &r));
	assert_true(run.n_released >= 416);
	run_one(m, &c, true, false, &r);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

/* Traces that are there before: only the model allocates. */
struct ready_traces {
	struct synth_run run;
	struct sg_wg_traces *wgs[400];
	uint64_t n_out; /* that the model has */
};

static struct sg_wg_traces *next_ready(void *ctx, uint64_t wg)
{
	struct ready_traces *ready = ctx;

	ready->n_out++;
	return ready->wgs[wg];
}

static void take_back(void *ctx, uint64_t wg, struct sg_wg_traces *traces)
{
	((struct ready_traces *)ctx)->n_out--;
}

static bool instruction_of(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	struct synth_run *run = &((struct ready_traces *)ctx)->run;

	return run->d.instruction(run, pc, out);
}

/* Behind the 300th one there are too many paths: all dies part, then the engines of each. */
static void memory_that_runs_out_leaves_nothing(void **state)
{
	struct synth_kernel kernel = scatter;
	struct ready_traces ready = { 0 };
	struct sg_model_dispatch d;
	uint64_t n_wgs = sizeof(ready.wgs) / sizeof(ready.wgs[0]);
	unsigned n_failed = 0;
	bool more = true;

	synth_prepare(&ready.run, &kernel, n_wgs, 4);
	ready.run.lanes = chaos_behind_300;
	for (uint64_t k = 0; k < n_wgs; k++)
		ready.wgs[k] = ready.run.d.next(&ready.run, k);
	d = ready.run.d;
	d.next = next_ready;
	d.release = take_back;
	d.instruction = instruction_of;
	d.memory = NULL;
	d.ctx = &ready;
	for (long n = 0; more; n += 1 + n / 16) {
		struct sg_model *m = sg_model_create(&sg_hw_mi300x);
		struct sg_model_result r;
		bool done;

		assert_non_null(m);
		fail_after(n);
		done = sg_model_run(m, &d, &r);
		more = allocation_failed();
		fail_after(-1);
		assert_true(done || more);
		assert_int_equal(ready.n_out, 0);
		n_failed += !done;
		if (done)
			sg_model_result_free(&r);
		sg_model_destroy(m);
	}
	assert_true(n_failed > 20);
	for (uint64_t k = 0; k < n_wgs; k++)
		ready.run.d.release(&ready.run, k, ready.wgs[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together_they_count_as_they_do_apart),
		cmocka_unit_test(memory_instructions_are_looked_up_together_while_all_are_in_order),
		cmocka_unit_test(columns_are_looked_up_together),
		cmocka_unit_test(what_lines_are_is_counted_where_they_are),
		cmocka_unit_test(lines_are_in_l1_of_those_that_have_read_them),
		cmocka_unit_test(the_last_ones_are_fewer),
		cmocka_unit_test(workgroups_of_one_path_are_launched_together),
		cmocka_unit_test(dies_part_where_their_workgroups_differ),
		cmocka_unit_test(engines_part_at_many_paths),
		cmocka_unit_test(engines_part_where_one_would_wait),
		cmocka_unit_test(the_state_is_that_of_the_caches),
		cmocka_unit_test(small_dispatches_are_simulated_whole),
		cmocka_unit_test(a_damaged_follower_is_no_result),
		cmocka_unit_test(memory_that_runs_out_leaves_nothing),
	};

	return RUN(tests);
}
