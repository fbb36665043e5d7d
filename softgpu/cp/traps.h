/*
 * traps: PC samples by the runtime's trap handler, as on hardware.
 *
 * The driver's interface sets the handler and turns sampling on (softgpu/kfd/pc_sampling.c). From then on every
 * dispatch is modelled. When it has ended, and before its completion, the handler runs once for each sample that the
 * model took (exec/trap.h), in order of time.
 *
 * Simulated time stands still there: the samples of a kernel come faster than on hardware, where the host empties
 * the buffers meanwhile. So when the handler has sent an interrupt, the samples that follow wait until the host
 * has submitted a PM4 command buffer, which is how it empties them, or has not for a while. What then
 * finds a full buffer is lost, as on hardware.
 *
 * Threads  any; a lock inside. deliver() takes long, and the caller holds no lock of the device.
 */
#ifndef WS_SOFTGPU_CP_TRAPS_H
#define WS_SOFTGPU_CP_TRAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_queue;
struct sg_traps;
struct softgpu_pc_sample;

/* The samples of a queue's dispatch, until they are delivered. */
struct sg_trapped {
	struct softgpu_pc_sample *samples; /* NULL: none */
	size_t n;
	uint32_t mhz; /* of their cycles */
};

struct sg_traps *sg_traps_create(void); /* NULL: no memory */
void sg_traps_destroy(struct sg_traps *traps);

/* GPU addresses of the runtime's handler and of its memory. 0: there is none, and nothing is delivered. */
void sg_traps_set_handler(struct sg_traps *traps, uint64_t handler, uint64_t memory);
/* When it returns, no handler runs or will run that was started by the former method. */
enum sg_traps_method { SG_TRAPS_OFF, SG_TRAPS_BY_HOST, SG_TRAPS_STOCHASTIC };
void sg_traps_select(struct sg_traps *traps, enum sg_traps_method method);
void sg_traps_commands_done(struct sg_traps *traps); /* a PM4 command buffer has been executed */

/* The queue's dispatch began at @start_ticks of the device clock. Frees the samples. */
void sg_traps_deliver(struct sg_queue *queue, uint64_t start_ticks);

#endif
