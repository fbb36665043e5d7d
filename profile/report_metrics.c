/* Summaries of what was read over time, and components that are values of the whole process. */
#include "profile/report_priv.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
/*
 * Metrics that have a table of their own: what was read is a state, so that its mean, minimum
 * and maximum say something. Names of the GPU's are AMD's.
 */
static const struct metric_sheet {
	enum cap_metric_category category;
	const char *name, *description;
	const char *unit; /* NULL: as recorded */
	int precision;
} metric_sheets[] = {
	{ CAP_METRIC_DEVICE_BUSY_GFX,        "sampling_gpu_busy_gfx_percent",  "Utilization of GFX engines on GPU(s)",       "%",     0 },
	{ CAP_METRIC_DEVICE_BUSY_UMC,        "sampling_gpu_busy_umc_percent",  "Utilization of memory controller on GPU(s)", "%",     0 },
	{ CAP_METRIC_DEVICE_BUSY_MM,         "sampling_gpu_busy_mm_percent",   "Utilization of multimedia engines on GPU(s)", "%",    0 },
	{ CAP_METRIC_DEVICE_TEMP,            "sampling_gpu_temperature",       "Temperature of GPU(s)",                      "degC",  1 },
	{ CAP_METRIC_DEVICE_POWER,           "sampling_gpu_power",             "Power usage of GPU(s)",                      "watts", 2 },
	{ CAP_METRIC_DEVICE_MEMORY_USAGE,    "sampling_gpu_memory_usage",      "Memory usage of GPU(s)",                     "MB",    3 },
	{ CAP_METRIC_DEVICE_VCN_ACTIVITY,    "sampling_gpu_vcn_percent",       "VCN instance(s) activity",                   "%",     0 },
	{ CAP_METRIC_DEVICE_JPEG_ACTIVITY,   "sampling_gpu_jpeg_percent",      "JPEG instance(s) activity",                  "%",     0 },
	{ CAP_METRIC_DEVICE_CLOCK,           "sampling_gpu_clock",             "Clock frequencies of GPU(s)",                NULL,    0 },
	{ CAP_METRIC_CPU_FREQUENCY,          "sampling_cpu_frequency",         "Clock frequencies of CPU cores",             NULL,    0 },
	{ CAP_METRIC_CPU_LOAD,               "sampling_cpu_load",              "Load of CPU cores",                          NULL,    1 },
	{ CAP_METRIC_PROCESS_MEMORY,         "sampling_memory",                "Memory in use by the process",               NULL,    3 },
	{ CAP_METRIC_PROCESS_VIRTUAL_MEMORY, "sampling_virtual_memory",        "Virtual memory of the process",              NULL,    3 },
};

/* Components whose value is that of the process at its end, or its maximum. */
enum process_value { MEMORY_MAX, TIME_LAST, CPU_SHARE };

static const struct process_component {
	const char *name, *description;
	enum process_value value;
	enum cap_metric_category categories[2];
	size_t n_categories; /* they are added up */
} process_components[] = {
	{ "peak_rss",          "Highest resident memory of the process",         MEMORY_MAX, { CAP_METRIC_PROCESS_MEMORY_HWM },     1 },
	{ "page_rss",          "Resident memory of the process",                 MEMORY_MAX, { CAP_METRIC_PROCESS_MEMORY },         1 },
	{ "virtual_memory",    "Virtual memory of the process",                  MEMORY_MAX, { CAP_METRIC_PROCESS_VIRTUAL_MEMORY }, 1 },
	{ "user_clock",        "CPU time of the process in user mode",           TIME_LAST,  { CAP_METRIC_PROCESS_USER_CPU_TIME },  1 },
	{ "user_mode_time",    "CPU time of the process in user mode",           TIME_LAST,  { CAP_METRIC_PROCESS_USER_CPU_TIME },  1 },
	{ "system_clock",      "CPU time of the process in kernel mode",         TIME_LAST,  { CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 1 },
	{ "kernel_mode_time",  "CPU time of the process in kernel mode",         TIME_LAST,  { CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 1 },
	{ "cpu_clock",         "CPU time of the process in user and kernel mode", TIME_LAST, { CAP_METRIC_PROCESS_USER_CPU_TIME, CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 2 },
	{ "process_cpu_clock", "CPU time of the process in user and kernel mode", TIME_LAST, { CAP_METRIC_PROCESS_USER_CPU_TIME, CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 2 },
	{ "cpu_util",          "CPU time of the process per wall-clock time",    CPU_SHARE,  { CAP_METRIC_PROCESS_USER_CPU_TIME, CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 2 },
	{ "process_cpu_util",  "CPU time of the process per wall-clock time",    CPU_SHARE,  { CAP_METRIC_PROCESS_USER_CPU_TIME, CAP_METRIC_PROCESS_KERNEL_CPU_TIME }, 2 },
};

/* Units that metrics are recorded in. */
static const struct recorded_unit {
	const char *word;
	double factor; /* to bytes, or nanoseconds */
} recorded_units[] = {
	{ "B", 1 }, { "KB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 },
	{ "sec", 1e9 }, { "msec", 1e6 }, { "usec", 1e3 }, { "nsec", 1 },
};
/* clang-format on */

/* ---- reading ---- */

static enum ws_status read_process(struct prof_report *r, size_t p, struct ws_err *err)
{
	const struct trc_process *process = r->processes[p];
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(METRICS),
					 .order = TRC_ORDER_RECORDED,
					 .process = process };
	struct prof_metric_sum *sums = r->metrics[p];
	struct trc_events *events = NULL;
	const struct trc_event *ev;
	enum ws_status st = trc_events_open(r->trace, &query, &events, err);

	if (st)
		return st;
	while ((ev = trc_events_next(events))) {
		for (uint32_t i = 0; i < ev->metrics.n_values; i++) {
			const struct cap_metric_value *value = &ev->metrics.values[i];

			if (!value->metric || value->metric >= process->metrics.n)
				continue;
			prof_stat_add(&sums[value->metric].stat, value->value);
			sums[value->metric].last = value->value;
		}
	}
	return trc_events_close(events, err);
}

void prof_report_read_metrics(struct prof_report *r)
{
	r->metrics = ws_arena_array(&r->arena, r->n_processes, sizeof(*r->metrics));
	for (size_t p = 0; r->metrics && p < r->n_processes; p++) {
		struct ws_err err = { 0 };
		enum ws_status st;

		r->metrics[p] = ws_arena_array(&r->arena, r->processes[p]->metrics.n + 1,
					       sizeof(**r->metrics));
		st = r->metrics[p] ? read_process(r, p, &err)
				   : ws_fail(&err, WS_E_NOMEM, "no memory for metrics");
		if (st)
			prof_report_failed(r, st, &err);
	}
}

/* ---- tables over time ---- */

/* A row of a process, with its main thread. NULL: no memory, which is noted. */
static struct prof_node *process_row(struct prof_report *r, struct prof_tree *tree, size_t p,
				     const char *name)
{
	struct ws_err err = { 0 };
	struct prof_node *root =
		prof_tree_root(tree, r->processes[p]->main_thread, prof_report_rank(r, p), &err);
	struct prof_node *row = root ? prof_tree_child(tree, root, name, PROF_KIND_REGION) : NULL;

	if (row && row != root)
		return row;
	prof_report_failed(r, ws_fail(&err, WS_E_NOMEM, "no memory for metrics"), &err);
	return NULL;
}

/* A row per metric; false: there is none of this category. */
static bool add_metrics(struct prof_report *r, enum cap_metric_category category,
			struct prof_tree *tree, const char **out_unit, bool *out_simulated)
{
	bool any = false;

	for (size_t p = 0; p < r->n_processes; p++) {
		const struct trc_process *process = r->processes[p];

		for (size_t i = 1; r->metrics[p] && i < process->metrics.n; i++) {
			const struct trc_metric *metric = &process->metrics.at[i];
			struct prof_node *node;

			if (metric->category != category || !r->metrics[p][i].stat.n)
				continue;
			node = process_row(r, tree, p, metric->name);
			if (!node)
				return false;
			prof_stat_merge(&node->stat[PROF_CLOCK_WALL], &r->metrics[p][i].stat);
			*out_unit = metric->unit;
			*out_simulated |= metric->simulated;
			any = true;
		}
	}
	return any;
}

static void write_metric_sheet(struct prof_report *r, const struct metric_sheet *from)
{
	struct prof_tree_opts opts = { .max_nodes = 1u << 16 };
	struct prof_sheet sheet = prof_report_new_sheet(r, from->name);
	struct prof_tree *tree = NULL;
	struct ws_err err = { 0 };
	const char *unit = "";
	bool simulated = false;

	if (prof_tree_create(&opts, &tree, &err)) {
		prof_report_failed(r, err.status, &err);
		return;
	}
	if (add_metrics(r, from->category, tree, &unit, &simulated)) {
		sheet.description = from->description;
		sheet.unit_text = from->unit ? from->unit : unit;
		sheet.precision = r->opts->number.precision >= 0 ? r->opts->number.precision
								 : from->precision;
		sheet.trees[0] = tree;
		sheet.n_trees = 1;
		if (simulated)
			sheet.note = "Values are simulated: they are those of the software GPU.";
		prof_report_sheet(r, &sheet);
	}
	prof_tree_destroy(tree);
}

void prof_report_metrics(struct prof_report *r)
{
	for (size_t i = 0; r->metrics && i < WS_ARRAY_LEN(metric_sheets); i++)
		write_metric_sheet(r, &metric_sheets[i]);
}

/* ---- values of the process ---- */

static double in_base_unit(const struct trc_metric *metric, double value)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(recorded_units); i++)
		if (!strcmp(metric->unit, recorded_units[i].word))
			return value * recorded_units[i].factor;
	return value;
}

/* In bytes or nanoseconds; below 0: not recorded. */
static double category_value(const struct prof_report *r, size_t p,
			     enum cap_metric_category category, bool last)
{
	const struct trc_process *process = r->processes[p];
	double sum = -1;

	for (size_t i = 1; r->metrics && r->metrics[p] && i < process->metrics.n; i++) {
		const struct trc_metric *metric = &process->metrics.at[i];
		const struct prof_metric_sum *read = &r->metrics[p][i];

		if (metric->category == category && read->stat.n)
			sum = (sum < 0 ? 0 : sum) +
			      in_base_unit(metric, last ? read->last : read->stat.max);
	}
	return sum;
}

static double wall_ns(const struct trc_process *process)
{
	return process->fini_ns > process->init_ns ? (double)(process->fini_ns - process->init_ns)
						   : 0;
}

static double component_value(const struct prof_report *r, size_t p,
			      const struct process_component *component)
{
	double sum = 0;

	for (size_t i = 0; i < component->n_categories; i++) {
		double value = category_value(r, p, component->categories[i],
					      component->value != MEMORY_MAX);

		if (value < 0)
			sum = -1;
		else if (sum >= 0)
			sum += value;
	}
	/* Samples carry the highest resident set, too. */
	if (sum < 0 && component->categories[0] == CAP_METRIC_PROCESS_MEMORY_HWM && r->samples &&
	    r->samples->peak_kb && r->n_processes == 1)
		return (double)r->samples->peak_kb * 1024;
	if (component->value == CPU_SHARE)
		return sum < 0 || !(wall_ns(r->processes[p]) > 0)
			       ? -1
			       : 100 * sum / wall_ns(r->processes[p]);
	return sum;
}

static void style_sheet(const struct prof_report *r, enum process_value value,
			struct prof_sheet *sheet)
{
	static const struct {
		const char *word;
		double bytes;
	} units[] = {
#define PROF_MEMORY_UNIT_ROW(id, word, bytes) { word, bytes },
		PROF_MEMORY_UNIT_TABLE(PROF_MEMORY_UNIT_ROW)
#undef PROF_MEMORY_UNIT_ROW
	};
	const struct prof_report_opts *opts = r->opts;

	if (value == CPU_SHARE) {
		sheet->unit_text = "%";
		sheet->precision = opts->number.precision >= 0 ? opts->number.precision : 1;
	} else if (value == MEMORY_MAX) {
		sheet->unit_text = units[opts->memory_unit].word;
		sheet->unit = units[opts->memory_unit].bytes;
		sheet->precision = opts->memory.precision >= 0   ? opts->memory.precision
				   : opts->number.precision >= 0 ? opts->number.precision
								 : 3;
		sheet->width = opts->memory.width;
		sheet->scientific = opts->memory.scientific || opts->number.scientific;
	} else {
		prof_report_style_time(r, sheet);
	}
}

static const struct process_component *find_component(const char *name)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(process_components); i++)
		if (!strcmp(process_components[i].name, name))
			return &process_components[i];
	return NULL;
}

bool prof_report_is_process_component(const char *name)
{
	return find_component(name) != NULL;
}

bool prof_report_process_component(struct prof_report *r, const char *name)
{
	struct prof_tree_opts opts = { .max_nodes = 1u << 16 };
	const struct process_component *component = find_component(name);
	struct prof_sheet sheet = prof_report_new_sheet(r, name);
	struct prof_tree *tree = NULL;
	struct ws_err err = { 0 };
	bool any = false;

	if (!component)
		return false;
	if (prof_tree_create(&opts, &tree, &err)) {
		prof_report_failed(r, err.status, &err);
		return true;
	}
	for (size_t p = 0; p < r->n_processes; p++) {
		const struct trc_process *process = r->processes[p];
		double value = component_value(r, p, component);
		struct prof_node *node;

		if (value < 0)
			continue;
		node = process_row(r, tree, p, trc_process_program(process));
		if (!node)
			continue;
		prof_stat_add(&node->stat[PROF_CLOCK_WALL], value);
		any = true;
	}
	if (any) {
		sheet.description = component->description;
		style_sheet(r, component->value, &sheet);
		sheet.trees[0] = tree;
		sheet.n_trees = 1;
		prof_report_sheet(r, &sheet);
	}
	prof_tree_destroy(tree);
	return any;
}

void prof_report_totals(struct prof_report *r)
{
	struct prof_report_result *result = r->result;
	const struct process_component *peak = &process_components[0];
	double user = category_value(r, 0, CAP_METRIC_PROCESS_USER_CPU_TIME, true);
	double kernel = category_value(r, 0, CAP_METRIC_PROCESS_KERNEL_CPU_TIME, true);
	double bytes = component_value(r, 0, peak);

	result->wall_s = wall_ns(r->processes[0]) / 1e9;
	result->cpu_s = user < 0 || kernel < 0 ? -1 : (user + kernel) / 1e9;
	result->peak_mb = bytes < 0 ? -1 : bytes / 1e6;
}
