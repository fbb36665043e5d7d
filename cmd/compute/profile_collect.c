#include "cmd/compute/profile_collect.h"

#include "analysis/counters_needed.h"
#include "base/pattern.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "launch/count_events.h"
#include "workload/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- what is to be counted ---- */

static enum ws_status choose_counters(struct pf_collect *c, struct ws_err *err)
{
	struct pf *pf = c->pf;
	const struct ana_report_choice choice = { pf->sections, pf->n_sections,
						  pf->args->roof_only };
	struct ana_counters needed = { .n_skipped = 0 };
	enum ws_status st = pf_load_metrics(pf, err);

	if (!st)
		st = ana_counters_needed(pf->metrics, &choice, &pf->arena, &needed, err);
	for (size_t i = 0; i < needed.n_skipped; i++)
		pf_log(PF_LOG_WARNING, "Skipping %s: %s not found", needed.skipped[i].section,
		       needed.skipped[i].what);
	c->wants = needed.at;
	c->n_wants = needed.n;
	return st;
}

static enum ws_status make_plan(struct pf_collect *c, struct ws_err *err)
{
	const char **names = ws_arena_array(&c->pf->arena, c->n_wants + 1, sizeof(*names));
	const struct cnt_plan_group group = { names, c->n_wants };
	struct ws_buf missing;
	enum ws_status st;

	if (!names)
		return no_memory(err);
	for (size_t i = 0; i < c->n_wants; i++)
		names[i] = c->wants[i].name;
	st = cnt_catalogue_create(c->pf->gpu, &c->cat, err);
	if (!st)
		st = cnt_plan_make(c->cat, &group, 1, CNT_PLAN_POOL | CNT_PLAN_KEEP_GOING, &c->plan,
				   err);
	if (!st && c->by_packets)
		st = launch_check_aqlprofile(err);
	if (st)
		return st;
	ws_buf_init(&missing, 1 << 20);
	for (size_t i = 0; i < c->plan->n_requests; i++)
		if (c->plan->requests[i].state == CNT_PLAN_AVAILABLE)
			c->n_counters++;
		else
			ws_buf_printf(&missing, "%s%s", missing.n ? ", " : "",
				      c->plan->requests[i].name);
	c->missing = missing.n ? ws_arena_strndup(&c->pf->arena, missing.at, missing.n) : NULL;
	ws_buf_fini(&missing);
	if (!c->plan->n_passes && c->n_there) {
		cnt_plan_destroy(c->plan); /* all that can be had is there */
		c->plan = NULL;
		return WS_OK;
	}
	if (!c->plan->n_passes)
		return ws_fail(err, WS_E_STATE,
			       "No performance counters to collect, please check the provided "
			       "profiling filters");
	return WS_OK;
}

/* Of all counters, those of this node: from here on, the others do not exist. */
static enum ws_status keep_share(struct pf_collect *c, struct ws_err *err)
{
	enum ws_status st;

	if (c->spatial.n_gpus > c->pf->agents.n)
		return ws_fail(err, WS_E_STATE,
			       "--spatial-multiplexing: this machine has %zu GPU%s",
			       c->pf->agents.n, c->pf->agents.n == 1 ? "" : "s");
	st = make_plan(c, err);
	if (!st)
		st = pf_spatial_share(c, err);
	cnt_plan_destroy(c->plan);
	cnt_catalogue_destroy(c->cat);
	c->plan = NULL;
	c->cat = NULL;
	c->n_counters = 0;
	return st;
}

static enum ws_status make_sets(struct pf_collect *c, struct ws_err *err)
{
	const struct cnt_plan *plan = c->plan;

	c->sets = ws_arena_array(&c->pf->arena, plan->n_passes, sizeof(*c->sets));
	if (!c->sets)
		return no_memory(err);
	for (size_t p = 0; p < plan->n_passes; p++) {
		const struct cnt_plan_pass *pass = &plan->passes[p];
		const char **names =
			ws_arena_array(&c->pf->arena, pass->n_reads + 1, sizeof(*names));

		if (!names)
			return no_memory(err);
		for (size_t i = 0; i < pass->n_reads; i++)
			names[i] = plan->reads[pass->first_read + i].spelling;
		c->sets[p] = (struct col_count_set){ names, pass->n_reads };
	}
	return WS_OK;
}

/* ---- filters ---- */

/*
 * What is typed is part of a name, or an expression: "add(float*)", as a report shows it, is
 * both, and only as the first does it mean the kernel.
 */
static void add_kernel(const char *typed, struct ws_buf *out)
{
	struct ws_pattern *pattern;

	if (!ws_pattern_create(typed, WS_PATTERN_SOMEWHERE, &pattern, NULL)) {
		ws_buf_printf(out, "|(?:%s)", typed);
		ws_pattern_destroy(pattern);
	}
	ws_buf_add(out, "|");
	for (const char *at = typed; *at; at++) {
		if (strchr(".[]{}()*+?^$|\\", *at))
			ws_buf_add_c(out, '\\', 1);
		ws_buf_add_c(out, *at, 1);
	}
}

/* All of them in one: "(?|" lets each have groups from 1, so that its back references stay right. */
static enum ws_status make_include(struct pf_collect *c, struct ws_err *err)
{
	const struct ws_strv *kernels = &c->pf->args->kernels;
	struct ws_pattern *pattern;
	struct ws_buf text;
	enum ws_status st;

	if (!kernels->n)
		return WS_OK;
	ws_buf_init(&text, 1 << 16);
	ws_buf_add(&text, "(?");
	for (size_t i = 0; i < kernels->n; i++)
		add_kernel(kernels->at[i], &text);
	ws_buf_add(&text, ")");
	st = ws_buf_status(&text, err);
	if (!st)
		st = ws_pattern_create(text.at, WS_PATTERN_SOMEWHERE, &pattern, err);
	if (!st) {
		ws_pattern_destroy(pattern);
		c->include = ws_arena_strdup(&c->pf->arena, text.at);
		st = c->include ? WS_OK : no_memory(err);
	}
	ws_buf_fini(&text);
	return st ? ws_fail_in(err, st, "--kernel") : WS_OK;
}

/* "4" and "4:7", counted from 0 and without the end, as dispatches 5 and 5 to 7. */
static enum ws_status make_ranges(struct pf_collect *c, struct ws_err *err)
{
	const struct ws_strv *words = &c->pf->args->dispatches;

	if (!words->n)
		return WS_OK;
	c->numbers = ws_arena_array(&c->pf->arena, words->n, sizeof(*c->numbers));
	if (!c->numbers)
		return no_memory(err);
	for (size_t i = 0; i < words->n; i++) {
		struct ws_str rest = ws_str_from(words->at[i]), low;
		uint64_t first, end;

		ws_str_next(&rest, ':', &low);
		if (!ws_str_u64(low, &first) ||
		    !(rest.at ? ws_str_u64(rest, &end) : (end = first + 1, true)) || end <= first)
			return ws_fail(err, WS_E_USAGE,
				       "--dispatch: '%s' is neither a number nor FIRST:END",
				       words->at[i]);
		c->numbers[i] = (struct col_count_range){ first + 1, end };
	}
	c->n_numbers = words->n;
	return WS_OK;
}

/* ---- the state ---- */

static enum ws_status describe_run(struct pf_collect *c, struct wl_state *out, struct ws_err *err)
{
	struct pf *pf = c->pf;
	char cwd[PATH_MAX], exe[64];
	enum ws_status st = WS_OK;

	wl_state_init(out);
	for (size_t i = 0; pf->argv[i] && !st; i++)
		st = ws_vec_push(&out->argv, pf->argv[i], err);
	for (size_t i = 0; i < pf->n_sections && !st; i++)
		st = ws_vec_push(&out->sections, pf->sections[i], err);
	out->directory = getcwd(cwd, sizeof(cwd)) ? ws_arena_strdup(&pf->arena, cwd) : "";
	out->arch = pf->gpu->arch;
	out->how = pf_how(pf);
	if (!st && !out->directory)
		st = no_memory(err);
	/* What a process was started as may be relative to where that was. */
	snprintf(exe, sizeof(exe), "/proc/%lld/exe", (long long)pf->args->attach_pid);
	return st ? st
		  : wl_state_program(out, pf->args->attach_pid ? exe : pf->argv[0], &pf->arena,
				     err);
}

static enum ws_status write_perfmon(struct pf_collect *c, struct ws_err *err)
{
	struct wl_perfmon_filter filter = { NULL, NULL };
	struct ws_buf kernels, ranges;
	enum ws_status st = WS_OK;

	ws_buf_init(&kernels, 1 << 16);
	ws_buf_init(&ranges, 1 << 16);
	for (size_t i = 0; i < c->pf->args->kernels.n; i++)
		ws_buf_printf(&kernels, "%s%s", i ? "," : "", c->pf->args->kernels.at[i]);
	for (size_t i = 0; i < c->pf->args->dispatches.n; i++)
		ws_buf_printf(&ranges, "%s%s", i ? " " : "", c->pf->args->dispatches.at[i]);
	filter.kernels = kernels.n ? kernels.at : NULL;
	filter.ranges = ranges.n ? ranges.at : NULL;
	for (size_t i = 0; i < c->sheets.n && !st; i++)
		st = wl_perfmon_write(&c->sheets, &c->sheets.at[i], &filter, c->pf->dir, err);
	ws_buf_fini(&kernels);
	ws_buf_fini(&ranges);
	return st;
}

static enum ws_status choose_replay(struct pf_collect *c, struct ws_err *err)
{
	enum ws_status st = launch_counts_by_packets(c->pf->agents.soft, &c->by_packets, err);
	size_t n_gpus = WS_MAX(c->spatial.n_gpus, (size_t)1);

	if (st)
		return st;
	c->multiplex = pf_multiplex_of(c->pf->args);
	c->replay = (enum pf_replay)c->pf->args->replay;
	if (c->replay == PF_REPLAY_AUTO)
		c->replay = c->by_packets ? PF_REPLAY_APPLICATION : PF_REPLAY_KERNEL;
	if (c->replay == PF_REPLAY_NONE && c->plan->n_passes > n_gpus)
		return ws_fail(err, WS_E_STATE,
			       "--replay none: these counters need %zu passes: choose fewer with "
			       "--set or -b, or use --iteration-multiplexing",
			       c->plan->n_passes);
	if (c->pf->args->attach_pid && c->replay == PF_REPLAY_APPLICATION && c->plan->n_passes > 1)
		return ws_fail(err, WS_E_STATE,
			       "--attach-pid: these counters need %zu passes, and a running "
			       "process cannot be run again: use --replay kernel, or choose fewer "
			       "with --set or -b",
			       c->plan->n_passes);
	c->n_runs = 1;
	if (c->replay == PF_REPLAY_APPLICATION && !c->multiplex)
		c->n_runs = (c->plan->n_passes + n_gpus - 1) / n_gpus;
	return pf_check_ranks(c->pf, c->n_runs, err);
}

enum ws_status pf_collect_init(struct pf_collect *c, struct pf *pf, struct ws_err *err)
{
	struct wl_state old;
	enum ws_status st;

	*c = (struct pf_collect){ .pf = pf };
	wl_state_init(&old);
	st = describe_run(c, &c->state, err);
	if (!st)
		st = make_include(c, err);
	if (!st)
		st = make_ranges(c, err);
	if (!st)
		st = pf_spatial_parse(pf->args, &c->spatial, err);
	if (!st)
		st = choose_counters(c, err);
	if (!st && c->spatial.n_gpus)
		st = keep_share(c, err);
	/* From here on the folder is touched. */
	if (!st)
		st = pf_prepare_dir(pf, &c->state, &old, &c->before, err);
	if (!st && c->before != PF_FRESH) {
		size_t n_needed = c->n_wants;

		st = wl_state_subtract(&old, c->wants, &c->n_wants, &pf->arena, err);
		c->n_there = n_needed - c->n_wants;
		if (!st)
			st = wl_state_keep_done(&c->state, &old, err);
		if (!st && c->before == PF_ADD)
			st = wl_state_join_sections(&c->state, &old, err);
		/* Inputs of passes that never ran would stand beside the new plan's. */
		ws_vec_each(pass, &old.passes)
			if (!pass->done)
				wl_perfmon_remove(pf->dir, pass->name);
		wl_merge_remove(pf->dir);
	}
	if (!st && c->n_wants)
		st = make_plan(c, err);
	if (!st && c->plan)
		st = choose_replay(c, err);
	if (!st && c->plan)
		st = make_sets(c, err);
	if (!st && c->plan)
		st = wl_sheets_make(c->plan, c->wants, c->n_wants, wl_state_next_number(&c->state),
				    &pf->arena, &c->sheets, err);
	c->first_pass = c->state.passes.n;
	if (!st)
		st = wl_state_add_passes(&c->state, &c->sheets, c->wants, &pf->arena, err);
	/* What was recorded for other passes, or on the way to a new profile, is of no use. */
	c->recorded = !st && c->before == PF_RESUME && c->n_runs == 1 &&
		      wl_state_same_passes(&c->state, &old) && pf_recorded_is_there(pf);
	if (!st && !c->recorded)
		pf_recorded_remove(pf);
	if (!st)
		st = write_perfmon(c, err);
	wl_state_fini(&old);
	return st;
}

void pf_collect_fini(struct pf_collect *c)
{
	wl_state_fini(&c->state);
	cnt_plan_destroy(c->plan);
	cnt_catalogue_destroy(c->cat);
}

/* ---- runs ---- */

static void time_left(char *out, size_t room, double seconds)
{
	unsigned s = (unsigned)(seconds + 0.5), m = s / 60, h = m / 60;

	if (h)
		snprintf(out, room, "%u hour%s, %u minute%s and %u second%s", h, h == 1 ? "" : "s",
			 m % 60, m % 60 == 1 ? "" : "s", s % 60, s % 60 == 1 ? "" : "s");
	else if (m)
		snprintf(out, room, "%u minute%s and %u second%s", m, m == 1 ? "" : "s", s % 60,
			 s % 60 == 1 ? "" : "s");
	else
		snprintf(out, room, "%u second%s", s, s == 1 ? "" : "s");
}

/* Passes that one run of application replay counts: one, or one per GPU. */
static size_t per_run(const struct pf_collect *c)
{
	return WS_MAX(c->spatial.n_gpus, (size_t)1);
}

static void announce_run(const struct pf_collect *c, size_t run, double spent_s)
{
	char left[96] = "pending first measurement";

	if (run)
		time_left(left, sizeof(left), spent_s / (double)run * (double)(c->n_runs - run));
	pf_log(PF_LOG_INFO, "[Run %zu/%zu][Approximate profiling time left: %s]...", run + 1,
	       c->n_runs, left);
	for (size_t i = 0; i < c->sheets.n; i++)
		if (c->sheets.at[i].pass / per_run(c) == run)
			pf_log(PF_LOG_INFO, "[profiling] Current input file: %s/perfmon/%s.txt",
			       c->pf->dir, c->sheets.at[i].name);
}

static void announce_all(const struct pf_collect *c)
{
	struct ws_buf files;

	ws_buf_init(&files, 1 << 20);
	for (size_t i = 0; i < c->sheets.n; i++)
		ws_buf_printf(&files, "%s%s/perfmon/%s.txt", i ? ", " : "", c->pf->dir,
			      c->sheets.at[i].name);
	pf_log(PF_LOG_INFO, "[profiling] Current input files: %s", files.at);
	ws_buf_fini(&files);
}

/* -q hides the lines and shows this instead. */
static void show_bar(const struct pf_collect *c, size_t n_done)
{
	const size_t width = 40, n = c->n_runs, full = n ? n_done * width / n : width;

	if (!c->pf->args->general.quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%3zu%% [", n ? n_done * 100 / n : 100);
	for (size_t i = 0; i < width; i++)
		fputc(i < full ? '|' : ' ', stderr);
	fprintf(stderr, "] run %zu of %zu%s", WS_MIN(n_done + 1, n), n, n_done == n ? "\n" : "");
}

static enum ws_status keep_state(struct pf_collect *c, struct ws_err *err)
{
	return wl_state_write(&c->state, c->pf->dir, err);
}

static enum ws_status one_run(struct pf_collect *c, struct ws_err *err)
{
	enum launch_replay replay = c->multiplex ? LAUNCH_REPLAY_ROTATE : LAUNCH_REPLAY_KERNEL;
	struct launch_passes_result result;
	struct ws_err why = { WS_OK, "" };
	enum ws_status st, taken;
	bool kept;

	show_bar(c, 0);
	if (c->recorded) {
		st = pf_recorded_open(c, &result, &why);
	} else {
		announce_all(c);
		st = pf_run_once(c, 0, c->plan->n_passes, replay, &result, &why);
	}
	/* What was counted before it ended is worth keeping, however it ended. */
	taken = result.n_done ? pf_take_results(c, &result, 0, c->plan->n_passes, !st, err) : WS_OK;
	kept = !st && (taken == WS_E_IO || taken == WS_E_ACCESS) && !c->lost &&
	       (c->recorded || pf_recorded_keep(c, &result));
	c->recorded = kept;
	/* The same passes are to be planned again then: those of which there is a file, too. */
	for (size_t i = c->first_pass; i < c->state.passes.n && kept; i++)
		c->state.passes.at[i].done = false;
	launch_passes_fini(&result, !kept);
	show_bar(c, 1);
	if (!st)
		return taken;
	*err = why;
	return st;
}

static enum ws_status run_per_pass(struct pf_collect *c, struct ws_err *err)
{
	double start_s = now_s();
	enum ws_status st = WS_OK;

	for (size_t run = 0; run < c->n_runs && !st; run++) {
		struct launch_passes_result result = { .n_runs = 0 };
		size_t first = run * per_run(c), n = WS_MIN(per_run(c), c->plan->n_passes - first);

		announce_run(c, run, now_s() - start_s);
		show_bar(c, run);
		st = pf_runs_interrupted(c, err);
		if (!st)
			st = pf_run_once(c, first, n, LAUNCH_REPLAY_APPLICATION, &result, err);
		if (!st)
			st = pf_take_results(c, &result, first, n, true, err);
		launch_passes_fini(&result, true);
		if (!st)
			st = keep_state(c, err);
		else
			ws_fail_in(err, st, "pass %zu of %zu", first + 1, c->plan->n_passes);
	}
	if (!st)
		show_bar(c, c->n_runs);
	return st;
}

enum ws_status pf_collect_run(struct pf_collect *c, struct ws_err *err)
{
	double start_s = now_s();
	struct ws_err ignored;
	enum ws_status st = keep_state(c, err), kept;

	pf_runs_begin();
	if (st || !c->plan)
		return st;
	st = c->n_runs > 1 ? run_per_pass(c, err) : one_run(c, err);
	c->seconds = now_s() - start_s;
	/* Also when all went well: what comes next, the peaks, may fail or be interrupted. */
	kept = keep_state(c, st ? &ignored : err);
	return st ? st : kept;
}
