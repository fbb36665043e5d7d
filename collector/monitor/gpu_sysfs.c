/*
 * The driver's files: /sys/class/drm/card<n>/device, and its sensors in hwmon/hwmon<m> below.
 * GPUs are numbered in the order of their cards.
 */
#include "collector/monitor/gpu_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CARDS 128u
#define SENSORS 64u
#define GPUS 16u

/* In the order of reading: the later of two for the same figure replaces the first. */
enum file {
	BUSY,
	MEMORY_BUSY,
	MEMORY,
	TEMP,
	POWER_AVERAGE,
	POWER,
	GFX_CLOCK,
	MEMORY_CLOCK,
	MEMORY_TOTAL, /* for memory_bytes only: it is in no group */
	FILES
};
static const struct {
	const char *name;
	bool sensor;
	unsigned figure;
	double unit;
	uint32_t group;
} files[FILES] = {
	[BUSY] = { "gpu_busy_percent", false, COL_FIGURE_GFX_BUSY, 1, COL_MONITOR_BIT(GPU_BUSY) },
	[MEMORY_BUSY] = { "mem_busy_percent", false, COL_FIGURE_UMC_BUSY, 1,
			  COL_MONITOR_BIT(GPU_BUSY) },
	[MEMORY] = { "mem_info_vram_used", false, COL_FIGURE_MEMORY, 1,
		     COL_MONITOR_BIT(GPU_MEMORY) },
	/* the junction; temp1 is the edge */
	[TEMP] = { "temp2_input", true, COL_FIGURE_TEMP, 1e3, COL_MONITOR_BIT(GPU_TEMP) },
	/* microwatts: what is drawn now where the driver knows it, else the average */
	[POWER_AVERAGE] = { "power1_average", true, COL_FIGURE_POWER, 1e6,
			    COL_MONITOR_BIT(GPU_POWER) },
	[POWER] = { "power1_input", true, COL_FIGURE_POWER, 1e6, COL_MONITOR_BIT(GPU_POWER) },
	[GFX_CLOCK] = { "freq1_input", true, COL_FIGURE_GFX_CLOCK, 1e6,
			COL_MONITOR_BIT(GPU_CLOCK) },
	[MEMORY_CLOCK] = { "freq2_input", true, COL_FIGURE_MEMORY_CLOCK, 1e6,
			   COL_MONITOR_BIT(GPU_CLOCK) },
	[MEMORY_TOTAL] = { "mem_info_vram_total", false, COL_FIGURE_MEMORY, 1, 0 },
};

static struct {
	char root[96];
	uint32_t n;
	struct col_monitor_file at[GPUS][FILES];
} sysfs = { .root = "/sys/class/drm" };

void col_monitor_sysfs_root(const char *path)
{
	snprintf(sysfs.root, sizeof(sysfs.root), "%s", path);
}

static bool is_amd(uint32_t card)
{
	char path[160], text[16] = "";
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/card%u/device/vendor", sysfs.root, card);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n >= 6 && !strncmp(text, "0x1002", 6);
}

/* The number of the folder of its sensors; SENSORS: it has none. */
static uint32_t sensors_of(uint32_t card)
{
	char path[160];
	uint32_t i = 0;

	for (; i < SENSORS; i++) {
		snprintf(path, sizeof(path), "%s/card%u/device/hwmon/hwmon%u", sysfs.root, card, i);
		if (access(path, F_OK) == 0)
			break;
	}
	return i;
}

static void name_files(uint32_t gpu, uint32_t card)
{
	uint32_t sensors = sensors_of(card);

	for (unsigned i = 0; i < FILES; i++) {
		struct col_monitor_file *file = &sysfs.at[gpu][i];

		if (files[i].sensor)
			snprintf(file->path, sizeof(file->path),
				 "%s/card%u/device/hwmon/hwmon%u/%s", sysfs.root, card, sensors,
				 files[i].name);
		else
			snprintf(file->path, sizeof(file->path), "%s/card%u/device/%s", sysfs.root,
				 card, files[i].name);
	}
}

static uint32_t open_sysfs(void)
{
	sysfs.n = 0;
	for (uint32_t card = 0; card < CARDS && sysfs.n < GPUS; card++)
		if (is_amd(card))
			name_files(sysfs.n++, card);
	return sysfs.n;
}

static void read_sysfs(uint32_t gpu, uint32_t what, uint64_t now_ns, struct col_monitor_figures *to)
{
	int64_t value;

	for (unsigned i = 0; gpu < sysfs.n && i < FILES; i++)
		if (what & files[i].group && col_monitor_read_number(&sysfs.at[gpu][i], &value))
			col_monitor_figure(to, files[i].figure, (double)value / files[i].unit);
}

void col_monitor_sysfs_forked(void)
{
	for (uint32_t gpu = 0; gpu < sysfs.n; gpu++)
		for (unsigned i = 0; i < FILES; i++)
			col_monitor_close(&sysfs.at[gpu][i]);
	sysfs.n = 0;
}

static bool sysfs_memory(uint32_t gpu, uint64_t *out)
{
	int64_t value;

	if (gpu >= sysfs.n || !col_monitor_read_number(&sysfs.at[gpu][MEMORY_TOTAL], &value) ||
	    value <= 0)
		return false;
	*out = (uint64_t)value;
	return true;
}

const struct col_monitor_gpu_source col_monitor_sysfs = {
	.name = "the driver",
	.open = open_sysfs,
	.read = read_sysfs,
	.memory_bytes = sysfs_memory,
};
