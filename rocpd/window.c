/* A time window: the views of everything that has a time get a condition. */
#include "rocpd/rocpd.h"

#include "base/str.h"
#include "base/util.h"

#include <string.h>

static const struct {
	const char *table, *start, *end;
} timed[] = {
	{ "rocpd_region", "start", "end" },           { "rocpd_kernel_dispatch", "start", "end" },
	{ "rocpd_memory_copy", "start", "end" },      { "rocpd_memory_allocate", "start", "end" },
	{ "rocpd_sample", "timestamp", "timestamp" },
};

bool rpd_window_is_open(const struct rpd_window *w)
{
	return !w->start && !w->end && !w->start_marker && !w->end_marker;
}

static enum ws_status bound(struct rpd_db *db, const char *function, bool ends, int64_t *out,
			    struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 4096);
	ws_buf_printf(&text, "SELECT %s(t) FROM (", function);
	for (size_t i = 0; i < WS_ARRAY_LEN(timed); i++)
		ws_buf_printf(&text, "%sSELECT %s(\"%s\") AS t FROM %s", i ? " UNION ALL " : "",
			      function, ends ? timed[i].end : timed[i].start, timed[i].table);
	ws_buf_add(&text, ")");
	st = rpd_number(db->sql, text.at, -1, out, err);
	ws_buf_fini(&text);
	return st;
}

/* "50%" of the span, or nanoseconds. */
static enum ws_status parse_time(const char *option, const char *text, int64_t first, int64_t last,
				 int64_t *out, struct ws_err *err)
{
	struct ws_str view = ws_str_from(text);
	double percent;

	if (ws_str_ends(view, "%")) {
		view.n--;
		if (!ws_str_f64(view, &percent) || percent < 0 || percent > 100)
			return ws_fail(err, WS_E_USAGE, "--%s: '%s' is not in 0%% to 100%%", option,
				       text);
		*out = first + (int64_t)((double)(last - first) * percent / 100);
		return WS_OK;
	}
	if (!ws_str_i64(view, out))
		return ws_fail(err, WS_E_USAGE,
			       "--%s: '%s' is neither nanoseconds nor a percentage", option, text);
	return WS_OK;
}

static enum ws_status find_marker(struct rpd_db *db, const char *name, bool end, int64_t *out,
				  struct ws_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ws_status st = rpd_prepare(
		db->sql,
		end ? "SELECT MAX(\"end\") FROM regions_and_samples WHERE category LIKE 'MARKER%' "
		      "AND json_extract(extdata, '$.message') = ?"
		    : "SELECT MIN(start) FROM regions_and_samples WHERE category LIKE 'MARKER%' "
		      "AND json_extract(extdata, '$.message') = ?",
		&stmt, err);

	if (st)
		return st;
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	if (sqlite3_step(stmt) != SQLITE_ROW || sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		st = ws_fail(err, WS_E_NOTFOUND, "no marker '%s' in the data", name);
	else
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return st;
}

/* The view's own text, with a condition around it. */
static enum ws_status narrow(struct rpd_db *db, size_t i, int64_t from, int64_t to, bool inside,
			     struct ws_err *err)
{
	const char *first = inside ? timed[i].start : timed[i].end;
	const char *last = inside ? timed[i].end : timed[i].start;
	sqlite3_stmt *stmt = NULL;
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, 1 << 20);
	st = rpd_prepare(db->sql, "SELECT sql FROM temp.sqlite_master WHERE name = ?", &stmt, err);
	if (!st) {
		const char *old, *as;

		sqlite3_bind_text(stmt, 1, timed[i].table, -1, SQLITE_STATIC);
		old = sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0)
						       : NULL;
		as = old ? strstr(old, " AS ") : NULL;
		if (as)
			ws_buf_printf(&text,
				      "DROP VIEW temp.\"%s\"; CREATE TEMP VIEW \"%s\" AS SELECT * "
				      "FROM (%s) WHERE \"%s\" >= %lld AND \"%s\" <= %lld;",
				      timed[i].table, timed[i].table, as + 4, first,
				      (long long)from, last, (long long)to);
	}
	sqlite3_finalize(stmt);
	if (!st)
		st = ws_buf_status(&text, err);
	if (!st && text.n)
		st = rpd_exec(db->sql, text.at, err);
	ws_buf_fini(&text);
	return st;
}

enum ws_status rpd_narrow(struct rpd_db *db, const struct rpd_window *w,
			  struct rpd_bounds *out_bounds, struct ws_err *err)
{
	int64_t first, last, from, to;
	enum ws_status st;

	if ((w->start && w->start_marker) || (w->end && w->end_marker))
		return ws_fail(err, WS_E_USAGE,
			       "--start excludes --start-marker, --end excludes --end-marker");
	st = bound(db, "MIN", false, &first, err);
	if (!st)
		st = bound(db, "MAX", true, &last, err);
	if (!st && (first < 0 || last < 0))
		return ws_fail(err, WS_E_STATE,
			       "ERROR: Cannot create time window - trace file contains no timing "
			       "data");
	from = first;
	to = last;
	if (!st && w->start)
		st = parse_time("start", w->start, first, last, &from, err);
	if (!st && w->end)
		st = parse_time("end", w->end, first, last, &to, err);
	if (!st && w->start_marker)
		st = find_marker(db, w->start_marker, false, &from, err);
	if (!st && w->end_marker)
		st = find_marker(db, w->end_marker, true, &to, err);
	if (!st && to <= from)
		st = ws_fail(err, WS_E_USAGE, "the window ends at %lld, before it begins at %lld",
			     (long long)to, (long long)from);
	for (size_t i = 0; i < WS_ARRAY_LEN(timed) && !st; i++)
		st = narrow(db, i, from, to, !w->overlapping, err);
	if (!st)
		*out_bounds = (struct rpd_bounds){ first, last, from, to };
	return st;
}
