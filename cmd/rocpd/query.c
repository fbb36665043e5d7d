/* rocpd query: any SQL over the joined databases. */
#include "cmd/rocpd/rocpd.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct query_args {
	struct rpd_common common;
	const char *query, *script, *template_path;
	int format;
	const char *email_to, *email_from, *email_subject;
	const char *smtp_server, *smtp_port, *smtp_user, *smtp_password;
	bool zip_attachments, inline_preview;
};
#define T struct query_args
#define EXAMPLE "--query 'SELECT name, duration FROM kernels LIMIT 10'"

static const struct ws_opt opts[] = {
	RPD_INPUT_OPTS(T),
	WS_OPT_GROUP("Query"),
	WS_OPT_STR(T, query, 0, "query", "SQL", "what to ask; tables and views as in the docs"),
	WS_OPT_STR(T, script, 0, "script", "FILE", "statements to run before, such as views"),
	WS_OPT_GROUP("Output"),
	WS_OPT_CHOICE(T, format, 0, "format", "FORMAT", rpd_format_names,
		      "console (the default), csv, json, md or html"),
	RPD_OUTPUT_OPTS(T),
	WS_OPT_BOOL(T, common.kernel_rename, 0, "kernel-rename", NULL),
	WS_OPT_STR(T, template_path, 0, "template-path", "FILE", NULL),
	WS_OPT_STR(T, email_to, 0, "email-to", "WHO", NULL),
	WS_OPT_STR(T, email_from, 0, "email-from", "WHO", NULL),
	WS_OPT_STR(T, email_subject, 0, "email-subject", "TEXT", NULL),
	WS_OPT_STR(T, smtp_server, 0, "smtp-server", "HOST", NULL),
	WS_OPT_STR(T, smtp_port, 0, "smtp-port", "N", NULL),
	WS_OPT_STR(T, smtp_user, 0, "smtp-user", "NAME", NULL),
	WS_OPT_STR(T, smtp_password, 0, "smtp-password", "TEXT", NULL),
	WS_OPT_BOOL(T, zip_attachments, 0, "zip-attachments", NULL),
	WS_OPT_BOOL(T, inline_preview, 0, "inline-preview", NULL),
	RPD_WINDOW_OPTS(T),
};

static enum ws_status run_script(sqlite3 *sql, const char *path, struct ws_err *err)
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

static enum ws_status write_rows(const struct query_args *args, sqlite3_stmt *stmt,
				 uint64_t *out_rows, struct ws_err *err)
{
	char full[PATH_MAX];
	struct ws_buf path;
	enum ws_status st;
	FILE *file = NULL;

	if (args->format == RPD_CONSOLE)
		return rpd_print(stdout, RPD_CONSOLE, stmt, out_rows, err);
	ws_buf_init(&path, PATH_MAX);
	st = rpd_output_path(rpd_default(args->common.output_path, "ROCPD_OUTPUT_PATH",
					 "./rocpd-output-data"),
			     rpd_default(args->common.output_file, "ROCPD_OUTPUT_NAME", "out"),
			     rpd_format_suffix((enum rpd_format)args->format), &path, err);
	if (!st)
		st = ws_file_create_stream(path.at, &file, err);
	if (!st)
		st = rpd_print(file, (enum rpd_format)args->format, stmt, out_rows, err);
	if (file && fclose(file) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path.at);
	if (!st && !*out_rows)
		remove(path.at);
	else if (!st)
		printf("Exported to: %s\n", realpath(path.at, full) ? full : path.at);
	ws_buf_fini(&path);
	return st;
}

/* One statement: of a second one nothing would be seen. */
static enum ws_status prepare(sqlite3 *sql, const char *query, sqlite3_stmt **out_stmt,
			      struct ws_err *err)
{
	const char *rest = NULL;
	sqlite3_stmt *second = NULL;

	if (sqlite3_prepare_v2(sql, query, -1, out_stmt, &rest) != SQLITE_OK)
		return ws_fail(err, WS_E_FORMAT, "SQLite: %s", sqlite3_errmsg(sql));
	if (!*out_stmt)
		return ws_fail(err, WS_E_USAGE, "no statement in '%s': " EXAMPLE, query);
	/* What is left may be blanks and comments; only SQLite can tell. */
	if (sqlite3_prepare_v2(sql, rest, -1, &second, NULL) != SQLITE_OK || second) {
		sqlite3_finalize(second);
		return ws_fail(
			err, WS_E_USAGE,
			"--query takes one statement: those before it go into --script FILE");
	}
	return WS_OK;
}

/* As AMD's tool words it, with what to do next; but a failure does not look like success. */
static enum ws_status sql_error(enum ws_status st, struct ws_err *err)
{
	static const struct {
		const char *said, *hint;
	} hints[] = {
		{ "no such table", ": --query 'SELECT name FROM pragma_table_list' lists them" },
		{ "no such column",
		  ": --query \"PRAGMA table_info('kernels')\" lists those of one" },
	};
	struct ws_err why = *err;
	const char *hint = "";

	for (size_t i = 0; i < WS_ARRAY_LEN(hints); i++)
		if (strstr(why.text, hints[i].said))
			hint = hints[i].hint;
	return ws_fail(err, st, "Error: %s%s", why.text, hint);
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct query_args *args = call->values;
	sqlite3_stmt *stmt = NULL;
	struct rpd_db db;
	uint64_t n_rows = 0;
	enum ws_status st;

	if (!args->query)
		return ws_fail(err, WS_E_USAGE, "no query: " EXAMPLE);
	if (args->format >= RPD_FORMAT_COUNT)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "--format %s is not available: html and md can be printed or pasted",
			       rpd_format_names[args->format]);
	if (args->email_to)
		return ws_fail(
			err, WS_E_UNSUPPORTED,
			"no mail is sent from here: write a file with --format and attach it");
	st = rpd_open(&db, &args->common, err);
	if (st)
		goto out;
	if (args->script)
		st = run_script(db.sql, args->script, err);
	if (!st)
		st = prepare(db.sql, args->query, &stmt, err);
	if (!st)
		st = write_rows(args, stmt, &n_rows, err);
	if (st) {
		st = sql_error(st, err);
		*exit_code = WS_EXIT_FAILED;
		goto out;
	}
	if (!n_rows)
		fprintf(stderr, "No results found for query: %s\n", args->query);
	puts("Done. Exiting...");
out:
	sqlite3_finalize(stmt);
	rpd_close(&db);
	return st;
}

const struct ws_cmd rpd_query_cmd = {
	.name = "query",
	.summary = "ask one or more databases anything, in SQL",
	.usage = "-i FILE... --query SQL [options]",
	.notes = "Examples:\n"
		 "  rocpd query -i out/*_results.db --query 'SELECT * FROM top_kernels'\n"
		 "  rocpd query -i a.db b.db --format csv -o slow -d . \\\n"
		 "      --query 'SELECT name, duration FROM kernels ORDER BY 2 DESC LIMIT 9'",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct query_args),
	.run = run,
};
