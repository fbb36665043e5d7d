/* rocpd summary: calls and times by name, per kind of event, process and domain. */
#include "cmd/rocpd/rocpd.h"

#include "base/util.h"
#include "cmd/cmd.h"

#include <ctype.h>

struct summary_args {
	struct rocpd_common common;
	int format;
	bool domain_summary, by_rank;
	struct ws_strv categories;
};
#define T struct summary_args

static const struct ws_opt opts[] = {
	ROCPD_INPUT_OPTS(T),
	WS_OPT_GROUP("Summary"),
	WS_OPT_BOOL(T, domain_summary, 0, "domain-summary",
		    "add a table with a row per kind of event"),
	WS_OPT_BOOL(T, by_rank, 0, "summary-by-rank", "also print every table per process"),
	WS_OPT_SOME_OF(T, categories, 0, "region-categories", "NAME", rpd_summary_categories,
		       "HIP HSA RCCL ROCDECODE ROCJPEG MARKER, of rocprof-sys HOST USER PYTHON "
		       "PTHREAD MPI OMPT KOKKOS SAMPLES, or NONE. Default: all"),
	WS_OPT_GROUP("Output"),
	WS_OPT_CHOICE(T, format, 'f', "format", "FORMAT", rocpd_format_names,
		      "console (the default), csv, json, md or html"),
	ROCPD_OUTPUT_OPTS(T),
	ROCPD_WINDOW_OPTS(T),
};

static enum ws_status write_table(const struct summary_args *args, sqlite3_stmt *stmt,
				  const char *name, struct ws_err *err)
{
	struct ws_buf path;
	enum ws_status st = WS_OK;
	uint64_t n_rows;

	ws_buf_init(&path, PATH_MAX);
	if (args->format == RPD_CONSOLE) {
		for (const char *c = name; *c; c++)
			putchar(toupper((unsigned char)*c));
		puts(":");
	} else {
		st = rocpd_output_path_of(&args->common, name,
					  rpd_format_suffix((enum rpd_format)args->format), &path,
					  err);
	}
	if (!st)
		st = rocpd_write_rows(args->format == RPD_CONSOLE ? NULL : path.at, args->format,
				      stmt, &n_rows, err);
	if (!st)
		puts(args->format == RPD_CONSOLE ? "" : path.at);
	ws_buf_fini(&path);
	return st;
}

static enum ws_status write_kind(const struct summary_args *args, struct rpd_db *db, size_t kind,
				 bool by_rank, struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = rpd_summary_prepare(db, kind, &args->categories, by_rank, &stmt, err);
	char name[64];

	snprintf(name, sizeof(name), "%s_summary%s", rpd_summary_view(kind),
		 by_rank ? "_by_rank" : "");
	/* Empty ones are skipped: look for a row before anything is printed or created. */
	if (!st && sqlite3_step(stmt) == SQLITE_ROW) {
		sqlite3_reset(stmt);
		st = write_table(args, stmt, name, err);
	}
	sqlite3_finalize(stmt);
	return st;
}

static enum ws_status write_all(const struct summary_args *args, struct rpd_db *db, bool by_rank,
				struct ws_err *err)
{
	enum ws_status st = WS_OK;

	puts(by_rank ? "Summary files by rank:" : "Summary files:");
	for (size_t i = 0; i < rpd_n_summaries && !st; i++)
		if (rpd_summary_wanted(i, &args->categories))
			st = write_kind(args, db, i, by_rank, err);
	if (!st && args->domain_summary)
		st = write_kind(args, db, RPD_SUMMARY_DOMAIN, by_rank, err);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct summary_args *args = call->values;
	enum ws_status st = rocpd_check_format(args->format, err);
	struct rpd_db db;

	(void)exit_code;
	if (st)
		return st;
	st = rocpd_open(&db, &args->common, err);
	if (!st)
		st = write_all(args, &db, false, err);
	if (!st && args->by_rank)
		st = write_all(args, &db, true, err);
	if (!st)
		puts("Done. Exiting...");
	rpd_close(&db);
	return st;
}

#define ROW(command_name)                                                                          \
	{                                                                                          \
		.name = command_name, .summary = "calls and times by name, per kind of event",     \
		.usage = "-i FILE... [options]", .opts = { opts, WS_ARRAY_LEN(opts) },             \
		.values_bytes = sizeof(struct summary_args), .run = run,                           \
	}
const struct ws_cmd rocpd_summary_cmd = ROW("summary");
const struct ws_cmd cmd_rocpd2summary = ROW("rocpd2summary");
