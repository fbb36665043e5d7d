/* rocpd merge and package: several databases in one file, or one folder. */
#include "cmd/rocpd/rocpd.h"

#include "base/arena.h"
#include "base/file.h"
#include "launch/rundir.h"
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
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

enum ws_status rpd_merge_files(const struct ws_strv *files, const char *to, struct ws_err *err)
{
	sqlite3 *sql = NULL;
	struct ws_buf schema;
	enum ws_status st;
	int fd;

	/* SQLite opens what is there; so it is ours before. */
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
		st = rpd_exec(sql, output_sql("data_views"), err);
	if (!st)
		st = rpd_exec(sql, output_sql("summary_views"), err);
	sqlite3_close(sql);
	if (st)
		unlink(to);
	ws_buf_fini(&schema);
	return st;
}

/* ---- merge ---- */

struct merge_args {
	struct rpd_common common;
};

static const struct ws_opt merge_opts[] = {
	RPD_INPUT_OPTS(struct merge_args),
	WS_OPT_GROUP("Output"),
	RPD_OUTPUT_OPTS(struct merge_args),
};

static enum ws_status run_merge(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct rpd_common *common = call->values;
	struct ws_strv files = { .max_n = 0 };
	struct ws_arena arena;
	struct ws_buf path;
	enum ws_status st;

	(void)exit_code;
	ws_arena_init(&arena, 64 << 20);
	ws_buf_init(&path, PATH_MAX);
	st = rpd_inputs(&common->input, &arena, &files, err);
	if (!st)
		st = rpd_output_path(rpd_default(common->output_path, "ROCPD_OUTPUT_PATH",
						 "./rocpd-output-data"),
				     rpd_default(common->output_file, "ROCPD_OUTPUT_NAME",
						 "merged"),
				     ".db", &path, err);
	if (!st)
		st = rpd_merge_files(&files, path.at, err);
	if (!st)
		printf("Merged %zu databases into %s\nDone. Exiting...\n", files.n, path.at);
	ws_vec_fini(&files);
	ws_buf_fini(&path);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd rpd_merge_cmd = {
	.name = "merge",
	.summary = "make one database of several",
	.usage = "-i FILE... [-o NAME] [-d DIR]",
	.opts = { merge_opts, WS_ARRAY_LEN(merge_opts) },
	.values_bytes = sizeof(struct merge_args),
	.run = run_merge,
};

/* ---- package ---- */

struct package_args {
	struct rpd_common common;
	bool consolidate, copy;
};

static const struct ws_opt package_opts[] = {
	RPD_INPUT_OPTS(struct package_args),
	WS_OPT_GROUP("Output"),
	WS_OPT_STR(struct package_args, common.output_path, 'd', "output-path", "DIR",
		   "the package; .rpdb is added. Default: rocpd"),
	WS_OPT_BOOL(struct package_args, consolidate, 'c', "consolidate",
		    "merge into one database"),
	WS_OPT_BOOL(struct package_args, copy, 0, "copy",
		    "copy the databases into the package; else it refers to them"),
};

static enum ws_status copy_file(const char *from, const char *to, struct ws_err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	enum ws_status st;
	ssize_t n = 1;
	int out = -1;

	if (in < 0)
		return ws_fail_errno(err, errno, "cannot read '%s'", from);
	st = ws_file_create(to, &out, err);
	while (!st && n > 0)
		n = sendfile(out, in, NULL, 1 << 24);
	if (n < 0)
		st = ws_fail_errno(err, errno, "cannot copy '%s' to '%s'", from, to);
	close(in);
	if (out >= 0 && close(out) && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", to);
	return st;
}

static enum ws_status fill_package(const struct package_args *args, const struct ws_strv *files,
				   const char *folder, FILE *index, struct ws_err *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	enum ws_status st = WS_OK;

	if (args->consolidate) {
		snprintf(path, sizeof(path), "%.4000s/merged.db", folder);
		fputs("      - merged.db\n", index);
		return rpd_merge_files(files, path, err);
	}
	for (size_t i = 0; i < files->n && !st; i++) {
		const char *slash = strrchr(files->at[i], '/');
		const char *name = slash ? slash + 1 : files->at[i];

		if (!args->copy) {
			if (!realpath(files->at[i], real))
				return ws_fail_errno(err, errno, "'%s'", files->at[i]);
			fprintf(index, "      - \"%s\"\n", real);
			continue;
		}
		/* Files of several runs may have one name. */
		snprintf(path, sizeof(path), "%.3000s/%zu_%.1000s", folder, i, name);
		fprintf(index, "      - \"%zu_%s\"\n", i, name);
		st = copy_file(files->at[i], path, err);
	}
	return st;
}

static enum ws_status run_package(const struct ws_cmd_call *call, int *exit_code,
				  struct ws_err *err)
{
	const struct package_args *args = call->values;
	const char *name = args->common.output_path ? args->common.output_path : "rocpd";
	struct ws_strv files = { .max_n = 0 };
	char folder[PATH_MAX], path[PATH_MAX];
	struct ws_arena arena;
	FILE *index = NULL;
	enum ws_status st;

	(void)exit_code;
	ws_arena_init(&arena, 64 << 20);
	snprintf(folder, sizeof(folder), "%s%s", name,
		 ws_str_ends(ws_str_from(name), ".rpdb") ? "" : ".rpdb");
	snprintf(path, sizeof(path), "%.4000s/index.yaml", folder);
	st = rpd_inputs(&args->common.input, &arena, &files, err);
	if (!st)
		st = ws_mkdirs(folder, err);
	if (!st)
		st = ws_file_create_stream(path, &index, err);
	if (!st) {
		fputs("rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n"
		      "    path: \".\"\n    files:\n",
		      index);
		st = fill_package(args, &files, folder, index, err);
	}
	if (index && fclose(index) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	if (!st)
		printf("Packaged %zu databases in %s\nDone. Exiting...\n", files.n, folder);
	ws_vec_fini(&files);
	ws_arena_fini(&arena);
	return st;
}

const struct ws_cmd rpd_package_cmd = {
	.name = "package",
	.summary = "put several databases into one folder that stands for them",
	.usage = "-i FILE... [-d DIR] [--copy | --consolidate]",
	.opts = { package_opts, WS_ARRAY_LEN(package_opts) },
	.values_bytes = sizeof(struct package_args),
	.run = run_package,
};
