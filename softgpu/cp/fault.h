/*
 * fault: what is said when a queue cannot go on, on stderr and by default: the kernel, the instruction and its
 * source line, workgroup, wave and lane, the address and the allocation next to it.
 *
 * Threads  whoever stops the queue, queue locked. Not between sg_cp_host's enter and leave: they ask for
 *          allocations, and whoever frees one waits for the leave.
 */
#ifndef WS_SOFTGPU_CP_FAULT_H
#define WS_SOFTGPU_CP_FAULT_H

#include "softgpu/cp/cp_priv.h"

/* A wave of the queue's dispatch failed. */
void sg_fault_report_wave(const struct sg_queue *queue, const struct sg_fault *fault);
/* The packet at the read index cannot be executed; code: one of enum sg_queue_error. */
void sg_fault_report_packet(const struct sg_queue *queue, const union sg_aql_packet *packet,
			    uint32_t code);
/* The same of a copy queue: a packet that is none, or one with an address that is not there. */
void sg_fault_report_copy(const struct sg_queue *queue, uint32_t header, bool bad_address,
			  uint64_t address, bool write);

#endif
