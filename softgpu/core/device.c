#include "softgpu/core/device.h"

#include <stdlib.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/busy.h"
#include "softgpu/device/clock.h"
#include "softgpu/pm4/pm4.h"

struct sg_device {
	struct sg_cp *cp;
	const struct sg_gpu_model *model;
	struct sg_hw hw;
	struct sg_cp_gpu gpu;
};

/* The chips of the timing model, by the PCI device id of the board. */
static const struct {
	uint16_t device_id;
	const struct sg_hw *hw;
} chips[] = {
	{ 0x738c, &sg_hw_mi100 },  { 0x740f, &sg_hw_mi210 },  { 0x7408, &sg_hw_mi250x },
	{ 0x74a0, &sg_hw_mi300a }, { 0x74a1, &sg_hw_mi300x }, { 0x74a5, &sg_hw_mi325x },
	{ 0x75a0, &sg_hw_mi350x }, { 0x75a3, &sg_hw_mi355x },
};

/* What the model gets: the chip, or in a partition some of its dies. Memory and Infinity Cache are the board's. */
static bool find_hw(const struct sg_gpu_model *model, struct sg_hw *out_hw)
{
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		if (chips[i].device_id != model->device_id)
			continue;
		*out_hw = *chips[i].hw;
		out_hw->n_xcc = model->n_xccs;
		return true;
	}
	return false;
}

/* ---- counters that PM4 packets program ---- */

static void control_counters(void *ctx, enum sg_pm4_window window)
{
	static const enum sg_count_window windows[] = { [SG_PM4_RESET] = SG_WINDOW_RESET,
							[SG_PM4_COUNT] = SG_WINDOW_OPEN,
							[SG_PM4_FREEZE] = SG_WINDOW_CLOSED };

	sg_counting_window(ctx, windows[window]);
}

static uint64_t counter_value(void *ctx, const struct sg_counter_info *counter, uint32_t instance,
			      bool accumulated)
{
	return sg_counting_tally(ctx, counter, instance, accumulated);
}

static struct sg_pm4 *create_pm4(const struct sg_hw *hw, struct sg_counting *counting)
{
	struct sg_pm4_counts counts = { control_counters, counter_value, counting };

	return counting ? sg_pm4_create(hw, &counts) : NULL;
}

struct sg_device *sg_device_create(struct sg_cp *cp, const struct sg_mem_map *mem,
				   const struct sg_gpu *gpu, uint32_t node)
{
	const struct sg_gpu_model *model = gpu->model;
	struct sg_device *device = calloc(1, sizeof(*device));

	if (!device || !find_hw(model, &device->hw)) {
		free(device);
		return NULL;
	}
	device->cp = cp;
	device->model = model;
	device->gpu = (struct sg_cp_gpu){
		.node = node,
		.target = model->target,
		.n_cus = model->n_cus,
		.n_xccs = model->partition ? model->n_xccs : 0,
		.first_xcc = gpu->partition * model->n_xccs,
		.code_cache = sg_code_cache_create(mem, model->target),
		.gws = sg_gws_create(),
		.counting = sg_counting_create(&device->hw),
		.traps = sg_traps_create(),
		.busy = sg_busy_time_create(),
	};
	device->gpu.pm4 = create_pm4(&device->hw, device->gpu.counting);
	if (!device->gpu.code_cache || !device->gpu.gws || !device->gpu.counting ||
	    !device->gpu.pm4 || !device->gpu.traps || !device->gpu.busy) {
		sg_device_destroy(device);
		return NULL;
	}
	return device;
}

void sg_device_destroy(struct sg_device *device)
{
	if (!device)
		return;
	if (device->gpu.code_cache)
		sg_code_cache_destroy(device->gpu.code_cache);
	if (device->gpu.gws)
		sg_gws_destroy(device->gpu.gws);
	sg_pm4_destroy(device->gpu.pm4);
	sg_counting_destroy(device->gpu.counting);
	sg_traps_destroy(device->gpu.traps);
	sg_busy_time_destroy(device->gpu.busy);
	free(device);
}

struct sg_counting *sg_device_counting(struct sg_device *device)
{
	return device->gpu.counting;
}

void sg_device_set_trap_handler(struct sg_device *device, uint64_t handler, uint64_t memory)
{
	sg_traps_set_handler(device->gpu.traps, handler, memory);
}

void sg_device_trap_samples(struct sg_device *device, enum sg_traps_method method, uint64_t cycles)
{
	sg_counting_sample_traps(device->gpu.counting, cycles);
	sg_traps_select(device->gpu.traps, method);
}

void sg_device_memory_allocated(struct sg_device *device, uint64_t addr, uint64_t size)
{
	/* Nothing to do: decoded instructions of this range were dropped when it was freed. */
}

void sg_device_memory_freed(struct sg_device *device, uint64_t addr, uint64_t size)
{
	sg_code_cache_invalidate(device->gpu.code_cache);
}

struct sg_queue *sg_device_register_queue(struct sg_device *device,
					  const struct sg_queue_desc *desc)
{
	return sg_cp_queue_create(device->cp, &device->gpu, desc);
}

void sg_device_destroy_queue(struct sg_queue *queue)
{
	sg_cp_queue_destroy(queue);
}

void sg_device_figures(struct sg_device *device, struct softgpu_figures *out)
{
	*out = (struct softgpu_figures){
		.busy_ns = sg_busy_time_ns(device->gpu.busy),
		.memory_bytes = device->model->vram_bytes,
		.clock_mhz = device->model->engine_clock_mhz,
		.memory_clock_mhz = device->model->hbm_clock_mhz,
		.idle_watts = device->model->idle_watts / device->model->n_gpus,
		.max_watts = device->model->max_watts / device->model->n_gpus,
	};
}

void sg_device_publish(struct sg_device *device, struct sg_board_page *page, uint32_t gpu)
{
	device->gpu.n_queues = &page->n_queues[gpu];
	sg_busy_time_publish(device->gpu.busy, page, gpu);
}

uint64_t sg_device_clock(const struct sg_device *device)
{
	return sg_clock_device_ticks();
}
