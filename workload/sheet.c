#include "workload/sheet.h"

#include "base/vec.h"
#include "workload/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHEETS_MAX 4096u
#define COLUMNS_MAX 65536u
#define ACCUM_SUFFIX "_ACCUM"
#define ACCUM_HEADER WL_COL_ACCUM

WS_VEC_TYPE(sheet_list, struct wl_sheet);
WS_VEC_TYPE(column_list, struct wl_sheet_column);

static bool is_accumulated(const struct cnt_plan_read *read)
{
	return read->form == CNT_FORM_ACCUMULATED;
}

static unsigned pass_of(const struct cnt_plan *plan, size_t request)
{
	const struct cnt_plan_request *r = &plan->requests[request];

	return r->n_reads ? plan->reads[r->reads[0]].pass : 0;
}

/* The level that a request accumulates, or NULL. */
static const char *level_of(const struct cnt_plan *plan, size_t request)
{
	const struct cnt_plan_request *r = &plan->requests[request];

	for (size_t i = 0; i < r->n_reads; i++)
		if (is_accumulated(&plan->reads[r->reads[i]]))
			return plan->reads[r->reads[i]].counter->name;
	return NULL;
}

static int by_header(const void *a, const void *b)
{
	return strcmp(((const struct wl_sheet_column *)a)->header,
		      ((const struct wl_sheet_column *)b)->header);
}

static int by_name(const void *a, const void *b)
{
	const struct wl_sheet *x = a, *y = b;

	if (!x->level != !y->level)
		return x->level ? -1 : 1;
	return strverscmp(x->name, y->name);
}

/* The sheets that the passes become; their columns are filled in afterwards. */
static enum ws_status list_sheets(const struct cnt_plan *plan, size_t n_wants, unsigned number,
				  struct ws_arena *arena, struct sheet_list *list,
				  struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (unsigned pass = 0; pass < plan->n_passes && !st; pass++) {
		size_t n_before = list->n;

		for (size_t i = 0; i < n_wants && !st; i++) {
			const char *level = level_of(plan, i);

			if (level && pass_of(plan, i) == pass)
				st = ws_vec_push(list,
						 ((struct wl_sheet){ .name = level,
								     .pass = pass,
								     .level = level }),
						 err);
		}
		if (!st && list->n == n_before) {
			char *name = ws_arena_printf(arena, "pmc_perf_%u", number++);

			st = name ? ws_vec_push(list,
						((struct wl_sheet){ .name = name, .pass = pass }),
						err)
				  : ws_fail(err, WS_E_NOMEM, "out of memory");
		}
	}
	/* A few metrics may be all levels; analyze starts from pmc_perf, so there is one. */
	if (!st && !number && plan->n_passes)
		st = ws_vec_push(list, ((struct wl_sheet){ .name = "pmc_perf_0" }), err);
	return st;
}

static enum ws_status add_column(struct column_list *columns, struct ws_arena *arena,
				 const char *name, size_t request, int instance, bool accumulated,
				 struct ws_err *err)
{
	struct wl_sheet_column column = { .request = request, .instance = instance };

	column.name = instance >= 0 ? ws_arena_printf(arena, "%s[%d]", name, instance)
				    : ws_arena_strdup(arena, name);
	if (!column.name)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	column.header = accumulated ? ACCUM_HEADER : column.name;
	return ws_vec_push(columns, column, err);
}

static size_t n_instances(const struct cnt_plan *plan, size_t request)
{
	const struct cnt_counter_def *counter = plan->requests[request].counter;

	return counter ? cnt_shape_size(&counter->shape) : 0;
}

/* Whether a sheet shows a request: that of its pass, and of levels only its own. */
static bool belongs(const struct cnt_plan *plan, const struct wl_sheet *sheet, bool first_of_pass,
		    const struct wl_want *want, size_t request)
{
	const char *level = level_of(plan, request);
	bool is_own_level = sheet->level && strcmp(want->name, sheet->level) == 0;

	if (plan->requests[request].state != CNT_PLAN_AVAILABLE ||
	    pass_of(plan, request) != sheet->pass || !plan->requests[request].n_reads)
		return false;
	if (level)
		return sheet->level && strcmp(level, sheet->level) == 0;
	return first_of_pass || is_own_level;
}

static enum ws_status fill_sheet(const struct cnt_plan *plan, const struct wl_want *wants,
				 size_t n_wants, bool first_of_pass, struct ws_arena *arena,
				 struct wl_sheet *sheet, struct ws_err *err)
{
	struct column_list columns;
	enum ws_status st = WS_OK;

	ws_vec_init(&columns, COLUMNS_MAX);
	for (size_t i = 0; i < n_wants && !st; i++) {
		const struct wl_want *want = &wants[i];

		if (!belongs(plan, sheet, first_of_pass, want, i))
			continue;
		if (!want->channels)
			st = add_column(&columns, arena, want->name, i, -1, level_of(plan, i), err);
		for (size_t k = 0; want->channels && k < n_instances(plan, i) && !st; k++)
			st = add_column(&columns, arena, want->name, i, (int)k, false, err);
	}
	ws_vec_sort(&columns, by_header);
	if (!st) {
		sheet->columns = ws_arena_array(arena, columns.n + 1, sizeof(*columns.at));
		sheet->n_columns = columns.n;
		if (sheet->columns)
			memcpy(sheet->columns, columns.at, columns.n * sizeof(*columns.at));
		else
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_vec_fini(&columns);
	return st;
}

enum ws_status wl_sheets_make(const struct cnt_plan *plan, const struct wl_want *wants,
			      size_t n_wants, unsigned first_number, struct ws_arena *arena,
			      struct wl_sheets *out_sheets, struct ws_err *err)
{
	struct sheet_list list;
	enum ws_status st;

	ws_vec_init(&list, SHEETS_MAX);
	st = list_sheets(plan, n_wants, first_number, arena, &list, err);
	/* In the order of passes, where the first of a pass takes what is about no level. */
	for (size_t i = 0; i < list.n && !st; i++)
		st = fill_sheet(plan, wants, n_wants,
				!i || !list.at[i].level || list.at[i - 1].pass != list.at[i].pass,
				arena, &list.at[i], err);
	ws_vec_sort(&list, by_name);
	if (!st) {
		out_sheets->plan = plan;
		out_sheets->n = list.n;
		out_sheets->at = ws_arena_array(arena, list.n + 1, sizeof(*list.at));
		if (out_sheets->at)
			memcpy(out_sheets->at, list.at, list.n * sizeof(*list.at));
		else
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_vec_fini(&list);
	return st;
}
