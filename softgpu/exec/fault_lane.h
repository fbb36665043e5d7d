/*
 * fault_lane: which lane of a wave an access that failed belongs to.
 *
 * The handlers stop at the first address that fails and do not say whose it was; here the addresses of the
 * instruction are computed once more. Only after a fault, by the thread that ran the wave.
 */
#ifndef WS_SOFTGPU_EXEC_FAULT_LANE_H
#define WS_SOFTGPU_EXEC_FAULT_LANE_H

#include <stdint.h>

struct sg_wave;

/* For w->fault. -1: not of one lane; the instruction is a scalar one, or touches no memory. */
int32_t sg_fault_lane(struct sg_wave *w);

#endif
