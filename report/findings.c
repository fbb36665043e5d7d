#include "report/findings.h"

#include "base/utf8.h"
#include "report/number.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define COLUMNS 80
#define INDENT 11 /* of what a label stands before */
#define NAME_BYTES 52
#define SUBJECT_BYTES 160
#define MORE_MAX 6 /* subjects after the first, one line each */
#define MORE_BYTES 40

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

static const char *short_text(struct ws_arena *arena, const char *subject, size_t max_bytes)
{
	const char *shown = ws_shown_text(subject, arena);
	size_t n = shown ? strlen(shown) : 0, cut = 0;

	if (!shown || n <= max_bytes)
		return shown ? shown : "";
	while (cut < max_bytes) {
		size_t step = ws_utf8_length(shown + cut, n - cut);

		if (cut + WS_MAX(step, (size_t)1) > max_bytes)
			break;
		cut += WS_MAX(step, (size_t)1);
	}
	shown = ws_arena_printf(arena, "%.*s...", (int)cut, shown);
	return shown ? shown : "";
}

static const char *short_subject(struct ws_arena *arena, const char *subject)
{
	return short_text(arena, subject, SUBJECT_BYTES);
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

static void values(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding_case *one)
{
	char number[RPT_NUMBER_ROOM];

	for (size_t i = 0; i < one->n_values; i++) {
		const struct ana_finding_value *v = &one->values[i];

		ws_buf_printf(out, "   %-8s%-*s ", v->metric ? v->metric : "", NAME_BYTES - 7,
			      v->name);
		/* A metric is printed as its table has it. */
		if (!v->metric && strcasecmp(v->unit, "ns") == 0)
			ws_buf_printf(out, "%11s\n", time_text(arena, v->value));
		else
			ws_buf_printf(out, "%8s%s%s\n", rpt_number_plain(number, v->value, 4),
				      v->unit[0] ? " " : "", v->unit);
	}
}

/* Who: its time, its share, its longest dispatches. */
static void subject(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding_case *f)
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

static void records(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding_case *f)
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

/* The other subjects of a finding, in a line each. */
static void more(struct ws_buf *out, struct ws_arena *arena, const struct ana_finding *finding)
{
	bool kernels = finding->rule->subject == ANA_FINDING_PER_KERNEL;
	size_t n = WS_MIN(finding->n_cases, (size_t)MORE_MAX + 1);

	if (finding->n_cases < 2)
		return;
	ws_buf_printf(out, "   Also    %zu more; all %zu together have %.0f %% of the time:\n",
		      finding->n_cases - 1, finding->n_cases, finding->share_pct);
	for (size_t i = 1; i < n; i++) {
		const struct ana_finding_case *one = &finding->cases[i];

		ws_buf_printf(out, "   %*s%4.0f %% of %8s  ", INDENT - 3, "", one->gain_pct,
			      time_text(arena, one->time_ns));
		if (kernels)
			ws_buf_printf(out, "kernel %u: ", one->kernel_row);
		ws_buf_printf(out, "%s\n", short_text(arena, one->subject, MORE_BYTES));
	}
	if (finding->n_cases > n)
		ws_buf_printf(out, "   %*sand %zu with less to gain\n", INDENT - 3, "",
			      finding->n_cases - n);
}

static const char *gain_text(struct ws_arena *arena, const struct ana_finding *finding)
{
	const struct ana_finding_case *first = &finding->cases[0];
	double least = first->gain_pct, most = first->gain_pct;
	const char *text;

	for (size_t i = 1; i < finding->n_cases; i++) {
		least = fmin(least, finding->cases[i].gain_pct);
		most = fmax(most, finding->cases[i].gain_pct);
	}
	if (finding->n_cases == 1)
		text = ws_arena_printf(arena, "up to %.0f %% of its time, %.0f %% of all: %s", most,
				       finding->total_gain_pct, finding->rule->basis);
	else if (most - least < 0.5)
		text = ws_arena_printf(arena, "at most %.0f %% of each, %.0f %% of all time: %s",
				       most, finding->total_gain_pct, finding->rule->basis);
	else
		text = ws_arena_printf(arena,
				       "at most %.0f to %.0f %% of each, %.0f %% of all time: %s",
				       least, most, finding->total_gain_pct, finding->rule->basis);
	return text ? text : "";
}

void rpt_findings_text(const struct ana_findings *found, size_t max, const char *option,
		       struct ws_arena *arena, struct ws_buf *out)
{
	size_t n = WS_MIN(found->n, max);

	for (size_t i = 0; i < n; i++) {
		const struct ana_finding *f = &found->at[i];

		ws_buf_printf(out, "%zu. %s [%s]\n", i + 1, f->rule->title,
			      ana_finding_severities[f->severity]);
		subject(out, arena, &f->cases[0]);
		values(out, arena, &f->cases[0]);
		records(out, arena, &f->cases[0]);
		more(out, arena, f);
		paragraph(out, arena, "Means", f->rule->means);
		paragraph(out, arena, "Try", f->rule->advice);
		paragraph(out, arena, "Gain", gain_text(arena, f));
		ws_buf_printf(out, "   Next    %s\n\n", f->cases[0].next);
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
	for (size_t i = 0; i < found->n; i++)
		for (size_t k = 0; k < found->at[i].n_cases; k++) {
			const struct ana_finding_case *one = &found->at[i].cases[k];

			ws_buf_printf(out, "%s: %s%s\n", short_subject(arena, one->subject),
				      one->unmet ? "does not fire: " : "fires",
				      one->unmet ? one->unmet : "");
			values(out, arena, one);
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

static void json_values(struct ws_buf *out, const struct ana_finding_case *one)
{
	ws_buf_add(out, "\"evidence\": [");
	for (size_t i = 0; i < one->n_values; i++) {
		const struct ana_finding_value *v = &one->values[i];

		ws_buf_add(out, i ? ",\n        {" : "\n        {");
		json_text(out, "metric", v->metric);
		ws_buf_add(out, ", ");
		json_text(out, "name", v->name);
		ws_buf_add(out, ", ");
		json_number(out, "value", v->value);
		ws_buf_add(out, ", ");
		json_text(out, "unit", v->unit);
		ws_buf_add(out, "}");
	}
	ws_buf_add(out, "], \"dispatches\": [");
	for (size_t i = 0; i < one->n_listed; i++)
		ws_buf_printf(out, "%s%" PRIu64, i ? ", " : "", one->dispatches[i]);
	ws_buf_add(out, "], \"records\": [");
	for (size_t i = 0; i < one->n_records; i++) {
		const struct ana_finding_record *r = &one->records[i];

		ws_buf_add(out, i ? ", {" : "{");
		json_text(out, "what", r->what);
		ws_buf_printf(out, ", \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 "}",
			      r->start_ns, r->end_ns);
	}
	ws_buf_add(out, "]");
}

/* Fields that a finding and each of its subjects have. */
static void json_amounts(struct ws_buf *out, double total_gain_pct, double share_pct,
			 double time_ns, size_t n_dispatches)
{
	json_number(out, "total_gain_pct", total_gain_pct);
	ws_buf_add(out, ", ");
	json_number(out, "share_pct", share_pct);
	ws_buf_add(out, ", ");
	json_number(out, "time_ns", time_ns);
	ws_buf_printf(out, ", \"n_dispatches\": %zu,\n      ", n_dispatches);
}

static void json_case(struct ws_buf *out, const struct ana_finding_case *one)
{
	ws_buf_add(out, "{");
	json_text(out, "subject", one->subject);
	ws_buf_add(out, ", ");
	json_number(out, "gain_pct", one->gain_pct);
	ws_buf_add(out, ", ");
	json_amounts(out, one->total_gain_pct, one->share_pct, one->time_ns, one->n_dispatches);
	if (one->rule->subject == ANA_FINDING_PER_KERNEL)
		ws_buf_printf(out, "\"kernel\": %u, ", one->kernel_row);
	json_text(out, "next", one->next);
	ws_buf_add(out, ", ");
	json_text(out, "unmet", one->unmet);
	ws_buf_add(out, ",\n      ");
	json_values(out, one);
	ws_buf_add(out, "}");
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
		{ "means", f->rule->means },
		{ "advice", f->rule->advice },
		{ "basis", f->rule->basis },
	};

	ws_buf_add(out, "{");
	for (size_t i = 0; i < WS_ARRAY_LEN(texts); i++) {
		ws_buf_add(out, i ? ",\n    " : "\n    ");
		json_text(out, texts[i].name, texts[i].text);
	}
	ws_buf_add(out, ",\n    ");
	json_amounts(out, f->total_gain_pct, f->share_pct, f->time_ns, f->n_dispatches);
	ws_buf_add(out, "\"subjects\": [");
	for (size_t i = 0; i < f->n_cases; i++) {
		ws_buf_add(out, i ? ",\n     " : "\n     ");
		json_case(out, &f->cases[i]);
	}
	ws_buf_add(out, "]\n  }");
}

void rpt_findings_json(const struct ana_findings *found, const char *path, struct ws_buf *out)
{
	ws_buf_add(out, "{\"version\": 2, ");
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
