/*
 * Iteration multiplexing: each launch of a kernel counted one set; here the sets of
 * neighbouring launches are put together, so that every launch has all counters.
 */
#include "workload/match.h"

#include "base/vec.h"
#include "workload/launch_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX (1u << 20)
#define ROWS_MAX (1u << 30)

WS_VEC_TYPE(row_list, uint32_t);

/* Launches of one kind, in order of dispatch. */
struct group {
	const char *kernel;
	struct row_list rows;
};
WS_VEC_TYPE(group_list, struct group);

/* Which pass a row counted: the one whose first counter has a value. */
static size_t pass_of_row(size_t n_passes, const struct trc_counted *table,
			  const struct trc_counted_column *const *first, size_t row)
{
	const double *cells = trc_counted_cells(table, row);

	for (size_t p = 0; p < n_passes; p++)
		if (first[p] && first[p]->n && !isnan(cells[first[p]->first]))
			return p;
	return SIZE_MAX;
}

static enum ws_status make_groups(const struct trc_counted *table, struct trc_match *match,
				  struct group_list *groups, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < trc_counted_n_rows(table) && !st; i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);
		const char *name = row->kernel->formatted;
		struct trc_launch launch = wl_launch_of_row(row, ws_hash_bytes(name, strlen(name)));
		uint32_t kind;

		/* The collector takes turns for each GPU of each process. */
		launch.process = row->process->index;
		launch.gpu = row->agent ? row->agent->info->node_id : 0;
		st = trc_match_kind(match, &launch, &kind, err);
		if (!st && kind == groups->n) {
			struct group group = { .kernel = name };

			ws_vec_init(&group.rows, ROWS_MAX);
			st = ws_vec_push(groups, group, err);
		}
		if (!st)
			st = ws_vec_push(&groups->at[kind].rows, (uint32_t)i, err);
	}
	return st;
}

/* The rows of one group; false: some pass was never counted for it. */
static bool fill_group(const struct group *group, const size_t *pass_of, size_t n_passes,
		       uint32_t *latest, uint32_t *from)
{
	bool whole = true;

	for (size_t p = 0; p < n_passes; p++)
		latest[p] = WL_NO_ROW;
	for (size_t start = 0; start < group->rows.n; start += n_passes) {
		size_t n = WS_MIN(n_passes, group->rows.n - start);

		/* What this stretch counted comes before what is left from the one before. */
		for (size_t i = start; i < start + n; i++)
			if (pass_of[group->rows.at[i]] != SIZE_MAX)
				latest[pass_of[group->rows.at[i]]] = group->rows.at[i];
		for (size_t i = start; i < start + n; i++)
			memcpy(from + (size_t)group->rows.at[i] * n_passes, latest,
			       n_passes * sizeof(*latest));
	}
	for (size_t p = 0; p < n_passes; p++)
		whole &= latest[p] != WL_NO_ROW;
	return whole;
}

enum ws_status wl_multiplex_rows(const struct cnt_plan *plan, const struct trc_counted *table,
				 enum trc_alike alike, struct ws_arena *arena,
				 struct wl_multiplexed *out_rows, struct ws_err *err)
{
	size_t n_rows = trc_counted_n_rows(table), n_passes = plan->n_passes;
	uint32_t *from = ws_arena_array(arena, n_rows * n_passes + 1, sizeof(*from));
	const struct trc_counted_column **first = calloc(n_passes + 1, sizeof(*first));
	size_t *pass_of = calloc(n_rows + 1, sizeof(*pass_of));
	uint32_t *latest = calloc(n_passes + 1, sizeof(*latest));
	struct wl_multiplexed made = { .from = from };
	struct trc_match match;
	struct group_list groups;
	enum ws_status st = WS_OK;

	trc_match_init(&match, alike);
	ws_vec_init(&groups, GROUPS_MAX);
	if (!from || !first || !pass_of || !latest)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; p < n_passes && !st; p++)
		first[p] =
			trc_counted_find(table, plan->reads[plan->passes[p].first_read].spelling);
	for (size_t i = 0; i < n_rows && !st; i++)
		pass_of[i] = pass_of_row(n_passes, table, first, i);
	if (!st)
		st = make_groups(table, &match, &groups, err);
	made.too_few = ws_arena_array(arena, groups.n + 1, sizeof(*made.too_few));
	if (!st && !made.too_few)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_vec_each(group, &groups) {
		if (!st && !fill_group(group, pass_of, n_passes, latest, from))
			made.too_few[made.n_too_few++] =
				(struct wl_too_few){ group->kernel, group->rows.n };
		ws_vec_fini(&group->rows);
	}
	if (!st)
		*out_rows = made;
	free(first);
	free(pass_of);
	free(latest);
	ws_vec_fini(&groups);
	trc_match_fini(&match);
	return st;
}
