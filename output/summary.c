/*
 * summary: tables of calls and times, printed when the program has ended.
 *
 * Laid out as rocprofv3 does, to the character: spec in docs/formats/summary.md.
 */
#include "base/pattern.h"
#include "base/utf8.h"
#include "output/output_priv.h"

#include <stdlib.h>
#include <unistd.h>

enum { NAME, DOMAIN, CALLS, DURATION, AVERAGE, PERCENT, MIN_NS, MAX_NS, STDDEV, N_COLUMNS };

struct table {
	struct output_sink *sink;
	enum ws_time_unit unit;
	size_t width[N_COLUMNS];
	struct ws_buf room; /* for a name that is shown in other words */
};

static void put_times(struct output_sink *sink, char c, size_t n)
{
	while (n--)
		output_sink_put(sink, &c, 1);
}

/* Columns as the terminal counts them: a character of several bytes is one. */
static size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* A name may hold what a terminal obeys; a line end in it would tear the table. */
static const char *shown_name(const char *text, struct ws_buf *room)
{
	size_t n = strlen(text);

	if (ws_shown_ok(text, n, ""))
		return text;
	ws_buf_clear(room);
	ws_buf_add_shown(room, text, n, "");
	return room->at;
}

static void put_left(struct table *t, int column, const char *text)
{
	output_sink_lit(t->sink, " ");
	output_sink_str(t->sink, text);
	put_times(t->sink, ' ', t->width[column] - text_width(text));
	output_sink_lit(t->sink, " |");
}

static void put_right(struct table *t, int column, const char *text)
{
	size_t n = strlen(text);

	output_sink_lit(t->sink, " ");
	put_times(t->sink, ' ', n < t->width[column] ? t->width[column] - n : 0);
	output_sink_put(t->sink, text, n);
	output_sink_lit(t->sink, " |");
}

static void put_centred(struct table *t, int column, const char *text)
{
	size_t n = strlen(text), pad = t->width[column] - n;

	output_sink_lit(t->sink, " ");
	put_times(t->sink, ' ', pad / 2);
	output_sink_put(t->sink, text, n);
	put_times(t->sink, ' ', pad - pad / 2);
	output_sink_lit(t->sink, " |");
}

/* Nanoseconds as whole numbers; other units in the shortest form that reads back. */
static void put_time(struct table *t, int column, unsigned __int128 ns)
{
	char text[OUTPUT_FMT_F64_MAX], *end;

	if (t->unit == WS_TIME_NSEC)
		end = output_fmt_u128(text, ns);
	else
		end = output_fmt_shortest(text, (double)((long double)ns /
							 (long double)ws_time_unit_ns(t->unit)));
	*end = '\0';
	put_right(t, column, text);
}

static void put_e3(struct table *t, int column, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3e", v);
	put_right(t, column, text);
}

static void put_header(struct table *t, const char *indent)
{
	static const char *const titles[N_COLUMNS] = {
		"NAME",          "DOMAIN",   "CALLS",    "DURATION (%s)", "AVERAGE (%s)",
		"PERCENT (INC)", "MIN (%s)", "MAX (%s)", "STDDEV",
	};

	output_sink_str(t->sink, indent);
	output_sink_lit(t->sink, "|");
	for (int i = 0; i < N_COLUMNS; i++) {
		char text[40];

		snprintf(text, sizeof(text), titles[i], ws_time_unit_words[t->unit]);
		put_centred(t, i, text);
	}
	output_sink_lit(t->sink, "\n");
	output_sink_str(t->sink, indent);
	output_sink_lit(t->sink, "|-");
	for (int i = 0; i < N_COLUMNS; i++) {
		put_times(t->sink, '-', t->width[i]);
		output_sink_str(t->sink, i == N_COLUMNS - 1 ? "-|\n" : "-|-");
	}
}

static void put_row(struct table *t, const char *indent, const struct output_stat *stat,
		    unsigned __int128 total)
{
	double scale = (double)ws_time_unit_ns(t->unit);
	char text[OUTPUT_FMT_F64_MAX];

	output_sink_str(t->sink, indent);
	output_sink_lit(t->sink, "|");
	put_left(t, NAME, shown_name(stat->name, &t->room));
	put_left(t, DOMAIN, trc_domain_name(stat->domain));
	*output_fmt_u64(text, stat->count) = '\0';
	put_right(t, CALLS, text);
	put_time(t, DURATION, stat->sum_ns);
	put_e3(t, AVERAGE, output_stat_mean(stat) / scale);
	*output_fmt_fixed6(text,
			   total ? (double)(100.0L * (long double)stat->sum_ns / (long double)total)
				 : 0) = '\0';
	put_right(t, PERCENT, text);
	put_time(t, MIN_NS, stat->min_ns);
	put_time(t, MAX_NS, stat->max_ns);
	put_e3(t, STDDEV, sqrt(output_stat_variance(stat)) / scale);
	output_sink_lit(t->sink, "\n");
}

static void put_table(struct output_sink *sink, const struct output_run *run, const char *label,
		      struct output_stat *const *rows, size_t n)
{
	struct table t = { .sink = sink,
			   .unit = run->cfg->summary_unit,
			   .width = { 40, 12, 15, 15, 15, 13, 15, 15, 15 } };
	const char *indent = sink->is_stream ? "    " : "";
	unsigned __int128 total = 0;

	ws_buf_init(&t.room, SIZE_MAX);
	for (size_t i = 0; i < n; i++) {
		size_t domain = strlen(trc_domain_name(rows[i]->domain));
		size_t name = text_width(shown_name(rows[i]->name, &t.room));

		t.width[NAME] = WS_MAX(t.width[NAME], name);
		t.width[DOMAIN] = WS_MAX(t.width[DOMAIN], domain);
		total += rows[i]->sum_ns;
	}
	output_sink_lit(sink, "\n");
	output_sink_str(sink, indent);
	output_sink_lit(sink, "ROCPROFV3 ");
	output_sink_str(sink, label);
	output_sink_str(sink, *label ? " SUMMARY:\n\n" : "SUMMARY:\n\n");
	put_header(&t, indent);
	for (size_t i = 0; i < n; i++)
		put_row(&t, indent, rows[i], total);
	output_sink_lit(sink, "\n");
	sink->n_rows += n;
	ws_buf_fini(&t.room);
}

/* Several domains as one: same names are merged and keep the first domain. */
static enum ws_status put_merged(struct output_sink *sink, struct output_run *run, uint32_t domains,
				 const char *label, struct ws_err *err)
{
	struct ws_arena arena;
	struct ws_map names;
	struct output_stat **rows = NULL;
	enum ws_status st = WS_OK;
	size_t n = 0;

	ws_arena_init(&arena, (size_t)1 << 30);
	ws_map_init(&names, WS_MAP_STR, (size_t)OUTPUT_NAMES_MAX * CAP_DOMAIN_COUNT);
	for (int d = 0; !st && d < CAP_DOMAIN_COUNT; d++) {
		struct output_stat_table *table = &run->stats.domains[d];

		for (size_t i = 0; !st && domains & 1u << d && i < table->n_sorted; i++) {
			struct output_stat *from = table->sorted[i], *into;

			into = ws_map_get(&names, from->name);
			if (into) {
				output_stat_merge(into, from);
				continue;
			}
			into = ws_arena_new(&arena, struct output_stat);
			if (!into) {
				st = ws_fail(err, WS_E_NOMEM, "no memory for the summary");
				break;
			}
			*into = *from;
			st = ws_map_put(&names, ws_str_from(into->name), into, err);
		}
	}
	if (!st && names.n) {
		rows = malloc(names.n * sizeof(*rows));
		if (!rows)
			st = ws_fail(err, WS_E_NOMEM, "no memory for the summary");
	}
	if (rows) {
		ws_map_each(entry, &names)
			rows[n++] = entry->value;
		qsort(rows, n, sizeof(*rows), output_stat_by_total);
		put_table(sink, run, label, rows, n);
	}
	free(rows);
	ws_map_fini(&names);
	ws_arena_fini(&arena);
	return st;
}

/* The domains whose whole name a user's expression matches. */
static enum ws_status match_group(const struct output_run *run, const char *pattern,
				  uint32_t *out_domains, char *label, size_t room,
				  struct ws_err *err)
{
	struct ws_pattern *group;
	size_t n = 0;
	enum ws_status st = ws_pattern_create(pattern, WS_PATTERN_WHOLE, &group, err);

	*out_domains = 0;
	label[0] = '\0';
	if (st)
		return ws_fail_in(err, st, "--summary-groups");
	for (int d = 0; !st && d < CAP_DOMAIN_COUNT; d++) {
		const char *name = trc_domain_name(d);
		bool matches = false;

		if (run->stats.domains[d].n_sorted)
			st = ws_pattern_match(group, name, &matches, err);
		if (!matches)
			continue;
		n += (size_t)snprintf(label + n, room - n, "%s%s", n ? " + " : "", name);
		*out_domains |= 1u << d;
	}
	ws_pattern_destroy(group);
	return st;
}

static enum ws_status put_all(struct output_sink *sink, struct output_run *run, struct ws_err *err)
{
	const struct output_config *cfg = run->cfg;
	enum ws_status st = WS_OK;

	for (int d = 0; cfg->summary_per_domain && d < CAP_DOMAIN_COUNT; d++) {
		struct output_stat_table *table = &run->stats.domains[d];

		if (table->n_sorted)
			put_table(sink, run, trc_domain_name(d), table->sorted, table->n_sorted);
	}
	for (size_t i = 0; !st && i < cfg->n_summary_groups; i++) {
		char label[CAP_DOMAIN_COUNT * 32];
		uint32_t domains;

		st = match_group(run, cfg->summary_groups[i], &domains, label, sizeof(label), err);
		if (!st && domains)
			st = put_merged(sink, run, domains, label, err);
	}
	if (!st && cfg->summary)
		st = put_merged(sink, run, ~0u, "", err);
	return st;
}

enum ws_status output_summary_write(struct output_run *run, struct ws_err *err)
{
	const char *target = run->cfg->summary_file;
	struct output_sink sink;
	char path[PATH_MAX], name[256];
	enum ws_status st;
	int fd;

	fd = target && *target ? ws_stream_fd(target) : STDERR_FILENO;
	if (fd >= 0) {
		snprintf(path, sizeof(path), "%s", ws_stream_word(fd));
		fflush(NULL); /* what was printed before stays before */
	} else {
		snprintf(name, sizeof(name), "%s.txt", target);
		st = output_run_path(run, name, path, err);
		if (st)
			return st;
	}
	st = output_sink_open(&sink, path, fd, err);
	if (!st && fd < 0 && run->cfg->opened)
		run->cfg->opened(run->cfg->opened_ctx, path, NULL);
	if (st) {
		output_run_file(run, OUTPUT_SUMMARY, path, 0, 0, err);
		return st;
	}
	st = put_all(&sink, run, err);
	if (!st)
		return output_run_finish(run, OUTPUT_SUMMARY, &sink, err);
	/* a wrong expression must not cost the tables that were right */
	output_run_finish(run, OUTPUT_SUMMARY, &sink, NULL);
	return st;
}
