/* rocpd query: any SQL over the joined databases. */
#include "cmd/rocpd/rocpd.h"

#include "base/util.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct query_args {
	struct rocpd_common common;
	const char *query, *script, *template_path;
	int format;
	const char *email_to, *email_from, *email_subject;
	const char *smtp_server, *smtp_port, *smtp_user, *smtp_password;
	bool zip_attachments, inline_preview;
};
#define T struct query_args
#define EXAMPLE "--query 'SELECT name, duration FROM kernels LIMIT 10'"

static const struct ws_opt opts[] = {
	ROCPD_INPUT_OPTS(T),
	WS_OPT_GROUP("Query"),
	WS_OPT_STR(T, query, 0, "query", "SQL",
		   "the statement; docs/formats/rocpd.md lists tables and views"),
	WS_OPT_STR(T, script, 0, "script", "FILE",
		   "file with statements to run first, such as views"),
	WS_OPT_GROUP("Output"),
	WS_OPT_CHOICE(T, format, 0, "format", "FORMAT", rocpd_format_names,
		      "console (the default), csv, json, md or html"),
	ROCPD_OUTPUT_OPTS(T),
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
	ROCPD_WINDOW_OPTS(T),
};

static enum ws_status write_rows(const struct query_args *args, sqlite3_stmt *stmt,
				 uint64_t *out_rows, struct ws_err *err)
{
	char full[PATH_MAX];
	struct ws_buf path;
	enum ws_status st;

	if (args->format == RPD_CONSOLE)
		return rocpd_write_rows(NULL, args->format, stmt, out_rows, err);
	ws_buf_init(&path, PATH_MAX);
	st = rocpd_output_path(&args->common, "out",
			       rpd_format_suffix((enum rpd_format)args->format), &path, err);
	if (!st)
		st = rocpd_write_rows(path.at, args->format, stmt, out_rows, err);
	if (!st && !*out_rows)
		remove(path.at);
	else if (!st)
		printf("Exported to: %s\n", realpath(path.at, full) ? full : path.at);
	ws_buf_fini(&path);
	return st;
}

/* As AMD's tool words it, with what to do next. */
static enum ws_status sql_error(enum ws_status st, struct ws_err *err)
{
	static const struct {
		const char *part, *hint;
	} hints[] = {
		{ "no such table", ": --query 'SELECT name FROM pragma_table_list' lists them" },
		{ "no such column",
		  ": --query \"PRAGMA table_info('kernels')\" lists those of one" },
	};
	struct ws_err why = *err;
	const char *hint = st == WS_E_USAGE ? ": " EXAMPLE "; others go into --script FILE" : "";

	/* SQLite has one code for all of these; only its text tells them apart. */
	for (size_t i = 0; i < WS_ARRAY_LEN(hints); i++)
		if (strstr(why.text, hints[i].part))
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
	if (rocpd_check_format(args->format, err))
		return err->status;
	if (args->email_to)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "sending mail is not supported: write a file with --format and "
			       "attach it");
	st = rocpd_open(&db, &args->common, err);
	if (st)
		goto out;
	if (args->script)
		st = rpd_exec_file(db.sql, args->script, err);
	if (!st)
		st = rpd_prepare_one(db.sql, args->query, &stmt, err);
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

const struct ws_cmd rocpd_query_cmd = {
	.name = "query",
	.summary = "run an SQL query on one or more databases",
	.usage = "-i FILE... --query SQL [options]",
	.notes = "Examples:\n"
		 "  rocpd query -i out/*_results.db --query 'SELECT * FROM top_kernels'\n"
		 "  rocpd query -i a.db b.db --format csv -o slow -d . \\\n"
		 "      --query 'SELECT name, duration FROM kernels ORDER BY 2 DESC LIMIT 9'",
	.opts = { opts, WS_ARRAY_LEN(opts) },
	.values_bytes = sizeof(struct query_args),
	.run = run,
};
