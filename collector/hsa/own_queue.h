/*
 * own_queue: a queue of the collector's own on a GPU.
 *
 * Kernels that are replayed (replay.h), copies of memory (copier.h) and packets of aqlprofile that belong to no kernel run
 * there. The runtime's own queues for copies work in order: a copy of the program that waits for a kernel would hold up
 * ours, and with it that kernel.
 *
 *	col_own_queue_put(queue, &packet)     as often as needed, COL_OWN_PACKETS at most
 *	col_own_queue_put_end(queue)          or a last packet that completes col_own_queue_end()
 *	col_own_queue_wait(queue, ...)
 *
 * Threads  of one queue: one at a time. @failed is called on ROCr's thread.
 * Failure  create: NULL.  wait: not COL_OWN_ENDED: the GPU may still execute the packets. The queue is made again by renew,
 *          or is left as it is and not used again.
 */
#ifndef WS_COLLECTOR_HSA_OWN_QUEUE_H
#define WS_COLLECTOR_HSA_OWN_QUEUE_H

#include "collector/count/aqlprofile.h"

#define COL_OWN_PACKETS 64u /* in flight, at most */
#define COL_OWN_FOREVER UINT64_MAX

union col_packet; /* queue_priv.h */
struct col_own_queue;

/* An error that the queue reports: an hsa_status_t. */
typedef void col_own_queue_failed(uint32_t agent, int status);

struct col_own_queue *col_own_queue_create(uint32_t agent, col_own_queue_failed *failed);
void col_own_queue_destroy(struct col_own_queue *queue); /* while nothing runs; NULL is fine */
/* The runtime has ended, or this is the child of a fork: nothing of it can be called. NULL is fine. */
void col_own_queue_forget(struct col_own_queue *queue);
void col_own_queue_renew(struct col_own_queue *queue); /* what runs in it ends */
uint32_t col_own_queue_agent(const struct col_own_queue *queue);

void col_own_queue_put(struct col_own_queue *queue, const union col_packet *packet);
void col_own_queue_put_step(struct col_own_queue *queue, const struct col_aql_packets *packets,
			    enum col_aql_step step, uint64_t completes);
void col_own_queue_put_end(struct col_own_queue *queue);
uint64_t col_own_queue_end(const struct col_own_queue *queue); /* the signal; 1 until then */

enum col_own_end { COL_OWN_ENDED, COL_OWN_STOPPED, COL_OWN_LATE, COL_OWN_BROKEN };
/* Gives up when @stop is set, if it is not NULL, or after @timeout_ns. */
enum col_own_end col_own_queue_wait(struct col_own_queue *queue, const uint32_t *stop,
				    uint64_t timeout_ns);

#endif
