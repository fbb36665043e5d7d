/*
 * Iteration multiplexing: each launch of a kernel counted one set; here the sets of
 * neighbouring launches are put together, so that every launch has all counters.
 *
 * Launches of a kernel (or of a kernel with the same sizes) are taken in the order of
 * their dispatch, as many at a time as there are sets: these make one whole. A group at the
 * end that is not whole takes what it lacks from the nearest before it.
 */
#include "cmd/compute/profile_collect.h"

#include "base/map.h"
#include "base/str.h"
#include "cmd/compute/say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX (1u << 20)
#define ROWS_MAX (1u << 30)
#define RECOMMENDED 50u

WS_VEC_TYPE(row_list, uint32_t);

struct group {
	const char *kernel;
	struct row_list rows;
};

/* Which set a row counted: the pass whose first counter has a value. */
static size_t pass_of_row(const struct cnt_plan *plan, const struct trc_counted *table,
			  const struct trc_counted_column *const *first, size_t row)
{
	const double *cells = trc_counted_cells(table, row);

	for (size_t p = 0; p < plan->n_passes; p++)
		if (first[p] && first[p]->n && !isnan(cells[first[p]->first]))
			return p;
	return SIZE_MAX;
}

static enum ws_status key_of(struct pf_collect *c, const struct trc_counted_row *row,
			     struct ws_buf *key, struct ws_err *err)
{
	ws_buf_clear(key);
	ws_buf_printf(key, "%u %u %s", row->process->index,
		      row->agent ? row->agent->info->node_id : 0, row->kernel->formatted);
	if (c->multiplex == PF_MULTIPLEX_LAUNCH)
		ws_buf_printf(key, " %u %u %u %u %u %u %u", row->grid[0], row->grid[1],
			      row->grid[2], row->workgroup[0], row->workgroup[1], row->workgroup[2],
			      row->group_bytes);
	return ws_buf_status(key, err);
}

static enum ws_status make_groups(struct pf_collect *c, const struct trc_counted *table,
				  struct ws_map *groups, struct ws_err *err)
{
	struct ws_buf key;
	enum ws_status st = WS_OK;

	ws_buf_init(&key, 1 << 20);
	for (size_t i = 0; i < trc_counted_n_rows(table) && !st; i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);
		struct group *group;
		char *own;

		st = key_of(c, row, &key, err);
		group = st ? NULL : ws_map_get(groups, key.at);
		if (!st && !group) {
			group = ws_arena_new(&c->pf->arena, struct group);
			own = ws_arena_strndup(&c->pf->arena, key.at, key.n);
			if (!group || !own) {
				st = ws_fail(err, WS_E_NOMEM, "out of memory");
				break;
			}
			group->kernel = row->kernel->formatted;
			ws_vec_init(&group->rows, ROWS_MAX);
			st = ws_map_put(groups, ws_str_from(own), group, err);
		}
		if (!st)
			st = ws_vec_push(&group->rows, (uint32_t)i, err);
	}
	ws_buf_fini(&key);
	return st;
}

/* The rows of one group; false: some set was never counted for it. */
static bool fill_group(const struct group *group, const size_t *pass_of, size_t n_passes,
		       uint32_t *from)
{
	uint32_t *latest = calloc(n_passes, sizeof(*latest));
	bool whole = latest != NULL;

	for (size_t p = 0; latest && p < n_passes; p++)
		latest[p] = WL_NO_ROW;
	for (size_t start = 0; latest && start < group->rows.n; start += n_passes) {
		size_t n = WS_MIN(n_passes, group->rows.n - start);

		/* What this stretch counted comes before what is left from the one before. */
		for (size_t i = start; i < start + n; i++)
			if (pass_of[group->rows.at[i]] != SIZE_MAX)
				latest[pass_of[group->rows.at[i]]] = group->rows.at[i];
		for (size_t i = start; i < start + n; i++)
			memcpy(from + (size_t)group->rows.at[i] * n_passes, latest,
			       n_passes * sizeof(*latest));
	}
	for (size_t p = 0; latest && p < n_passes; p++)
		whole &= latest[p] != WL_NO_ROW;
	free(latest);
	return whole;
}

static void warn(const struct pf_collect *c, const struct ws_buf *kernels)
{
	if (!kernels->n)
		return;
	say(SAY_WARNING,
	    "Insufficient kernel dispatches for iteration multiplexing: each kernel should be "
	    "called at least %zu times (%u recommended). Counters are missing, and metrics cannot "
	    "be computed, for: %s",
	    c->plan->n_passes, RECOMMENDED, kernels->at);
}

enum ws_status pf_multiplex_fill(struct pf_collect *c, const struct trc_counted *table,
				 struct wl_sheet_rows *out_rows, struct ws_err *err)
{
	size_t n_rows = trc_counted_n_rows(table), n_passes = c->plan->n_passes;
	uint32_t *from = ws_arena_array(&c->pf->arena, n_rows * n_passes + 1, sizeof(*from));
	const struct trc_counted_column **first = calloc(n_passes + 1, sizeof(*first));
	size_t *pass_of = calloc(n_rows + 1, sizeof(*pass_of));
	struct ws_map groups;
	struct ws_buf few;
	enum ws_status st = WS_OK;

	ws_map_init(&groups, WS_MAP_STR, GROUPS_MAX);
	ws_buf_init(&few, 1 << 20);
	if (!from || !first || !pass_of)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t p = 0; p < n_passes && !st; p++)
		first[p] = trc_counted_find(table, c->sets[p].names[0]);
	for (size_t i = 0; i < n_rows && !st; i++)
		pass_of[i] = pass_of_row(c->plan, table, first, i);
	if (!st)
		st = make_groups(c, table, &groups, err);
	ws_map_each(entry, &groups) {
		struct group *group = entry->value;

		if (!st && !fill_group(group, pass_of, n_passes, from))
			ws_buf_printf(&few, "%s%s (%zu dispatches)", few.n ? "; " : "",
				      group->kernel, group->rows.n);
		ws_vec_fini(&group->rows);
	}
	if (!st)
		warn(c, &few);
	out_rows->from = from;
	free(first);
	free(pass_of);
	ws_buf_fini(&few);
	ws_map_fini(&groups);
	return st;
}
