/*
 * The rocpd form has one row per counter of a dispatch; here it becomes one row per
 * dispatch. Each pass has its own times: a dispatch gets the median duration.
 */
#include "workload/workload_priv.h"

#include "base/fold.h"
#include "workload/launch_columns.h"
#include "workload/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns with a meaning of their own, not just carried over from a group's first row. */
static const char *const special[] = { WL_COL_COUNTER, WL_COL_VALUE, WL_COL_START,
				       WL_COL_END,     WL_COL_GPU,   WL_COL_DISPATCH };

/* Rows of one dispatch: it has a number, and is of a kind (trace/dispatch_match.h). */
struct key {
	double number;
	uint64_t kind;
};

struct group {
	struct key key;
	struct trc_launch launch;
	size_t first_csv, first_row;
	uint32_t order; /* of appearance */
	const struct wl_dict *dict;
};

struct pivot {
	struct wl_workload *load;
	struct wl_csv *const *csvs;
	size_t n_csvs, n_rows;
	uint32_t *group_of; /* per row of all files */
	struct group **groups;
	size_t n_groups, cap_groups;
	uint32_t *place; /* order of appearance to row of the frame */
	struct wl_frame *frame;
	struct trc_match match;
	struct ws_err *err;
};

static struct group *add_group(struct pivot *p, const struct group *like)
{
	struct group *made = ws_arena_new(&p->load->arena, struct group);

	if (p->n_groups == p->cap_groups) {
		size_t cap = p->cap_groups ? p->cap_groups * 2 : 1024;
		void *grown = realloc(p->groups, cap * sizeof(*p->groups));

		p->groups = grown ? grown : p->groups;
		p->cap_groups = grown ? cap : p->cap_groups;
	}
	if (!made || p->n_groups == p->cap_groups) {
		ws_fail(p->err, WS_E_NOMEM, "out of memory");
		return NULL;
	}
	*made = *like;
	made->order = (uint32_t)p->n_groups;
	made->dict = &p->load->priv->kernels;
	p->groups[p->n_groups++] = made;
	return made;
}

/* The group of a row; NULL: no memory. Rows of one dispatch stand together: @last is tried first. */
static struct group *group_of_row(struct pivot *p, struct ws_map *map, struct group *like,
				  struct group *last)
{
	struct ws_str key = { (const char *)&like->key, sizeof(like->key) };
	struct ws_map_entry *entry;
	struct group *made;
	uint32_t kind;

	if (last && last->key.number == like->key.number &&
	    memcmp(&last->launch, &like->launch, sizeof(like->launch)) == 0)
		return last;
	if (trc_match_kind(&p->match, &like->launch, &kind, p->err))
		return NULL;
	like->key.kind = kind;
	entry = ws_map_find(map, key);
	if (entry)
		return entry->value;
	made = add_group(p, like);
	if (!made)
		return NULL;
	key.at = (const char *)&made->key;
	return ws_map_put(map, key, made, p->err) ? NULL : made;
}

static enum ws_status find_groups(struct pivot *p)
{
	struct ws_map map;
	struct group *last = NULL;
	enum ws_status st = WS_OK;
	size_t row = 0;

	ws_map_init(&map, WS_MAP_STR, (1u << 31) - 1);
	for (size_t f = 0; !st && f < p->n_csvs; f++) {
		const struct wl_csv_column *id = wl_csv_column(p->csvs[f], WL_COL_DISPATCH);
		struct wl_launch_columns columns = wl_launch_columns_of_csv(p->csvs[f]);

		if (!id || !columns.kernel)
			st = ws_fail(p->err, WS_E_FORMAT,
				     "'%s': the counter file has no column %s: profile again",
				     p->load->path, id ? WL_COL_KERNEL : WL_COL_DISPATCH);
		for (size_t i = 0; !st && i < p->csvs[f]->n_rows; i++, row++) {
			struct group like = { .key = { id->at[i], 0 },
					      .launch = wl_launch_of_file(&columns, i),
					      .first_csv = f,
					      .first_row = i };

			last = group_of_row(p, &map, &like, last);
			if (last)
				p->group_of[row] = last->order;
			else
				st = p->err->status;
		}
	}
	ws_map_fini(&map);
	return st;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	if (x->key.number != y->key.number)
		return x->key.number < y->key.number ? -1 : 1;
	if (x->launch.kernel != y->launch.kernel) /* by name, not by number */
		return strcmp(x->dict->texts[x->launch.kernel], y->dict->texts[y->launch.kernel]);
	if (x->launch.grid[0] != y->launch.grid[0])
		return order(x->launch.grid[0], y->launch.grid[0]);
	if (x->launch.workgroup[0] != y->launch.workgroup[0])
		return order(x->launch.workgroup[0], y->launch.workgroup[0]);
	return order(x->launch.group_bytes, y->launch.group_bytes);
}

static enum ws_status add(struct pivot *p, const char *name, double *at, bool is_text)
{
	if (!at)
		return ws_fail(p->err, WS_E_NOMEM, "out of memory");
	return wl_load_add_column(
		p->frame, (struct wl_column){ .name = name, .at = at, .is_text = is_text }, p->err);
}

static enum ws_status add_descriptions(struct pivot *p)
{
	const struct wl_csv *csv = p->csvs[0];
	enum ws_status st = WS_OK;
	double *ids = wl_load_column(p->load, p->n_groups);

	for (size_t i = 0; ids && i < p->n_groups; i++)
		ids[i] = (double)i;
	st = add(p, WL_COL_DISPATCH, ids, false);
	for (size_t c = 0; !st && c < csv->n_columns; c++) {
		const struct wl_csv_column *col = &csv->columns[c];
		double *at;
		bool skip = false;

		for (size_t s = 0; s < WS_ARRAY_LEN(special); s++)
			skip |= strcmp(special[s], col->name) == 0;
		if (skip)
			continue;
		at = wl_load_column(p->load, p->n_groups);
		for (size_t i = 0; at && i < p->n_groups; i++) {
			const struct group *g = p->groups[i];
			const struct wl_csv_column *from =
				g->first_csv ? wl_csv_column(p->csvs[g->first_csv], col->name)
					     : col;

			at[i] = from ? from->at[g->first_row] : NAN;
		}
		st = add(p, col->name, at, col->is_text || col->is_dict);
	}
	return st;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* GPU ids are numbered from 0 in the order of the ids they were recorded under. */
static enum ws_status add_gpus(struct pivot *p)
{
	double *at = wl_load_column(p->load, p->n_groups), distinct[256];
	size_t n = 0;

	for (size_t i = 0; at && i < p->n_groups; i++) {
		const struct group *g = p->groups[i];
		const struct wl_csv_column *col = wl_csv_column(p->csvs[g->first_csv], WL_COL_GPU);
		size_t d = 0;

		at[i] = col ? col->at[g->first_row] : 0;
		while (d < n && distinct[d] != at[i])
			d++;
		if (d == n && n < WS_ARRAY_LEN(distinct))
			distinct[n++] = at[i];
	}
	qsort(distinct, n, sizeof(*distinct), by_value);
	for (size_t i = 0; at && i < p->n_groups; i++)
		for (size_t d = 0; d < n; d++)
			if (distinct[d] == at[i]) {
				at[i] = (double)d;
				break;
			}
	return add(p, WL_COL_GPU, at, false);
}

static enum ws_status add_times(struct pivot *p)
{
	double *start = wl_load_column(p->load, p->n_groups);
	double *end = wl_load_column(p->load, p->n_groups);
	double *spans = calloc(p->n_rows + 1, sizeof(*spans));
	size_t *first = calloc(p->n_groups + 2, sizeof(*first)), row = 0;
	enum ws_status st = WS_OK;

	if (!start || !end || !spans || !first)
		st = ws_fail(p->err, WS_E_NOMEM, "out of memory");
	for (size_t r = 0; !st && r < p->n_rows; r++)
		first[p->place[p->group_of[r]] + 2]++;
	for (size_t g = 1; !st && g <= p->n_groups; g++)
		first[g + 1] += first[g];
	for (size_t f = 0; !st && f < p->n_csvs; f++) {
		const struct wl_csv_column *s = wl_csv_column(p->csvs[f], WL_COL_START);
		const struct wl_csv_column *e = wl_csv_column(p->csvs[f], WL_COL_END);

		for (size_t i = 0; i < p->csvs[f]->n_rows; i++, row++)
			spans[first[p->place[p->group_of[row]] + 1]++] =
				s && e ? e->at[i] - s->at[i] : NAN;
	}
	for (size_t g = 0; !st && g < p->n_groups; g++) {
		size_t n = ws_fold_pack(spans + first[g], first[g + 1] - first[g]);

		end[g] = ws_fold_quantile(spans + first[g], n, 0.5);
	}
	free(spans);
	free(first);
	if (!st)
		st = add(p, WL_COL_START, start, false);
	return st ? st : add(p, WL_COL_END, end, false);
}

static enum ws_status add_counters(struct pivot *p)
{
	struct wl_dict *dict = &p->load->priv->kernels;
	double **columns = calloc(dict->n + 1, sizeof(*columns));
	enum ws_status st = columns ? WS_OK : ws_fail(p->err, WS_E_NOMEM, "out of memory");
	size_t row = 0;

	for (size_t f = 0; !st && f < p->n_csvs; f++) {
		const struct wl_csv_column *name = wl_csv_column(p->csvs[f], WL_COL_COUNTER);
		const struct wl_csv_column *value = wl_csv_column(p->csvs[f], WL_COL_VALUE);

		if (!name || !value)
			st = ws_fail(
				p->err, WS_E_FORMAT,
				"'%s': a counter file has no column Counter_Name or Counter_Value",
				p->load->path);
		for (size_t i = 0; !st && i < p->csvs[f]->n_rows; i++, row++) {
			size_t text = (size_t)name->at[i];
			double *at = columns[text];

			if (!at) {
				at = columns[text] = wl_load_column(p->load, p->n_groups);
				for (size_t g = 0; at && g < p->n_groups; g++)
					at[g] = NAN;
				st = add(p, dict->texts[text], at, false);
				if (st)
					break;
			}
			at[p->place[p->group_of[row]]] = value->at[i];
		}
	}
	free(columns);
	return st;
}

enum ws_status wl_load_pivot(struct wl_workload *load, struct wl_csv *const *csvs, size_t n_csvs,
			     enum trc_alike alike, struct ws_err *err)
{
	struct pivot p = { .load = load, .csvs = csvs, .n_csvs = n_csvs, .err = err };
	enum ws_status st;

	for (size_t f = 0; f < n_csvs; f++)
		p.n_rows += csvs[f]->n_rows;
	trc_match_init(&p.match, alike);
	p.group_of = calloc(p.n_rows + 1, sizeof(*p.group_of));
	st = p.group_of ? find_groups(&p) : ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st) {
		p.place = calloc(p.n_groups + 1, sizeof(*p.place));
		p.frame = wl_load_frame(load, WL_MERGED_NAME, p.n_groups,
					load->priv->kernels.n + csvs[0]->n_columns + 4, err);
		if (!p.place || !p.frame)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st && p.n_groups) {
		qsort(p.groups, p.n_groups, sizeof(*p.groups), by_key);
		for (size_t i = 0; i < p.n_groups; i++)
			p.place[p.groups[i]->order] = (uint32_t)i;
		st = add_descriptions(&p);
		if (!st)
			st = add_gpus(&p);
		if (!st)
			st = add_times(&p);
		if (!st)
			st = add_counters(&p);
	}
	trc_match_fini(&p.match);
	free(p.group_of);
	free(p.groups);
	free(p.place);
	return st;
}
