/*
 * fault: the message on stderr when a queue cannot continue: the kernel, the instruction and its source
 * line, workgroup, wave and lane, the address and the nearest allocation. On by default.
 *
 * Threads  the thread that stops the queue, queue locked. Not between sg_cp_host's enter and leave: these
 *          functions look allocations up, and a thread that frees one waits for the leave.
 */
#ifndef WS_SOFTGPU_CP_FAULT_H
#define WS_SOFTGPU_CP_FAULT_H

#include "softgpu/cp/cp_priv.h"

/* A wave of the queue's dispatch failed. */
void sg_fault_report_wave(const struct sg_queue *queue, const struct sg_fault *fault);
/* The packet at the read index cannot be executed; code: one of enum sg_queue_error. */
void sg_fault_report_packet(const struct sg_queue *queue, const union sg_aql_packet *packet,
			    uint32_t code);
/* The same for a copy queue: an unknown packet, or one with an address that is not mapped. */
void sg_fault_report_copy(const struct sg_queue *queue, uint32_t header, bool bad_address,
			  uint64_t address, bool write);

#endif
