/*
 * count: a dispatch that is counted, between the queue, the workers and the model.
 */
#ifndef WS_SOFTGPU_CP_COUNT_H
#define WS_SOFTGPU_CP_COUNT_H

#include "softgpu/cp/cp_priv.h"

/* Starts counting the queue's dispatch, if somebody wants it: then dispatch.count is set. */
void sg_cp_count_begin(struct sg_queue *queue, const union sg_aql_packet *packet);
/*
 * The dispatch has ended: waits for the model. True: it is to be started again (kernel replay); memory is
 * as it was before it. False: *duration is the modelled one in ticks of the device clock, 0 if it was not
 * counted.
 */
bool sg_cp_count_end(struct sg_queue *queue, uint64_t *duration);

#endif
