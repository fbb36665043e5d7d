/*
 * The difference between a table and the JSON file of an earlier run. Rows belong together when
 * their threads and their paths have the same names.
 */
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/report_priv.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1u << 30)
#define ROWS_MAX (4u << 20)
#define DEPTH_MAX 65536u

struct prof_before_row {
	const char *label;
	uint32_t depth;
	struct prof_stat stat;
	bool used; /* this run has it, too */
};

struct prof_before {
	struct ws_arena arena;
	struct ws_map rows; /* by path, in the order of the file */
};

/* The path of the current row of a table whose rows come in order. */
struct row_path {
	struct ws_buf text;
	WS_VEC(size_t) ends; /* by depth: where the path of the parent ends */
};

static void path_init(struct row_path *path)
{
	ws_buf_init(&path->text, 64u << 20);
	ws_vec_init(&path->ends, DEPTH_MAX);
}

static void path_fini(struct row_path *path)
{
	ws_buf_fini(&path->text);
	ws_vec_fini(&path->ends);
}

/* @thread: "|0>>> ". False: no memory. */
static bool path_step(struct row_path *path, struct ws_str thread, size_t depth, struct ws_str name)
{
	size_t at;

	if (depth > path->ends.n) /* a file that skips levels */
		depth = path->ends.n;
	if (!depth) {
		ws_buf_clear(&path->text);
		ws_buf_add_n(&path->text, thread.at, thread.n);
		at = path->text.n;
	} else {
		at = path->ends.at[depth - 1];
		path->text.n = at;
	}
	path->ends.n = depth;
	ws_buf_add_c(&path->text, '\x1f', 1);
	ws_buf_add_n(&path->text, name.at, name.n);
	return !path->text.failed && !ws_vec_push(&path->ends, path->text.n, NULL);
}

/* ---- reading ---- */

static double real_of(const json_t *map, const char *key)
{
	return json_number_value(json_object_get(map, key));
}

static struct prof_stat stat_from(const json_t *row, double unit)
{
	const json_t *entry = json_object_get(row, "entry"), *stats = json_object_get(row, "stats");
	double laps = real_of(entry, "laps");

	return (struct prof_stat){ .n = laps > 0 && laps < 1e18 ? (uint64_t)laps : 0,
				   .sum = real_of(entry, "value"),
				   .min = real_of(stats, "min") * unit,
				   .max = real_of(stats, "max") * unit };
}

static enum ws_status add_row(struct prof_before *before, struct row_path *path, const json_t *row,
			      double unit, struct ws_err *err)
{
	const char *label = json_string_value(json_object_get(row, "prefix"));
	double depth = real_of(row, "depth");
	const char *name = label ? strstr(label, ">>> ") : NULL;
	struct prof_before_row *kept;
	char *key;

	if (!name || !(depth >= 0 && depth < DEPTH_MAX))
		return WS_OK;
	name += 4;
	if (depth >= 1) {
		name += strspn(name, " ");
		name += strncmp(name, "|_", 2) ? 0 : 2;
	}
	if (!path_step(path, (struct ws_str){ label, (size_t)(strstr(label, ">>> ") + 4 - label) },
		       (size_t)depth, ws_str_from(name)))
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of another run");
	kept = ws_arena_new(&before->arena, struct prof_before_row);
	key = ws_arena_strndup(&before->arena, path->text.at, path->text.n);
	if (!kept || !key || !(kept->label = ws_arena_strdup(&before->arena, label)))
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of another run");
	kept->depth = (uint32_t)depth;
	kept->stat = stat_from(row, unit);
	return ws_map_put(&before->rows, ws_str_from(key), kept, err);
}

static enum ws_status add_ranks(struct prof_before *before, const json_t *metric,
				struct ws_err *err)
{
	const json_t *ranks = json_object_get(metric, "ranks");
	double unit = real_of(metric, "unit_value");
	struct row_path path;
	enum ws_status st = WS_OK;

	path_init(&path);
	for (size_t i = 0; i < json_array_size(ranks); i++) {
		const json_t *graph = json_object_get(json_array_get(ranks, i), "graph");

		for (size_t k = 0; !st && k < json_array_size(graph); k++)
			st = add_row(before, &path, json_array_get(graph, k), unit > 0 ? unit : 1,
				     err);
	}
	path_fini(&path);
	return st;
}

enum ws_status prof_before_parse(const char *name, struct ws_str text, const char *metric,
				 struct prof_before **out_before, struct ws_err *err)
{
	struct prof_before *before = calloc(1, sizeof(*before));
	json_error_t error;
	/* Hashes are larger than Jansson's integers. */
	json_t *root = json_loadb(text.at, text.n, JSON_DECODE_INT_AS_REAL, &error);
	const json_t *found = json_object_get(json_object_get(root, "timemory"), metric);
	enum ws_status st;

	if (!before)
		st = ws_fail(err, WS_E_NOMEM, "no memory for the rows of another run");
	else if (!root)
		st = ws_fail(err, WS_E_FORMAT, "%s:%d: %s", name, error.line, error.text);
	else if (!found)
		st = ws_fail(err, WS_E_FORMAT, "%s: has no report of '%s'", name, metric);
	else {
		ws_arena_init(&before->arena, FILE_BYTES_MAX);
		ws_map_init(&before->rows, WS_MAP_STR, ROWS_MAX);
		st = add_ranks(before, found, err);
	}
	json_decref(root);
	if (st)
		prof_before_destroy(before);
	else
		*out_before = before;
	return st;
}

enum ws_status prof_before_read(const char *path, const char *metric,
				struct prof_before **out_before, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, FILE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = prof_before_parse(path, ws_buf_view(&text), metric, out_before, err);
	ws_buf_fini(&text);
	return st;
}

void prof_before_destroy(struct prof_before *before)
{
	if (!before)
		return;
	ws_map_fini(&before->rows);
	ws_arena_fini(&before->arena);
	free(before);
}

/* ---- comparing ---- */

static struct prof_row difference(const struct prof_row *now, const struct prof_before_row *then)
{
	static const struct prof_row no_row;
	static const struct prof_before_row no_before;

	now = now ? now : &no_row;
	then = then ? then : &no_before;
	return (struct prof_row){
		.name = now->name,
		.depth = now->name ? now->depth : then->depth,
		.stat = { .n = now->stat.n - then->stat.n, /* below 0: as two's complement */
			  .sum = now->stat.sum - then->stat.sum,
			  .min = now->stat.min - then->stat.min,
			  .max = now->stat.max - then->stat.max },
		.mean = prof_stat_mean(&now->stat) - prof_stat_mean(&then->stat),
	};
}

/* Measures the rows of the difference, or prints them to @to. */
static enum ws_status each_row(const struct prof_sheet *sheet, struct prof_before *before,
			       struct prof_table *table, FILE *to, struct ws_err *err)
{
	struct prof_row_walk walk;
	struct ws_buf thread;
	struct row_path path;
	enum ws_status st = WS_OK;

	path_init(&path);
	ws_buf_init(&thread, 1u << 10);
	prof_rows_begin(&walk, sheet);
	while (!st && prof_rows_next(&walk)) {
		struct prof_before_row *then;
		struct ws_map_entry *entry;
		struct prof_row row;

		ws_buf_clear(&thread);
		prof_rows_thread(&walk, &thread);
		if (!path_step(&path, ws_buf_view(&thread), walk.row.depth,
			       ws_str_from(walk.row.name))) {
			st = ws_fail(err, WS_E_NOMEM, "no memory for a difference");
			break;
		}
		entry = ws_map_find(&before->rows, ws_buf_view(&path.text));
		then = entry ? entry->value : NULL;
		row = difference(&walk.row, then);
		if (then)
			then->used = true;
		if (to)
			prof_table_row(table, walk.label.at, &row, to);
		else
			prof_table_measure(table, walk.label.at, &row);
	}
	prof_rows_end(&walk);
	ws_buf_fini(&thread);
	path_fini(&path);
	if (st)
		return st;
	ws_map_each(entry, &before->rows) {
		const struct prof_before_row *then = entry->value;
		struct prof_row row = difference(NULL, then);

		if (then->used)
			continue;
		if (to)
			prof_table_row(table, then->label, &row, to);
		else
			prof_table_measure(table, then->label, &row);
	}
	return WS_OK;
}

enum ws_status prof_diff_text(const struct prof_sheet *sheet, struct prof_before *before, FILE *to,
			      struct ws_err *err)
{
	struct prof_sheet diff = *sheet;
	struct prof_table table = { .sheet = &diff };
	enum ws_status st;
	char title[256];

	diff.columns = sheet->columns & PROF_COLUMNS_DIFF;
	st = each_row(&diff, before, &table, NULL, err);
	if (st)
		return st;
	snprintf(title, sizeof(title), "%s: difference to the earlier run", sheet->description);
	prof_table_head(&table, title, to);
	st = each_row(&diff, before, &table, to, err);
	prof_table_foot(&table, to);
	if (!st && table.failed)
		st = ws_fail(err, WS_E_NOMEM, "no memory for a difference");
	return st;
}
