/*
 * rocpd: a SQLite database, schema version 3. docs/formats/rocpd.md.
 *
 * One transaction, prepared statements, no journal: the file is thrown away when
 * anything fails, so nothing needs to be undone.
 */
#include "output/rocpd_priv.h"

#include "base/file.h"
#include "rocpd/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum ws_status output_rocpd_fail(struct output_rocpd_db *db)
{
	int code = sqlite3_errcode(db->db);
	enum ws_status st = code == SQLITE_FULL                                  ? WS_E_LIMIT
			    : code == SQLITE_NOMEM                               ? WS_E_NOMEM
			    : code == SQLITE_CANTOPEN || code == SQLITE_READONLY ? WS_E_ACCESS
										 : WS_E_IO;

	if (db->err && db->err->status)
		return db->err->status;
	if (code == SQLITE_FULL)
		return ws_fail(db->err, st, "cannot write '%s': No space left on device", db->path);
	return ws_fail(db->err, st, "cannot write '%s': %s", db->path, sqlite3_errmsg(db->db));
}

enum ws_status output_rocpd_step(struct output_rocpd_db *db, struct output_rocpd_row *row)
{
	int code = sqlite3_step(row->statement);

	if (code == SQLITE_DONE) {
		sqlite3_reset(row->statement);
		db->n_rows++;
		return WS_OK;
	}
	output_rocpd_fail(db);
	sqlite3_reset(row->statement);
	return db->err && db->err->status ? db->err->status : WS_E_IO;
}

/* Ids that AMD gives a meaning are kept; a damaged capture that has one twice gets another. */
enum ws_status output_rocpd_step_or_new_id(struct output_rocpd_db *db, struct output_rocpd_row *row)
{
	int code = sqlite3_step(row->statement);

	if (code == SQLITE_DONE) {
		sqlite3_reset(row->statement);
		db->n_rows++;
		return WS_OK;
	}
	if (code != SQLITE_CONSTRAINT)
		return output_rocpd_step(db, row);
	sqlite3_reset(row->statement);
	sqlite3_bind_null(row->statement, 1);
	return output_rocpd_step(db, row);
}

/* ---- the file ---- */

static enum ws_status run_sql(struct output_rocpd_db *db, const char *sql)
{
	if (sqlite3_exec(db->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return output_rocpd_fail(db);
	return WS_OK;
}

/* A text of rpd_sql() with its placeholders filled in. */
static enum ws_status run_named(struct output_rocpd_db *db, const char *name)
{
	const char *at = rpd_sql(name), *hit;
	struct ws_buf sql;
	enum ws_status st;

	ws_buf_init(&sql, 1u << 20);
	while ((hit = strstr(at, "{{"))) {
		ws_buf_add_n(&sql, at, (size_t)(hit - at));
		ws_buf_add(&sql, hit[2] == 'u' ? db->suffix : db->run->guid);
		at = strstr(hit, "}}") + 2;
	}
	ws_buf_add(&sql, at);
	st = ws_buf_status(&sql, db->err);
	if (!st)
		st = run_sql(db, sql.at);
	ws_buf_fini(&sql);
	return st;
}

/* INSERT INTO table (columns) VALUES (?,?),(?,?)... */
static enum ws_status prepare_rows(struct output_rocpd_db *db, const char *table,
				   const char *columns, int n_rows, sqlite3_stmt **out_statement)
{
	char sql[1024];
	size_t n = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO \"%s%s\" (%s) VALUES ", table,
				    db->suffix, columns);

	for (int i = 0; i < n_rows; i++) {
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, i ? ",(?" : "(?");
		for (const char *at = columns; *at; at++)
			if (*at == ',')
				n += (size_t)snprintf(sql + n, sizeof(sql) - n, ",?");
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ")");
	}
	return sqlite3_prepare_v3(db->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out_statement,
				  NULL) == SQLITE_OK
		       ? WS_OK
		       : output_rocpd_fail(db);
}

static enum ws_status prepare(struct output_rocpd_db *db)
{
	static const struct {
		const char *table, *columns;
	} rows[] = {
#define OUTPUT_ROCPD_ROW(name, table, columns) { table, columns },
		OUTPUT_ROCPD_STATEMENTS(OUTPUT_ROCPD_ROW)
#undef OUTPUT_ROCPD_ROW
	};
	enum ws_status st = WS_OK;

	for (int i = 0; i < OUTPUT_ROCPD_STATEMENT_COUNT && !st; i++)
		st = prepare_rows(db, rows[i].table, rows[i].columns, 1, &db->statements[i]);
	for (int i = 0; i < OUTPUT_ROCPD_ARGS && !st; i++)
		st = prepare_rows(db, "rocpd_arg", "event_id, position, type, name, value, extdata",
				  i + 1, &db->args[i]);
	return st;
}

static enum ws_status open_database(struct output_rocpd_db *db, const char *partial)
{
	/*
	 * Nobody else reads the file yet and a failed one is removed, so neither journal
	 * nor syncing nor locks are needed; foreign keys are checked by the tests instead
	 * of at every insert.
	 */
	static const char pragmas[] = "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
				      "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
				      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536;"
				      "PRAGMA foreign_keys = OFF; BEGIN;";
	static const char *const parts[] = { "tables", "views", "data_views", "summary_views" };
	enum ws_status st = output_make_parents(db->path, db->err);
	int fd;

	/* SQLite opens what is there; so it is ours before. */
	if (!st)
		st = ws_file_create(partial, &fd, db->err);
	if (st)
		return st;
	close(fd);
	if (sqlite3_open_v2(partial, &db->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return output_rocpd_fail(db);
	st = run_sql(db, pragmas);
	for (size_t i = 0; i < WS_ARRAY_LEN(parts) && !st; i++)
		st = run_named(db, parts[i]);
	if (!st)
		st = prepare(db);
	return st;
}

static enum ws_status fill(struct output_rocpd_db *db)
{
	struct output_run *run = db->run;
	enum ws_status st = output_rocpd_strings(db);

	for (size_t i = 0; !st && i < run->n_processes; i++) {
		st = output_rocpd_begin_process(db, run->processes[i], i);
		if (!st)
			st = output_run_each(run, run->processes[i], 0, TRC_ORDER_RECORDED,
					     output_rocpd_put_event, db, db->err);
		if (!st && run->cfg->host_data)
			st = output_rocpd_put_host(db);
		output_rocpd_end_process(db);
	}
	return st ? st : run_sql(db, "COMMIT");
}

static void release(struct output_rocpd_db *db)
{
	for (int i = 0; i < OUTPUT_ROCPD_STATEMENT_COUNT; i++)
		sqlite3_finalize(db->statements[i]);
	for (int i = 0; i < OUTPUT_ROCPD_ARGS; i++)
		sqlite3_finalize(db->args[i]);
	sqlite3_close(db->db);
	db->db = NULL;
	output_sink_abandon(&db->json);
	ws_map_fini(&db->strings);
	ws_map_fini(&db->threads);
	ws_map_fini(&db->nodes);
	ws_arena_fini(&db->arena);
}

static enum ws_status write_rocpd(struct output_run *run, struct ws_err *err)
{
	struct output_rocpd_db *db = calloc(1, sizeof(*db));
	char partial[PATH_MAX + 16];
	struct stat file = { 0 };
	enum ws_status st;

	if (!db)
		return ws_fail(err, WS_E_NOMEM, "no memory to write a database");
	db->run = run;
	db->err = err;
	ws_map_init(&db->strings, WS_MAP_STR, 1u << 28);
	ws_map_init(&db->threads, WS_MAP_U64, 1u << 28);
	ws_map_init(&db->nodes, WS_MAP_U64, 1u << 20);
	ws_arena_init(&db->arena, (size_t)2 << 30);
	snprintf(db->suffix, sizeof(db->suffix), "_%s", run->guid);
	for (char *at = db->suffix; *at; at++)
		*at = *at == '-' ? '_' : *at;
	st = output_run_path(run, "results.db", db->path, err);
	if (!st)
		st = output_sink_open_memory(&db->json, err);
	snprintf(partial, sizeof(partial), "%s.partial", db->path);
	if (!st)
		st = open_database(db, partial);
	if (!st && run->cfg->opened)
		run->cfg->opened(run->cfg->opened_ctx, db->path, run->guid);
	if (!st)
		st = fill(db);
	release(db);
	if (!st && stat(partial, &file))
		st = ws_fail_errno(err, errno, "cannot write '%s'", db->path);
	if (!st && rename(partial, db->path))
		st = ws_fail_errno(err, errno, "cannot write '%s'", db->path);
	if (st) {
		unlink(partial);
		memset(run->result->n_written[OUTPUT_ROCPD], 0,
		       sizeof(run->result->n_written[OUTPUT_ROCPD]));
	}
	output_run_file(run, OUTPUT_ROCPD, db->path, db->n_rows, (uint64_t)file.st_size,
			st ? err : NULL);
	free(db);
	return st;
}

const struct output_ops output_rocpd = {
	.word = "rocpd",
	.what = "rocpd database",
	.write = write_rocpd,
};
