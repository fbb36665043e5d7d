/* Sets of metrics that one pass collects. */
#include "cmd/compute/profile.h"

#include "analysis/metric.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define NOT_GFX90A 1u
#define NOT_GFX908 2u
#define ONLY_GFX90A 4u

/* clang-format off */
/* A row per metric, by name: its number differs between architectures. */
static const struct set_row {
	const char *set, *title;
	unsigned block, table;
	const char *metric;
	unsigned where;
} set_rows[] = {
	{ "compute_thruput_util",  "Compute Throughput Utilization", 11, 2, "SALU Utilization",          NOT_GFX90A },
	{ "compute_thruput_util",  NULL,                             11, 2, "VALU Utilization",          0 },
	{ "compute_thruput_util",  NULL,                             11, 2, "VMEM Utilization",          NOT_GFX908 },
	{ "compute_thruput_util",  NULL,                             11, 2, "Branch Utilization",        NOT_GFX908 },
	{ "compute_thruput_util",  NULL,                             11, 2, "VALU Active Threads",       ONLY_GFX90A },
	{ "compute_thruput_flops", "Compute Throughput FLOPS",        2, 1, "MFMA FLOPs (F8)",           0 },
	{ "compute_thruput_flops", NULL,                              2, 1, "MFMA FLOPs (BF16)",         0 },
	{ "compute_thruput_flops", NULL,                              2, 1, "MFMA FLOPs (F16)",          0 },
	{ "compute_thruput_flops", NULL,                              2, 1, "MFMA FLOPs (F32)",          0 },
	{ "compute_thruput_flops", NULL,                              2, 1, "MFMA FLOPs (F64)",          0 },
	{ "compute_thruput_flops", NULL,                              2, 1, "MFMA IOPs (Int8)",          0 },
	{ "mem_thruput",           "Memory Throughput",               2, 1, "Theoretical LDS Bandwidth", 0 },
	{ "mem_thruput",           NULL,                              2, 1, "LDS Bank Conflicts/Access", 0 },
	{ "mem_thruput",           NULL,                             16, 1, "Utilization",               0 },
	{ "mem_thruput",           NULL,                             17, 1, "Utilization",               0 },
	{ "launch_stats",          "Launch Stats",                    7, 1, "Grid Size",                 0 },
	{ "launch_stats",          NULL,                              7, 1, "Workgroup Size",            0 },
	{ "launch_stats",          NULL,                              7, 1, "Total Wavefronts",          0 },
	{ "launch_stats",          NULL,                              7, 1, "VGPRs",                     0 },
	{ "launch_stats",          NULL,                              7, 1, "AGPRs",                     0 },
	{ "launch_stats",          NULL,                              7, 1, "SGPRs",                     0 },
	{ "launch_stats",          NULL,                              7, 1, "LDS Allocation",            0 },
	{ "launch_stats",          NULL,                              7, 1, "Scratch Allocation",        0 },
};
/* clang-format on */

/* The metric of a row on this architecture, or NULL. */
static const struct ana_metric *metric_of(const struct ana_metrics *metrics,
					  const struct set_row *row)
{
	const struct ana_table *table = ana_table_find(metrics, row->block, row->table);
	bool gfx90a = strcmp(metrics->arch, "gfx90a") == 0;
	bool gfx908 = strcmp(metrics->arch, "gfx908") == 0;

	if (!table || ((row->where & NOT_GFX90A) && gfx90a) ||
	    ((row->where & NOT_GFX908) && gfx908) || ((row->where & ONLY_GFX90A) && !gfx90a))
		return NULL;
	return ana_metric_named(table, row->metric);
}

static enum ws_status no_such_set(const char *set, struct ws_err *err)
{
	struct ws_buf names;
	const char *last = "";

	ws_buf_init(&names, 200);
	for (size_t i = 0; i < WS_ARRAY_LEN(set_rows); i++)
		if (strcmp(set_rows[i].set, last) != 0) {
			last = set_rows[i].set;
			ws_buf_printf(&names, "%s'%s'", names.n ? ", " : "", last);
		}
	ws_fail(err, WS_E_USAGE, "argument --set: invalid choice: '%s' (choose from %s)", set,
		names.at);
	ws_buf_fini(&names);
	return WS_E_USAGE;
}

enum ws_status pf_set_ids(struct pf *pf, const char *set, const char *const **out_ids,
			  size_t *out_n, struct ws_err *err)
{
	const char **ids = ws_arena_array(&pf->arena, WS_ARRAY_LEN(set_rows), sizeof(*ids));
	struct ana_metrics *metrics = NULL;
	bool known = false;
	size_t n = 0;
	enum ws_status st;

	st = ids ? ana_metrics_load(pf->gpu->arch, pf->args->general.config_dir, &metrics, err)
		 : ws_fail(err, WS_E_NOMEM, "out of memory");
	for (size_t i = 0; i < WS_ARRAY_LEN(set_rows) && !st; i++) {
		const struct ana_metric *metric;

		if (strcmp(set_rows[i].set, set) != 0)
			continue;
		known = true;
		metric = metric_of(metrics, &set_rows[i]);
		if (!metric)
			continue;
		ids[n] = ws_arena_printf(&pf->arena, "%u.%u.%u", metric->table->block,
					 metric->table->index, metric->index);
		if (!ids[n++])
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st && !known)
		st = no_such_set(set, err);
	ana_metrics_free(metrics);
	*out_ids = ids;
	*out_n = n;
	return st;
}

static void rule(char c)
{
	for (int i = 0; i < 115; i++)
		putchar(c);
	putchar('\n');
}

enum ws_status pf_print_sets(struct pf *pf, struct ws_err *err)
{
	struct ana_metrics *metrics = NULL;
	enum ws_status st =
		ana_metrics_load(pf->gpu->arch, pf->args->general.config_dir, &metrics, err);
	const char *last = NULL, *title = "";

	if (st)
		return st;
	printf("\nAvailable Sets:\n");
	rule('=');
	printf("%-35s %-35s %-30s %-10s\n", "Set Option", "Set Title", "Metric Name", "Metric ID");
	rule('-');
	for (size_t i = 0; i < WS_ARRAY_LEN(set_rows); i++) {
		const struct ana_metric *metric = metric_of(metrics, &set_rows[i]);
		bool first = !last || strcmp(last, set_rows[i].set) != 0;
		char id[48];

		if (set_rows[i].title)
			title = set_rows[i].title;
		if (!metric)
			continue;
		if (first && last)
			putchar('\n');
		last = set_rows[i].set;
		snprintf(id, sizeof(id), "%u.%u.%u", metric->table->block, metric->table->index,
			 metric->index);
		printf("%-35s %-35s %-30s %-10s\n", first ? last : "", first ? title : "",
		       metric->name, id);
	}
	printf("\nUsage Examples:\n"
	       "  rocprof-compute profile --set compute_thruput_util  # Profile this set\n"
	       "  rocprof-compute profile --list-sets        # Show this help\n\n");
	ana_metrics_free(metrics);
	return WS_OK;
}
