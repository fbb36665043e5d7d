/* Plans for tests: three catalogues, and a maker that counts anew what a plan claims. */
#ifndef WS_TESTS_UNIT_COUNTERS_PLAN_H
#define WS_TESTS_UNIT_COUNTERS_PLAN_H

#include "counters/plan.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct cnt_catalogue *mi200, *mi300, *soft;

static int setup(void **state)
{
	struct gpu_agent mi210 = { .arch = "gfx90a",
				   .is_gpu = true,
				   .simd_count = 416,
				   .simd_per_cu = 4,
				   .array_count = 8,
				   .simd_arrays_per_engine = 1,
				   .cu_per_simd_array = 13,
				   .wave_front_size = 64,
				   .num_xcc = 1,
				   .soft = true };
	struct ws_err err;

	return cnt_catalogue_create_typical("gfx90a", &mi200, &err) ||
	       cnt_catalogue_create_typical("gfx942", &mi300, &err) ||
	       cnt_catalogue_create(&mi210, &soft, &err);
}

static int teardown(void **state)
{
	cnt_catalogue_destroy(mi200);
	cnt_catalogue_destroy(mi300);
	cnt_catalogue_destroy(soft);
	return 0;
}

#define GROUP(...)                                                                                 \
	((struct cnt_plan_group){ (const char *const[]){ __VA_ARGS__ },                            \
				  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) })

/* Counted anew: what a pass asks of a block is within its limit, and accumulators stand where they
 * must. */
static void check_passes(const struct cnt_plan *plan)
{
	for (size_t p = 0; p < plan->n_passes; p++) {
		const struct cnt_plan_pass *pass = &plan->passes[p];

		assert_true(pass->n_reads > 0);
		for (size_t b = 0; b < cnt_catalogue_n_blocks(plan->cat); b++) {
			const struct cnt_counter_block *block = cnt_catalogue_block(plan->cat, b);
			unsigned n = 0;

			for (uint32_t i = 0; i < pass->n_reads; i++)
				n += plan->reads[pass->first_read + i].counter->block == block;
			if (n > block->limit)
				fail_msg("pass %zu: %u of block %s", p, n, block->name);
		}
		for (uint32_t i = 0; i < pass->n_reads; i++) {
			const struct cnt_plan_read *read = &plan->reads[pass->first_read + i];

			assert_int_equal(read->pass, p);
			for (uint32_t k = 0; k < i; k++)
				assert_string_not_equal(read->spelling, read[-(int)k - 1].spelling);
			if (read->form != CNT_FORM_ACCUMULATED)
				continue;
			assert_true(i > 0);
			assert_ptr_equal(read[-1].counter, read->counter);
			assert_int_equal(read[-1].form, CNT_FORM_EACH);
		}
	}
}

static void check_requests(const struct cnt_plan *plan)
{
	for (size_t i = 0; i < plan->n_requests; i++) {
		const struct cnt_plan_request *q = &plan->requests[i];

		assert_int_equal(q->state == CNT_PLAN_AVAILABLE, q->why == NULL);
		if (q->state || q->counter->kind == CNT_COUNTER_CONSTANT)
			assert_int_equal(q->n_reads, 0);
		for (size_t k = 0; k < q->n_reads; k++) {
			assert_in_range(q->reads[k], 0, plan->n_reads - 1);
			if (q->one_pass)
				assert_int_equal(plan->reads[q->reads[k]].pass,
						 plan->reads[q->reads[0]].pass);
		}
	}
}

/* What no plan can go below: places of a block over its limit. */
static size_t bound_of(const struct cnt_plan *plan)
{
	size_t bound = 0;

	for (size_t b = 0; b < cnt_catalogue_n_blocks(plan->cat); b++) {
		const struct cnt_counter_block *block = cnt_catalogue_block(plan->cat, b);
		size_t places = 0;

		for (size_t i = 0; i < plan->n_reads; i++) {
			size_t k = 0;

			if (plan->reads[i].counter->block != block)
				continue;
			while (strcmp(plan->reads[k].spelling, plan->reads[i].spelling) != 0)
				k++;
			places += k == i; /* counted again in a later pass: once is enough */
		}
		if ((places + block->limit - 1) / block->limit > bound)
			bound = (places + block->limit - 1) / block->limit;
	}
	return bound;
}

static struct cnt_plan *make(const struct cnt_catalogue *cat, const struct cnt_plan_group *groups,
			     size_t n, unsigned mode)
{
	struct cnt_plan *plan = NULL;
	struct ws_err err;

	if (cnt_plan_make(cat, groups, n, mode, &plan, &err))
		fail_msg("%s", err.text);
	check_passes(plan);
	check_requests(plan);
	if ((mode & 0xff) == CNT_PLAN_POOL)
		assert_int_equal(plan->n_passes, bound_of(plan));
	return plan;
}

#endif
