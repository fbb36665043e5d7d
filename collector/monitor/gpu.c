/*
 * GPUs: which way to read them there is, and their figures as metrics.
 *
 * AMD's libraries are tried first, then the driver's files. On the software GPU, neither: it reports
 * itself, and only what it has.
 */
#include "collector/monitor/monitor_priv.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
	struct col_monitor_kind kind;
	uint32_t group; /* COL_MONITOR_BIT() */
} figures[COL_FIGURE_COUNT] = {
	[COL_FIGURE_GFX_BUSY] = { { "GPU GFX Busy [%u] (S)", "%", CAP_METRIC_DEVICE_BUSY_GFX }, COL_MONITOR_BIT(GPU_BUSY) },
	[COL_FIGURE_UMC_BUSY] = { { "GPU UMC Busy [%u] (S)", "%", CAP_METRIC_DEVICE_BUSY_UMC }, COL_MONITOR_BIT(GPU_BUSY) },
	[COL_FIGURE_MM_BUSY] = { { "GPU MM Busy [%u] (S)", "%", CAP_METRIC_DEVICE_BUSY_MM }, COL_MONITOR_BIT(GPU_BUSY) },
	[COL_FIGURE_TEMP] = { { "GPU Temperature [%u] (S)", "deg C", CAP_METRIC_DEVICE_TEMP }, COL_MONITOR_BIT(GPU_TEMP) },
	[COL_FIGURE_POWER] = { { "GPU Current Power [%u] (S)", "watts", CAP_METRIC_DEVICE_POWER }, COL_MONITOR_BIT(GPU_POWER) },
	[COL_FIGURE_MEMORY] = { { "GPU Memory Usage [%u] (S)", "megabytes", CAP_METRIC_DEVICE_MEMORY_USAGE }, COL_MONITOR_BIT(GPU_MEMORY) },
	[COL_FIGURE_GFX_CLOCK] = { { "GPU GFX Clock [%u] (S)", "MHz", CAP_METRIC_DEVICE_CLOCK }, COL_MONITOR_BIT(GPU_CLOCK) },
	[COL_FIGURE_MEMORY_CLOCK] = { { "GPU Memory Clock [%u] (S)", "MHz", CAP_METRIC_DEVICE_CLOCK }, COL_MONITOR_BIT(GPU_CLOCK) },
};

static const struct {
	uint32_t group;
	const char *words;
} group_words[] = {
	{ COL_MONITOR_BIT(GPU_BUSY), "busy" },      { COL_MONITOR_BIT(GPU_TEMP), "temperature" },
	{ COL_MONITOR_BIT(GPU_POWER), "power" },    { COL_MONITOR_BIT(GPU_MEMORY), "memory" },
	{ COL_MONITOR_BIT(GPU_VCN), "VCN" },        { COL_MONITOR_BIT(GPU_JPEG), "JPEG" },
	{ COL_MONITOR_BIT(GPU_CLOCK), "clocks" },
};
/* clang-format on */

#define GPU_GROUPS                                                                                 \
	(COL_MONITOR_BIT(GPU_BUSY) | COL_MONITOR_BIT(GPU_TEMP) | COL_MONITOR_BIT(GPU_POWER) |      \
	 COL_MONITOR_BIT(GPU_MEMORY) | COL_MONITOR_BIT(GPU_VCN) | COL_MONITOR_BIT(GPU_JPEG) |      \
	 COL_MONITOR_BIT(GPU_CLOCK))

static struct {
	const struct col_monitor_gpu_source *source; /* NULL: none is open */
	bool looked;                                 /* real GPUs were looked for */
	bool forked;   /* AMD's libraries are the parent's: not called here */
	uint32_t n;    /* GPUs */
	uint32_t seen; /* COL_MONITOR_BIT()s of which there was a value */
	uint32_t n_readings;
	uint32_t ids[COL_MONITOR_GPUS_MAX][COL_FIGURE_COUNT];
} gpus;

static void find_source(bool ours)
{
	static const struct col_monitor_gpu_source *const real[] = { &col_monitor_amd_smi,
								     &col_monitor_rocm_smi,
								     &col_monitor_sysfs };

	if (ours) { /* it comes with the program's first use of a GPU */
		if (!col_loader_enter())
			return;
		gpus.n = col_monitor_softgpu.open();
		col_loader_leave();
		gpus.source = gpus.n ? &col_monitor_softgpu : NULL;
		return;
	}
	if (gpus.looked || !col_loader_enter())
		return;
	gpus.looked = true;
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]) && !gpus.source; i++) {
		if (gpus.forked && real[i] != &col_monitor_sysfs)
			continue;
		gpus.n = real[i]->open();
		if (gpus.n)
			gpus.source = real[i];
	}
	col_loader_leave();
	if (!gpus.source)
		col_note("GPU metrics: not recorded: no GPU found by libamd_smi, librocm_smi64 or "
			 "in /sys/class/drm");
}

static uint32_t group_of(unsigned figure)
{
	return figure >= COL_FIGURE_JPEG  ? COL_MONITOR_BIT(GPU_JPEG)
	       : figure >= COL_FIGURE_VCN ? COL_MONITOR_BIT(GPU_VCN)
					  : figures[figure].group;
}

static void put_figure(struct col_monitor_list *list, uint32_t gpu, unsigned figure, double value)
{
	struct col_monitor_kind kind = { .unit = "%" };
	char format[COL_MONITOR_NAME_MAX];

	if (figure < COL_FIGURE_VCN) {
		kind = figures[figure].kind;
	} else {
		bool jpeg = figure >= COL_FIGURE_JPEG;

		snprintf(format, sizeof(format), "GPU [%%u] %s Activity [%02u] (S)",
			 jpeg ? "JPEG" : "VCN", figure - (jpeg ? COL_FIGURE_JPEG : COL_FIGURE_VCN));
		kind.format = format;
		kind.category =
			jpeg ? CAP_METRIC_DEVICE_JPEG_ACTIVITY : CAP_METRIC_DEVICE_VCN_ACTIVITY;
	}
	if (figure == COL_FIGURE_MEMORY)
		value /= 1e6;
	col_monitor_put(list, &gpus.ids[gpu][figure], &kind, (int32_t)gpu, gpus.source->flags,
			value);
}

/* What was requested and is never there. Shares of time need two readings. */
static void tell_missing(uint32_t what)
{
	uint32_t missing = what & GPU_GROUPS & ~gpus.seen;
	char text[240];
	int n;

	if (++gpus.n_readings != 2 || !missing)
		return;
	n = snprintf(text, sizeof(text), "GPU metrics: %s does not report:", gpus.source->name);
	for (size_t i = 0; i < sizeof(group_words) / sizeof(group_words[0]); i++)
		if (missing & group_words[i].group)
			n += snprintf(text + n, sizeof(text) - (size_t)n, " %s",
				      group_words[i].words);
	col_note(text);
}

void col_monitor_gpu_read(struct col_monitor_list *list, const struct col_collect_monitor *config,
			  bool ours, uint64_t now_ns)
{
	uint32_t n;

	if (!(config->what & GPU_GROUPS))
		return;
	if (!gpus.source)
		find_source(ours);
	if (!gpus.source)
		return;
	n = gpus.n < COL_MONITOR_GPUS_MAX ? gpus.n : COL_MONITOR_GPUS_MAX;
	for (uint32_t gpu = 0; gpu < n; gpu++) {
		struct col_monitor_figures out = { 0 };

		if (!col_collect_has(&config->gpus, gpu))
			continue;
		gpus.source->read(gpu, config->what, now_ns, &out);
		for (unsigned i = 0; i < COL_FIGURE_COUNT; i++) {
			if (!(out.has >> i & 1) || !(config->what & group_of(i)))
				continue;
			gpus.seen |= group_of(i);
			put_figure(list, gpu, i, out.at[i]);
		}
	}
	tell_missing(config->what);
}

void col_monitor_gpu_forked(void)
{
	gpus.forked |= gpus.source == &col_monitor_amd_smi || gpus.source == &col_monitor_rocm_smi;
	gpus.source = NULL;
	gpus.looked = false;
	gpus.n_readings = 0;
	col_monitor_sysfs_forked();
}
