/* From report blocks, tables and metrics to the counters that they are computed from. */
#include "analysis/counters_needed.h"

#include "analysis/roofline.h"
#include "base/map.h"
#include "base/str.h"
#include "workload/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536u
#define CHANNELS_MARK "[]"

/* Blocks that have counters: other names in formulas are facts of a dispatch. */
static const char *const prefixes[] = { "SQ_",  "SQC_", "TA_",  "TD_",   "TCP_", "TCC_",
					"CPC_", "CPF_", "SPI_", "GRBM_", "GDS_" };

/* What every normalization divides by: a profile without them could not be normalized. */
static const char *const always[] = { "SQ_WAVES", "GRBM_GUI_ACTIVE" };

struct choosing {
	struct ws_arena *arena;
	struct ws_map names; /* of wants, each once; channels with the mark */
	const struct ana_metrics *metrics;
	const struct ana_metric *metric;
	struct ana_counters *out;
	enum ws_status st;
	struct ws_err *err;
};

static void want(struct choosing *c, const char *name, size_t n, const char *suffix)
{
	char *own;

	if (c->st)
		return;
	own = ws_arena_printf(c->arena, "%.*s%s", (int)n, name, suffix);
	c->st = own ? ws_map_put(&c->names, ws_str_from(own), NULL, c->err)
		    : ws_fail(c->err, WS_E_NOMEM, "out of memory");
}

static bool is_counter(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void visit(void *of, const struct ana_expr *name)
{
	struct choosing *c = of;
	const char *level = c->metric->coll_level;
	const char *bracket = strchr(name->text, '[');

	if (name->kind == ANA_EXPR_VARIABLE) {
		const struct ana_expr *expr = ana_metrics_variable(c->metrics, name->text);

		if (expr) /* a formula of its own; others are facts of the machine */
			ana_expr_each_name(expr, visit, c);
	} else if (strcmp(name->text, WL_COL_ACCUM) == 0) {
		/* The accumulated level of whichever counter the metric is about. */
		if (level) {
			want(c, level, strlen(level), "");
			want(c, level, strlen(level), "_ACCUM");
		}
	} else if (is_counter(name->text)) {
		want(c, name->text, bracket ? (size_t)(bracket - name->text) : strlen(name->text),
		     bracket ? CHANNELS_MARK : "");
	}
}

static void add_metric(struct choosing *c, const struct ana_metric *metric)
{
	c->metric = metric;
	for (size_t i = 0; i < metric->table->n_headers; i++)
		if (metric->cells[i].expr)
			ana_expr_each_name(metric->cells[i].expr, visit, c);
}

static void add_table(struct choosing *c, const struct ana_table *table)
{
	for (size_t i = 0; i < table->n_metrics; i++)
		add_metric(c, &table->metrics[i]);
}

static void add_block(struct choosing *c, const struct ana_block *block)
{
	for (size_t i = 0; i < block->n_tables; i++)
		add_table(c, block->tables[i]);
}

static void add_list(struct choosing *c, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		want(c, names[i], strlen(names[i]), "");
}

static void add_roofline(struct choosing *c)
{
	const char *names[ANA_ROOF_COUNTERS_MAX];
	size_t n = ana_roof_counters(c->metrics->arch, names);

	add_list(c, names, n);
}

static void skip(struct choosing *c, const char *text, const char *what)
{
	c->out->skipped[c->out->n_skipped++] = (struct ana_skipped){ text, what };
}

static enum ws_status add_section(struct choosing *c, const char *text)
{
	const struct ana_metrics *metrics = c->metrics;
	struct ana_metric_id id;
	const struct ana_block *block;
	const struct ana_table *table;
	const struct ana_metric *metric;

	if (!ana_metric_id_parse(metrics, text, &id))
		return ws_fail(c->err, WS_E_USAGE,
			       "Invalid metric id: %s: --list-available-metrics lists them", text);
	block = ana_block_find(metrics, id.block);
	if (id.block == ANA_BLOCK_ROOFLINE && ana_roof_arch_known(metrics->arch))
		add_roofline(c);
	if (!block && id.block != ANA_BLOCK_ROOFLINE && id.block != ANA_BLOCK_PC_SAMPLING) {
		skip(c, text, "block");
	} else if (block && id.table < 0) {
		add_block(c, block);
	} else if (block && id.index < 0) {
		table = ana_table_find(metrics, id.block, (unsigned)id.table);
		if (table)
			add_table(c, table);
		else
			skip(c, text, "table");
	} else if (block) {
		metric = ana_metric_find(metrics, id.block, (unsigned)id.table, (unsigned)id.index);
		table = ana_table_find(metrics, id.block, (unsigned)id.table);
		/* The rows of a table per channel are one pattern. */
		if (!metric && table && table->kind == ANA_TABLE_CHANNELS && table->n_metrics)
			metric = &table->metrics[0];
		if (metric)
			add_metric(c, metric);
		else
			skip(c, text, "metric");
	}
	return c->st;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct wl_want *)a)->name, ((const struct wl_want *)b)->name);
}

static enum ws_status finish(struct choosing *c)
{
	size_t n = 0;
	struct wl_want *wants = ws_arena_array(c->arena, c->names.n + 1, sizeof(*wants));

	if (!wants)
		return ws_fail(c->err, WS_E_NOMEM, "out of memory");
	ws_map_each(entry, &c->names) {
		bool channels = ws_str_ends(entry->str, CHANNELS_MARK);
		char *name = ws_arena_strndup(c->arena, entry->str.at,
					      entry->str.n - (channels ? 2 : 0));

		if (!name)
			return ws_fail(c->err, WS_E_NOMEM, "out of memory");
		wants[n++] = (struct wl_want){ name, channels };
	}
	/* Sorted: the same selection gives the same passes every time. */
	qsort(wants, n, sizeof(*wants), by_text);
	c->out->at = wants;
	c->out->n = n;
	return WS_OK;
}

static enum ws_status choose(struct choosing *c, const struct ana_report_choice *choice)
{
	enum ws_status st = WS_OK;

	if (choice->roofline_only) {
		add_roofline(c);
		return c->st;
	}
	add_list(c, always, WS_ARRAY_LEN(always));
	for (size_t i = 0; i < choice->n_sections && !st; i++)
		st = add_section(c, choice->sections[i]);
	if (!st && c->out->n_skipped && c->out->n_skipped == choice->n_sections)
		return ws_fail(c->err, WS_E_USAGE,
			       "No performance counters to collect, please check the provided "
			       "profiling filters: --list-available-metrics lists blocks, tables "
			       "and metrics");
	for (size_t i = 0; i < c->metrics->n_blocks && !choice->n_sections; i++)
		add_block(c, c->metrics->blocks[i]);
	if (!choice->n_sections && ana_roof_arch_known(c->metrics->arch))
		add_roofline(c);
	return st ? st : c->st;
}

enum ws_status ana_counters_needed(const struct ana_metrics *metrics,
				   const struct ana_report_choice *choice, struct ws_arena *arena,
				   struct ana_counters *out_counters, struct ws_err *err)
{
	struct choosing c = { .arena = arena, .metrics = metrics, .out = out_counters, .err = err };
	enum ws_status st;

	if (choice->roofline_only && !ana_roof_arch_known(metrics->arch))
		return ws_fail(err, WS_E_STATE, "%s does not support roofline analysis",
			       metrics->arch);
	*out_counters = (struct ana_counters){
		.skipped = ws_arena_array(arena, choice->n_sections + 1,
					  sizeof(*out_counters->skipped)),
	};
	if (!out_counters->skipped)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_init(&c.names, WS_MAP_STR, NAMES_MAX);
	st = choose(&c, choice);
	if (!st)
		st = finish(&c);
	ws_map_fini(&c.names);
	return st;
}

/* ---- sets ---- */

const struct ana_metric *ana_set_metric_find(const struct ana_metrics *metrics,
					     const struct ana_set_metric *member)
{
	const struct ana_table *table = ana_table_find(metrics, member->block, member->table);

	return table ? ana_metric_named(table, member->name) : NULL;
}

static enum ws_status no_such_set(const struct ana_metrics *metrics, const char *set,
				  struct ws_err *err)
{
	struct ws_buf names;

	ws_buf_init(&names, 200);
	for (size_t i = 0; i < metrics->n_sets; i++)
		ws_buf_printf(&names, "%s'%s'", i ? ", " : "", metrics->sets[i].name);
	ws_fail(err, WS_E_USAGE, "argument --set: invalid choice: '%s' (choose from %s)", set,
		names.at);
	ws_buf_fini(&names);
	return WS_E_USAGE;
}

enum ws_status ana_set_sections(const struct ana_metrics *metrics, const char *set,
				struct ws_arena *arena, const char *const **out_sections,
				size_t *out_n, struct ws_err *err)
{
	const struct ana_set *found = NULL;
	const char **sections;
	size_t n = 0;

	for (size_t i = 0; i < metrics->n_sets && !found; i++)
		if (strcmp(metrics->sets[i].name, set) == 0)
			found = &metrics->sets[i];
	if (!found)
		return no_such_set(metrics, set, err);
	sections = ws_arena_array(arena, found->n_metrics + 1, sizeof(*sections));
	if (!sections)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < found->n_metrics; i++) {
		const struct ana_metric *metric = ana_set_metric_find(metrics, &found->metrics[i]);

		if (!metric)
			continue;
		sections[n] = ws_arena_printf(arena, "%u.%u.%u", metric->table->block,
					      metric->table->index, metric->index);
		if (!sections[n++])
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	*out_sections = sections;
	*out_n = n;
	return WS_OK;
}
