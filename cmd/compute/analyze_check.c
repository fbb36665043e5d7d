/* What is missing or excluded: passes of an interrupted profile, requested blocks, options. */
#include "base/log.h"
#include "base/str.h"
#include "cmd/compute/analyze.h"
#include "workload/state.h"

#include <limits.h>

/* A profile that was stopped half way is not a whole one, and not nothing. */
enum ws_status an_name_resume(struct an *an, const struct rpt_run *run, enum ws_status st,
			      struct ws_err *err)
{
	char word[2 * PATH_MAX];
	struct wl_state state;
	size_t n_done = 0;

	if (wl_state_read(run->path, &an->rpt.arena, &state, NULL))
		return st;
	for (size_t i = 0; i < state.passes.n; i++)
		n_done += state.passes.at[i].done;
	if (!state.complete && st)
		st = ws_fail(
			err, st,
			"'%s' is an interrupted profile, %zu of %zu passes are done: "
			"'rocprof-compute profile --resume --output-directory %s' continues it",
			run->path, n_done, state.passes.n,
			ws_str_shell(run->path, word, sizeof(word)));
	else if (!state.complete)
		ws_log_warn("'%s' is an interrupted profile, %zu of %zu passes are done, and "
			    "metrics of the others are N/A: 'rocprof-compute profile --resume "
			    "--output-directory %s' continues it",
			    run->path, n_done, state.passes.n,
			    ws_str_shell(run->path, word, sizeof(word)));
	wl_state_fini(&state);
	return st;
}

/* Whether @id is a block, a table or a metric of this architecture. */
static bool is_there(const struct ana_metrics *metrics, const struct ana_metric_id *id)
{
	const struct ana_table *table;

	for (size_t b = 0; b < metrics->n_blocks; b++)
		if (metrics->blocks[b]->id == id->block && id->table < 0)
			return true;
	table = id->table < 0 ? NULL : ana_table_find(metrics, id->block, (unsigned)id->table);
	if (!table || id->index < 0)
		return table != NULL;
	for (size_t m = 0; m < table->n_metrics; m++)
		if (table->metrics[m].index == (unsigned)id->index)
			return true;
	return false;
}

/* What -b names and is not there; a report of nothing but unknown names is none. */
enum ws_status an_check_blocks(const struct an *an, struct ws_err *err)
{
	const struct ws_strv *blocks = &an->args->show.blocks;
	size_t n_there = 0, n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < blocks->n; i++) {
			struct ana_metric_id id;
			bool there = ana_metric_id_parse(an->rpt.metrics, blocks->at[i], &id) &&
				     is_there(an->rpt.metrics, &id);

			n += !pass;
			n_there += !pass && there;
			if (pass && !there)
				ws_log_warn("-b %s: %s has no such block, table or metric",
					    blocks->at[i], an->rpt.metrics->arch);
		}
		if (n && !n_there)
			return ws_fail(
				err, WS_E_USAGE,
				"-b %s: %s has no such block, table or metric: --list-blocks %s "
				"and --list-metrics %s list them",
				blocks->at[0], an->rpt.metrics->arch, an->rpt.metrics->arch,
				an->rpt.metrics->arch);
	}
	return WS_OK;
}

enum ws_status an_check_torch(const struct an_args *args, struct ws_err *err)
{
	const char *option = args->list_torch ? "--list-torch-operators" : "--torch-operator";

	if (!args->general.experimental)
		return ws_fail(err, WS_E_USAGE,
			       "%s is an experimental feature. Use --experimental to enable it.",
			       option);
	if (args->spatial || args->gui.n || args->tui || args->format != AN_STDOUT)
		return ws_fail(err, WS_E_USAGE,
			       "%s cannot be combined with --gui, --tui, --spatial-multiplexing or "
			       "--output-format",
			       option);
	return WS_OK;
}
