/*
 * What a profile collected, and what does not fit together.
 *
 * Each pass of application replay is a run of its own. A program that does not do the same
 * every time has dispatches in one pass that another lacks; analyze matches rows by kernel,
 * launch size and how-manieth, and can use only what all passes have. Here it is counted
 * and said, from the files themselves, so that passes of earlier runs are included.
 */
#include "cmd/compute/profile_collect.h"

#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/say.h"
#include "workload/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX (1u << 20)
#define NAMED_MAX 10u /* kernels in a message */

/* Dispatches of one kernel and launch size, per pass. */
struct kind {
	const char *kernel;
	double grid, workgroup;
	uint64_t *n_in; /* by pass */
};

struct tally {
	struct pf_collect *c;
	struct ws_arena arena;
	struct ws_map kinds;
	struct wl_dict names;
	size_t n_passes, pass;
	size_t n_empty; /* passes in which no dispatch has all values */
};

static struct kind *kind_of(struct tally *t, size_t name, double grid, double workgroup,
			    struct ws_err *err)
{
	bool by_grid = t->c->pf->args->join_type == PF_JOIN_GRID;
	struct kind *kind;
	char key[128], *own;

	snprintf(key, sizeof(key), "%zu %.17g %.17g", name, by_grid ? grid : 0,
		 by_grid ? workgroup : 0);
	kind = ws_map_get(&t->kinds, key);
	if (kind)
		return kind;
	kind = ws_arena_new(&t->arena, struct kind);
	own = ws_arena_strdup(&t->arena, key);
	if (!kind || !own)
		return NULL;
	*kind = (struct kind){ t->names.texts[name], grid, workgroup,
			       ws_arena_array(&t->arena, t->n_passes, sizeof(*kind->n_in)) };
	if (!kind->n_in || ws_map_put(&t->kinds, ws_str_from(own), kind, err))
		return NULL;
	return kind;
}

static enum ws_status add_rows(struct tally *t, const struct wl_csv *csv, struct ws_err *err)
{
	const struct wl_csv_column *name = wl_csv_column(csv, "Kernel_Name");
	const struct wl_csv_column *grid = wl_csv_column(csv, "Grid_Size");
	const struct wl_csv_column *group = wl_csv_column(csv, "Workgroup_Size");
	const struct wl_csv_column *id = wl_csv_column(csv, "Dispatch_ID");

	if (!name || !grid || !group)
		return ws_fail(err, WS_E_FORMAT, "columns are missing");
	for (size_t i = 0; i < csv->n_rows; i++) {
		struct kind *kind;

		if (id && i && id->at[i] == id->at[i - 1])
			continue; /* the long form: another counter of the same dispatch */
		kind = kind_of(t, (size_t)name->at[i], grid->at[i], group->at[i], err);

		if (!kind)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		kind->n_in[t->pass]++;
	}
	t->n_empty += csv->n_rows_holed == csv->n_rows;
	return WS_OK;
}

static enum ws_status add_pass(struct tally *t, size_t pass, struct ws_err *err)
{
	static const char *const texts[] = { "Kernel_Name", NULL };
	const struct wl_csv_how how = { texts, &t->names };
	struct wl_csv csv = { .n_rows = 0 };
	char path[2 * PATH_MAX];
	enum ws_status st;

	if (t->c->pf->args->format == PF_FORMAT_CSV)
		snprintf(path, sizeof(path), "%s/%s.csv", t->c->pf->dir,
			 t->c->state.passes.at[pass].name);
	else
		snprintf(path, sizeof(path), "%s/results_%zu.csv", t->c->pf->dir, pass);
	st = wl_csv_read(path, &how, &t->arena, &csv, err);
	if (!st)
		st = add_rows(t, &csv, err);
	wl_csv_fini(&csv);
	t->pass++;
	return st;
}

/* How many dispatches of a kind all passes have; and the most that one has. */
static void extremes(const struct tally *t, const struct kind *kind, uint64_t *least,
		     uint64_t *most)
{
	*least = UINT64_MAX;
	*most = 0;
	for (size_t p = 0; p < t->n_passes; p++) {
		*least = WS_MIN(*least, kind->n_in[p]);
		*most = WS_MAX(*most, kind->n_in[p]);
	}
}

/* Each GPU has counted other passes: rows of the others are empty, and that is as it should be. */
static void report_spatial(struct tally *t)
{
	uint64_t least, most;

	ws_map_each(entry, &t->kinds) {
		extremes(t, entry->value, &least, &most);
		t->c->n_dispatches += most;
	}
	say(SAY_INFO,
	    "%llu dispatches of %zu kernel%s; each GPU has counted its share of %zu passes",
	    (unsigned long long)t->c->n_dispatches, t->names.n, t->names.n == 1 ? "" : "s",
	    t->n_passes);
	if (t->n_empty)
		say(SAY_WARNING,
		    "%zu of %zu passes have no values: no kernel ran on the GPUs whose share they "
		    "are. The program should do the same on all %zu",
		    t->n_empty, t->n_passes, t->c->spatial.n_gpus);
}

static void report(struct tally *t)
{
	uint64_t n_matched = 0, n_most = 0;
	size_t n_bad = 0;
	struct ws_buf bad;

	ws_buf_init(&bad, 1 << 16);
	ws_map_each(entry, &t->kinds) {
		const struct kind *kind = entry->value;
		uint64_t least, most;

		extremes(t, kind, &least, &most);
		n_matched += least;
		n_most += most;
		if (least == most || n_bad++ >= NAMED_MAX)
			continue;
		ws_buf_printf(&bad, "%s%s, grid %.0f, workgroup %.0f: %llu to %llu",
			      bad.n ? "; " : "", kind->kernel, kind->grid, kind->workgroup,
			      (unsigned long long)least, (unsigned long long)most);
	}
	t->c->n_dispatches = n_matched;
	if (n_bad)
		say(SAY_WARNING,
		    "The runs of the program differ: %llu of %llu dispatches were seen in all %zu "
		    "passes and can be analyzed; the rest has no counterpart. Dispatches per pass, "
		    "fewest to most: %s%s",
		    (unsigned long long)n_matched, (unsigned long long)n_most, t->n_passes, bad.at,
		    n_bad > NAMED_MAX ? "; and others" : "");
	else
		say(SAY_INFO, "%llu dispatch%s of %zu kernel%s, %s", (unsigned long long)n_matched,
		    n_matched == 1 ? "" : "es", t->names.n, t->names.n == 1 ? "" : "s",
		    t->c->multiplex ? "each with one set of counters of its own and the others' "
				      "from launches near it"
				    : "each in all passes");
	ws_buf_fini(&bad);
}

enum ws_status pf_account(struct pf_collect *c, struct ws_err *err)
{
	struct tally t = { .c = c };
	enum ws_status st = WS_OK;

	ws_arena_init(&t.arena, (size_t)1 << 30);
	ws_map_init(&t.kinds, WS_MAP_STR, KINDS_MAX);
	wl_dict_init(&t.names, &t.arena);
	ws_vec_each(pass, &c->state.passes)
		t.n_passes += pass->done;
	for (size_t i = 0; i < c->state.passes.n && !st; i++)
		if (c->state.passes.at[i].done)
			st = add_pass(&t, i, err);
	c->n_dispatches = 0;
	if (!st && c->spatial.n_gpus)
		report_spatial(&t);
	else if (!st)
		report(&t);
	if (!st && !c->n_dispatches && t.kinds.n) {
		c->unmatched = true;
		st = ws_fail(err, WS_E_STATE,
			     "the runs of the program have no dispatch in common: count in one run "
			     "(--replay kernel, --iteration-multiplexing), or match by name alone "
			     "(--join-type kernel)");
	}
	wl_dict_fini(&t.names);
	ws_map_fini(&t.kinds);
	ws_arena_fini(&t.arena);
	return st;
}

void pf_say_kept(struct pf_collect *c)
{
	uint64_t n_rows = UINT64_MAX; /* that every pass has */
	size_t n_done = 0;

	ws_vec_each(pass, &c->state.passes) {
		n_done += pass->done;
		n_rows = WS_MIN(n_rows, pass->n_rows);
	}
	if (c->unmatched)
		return; /* all is there, and to no avail */
	if (c->recorded)
		say(SAY_WARNING,
		    "The run is recorded in %s, only its files could not be written: make room, "
		    "and the same command with --resume writes them without running the program",
		    c->pf->dir);
	else if (n_done && n_done == c->state.passes.n)
		say(SAY_WARNING,
		    "All %zu passes are complete and kept in %s; the same command with --resume "
		    "does what is missing",
		    n_done, c->pf->dir);
	else if (n_done)
		say(SAY_WARNING,
		    "%zu of %zu passes are complete and kept in %s; the same command with --resume "
		    "goes on from there",
		    n_done, c->state.passes.n, c->pf->dir);
	else if (n_rows)
		say(SAY_WARNING,
		    "%llu dispatch%s counted before that %s kept in %s, and 'rocprof-compute "
		    "analyze' reads %s; the same command with --resume runs the program again",
		    (unsigned long long)n_rows, n_rows == 1 ? "" : "es", n_rows == 1 ? "is" : "are",
		    c->pf->dir, n_rows == 1 ? "it" : "them");
}

enum ws_status pf_finish(struct pf_collect *c, bool measured, struct ws_err *err)
{
	enum ws_status st;

	c->state.complete = true;
	st = wl_state_write(&c->state, c->pf->dir, err);
	if (st)
		return st;
	if (c->n_runs_done)
		say(SAY_INFO, "%zu run%s of the program took %.1f s", c->n_runs_done,
		    c->n_runs_done == 1 ? "" : "s", c->seconds);
	else if (!c->plan && !measured)
		say(SAY_INFO, "Everything that was asked for was there already; --replace collects "
			      "it again");
	if (c->spatial.n_gpus) {
		char parent[PATH_MAX];

		strcpy(parent, c->pf->dir);
		ws_path_parent(parent);
		say(SAY_INFO,
		    "Results: %s (when all nodes are done: rocprof-compute analyze "
		    "--spatial-multiplexing -p %s)",
		    c->pf->dir, parent);
		return WS_OK;
	}
	say(SAY_INFO, "Results: %s (rocprof-compute analyze -p %s)", c->pf->dir, c->pf->dir);
	return WS_OK;
}
