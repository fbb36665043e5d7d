/*
 * packet_queue: a queue of the collector's own, for aqlprofile's packets that belong to no kernel.
 *
 * Threads  one at a time.
 * Failure  create: NULL.  run: false: the packet has not ended in time; the queue is not to be used again, and stays,
 *          because the GPU may still execute the packet.
 */
#ifndef WS_COLLECTOR_HSA_PACKET_QUEUE_H
#define WS_COLLECTOR_HSA_PACKET_QUEUE_H

#include "collector/count/aqlprofile.h"

struct col_packet_queue;

struct col_packet_queue *col_packet_queue_create(uint32_t agent);
void col_packet_queue_destroy(struct col_packet_queue *queue); /* NULL is fine */
/* Returns when the packet has ended. */
bool col_packet_queue_run(struct col_packet_queue *queue, const union col_aql_packet *packet,
			  uint64_t timeout_ns);

#endif
