/* Several databases in one file. */
#include "rocpd/rocpd_priv.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Tables end in "_" and a guid with its dashes turned to "_". */
#define SUFFIX_BYTES 37

static enum ws_status attach_source(sqlite3 *sql, const char *path, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = rpd_prepare(sql, "ATTACH ? AS src", &stmt, err);

	if (!st) {
		sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			st = ws_fail(err, WS_E_FORMAT, "'%s': %s", path, sqlite3_errmsg(sql));
	}
	sqlite3_finalize(stmt);
	return st;
}

static enum ws_status check_schema(sqlite3 *sql, const char *path, struct ws_buf *schema,
				   struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *here;
	enum ws_status st =
		rpd_prepare(sql,
			    "SELECT value FROM src.rocpd_metadata WHERE tag = 'schema_version'",
			    &stmt, err);

	if (st)
		return ws_fail(err, WS_E_FORMAT, "'%s' is not a rocpd database", path);
	here = sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : "";
	if (!schema->n)
		ws_buf_add(schema, here);
	else if (strcmp(schema->at, here) != 0)
		st = ws_fail(err, WS_E_STATE,
			     "'%s' has schema version %s and the first has %s: merge those of one "
			     "version",
			     path, here, schema->at);
	sqlite3_finalize(stmt);
	return st;
}

/* The rows of one input under their own table names. */
static enum ws_status copy_tables(sqlite3 *sql, const char *path, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	struct ws_buf text;
	enum ws_status st = rpd_prepare(sql,
					"SELECT name, sql FROM src.sqlite_master WHERE "
					"type = 'table' AND name LIKE 'rocpd\\_%' ESCAPE '\\'",
					&stmt, err);

	ws_buf_init(&text, 1 << 20);
	while (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);

		ws_buf_clear(&text);
		ws_buf_printf(&text, "%s; INSERT INTO main.\"%s\" SELECT * FROM src.\"%s\";",
			      sqlite3_column_text(stmt, 1), name, name);
		st = ws_buf_status(&text, err);
		if (!st)
			st = rpd_exec(sql, text.at, err);
		if (st)
			ws_fail_in(err, st, "'%s': given twice?", path);
	}
	sqlite3_finalize(stmt);
	ws_buf_fini(&text);
	return st;
}

/* "rocpd_region" over "rocpd_region_<guid>" of all inputs. */
static enum ws_status make_plain_views(sqlite3 *sql, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	struct ws_buf text;
	char format[512];
	enum ws_status st;

	snprintf(format, sizeof(format),
		 "SELECT 'CREATE VIEW \"' || substr(name, 1, length(name) - %d) || '\" AS ' || "
		 "group_concat('SELECT * FROM \"' || name || '\"', ' UNION ALL ') "
		 "FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd\\_%%' ESCAPE '\\' "
		 "GROUP BY substr(name, 1, length(name) - %d)",
		 SUFFIX_BYTES, SUFFIX_BYTES);
	ws_buf_init(&text, 64 << 20);
	st = rpd_prepare(sql, format, &stmt, err);
	while (!st && sqlite3_step(stmt) == SQLITE_ROW)
		ws_buf_printf(&text, "%s;\n", sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	if (!st)
		st = ws_buf_status(&text, err);
	if (!st)
		st = rpd_exec(sql, text.at, err);
	ws_buf_fini(&text);
	return st;
}

enum ws_status rpd_add_metadata(const char *path, const char *tag, const char *value,
				struct ws_err *err)
{
	sqlite3_stmt *find = NULL, *stmt = NULL;
	sqlite3 *sql = NULL;
	char text[256];
	enum ws_status st = WS_OK;

	if (sqlite3_open_v2(path, &sql, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		st = ws_fail(err, WS_E_IO, "cannot write '%s': %s", path, sqlite3_errmsg(sql));
	if (!st)
		st = rpd_prepare(sql,
				 "SELECT name FROM sqlite_master WHERE type = 'table' AND name "
				 "LIKE 'rocpd\\_metadata\\_%' ESCAPE '\\' ORDER BY name LIMIT 1",
				 &find, err);
	if (!st && sqlite3_step(find) != SQLITE_ROW)
		st = ws_fail(err, WS_E_FORMAT, "'%s' is not a rocpd database", path);
	if (!st) {
		snprintf(text, sizeof(text), "INSERT INTO \"%s\" (tag, value) VALUES (?, ?)",
			 sqlite3_column_text(find, 0));
		st = rpd_prepare(sql, text, &stmt, err);
	}
	if (!st) {
		sqlite3_bind_text(stmt, 1, tag, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, value, -1, SQLITE_STATIC);
		sqlite3_reset(find);
		if (sqlite3_step(stmt) != SQLITE_DONE)
			st = ws_fail(err, WS_E_IO, "'%s': %s", path, sqlite3_errmsg(sql));
	}
	sqlite3_finalize(find);
	sqlite3_finalize(stmt);
	sqlite3_close(sql);
	return st;
}

enum ws_status rpd_merge_files(const struct ws_strv *files, const char *to, struct ws_err *err)
{
	sqlite3 *sql = NULL;
	struct ws_buf schema;
	enum ws_status st;
	int fd;

	/* SQLite opens an existing file: create it first, as ours. */
	st = ws_file_create(to, &fd, err);
	if (st)
		return st;
	close(fd);
	ws_buf_init(&schema, 64);
	if (sqlite3_open(to, &sql) != SQLITE_OK)
		st = ws_fail(err, WS_E_IO, "cannot write '%s': %s", to, sqlite3_errmsg(sql));
	/* Nobody reads it before it is whole, so a journal would only cost time. */
	if (!st)
		st = rpd_exec(sql, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err);
	for (size_t i = 0; i < files->n && !st; i++) {
		st = attach_source(sql, files->at[i], err);
		if (!st)
			st = check_schema(sql, files->at[i], &schema, err);
		if (!st)
			st = rpd_exec(sql, "BEGIN", err);
		if (!st)
			st = copy_tables(sql, files->at[i], err);
		if (!st)
			st = rpd_exec(sql, "COMMIT; DETACH src", err);
	}
	if (!st)
		st = make_plain_views(sql, err);
	if (!st)
		st = rpd_exec(sql, rpd_sql("data_views"), err);
	if (!st)
		st = rpd_exec(sql, rpd_sql("summary_views"), err);
	sqlite3_close(sql);
	if (st)
		unlink(to);
	ws_buf_fini(&schema);
	return st;
}
