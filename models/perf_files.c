/* perf.csv and the files beside it. */
#include "models/perf.h"

#include "base/doc_edit.h"
#include "base/file.h"
#include "base/path.h"
#include "workload/csv.h"
#include "workload/outfile.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TABLE_BYTES_MAX (256u << 20) /* of a perf.csv that is appended to */

static const struct {
	const char *name;
	size_t offset; /* of the text in struct mdl_result */
} columns[] = {
#define MDL_PERF_COLUMN(name) { #name, offsetof(struct mdl_result, name) },
	MDL_PERF_COLUMNS(MDL_PERF_COLUMN)
#undef MDL_PERF_COLUMN
};

/* Columns that the super files have in addition. */
static const char *const super_columns[] = { "configs", "multi_results" };
/* Columns that differ between the rows of a multiple_results file. */
static const char *const own_columns[] = { "model", "performance", "metric", "status" };

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- rows: maps from column to text; in super rows configs and multi_results are trees ---- */

static struct ws_doc *row_from(const struct mdl_result *result, struct ws_arena *arena)
{
	struct ws_doc *row = ws_doc_map(arena);
	bool ok = row;

	for (size_t i = 0; i < WS_ARRAY_LEN(columns) && ok; i++) {
		const char *text = *(const char *const *)((const char *)result + columns[i].offset);

		ok = ws_doc_put_text(row, columns[i].name, text ? text : "", arena);
	}
	ok = ok && ws_doc_put_text(row, "status", mdl_status_name(result->outcome), arena);
	return ok ? row : NULL;
}

static bool put_super(struct ws_doc *row, const struct mdl_result *result,
		      const struct ws_doc *more, struct ws_arena *arena)
{
	struct ws_doc *nothing = ws_doc_text(NULL, arena);

	return ws_doc_put(row, super_columns[0], result->configs ? result->configs : nothing,
			  arena) &&
	       ws_doc_put(row, super_columns[1], more ? more : nothing, arena);
}

static bool is_value(const char *text)
{
	return *text && strcasecmp(text, "nan") != 0;
}

/* One row of the multiple_results file over the common ones. */
static struct ws_doc *one_of_many(const struct mdl_result *result, const char *const *names,
				  const char *const *cells, size_t n, struct ws_arena *arena)
{
	struct ws_doc *row = row_from(result, arena), *more = ws_doc_map(arena);
	bool ok = row && more, has_value = false;

	for (size_t i = 0; i < n && ok; i++) {
		const char *text = cells[i];

		if (strcmp(names[i], "model") == 0)
			text = ws_arena_printf(arena, "%s_%s", result->model, cells[i]);
		else if (strcmp(names[i], "performance") == 0)
			has_value = is_value(cells[i]);
		else if (strcmp(names[i], "metric") != 0) {
			ok = ws_doc_put_text(more, names[i], text, arena);
			continue;
		}
		ok = text && ws_doc_put_text(row, names[i], text, arena);
	}
	ok = ok && put_super(row, result, more, arena) &&
	     (has_value || ws_doc_put_text(row, "status", mdl_status_name(MDL_FAILURE), arena));
	return ok ? row : NULL;
}

/* Rows of the file into @rows. WS_E_FORMAT for one that has none. */
static enum ws_status read_many(const struct mdl_result *result, struct ws_doc *rows,
				struct ws_arena *arena, struct ws_err *err)
{
	static const char *const needed[] = { "model", "performance", "metric" };
	const char *path = result->multiple_results, *at, *end;
	const char **names = NULL, **cells;
	size_t n_names = 0, n;
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, TABLE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	at = text.at;
	end = text.at + text.n;
	if (!st && !wl_csv_record(&at, end, arena, &names, &n_names))
		st = ws_fail(err, WS_E_FORMAT, "%s is empty", path);
	for (size_t k = 0; k < WS_ARRAY_LEN(needed) && !st; k++) {
		bool found = false;

		for (size_t i = 0; i < n_names; i++) {
			names[i] = ws_arena_strndup(arena, ws_str_trim(ws_str_from(names[i])).at,
						    ws_str_trim(ws_str_from(names[i])).n);
			if (!names[i]) {
				st = no_memory(err);
				goto out;
			}
			found |= strcmp(names[i], needed[k]) == 0;
		}
		if (!found)
			st = ws_fail(err, WS_E_FORMAT, "%s has no column '%s'", path, needed[k]);
	}
	while (!st && wl_csv_record(&at, end, arena, &cells, &n)) {
		if (n != n_names)
			continue;
		if (!ws_doc_add(rows, one_of_many(result, names, cells, n, arena), arena))
			st = no_memory(err);
	}
	if (!st && !rows->n)
		st = ws_fail(err, WS_E_FORMAT, "%s has no rows", path);
out:
	ws_buf_fini(&text);
	return st;
}

/* ---- CSV ---- */

static void put_cell(FILE *to, const struct ws_doc *row, const char *name, char end)
{
	const struct ws_doc *cell = ws_doc_get(row, name);
	struct ws_buf json;

	if (!cell || cell->kind < WS_DOC_LIST) {
		wl_put_text(to, cell ? cell->text : "", end);
		return;
	}
	ws_buf_init(&json, 1 << 20);
	ws_doc_to_json(cell, 0, &json);
	wl_put_text(to, json.at, end);
	ws_buf_fini(&json);
}

static void put_rows(FILE *to, const char *const *names, size_t n_names, const struct ws_doc *rows)
{
	for (size_t r = 0; r < rows->n; r++)
		for (size_t i = 0; i < n_names; i++)
			put_cell(to, rows->at[r], names[i], i + 1 == n_names ? '\n' : ',');
}

/* Columns of ours, by name, NULL-ended; with those of the super files when asked. */
static const char **own_names(bool super, struct ws_arena *arena, size_t *out_n)
{
	size_t n = WS_ARRAY_LEN(columns);
	const char **names = ws_arena_array(arena, n + WS_ARRAY_LEN(super_columns), sizeof(*names));

	for (size_t i = 0; names && i < n; i++)
		names[i] = columns[i].name;
	for (size_t i = 0; names && super && i < WS_ARRAY_LEN(super_columns); i++)
		names[n++] = super_columns[i];
	*out_n = n;
	return names;
}

/* Every column of ours must be in the file; columns of others stay, and are empty in our rows. */
static enum ws_status check_header(const char *path, const char *const *names, size_t n,
				   const char *const *own, size_t n_own, struct ws_err *err)
{
	for (size_t k = 0; k < n_own; k++) {
		bool found = false;

		for (size_t i = 0; i < n; i++)
			found |= strcmp(names[i], own[k]) == 0;
		if (!found)
			return ws_fail(
				err, WS_E_FORMAT,
				"%s has no column '%s': move it away, or choose another file "
				"with --output",
				path, own[k]);
	}
	return WS_OK;
}

/* An existing table and its header, checked; nothing where there is none. */
static enum ws_status read_table(const char *path, bool super, struct ws_arena *arena,
				 struct ws_buf *old, const char ***out_names, size_t *out_n,
				 struct ws_err *err)
{
	size_t n_own;
	const char **own = own_names(super, arena, &n_own), *at;
	enum ws_status st = own ? WS_OK : no_memory(err);

	*out_names = own;
	*out_n = n_own;
	if (st || !ws_path_exists(path))
		return st;
	st = ws_file_read(path, old, err);
	if (st || !old->n)
		return st;
	at = old->at;
	if (!wl_csv_record(&at, old->at + old->n, arena, out_names, out_n))
		return ws_fail(err, WS_E_FORMAT, "%s has no header", path);
	return check_header(path, *out_names, *out_n, own, n_own, err);
}

static enum ws_status write_csv(const char *path, const struct ws_doc *rows, bool super,
				bool append, struct ws_arena *arena, struct ws_err *err)
{
	const char **names = NULL;
	struct ws_buf old;
	FILE *file = NULL;
	enum ws_status st = WS_OK;
	size_t n = 0;

	ws_buf_init(&old, TABLE_BYTES_MAX);
	if (append)
		st = read_table(path, super, arena, &old, &names, &n, err);
	else if (!(names = own_names(super, arena, &n)))
		st = no_memory(err);
	if (!st)
		st = ws_file_begin(path, &file, err);
	if (!st) {
		if (old.n) {
			fwrite(old.at, 1, old.n, file);
			if (old.at[old.n - 1] != '\n')
				fputc('\n', file);
		} else {
			for (size_t i = 0; i < n; i++)
				wl_put_text(file, names[i], i + 1 == n ? '\n' : ',');
		}
		put_rows(file, names, n, rows);
		st = ws_file_commit(path, file, err);
	}
	ws_buf_fini(&old);
	return st;
}

static enum ws_status check_csv(const char *path, bool super, struct ws_arena *arena,
				struct ws_err *err)
{
	const char **names;
	struct ws_buf old;
	enum ws_status st;
	size_t n;

	ws_buf_init(&old, TABLE_BYTES_MAX);
	st = read_table(path, super, arena, &old, &names, &n, err);
	ws_buf_fini(&old);
	return st;
}

/* ---- JSON ---- */

/* What the super files hold of earlier runs; a file that is not ours is not touched. */
static enum ws_status read_list(const char *path, struct ws_arena *arena, struct ws_doc **out_list,
				struct ws_err *err)
{
	enum ws_status st;

	if (!ws_path_exists(path)) {
		*out_list = ws_doc_list(arena);
		return *out_list ? WS_OK : no_memory(err);
	}
	st = ws_doc_read(path, arena, out_list, err);
	if (!st && (*out_list)->kind != WS_DOC_LIST)
		st = ws_fail(err, WS_E_FORMAT, "%s is no list of results: move it away", path);
	return st;
}

static enum ws_status append_json(const char *path, const struct ws_doc *rows,
				  struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *all;
	enum ws_status st = read_list(path, arena, &all, err);

	for (size_t i = 0; i < rows->n && !st; i++)
		if (!ws_doc_add(all, rows->at[i], arena))
			st = no_memory(err);
	return st ? st : ws_doc_write_json(path, all, err);
}

static struct ws_doc *without(const struct ws_doc *row, const char *const *names, size_t n,
			      struct ws_arena *arena)
{
	struct ws_doc *copy = ws_doc_overlay(row, NULL, arena);

	for (size_t i = 0; copy && i < n; i++)
		ws_doc_remove(copy, names[i]);
	return copy;
}

/* ---- all of them ---- */

/* Plain rows: without what only the super files have. */
static struct ws_doc *plain_rows(const struct ws_doc *rows, struct ws_arena *arena)
{
	struct ws_doc *plain = ws_doc_list(arena);

	for (size_t i = 0; plain && i < rows->n; i++)
		if (!ws_doc_add(plain,
				without(rows->at[i], super_columns, WS_ARRAY_LEN(super_columns),
					arena),
				arena))
			return NULL;
	return plain;
}

/* The files beside perf.csv. */
static const struct {
	const char *name;
	bool json;
	bool super;
	bool append; /* to what earlier runs wrote */
} files[] = {
	{ "perf_entry.csv", false, false, false },
	{ "perf_entry.json", true, false, false },
	{ "perf_super.csv", false, true, true },
	{ "perf_super.json", true, true, true },
	{ "perf_entry_super.csv", false, true, false },
	{ "perf_entry_super.json", true, true, false },
};

/* The path of a file beside @path. */
static enum ws_status beside(const char *path, const char *name, char out_path[PATH_MAX],
			     struct ws_err *err)
{
	char dir[PATH_MAX];

	if (strlen(path) >= sizeof(dir))
		return ws_fail(err, WS_E_LIMIT, "%s: the path is too long", path);
	strcpy(dir, path);
	ws_path_parent(dir);
	return ws_path_join(dir, name, out_path, err);
}

enum ws_status mdl_perf_check(const char *path, struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *list;
	char file[PATH_MAX];
	enum ws_status st = beside(path, ".", file, err);

	if (!st)
		st = ws_mkdirs(file, err);
	if (!st && access(file, W_OK) != 0)
		st = ws_fail_errno(err, errno, "cannot write to the folder of %s", path);
	if (!st)
		st = check_csv(path, false, arena, err);
	for (size_t i = 0; i < WS_ARRAY_LEN(files) && !st; i++) {
		if (!files[i].append)
			continue;
		st = beside(path, files[i].name, file, err);
		if (!st)
			st = files[i].json ? read_list(file, arena, &list, err)
					   : check_csv(file, files[i].super, arena, err);
	}
	return st;
}

static enum ws_status write_all(const char *path, const struct ws_doc *rows, bool many,
				struct ws_arena *arena, struct ws_err *err)
{
	struct ws_doc *plain = plain_rows(rows, arena);
	enum ws_status st = plain ? WS_OK : no_memory(err);
	char file[PATH_MAX];

	if (!st)
		st = write_csv(path, plain, false, true, arena, err);
	for (size_t i = 0; i < WS_ARRAY_LEN(files) && !st; i++) {
		const struct ws_doc *what = files[i].super ? rows : plain;

		st = beside(path, files[i].name, file, err);
		if (!st && !files[i].json)
			st = write_csv(file, what, files[i].super, files[i].append, arena, err);
		else if (!st && files[i].append)
			st = append_json(file, what, arena, err);
		else if (!st) /* one result is an object */
			st = ws_doc_write_json(
				file, what == plain && plain->n == 1 ? plain->at[0] : what, err);
	}
	if (!st && many)
		st = beside(path, "common_info.json", file, err);
	if (!st && many)
		st = ws_doc_write_json(
			file, without(plain->at[0], own_columns, WS_ARRAY_LEN(own_columns), arena),
			err);
	return st;
}

enum ws_status mdl_perf_write(const char *path, struct mdl_result *result, struct ws_arena *arena,
			      struct ws_err *err)
{
	struct ws_doc *rows = ws_doc_list(arena), *row;
	bool many = result->multiple_results && result->outcome == MDL_SUCCESS;
	struct ws_err why;

	if (!rows)
		return no_memory(err);
	if (many && read_many(result, rows, arena, &why)) {
		result->outcome = MDL_FAILURE;
		result->reason = ws_arena_strdup(arena, why.text);
		rows->n = 0;
		many = false;
	}
	if (!many) {
		row = row_from(result, arena);
		if (!row || !put_super(row, result, NULL, arena) || !ws_doc_add(rows, row, arena))
			return no_memory(err);
	}
	return write_all(path, rows, many, arena, err);
}
