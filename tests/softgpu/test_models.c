/* The parts of the models, each with answers known by construction. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>

#include "softgpu/counting/selection.h"
#include "softgpu/mem/cache.h"
#include "softgpu/mem/coalesce.h"
#include "softgpu/mem/lds.h"
#include "tests/softgpu/synth.h"

static struct sg_timing_insn classify(const char *mnemonic, enum sg_isa_target target)
{
	struct sg_decoded_insn insn = { .row = synth_row(mnemonic), .n_dwords = 1 };

	return sg_timing_insn_of(&insn, target);
}

static void instructions_have_their_class(void **state)
{
	static const struct {
		const char *mnemonic;
		uint8_t unit, insn_class, passes, matrix, weight;
	} rows[] = {
		{ "v_add_f32", SG_UNIT_VALU, SG_CLASS_ADD_F32, 1, 0, 1 },
		{ "v_sub_f16", SG_UNIT_VALU, SG_CLASS_ADD_F16, 1, 0, 1 },
		{ "v_fma_f64", SG_UNIT_VALU, SG_CLASS_FMA_F64, 1, 0, 1 },
		{ "v_pk_fma_f32", SG_UNIT_VALU, SG_CLASS_FMA_F32, 1, 0, 2 },
		{ "v_rcp_f32", SG_UNIT_VALU, SG_CLASS_TRANS_F32, 4, 0, 1 },
		{ "v_cvt_f32_i32", SG_UNIT_VALU, SG_CLASS_CVT, 1, 0, 1 },
		{ "v_mov_b32", SG_UNIT_VALU, SG_CLASS_VALU, 1, 0, 1 },
		{ "v_cmp_gt_i32", SG_UNIT_VALU, SG_CLASS_INT32, 1, 0, 1 },
		{ "v_cmp_eq_u64", SG_UNIT_VALU, SG_CLASS_INT64, 1, 0, 1 },
		{ "v_max_f32", SG_UNIT_VALU, SG_CLASS_VALU, 1, 0, 1 },
		{ "v_mfma_f32_32x32x8f16", SG_UNIT_VALU, SG_CLASS_MFMA_F16, 1, 16, 32 },
		{ "v_mfma_f32_16x16x16bf16_1k", SG_UNIT_VALU, SG_CLASS_MFMA_BF16, 1, 8, 16 },
		{ "v_mfma_f32_32x32x4bf16", SG_UNIT_VALU, SG_CLASS_MFMA_BF16, 1, 16, 16 },
		{ "v_mfma_f64_16x16x4f64", SG_UNIT_VALU, SG_CLASS_MFMA_F64, 1, 8, 4 },
		{ "v_mfma_f64_4x4x4f64", SG_UNIT_VALU, SG_CLASS_MFMA_F64, 1, 4, 1 },
		{ "v_mfma_i32_32x32x8i8", SG_UNIT_VALU, SG_CLASS_MFMA_I8, 1, 16, 32 },
		{ "s_add_u32", SG_UNIT_SALU, SG_CLASS_SALU, 1, 0, 1 },
		{ "s_cbranch_execz", SG_UNIT_MISC, SG_CLASS_CBRANCH, 1, 0, 1 },
		{ "s_waitcnt", SG_UNIT_NONE, SG_CLASS_WAITCNT, 1, 0, 1 },
		{ "s_load_dwordx4", SG_UNIT_SMEM, SG_CLASS_SMEM, 1, 0, 1 },
		{ "buffer_load_dword", SG_UNIT_VMEM, SG_CLASS_VMEM, 1, 0, 1 },
		{ "flat_load_dword", SG_UNIT_FLAT, SG_CLASS_FLAT, 1, 0, 1 },
		{ "ds_read_b32", SG_UNIT_LDS, SG_CLASS_LDS, 1, 0, 1 },
	};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct sg_timing_insn t = classify(rows[k].mnemonic, SG_ISA_GFX90A);

		if (t.unit != rows[k].unit || t.insn_class != rows[k].insn_class ||
		    t.passes != rows[k].passes || t.matrix_passes != rows[k].matrix ||
		    t.weight != rows[k].weight)
			fail_msg("%s: unit %u class %u passes %u matrix %u weight %u",
				 rows[k].mnemonic, t.unit, t.insn_class, t.passes, t.matrix_passes,
				 t.weight);
	}
	assert_int_equal(classify("v_lshlrev_b64", SG_ISA_GFX908).passes,
			 2); /* recorded on MI100 */
	assert_int_equal(classify("v_lshlrev_b64", SG_ISA_GFX90A).passes, 1);
	assert_int_equal(classify("v_fma_f64", SG_ISA_GFX908).passes, 2);
}

static struct sg_trace_access lanes(uint64_t base, int32_t stride, uint64_t mask)
{
	return (struct sg_trace_access){
		.affine = true, .base = base, .stride = stride, .mask = mask
	};
}

static void check_coalescing(struct sg_trace_access in, uint32_t bytes, uint32_t requests,
			     uint32_t accesses)
{
	static struct sg_accesses out;

	sg_coalesce(&in, bytes, &out);
	assert_int_equal(out.n_requests, requests);
	assert_int_equal(out.n, accesses);
}

static void lanes_share_lines(void **state)
{
	check_coalescing(lanes(0x1000, 8, ~0ull), 8, 64, 16); /* recorded */
	check_coalescing(lanes(0x1000, 4, ~0ull), 4, 16, 4);
	check_coalescing(lanes(0x1000, 16, ~0ull), 16, 64, 16);
	check_coalescing(lanes(0x1020, 4, ~0ull), 4, 16,
			 8); /* each four requests touch two lines */
	check_coalescing(lanes(0x1000, 64, ~0ull), 4, 64, 64);
	check_coalescing(lanes(0x1000, 0, ~0ull), 4, 16, 4);
	check_coalescing(lanes(0x1000, 4, 1), 4, 1, 1);
	check_coalescing(lanes(0x1000, 4, 0), 4, 0, 0);
	check_coalescing(lanes(0x103e, 64, 1), 4, 1, 2); /* across a line */
}

static void the_fast_way_of_whole_lines_is_the_slow_one(void **state)
{
	static struct sg_accesses fast, slow;
	static const uint32_t sizes[] = { 4, 8, 16 };

	for (unsigned k = 0; k < 3; k++) {
		struct sg_trace_access a = lanes(0x12340, (int32_t)sizes[k], ~0ull), b = a;

		sg_coalesce(&a, sizes[k], &fast);
		sg_trace_expand(&b);
		b.affine = false;
		sg_coalesce(&b, sizes[k], &slow);
		assert_int_equal(fast.n, slow.n);
		assert_int_equal(fast.n_requests, slow.n_requests);
		assert_int_equal(fast.shared, slow.shared);
		assert_int_equal(slow.per_line, 0);
		for (uint32_t n = 0; n < fast.n; n++) {
			struct sg_line_access at = sg_access_in_order(fast.first, fast.per_line, n);

			assert_int_equal(at.line, slow.at[n].line);
			assert_int_equal(at.bytes, slow.at[n].bytes);
		}
	}
}

static struct sg_lds_seen seen;
static const struct sg_lds banks_32 = { 65536, 32, &seen }, banks_64 = { 163840, 64, &seen };

static struct sg_lds_cost lds_of(const struct sg_lds *lds, const char *mnemonic, int32_t stride)
{
	struct sg_timing_insn inst = classify(mnemonic, SG_ISA_GFX90A);
	struct sg_trace_access a = lanes(0, stride, ~0ull);

	sg_trace_expand(&a);
	return sg_lds_cost(&a, &inst, lds);
}

static struct sg_lds_cost lds(const char *mnemonic, int32_t stride)
{
	return lds_of(&banks_32, mnemonic, stride);
}

static void bank_conflicts_follow_the_stride(void **state)
{
	for (int32_t stride = 1; stride <= 32; stride *= 2) {
		struct sg_lds_cost cost = lds("ds_read_b32", 4 * stride);

		assert_int_equal(cost.cycles, 2 * stride);
		assert_int_equal(cost.bank_conflict, 2 * (stride - 1));
	}
	assert_int_equal(lds("ds_read_b32", 0).bank_conflict, 0); /* one dword for all */
	assert_int_equal(lds("ds_read_b32", 4 * 33).bank_conflict, 0);
	assert_int_equal(lds("ds_read_b64", 8).cycles, 4);
	assert_int_equal(lds("ds_read_b128", 16).cycles, 8);
	assert_int_equal(lds("ds_add_u32", 0).addr_conflict, 2 * 31);
}

static void gfx950_reads_from_64_banks(void **state)
{
	for (int32_t stride = 1; stride <= 64; stride *= 2) {
		struct sg_lds_cost read = lds_of(&banks_64, "ds_read_b32", 4 * stride);
		struct sg_lds_cost write = lds_of(&banks_64, "ds_write_b32", 4 * stride);
		uint32_t turns = stride > 1 ? (uint32_t)stride / 2 : 1; /* of 32 lanes */

		assert_int_equal(read.cycles, stride);
		assert_int_equal(read.bank_conflict, stride - 1);
		assert_int_equal(write.cycles, 2 * turns);
		assert_int_equal(write.bank_conflict, 2 * (turns - 1));
	}
	assert_int_equal(lds_of(&banks_64, "ds_read_b64", 8).cycles, 2);
	assert_int_equal(lds_of(&banks_64, "ds_read_b128", 16).cycles, 4);
	assert_int_equal(lds_of(&banks_64, "ds_write_b128", 16).cycles, 8);
	assert_int_equal(lds_of(&banks_64, "ds_read_b32", 4 * 65).bank_conflict, 0);
}

/* The conflict of a read of 16 bytes in which these two lanes access one bank, and the others nothing. */
static uint32_t conflict_of_two(const struct sg_lds *lds, unsigned one, unsigned other)
{
	struct sg_timing_insn inst = classify("ds_read_b128", SG_ISA_GFX90A);
	struct sg_trace_access a = lanes(0, 0, 1ull << one | 1ull << other);

	sg_trace_expand(&a);
	a.addr[one] = 0;
	a.addr[other] = 4096;
	return sg_lds_cost(&a, &inst, lds).bank_conflict;
}

static void wide_reads_serve_quads_of_lanes_together(void **state)
{
	/* T0-T3 and T20-T23 of an MI300X, with T12-T15 and T24-T27 of an MI350X */
	for (unsigned lane = 1; lane < 64; lane++) {
		bool near = lane < 4 || (lane >= 20 && lane < 24);
		bool wide = near || (lane >= 12 && lane < 16) || (lane >= 24 && lane < 28);

		assert_int_equal(conflict_of_two(&banks_32, 0, lane), near);
		assert_int_equal(conflict_of_two(&banks_64, 0, lane), wide);
	}
	assert_int_equal(conflict_of_two(&banks_32, 44, 59), 1);
	assert_int_equal(conflict_of_two(&banks_32, 44, 60), 0);
}

static void a_remembered_pattern_costs_the_same(void **state)
{
	static struct sg_lds_memo memo;
	struct sg_list_digests lists = { 0 };
	struct sg_timing_insn inst = classify("ds_read_b32", SG_ISA_GFX90A);
	struct sg_lds_cost cost;
	struct sg_trace_reader r;
	struct sg_wave_trace t;
	uint32_t va[64];

	sg_trace_init(&t);
	sg_trace_start(&t, 0, ~0ull);
	for (unsigned turn = 0; turn < 3; turn++) { /* the third is shifted by half the banks */
		for (unsigned l = 0; l < 64; l++)
			va[l] = (l / 16 * 64 + turn * 256 + (turn == 2 ? 64 : 0)) + (l & 1);
		sg_trace_lanes32(&t, SG_SPACE_LDS, ~0ull, va);
	}
	sg_trace_read(&r, &t);
	for (unsigned turn = 0; turn < 3; turn++) {
		struct sg_trace_access a = { .mask = ~0ull };

		for (unsigned l = 0; l < 64; l++)
			a.addr[l] = (l / 16 * 64 + turn * 256 + (turn == 2 ? 64 : 0)) + (l & 1);
		struct sg_lds_cost want = sg_lds_cost(&a, &inst, &banks_32);

		assert_true(sg_lds_next(&r.memory, ~0ull, &inst, &banks_32, &memo, &lists, &cost));
		assert_memory_equal(&cost, &want, sizeof(cost));
	}
	sg_trace_free(&t);
}

/* Twelve registers of addresses, used in turn: more than the writer and the reader remember. */
static void patterns_that_recur_cost_the_same(void **state)
{
	static struct sg_lds_memo memo[12];
	static struct sg_trace_patterns patterns;
	struct sg_list_digests lists = { 0 };
	struct sg_timing_insn inst = classify("ds_read_b32", SG_ISA_GFX90A);
	struct sg_trace_reader r;
	struct sg_wave_trace t;
	uint32_t va[12][64], n_again = 0;

	sg_trace_init(&t);
	t.patterns = &patterns;
	sg_trace_start(&t, 0, ~0ull);
	for (unsigned n = 0; n < 12; n++)
		for (unsigned l = 0; l < 64; l++) /* rows of the n-th width */
			va[n][l] = l / 16 * 160 * (n % 4 + 1) + l % 16 * 4 * (n / 4 + 1);
	for (unsigned use = 0; use < 48; use++)
		sg_trace_local(&t, use % 4, ~0ull, va[use % 4 + use / 16 * 4], use / 4 % 4 * 256);
	sg_trace_read(&r, &t);
	for (unsigned use = 0; use < 48; use++) {
		unsigned n = use % 4 + use / 16 * 4;
		struct sg_trace_access a = { .mask = ~0ull };
		struct sg_lds_cost cost, want;

		for (unsigned l = 0; l < 64; l++)
			a.addr[l] = va[n][l] + use / 4 % 4 * 256;
		want = sg_lds_cost(&a, &inst, &banks_32);
		if (sg_lds_again(&r.memory, ~0ull, &banks_32, &memo[n % 3], &lists)) {
			cost = memo[n % 3].cost;
			n_again++;
		} else {
			assert_true(sg_lds_next(&r.memory, ~0ull, &inst, &banks_32, &memo[n % 3],
						&lists, &cost));
		}
		assert_memory_equal(&cost, &want, sizeof(cost));
	}
	assert_true(n_again >= 6);        /* a memo that no other pattern used in between */
	assert_true(lists.n_added >= 12); /* each was read once, and again when it was forgotten */
	sg_trace_free(&t);
}

/* A tile of 4 rows, again and again at other addresses: whole lines on, half a line on, across the end of memory. */
static void lines_move_along_with_a_tile(void **state)
{
	static const uint64_t moved[] = { 0, 64, 640, 1 << 20, 32, 36, 3 };
	const uint64_t extent = 2 << 20;
	struct sg_trace_access a = { .mask = ~0xf0ull }; /* some lanes are off */
	struct sg_accesses want, got;
	struct sg_lines_memo memo;

	for (size_t n = 0; n < sizeof(moved) / sizeof(moved[0]); n++) {
		for (unsigned l = 0; l < 64; l++)
			a.addr[l] = 4096 + moved[n] + l / 16 * 1024 + l % 16 * 4;
		sg_coalesce(&a, 4, &want);
		if (!n)
			sg_lines_keep(&memo, &want, a.mask, 7, a.addr[0], a.addr[63]);
		assert_int_equal(sg_lines_again(&memo, a.mask, 7, a.addr[0], extent, &got),
				 moved[n] % 64 == 0);
		if (moved[n] % 64)
			continue;
		assert_int_equal(got.n, want.n);
		assert_int_equal(got.n_requests, want.n_requests);
		assert_int_equal(got.shared, want.shared);
		assert_int_equal(got.per_line, want.per_line);
		assert_memory_equal(got.at, want.at, want.n * sizeof(want.at[0]));
	}
	assert_false(sg_lines_again(&memo, a.mask, 8, 4096, extent, &got)); /* another list */
	assert_false(sg_lines_again(&memo, ~0ull, 7, 4096, extent, &got));  /* other lanes */
	assert_false(sg_lines_again(&memo, a.mask, 7, 4096, 4096, &got));   /* not the GPU's */
	assert_false(sg_lines_again(&memo, a.mask, 7, extent - 3072, extent, &got));
}

/* Lines of a set in any order: four ways are searched without a loop, and keep the same ones as a list does. */
static void four_ways_keep_the_most_recent(void **state)
{
	uint64_t recent[4] = { 0 }; /* line + 1 */
	uint32_t random = 1;
	struct sg_cache c;

	assert_true(sg_cache_init(&c, 1, 4));
	for (unsigned n = 0; n < 1000; n++) {
		uint64_t line = (random = random * 1664525 + 1013904223) >> 29;
		unsigned k = 0;

		while (k < 3 && recent[k] != line + 1)
			k++;
		assert_int_equal(sg_cache_has(&c, line), recent[k] == line + 1);
		assert_int_equal(sg_cache_touch(&c, line), recent[k] == line + 1);
		memmove(recent + 1, recent, k * sizeof(*recent));
		recent[0] = line + 1;
		assert_memory_equal(c.tag, recent, sizeof(recent));
	}
	sg_cache_free(&c);
}

static void the_least_recently_used_line_goes(void **state)
{
	struct sg_cache c;

	assert_true(sg_cache_init(&c, 1, 2));
	assert_false(sg_cache_touch(&c, 1));
	assert_false(sg_cache_touch(&c, 2));
	assert_true(sg_cache_touch(&c, 1));
	assert_false(sg_cache_touch(&c, 3));
	assert_true(sg_cache_has(&c, 1));
	assert_false(sg_cache_has(&c, 2));
	sg_cache_free(&c);
}

static int select_names(const struct sg_hw *hw, const char *const *names, size_t n)
{
	struct sg_selection s;
	char error[200];
	int status = sg_selection_make(&s, hw, names, n, error, sizeof(error));

	if (!status)
		sg_selection_free(&s);
	return status;
}

static void blocks_count_as_many_as_hardware(void **state)
{
	const char *fits[] = { "TCC_HIT[0]", "TCC_HIT[1]", "TCC_HIT_sum",
			       "TCC_MISS",   "TCC_READ",   "TCC_WRITE" };
	const char *too_many[] = { "TCC_HIT", "TCC_MISS", "TCC_READ", "TCC_WRITE", "TCC_REQ_sum" };
	const char *level[] = { "SQ_INST_LEVEL_VMEM", "SQ_ACCUM_PREV_HIRES",
				"SQ_IFETCH_LEVEL_ACCUM" };
	const char *alone[] = { "SQ_ACCUM_PREV_HIRES" };
	const char *later_name[] = { "TCC_EA0_RDREQ_sum" };
	const char *of_gfx90a[] = { "SQ_INSTS_VALU_MFMA_I8" };

	assert_int_equal(select_names(&sg_hw_mi210, fits, 6), 0);
	assert_int_equal(select_names(&sg_hw_mi210, too_many, 5), E2BIG);
	assert_int_equal(select_names(&sg_hw_mi210, level, 3), 0);
	assert_int_equal(select_names(&sg_hw_mi210, alone, 1), EINVAL);
	assert_int_equal(select_names(&sg_hw_mi100, later_name, 1), 0);
	assert_int_equal(select_names(&sg_hw_mi210, of_gfx90a, 1), 0);
	assert_int_equal(select_names(&sg_hw_mi100, of_gfx90a, 1), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_their_class),
		cmocka_unit_test(lanes_share_lines),
		cmocka_unit_test(the_fast_way_of_whole_lines_is_the_slow_one),
		cmocka_unit_test(bank_conflicts_follow_the_stride),
		cmocka_unit_test(gfx950_reads_from_64_banks),
		cmocka_unit_test(wide_reads_serve_quads_of_lanes_together),
		cmocka_unit_test(a_remembered_pattern_costs_the_same),
		cmocka_unit_test(patterns_that_recur_cost_the_same),
		cmocka_unit_test(lines_move_along_with_a_tile),
		cmocka_unit_test(four_ways_keep_the_most_recent),
		cmocka_unit_test(the_least_recently_used_line_goes),
		cmocka_unit_test(blocks_count_as_many_as_hardware),
	};

	return RUN(tests);
}
