/* Databases as one: attached read-only, with views over all of them. */
#include "rocpd/rocpd_priv.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ATTACH_MAX 10 /* SQLite's default limit; more files are merged first */

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

enum ws_status rpd_prepare_one(sqlite3 *sql, const char *text, sqlite3_stmt **out_stmt,
			       struct ws_err *err)
{
	const char *rest = NULL;
	sqlite3_stmt *second = NULL;

	if (sqlite3_prepare_v2(sql, text, -1, out_stmt, &rest) != SQLITE_OK)
		return ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(sql));
	if (!*out_stmt)
		return ws_fail(err, WS_E_USAGE, "no SQL statement in '%s'", text);
	/* The rest may be blanks and comments; only SQLite can tell. */
	if (sqlite3_prepare_v2(sql, rest, -1, &second, NULL) != SQLITE_OK || second) {
		sqlite3_finalize(second);
		return ws_fail(err, WS_E_USAGE, "more than one SQL statement in '%s'", text);
	}
	return WS_OK;
}

enum ws_status rpd_exec_file(sqlite3 *sql, const char *path, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 64 << 20);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = rpd_exec(sql, text.at, err);
	ws_buf_fini(&text);
	return st;
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
				st = ws_fail(err, WS_E_USAGE,
					     "'%s' contains a run that is also in another input: "
					     "remove one",
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
	ws_buf_add(out, rpd_sql(name));
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

enum ws_status rpd_open(struct rpd_db *db, const struct ws_strv *inputs, struct ws_err *err)
{
	struct ws_strv files = { .max_n = 0 }, one = { .max_n = 1 };
	struct ws_arena arena;
	enum ws_status st;

	memset(db, 0, sizeof(*db));
	db->uuids.max_n = RPD_FILES_MAX;
	ws_arena_init(&arena, 64 << 20);
	st = rpd_inputs(inputs, &arena, &files, err);
	if (!st && files.n > ATTACH_MAX) {
		st = merge_first(db, &files, err);
		if (!st)
			st = ws_vec_push(&one, db->merged, err);
	}
	if (!st && sqlite3_open_v2(":memory:", &db->sql,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
				   NULL) != SQLITE_OK)
		st = ws_fail(err, WS_E_NOMEM, "cannot open an SQLite database in memory");
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
	if (!st)
		st = rpd_summary_init(db->sql, err);
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
