/* Which counters a choice of report blocks needs, and in how many passes: never more than AMD's. */
#include "analysis/counters_needed.h"
#include "counters/plan.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ana_metrics *metrics;
static struct ana_report_choice choice;
static struct ana_counters needed;
static struct ws_arena arena;
static struct ws_err err;

static void begin(const char *arch, const char *const *sections, size_t n)
{
	choice = (struct ana_report_choice){ sections, n, false };
	ws_arena_init(&arena, 64 << 20);
	if (ana_metrics_load(arch, NULL, &metrics, &err))
		fail_msg("%s", err.text);
}

static void end(void)
{
	ana_metrics_free(metrics);
	ws_arena_fini(&arena);
}

static enum ws_status choose(void)
{
	return ana_counters_needed(metrics, &choice, &arena, &needed, &err);
}

/* The passes for the choice; 0 with a message when it fails. */
static size_t n_passes(size_t *out_wants)
{
	struct cnt_catalogue *cat = NULL;
	struct cnt_plan *plan = NULL;
	struct cnt_plan_group group;
	const char **names;
	size_t passes = 0;

	if (choose())
		fail_msg("%s", err.text);
	names = calloc(needed.n, sizeof(*names));
	for (size_t i = 0; i < needed.n; i++)
		names[i] = needed.at[i].name;
	group = (struct cnt_plan_group){ names, needed.n };
	if (cnt_catalogue_create_typical(metrics->arch, &cat, &err) ||
	    cnt_plan_make(cat, &group, 1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING, &plan, &err))
		fail_msg("%s", err.text);
	passes = plan->n_passes;
	if (out_wants)
		*out_wants = needed.n;
	cnt_plan_destroy(plan);
	cnt_catalogue_destroy(cat);
	free(names);
	return passes;
}

static void a_full_profile_needs_no_more_passes_than_amds(void **state)
{
	static const struct {
		const char *arch;
		size_t n_passes,
			n_counters; /* counters with channels folded, as AMD's configs have */
	} amd[] = { { "gfx908", 12, 195 }, { "gfx90a", 12, 234 }, { "gfx940", 12, 232 },
		    { "gfx941", 12, 232 }, { "gfx942", 12, 232 }, { "gfx950", 20, 326 } };

	for (size_t i = 0; i < WS_ARRAY_LEN(amd); i++) {
		size_t wants;

		begin(amd[i].arch, NULL, 0);
		assert_in_range(n_passes(&wants), 1, amd[i].n_passes);
		/* About as many; each level counts twice here, accumulated and not. */
		assert_in_range(wants, amd[i].n_counters - 10, amd[i].n_counters + 12);
		end();
	}
}

static void no_block_needs_more_passes_than_amds(void **state)
{
	static const char *const archs[] = { "gfx908", "gfx90a", "gfx942", "gfx950" };
	static const struct {
		const char *block;
		size_t n_passes[4];
	} amd[] = {
		{ "2", { 3, 6, 6, 6 } },   { "3", { 4, 4, 4, 4 } },  { "5", { 5, 5, 5, 8 } },
		{ "6", { 3, 3, 3, 6 } },   { "7", { 2, 2, 2, 2 } },  { "10", { 4, 4, 4, 5 } },
		{ "11", { 2, 6, 6, 6 } },  { "12", { 2, 2, 2, 3 } }, { "13", { 2, 2, 2, 2 } },
		{ "14", { 2, 2, 2, 2 } },  { "15", { 8, 8, 8, 9 } }, { "16", { 10, 10, 9, 14 } },
		{ "17", { 8, 9, 8, 15 } }, { "18", { 4, 4, 4, 5 } },
	};

	for (size_t a = 0; a < WS_ARRAY_LEN(archs); a++)
		for (size_t i = 0; i < WS_ARRAY_LEN(amd); i++) {
			size_t n;

			begin(archs[a], &amd[i].block, 1);
			n = n_passes(NULL);
			if (n < 1 || n > amd[i].n_passes[a])
				fail_msg("%s block %s: %zu passes, AMD's has %zu", archs[a],
					 amd[i].block, n, amd[i].n_passes[a]);
			end();
		}
}

static void every_set_is_one_pass(void **state)
{
	static const char *const sets[] = { "compute_thruput_util", "compute_thruput_flops",
					    "mem_thruput", "launch_stats" };
	static const char *const archs[] = { "gfx908", "gfx90a", "gfx940", "gfx942", "gfx950" };

	for (size_t a = 0; a < WS_ARRAY_LEN(archs); a++)
		for (size_t i = 0; i < WS_ARRAY_LEN(sets); i++) {
			begin(archs[a], NULL, 0);
			assert_int_equal(ana_set_sections(metrics, sets[i], &arena,
							  &choice.sections, &choice.n_sections,
							  &err),
					 WS_OK);
			assert_in_range(choice.n_sections, 1, 8);
			assert_int_equal(n_passes(NULL), 1);
			end();
		}
}

static void sets_have_amds_ids(void **state)
{
	static const struct {
		const char *arch, *set, *ids;
	} amd[] = {
		{ "gfx90a", "compute_thruput_util", "11.2.3 11.2.4 11.2.5 11.2.6" },
		{ "gfx90a", "compute_thruput_flops", "2.1.2 2.1.3 2.1.4 2.1.5 2.1.6" },
		{ "gfx90a", "mem_thruput", "2.1.16 2.1.17 16.1.2 17.1.0" },
		{ "gfx90a", "launch_stats", "7.1.0 7.1.1 7.1.2 7.1.5 7.1.6 7.1.7 7.1.8 7.1.9" },
		{ "gfx908", "compute_thruput_util", "11.2.2 11.2.3" },
		{ "gfx942", "compute_thruput_util", "11.2.2 11.2.3 11.2.4 11.2.5" },
		{ "gfx942", "mem_thruput", "2.1.17 2.1.18 16.1.2 17.1.0" },
		{ "gfx950", "compute_thruput_util", "11.2.2 11.2.3 11.2.5 11.2.6" },
		{ "gfx950", "compute_thruput_flops", "2.1.2 2.1.3 2.1.4 2.1.5 2.1.6 2.1.8" },
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(amd); i++) {
		struct ws_buf ids;

		begin(amd[i].arch, NULL, 0);
		assert_int_equal(ana_set_sections(metrics, amd[i].set, &arena, &choice.sections,
						  &choice.n_sections, &err),
				 WS_OK);
		ws_buf_init(&ids, 4096);
		for (size_t k = 0; k < choice.n_sections; k++)
			ws_buf_printf(&ids, "%s%s", k ? " " : "", choice.sections[k]);
		assert_string_equal(ids.at, amd[i].ids);
		ws_buf_fini(&ids);
		end();
	}
}

static void has_want(const char *name, bool channels)
{
	for (size_t i = 0; i < needed.n; i++)
		if (strcmp(needed.at[i].name, name) == 0 && needed.at[i].channels == channels)
			return;
	fail_msg("%s is not among the counters", name);
}

static void metrics_bring_their_counters(void **state)
{
	static const char *const one[] = { "12.1.1" }, *const channels[] = { "18.2" };
	static const char *const waves[] = { "wavefront" }, *const wrong[] = { "12.x" };
	size_t n;

	begin("gfx90a", one, 1);
	assert_int_equal(choose(), WS_OK);
	/* What every unit divides by is always there. */
	has_want("SQ_WAVES", false);
	has_want("GRBM_GUI_ACTIVE", false);
	assert_in_range(needed.n, 3, 8);
	end();

	begin("gfx90a", channels, 1);
	assert_int_equal(choose(), WS_OK);
	has_want("TCC_HIT", true);
	has_want("TCC_MISS", true);
	end();

	begin("gfx90a", waves, 1);
	assert_int_equal(choose(), WS_OK);
	has_want("SQ_LEVEL_WAVES", false);
	has_want("SQ_LEVEL_WAVES_ACCUM", false);
	end();

	begin("gfx90a", wrong, 1);
	assert_fails_with(choose(), WS_E_USAGE, &err, "Invalid metric id: 12.x");
	end();

	begin("gfx908", NULL, 0);
	choice.roofline_only = true;
	assert_fails_with(choose(), WS_E_STATE, &err, "does not support roofline");
	end();

	/* AMD's list, and what table 4.1 has: matrix operations of integers, on gfx950 of 6- and 4-bit floats, and
	 * large reads of memory */
	begin("gfx90a", NULL, 0);
	choice.roofline_only = true;
	assert_in_range(n_passes(&n), 1, 3);
	assert_int_equal(n, 27 + 1);
	end();

	begin("gfx950", NULL, 0);
	choice.roofline_only = true;
	assert_in_range(n_passes(&n), 1, 3);
	assert_int_equal(n, 27 + 2 + 3);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_profile_needs_no_more_passes_than_amds),
		cmocka_unit_test(no_block_needs_more_passes_than_amds),
		cmocka_unit_test(every_set_is_one_pass),
		cmocka_unit_test(sets_have_amds_ids),
		cmocka_unit_test(metrics_bring_their_counters),
	};

	return RUN(tests);
}
