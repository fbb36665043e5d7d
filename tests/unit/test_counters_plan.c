#include "base/util.h"
#include "tests/unit/counters_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void all_forms_of_a_counter_share_its_place(void **state)
{
	struct cnt_plan_group group = GROUP("TCC_HIT[3]", "TCC_HIT_sum", "TCC_HIT", "L2CacheHit",
					    "TCC_HIT[31]", "TCC_MISS_sum");
	struct cnt_plan *plan = make(mi200, &group, 1, CNT_PLAN_POOL);

	assert_int_equal(plan->n_passes, 1);
	assert_int_equal(plan->n_reads, 2);
	assert_string_equal(plan->reads[0].spelling, "TCC_HIT");
	assert_string_equal(plan->reads[1].spelling, "TCC_MISS_sum");
	assert_int_equal(plan->requests[3].n_reads, 2);
	assert_non_null(plan->requests[3].expression);
	assert_null(plan->requests[2].expression);
	cnt_plan_destroy(plan);
}

static void an_accumulation_stands_behind_its_level(void **state)
{
	struct cnt_plan_group group =
		GROUP("SQ_WAVES", "SQ_LEVEL_WAVES_ACCUM", "SQ_INST_LEVEL_VMEM",
		      "SQ_ACCUM_PREV_HIRES", "MeanOccupancyPerCU", "SQ_IFETCH_LEVEL",
		      "SQ_ACCUM_PREV_HIRES");
	struct cnt_plan *plan = make(mi200, &group, 1, CNT_PLAN_POOL);

	assert_int_equal(plan->n_passes, 1);
	assert_int_equal(plan->n_requests, 7);
	assert_int_equal(plan->n_reads, 8); /* three pairs, SQ_WAVES and GRBM_GUI_ACTIVE */
	assert_string_equal(plan->reads[plan->requests[3].reads[0]].spelling,
			    "SQ_INST_LEVEL_VMEM_ACCUM");
	assert_string_equal(plan->reads[plan->requests[6].reads[0]].spelling,
			    "SQ_IFETCH_LEVEL_ACCUM");
	assert_string_equal(plan->requests[3].expression,
			    "accumulate(SQ_INST_LEVEL_VMEM, HIGH_RES)");
	cnt_plan_destroy(plan);
}

static void repeated_names_are_one_request_per_group(void **state)
{
	struct cnt_plan_group groups[] = { GROUP("SQ_WAVES", "GRBM_COUNT", "SQ_WAVES"),
					   GROUP("GRBM_COUNT") };
	struct cnt_plan *plan = make(mi200, groups, 2, CNT_PLAN_POOL);

	assert_int_equal(plan->n_requests, 2);
	assert_int_equal(plan->n_passes, 1);
	cnt_plan_destroy(plan);
	plan = make(mi200, groups, 2, CNT_PLAN_SPLIT);
	assert_int_equal(plan->n_requests, 3);
	assert_int_equal(plan->n_passes, 2);
	assert_int_equal(plan->passes[1].group, 1);
	assert_int_equal(cnt_plan_find(plan, "GRBM_COUNT"), 1);
	assert_int_equal(cnt_plan_find(plan, "NOPE"), SIZE_MAX);
	cnt_plan_destroy(plan);
}

static void fixed_groups_must_fit(void **state)
{
	struct cnt_plan_group groups[] = {
		GROUP("SQ_WAVES"), GROUP("TA_TA_BUSY", "TA_FLAT_WAVEFRONTS", "TA_BUFFER_WAVEFRONTS")
	};
	struct cnt_plan *plan;
	struct ws_err err;

	assert_fails_with(cnt_plan_make(mi200, groups, 2, CNT_PLAN_FIXED, &plan, &err), WS_E_LIMIT,
			  &err,
			  "group 2: not in one pass: block TA counts 2 at once on gfx90a, but 3 "
			  "are requested");
	plan = make(mi200, groups, 2, CNT_PLAN_SPLIT);
	assert_int_equal(plan->n_passes, 3);
	cnt_plan_destroy(plan);
	groups[1].n = 2;
	plan = make(mi200, groups, 2, CNT_PLAN_FIXED);
	assert_int_equal(plan->n_passes, 2);
	cnt_plan_destroy(plan);
}

static void what_cannot_be_had_is_explained(void **state)
{
	static const struct {
		const char *name, *message;
		enum ws_status status;
	} cases[] = {
		{ "SQ_WAVE", "no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?",
		  WS_E_NOTFOUND },
		{ "SQ_INSTS_VALU_MFMA_F8", "on gfx90a, only on gfx940, gfx941, gfx942, gfx950",
		  WS_E_NOTFOUND },
		{ "FOO_BAR", "'rocprofv3-avail list' lists the counters", WS_E_NOTFOUND },
		{ "TCC_HIT[32]", "TCC_HIT has 32 instances here, numbered from [0]", WS_E_FORMAT },
		{ "TCC_HIT[x]", "no counter 'TCC_HIT[x]'", WS_E_NOTFOUND },
		{ "SQ_WAVES_ACCUM", "SQ_WAVES is not a level counter", WS_E_FORMAT },
		{ "SQ_ACCUM_PREV_HIRES", "accumulates the level counter before it", WS_E_FORMAT },
		{ "simd_count_sum", "simd_count is a constant of the agent", WS_E_FORMAT },
		{ "TCA_BUSY", "is not supported by the software GPU: the arbiter in front of L2 is",
		  WS_E_UNSUPPORTED },
		{ "TcUtil", "is not supported by the software GPU: GRBM_TC_BUSY: the model",
		  WS_E_UNSUPPORTED },
	};
	struct cnt_plan *plan;
	struct ws_err err;

	for (size_t i = 0; i < WS_ARRAY_LEN(cases); i++) {
		struct cnt_plan_group group = GROUP("SQ_WAVES", cases[i].name, "GRBM_COUNT");

		assert_fails_with(cnt_plan_make(soft, &group, 1, CNT_PLAN_POOL, &plan, &err),
				  cases[i].status, &err, cases[i].message);
		plan = make(soft, &group, 1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING);
		assert_int_equal(plan->n_requests, 3);
		assert_non_null(strstr(plan->requests[1].why, cases[i].message));
		assert_int_equal(plan->n_reads, 2);
		cnt_plan_destroy(plan);
	}
	/* On hardware the same counter is there. */
	plan = make(mi200, &GROUP("TCA_BUSY"), 1, CNT_PLAN_POOL);
	assert_int_equal(plan->n_passes, 1);
	cnt_plan_destroy(plan);
}

static void constants_need_no_run(void **state)
{
	struct cnt_plan *plan = make(mi200, &GROUP("CU_NUM", "simd_count"), 1, CNT_PLAN_POOL);
	struct ws_arena arena;
	struct cnt_values v;
	struct ws_err err;

	ws_arena_init(&arena, 1 << 20);
	assert_int_equal(plan->n_passes, 0);
	assert_int_equal(cnt_plan_value(plan, 0, NULL, &arena, &v, &err), WS_OK);
	assert_true(v.n == 1 && v.at[0] == 104);
	assert_int_equal(cnt_plan_value(plan, 1, NULL, &arena, &v, &err), WS_OK);
	assert_true(v.n == 1 && v.at[0] == 416);
	cnt_plan_destroy(plan);
	ws_arena_fini(&arena);
}

static double value(const struct cnt_plan *plan, const char *name,
		    const struct cnt_plan_sample *samples, struct ws_arena *arena)
{
	struct cnt_values v;
	struct ws_err err;
	double total = -1;

	assert_int_equal(cnt_plan_value(plan, cnt_plan_find(plan, name), samples, arena, &v, &err),
			 WS_OK);
	return cnt_values_total(&v, &total) ? total : -1;
}

static void values_come_from_the_reads(void **state)
{
	static const char *const names[] = { "TCC_HIT",           "TCC_HIT[2]",
					     "TCC_HIT_sum",       "TCC_MISS_sum",
					     "L2CacheHit",        "SQ_LEVEL_WAVES_ACCUM",
					     "SQ_LEVEL_WAVES[1]", "SQ_INSTS_VALU_sum",
					     "NOT_THERE" };
	struct cnt_plan_group group = { names, WS_ARRAY_LEN(names) };
	struct cnt_plan *plan = make(mi200, &group, 1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING);
	struct cnt_plan_sample samples[8] = { { 0 } };
	double hits[32], miss = 100, levels[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, area = 1234;
	struct ws_arena arena;

	ws_arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < 32; i++)
		hits[i] = (double)i;
	for (size_t i = 0; i < plan->n_reads; i++) {
		const char *s = plan->reads[i].spelling;

		if (strcmp(s, "TCC_HIT") == 0)
			samples[i] = (struct cnt_plan_sample){ hits, 32 };
		if (strcmp(s, "TCC_MISS_sum") == 0)
			samples[i] = (struct cnt_plan_sample){ &miss, 1 };
		if (strcmp(s, "SQ_LEVEL_WAVES") == 0)
			samples[i] = (struct cnt_plan_sample){ levels, 8 };
		if (strcmp(s, "SQ_LEVEL_WAVES_ACCUM") == 0)
			samples[i] = (struct cnt_plan_sample){ &area, 1 };
	}
	assert_true(value(plan, "TCC_HIT", samples, &arena) == 496);
	assert_true(value(plan, "TCC_HIT[2]", samples, &arena) == 2);
	assert_true(value(plan, "TCC_HIT_sum", samples, &arena) == 496);
	assert_true(value(plan, "TCC_MISS_sum", samples, &arena) == 100);
	assert_true(value(plan, "L2CacheHit", samples, &arena) == 100.0 * 496 / 596);
	assert_true(value(plan, "SQ_LEVEL_WAVES_ACCUM", samples, &arena) == 1234);
	assert_true(value(plan, "SQ_LEVEL_WAVES[1]", samples, &arena) == 2);
	/* Nothing was said of it: no value, and no 0. */
	assert_true(value(plan, "SQ_INSTS_VALU_sum", samples, &arena) == -1);
	assert_true(value(plan, "NOT_THERE", samples, &arena) == -1);
	cnt_plan_destroy(plan);
	ws_arena_fini(&arena);
}

/* ---- the fewest passes ---- */

struct item {
	unsigned block, size;
};

/* Whether items from @k on fit into @n passes with what is left of each. */
static bool fits(const struct item *items, size_t n_items, size_t k, unsigned (*left)[16], size_t n)
{
	if (k == n_items)
		return true;
	for (size_t p = 0; p < n; p++) {
		unsigned *room = &left[p][items[k].block];

		if (*room < items[k].size)
			continue;
		*room -= items[k].size;
		if (fits(items, n_items, k + 1, left, n))
			return true;
		*room += items[k].size;
	}
	return false;
}

static size_t fewest_by_search(const struct item *items, size_t n_items)
{
	unsigned left[16][16];

	for (size_t n = 1;; n++) {
		for (size_t p = 0; p < n; p++)
			for (size_t b = 0; b < cnt_catalogue_n_blocks(mi200); b++)
				left[p][b] = cnt_catalogue_block(mi200, b)->limit;
		if (fits(items, n_items, 0, left, n))
			return n;
	}
}

static void small_plans_are_as_short_as_an_exhaustive_search_finds(void **state)
{
	static const char *const names[] = {
		"TA_TA_BUSY",
		"TA_FLAT_WAVEFRONTS",
		"TA_BUFFER_WAVEFRONTS",
		"TA_TOTAL_WAVEFRONTS",
		"GRBM_COUNT",
		"GRBM_GUI_ACTIVE",
		"GRBM_SPI_BUSY",
		"TCC_HIT",
		"TCC_MISS",
		"TCC_REQ",
		"TCC_READ",
		"TCC_WRITE",
		"SQ_WAVES",
		"SQ_INSTS",
		"SQ_INSTS_VALU",
		"SQ_INSTS_SALU",
		"SQ_LEVEL_WAVES_ACCUM",
		"SQ_IFETCH_LEVEL_ACCUM",
		"SQ_INST_LEVEL_LDS_ACCUM",
		"SQ_INST_LEVEL_SMEM_ACCUM",
		"SQ_INST_LEVEL_VMEM_ACCUM",
	};
	unsigned seed = 1;

	for (int turn = 0; turn < 400; turn++) {
		const char *chosen[WS_ARRAY_LEN(names)];
		struct item items[WS_ARRAY_LEN(names)];
		struct cnt_plan_group group = { chosen, 0 };
		struct cnt_plan *plan;

		for (size_t i = 0; i < WS_ARRAY_LEN(names) && group.n < 12; i++) {
			const char *ending = strstr(names[i], "_ACCUM");
			char base[64];
			const struct cnt_counter_def *def;

			if (rand_r(&seed) % 2)
				continue;
			snprintf(base, sizeof(base), "%.*s",
				 (int)(ending ? ending - names[i] : (long)strlen(names[i])),
				 names[i]);
			def = cnt_catalogue_find(mi200, base);
			items[group.n].size = ending ? 2 : 1;
			items[group.n].block =
				(unsigned)(def->block - cnt_catalogue_block(mi200, 0));
			chosen[group.n++] = names[i];
		}
		if (!group.n)
			continue;
		plan = make(mi200, &group, 1, CNT_PLAN_POOL);
		assert_int_equal(plan->n_passes, fewest_by_search(items, group.n));
		cnt_plan_destroy(plan);
	}
}

static void whatever_is_asked_for_the_limits_hold(void **state)
{
	unsigned seed = 7;
	const char *arch;

	for (size_t a = 0; (arch = cnt_catalogue_arch_name(a)); a++) {
		struct cnt_catalogue *cat;
		struct ws_err err;
		const char **names;

		assert_int_equal(cnt_catalogue_create_typical(arch, &cat, &err), WS_OK);
		names = calloc(cnt_catalogue_n(cat), sizeof(*names));
		for (int turn = 0; turn < 30; turn++) {
			struct cnt_plan_group group = { names, 0 };
			int odds = 1 + rand_r(&seed) % 20;

			for (size_t i = 0; i < cnt_catalogue_n(cat); i++)
				if (rand_r(&seed) % odds == 0 &&
				    !strstr(cnt_catalogue_at(cat, i)->name, "SQ_ACCUM_PREV"))
					names[group.n++] = cnt_catalogue_at(cat, i)->name;
			cnt_plan_destroy(make(cat, &group, 1, CNT_PLAN_POOL));
		}
		free(names);
		cnt_catalogue_destroy(cat);
	}
}

/* What a derived counter is computed from is counted in one run where its blocks can. */
static void inputs_of_a_derived_counter_are_kept_together(void **state)
{
	const char **names = calloc(cnt_catalogue_n(mi200), sizeof(*names));
	struct cnt_plan_group group = { names, 0 };
	size_t n_together = 0, n_derived = 0;
	struct cnt_plan *plan;

	for (size_t i = 0; i < cnt_catalogue_n(mi200); i++)
		if (cnt_catalogue_at(mi200, i)->kind == CNT_COUNTER_DERIVED)
			names[group.n++] = cnt_catalogue_at(mi200, i)->name;
	plan = make(mi200, &group, 1, CNT_PLAN_POOL);
	for (size_t i = 0; i < plan->n_requests; i++) {
		if (plan->requests[i].n_reads < 2)
			continue;
		n_derived++;
		n_together += plan->requests[i].one_pass;
	}
	print_message("%zu of %zu derived counters from one run, %zu passes\n", n_together,
		      n_derived, plan->n_passes);
	/* Not all: ten rates of L2 share TCC_BUSY, and every place of TCC is taken. */
	assert_true(n_together * 4 >= n_derived * 3);
	cnt_plan_destroy(plan);
	plan = make(mi200,
		    &GROUP("VALUBusy", "L2CacheHit", "MeanOccupancyPerCU", "GPU_UTIL", "WaveExec"),
		    1, CNT_PLAN_POOL);
	assert_int_equal(plan->n_passes, 1);
	cnt_plan_destroy(plan);
	free(names);
}

static char *printed(const struct cnt_plan *plan, const struct cnt_plan_cost *cost)
{
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	cnt_plan_print(to, plan, cost);
	fclose(to);
	return text;
}

static void the_plan_is_printed(void **state)
{
	struct cnt_plan *plan =
		make(soft,
		     &GROUP("TA_TA_BUSY", "SQ_WAVES", "L2CacheHit", "TA_BUFFER_WAVEFRONTS",
			    "SQ_WAVE", "TA_FLAT_WAVEFRONTS", "CU_NUM"),
		     1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING);
	struct cnt_plan_cost cost = { .baseline_s = 3.5, .slowdown = 2 };
	char *text = printed(plan, &cost);

	assert_string_equal(
		text, "counters on gfx90a (software GPU):\n"
		      "  TA_TA_BUSY            available  modelled  pass 1\n"
		      "  SQ_WAVES              available  exact     pass 1\n"
		      "  L2CacheHit            available  modelled  pass 1\n"
		      "      = 100*reduce(TCC_HIT,sum)/(reduce(TCC_HIT,sum)+reduce(TCC_MISS,sum))\n"
		      "  TA_BUFFER_WAVEFRONTS  available  exact     pass 1\n"
		      "  SQ_WAVE               not available\n"
		      "      no counter 'SQ_WAVE' on gfx90a: did you mean 'SQ_WAVES'?\n"
		      "  TA_FLAT_WAVEFRONTS    available  exact     pass 2\n"
		      "  CU_NUM                available  exact     known without a run\n"
		      "      = simd_count/simd_per_cu\n"
		      "passes:\n"
		      "  pass 1: SQ 1 of 8, TA 2 of 2, TCC 2 of 4\n"
		      "      SQ_WAVES TA_TA_BUSY TA_BUFFER_WAVEFRONTS TCC_HIT_sum TCC_MISS_sum\n"
		      "  pass 2: TA 1 of 2\n"
		      "      TA_FLAT_WAVEFRONTS\n"
		      "2 passes, 2 runs of the application\n"
		      "expected time: 14.0 s (2 runs of 7.00 s, counting slows down 2 times)\n"
		      "1 of 7 counters not available\n");
	free(text);
	cost = (struct cnt_plan_cost){ .baseline_s = 100, .kernel_replay = true };
	text = printed(plan, &cost);
	assert_non_null(strstr(text,
			       "2 passes, 1 run of the application: kernels are replayed\n"
			       "expected time: 3 min 20 s at most (2 passes of 100.0 s, without "
			       "the overhead of counting)\n"));
	free(text);
	cnt_plan_destroy(plan);
}

static void a_lack_of_memory_is_reported(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct cnt_plan_group group =
			GROUP("SQ_WAVES", "MeanOccupancyPerCU", "TCC_HIT[1]", "SQ_WAVE");
		struct cnt_plan *plan = NULL;
		struct ws_err err;
		enum ws_status st = cnt_plan_make(mi200, &group, 1,
						  CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING, &plan, &err);

		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		if (!st)
			cnt_plan_destroy(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms_of_a_counter_share_its_place),
		cmocka_unit_test(an_accumulation_stands_behind_its_level),
		cmocka_unit_test(repeated_names_are_one_request_per_group),
		cmocka_unit_test(fixed_groups_must_fit),
		cmocka_unit_test(what_cannot_be_had_is_explained),
		cmocka_unit_test(constants_need_no_run),
		cmocka_unit_test(values_come_from_the_reads),
		cmocka_unit_test(small_plans_are_as_short_as_an_exhaustive_search_finds),
		cmocka_unit_test(whatever_is_asked_for_the_limits_hold),
		cmocka_unit_test(inputs_of_a_derived_counter_are_kept_together),
		cmocka_unit_test(the_plan_is_printed),
		cmocka_unit_test(a_lack_of_memory_is_reported),
	};

	return RUN_WITH(tests, setup, teardown);
}
