#include "analysis/finding_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASES_PER_FINDING 10 /* a case with less of the least gain of a finding is not listed */
#define KERNELS_MAX 200u     /* those with the most time; each needs an evaluation of its own */

/* clang-format off */
static const struct {
	const char *word;
	double least_gain_pct;
} severities[] = {
#define ANA_FINDING_ROW(name, word, gain) { word, gain },
	ANA_FINDING_SEVERITY_TABLE(ANA_FINDING_ROW)
#undef ANA_FINDING_ROW
};
/* clang-format on */

const char *const ana_finding_severities[] = {
#define ANA_FINDING_ROW(name, word, gain) word,
	ANA_FINDING_SEVERITY_TABLE(ANA_FINDING_ROW)
#undef ANA_FINDING_ROW
		NULL
};

/* ---- one rule, one subject ---- */

static enum ana_finding_severity severity_of(double gain_pct)
{
	size_t i = WS_ARRAY_LEN(severities);

	while (i-- > 1)
		if (gain_pct >= severities[i].least_gain_pct)
			break;
	return (enum ana_finding_severity)i;
}

/* The rule's next command with {path} and {kernel} filled in. */
static const char *fill_in(const struct ana_finding_search *search, const char *text,
			   const struct ana_finding_case *one)
{
	char quoted[8192];
	struct ws_buf out;
	const char *made;

	ws_buf_init(&out, 1 << 20);
	while (*text) {
		if (strncmp(text, "{path}", 6) == 0) {
			ws_buf_add(&out, ws_str_shell(search->path, quoted, sizeof(quoted)));
			text += 6;
		} else if (strncmp(text, "{kernel}", 8) == 0) {
			ws_buf_printf(&out, "%u", one->kernel_row);
			text += 8;
		} else {
			ws_buf_add_n(&out, text++, 1);
		}
	}
	made = out.failed ? NULL : ws_arena_strdup(search->arena, out.at);
	ws_buf_fini(&out);
	return made;
}

/*
 * The first requirement that does not hold, or NULL; *@out_counted: all of them had a value. One
 * that is about dispatches holds when it does for half of them.
 */
static const char *unmet_need(const struct ana_rule *rule, struct ana_eval *eval, bool *out_counted)
{
	const char *unmet = NULL;

	*out_counted = true;
	for (size_t i = 0; i < rule->n_needs; i++) {
		const struct ana_expr *need = rule->needs[i].expr;
		double value = ana_eval_number(eval, need, NULL);

		*out_counted &= !isnan(value);
		/* A comparison with no value is false, and does not say why. */
		for (uint32_t k = 0; need->kind == ANA_EXPR_BINARY && k < need->n_args; k++)
			*out_counted &= !isnan(ana_eval_number(eval, need->args[k], NULL));
		if (!unmet && !(value >= 0.5))
			unmet = rule->needs[i].text;
	}
	return unmet;
}

static enum ws_status collect_values(const struct ana_finding_search *search,
				     struct ana_finding_case *one, struct ana_eval *eval,
				     struct ws_err *err)
{
	const struct ana_rule *rule = one->rule;

	one->values = ws_arena_array(search->arena, rule->n_values, sizeof(*one->values));
	if (!one->values)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < rule->n_values; i++) {
		const struct ana_rule_value *from = &rule->values[i];
		struct ana_finding_value value = {
			.metric = from->metric,
			.name = from->name,
			.unit = ana_eval_unit(eval, from->unit, search->arena),
			.value = ana_eval_number(eval, from->expr, NULL),
		};

		if (!value.unit)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		if (isfinite(value.value))
			one->values[one->n_values++] = value;
	}
	return WS_OK;
}

/* What keeps a rule from firing on a subject, as far as it is not in a requirement. */
static const char *too_little(const struct ana_finding_search *search,
			      const struct ana_finding_case *one)
{
	if ((double)one->n_dispatches < one->rule->min_dispatches)
		return "number of dispatches";
	return one->total_gain_pct >= search->how.min_gain_pct / CASES_PER_FINDING ? NULL : "gain";
}

static enum ws_status check_rule(struct ana_finding_search *search, size_t number,
				 const struct ana_finding_case *subject, struct ana_eval *eval,
				 bool *out_made, struct ws_err *err)
{
	const struct ana_rule *rule = &search->metrics->rules[number];
	struct ana_finding_case one = *subject;
	enum ws_status st;
	bool counted;

	*out_made = false;
	one.rule = rule;
	one.unmet = unmet_need(rule, eval, &counted);
	search->counted[number] |= counted;
	if (one.unmet && !search->how.only_rule)
		return WS_OK;
	one.gain_pct = ana_eval_number(eval, rule->gain, NULL);
	if (!isfinite(one.gain_pct) && !search->how.only_rule)
		return WS_OK;
	one.gain_pct = fmax(0, fmin(one.gain_pct, 100)); /* of NaN: 0 */
	one.total_gain_pct = one.gain_pct * fmin(subject->share_pct, 100) / 100;
	if (!one.unmet)
		one.unmet = too_little(search, &one);
	if (one.unmet && !search->how.only_rule)
		return WS_OK;
	one.next = fill_in(search, rule->next, &one);
	st = collect_values(search, &one, eval, err);
	if (!st && !one.next)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st || (!one.n_values && !search->how.only_rule))
		return st;
	*out_made = true;
	return ws_vec_push(&search->cases, one, err);
}

enum ws_status ana_finding_check(struct ana_finding_search *search, enum ana_finding_subject kind,
				 const struct ana_finding_case *subject, struct ana_eval *eval,
				 void (*made)(void *of, struct ana_finding_case *one), void *of,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK;

	search->n_subjects++;
	for (size_t i = 0; !st && i < search->metrics->n_rules; i++) {
		bool fired;

		if (search->metrics->rules[i].subject != kind ||
		    (search->how.only_rule &&
		     strcmp(search->how.only_rule, search->metrics->rules[i].id) != 0))
			continue;
		st = check_rule(search, i, subject, eval, &fired, err);
		if (!st && fired && made)
			made(of, &search->cases.at[search->cases.n - 1]);
	}
	return st;
}

/* ---- all of them ---- */

enum ws_status ana_finding_begin(struct ana_finding_search *search, const char *path,
				 const struct ana_metrics *metrics,
				 const struct ana_findings_how *how, struct ws_arena *arena,
				 struct ws_err *err)
{
	*search = (struct ana_finding_search){
		.path = path, .metrics = metrics, .how = *how, .arena = arena
	};
	if (how->min_gain_pct < 0)
		search->how.min_gain_pct = ANA_FINDING_GAIN_MIN;
	ws_vec_init(&search->cases, ANA_FINDINGS_MAX);
	search->counted = ws_arena_array(arena, metrics->n_rules + 1, sizeof(*search->counted));
	return search->counted ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

static int cases_by_rule(const void *a, const void *b)
{
	const struct ana_finding_case *x = a, *y = b;

	if (x->rule != y->rule) /* rules are one array */
		return (x->rule > y->rule) - (x->rule < y->rule);
	if (!x->unmet != !y->unmet) /* what does not fire comes last, and has a part in no sum */
		return x->unmet ? 1 : -1;
	if (x->total_gain_pct != y->total_gain_pct)
		return x->total_gain_pct < y->total_gain_pct ? 1 : -1;
	return (x->kernel_row > y->kernel_row) - (x->kernel_row < y->kernel_row);
}

static int findings_by_gain(const void *a, const void *b)
{
	const struct ana_finding *x = a, *y = b;

	if (x->total_gain_pct != y->total_gain_pct)
		return x->total_gain_pct < y->total_gain_pct ? 1 : -1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Spans of a trace on one line: between two of their ends, the largest gain of those at work counts.
 * Each case has its gain spread evenly over its span.
 */
static enum ws_status add_spans(struct ana_finding *finding, size_t n, double span_ns,
				struct ws_err *err)
{
	const struct ana_finding_case *cases = finding->cases;
	uint64_t *ends = malloc(2 * n * sizeof(*ends));

	if (!ends)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		ends[2 * i] = cases[i].start_ns;
		ends[2 * i + 1] = cases[i].end_ns;
	}
	qsort(ends, 2 * n, sizeof(*ends), by_time);
	for (size_t e = 0; e + 1 < 2 * n; e++) {
		double part_pct = 100 * (double)(ends[e + 1] - ends[e]) / span_ns, gain_pct = -1;

		for (size_t i = 0; i < n; i++)
			if (cases[i].start_ns <= ends[e] && cases[i].end_ns >= ends[e + 1])
				gain_pct = fmax(gain_pct, cases[i].gain_pct);
		if (gain_pct < 0) /* nobody is at work */
			continue;
		finding->share_pct += part_pct;
		finding->total_gain_pct += part_pct * gain_pct / 100;
	}
	free(ends);
	return WS_OK;
}

/* What all cases of a finding that fire are together. */
static enum ws_status sum_up(const struct ana_finding_search *search, struct ana_finding *finding,
			     struct ws_err *err)
{
	enum ws_status st = WS_OK;
	size_t n = 0;

	while (n < finding->n_cases && !finding->cases[n].unmet)
		n++;
	for (size_t i = 0; i < n; i++) {
		const struct ana_finding_case *one = &finding->cases[i];

		finding->time_ns += one->time_ns;
		finding->n_dispatches += one->n_dispatches;
		if (search->span_ns > 0)
			continue;
		finding->share_pct += one->share_pct;
		finding->total_gain_pct += one->total_gain_pct;
	}
	if (n && search->span_ns > 0)
		st = add_spans(finding, n, search->span_ns, err);
	finding->share_pct = fmin(finding->share_pct, 100);
	finding->total_gain_pct = fmin(finding->total_gain_pct, 100);
	finding->severity = severity_of(finding->total_gain_pct);
	return st;
}

/* Whether there is enough of it; with `only_rule` it is kept, and its cases say why not. */
static bool is_enough(const struct ana_finding_search *search, struct ana_finding *finding)
{
	double min_share = search->how.min_share_pct < 0 ? finding->rule->min_share
							 : search->how.min_share_pct;
	const char *lacks = NULL;

	/* Shares are sums of quotients: 100 % may be a little less. */
	if (!(finding->share_pct >= min_share - 1e-9))
		lacks = "share of the time";
	else if (!(finding->total_gain_pct >= search->how.min_gain_pct))
		lacks = "gain";
	for (size_t i = 0; lacks && i < finding->n_cases; i++)
		if (!finding->cases[i].unmet)
			finding->cases[i].unmet = lacks;
	return !lacks || search->how.only_rule;
}

/* One finding per rule from the cases, which are sorted by rule. */
static enum ws_status make_findings(struct ana_finding_search *search, struct ana_findings *found,
				    struct ws_err *err)
{
	struct ana_finding_case *cases =
		ws_arena_array(search->arena, search->cases.n + 1, sizeof(*cases));
	enum ws_status st = WS_OK;

	found->at = ws_arena_array(search->arena, search->metrics->n_rules + 1, sizeof(*found->at));
	if (!found->at || !cases)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_vec_sort(&search->cases, cases_by_rule);
	if (search->cases.n)
		memcpy(cases, search->cases.at, search->cases.n * sizeof(*cases));
	for (size_t i = 0, next; !st && i < search->cases.n; i = next) {
		struct ana_finding finding = { .rule = cases[i].rule, .cases = cases + i };

		for (next = i; next < search->cases.n && cases[next].rule == finding.rule; next++)
			finding.n_cases++;
		st = sum_up(search, &finding, err);
		if (!st && is_enough(search, &finding))
			found->at[found->n++] = finding;
	}
	if (found->n)
		qsort(found->at, found->n, sizeof(*found->at), findings_by_gain);
	return st;
}

enum ws_status ana_finding_end(struct ana_finding_search *search, const char *times,
			       enum ana_finding_subject first, enum ana_finding_subject last,
			       struct ana_findings **out_findings, struct ws_err *err)
{
	struct ana_findings *found = ws_arena_new(search->arena, struct ana_findings);
	enum ws_status st;

	if (!found)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = make_findings(search, found, err);
	if (st)
		return st;
	for (size_t i = 0; i < search->metrics->n_rules; i++) {
		enum ana_finding_subject subject = search->metrics->rules[i].subject;

		if (subject < first || subject > last)
			continue;
		found->n_rules++;
		found->n_uncounted += !search->counted[i];
	}
	found->n_subjects = search->n_subjects;
	found->times = times;
	*out_findings = found;
	return WS_OK;
}

void ana_finding_search_fini(struct ana_finding_search *search)
{
	ws_vec_fini(&search->cases);
}

/* ---- profiles ---- */

static double duration_of(const struct wl_workload *load, uint32_t row)
{
	return load->end_ns[row] - load->start_ns[row];
}

/* The longest dispatches of @sel, longest first. */
static void list_dispatches(const struct wl_workload *load, const struct ana_selection *sel,
			    struct ana_finding_case *one)
{
	uint32_t rows[ANA_FINDING_DISPATCHES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < sel->n; i++) {
		size_t at = n;

		while (at && duration_of(load, rows[at - 1]) < duration_of(load, sel->rows[i]))
			at--;
		if (at == ANA_FINDING_DISPATCHES_MAX)
			continue;
		n = WS_MIN(n + 1, (size_t)ANA_FINDING_DISPATCHES_MAX);
		memmove(rows + at + 1, rows + at, (n - at - 1) * sizeof(*rows));
		rows[at] = sel->rows[i];
	}
	for (size_t i = 0; i < n; i++)
		one->dispatches[i] = (uint64_t)load->dispatch_id[rows[i]];
	one->n_listed = n;
}

static enum ws_status check_kernel(struct ana_finding_search *search,
				   const struct ana_finding_profile *profile, uint32_t kernel_row,
				   const struct ana_kernel_stat *stat, struct ws_err *err)
{
	const struct wl_workload *load = profile->load;
	struct ana_eval_how how = profile->how;
	struct ana_selection sel = { 0 };
	struct ana_finding_case subject = {
		.subject = load->kernels[stat->kernel].shown,
		.time_ns = stat->sum_ns,
		.share_pct = stat->percent,
		.kernel_row = kernel_row,
		.n_dispatches = stat->n,
	};
	struct ana_eval *eval = NULL;
	enum ws_status st;

	how.norm = ANA_PER_KERNEL; /* limits do not depend on what a user wants to see */
	how.own_level_frame = false;
	sel.rows = malloc((profile->rows->n + 1) * sizeof(*sel.rows));
	if (!sel.rows)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < profile->rows->n; i++)
		if (load->kernel_of[profile->rows->rows[i]] == stat->kernel)
			sel.rows[sel.n++] = profile->rows->rows[i];
	sel.all = sel.n == load->n_rows;
	st = ana_eval_create(load, &sel, profile->metrics, &how, &eval, err);
	if (!st) {
		list_dispatches(load, &sel, &subject);
		st = ana_finding_check(search, ANA_FINDING_PER_KERNEL, &subject, eval, NULL, NULL,
				       err);
	}
	ana_eval_destroy(eval);
	free(sel.rows);
	return st;
}

static uint32_t row_of(const struct ana_finding_profile *profile, uint32_t kernel)
{
	uint32_t row = 0;

	while (row < profile->n_top && profile->top[row].kernel != kernel)
		row++;
	return row;
}

enum ws_status ana_findings_of_profile(const struct ana_finding_profile *profile,
				       const struct ana_findings_how *how, struct ws_arena *arena,
				       struct ana_findings **out_findings, struct ws_err *err)
{
	const struct wl_workload *load = profile->load;
	struct ana_finding_search search;
	struct ana_kernel_stat *stats = NULL;
	size_t n = 0;
	enum ws_status st =
		ana_finding_begin(&search, load->path, profile->metrics, how, arena, err);

	if (!st && load->start_ns && load->end_ns)
		st = ana_top_kernels(load, profile->rows, arena, &stats, &n, err);
	for (size_t i = 0; !st && i < WS_MIN(n, (size_t)KERNELS_MAX); i++)
		if (stats[i].sum_ns > 0) /* without times there are no shares */
			st = check_kernel(&search, profile, row_of(profile, stats[i].kernel),
					  &stats[i], err);
	if (!st)
		st = ana_finding_end(&search,
				     wl_workload_is_modelled(load) ? "simulated" : "hardware",
				     ANA_FINDING_PER_KERNEL, ANA_FINDING_PER_KERNEL, out_findings,
				     err);
	ana_finding_search_fini(&search);
	return st;
}
