/*
 * queue: the queues a program makes, and the packets it puts into them.
 *
 * When dispatches are recorded, queues are made by ROCr's interception interface:
 * the program writes to a proxy, and when it rings the doorbell our handler sees the
 * packets on the program's own thread, inside the call that submitted them. Kernel
 * dispatches get a place in pending.c; everything else is handed on as it is.
 */
#include "collector/hsa/hsa_priv.h"

#include <errno.h>
#include <hsa/amd_hsa_signal.h>
#include <string.h>

#define QUEUES_MAX 4096u
#define PACKETS_AT_ONCE 32u

struct queue {
	struct ws_rec_queue rec; /* h.what: our id */
	hsa_queue_t *handle;     /* NULL: destroyed */
	uint64_t agent;          /* hsa_agent_t */
	struct ws_pending_ring *ring;
};

static struct {
	struct ws_lock lock;
	struct queue *all; /* QUEUES_MAX; never moved: handlers point into it */
	uint32_t n;
	uint64_t n_dispatches;
} queues;

/* The six fields that every packet type has in the same places. */
union packet {
	struct {
		uint16_t header;
	};
	hsa_kernel_dispatch_packet_t dispatch;
	hsa_barrier_and_packet_t barrier; /* barrier-or has its completion signal there, too */
};
_Static_assert(sizeof(union packet) == 64, "AQL packets have 64 bytes");

/* ---- packets ---- */

static void count(enum ws_ledger_column column)
{
	struct ws_writer *writer = ws_capture_now();

	if (writer)
		ws_writer_count(writer, WS_DOMAIN_KERNEL_DISPATCH, column, 1);
}

static void describe(struct ws_pending *p, const struct queue *queue,
		     const hsa_kernel_dispatch_packet_t *packet, struct ws_thread *t)
{
	struct ws_cause cause = ws_cause(t);
	struct ws_rec_dispatch *d = &p->dispatch;

	p->agent = queue->agent;
	d->h.what = ws_kernel_by_object(packet->kernel_object);
	d->corr_id = cause.corr_id;
	d->external_id = cause.external_id;
	d->dispatch_id = __atomic_add_fetch(&queues.n_dispatches, 1, __ATOMIC_RELAXED);
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

/*
 * Several dispatches of the program's count down one signal, and it keeps the times of
 * the last one only. This one gets a signal of its own; when that falls, so does theirs.
 */
static bool forwarded(hsa_signal_value_t value, void *arg)
{
	ws_pending_forwarded(arg);
	return false;
}

static bool forward(struct ws_pending *p, hsa_kernel_dispatch_packet_t *packet)
{
	hsa_signal_t signal = { 0 };

	if (ws_hsa.hsa_signal_create(1, 0, NULL, &signal) != HSA_STATUS_SUCCESS)
		return false;
	p->own = 1;
	p->signal = signal.handle;
	p->forward = packet->completion_signal.handle;
	if (ws_hsa.hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, forwarded, p) !=
	    HSA_STATUS_SUCCESS) {
		ws_hsa.hsa_signal_destroy(signal);
		p->own = 0;
		p->signal = p->forward = 0;
		return false;
	}
	packet->completion_signal = signal;
	return true;
}

/* Decide whose signal tells when it is done. false: it cannot be observed. */
static bool arrange(struct ws_pending *p, hsa_kernel_dispatch_packet_t *packet, bool reusable)
{
	uint64_t signal = packet->completion_signal.handle;
	amd_signal_t *at = (amd_signal_t *)(uintptr_t)signal;

	if (!signal) {
		packet->completion_signal.handle = ws_pending_own_signal(p);
		return packet->completion_signal.handle != 0;
	}
	if (!reusable || !ws_pending_mark(signal, p))
		return forward(p, packet);
	p->own = 0;
	p->signal = signal;
	__atomic_store_n(&at->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&at->end_ts, 0, __ATOMIC_RELAXED);
	return true;
}

static void watch(struct queue *queue, hsa_kernel_dispatch_packet_t *packet, bool reusable)
{
	struct ws_thread *t;
	struct ws_pending *p;

	if (!ws_on(WS_SERVICE_KERNEL)) {
		count(WS_LEDGER_PAUSED);
		return;
	}
	t = ws_thread();
	p = t ? ws_pending_dispatch(queue->ring) : NULL;
	if (!p) {
		count(WS_LEDGER_DROPPED);
		return;
	}
	describe(p, queue, packet, t);
	if (arrange(p, packet, reusable)) {
		ws_pending_publish(queue->ring, p);
	} else {
		count(WS_LEDGER_FAILED);
		p->own = 1; /* nothing to unmark */
		ws_pending_cancel(p);
	}
}

static void on_packets(const void *packets, uint64_t n, uint64_t index, void *data,
		       hsa_amd_queue_intercept_packet_writer write)
{
	struct queue *queue = data;
	union packet copy[PACKETS_AT_ONCE];
	const union packet *from = packets;

	for (uint64_t at = 0; at < n;) {
		uint32_t n_now = (uint32_t)WS_MIN(n - at, PACKETS_AT_ONCE);

		memcpy(copy, from + at, n_now * sizeof(copy[0]));
		for (uint32_t i = 0; i < n_now; i++) {
			uint16_t type = copy[i].header >> HSA_PACKET_HEADER_TYPE & 0xff;
			bool reusable;

			if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
				reusable = ws_pending_before_reuse(
					copy[i].dispatch.completion_signal.handle);
				watch(queue, &copy[i].dispatch, reusable);
			} else if (type == HSA_PACKET_TYPE_BARRIER_AND ||
				   type == HSA_PACKET_TYPE_BARRIER_OR) {
				ws_pending_before_reuse(copy[i].barrier.completion_signal.handle);
			}
		}
		write(copy, n_now);
		at += n_now;
	}
}

/* ---- queues ---- */

/* Under the lock. A place of a queue that is gone is used again, its id is not. */
static struct queue *new_queue(void)
{
	static uint32_t n_ids;
	struct queue *queue = NULL;

	if (!queues.all)
		queues.all = ws_pages(QUEUES_MAX * sizeof(*queues.all));
	for (uint32_t i = 0; queues.all && i < WS_MIN(queues.n + 1, QUEUES_MAX); i++) {
		if (!queues.all[i].handle) {
			queue = &queues.all[i];
			if (i == queues.n)
				queues.n++;
			break;
		}
	}
	if (queue) {
		memset(queue, 0, sizeof(*queue));
		queue->rec.h.tag = WS_REC_FIXED_TAG(QUEUE, struct ws_rec_queue);
		queue->rec.h.what = ++n_ids;
	}
	return queue;
}

static bool intercept(struct queue *queue, hsa_queue_t *handle)
{
	queue->ring = ws_pending_ring_create();
	return queue->ring &&
	       ws_hsa.hsa_amd_profiling_set_profiler_enabled(handle, 1) == HSA_STATUS_SUCCESS &&
	       ws_hsa.hsa_amd_queue_intercept_register(handle, on_packets, queue) ==
		       HSA_STATUS_SUCCESS;
}

static bool can_intercept(hsa_agent_t agent)
{
	return ws_asked(WS_SERVICE_KERNEL) && ws_hsa.hsa_amd_queue_intercept_create &&
	       ws_hsa.hsa_amd_queue_intercept_register && ws_hsa.hsa_amd_signal_create &&
	       ws_hsa.hsa_amd_profiling_get_dispatch_time &&
	       ws_agent_is_gpu(ws_agent_by_handle(agent.handle));
}

hsa_status_t ws_hsa_hook_hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
					  void (*callback)(hsa_status_t status, hsa_queue_t *source,
							   void *data),
					  void *data, uint32_t private_segment_size,
					  uint32_t group_segment_size, hsa_queue_t **out_queue)
{
	bool watched = can_intercept(agent);
	hsa_status_t status = HSA_STATUS_ERROR;
	int saved_errno = errno;
	struct ws_writer *writer;
	struct queue *queue;

	if (watched) {
		ws_pending_start();
		status = ws_hsa.hsa_amd_queue_intercept_create(agent, size, type, callback, data,
							       private_segment_size,
							       group_segment_size, out_queue);
		watched = status == HSA_STATUS_SUCCESS;
	}
	if (!watched)
		status = ws_hsa.hsa_queue_create(agent, size, type, callback, data,
						 private_segment_size, group_segment_size,
						 out_queue);
	if (status != HSA_STATUS_SUCCESS || !ws_agent_is_gpu(ws_agent_by_handle(agent.handle)))
		return status;

	writer = ws_capture(); /* before the lock: a fresh capture asks for the queues there are */
	ws_lock(&queues.lock);
	queue = new_queue();
	if (queue) {
		queue->handle = *out_queue;
		queue->agent = agent.handle;
		queue->rec.h.time = ws_ticks();
		queue->rec.hsa_id = (*out_queue)->id;
		queue->rec.address = (uint64_t)(uintptr_t)*out_queue;
		queue->rec.agent = ws_agent_by_handle(agent.handle);
		queue->rec.type = type;
		queue->rec.n_packets = (*out_queue)->size;
		if (writer)
			ws_writer_meta(writer, &queue->rec.h);
	}
	ws_unlock(&queues.lock);
	if (ws_asked(WS_SERVICE_KERNEL) && (!queue || !watched || !intercept(queue, *out_queue)))
		ws_note("a queue could not be intercepted: its kernels are not recorded");
	errno = saved_errno;
	return status;
}

static struct queue *find_queue(const hsa_queue_t *handle)
{
	for (uint32_t i = 0; i < queues.n; i++) {
		if (queues.all[i].handle == handle)
			return &queues.all[i];
	}
	return NULL;
}

hsa_status_t ws_hsa_hook_hsa_queue_destroy(hsa_queue_t *handle)
{
	struct ws_pending_ring *ring = NULL;
	hsa_status_t status;
	struct queue *queue;

	status = ws_hsa.hsa_queue_destroy(handle);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	ws_lock(&queues.lock);
	queue = find_queue(handle);
	if (queue) {
		ring = queue->ring;
		queue->ring = NULL;
		queue->handle = NULL;
	}
	ws_unlock(&queues.lock);
	ws_pending_ring_retire(ring);
	return status;
}

/* The program may switch its own use of the times off, but not ours. */
hsa_status_t ws_hsa_hook_hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *handle, int enable)
{
	struct queue *queue;

	ws_lock(&queues.lock);
	queue = find_queue(handle);
	if (queue && queue->ring)
		enable = 1;
	ws_unlock(&queues.lock);
	return ws_hsa.hsa_amd_profiling_set_profiler_enabled(handle, enable);
}

hsa_status_t ws_hsa_hook_hsa_signal_destroy(hsa_signal_t signal)
{
	if (!ws_pending_before_reuse(signal.handle))
		ws_pending_give_up(signal.handle);
	return ws_hsa.hsa_signal_destroy(signal);
}

/* ---- facts and ends ---- */

void ws_queues_state(struct ws_writer *writer)
{
	ws_lock(&queues.lock);
	for (uint32_t i = 0; i < queues.n; i++) {
		if (queues.all[i].handle)
			ws_writer_meta(writer, &queues.all[i].rec.h);
	}
	ws_unlock(&queues.lock);
}

void ws_queues_unload(void)
{
	ws_lock(&queues.lock);
	for (uint32_t i = 0; i < queues.n; i++) {
		queues.all[i].handle = NULL;
		queues.all[i].ring = NULL;
	}
	ws_unlock(&queues.lock);
}

void ws_queues_forked(void)
{
	queues.lock = (struct ws_lock){ 0 };
	queues.n_dispatches = 0;
}
