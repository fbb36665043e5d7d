#include "cmd/rocpd/rocpd.h"

#include "base/arena.h"
#include "base/doc.h"
#include "base/file.h"
#include "base/path.h"
#include "output/output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACH_MAX 10 /* what SQLite is built with, as a rule; more are merged first */
#define FILES_MAX 100000u

enum ws_status rpd_exec(sqlite3 *sql, const char *text, struct ws_err *err)
{
	char *why = NULL;

	if (sqlite3_exec(sql, text, NULL, NULL, &why) == SQLITE_OK)
		return WS_OK;
	ws_fail(err, WS_E_FORMAT, "SQLite: %s", why ? why : sqlite3_errmsg(sql));
	sqlite3_free(why);
	return WS_E_FORMAT;
}

enum ws_status rpd_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **out_stmt,
			   struct ws_err *err)
{
	if (sqlite3_prepare_v2(sql, text, -1, out_stmt, NULL) == SQLITE_OK)
		return WS_OK;
	return ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(sql));
}

enum ws_status rpd_number(sqlite3 *sql, const char *text, int64_t otherwise, int64_t *out,
			  struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = rpd_prepare(sql, text, &stmt, err);

	*out = otherwise;
	if (!st && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return st;
}

/* ---- inputs ---- */

static enum ws_status add_packaged(const char *folder, const char *path, const char *name,
				   struct ws_arena *arena, struct ws_strv *out_files,
				   struct ws_err *err)
{
	const char *at = path && path[0] == '/' ? "" : folder;
	char *file = name[0] == '/'
			     ? ws_arena_strdup(arena, name)
			     : ws_arena_printf(arena, "%s/%s/%s", at, path ? path : ".", name);

	return file ? ws_vec_push(out_files, file, err) : ws_fail(err, WS_E_NOMEM, "out of memory");
}

static bool is_name(const struct ws_doc *doc)
{
	return doc && doc->kind < WS_DOC_LIST && *doc->text;
}

/* A package is a folder with index.yaml that names its databases: a list, or just one. */
static enum ws_status read_package(const char *index, struct ws_arena *arena,
				   struct ws_strv *out_files, struct ws_err *err)
{
	const struct ws_doc *files, *about;
	char folder[PATH_MAX];
	const char *path;
	struct ws_doc *doc;
	enum ws_status st = ws_doc_read(index, arena, &doc, err);

	if (st)
		return st;
	about = ws_doc_get(ws_doc_get(doc, "rocprofiler-sdk"), "rocpd");
	files = ws_doc_get(about, "files");
	about = ws_doc_get(about, "path");
	path = is_name(about) ? about->text : NULL;
	snprintf(folder, sizeof(folder), "%s", index);
	ws_path_parent(folder);
	if (is_name(files))
		return add_packaged(folder, path, files->text, arena, out_files, err);
	if (!files || files->kind != WS_DOC_LIST)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' is not a package: no rocprofiler-sdk: rocpd: files:", index);
	for (size_t i = 0; i < files->n && !st; i++) {
		if (!is_name(files->at[i]))
			return ws_fail(err, WS_E_FORMAT, "'%s': files: number %zu is not a name",
				       index, i + 1);
		st = add_packaged(folder, path, files->at[i]->text, arena, out_files, err);
	}
	return st;
}

enum ws_status rpd_inputs(const struct ws_strv *input, struct ws_arena *arena,
			  struct ws_strv *out_files, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	out_files->max_n = FILES_MAX;
	if (!input->n)
		return ws_fail(err, WS_E_USAGE, "no database: -i FILE...");
	for (size_t i = 0; i < input->n && !st; i++) {
		const char *name = input->at[i];
		char index[PATH_MAX];
		struct stat info;

		if (stat(name, &info) != 0)
			return ws_fail(err, WS_E_USAGE, "File '%s' does not exist.", name);
		snprintf(index, sizeof(index), "%s/index.yaml", name);
		if (S_ISDIR(info.st_mode) && !ws_path_exists(index))
			st = ws_fail(err, WS_E_USAGE,
				     "'%s' is a folder and no package: name the databases in it",
				     name);
		else if (S_ISDIR(info.st_mode))
			st = read_package(index, arena, out_files, err);
		else if (ws_str_ends(ws_str_from(name), ".yaml") ||
			 ws_str_ends(ws_str_from(name), ".yml"))
			st = read_package(name, arena, out_files, err);
		else
			st = ws_vec_push(out_files, name, err);
	}
	return st;
}

/* ---- joining ---- */

static enum ws_status attach(struct rpd_db *db, const char *path, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	char text[64];
	struct ws_buf uri;
	enum ws_status st;

	/* Read-only: a tool that looks must not touch, and not leave -journal files either. */
	ws_buf_init(&uri, 4 * PATH_MAX);
	ws_buf_add(&uri, "file:");
	for (const char *c = path; *c; c++)
		ws_buf_printf(&uri, strchr("%?#", *c) ? "%%%02X" : "%c", (unsigned char)*c);
	ws_buf_add(&uri, "?mode=ro");
	snprintf(text, sizeof(text), "ATTACH ? AS db%zu", db->n_files);
	st = ws_buf_status(&uri, err);
	if (!st)
		st = rpd_prepare(db->sql, text, &stmt, err);
	if (!st) {
		sqlite3_bind_text(stmt, 1, uri.at, -1, SQLITE_TRANSIENT);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			st = ws_fail(err, WS_E_FORMAT, "'%s': %s", path, sqlite3_errmsg(db->sql));
	}
	sqlite3_finalize(stmt);
	ws_buf_fini(&uri);
	db->n_files += !st;
	return st;
}

/* The table suffixes of file @i. */
static enum ws_status read_uuids(struct rpd_db *db, size_t i, const char *path, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	char text[96];
	size_t n = db->uuids.n;
	enum ws_status st;

	snprintf(text, sizeof(text),
		 "SELECT DISTINCT value FROM db%zu.rocpd_metadata WHERE tag = 'uuid'", i);
	st = rpd_prepare(db->sql, text, &stmt, err);
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *here = (const char *)sqlite3_column_text(stmt, 0);
		char *uuid;

		/* Joined with itself every number would be a multiple of what it is. */
		for (size_t k = 0; k < db->uuids.n && !st; k++)
			if (strcmp(db->uuids.at[k], here) == 0)
				st = ws_fail(
					err, WS_E_USAGE,
					"'%s' holds a run that is in another input, too: leave "
					"one out",
					path);
		if (st)
			break;
		uuid = strdup(here);
		st = uuid ? ws_vec_push(&db->uuids, uuid, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	sqlite3_finalize(stmt);
	if (st == WS_E_FORMAT || (!st && db->uuids.n == n))
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' is not a rocpd database: no uuid in rocpd_metadata", path);
	return st;
}

/* Every table of the schema as one view over all files. */
static enum ws_status join_tables(struct rpd_db *db, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	struct ws_buf text;
	enum ws_status st;

	/* The plain-named views of the first file say which tables there are. */
	st = rpd_prepare(db->sql,
			 "SELECT name FROM db0.sqlite_master WHERE type = 'view' AND "
			 "name LIKE 'rocpd\\_%' ESCAPE '\\'",
			 &stmt, err);
	ws_buf_init(&text, 1 << 20);
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		ws_buf_clear(&text);
		ws_buf_printf(&text, "CREATE TEMP VIEW \"%s\" AS", name);
		for (size_t i = 0; i < db->n_files; i++)
			ws_buf_printf(&text, "%s SELECT * FROM db%zu.\"%s\"", i ? " UNION ALL" : "",
				      i, name);
		st = ws_buf_status(&text, err);
		if (!st)
			st = rpd_exec(db->sql, text.at, err);
	}
	sqlite3_finalize(stmt);
	ws_buf_fini(&text);
	return st;
}

/* The SQL of the schema: from $ROCPD_SCHEMA_PATH, or our own. */
static enum ws_status schema_text(const char *name, struct ws_buf *out, struct ws_err *err)
{
	const char *folder = getenv("ROCPD_SCHEMA_PATH");
	char path[PATH_MAX];

	if (folder && *folder) {
		snprintf(path, sizeof(path), "%s/%s.sql", folder, name);
		return ws_file_read(path, out, err);
	}
	ws_buf_add(out, output_sql(name));
	return ws_buf_status(out, err);
}

/* Views over several files can only be temporary ones. */
static void make_temporary(struct ws_str text, struct ws_buf *out)
{
	static const char *const create[] = { "CREATE VIEW IF NOT EXISTS", "CREATE VIEW" };

	while (text.n) {
		size_t i = 0;

		while (i < WS_ARRAY_LEN(create) && !ws_str_starts(text, create[i]))
			i++;
		if (i < WS_ARRAY_LEN(create)) {
			size_t n = strlen(create[i]);

			ws_buf_add(out, "CREATE TEMP VIEW");
			text.at += n;
			text.n -= n;
		} else {
			ws_buf_add_c(out, *text.at++, 1);
			text.n--;
		}
	}
}

static enum ws_status make_views(struct rpd_db *db, struct ws_err *err)
{
	static const char *const names[] = { "data_views", "summary_views" };
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(names) && !st; i++) {
		struct ws_buf text, temporary;

		ws_buf_init(&text, 4 << 20);
		ws_buf_init(&temporary, 4 << 20);
		st = schema_text(names[i], &text, err);
		make_temporary(ws_buf_view(&text), &temporary);
		if (!st)
			st = ws_buf_status(&temporary, err);
		if (!st)
			st = rpd_exec(db->sql, temporary.at, err);
		if (st)
			ws_fail_in(err, st, "%s", names[i]);
		ws_buf_fini(&text);
		ws_buf_fini(&temporary);
	}
	return st;
}

static enum ws_status merge_first(struct rpd_db *db, const struct ws_strv *files,
				  struct ws_err *err)
{
	int fd;
	enum ws_status st = ws_file_temp("rocpd", db->merged, &fd, err);

	if (st)
		return st;
	close(fd);
	return rpd_merge_files(files, db->merged, err);
}

enum ws_status rpd_open(struct rpd_db *db, const struct rpd_common *common, struct ws_err *err)
{
	struct ws_strv files = { .max_n = 0 }, one = { .max_n = 1 };
	struct ws_arena arena;
	enum ws_status st;

	memset(db, 0, sizeof(*db));
	db->uuids.max_n = FILES_MAX;
	ws_arena_init(&arena, 64 << 20);
	st = rpd_inputs(&common->input, &arena, &files, err);
	if (!st && files.n > ATTACH_MAX) {
		st = merge_first(db, &files, err);
		if (!st)
			st = ws_vec_push(&one, db->merged, err);
	}
	if (!st && sqlite3_open_v2(":memory:", &db->sql,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
				   NULL) != SQLITE_OK)
		st = ws_fail(err, WS_E_NOMEM, "SQLite does not open");
	for (size_t i = 0; i < (one.n ? one.n : files.n) && !st; i++) {
		const char *path = one.n ? one.at[i] : files.at[i];

		st = attach(db, path, err);
		if (!st)
			st = read_uuids(db, i, path, err);
	}
	if (!st)
		st = join_tables(db, err);
	if (!st)
		st = make_views(db, err);
	if (!st && rpd_has_window(common))
		st = rpd_window(db, common, err);
	ws_vec_fini(&files);
	ws_vec_fini(&one);
	ws_arena_fini(&arena);
	return st;
}

void rpd_close(struct rpd_db *db)
{
	sqlite3_close(db->sql);
	for (size_t i = 0; i < db->uuids.n; i++)
		free((void *)db->uuids.at[i]);
	ws_vec_fini(&db->uuids);
	if (*db->merged)
		unlink(db->merged);
}
