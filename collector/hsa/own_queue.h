/*
 * own_queue: a queue of ours on each GPU, for kernels that are replayed (replay.h) and for copies (copier.h).
 *
 * The runtime's own queues for copies work in order. A copy of the program that waits for a kernel would hold up ours,
 * and with it that kernel.
 *
 * Threads  ready: any. The rest: one thread.
 */
#ifndef WS_COLLECTOR_HSA_OWN_QUEUE_H
#define WS_COLLECTOR_HSA_OWN_QUEUE_H

#include "collector/hsa/queue_priv.h"

#define COL_OWN_PACKETS 64u /* in flight, at most */

/* An error that the queue reports, on ROCr's thread. */
typedef void col_own_queue_failed(uint32_t agent, hsa_status_t status);

bool col_own_queue_ready(uint32_t agent, col_own_queue_failed *failed); /* false: no queue */
void col_own_queue_put(uint32_t agent, const union col_packet *packet);
void col_own_queue_put_end(uint32_t agent); /* a barrier, for col_own_queue_wait() */
uint64_t col_own_queue_end(void);           /* the signal that it completes, or another packet */

enum col_own_end { COL_OWN_ENDED, COL_OWN_STOPPED, COL_OWN_BROKEN };
/* For the signal, set to 1 with the first packet put since. @stop: gives up when it is set; or NULL. */
enum col_own_end col_own_queue_wait(uint32_t agent, const uint32_t *stop);
void col_own_queue_renew(uint32_t agent); /* what runs in it ends */

void col_own_queue_close(void);  /* while none of them is in use */
void col_own_queue_unload(void); /* also in the child of a fork */

#endif
