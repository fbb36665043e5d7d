/*
 * AMD's libraries for the sensors of GPUs, loaded when metrics are requested.
 *
 * Their headers are not needed to build: the few functions, numbers and structures that are used
 * are stated here. Structures grow from version to version and are filled by the library, so
 * they are read from buffers that are larger than any of them.
 */
#include "collector/monitor/gpu_source.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *open_first(const char *const *names)
{
	void *library = NULL;

	for (; *names && !library; names++)
		library = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);
	return library;
}

/* ---- libamd_smi ---- */

/* amdsmi.h */
enum {
	AMD_INIT_GPUS = 2,
	AMD_TEMP_JUNCTION = 1,
	AMD_TEMP_CURRENT = 0,
	AMD_MEMORY_VRAM = 0,
	AMD_CLOCK_GFX = 0,
	AMD_CLOCK_MEMORY = 4,
};

/* The start of amdsmi_gpu_metrics_t, which has been the same since vcn_activity was added (6.1). */
struct amd_metrics {
	uint16_t n_bytes;
	uint8_t format, content;
	uint16_t temperatures[6], activities[3], average_power;
	uint64_t energy, system_clock;
	uint16_t average_clocks[7], current_clocks[7];
	uint32_t throttle;
	uint16_t fan, pcie_width, pcie_speed;
	uint32_t gfx_activity, memory_activity;
	uint16_t hbm_temperatures[4];
	uint64_t firmware_time;
	uint16_t voltages[3];
	uint64_t throttle_flags;
	uint16_t power;
	uint16_t vcn_activity[COL_MONITOR_VCN];
	uint32_t clock_locks;
	uint16_t xgmi_width, xgmi_speed;
	uint64_t pcie[5], xgmi_read[8], xgmi_write[8];
	uint16_t gfx_clocks[8], soc_clocks[4], vclk0[4], dclk0[4];
	uint16_t jpeg_activity[COL_MONITOR_JPEG];
};
_Static_assert(offsetof(struct amd_metrics, vcn_activity) == 122, "amdsmi_gpu_metrics_t");
_Static_assert(offsetof(struct amd_metrics, jpeg_activity) == 352, "amdsmi_gpu_metrics_t");

static struct {
	uint32_t n;
	void *handles[COL_MONITOR_GPUS_MAX];
	int (*init)(uint64_t);
	int (*sockets)(uint32_t *, void **);
	int (*processors)(void *, uint32_t *, void **);
	int (*activity)(void *, uint32_t *);
	int (*temperature)(void *, uint32_t, uint32_t, int64_t *);
	int (*power)(void *, uint32_t *);
	int (*memory)(void *, uint32_t, uint64_t *);
	int (*memory_total)(void *, uint32_t, uint64_t *);
	int (*clock)(void *, uint32_t, uint32_t *);
	int (*metrics)(void *, struct amd_metrics *);
	union {
		uint32_t words[4096];
		struct amd_metrics metrics;
	} room; /* for what the library fills */
} amd;

#define FIND(field, name) *(void **)&field = dlsym(library, name)

static void list_amd(void)
{
	void *sockets[COL_MONITOR_GPUS_MAX];
	uint32_t n_sockets = COL_MONITOR_GPUS_MAX;

	if (amd.sockets(&n_sockets, sockets) != 0)
		return;
	for (uint32_t i = 0; i < n_sockets && i < COL_MONITOR_GPUS_MAX; i++) {
		uint32_t n = COL_MONITOR_GPUS_MAX - amd.n;

		if (n && amd.processors(sockets[i], &n, amd.handles + amd.n) == 0)
			amd.n +=
				n < COL_MONITOR_GPUS_MAX - amd.n ? n : COL_MONITOR_GPUS_MAX - amd.n;
	}
}

static uint32_t open_amd(void)
{
	static const char *const names[] = { "libamd_smi.so.26", "libamd_smi.so.25",
					     "libamd_smi.so.24", "libamd_smi.so", NULL };
	void *library = open_first(names);

	if (!library)
		return 0;
	FIND(amd.init, "amdsmi_init");
	FIND(amd.sockets, "amdsmi_get_socket_handles");
	FIND(amd.processors, "amdsmi_get_processor_handles");
	FIND(amd.activity, "amdsmi_get_gpu_activity");
	FIND(amd.temperature, "amdsmi_get_temp_metric");
	FIND(amd.power, "amdsmi_get_power_info");
	FIND(amd.memory, "amdsmi_get_gpu_memory_usage");
	FIND(amd.memory_total, "amdsmi_get_gpu_memory_total");
	FIND(amd.clock, "amdsmi_get_clock_info");
	FIND(amd.metrics, "amdsmi_get_gpu_metrics_info");
	if (amd.init && amd.sockets && amd.processors && amd.init(AMD_INIT_GPUS) == 0)
		list_amd();
	return amd.n;
}

/* What a sensor does not have is all ones, in 16 or 32 bits. */
static void figure_of(struct col_monitor_figures *to, unsigned which, uint32_t value)
{
	if (value != UINT16_MAX && value != UINT32_MAX)
		col_monitor_figure(to, which, value);
}

static void read_amd_power(void *gpu, struct col_monitor_figures *to)
{
	uint32_t *words = amd.room.words;

	memset(&amd.room, 0xff, sizeof(amd.room));
	if (!amd.power || amd.power(gpu, words) != 0)
		return;
	/*
	 * From ROCm 6.4 on a 64-bit number is first, the power of the socket; current and average power
	 * follow. Before, there were only these two. A power of 0 for the second of them is
	 * no value, so a second word of 0 is the upper half of the 64-bit number.
	 */
	if (words[1] == 0)
		words += words[2] != UINT32_MAX && words[2] != UINT16_MAX && words[2] ? 2 : 0;
	else if (words[0] == UINT32_MAX || words[0] == UINT16_MAX)
		words++;
	figure_of(to, COL_FIGURE_POWER, words[0]);
}

static void read_amd_engines(void *gpu, struct col_monitor_figures *to)
{
	const struct amd_metrics *metrics = &amd.room.metrics;

	memset(&amd.room, 0xff, sizeof(amd.room));
	if (!amd.metrics || amd.metrics(gpu, &amd.room.metrics) != 0)
		return;
	for (unsigned i = 0; i < COL_MONITOR_VCN; i++)
		figure_of(to, COL_FIGURE_VCN + i, metrics->vcn_activity[i]);
	for (unsigned i = 0; i < COL_MONITOR_JPEG; i++)
		figure_of(to, COL_FIGURE_JPEG + i, metrics->jpeg_activity[i]);
}

static void read_amd(uint32_t i, uint32_t what, uint64_t now_ns, struct col_monitor_figures *to)
{
	void *gpu = amd.handles[i];
	uint32_t *words = amd.room.words;
	uint64_t n_bytes;
	int64_t celsius;

	if (what & COL_MONITOR_BIT(GPU_BUSY) && amd.activity && amd.activity(gpu, words) == 0) {
		figure_of(to, COL_FIGURE_GFX_BUSY, words[0]);
		figure_of(to, COL_FIGURE_UMC_BUSY, words[1]);
		figure_of(to, COL_FIGURE_MM_BUSY, words[2]);
	}
	if (what & COL_MONITOR_BIT(GPU_TEMP) && amd.temperature &&
	    amd.temperature(gpu, AMD_TEMP_JUNCTION, AMD_TEMP_CURRENT, &celsius) == 0)
		col_monitor_figure(to, COL_FIGURE_TEMP, (double)celsius);
	if (what & COL_MONITOR_BIT(GPU_POWER))
		read_amd_power(gpu, to);
	if (what & COL_MONITOR_BIT(GPU_MEMORY) && amd.memory &&
	    amd.memory(gpu, AMD_MEMORY_VRAM, &n_bytes) == 0)
		col_monitor_figure(to, COL_FIGURE_MEMORY, (double)n_bytes);
	if (what & COL_MONITOR_BIT(GPU_CLOCK) && amd.clock) {
		if (amd.clock(gpu, AMD_CLOCK_GFX, words) == 0)
			figure_of(to, COL_FIGURE_GFX_CLOCK, words[0]);
		if (amd.clock(gpu, AMD_CLOCK_MEMORY, words) == 0)
			figure_of(to, COL_FIGURE_MEMORY_CLOCK, words[0]);
	}
	if (what & (COL_MONITOR_BIT(GPU_VCN) | COL_MONITOR_BIT(GPU_JPEG)))
		read_amd_engines(gpu, to);
}

static bool amd_memory(uint32_t i, uint64_t *out)
{
	return amd.memory_total && amd.memory_total(amd.handles[i], AMD_MEMORY_VRAM, out) == 0;
}

const struct col_monitor_gpu_source col_monitor_amd_smi = {
	.name = "libamd_smi",
	.open = open_amd,
	.read = read_amd,
	.memory_bytes = amd_memory,
};

/* ---- librocm_smi64 ---- */

/* rocm_smi.h */
enum { ROCM_TEMP_JUNCTION = 1, ROCM_TEMP_CURRENT = 0, ROCM_MEMORY_VRAM = 0 };

static struct {
	int (*init)(uint64_t);
	int (*count)(uint32_t *);
	int (*busy)(uint32_t, uint32_t *);
	int (*memory_busy)(uint32_t, uint32_t *);
	int (*temperature)(uint32_t, uint32_t, uint32_t, int64_t *);
	int (*power)(uint32_t, uint64_t *);
	int (*average_power)(uint32_t, uint32_t, uint64_t *);
	int (*memory)(uint32_t, uint32_t, uint64_t *);
	int (*memory_total)(uint32_t, uint32_t, uint64_t *);
} rocm;

static uint32_t open_rocm(void)
{
	static const char *const names[] = { "librocm_smi64.so.8",
					     "librocm_smi64.so.7",
					     "librocm_smi64.so.6",
					     "librocm_smi64.so.5",
					     "librocm_smi64.so.1",
					     "librocm_smi64.so",
					     NULL };
	void *library = open_first(names);
	uint32_t n = 0;

	if (!library)
		return 0;
	FIND(rocm.init, "rsmi_init");
	FIND(rocm.count, "rsmi_num_monitor_devices");
	FIND(rocm.busy, "rsmi_dev_busy_percent_get");
	FIND(rocm.memory_busy, "rsmi_dev_memory_busy_percent_get");
	FIND(rocm.temperature, "rsmi_dev_temp_metric_get");
	FIND(rocm.power, "rsmi_dev_current_socket_power_get");
	FIND(rocm.average_power, "rsmi_dev_power_ave_get");
	FIND(rocm.memory, "rsmi_dev_memory_usage_get");
	FIND(rocm.memory_total, "rsmi_dev_memory_total_get");
	if (!rocm.init || !rocm.count || rocm.init(0) != 0 || rocm.count(&n) != 0)
		return 0;
	return n;
}

static void read_rocm(uint32_t gpu, uint32_t what, uint64_t now_ns, struct col_monitor_figures *to)
{
	uint32_t percent;
	uint64_t value;
	int64_t millicelsius;

	if (what & COL_MONITOR_BIT(GPU_BUSY)) {
		if (rocm.busy && rocm.busy(gpu, &percent) == 0)
			figure_of(to, COL_FIGURE_GFX_BUSY, percent);
		if (rocm.memory_busy && rocm.memory_busy(gpu, &percent) == 0)
			figure_of(to, COL_FIGURE_UMC_BUSY, percent);
	}
	if (what & COL_MONITOR_BIT(GPU_TEMP) && rocm.temperature &&
	    rocm.temperature(gpu, ROCM_TEMP_JUNCTION, ROCM_TEMP_CURRENT, &millicelsius) == 0)
		col_monitor_figure(to, COL_FIGURE_TEMP, (double)millicelsius / 1e3);
	/* microwatts; cards before MI300 have the average only */
	if (what & COL_MONITOR_BIT(GPU_POWER) &&
	    ((rocm.power && rocm.power(gpu, &value) == 0) ||
	     (rocm.average_power && rocm.average_power(gpu, 0, &value) == 0)))
		col_monitor_figure(to, COL_FIGURE_POWER, (double)value / 1e6);
	if (what & COL_MONITOR_BIT(GPU_MEMORY) && rocm.memory &&
	    rocm.memory(gpu, ROCM_MEMORY_VRAM, &value) == 0)
		col_monitor_figure(to, COL_FIGURE_MEMORY, (double)value);
}

static bool rocm_memory(uint32_t gpu, uint64_t *out)
{
	return rocm.memory_total && rocm.memory_total(gpu, ROCM_MEMORY_VRAM, out) == 0;
}

const struct col_monitor_gpu_source col_monitor_rocm_smi = {
	.name = "librocm_smi64",
	.open = open_rocm,
	.read = read_rocm,
	.memory_bytes = rocm_memory,
};
