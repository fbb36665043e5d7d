/* Calls and times by name: the statements of summary.sql, filled in. */
#include "rocpd/rocpd_priv.h"

#include "base/str.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define QUERY_MAX 16384

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

enum ws_status rpd_summary_init(sqlite3 *sql, struct ws_err *err)
{
	if (sqlite3_create_function(sql, "rpd_stddev", 1, SQLITE_UTF8, NULL, NULL, deviation_step,
				    deviation_final) != SQLITE_OK)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	return WS_OK;
}

/* ---- statements ---- */

const char *rpd_summary_view(size_t kind)
{
	return kind == RPD_SUMMARY_DOMAIN ? "domain" : rpd_summary_rows[kind].view;
}

bool rpd_summary_wanted(size_t kind, const struct ws_strv *categories)
{
	const char *category = rpd_summary_rows[kind].category;

	if (!category || !categories->n)
		return true;
	for (size_t i = 0; i < categories->n; i++)
		if (strcmp(categories->at[i], category) == 0)
			return true;
	return false;
}

/* The events of all wanted kinds, each under the name of its kind. */
static void add_domain_rows(const struct ws_strv *categories, struct ws_buf *out)
{
	const char *before = "";

	for (size_t i = 0; i < rpd_n_summaries; i++) {
		if (!rpd_summary_wanted(i, categories))
			continue;
		ws_buf_printf(out, "%sSELECT guid, pid, duration, '", before);
		for (const char *c = rpd_summary_rows[i].view; *c; c++)
			ws_buf_add_c(out, (char)toupper((unsigned char)*c), 1);
		ws_buf_printf(out, "' AS \"Name\" FROM (%s)", rpd_summary_rows[i].query);
		before = " UNION ALL ";
	}
}

enum ws_status rpd_summary_prepare(struct rpd_db *db, size_t kind, const struct ws_strv *categories,
				   bool by_rank, sqlite3_stmt **out_stmt, struct ws_err *err)
{
	static const char place[] = "{{rows}}";
	const char *text = by_rank ? rpd_summary_by_rank : rpd_summary_by_name;
	const char *at = strstr(text, place);
	struct ws_buf query;
	enum ws_status st;

	ws_buf_init(&query, QUERY_MAX);
	ws_buf_printf(&query, "%.*s", (int)(at - text), text);
	if (kind == RPD_SUMMARY_DOMAIN)
		add_domain_rows(categories, &query);
	else
		ws_buf_add(&query, rpd_summary_rows[kind].query);
	ws_buf_add(&query, at + strlen(place));
	st = ws_buf_status(&query, err);
	if (!st)
		st = rpd_prepare(db->sql, query.at, out_stmt, err);
	ws_buf_fini(&query);
	return st;
}
