/* Tables of what samples carry besides their stacks: CPU events, and the CPU time of threads. */
#include "profile/report_priv.h"

#include <ctype.h>
#include <string.h>

/* ---- events ---- */

/* Names of the events of a process's samples, separated by ','. */
static const char *event_names(const struct trc_process *process)
{
	for (unsigned i = 0; i < CAP_SAMPLER_COUNT; i++)
		if (process->samplers[i].used && *process->samplers[i].count_names)
			return process->samplers[i].count_names;
	return "";
}

/* "sampling_perf_INSTRUCTIONS" for perf::INSTRUCTIONS. */
static const char *file_name(struct prof_report *r, const char *event)
{
	char *name = ws_arena_printf(&r->arena, "sampling_%s", event), *to = name;

	for (const char *at = name; name && *at; at++) {
		bool word = isalnum((unsigned char)*at) || *at == '-';

		if (word || (to > name && to[-1] != '_'))
			*to++ = word ? *at : '_';
	}
	if (name)
		*to = '\0';
	return name;
}

static enum ws_status event_tree(struct prof_report *r, uint32_t event, struct prof_tree **out_tree,
				 struct ws_err *err)
{
	struct prof_tree_opts opts = r->samples->opts;
	struct prof_tree *tree = NULL, *flat = NULL;
	enum ws_status st;

	opts.event = event;
	st = prof_tree_create(&opts, &tree, err);
	for (size_t p = 0; !st && p < r->n_processes; p++)
		st = prof_tree_add_samples(tree, r->trace, r->processes[p], prof_report_rank(r, p),
					   r->frames[p], err);
	if (!st && r->opts->flat)
		st = prof_tree_flatten(tree, &flat, err);
	if (flat || st)
		prof_tree_destroy(tree);
	if (!st)
		*out_tree = flat ? flat : tree;
	return st;
}

static void write_event(struct prof_report *r, uint32_t event, const char *name)
{
	const char *file = file_name(r, name);
	struct prof_sheet sheet = prof_report_new_sheet(r, file ? file : "");
	struct prof_tree *tree = NULL;
	struct ws_err err = { 0 };
	enum ws_status st = event_tree(r, event, &tree, &err);

	if (!st && !file)
		st = ws_fail(&err, WS_E_NOMEM, "no memory for the events of samples");
	if (st) {
		prof_tree_destroy(tree);
		prof_report_failed(r, st, &err);
		return;
	}
	sheet.label = name;
	sheet.description =
		ws_arena_printf(&r->arena, "%s (CPU event, counted between samples)", name);
	sheet.unit_text = "count";
	sheet.precision = r->opts->number.precision >= 0 ? r->opts->number.precision : 0;
	sheet.trees[0] = tree;
	sheet.n_trees = 1;
	if (sheet.description)
		prof_report_sheet(r, &sheet);
	prof_tree_destroy(tree);
}

void prof_report_events(struct prof_report *r)
{
	struct ws_str rest = ws_str_from(event_names(r->processes[0])), name;

	for (uint32_t event = 1; rest.n && ws_str_next(&rest, ',', &name); event++) {
		const char *copy = ws_arena_strndup(&r->arena, name.at, name.n);

		if (copy && *copy)
			write_event(r, event, copy);
	}
}

/* ---- threads ---- */

static const struct thread_component {
	const char *name, *description;
	bool share; /* per time, in percent */
} thread_components[] = {
	{ "thread_cpu_clock", "CPU time of threads when their last sample was taken", false },
	{ "thread_cpu_util", "CPU time per wall-clock time of threads, up to their last sample",
	  true },
};

/* AMD's names for all CPU events at once, which have tables of their own. */
static bool is_all_events(const char *component)
{
	return !strcmp(component, "papi_vector") || !strcmp(component, "papi_array");
}

static const struct thread_component *find_component(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(thread_components); i++)
		if (!strcmp(name, thread_components[i].name))
			return &thread_components[i];
	return NULL;
}

bool prof_report_is_thread_component(const char *name)
{
	return is_all_events(name) || find_component(name);
}

static double value_of(const struct prof_tree_thread *at, const struct thread_component *component)
{
	if (!component->share)
		return (double)at->cpu_ns;
	return at->age_ns ? 100 * (double)at->cpu_ns / (double)at->age_ns : 0;
}

/* A row per thread that has samples. */
static enum ws_status add_threads(struct prof_report *r, const struct thread_component *component,
				  struct prof_tree *tree, struct ws_err *err)
{
	for (size_t i = 0; i < r->samples->n_threads; i++) {
		const struct prof_tree_thread *at = &r->samples->threads[i];
		const char *name = at->thread && *at->thread->name
					   ? at->thread->name
					   : trc_process_program(r->processes[0]);
		struct prof_node *root = prof_tree_root(tree, at->thread, at->rank, err);
		struct prof_node *row =
			root ? prof_tree_child(tree, root, name, PROF_KIND_REGION) : NULL;

		if (!row || row == root)
			return ws_fail(err, WS_E_NOMEM, "no memory for the CPU time of threads");
		prof_stat_add(&row->stat[PROF_CLOCK_WALL], value_of(at, component));
	}
	return WS_OK;
}

static void style_percent(const struct prof_report *r, struct prof_sheet *sheet)
{
	sheet->unit_text = "%";
	sheet->precision = r->opts->number.precision >= 0 ? r->opts->number.precision : 1;
}

bool prof_report_thread_component(struct prof_report *r, const char *name)
{
	const struct thread_component *component = find_component(name);
	struct prof_tree_opts opts = r->samples->opts;
	struct prof_sheet sheet = prof_report_new_sheet(r, name);
	struct prof_tree *tree = NULL;
	struct ws_err err = { 0 };
	enum ws_status st;

	if (!r->samples->n_samples)
		return false;
	if (!component)
		return is_all_events(name) && *event_names(r->processes[0]);
	st = prof_tree_create(&opts, &tree, &err);
	if (!st)
		st = add_threads(r, component, tree, &err);
	if (st) {
		prof_report_failed(r, st, &err);
	} else {
		sheet.description = component->description;
		if (!component->share)
			prof_report_style_time(r, &sheet);
		else
			style_percent(r, &sheet);
		sheet.trees[0] = tree;
		sheet.n_trees = 1;
		prof_report_sheet(r, &sheet);
	}
	prof_tree_destroy(tree);
	return true;
}
