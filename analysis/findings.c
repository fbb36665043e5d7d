#include "analysis/finding_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_MAX 200u /* those with the most time; each needs an evaluation of its own */

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
			   const struct ana_finding *finding)
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
			ws_buf_printf(&out, "%u", finding->kernel_row);
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
				     struct ana_finding *finding, struct ana_eval *eval,
				     struct ws_err *err)
{
	const struct ana_rule *rule = finding->rule;

	finding->values = ws_arena_array(search->arena, rule->n_values, sizeof(*finding->values));
	if (!finding->values)
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
			finding->values[finding->n_values++] = value;
	}
	return WS_OK;
}

/* What keeps a rule from firing, as far as it is not in a requirement. */
static const char *too_little(const struct ana_finding_search *search,
			      const struct ana_finding *finding)
{
	const struct ana_rule *rule = finding->rule;
	double min_share =
		search->how.min_share_pct < 0 ? rule->min_share : search->how.min_share_pct;

	if (!(finding->share_pct >= min_share))
		return "share of the time";
	if ((double)finding->n_dispatches < rule->min_dispatches)
		return "number of dispatches";
	return finding->total_gain_pct >= search->how.min_gain_pct ? NULL : "gain";
}

static enum ws_status check_rule(struct ana_finding_search *search, size_t number,
				 const struct ana_finding *subject, struct ana_eval *eval,
				 bool *out_made, struct ws_err *err)
{
	const struct ana_rule *rule = &search->metrics->rules[number];
	struct ana_finding finding = *subject;
	enum ws_status st;
	bool counted;

	*out_made = false;
	finding.rule = rule;
	finding.unmet = unmet_need(rule, eval, &counted);
	search->counted[number] |= counted;
	if (finding.unmet && !search->how.only_rule)
		return WS_OK;
	finding.gain_pct = ana_eval_number(eval, rule->gain, NULL);
	if (!isfinite(finding.gain_pct) && !search->how.only_rule)
		return WS_OK;
	finding.gain_pct = fmax(0, fmin(finding.gain_pct, 100)); /* of NaN: 0 */
	finding.total_gain_pct = finding.gain_pct * fmin(subject->share_pct, 100) / 100;
	if (!finding.unmet)
		finding.unmet = too_little(search, &finding);
	if (finding.unmet && !search->how.only_rule)
		return WS_OK;
	finding.severity = severity_of(finding.total_gain_pct);
	finding.next = fill_in(search, rule->next, &finding);
	st = collect_values(search, &finding, eval, err);
	if (!st && !finding.next)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (st || (!finding.n_values && !search->how.only_rule))
		return st;
	*out_made = true;
	return ws_vec_push(&search->list, finding, err);
}

enum ws_status ana_finding_check(struct ana_finding_search *search, enum ana_finding_subject kind,
				 const struct ana_finding *subject, struct ana_eval *eval,
				 void (*made)(void *of, struct ana_finding *finding), void *of,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK;

	search->n_subjects++;
	for (size_t i = 0; !st && i < search->metrics->n_rules; i++) {
		bool one;

		if (search->metrics->rules[i].subject != kind ||
		    (search->how.only_rule &&
		     strcmp(search->how.only_rule, search->metrics->rules[i].id) != 0))
			continue;
		st = check_rule(search, i, subject, eval, &one, err);
		if (!st && one && made)
			made(of, &search->list.at[search->list.n - 1]);
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
	ws_vec_init(&search->list, ANA_FINDINGS_MAX);
	search->counted = ws_arena_array(arena, metrics->n_rules + 1, sizeof(*search->counted));
	return search->counted ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

static int by_gain(const void *a, const void *b)
{
	const struct ana_finding *x = a, *y = b;

	if (x->total_gain_pct != y->total_gain_pct)
		return x->total_gain_pct < y->total_gain_pct ? 1 : -1;
	/* Rules are one array, so equal gains have an order that does not change. */
	return x->rule != y->rule
		       ? (x->rule > y->rule) - (x->rule < y->rule)
		       : (x->kernel_row > y->kernel_row) - (x->kernel_row < y->kernel_row);
}

enum ws_status ana_finding_end(struct ana_finding_search *search, const char *times,
			       enum ana_finding_subject first, enum ana_finding_subject last,
			       struct ana_findings **out_findings, struct ws_err *err)
{
	struct ana_findings *found = ws_arena_new(search->arena, struct ana_findings);

	if (!found)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	found->at = ws_arena_array(search->arena, search->list.n + 1, sizeof(*found->at));
	if (!found->at)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_vec_sort(&search->list, by_gain);
	found->n = search->list.n;
	if (found->n)
		memcpy(found->at, search->list.at, found->n * sizeof(*found->at));
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
	ws_vec_fini(&search->list);
}

/* ---- profiles ---- */

static double duration_of(const struct wl_workload *load, uint32_t row)
{
	return load->end_ns[row] - load->start_ns[row];
}

/* The longest dispatches of @sel, longest first. */
static void list_dispatches(const struct wl_workload *load, const struct ana_selection *sel,
			    struct ana_finding *finding)
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
		finding->dispatches[i] = (uint64_t)load->dispatch_id[rows[i]];
	finding->n_listed = n;
}

static enum ws_status check_kernel(struct ana_finding_search *search,
				   const struct ana_finding_profile *profile, uint32_t kernel_row,
				   const struct ana_kernel_stat *stat, struct ws_err *err)
{
	const struct wl_workload *load = profile->load;
	struct ana_eval_how how = profile->how;
	struct ana_selection sel = { 0 };
	struct ana_finding subject = {
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
