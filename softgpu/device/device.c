#include "softgpu/device/device.h"

#include <stdlib.h>

#include "softgpu/counters/counting.h"
#include "softgpu/device/clock.h"

struct ws_device {
	struct ws_cp *cp;
	const struct ws_gpu_model *model;
	struct ws_cp_gpu gpu;
};

/* The timing model of a GPU; one that has none of its own is counted as its next relative. */
static const struct ws_hw *hw_of(const struct ws_gpu_model *model)
{
	if (model->target == WS_GFX908)
		return &ws_hw_mi100;
	return model->n_cus > 104 ? &ws_hw_mi250x : &ws_hw_mi210;
}

struct ws_device *ws_device_create(struct ws_cp *cp, const struct ws_mem_map *mem,
				   const struct ws_gpu_model *model, uint32_t node)
{
	struct ws_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->cp = cp;
	device->model = model;
	device->gpu = (struct ws_cp_gpu){
		.node = node,
		.target = model->target,
		.n_cus = model->n_cus,
		.code_cache = ws_code_cache_create(mem, model->target),
		.gws = ws_gws_create(),
		.counting = ws_counting_create(hw_of(model)),
	};
	if (!device->gpu.code_cache || !device->gpu.gws || !device->gpu.counting) {
		ws_device_destroy(device);
		return NULL;
	}
	return device;
}

void ws_device_destroy(struct ws_device *device)
{
	if (!device)
		return;
	if (device->gpu.code_cache)
		ws_code_cache_destroy(device->gpu.code_cache);
	if (device->gpu.gws)
		ws_gws_destroy(device->gpu.gws);
	ws_counting_destroy(device->gpu.counting);
	free(device);
}

struct ws_counting *ws_device_counting(struct ws_device *device)
{
	return device->gpu.counting;
}

void ws_device_memory_allocated(struct ws_device *device, uint64_t addr, uint64_t size)
{
	/* Nothing to do: what the cache knew of this range went when it was freed. */
}

void ws_device_memory_freed(struct ws_device *device, uint64_t addr, uint64_t size)
{
	ws_code_cache_invalidate(device->gpu.code_cache);
}

struct ws_queue *ws_device_register_queue(struct ws_device *device,
					  const struct ws_queue_desc *desc)
{
	return ws_cp_queue_create(device->cp, &device->gpu, desc);
}

void ws_device_destroy_queue(struct ws_queue *queue)
{
	ws_cp_queue_destroy(queue);
}

uint64_t ws_device_clock(const struct ws_device *device)
{
	return ws_clock_device_ticks();
}
