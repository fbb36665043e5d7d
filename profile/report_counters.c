/* GPU counters per kernel: a table per counter and device. */
#include "profile/report_priv.h"

#include <stdlib.h>
#include <string.h>

#define COUNTERS_MAX 65536u

struct counter_sheet {
	struct prof_tree *tree;
	const struct trc_counter *counter;
	int device;
};

struct counter_read {
	struct prof_report *r;
	struct ws_map sheets; /* by device and name, to struct counter_sheet */
	double *sums;         /* of one dispatch, by counter */
	bool *seen;
};

static struct counter_sheet *sheet_of(struct counter_read *read, const struct trc_counter *counter,
				      struct ws_err *err)
{
	struct prof_tree_opts opts = { .collapse_threads = read->r->opts->collapse_threads,
				       .collapse_processes = read->r->opts->collapse_processes,
				       .max_nodes = 1u << 20 };
	int device = counter->agent && counter->agent->info ? counter->agent->info->gpu_index : 0;
	char *key = ws_arena_printf(&read->r->arena, "%d-%s", device, counter->name);
	struct counter_sheet *sheet = key ? ws_map_get(&read->sheets, key) : NULL;

	if (sheet)
		return sheet;
	sheet = ws_arena_new(&read->r->arena, struct counter_sheet);
	if (!key || !sheet || prof_tree_create(&opts, &sheet->tree, err) ||
	    ws_map_put(&read->sheets, ws_str_from(key), sheet, err)) {
		ws_fail(err, WS_E_NOMEM, "no memory for the values of counters");
		if (sheet)
			prof_tree_destroy(sheet->tree);
		return NULL;
	}
	sheet->counter = counter;
	sheet->device = device;
	return sheet;
}

/* One value per counter: the sum over its instances. */
static enum ws_status add_dispatch(struct counter_read *read, const struct trc_event *ev, int rank,
				   struct ws_err *err)
{
	const struct trc_process *process = ev->process;
	uint32_t n = ev->dispatch.info->n_values;

	for (uint32_t i = 0; i < n; i++) {
		const struct cap_counter_value *value = &ev->dispatch.values[i];

		if (value->counter >= process->counters.n)
			continue;
		read->sums[value->counter] += value->value;
		read->seen[value->counter] = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = ev->dispatch.values[i].counter;
		struct counter_sheet *sheet;
		struct prof_node *root, *node;

		if (id >= process->counters.n || !read->seen[id])
			continue;
		read->seen[id] = false;
		sheet = sheet_of(read, &process->counters.at[id], err);
		root = sheet ? prof_tree_root(sheet->tree, ev->thread, rank, err) : NULL;
		if (!root)
			return WS_E_NOMEM;
		node = prof_tree_child(sheet->tree, root, ev->name, PROF_KIND_KERNEL);
		if (node != root)
			prof_stat_add(&node->stat[PROF_CLOCK_WALL], read->sums[id]);
		read->sums[id] = 0;
	}
	return WS_OK;
}

static enum ws_status read_process(struct counter_read *read, size_t p, struct ws_err *err)
{
	const struct trc_process *process = read->r->processes[p];
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(COUNTER_COLLECTION),
					 .order = TRC_ORDER_START,
					 .process = process };
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st, closed;

	if (process->counters.n <= 1)
		return WS_OK;
	read->sums = ws_arena_array(&read->r->arena, process->counters.n, sizeof(*read->sums));
	read->seen = ws_arena_array(&read->r->arena, process->counters.n, sizeof(*read->seen));
	if (!read->sums || !read->seen)
		return ws_fail(err, WS_E_NOMEM, "no memory for the values of counters");
	st = trc_events_open(read->r->trace, &query, &events, err);
	while (!st && (ev = trc_events_next(events)))
		st = add_dispatch(read, ev, prof_report_rank(read->r, p), err);
	closed = events ? trc_events_close(events, st ? NULL : err) : WS_OK;
	return st ? st : closed;
}

/* "rocprof-device-0-TCC_HIT_3" for TCC_HIT[3]; what cannot be in a file's name becomes '_'. */
static const char *file_name(struct prof_report *r, const struct counter_sheet *sheet)
{
	char *name = ws_arena_printf(&r->arena, "rocprof-device-%d-%s", sheet->device,
				     sheet->counter->name);
	char *to = name;

	for (char *at = name; name && *at; at++) {
		if (*at == ']')
			continue;
		*to++ = *at == '[' || *at == '/' || (unsigned char)*at <= ' ' ? '_' : *at;
	}
	if (name)
		*to = '\0';
	return name;
}

static void write_sheet(struct prof_report *r, const struct counter_sheet *from)
{
	const char *name = file_name(r, from);
	struct prof_sheet sheet = prof_report_new_sheet(r, name ? name : "");
	int precision = r->opts->number.precision;

	if (!name) {
		struct ws_err err = { 0 };

		prof_report_failed(
			r, ws_fail(&err, WS_E_NOMEM, "no memory for the values of counters"), &err);
		return;
	}
	sheet.label = from->counter->name;
	sheet.description =
		*from->counter->description ? from->counter->description : from->counter->name;
	sheet.precision = precision >= 0 ? precision : 6;
	sheet.columns = PROF_COLUMNS_COUNTER;
	sheet.trees[0] = from->tree;
	sheet.n_trees = 1;
	prof_report_sheet(r, &sheet);
}

void prof_report_counters(struct prof_report *r)
{
	struct counter_read read = { .r = r };

	ws_map_init(&read.sheets, WS_MAP_STR, COUNTERS_MAX);
	for (size_t p = 0; p < r->n_processes; p++) {
		struct ws_err err = { 0 };
		enum ws_status st = read_process(&read, p, &err);

		if (st)
			prof_report_failed(r, st, &err);
	}
	ws_map_each(entry, &read.sheets) {
		struct counter_sheet *sheet = entry->value;

		write_sheet(r, sheet);
		prof_tree_destroy(sheet->tree);
	}
	ws_map_fini(&read.sheets);
}
