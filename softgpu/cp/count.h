/*
 * count: counted dispatches, and kernel replay.
 */
#ifndef WS_SOFTGPU_CP_COUNT_H
#define WS_SOFTGPU_CP_COUNT_H

#include "softgpu/cp/cp_priv.h"

/* Starts counting the queue's dispatch if counters are selected; sets dispatch.count then. */
void sg_cp_count_begin(struct sg_queue *queue, const union sg_aql_packet *packet);
/*
 * The dispatch has ended: waits for the model. True: start it again (kernel replay); memory is restored.
 * False: *duration is the simulated duration in ticks of the device clock, 0 if it was not counted.
 */
bool sg_cp_count_end(struct sg_queue *queue, uint64_t *duration);

#endif
