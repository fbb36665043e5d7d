#include "softgpu/kfd/live.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/clock.h"
#include "softgpu/device/model.h"
#include "softgpu/kfd/drm_abi.h"
#include "softgpu/kfd/gpu_metrics.h"
#include "softgpu/kfd/live_process.h"

#define IDLE_CLOCK_MHZ 500u
#define IDLE_MEMORY_CLOCK_MHZ 400u
#define LOWEST_LOAD 0.01 /* clocks fall when less than this is left of it */

/* Degrees Celsius of an idle board and of one that has been busy for a while. */
enum { EDGE, JUNCTION, MEMORY };
static const struct {
	uint32_t idle, hot;
} sensors[] = { [EDGE] = { 38, 62 }, [JUNCTION] = { 41, 78 }, [MEMORY] = { 40, 68 } };

/* --- what is modelled --- */

static double celsius(const struct sg_board_use *use, uint32_t which)
{
	return sensors[which].idle + use->lasting * (sensors[which].hot - sensors[which].idle);
}

/* Dies of an MI250X have a sensor each, partitions that of the board. */
static double watts(const struct sg_gpu_model *m, const struct sg_board_use *use)
{
	return (m->idle_watts + use->recent * (m->max_watts - m->idle_watts)) /
	       (m->partition ? 1 : m->n_gpus);
}

static bool is_clocked_up(const struct sg_board_use *use)
{
	return use->is_running || use->recent > LOWEST_LOAD;
}

static uint32_t clock_mhz(const struct sg_gpu_model *m, const struct sg_board_use *use)
{
	return is_clocked_up(use) ? m->engine_clock_mhz : IDLE_CLOCK_MHZ;
}

static uint32_t memory_clock_mhz(const struct sg_gpu_model *m, const struct sg_board_use *use)
{
	return is_clocked_up(use) ? m->hbm_clock_mhz : IDLE_MEMORY_CLOCK_MHZ;
}

bool sg_live_sensor(const struct sg_gpu *gpu, const struct sg_board_use *use, uint32_t which,
		    uint32_t *out)
{
	switch (which) {
	case SG_DRM_SENSOR_SCLK_MHZ:
		*out = clock_mhz(gpu->model, use);
		return true;
	case SG_DRM_SENSOR_MCLK_MHZ:
		*out = memory_clock_mhz(gpu->model, use);
		return true;
	case SG_DRM_SENSOR_MILLI_CELSIUS:
		*out = (uint32_t)celsius(use, EDGE) * 1000;
		return true;
	case SG_DRM_SENSOR_LOAD_PERCENT:
		*out = (uint32_t)(use->recent * 100 + 0.5);
		return true;
	case SG_DRM_SENSOR_WATTS:
		*out = (uint32_t)(watts(gpu->model, use) + 0.5);
		return true;
	default:
		return false;
	}
}

/* --- the files --- */

#define WRITER(name)                                                                               \
	static size_t name(const struct sg_gpu *gpu, const struct sg_board_use *use,               \
			   uint32_t which, char out[SG_LIVE_BYTES])
#define PRINT(...) ((size_t)snprintf(out, SG_LIVE_BYTES, __VA_ARGS__))

static size_t print_levels(char *out, uint32_t low_mhz, uint32_t high_mhz, bool high)
{
	return PRINT("0: %uMhz%s\n1: %uMhz%s\n", low_mhz, high ? "" : " *", high_mhz,
		     high ? " *" : "");
}

WRITER(write_busy)
{
	return PRINT("%u\n", (unsigned)(use->recent * 100 + 0.5));
}

WRITER(write_used)
{
	return PRINT("%llu\n", (unsigned long long)use->used_bytes);
}

WRITER(write_clock_levels)
{
	return print_levels(out, IDLE_CLOCK_MHZ, gpu->model->engine_clock_mhz, is_clocked_up(use));
}

WRITER(write_memory_clock_levels)
{
	return print_levels(out, IDLE_MEMORY_CLOCK_MHZ, gpu->model->hbm_clock_mhz,
			    is_clocked_up(use));
}

WRITER(write_temperature)
{
	return PRINT("%u\n", (unsigned)celsius(use, which) * 1000);
}

WRITER(write_power)
{
	return PRINT("%u\n", (unsigned)(watts(gpu->model, use) + 0.5) * 1000000);
}

WRITER(write_clock)
{
	return PRINT("%llu\n", clock_mhz(gpu->model, use) * 1000000ull);
}

WRITER(write_memory_clock)
{
	return PRINT("%llu\n", memory_clock_mhz(gpu->model, use) * 1000000ull);
}

WRITER(write_metrics)
{
	struct sg_gpu_metrics metrics = SG_GPU_METRICS_UNKNOWN;
	uint64_t now_ns = sg_clock_system_ns();

	metrics.temperature_edge = (uint16_t)celsius(use, EDGE);
	metrics.temperature_hotspot = (uint16_t)celsius(use, JUNCTION);
	metrics.temperature_mem = (uint16_t)celsius(use, MEMORY);
	for (size_t i = 0; i < sizeof(metrics.temperature_hbm) / sizeof(uint16_t); i++)
		metrics.temperature_hbm[i] = metrics.temperature_mem;
	metrics.average_gfx_activity = (uint16_t)(use->recent * 100 + 0.5);
	metrics.average_socket_power = (uint16_t)(watts(gpu->model, use) + 0.5);
	metrics.system_clock_counter = now_ns;
	metrics.firmware_timestamp = now_ns / SG_DEVICE_TICK_NS;
	metrics.current_gfxclk = (uint16_t)clock_mhz(gpu->model, use);
	metrics.current_uclk = (uint16_t)memory_clock_mhz(gpu->model, use);
	metrics.pcie_link_width = SG_PCIE_LANES;
	metrics.pcie_link_speed = (uint16_t)(gpu->model->pcie_gts * 10);
	metrics.average_gfxclk_frequency = metrics.current_gfxclk;
	metrics.average_uclk_frequency = metrics.current_uclk;
	memcpy(out, &metrics, sizeof(metrics));
	return sizeof(metrics);
}

/* clang-format off */
const struct sg_live_file sg_live_files[] = {
	{ SG_LIVE_ALL,     NULL,       "gpu_busy_percent",       write_busy,                0 },
	{ SG_LIVE_ALL,     NULL,       "gpu_metrics",            write_metrics,             0 },
	{ SG_LIVE_ALL,     NULL,       "mem_info_vis_vram_used", write_used,                0 },
	{ SG_LIVE_ALL,     NULL,       "mem_info_vram_used",     write_used,                0 },
	{ SG_LIVE_ALL,     NULL,       "pp_dpm_mclk",            write_memory_clock_levels, 0 },
	{ SG_LIVE_ALL,     NULL,       "pp_dpm_sclk",            write_clock_levels,        0 },
	{ SG_LIVE_ALL,     "sclk",     "freq1_input",            write_clock,               0 },
	{ SG_LIVE_ALL,     "mclk",     "freq2_input",            write_memory_clock,        0 },
	{ SG_LIVE_ONE_DIE, "PPT",      "power1_average",         write_power,               0 },
	{ SG_LIVE_DIES,    "PPT",      "power1_input",           write_power,               0 },
	{ SG_LIVE_ONE_DIE, "edge",     "temp1_input",            write_temperature,         EDGE },
	{ SG_LIVE_ALL,     "junction", "temp2_input",            write_temperature,         JUNCTION },
	{ SG_LIVE_ALL,     "mem",      "temp3_input",            write_temperature,         MEMORY },
};
/* clang-format on */
const uint32_t sg_live_n_files = sizeof(sg_live_files) / sizeof(sg_live_files[0]);

bool sg_live_has(const struct sg_live_file *file, const struct sg_gpu *gpu)
{
	return file->boards == SG_LIVE_ALL ||
	       file->boards == (gpu->model->partition ? SG_LIVE_DIES : SG_LIVE_ONE_DIE);
}

static const struct sg_live_file *file_of(const char *path)
{
	const char *name = strrchr(path, '/');

	for (uint32_t i = 0; name && i < sg_live_n_files; i++)
		if (!strcmp(sg_live_files[i].name, name + 1))
			return &sg_live_files[i];
	return NULL;
}

bool sg_live_is_one(const char *path)
{
	return file_of(path) || sg_live_is_process_list(path);
}

/* --- writing --- */

void sg_live_replace(const char *folder, const char *path, const void *bytes, size_t n)
{
	char part[PATH_MAX + 64];
	bool ok;
	int fd;

	snprintf(part, sizeof(part), "%s/.part-%d-%ld", folder, getpid(), syscall(SYS_gettid));
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	ok = write(fd, bytes, n) == (ssize_t)n && !fchmod(fd, 0400);
	close(fd);
	/* Otherwise the old content stays, as long as the disk is full. */
	if (!ok || rename(part, path))
		unlink(part);
}

/* The GPU whose folder it is in, by its place on the bus. */
static const struct sg_gpu *gpu_of(const struct sg_topology *topology, const char *path,
				   uint32_t *out_index)
{
	char part[32];

	for (uint32_t g = 0; g < topology->n_gpus; g++) {
		snprintf(part, sizeof(part), "/0000:%02x:00.0/", topology->gpus[g].location >> 8);
		*out_index = g;
		if (strstr(path, part))
			return &topology->gpus[g];
	}
	return NULL;
}

void sg_live_refresh(const char *folder, const struct sg_topology *topology, const char *path)
{
	const struct sg_live_file *file = file_of(path);
	struct sg_board_use uses[SG_MAX_GPUS];
	char found[PATH_MAX], whole[2 * PATH_MAX], text[SG_LIVE_BYTES];
	const struct sg_gpu *gpu;
	uint32_t index;

	if (!file) {
		sg_live_refresh_processes(folder, topology);
		return;
	}
	/* Links lead to one place for each GPU. What is not there does not become a file. */
	if (!realpath(path, found) || !(gpu = gpu_of(topology, found, &index)))
		return;
	/* The preloaded library's realpath() leaves the folder away. */
	snprintf(whole, sizeof(whole), "%s%s", strncmp(found, folder, strlen(folder)) ? folder : "",
		 found);
	sg_board_sum(uses, topology->n_gpus);
	sg_live_replace(folder, whole, text, file->write(gpu, &uses[index], file->which, text));
}
