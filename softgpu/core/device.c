#include "softgpu/core/device.h"

#include <stdlib.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/busy.h"
#include "softgpu/device/clock.h"
#include "softgpu/pm4/pm4.h"

struct sg_device {
	struct sg_cp *cp;
	const struct sg_gpu_model *model;
	struct sg_cp_gpu gpu;
};

/* The timing model of a GPU; one without its own uses the most similar one. */
static const struct sg_hw *hw_of(const struct sg_gpu_model *model)
{
	if (model->target == SG_ISA_GFX908)
		return &sg_hw_mi100;
	return model->n_cus > 104 ? &sg_hw_mi250x : &sg_hw_mi210;
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
				   const struct sg_gpu_model *model, uint32_t node)
{
	struct sg_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->cp = cp;
	device->model = model;
	device->gpu = (struct sg_cp_gpu){
		.node = node,
		.target = model->target,
		.n_cus = model->n_cus,
		.code_cache = sg_code_cache_create(mem, model->target),
		.gws = sg_gws_create(),
		.counting = sg_counting_create(hw_of(model)),
		.busy = sg_busy_time_create(),
	};
	device->gpu.pm4 = create_pm4(hw_of(model), device->gpu.counting);
	if (!device->gpu.code_cache || !device->gpu.gws || !device->gpu.counting ||
	    !device->gpu.pm4 || !device->gpu.busy) {
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
	sg_busy_time_destroy(device->gpu.busy);
	free(device);
}

struct sg_counting *sg_device_counting(struct sg_device *device)
{
	return device->gpu.counting;
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
