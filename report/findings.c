#include "report/findings.h"

#include "base/utf8.h"
#include "report/number.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COLUMNS 80
#define INDENT 11 /* of what a label stands before */
#define NAME_BYTES 52
#define SUBJECT_BYTES 160

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* @text in lines, with @label before the first. */
static void paragraph(struct ws_buf *out, struct ws_arena *arena, const char *label,
		      const char *text)
{
	struct ws_str rest = ws_str_from(rpt_wrap_words(arena, text, COLUMNS - INDENT)), line;

	for (bool first = true; ws_str_next(&rest, '\n', &line); first = false)
		ws_buf_printf(out, "   %-*s%.*s\n", INDENT - 3, first ? label : "",
			      WS_STR_ARGS(line));
}

static const char *short_subject(struct ws_arena *arena, const char *subject)
{
	const char *shown = ws_shown_text(subject, arena);
	size_t n = shown ? strlen(shown) : 0, cut = 0;

	if (!shown || n <= SUBJECT_BYTES)
		return shown ? shown : "";
	while (cut < SUBJECT_BYTES) {
		size_t step = ws_utf8_length(shown + cut, n - cut);

		if (cut + WS_MAX(step, (size_t)1) > SUBJECT_BYTES)
			break;
		cut += WS_MAX(step, (size_t)1);
	}
	shown = ws_arena_printf(arena, "%.*s...", (int)cut, shown);
	return shown ? shown : "";
}

static void values(struct ws_buf *out, const struct ana_finding *finding)
{
	char number[RPT_NUMBER_ROOM];

	for (size_t i = 0; i < finding->n_values; i++) {
		const struct ana_finding_value *v = &finding->values[i];

		ws_buf_printf(out, "   %-8s%-*s %8s%s%s\n", v->metric ? v->metric : "",
			      NAME_BYTES - 7, v->name, rpt_number_plain(number, v->value, 4),
			      v->unit[0] ? " " : "", v->unit);
	}
}

/* "12.5 ms": for times of kernels and spans. */
static const char *time_text(struct ws_arena *arena, double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	char number[RPT_NUMBER_ROOM];
	size_t u = 0;
	const char *text;

	while (u + 1 < WS_ARRAY_LEN(units) && ns < units[u].ns)
		u++;
	rpt_number_plain(number, ns / units[u].ns, 3);
	text = ws_arena_printf(arena, "%s %s", number, units[u].unit);
	return text ? text : "";
}

/* Who: its time, its share, its longest dispatches. */
static void subject(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding *f)
{
	const char *shown = short_subject(arena, f->subject);
	const char *text;

	if (f->rule->subject != ANA_FINDING_PER_KERNEL) {
		text = ws_arena_printf(arena, "%s, %s", shown, time_text(arena, f->time_ns));
		paragraph(out, arena, "", text ? text : "");
		return;
	}
	text = ws_arena_printf(arena, "kernel %u: %s", f->kernel_row, shown);
	paragraph(out, arena, "", text ? text : "");
	ws_buf_printf(out, "   %*s%s in %zu dispatch%s, %.1f %% of the time; longest:", INDENT - 3,
		      "", time_text(arena, f->time_ns), f->n_dispatches,
		      f->n_dispatches == 1 ? "" : "es", f->share_pct);
	for (size_t i = 0; i < f->n_listed; i++)
		ws_buf_printf(out, " %" PRIu64, f->dispatches[i]);
	ws_buf_add(out, "\n");
}

static void records(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding *f)
{
	for (size_t i = 0; i < f->n_records; i++) {
		const struct ana_finding_record *r = &f->records[i];
		const char *what = short_subject(arena, r->what);

		ws_buf_printf(out, "   %-*s%10s from %" PRIu64 " ns: %s\n", INDENT - 3,
			      i ? "" : "Longest",
			      time_text(arena, (double)(r->end_ns - r->start_ns)), r->start_ns,
			      what);
	}
}

void rpt_findings_text(const struct ana_findings *found, size_t max, const char *option,
		       struct ws_arena *arena, struct ws_buf *out)
{
	size_t n = WS_MIN(found->n, max);

	for (size_t i = 0; i < n; i++) {
		const struct ana_finding *f = &found->at[i];
		const char *gain =
			ws_arena_printf(arena, "up to %.0f %% of its time, %.0f %% of all: %s",
					f->gain_pct, f->total_gain_pct, f->rule->basis);

		ws_buf_printf(out, "%zu. %s [%s]\n", i + 1, f->rule->title,
			      ana_finding_severities[f->severity]);
		subject(out, arena, f);
		values(out, f);
		records(out, arena, f);
		paragraph(out, arena, "Means", f->rule->means);
		paragraph(out, arena, "Try", f->rule->advice);
		paragraph(out, arena, "Gain", gain ? gain : "");
		ws_buf_printf(out, "   Next    %s\n\n", f->next);
	}
	if (!found->n_subjects) {
		ws_buf_add(out, "Nothing was checked: no kernel has a duration.\n");
		return;
	}
	if (!found->n)
		ws_buf_printf(out, "Nothing stands out: %zu rules, %zu subject%s.\n",
			      found->n_rules - found->n_uncounted, found->n_subjects,
			      plural(found->n_subjects));
	if (found->n > n)
		ws_buf_printf(out, "%zu more with less to gain: %s %zu\n", found->n - n, option,
			      found->n);
	if (found->n_uncounted)
		ws_buf_printf(out,
			      "%zu of %zu rules were not checked: what they need was not "
			      "recorded.\n",
			      found->n_uncounted, found->n_rules);
	if (strcmp(found->times, "hardware") != 0)
		ws_buf_printf(out, "Times are %s, not those of hardware.\n", found->times);
}

void rpt_findings_check(const struct ana_findings *found, struct ws_arena *arena,
			struct ws_buf *out)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct ana_finding *f = &found->at[i];

		ws_buf_printf(out, "%s: %s%s\n", short_subject(arena, f->subject),
			      f->unmet ? "does not fire: " : "fires", f->unmet ? f->unmet : "");
		values(out, f);
	}
}

/* ---- JSON ---- */

static void json_text(struct ws_buf *out, const char *name, const char *text)
{
	ws_buf_printf(out, "\"%s\": ", name);
	if (!text) {
		ws_buf_add(out, "null");
		return;
	}
	ws_buf_add(out, "\"");
	ws_buf_add_json(out, text, strlen(text));
	ws_buf_add(out, "\"");
}

static void json_number(struct ws_buf *out, const char *name, double value)
{
	if (isfinite(value))
		ws_buf_printf(out, "\"%s\": %.10g", name, value);
	else
		ws_buf_printf(out, "\"%s\": null", name);
}

static void json_values(struct ws_buf *out, const struct ana_finding *f)
{
	ws_buf_add(out, "\"evidence\": [");
	for (size_t i = 0; i < f->n_values; i++) {
		const struct ana_finding_value *v = &f->values[i];

		ws_buf_add(out, i ? ",\n      {" : "\n      {");
		json_text(out, "metric", v->metric);
		ws_buf_add(out, ", ");
		json_text(out, "name", v->name);
		ws_buf_add(out, ", ");
		json_number(out, "value", v->value);
		ws_buf_add(out, ", ");
		json_text(out, "unit", v->unit);
		ws_buf_add(out, "}");
	}
	ws_buf_add(out, "\n    ], \"dispatches\": [");
	for (size_t i = 0; i < f->n_listed; i++)
		ws_buf_printf(out, "%s%" PRIu64, i ? ", " : "", f->dispatches[i]);
	ws_buf_add(out, "], \"records\": [");
	for (size_t i = 0; i < f->n_records; i++) {
		const struct ana_finding_record *r = &f->records[i];

		ws_buf_add(out, i ? ", {" : "{");
		json_text(out, "what", r->what);
		ws_buf_printf(out, ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 "}",
			      r->start_ns, r->end_ns);
	}
	ws_buf_add(out, "]");
}

static void json_finding(struct ws_buf *out, const struct ana_finding *f)
{
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "id", f->rule->id },
		{ "title", f->rule->title },
		{ "severity", ana_finding_severities[f->severity] },
		{ "per", ana_finding_subjects[f->rule->subject] },
		{ "subject", f->subject },
		{ "means", f->rule->means },
		{ "advice", f->rule->advice },
		{ "basis", f->rule->basis },
		{ "next", f->next },
		{ "unmet", f->unmet },
	};

	ws_buf_add(out, "{");
	for (size_t i = 0; i < WS_ARRAY_LEN(texts); i++) {
		ws_buf_add(out, i ? ",\n    " : "\n    ");
		json_text(out, texts[i].name, texts[i].text);
	}
	ws_buf_add(out, ",\n    ");
	json_number(out, "gain_pct", f->gain_pct);
	ws_buf_add(out, ", ");
	json_number(out, "total_gain_pct", f->total_gain_pct);
	ws_buf_add(out, ", ");
	json_number(out, "time_ns", f->time_ns);
	ws_buf_add(out, ", ");
	json_number(out, "share_pct", f->share_pct);
	ws_buf_printf(out, ", \"n_dispatches\": %zu, ", f->n_dispatches);
	if (f->rule->subject == ANA_FINDING_PER_KERNEL)
		ws_buf_printf(out, "\"kernel\": %u, ", f->kernel_row);
	json_values(out, f);
	ws_buf_add(out, "\n  }");
}

void rpt_findings_json(const struct ana_findings *found, const char *path, struct ws_buf *out)
{
	ws_buf_add(out, "{\"version\": 1, ");
	json_text(out, "path", path);
	ws_buf_add(out, ", ");
	json_text(out, "times", found->times);
	ws_buf_printf(out,
		      ",\n \"n_rules\": %zu, \"n_not_checked\": %zu, \"n_subjects\": %zu,\n "
		      "\"findings\": [",
		      found->n_rules, found->n_uncounted, found->n_subjects);
	for (size_t i = 0; i < found->n; i++) {
		ws_buf_add(out, i ? ",\n  " : "\n  ");
		json_finding(out, &found->at[i]);
	}
	ws_buf_add(out, "\n ]}\n");
}

void rpt_rules_text(const struct ana_metrics *metrics, struct ws_buf *out)
{
	for (size_t i = 0; i < metrics->n_rules; i++)
		ws_buf_printf(out, "%-22s %-10s %s\n", metrics->rules[i].id,
			      ana_finding_subjects[metrics->rules[i].subject],
			      metrics->rules[i].title);
}
