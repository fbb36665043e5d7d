/*
 * What a profile collected, and what does not fit together.
 *
 * Each pass of application replay is a run of its own. A program that does not do the same
 * every time has dispatches in one pass that another lacks, and only what all passes have
 * can be analyzed. That is counted from the files, so that passes of earlier runs are
 * included, and reported.
 */
#include "cmd/compute/profile_collect.h"

#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"
#include "workload/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 10u /* kernels in a message */

enum trc_alike pf_alike(const struct pf_args *args)
{
	return args->join_type == PF_JOIN_GRID ? TRC_ALIKE_GRID : TRC_ALIKE_KERNEL;
}

/* Each GPU has counted other passes: rows of the others are empty, and that is as it should be. */
static void report_spatial(struct pf_collect *c, const struct wl_tally *tally, size_t n_passes)
{
	c->n_dispatches = tally->n_most;
	pf_log(PF_LOG_INFO,
	       "%llu dispatches of %zu kernel%s; each GPU counted its share of %zu passes",
	       (unsigned long long)c->n_dispatches, tally->n_kernels,
	       tally->n_kernels == 1 ? "" : "s", n_passes);
	if (tally->n_empty)
		pf_log(PF_LOG_WARNING,
		       "%zu of %zu passes have no values: no kernel ran on the GPUs that should "
		       "count "
		       "them. The program should do the same on all %zu",
		       tally->n_empty, n_passes, c->spatial.n_gpus);
}

static void report_uneven(const struct wl_tally *tally, size_t n_passes)
{
	struct ws_buf list;

	ws_buf_init(&list, 1 << 16);
	for (size_t i = 0; i < tally->n_uneven && i < NAMED_MAX; i++) {
		const struct wl_uneven *u = &tally->uneven[i];

		ws_buf_printf(&list, "%s%s, grid %llu: %llu to %llu", list.n ? "; " : "", u->kernel,
			      (unsigned long long)u->grid, (unsigned long long)u->n_least,
			      (unsigned long long)u->n_most);
	}
	pf_log(PF_LOG_WARNING,
	       "The runs of the program differ: %llu of %llu dispatches were observed in all %zu "
	       "passes and can be analyzed; the rest has no match. Dispatches per pass, fewest to "
	       "most: %s%s",
	       (unsigned long long)tally->n_matched, (unsigned long long)tally->n_most, n_passes,
	       list.at, tally->n_uneven > NAMED_MAX ? "; and others" : "");
	ws_buf_fini(&list);
}

static void report(struct pf_collect *c, const struct wl_tally *tally, size_t n_passes)
{
	c->n_dispatches = tally->n_matched;
	if (tally->n_uneven) {
		report_uneven(tally, n_passes);
		return;
	}
	pf_log(PF_LOG_INFO, "%llu dispatch%s of %zu kernel%s, %s",
	       (unsigned long long)c->n_dispatches, c->n_dispatches == 1 ? "" : "es",
	       tally->n_kernels, tally->n_kernels == 1 ? "" : "s",
	       c->multiplex ? "each with one measured set of counters, the others taken from "
			      "neighbouring launches"
			    : "each in all passes");
}

enum ws_status pf_account(struct pf_collect *c, struct ws_err *err)
{
	bool long_form = c->pf->args->format == PF_FORMAT_ROCPD;
	struct ws_arena arena;
	struct wl_tally tally = { .n_kinds = 0 };
	const char **files;
	size_t n = 0;
	enum ws_status st = WS_OK;

	ws_arena_init(&arena, (size_t)1 << 30);
	files = ws_arena_array(&arena, c->state.passes.n + 1, sizeof(*files));
	for (size_t i = 0; files && i < c->state.passes.n && !st; i++) {
		if (!c->state.passes.at[i].done)
			continue;
		files[n] = wl_pass_file(c->state.passes.at[i].name, i, long_form, &arena);
		if (!files[n++])
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st)
		st = files ? wl_tally(c->pf->dir, files, n, pf_alike(c->pf->args), &arena, &tally,
				      err)
			   : ws_fail(err, WS_E_NOMEM, "out of memory");
	c->n_dispatches = 0;
	if (!st && c->spatial.n_gpus)
		report_spatial(c, &tally, n);
	else if (!st)
		report(c, &tally, n);
	if (!st && !c->n_dispatches && tally.n_kinds) {
		c->unmatched = true;
		st = ws_fail(err, WS_E_STATE,
			     "the runs of the program have no dispatch in common: count in one run "
			     "(--replay kernel, --iteration-multiplexing), or match by name alone "
			     "(--join-type kernel)");
	}
	ws_arena_fini(&arena);
	return st;
}

void pf_log_kept(struct pf_collect *c)
{
	uint64_t n_rows = UINT64_MAX; /* that every pass has */
	size_t n_done = 0;

	ws_vec_each(pass, &c->state.passes) {
		n_done += pass->done;
		n_rows = WS_MIN(n_rows, pass->n_rows);
	}
	if (c->unmatched)
		return; /* nothing can be continued */
	if (c->recorded)
		pf_log(PF_LOG_WARNING,
		       "The run is recorded in %s, but its files could not be written: free disk "
		       "space, and the same command with --resume writes them without running the "
		       "program",
		       c->pf->dir);
	else if (n_done && n_done == c->state.passes.n)
		pf_log(PF_LOG_WARNING,
		       "All %zu passes are complete and kept in %s; the same command with --resume "
		       "collects the rest",
		       n_done, c->pf->dir);
	else if (n_done)
		pf_log(PF_LOG_WARNING,
		       "%zu of %zu passes are complete and kept in %s; the same command with "
		       "--resume "
		       "continues",
		       n_done, c->state.passes.n, c->pf->dir);
	else if (n_rows)
		pf_log(PF_LOG_WARNING,
		       "%llu dispatch%s counted before that %s kept in %s, and 'rocprof-compute "
		       "analyze' reads %s; the same command with --resume runs the program again",
		       (unsigned long long)n_rows, n_rows == 1 ? "" : "es",
		       n_rows == 1 ? "is" : "are", c->pf->dir, n_rows == 1 ? "it" : "them");
}

enum ws_status pf_finish(struct pf_collect *c, bool measured, struct ws_err *err)
{
	enum ws_status st;

	c->state.complete = true;
	st = wl_state_write(&c->state, c->pf->dir, err);
	if (st)
		return st;
	if (c->n_runs_done)
		pf_log(PF_LOG_INFO, "%zu run%s of the program took %.1f s", c->n_runs_done,
		       c->n_runs_done == 1 ? "" : "s", c->seconds);
	else if (!c->plan && !measured)
		pf_log(PF_LOG_INFO, "All requested counters were already collected; --replace "
				    "collects them again");
	if (c->spatial.n_gpus) {
		char parent[PATH_MAX];

		strcpy(parent, c->pf->dir);
		ws_path_parent(parent);
		pf_log(PF_LOG_INFO,
		       "Results: %s (when all nodes are done: rocprof-compute analyze "
		       "--spatial-multiplexing -p %s)",
		       c->pf->dir, parent);
		return WS_OK;
	}
	pf_log(PF_LOG_INFO, "Results: %s (rocprof-compute analyze -p %s)", c->pf->dir, c->pf->dir);
	return WS_OK;
}
