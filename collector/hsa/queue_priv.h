/*
 * queue_priv: shared by queue.c (intercepted queues), queue_reported.c (queues whose kernels the
 * GPU reports) and queue_attached.c (queues that existed before an attach).
 */
#ifndef WS_COLLECTOR_HSA_QUEUE_PRIV_H
#define WS_COLLECTOR_HSA_QUEUE_PRIV_H

#include "collector/count/aqlprofile.h"
#include "collector/hsa/hsa_priv.h"

#define PROBES 4u

struct col_probe {
	uint64_t signal; /* made when first needed, used again */
	uint64_t at;     /* how many packets went before it */
};

/*
 * Why there is a packet at some place of a ring. Most are like the one before, with ids that go on by
 * the same step; those are not written, so that a loop of launches leaves the GPU's caches alone.
 */
struct col_launch_note {
	uint64_t tag;   /* index of the packet + 1; another: it follows from the one before */
	uint64_t order; /* of submission, over all queues, from 1; 0: recording was off */
	uint64_t corr_id, corr_step;
	uint64_t external_id;
	uint32_t tid, stream, epoch;
	uint32_t untraced; /* tracing was paused, and counting was not */
} __attribute__((aligned(64)));

union col_packet;
struct col_turn;

struct col_queue {
	struct cap_rec_queue rec; /* h.what: our id */
	hsa_queue_t *handle;      /* NULL: destroyed */
	uint64_t agent;           /* hsa_agent_t */
	struct col_pending_ring *ring;
	struct col_launch_note
		*notes; /* queue_reported.c: one per slot of the ring; NULL: not reported */
	/* Reports errors of the queue to the program; NULL: it wants none. */
	void (*on_error)(hsa_status_t status, hsa_queue_t *source, void *data);
	void *on_error_data;
	hsa_queue_t *cooperative; /* ROCr's own that this one intercepts; NULL: of another type */
	bool has_cu_mask;         /* its kernels run on some of the CUs */
	bool plain; /* not intercepted: the GPU reports it, or it existed before the attach */
	/* The rest is used by the handler, which ROCr calls for one thread at a time. */
	union col_packet *copy; /* as many as the queue holds, and one; NULL: not intercepted */
	bool takes_turns;       /* see turns.h */
	bool is_sampled;        /* by the runtime, see pcs.h */
	struct cap_rec_dispatch
		sampled;     /* the dispatch that is being submitted; dispatch_id 0: not selected */
	bool has_dispatched; /* one of its kernels, counted by packets or sampled by the runtime */
	struct col_turn *turn;         /* of the dispatch that was submitted last */
	uint64_t turn_number;          /* its place may be another dispatch's by now */
	uint64_t n_written, n_through; /* packets: handed on; known to have been processed */
	uint32_t n_probes, n_seen;     /* put in; known to have come through */
	struct col_probe probes[PROBES];
	/* the GPU's side of queue_reported.c, on the thread that ends the kernels of this queue */
	struct {
		struct col_launch_note now; /* of the packet before n_read */
		uint64_t n_read;
		uint64_t n_done, n_over; /* kernels; packets up to the last of them. Any thread */
		uint64_t n_asked;        /* the next two are of the packet before it */
		uint64_t number;
		struct col_count_ticket ticket;
		uint64_t last; /* at exit: packets before this one are waited for. Under the lock */
		bool dying;    /* being destroyed: its ring may be gone. Under the lock */
	} reported;
};

/* The six fields that every packet type has in the same places. */
union col_packet {
	struct {
		uint16_t header;
	};
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-or has its completion signal there, too */
};
_Static_assert(sizeof(union col_packet) == 64, "AQL packets have 64 bytes");

/* A packet of ours: all before it has ended, and others see what it did. */
#define COL_PACKET_HEADER(type)                                                                    \
	(uint16_t)((type) << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER |            \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |             \
		   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

/* A packet of aqlprofile's, as one of ours that completes the signal @completes. */
void col_packet_of_step(union col_packet *to, const struct col_aql_packets *packets,
			enum col_aql_step step, uint64_t completes);

/* Of the list of queues: new, find, and what is in it. */
extern struct col_lock col_queues_lock;
struct col_queue *col_queue_new(void);
struct col_queue *col_queue_find(const hsa_queue_t *handle); /* NULL: not one of ours */
struct col_queue *col_queue_next(
	struct col_queue *queue);                      /* NULL: the first; NULL again: no more */
struct col_queue *col_queue_meet(hsa_queue_t *handle); /* one from before we were attached */

/* All of a record but its times and its number. */
static inline void col_queue_describe(const struct col_queue *queue, uint32_t kernel,
				      const hsa_kernel_dispatch_packet_t *packet,
				      struct col_cause cause, struct cap_rec_dispatch *d)
{
	d->h.what = kernel;
	d->corr_id = cause.corr_id;
	d->external_id = cause.external_id;
	d->tid = cause.tid;
	d->agent = queue->rec.agent;
	d->queue = queue->rec.h.what;
	d->stream = cause.stream;
	d->private_bytes = packet->private_segment_size;
	d->group_bytes = packet->group_segment_size;
	d->workgroup[0] = packet->workgroup_size_x;
	d->workgroup[1] = packet->workgroup_size_y;
	d->workgroup[2] = packet->workgroup_size_z;
	d->grid[0] = packet->grid_size_x;
	d->grid[1] = packet->grid_size_y;
	d->grid[2] = packet->grid_size_z;
	d->n_values = 0;
	d->flags = 0;
}

static inline void col_queue_decide(struct col_count_ticket *ticket, uint32_t agent,
				    uint32_t kernel, const hsa_kernel_dispatch_packet_t *packet,
				    bool was_selected)
{
	const struct col_count_launch launch = {
		.agent = agent,
		.kernel = kernel,
		.grid = { packet->grid_size_x, packet->grid_size_y, packet->grid_size_z },
		.workgroup = { packet->workgroup_size_x, packet->workgroup_size_y,
			       packet->workgroup_size_z },
		.group_bytes = packet->group_segment_size,
		.was_selected = was_selected,
	};

	col_count_decide(ticket, &launch);
}

/* A dispatch is about to be submitted; its packet may be changed, unless we only look on. */
void col_queue_watch(struct col_queue *queue, hsa_kernel_dispatch_packet_t *packet, bool reusable);
/* The number of the next dispatch, from 1; an attach begins again. */
uint64_t col_queue_number(void);
void col_queue_number_again(void);
/* One that cannot be: for every service that would have had it. */
void col_queue_count_lost(void);
/* The calling thread looks at packets of a queue that is not intercepted. */
extern __thread bool col_queue_onlooking __attribute__((tls_model("initial-exec")));

/* ---- queue_room.c ---- */

/* Until @n packets fit into the queue, or it takes too long. */
void col_queue_wait_for_room(struct col_queue *queue, uint64_t n);
/* A probe behind the @n packets, when it is time for one. Returns how many were added. */
uint32_t col_queue_add_probe(struct col_queue *queue, uint64_t n, union col_packet *to);

/* ---- queue_reported.c ---- */

bool col_reported_queue(struct col_queue *queue); /* reported from now on; false: no memory */
/* Before a destroy: the number of its kernels, ended or waiting. Then one of the next two. */
uint64_t col_reported_before_destroy(struct col_queue *queue);
void col_reported_not_destroyed(struct col_queue *queue);
void col_reported_destroyed(struct col_queue *queue, uint64_t n_launched);

#endif
