/*
 * queue_priv: what queue.c (queues that are intercepted) and old_queue.c (those that were
 * there before) share.
 */
#ifndef WS_COLLECTOR_HSA_QUEUE_PRIV_H
#define WS_COLLECTOR_HSA_QUEUE_PRIV_H

#include "collector/hsa/hsa_priv.h"

#define PROBES 4u

struct probe {
	uint64_t signal; /* made when first needed, used again */
	uint64_t at;     /* how many packets went before it */
};

struct queue {
	struct ws_rec_queue rec; /* h.what: our id */
	hsa_queue_t *handle;     /* NULL: destroyed */
	uint64_t agent;          /* hsa_agent_t */
	struct ws_pending_ring *ring;
	bool old; /* made before we were attached: looked at, not intercepted */
	/* The rest is used by the handler, which ROCr calls for one thread at a time. */
	uint64_t n_written, n_through; /* packets: handed on; known to have been processed */
	uint32_t n_probes, n_seen;     /* put in; known to have come through */
	struct probe probes[PROBES];
};

/* The six fields that every packet type has in the same places. */
union packet {
	struct {
		uint16_t header;
	};
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-or has its completion signal there, too */
};
_Static_assert(sizeof(union packet) == 64, "AQL packets have 64 bytes");

/* Of the list of queues: new, find, and what is in it. */
extern struct ws_lock ws_queues_lock;
struct queue *ws_queue_new(void);
struct queue *ws_queue_find(const hsa_queue_t *handle); /* NULL: not one of ours */

/* A dispatch is about to be submitted; its packet may be changed, unless we only look on. */
void ws_queue_watch(struct queue *queue, hsa_kernel_dispatch_packet_t *packet, bool reusable);
/* One that cannot be: for every service that would have had it. */
void ws_queue_count_lost(void);
/* The calling thread looks at packets of a queue that is not intercepted. */
extern __thread bool ws_queue_onlooking __attribute__((tls_model("initial-exec")));

#endif
