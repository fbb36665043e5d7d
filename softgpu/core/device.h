/*
 * device: one GPU, for a library that presents it to a runtime.
 *
 * It knows no runtime. An interface library creates it, reports allocated and freed memory, registers
 * queues, and gets a callback when an event has to be set. AMD's model interface of the ROCm 7 thunk has
 * the same operations (create, allocated and freed memory, register and destroy queue, set event, GPU
 * address A at host address base + A), so libhsakmt is one interface of several.
 *
 * All devices of a process share one command processor (sg_cp), which owns the threads.
 *
 * Threads  any. Callbacks: see cp/cp.h.
 */
#ifndef WS_SOFTGPU_CORE_DEVICE_H
#define WS_SOFTGPU_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/cp/cp.h"
#include "softgpu/cp/figures.h"
#include "softgpu/cp/traps.h"
#include "softgpu/device/board_page.h"
#include "softgpu/device/model.h"

struct sg_device;

/* node: what the runtime calls this GPU. NULL: out of memory. */
struct sg_device *sg_device_create(struct sg_cp *cp, const struct sg_mem_map *mem,
				   const struct sg_gpu *gpu, uint32_t node);
void sg_device_destroy(struct sg_device *device); /* its queues are destroyed already */

struct sg_counting *sg_device_counting(struct sg_device *device);

/* The runtime's trap handler and its memory; PC samples by it. Cycles: of the interval; of SG_TRAPS_OFF: 0. */
void sg_device_set_trap_handler(struct sg_device *device, uint64_t handler, uint64_t memory);
void sg_device_trap_samples(struct sg_device *device, enum sg_traps_method method, uint64_t cycles);

/* Memory that may hold code. Instructions decoded from it before are dropped. */
void sg_device_memory_allocated(struct sg_device *device, uint64_t addr, uint64_t size);
void sg_device_memory_freed(struct sg_device *device, uint64_t addr, uint64_t size);

struct sg_queue *sg_device_register_queue(struct sg_device *device,
					  const struct sg_queue_desc *desc); /* NULL: refused */
void sg_device_destroy_queue(struct sg_queue *queue);

/* All but the memory in use, which the device does not know. */
void sg_device_figures(struct sg_device *device, struct softgpu_figures *out);
/* The load of the GPU and its queues, for other processes: element @gpu of the page. Before the first queue. */
void sg_device_publish(struct sg_device *device, struct sg_board_page *page, uint32_t gpu);

/* The 100 MHz counter that packets are stamped with. */
uint64_t sg_device_clock(const struct sg_device *device);

#endif
