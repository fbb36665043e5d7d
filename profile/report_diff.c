/*
 * The difference between a table and the JSON file of an earlier run. Rows belong together when
 * their threads and their paths have the same names.
 */
#include "base/map.h"
#include "profile/report_priv.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES_MAX (1u << 30)
#define ROWS_MAX (4u << 20)
#define DEPTH_MAX 65536u

struct prof_before_row {
	const struct prof_read_row *read;
	bool used; /* this run has it, too */
};

struct prof_before {
	struct prof_read *read;
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

static enum ws_status add_row(struct prof_before *before, struct row_path *path,
			      const struct prof_read_row *row, struct ws_err *err)
{
	struct prof_before_row *kept = ws_arena_new(&before->arena, struct prof_before_row);
	char *key = NULL;

	if (path_step(path, (struct ws_str){ row->label, row->n_thread }, row->depth,
		      ws_str_from(row->name)))
		key = ws_arena_strndup(&before->arena, path->text.at, path->text.n);
	if (!kept || !key)
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of another run");
	kept->read = row;
	return ws_map_put(&before->rows, ws_str_from(key), kept, err);
}

/* Takes @read over, also when it fails. */
static enum ws_status index_rows(struct prof_read *read, struct prof_before **out_before,
				 struct ws_err *err)
{
	struct prof_before *before = calloc(1, sizeof(*before));
	struct row_path path;
	enum ws_status st = WS_OK;

	if (!before) {
		prof_read_destroy(read);
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of another run");
	}
	before->read = read;
	ws_arena_init(&before->arena, ARENA_BYTES_MAX);
	ws_map_init(&before->rows, WS_MAP_STR, ROWS_MAX);
	path_init(&path);
	for (size_t i = 0; i < read->rows.n && !st; i++)
		st = add_row(before, &path, &read->rows.at[i], err);
	path_fini(&path);
	if (st)
		prof_before_destroy(before);
	else
		*out_before = before;
	return st;
}

enum ws_status prof_before_parse(const char *name, struct ws_str text, const char *metric,
				 struct prof_before **out_before, struct ws_err *err)
{
	struct prof_read *read = NULL;
	enum ws_status st = prof_read_parse(name, text, metric, &read, err);

	return st ? st : index_rows(read, out_before, err);
}

enum ws_status prof_before_read(const char *path, const char *metric,
				struct prof_before **out_before, struct ws_err *err)
{
	struct prof_read *read = NULL;
	enum ws_status st = prof_read_file(path, metric, &read, err);

	return st ? st : index_rows(read, out_before, err);
}

void prof_before_destroy(struct prof_before *before)
{
	if (!before)
		return;
	ws_map_fini(&before->rows);
	ws_arena_fini(&before->arena);
	prof_read_destroy(before->read);
	free(before);
}

/* ---- comparing ---- */

static struct prof_row difference(const struct prof_row *now, const struct prof_before_row *before)
{
	static const struct prof_row no_row;
	static const struct prof_read_row no_before;
	const struct prof_read_row *then = before ? before->read : &no_before;

	now = now ? now : &no_row;
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
			prof_table_row(table, then->read->label, &row, to);
		else
			prof_table_measure(table, then->read->label, &row);
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
