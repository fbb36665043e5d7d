/* rocpd summary: calls and times by name, per kind of event, process and domain. */
#include "cmd/rocpd/rocpd.h"

#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

struct summary_args {
	struct rpd_common common;
	int format;
	bool domain_summary, by_rank;
	struct ws_strv categories;
};
#define T struct summary_args

static const char *const category_names[] = { "HIP",     "HSA",    "RCCL", "ROCDECODE",
					      "ROCJPEG", "MARKER", "NONE", NULL };

static const struct ws_opt opts[] = {
	RPD_INPUT_OPTS(T),
	WS_OPT_GROUP("Summary"),
	WS_OPT_BOOL(T, domain_summary, 0, "domain-summary", "one more table: a row per kind"),
	WS_OPT_BOOL(T, by_rank, 0, "summary-by-rank", "also every table per process"),
	WS_OPT_SOME_OF(T, categories, 0, "region-categories", "NAME", category_names,
		       "HIP HSA RCCL ROCDECODE ROCJPEG MARKER, or NONE. Default: all"),
	WS_OPT_GROUP("Output"),
	WS_OPT_CHOICE(T, format, 'f', "format", "FORMAT", rpd_format_names,
		      "console (the default), csv, json, md or html"),
	RPD_OUTPUT_OPTS(T),
	RPD_WINDOW_OPTS(T),
};

/* A table: what it is called, where rows come from, what they are named by. */
static const struct {
	const char *view, *category; /* NULL: always */
	const char *name, *from;
} tables[] = {
	{ "kernels", NULL, "name", "kernels" },
	{ "memory_copies", NULL, "name", "memory_copies" },
	{ "memory_allocations", NULL, "type", "memory_allocations" },
	{ "scratch_memory", NULL, "operation", "scratch_memory" },
	{ "hip", "HIP", "name", "(SELECT * FROM regions WHERE category LIKE 'HIP%')" },
	{ "hsa", "HSA", "name", "(SELECT * FROM regions WHERE category LIKE 'HSA%')" },
	{ "rccl", "RCCL", "name", "(SELECT * FROM regions WHERE category LIKE 'RCCL%')" },
	{ "rocdecode", "ROCDECODE", "name",
	  "(SELECT * FROM regions WHERE category LIKE 'ROCDECODE%')" },
	{ "rocjpeg", "ROCJPEG", "name", "(SELECT * FROM regions WHERE category LIKE 'ROCJPEG%')" },
	{ "markers", "MARKER", "COALESCE(json_extract(extdata, '$.message'), name)",
	  "(SELECT * FROM regions_and_samples WHERE category LIKE 'MARKER%')" },
};

/* ---- the sample deviation as a function of SQL; one pass, without cancellation ---- */

struct deviation {
	int64_t n;
	double mean, m2;
};

static void deviation_step(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct deviation *d = sqlite3_aggregate_context(ctx, sizeof(*d));
	double x = sqlite3_value_double(argv[0]), delta;

	(void)argc;
	if (!d || sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	delta = x - d->mean;
	d->mean += delta / (double)++d->n;
	d->m2 += delta * (x - d->mean);
}

static void deviation_final(sqlite3_context *ctx)
{
	const struct deviation *d = sqlite3_aggregate_context(ctx, 0);

	if (d && d->n > 1)
		sqlite3_result_double(ctx, sqrt(d->m2 / (double)(d->n - 1)));
	else
		sqlite3_result_null(ctx);
}

/* ---- tables ---- */

#define COLUMNS                                                                                    \
	"COUNT(*) AS \"Calls\", SUM(duration) AS \"DURATION (nsec)\", "                            \
	"AVG(duration) AS \"AVERAGE (nsec)\", "
#define MORE_COLUMNS                                                                               \
	"MIN(duration) AS \"MIN (nsec)\", MAX(duration) AS \"MAX (nsec)\", "                       \
	"rpd_stddev(duration) AS \"STD_DEV\" "

static void by_name(size_t i, struct ws_buf *out)
{
	ws_buf_printf(out,
		      "SELECT %s AS \"Name\", " COLUMNS
		      "SUM(duration) * 100.0 / SUM(SUM(duration)) OVER () AS \"PERCENT "
		      "(INC)\", " MORE_COLUMNS "FROM %s GROUP BY 1 ORDER BY 3 DESC, 1",
		      tables[i].name, tables[i].from);
}

static void by_rank(size_t i, struct ws_buf *out)
{
	ws_buf_printf(
		out,
		"SELECT v.pid AS \"ProcessID\", p.hostname AS \"Hostname\", v.%s AS \"Name\", "
		"COUNT(*) AS \"Calls\", SUM(v.duration) AS \"DURATION (nsec)\", "
		"AVG(v.duration) AS \"AVERAGE (nsec)\", SUM(v.duration) * 100.0 / "
		"SUM(SUM(v.duration)) OVER (PARTITION BY v.guid, v.pid) AS \"PERCENT (INC)\", "
		"MIN(v.duration) AS \"MIN (nsec)\", MAX(v.duration) AS \"MAX (nsec)\", "
		"rpd_stddev(v.duration) AS \"STD_DEV\" FROM "
		"(SELECT guid, pid, duration, %s AS %s FROM %s) v "
		"JOIN processes p ON p.guid = v.guid AND p.pid = v.pid "
		"GROUP BY v.guid, v.pid, v.%s ORDER BY 1, 5 DESC, 3",
		"rpd_name", tables[i].name, "rpd_name", tables[i].from, "rpd_name");
}

static bool wanted(const struct summary_args *args, size_t i)
{
	if (!tables[i].category || !args->categories.n)
		return true;
	for (size_t k = 0; k < args->categories.n; k++)
		if (strcmp(args->categories.at[k], tables[i].category) == 0)
			return true;
	return false;
}

/* Every kind as one row, over all its events. */
static void by_domain(const struct summary_args *args, bool rank, struct ws_buf *out)
{
	const char *before = "";

	ws_buf_printf(out,
		      "SELECT %s\"Name\", " COLUMNS
		      "SUM(duration) * 100.0 / SUM(SUM(duration)) OVER (%s) AS "
		      "\"PERCENT (INC)\", " MORE_COLUMNS "FROM (",
		      rank ? "d.pid AS \"ProcessID\", p.hostname AS \"Hostname\", " : "",
		      rank ? "PARTITION BY d.guid, d.pid" : "");
	for (size_t i = 0; i < WS_ARRAY_LEN(tables); i++) {
		if (!wanted(args, i))
			continue;
		ws_buf_printf(out, "%sSELECT '", before);
		for (const char *c = tables[i].view; *c; c++)
			ws_buf_add_c(out, (char)toupper((unsigned char)*c), 1);
		ws_buf_printf(out, "' AS \"Name\", duration, guid, pid FROM %s", tables[i].from);
		before = " UNION ALL ";
	}
	ws_buf_printf(out, ") d %s GROUP BY %s\"Name\" ORDER BY %s",
		      rank ? "JOIN processes p ON p.guid = d.guid AND p.pid = d.pid" : "",
		      rank ? "d.guid, d.pid, " : "", rank ? "1, 5 DESC" : "3 DESC");
}

static enum ws_status write_table(const struct summary_args *args, struct rpd_db *db,
				  const char *name, const char *text, struct ws_err *err)
{
	enum rpd_format format = (enum rpd_format)args->format;
	const char *file_name = rpd_default(args->common.output_file, "ROCPD_OUTPUT_NAME", "");
	sqlite3_stmt *stmt = NULL;
	struct ws_buf stem, path;
	uint64_t n_rows;
	FILE *file = stdout;
	enum ws_status st = rpd_prepare(db->sql, text, &stmt, err);

	ws_buf_init(&stem, PATH_MAX);
	ws_buf_init(&path, PATH_MAX);
	ws_buf_printf(&stem, "%s%s%s", file_name, *file_name ? "_" : "", name);
	/* Empty views are skipped: look for a row before anything is said or made. */
	if (!st && sqlite3_step(stmt) != SQLITE_ROW)
		goto out;
	sqlite3_reset(stmt);
	if (!st && format == RPD_CONSOLE) {
		for (const char *c = name; *c; c++)
			putchar(toupper((unsigned char)*c));
		puts(":");
	} else if (!st) {
		st = rpd_output_path(rpd_default(args->common.output_path, "ROCPD_OUTPUT_PATH",
						 "./rocpd-output-data"),
				     stem.at, rpd_format_suffix(format), &path, err);
		file = NULL;
		if (!st)
			st = ws_file_create_stream(path.at, &file, err);
	}
	if (!st)
		st = rpd_print(file, format, stmt, &n_rows, err);
	if (file && file != stdout && fclose(file) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path.at);
	if (!st && format == RPD_CONSOLE)
		putchar('\n');
	else if (!st)
		puts(path.at);
out:
	sqlite3_finalize(stmt);
	ws_buf_fini(&stem);
	ws_buf_fini(&path);
	return st;
}

static enum ws_status write_all(const struct summary_args *args, struct rpd_db *db, bool rank,
				struct ws_err *err)
{
	const char *suffix = rank ? "_summary_by_rank" : "_summary";
	struct ws_buf text;
	enum ws_status st = WS_OK;
	char name[64];

	puts(rank ? "Summary files by rank:" : "Summary files:");
	ws_buf_init(&text, 16384);
	for (size_t i = 0; i <= WS_ARRAY_LEN(tables) && !st; i++) {
		bool domain = i == WS_ARRAY_LEN(tables);

		if (domain ? !args->domain_summary : !wanted(args, i))
			continue;
		ws_buf_clear(&text);
		if (domain)
			by_domain(args, rank, &text);
		else if (rank)
			by_rank(i, &text);
		else
			by_name(i, &text);
		snprintf(name, sizeof(name), "%s%s", domain ? "domain" : tables[i].view, suffix);
		st = ws_buf_status(&text, err);
		if (!st)
			st = write_table(args, db, name, text.at, err);
	}
	ws_buf_fini(&text);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct summary_args *args = call->values;
	struct rpd_db db;
	enum ws_status st;

	(void)exit_code;
	if (args->format >= RPD_FORMAT_COUNT)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "--format %s is not available: html and md can be printed or pasted",
			       rpd_format_names[args->format]);
	st = rpd_open(&db, &args->common, err);
	if (!st && sqlite3_create_function(db.sql, "rpd_stddev", 1, SQLITE_UTF8, NULL, NULL,
					   deviation_step, deviation_final) != SQLITE_OK)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
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
const struct ws_cmd rpd_summary_cmd = ROW("summary");
extern const struct ws_cmd cmd_rocpd2summary;
const struct ws_cmd cmd_rocpd2summary = ROW("rocpd2summary");
