/* From report blocks, tables and metrics to the counters that they are computed from. */
#include "cmd/compute/profile_select.h"

#include "analysis/metric.h"
#include "base/map.h"
#include "cmd/compute/say.h"

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

/* clang-format off */
/* The roofline's points: operations and bytes of a kernel. */
static const char *const roofline[] = {
	"SQ_INSTS_VALU_ADD_F16",   "SQ_INSTS_VALU_MUL_F16",   "SQ_INSTS_VALU_FMA_F16",   "SQ_INSTS_VALU_TRANS_F16",
	"SQ_INSTS_VALU_ADD_F32",   "SQ_INSTS_VALU_MUL_F32",   "SQ_INSTS_VALU_FMA_F32",   "SQ_INSTS_VALU_TRANS_F32",
	"SQ_INSTS_VALU_ADD_F64",   "SQ_INSTS_VALU_MUL_F64",   "SQ_INSTS_VALU_FMA_F64",   "SQ_INSTS_VALU_TRANS_F64",
	"SQ_INSTS_VALU_MFMA_MOPS_F16", "SQ_INSTS_VALU_MFMA_MOPS_BF16",
	"SQ_INSTS_VALU_MFMA_MOPS_F32", "SQ_INSTS_VALU_MFMA_MOPS_F64",
	"SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT",
	"TCP_TOTAL_CACHE_ACCESSES_sum", "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum",
	"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
};
static const char *const roofline_gfx90a[] = {
	"TCC_EA_RDREQ_32B_sum", "TCC_EA_RDREQ_sum", "TCC_EA_WRREQ_64B_sum", "TCC_EA_WRREQ_sum",
};
static const char *const roofline_gfx94x[] = {
	"TCC_EA0_RDREQ_32B_sum", "TCC_EA0_RDREQ_sum", "TCC_EA0_WRREQ_64B_sum", "TCC_EA0_WRREQ_sum",
	"TCC_BUBBLE_sum", "SQ_INSTS_VALU_MFMA_MOPS_F8",
};
static const char *const roofline_gfx950[] = { "SQ_INSTS_VALU_MFMA_MOPS_F6F4" };
/* clang-format on */

struct choosing {
	struct pf *pf;
	struct ws_map names; /* of wants, each once; channels with the mark */
	const struct ana_metrics *metrics;
	const struct ana_metric *metric;
	size_t n_skipped; /* sections that there are not */
	enum ws_status st;
	struct ws_err *err;
};

static void want(struct choosing *c, const char *name, size_t n, const char *suffix)
{
	char *own;

	if (c->st)
		return;
	own = ws_arena_printf(&c->pf->arena, "%.*s%s", (int)n, name, suffix);
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
	} else if (strcmp(name->text, "SQ_ACCUM_PREV_HIRES") == 0) {
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
	const char *arch = c->pf->gpu->arch;

	add_list(c, roofline, WS_ARRAY_LEN(roofline));
	if (strcmp(arch, "gfx90a") == 0)
		add_list(c, roofline_gfx90a, WS_ARRAY_LEN(roofline_gfx90a));
	else
		add_list(c, roofline_gfx94x, WS_ARRAY_LEN(roofline_gfx94x));
	if (strcmp(arch, "gfx950") == 0)
		add_list(c, roofline_gfx950, WS_ARRAY_LEN(roofline_gfx950));
}

static bool has_roofline(const char *arch)
{
	return strcmp(arch, "gfx908") != 0;
}

static void skip(struct choosing *c, const char *text, const char *what)
{
	say(SAY_WARNING, "Skipping %s: %s not found", text, what);
	c->n_skipped++;
}

static enum ws_status add_section(struct choosing *c, const struct ana_metrics *metrics,
				  const char *text)
{
	struct ana_metric_id id;
	const struct ana_block *block;
	const struct ana_table *table;
	const struct ana_metric *metric;

	if (!ana_metric_id_parse(metrics, text, &id))
		return ws_fail(c->err, WS_E_USAGE,
			       "Invalid metric id: %s: --list-available-metrics lists them", text);
	block = ana_block_find(metrics, id.block);
	if (id.block == PF_BLOCK_ROOFLINE && has_roofline(c->pf->gpu->arch))
		add_roofline(c);
	if (!block && id.block != PF_BLOCK_ROOFLINE && id.block != PF_BLOCK_PC_SAMPLING) {
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

static enum ws_status finish(struct choosing *c, struct wl_want **out_wants, size_t *out_n)
{
	size_t n = 0;
	struct wl_want *wants = ws_arena_array(&c->pf->arena, c->names.n + 1, sizeof(*wants));

	if (!wants)
		return ws_fail(c->err, WS_E_NOMEM, "out of memory");
	ws_map_each(entry, &c->names) {
		bool channels = ws_str_ends(entry->str, CHANNELS_MARK);
		char *name = ws_arena_strndup(&c->pf->arena, entry->str.at,
					      entry->str.n - (channels ? 2 : 0));

		if (!name)
			return ws_fail(c->err, WS_E_NOMEM, "out of memory");
		wants[n++] = (struct wl_want){ name, channels };
	}
	/* Sorted: the same selection gives the same passes every time. */
	qsort(wants, n, sizeof(*wants), by_text);
	*out_wants = wants;
	*out_n = n;
	return WS_OK;
}

static enum ws_status choose(struct choosing *c, const struct ana_metrics *metrics)
{
	struct pf *pf = c->pf;
	enum ws_status st = WS_OK;

	if (pf->args->roof_only) {
		add_roofline(c);
		return c->st;
	}
	add_list(c, always, WS_ARRAY_LEN(always));
	for (size_t i = 0; i < pf->n_sections && !st; i++)
		st = add_section(c, metrics, pf->sections[i]);
	if (!st && c->n_skipped && c->n_skipped == pf->n_sections)
		return ws_fail(c->err, WS_E_USAGE,
			       "No performance counters to collect, please check the provided "
			       "profiling filters: --list-available-metrics lists blocks, tables "
			       "and metrics");
	for (size_t i = 0; i < metrics->n_blocks && !pf->n_sections; i++)
		add_block(c, metrics->blocks[i]);
	if (!pf->n_sections && has_roofline(pf->gpu->arch))
		add_roofline(c);
	return st ? st : c->st;
}

enum ws_status pf_select(struct pf *pf, struct wl_want **out_wants, size_t *out_n,
			 struct ws_err *err)
{
	struct choosing c = { .pf = pf, .err = err };
	struct ana_metrics *metrics = NULL;
	enum ws_status st;

	if (pf->args->roof_only && !has_roofline(pf->gpu->arch))
		return ws_fail(err, WS_E_STATE, "%s does not support roofline analysis",
			       pf->gpu->arch);
	ws_map_init(&c.names, WS_MAP_STR, NAMES_MAX);
	st = ana_metrics_load(pf->gpu->arch, pf->args->general.config_dir, &metrics, err);
	c.metrics = metrics;
	if (!st)
		st = choose(&c, metrics);
	if (!st)
		st = finish(&c, out_wants, out_n);
	ana_metrics_free(metrics);
	ws_map_fini(&c.names);
	return st;
}
