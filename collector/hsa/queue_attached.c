/*
 * queue_attached: queues that existed before an attach.
 *
 * They cannot be intercepted, and a real GPU does not report its kernels (queue_reported.c). But
 * the program rings the queue's doorbell through a function of the tables. At that moment the
 * packets are written and the GPU does not know of them yet. They are read and never changed, so
 * only packets with a completion signal of the program can be timed; the others are counted as
 * failed.
 */
#include "collector/hsa/queue_priv.h"

#include <errno.h>
#include <hsa/amd_hsa_signal.h>

static bool watching; /* there may be such queues */

void col_queues_attach(void)
{
	if (!col_gpu_reports())
		col_pending_start();
	__atomic_store_n(&watching,
			 !col_gpu_reports() && col_hsa.hsa_amd_profiling_get_dispatch_time != NULL,
			 __ATOMIC_RELAXED);
}

struct col_queue *col_queue_meet(hsa_queue_t *handle)
{
	struct col_queue *queue = col_queue_new();

	if (!queue)
		return NULL;
	queue->handle = handle;
	queue->plain = true;
	queue->rec.h.time = cap_ticks();
	queue->rec.hsa_id = handle->id;
	queue->rec.address = (uint64_t)(uintptr_t)handle;
	queue->rec.type = handle->type;
	queue->rec.n_packets = handle->size;
	return queue;
}

static void look_from(struct col_queue *queue, uint64_t index)
{
	/* Packets submitted now were written before times were requested. */
	queue->n_written = index + 1;
	queue->ring = col_pending_ring_create();
	col_hsa.hsa_amd_profiling_set_profiler_enabled(queue->handle, 1);
}

/* A queue does not say whose it is; where its kernels are does. */
static bool find_agent(struct col_queue *queue, uint64_t kernel_object)
{
	hsa_amd_pointer_info_t info = { .size = sizeof(info) };
	struct cap_writer *writer = col_capture_now();

	if (queue->agent)
		return true;
	if (!col_hsa.hsa_amd_pointer_info ||
	    col_hsa.hsa_amd_pointer_info((void *)(uintptr_t)kernel_object, &info, NULL, NULL,
					 NULL) != HSA_STATUS_SUCCESS ||
	    !col_agent_is_gpu(col_agent_by_handle(info.agentOwner.handle)))
		return false;
	queue->agent = info.agentOwner.handle;
	queue->rec.agent = col_agent_by_handle(queue->agent);
	if (writer)
		cap_writer_meta(writer, &queue->rec.h);
	col_scratch_queue(queue->handle, queue->rec.h.what, queue->rec.agent);
	return true;
}

static void look_at(struct col_queue *queue, const union col_packet *packet)
{
	union col_packet copy = *packet;
	uint64_t signal = copy.dispatch.completion_signal.handle;
	uint16_t type = copy.header >> HSA_PACKET_HEADER_TYPE & 0xff;
	bool reusable;

	if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
		if (type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR)
			col_pending_before_reuse(copy.barrier.completion_signal.handle);
		return;
	}
	reusable = col_pending_before_reuse(signal);
	/* A signal for several kernels has the times of the last one only. */
	if (!signal || !queue->ring || ((amd_signal_t *)(uintptr_t)signal)->value > 1 ||
	    !find_agent(queue, copy.dispatch.kernel_object)) {
		col_queue_count_lost();
		return;
	}
	col_queue_onlooking = true;
	col_queue_watch(queue, &copy.dispatch, reusable);
	col_queue_onlooking = false;
}

static void on_doorbell(hsa_queue_t *handle, uint64_t index)
{
	struct col_queue *queue;
	uint64_t at, read;

	col_lock(&col_queues_lock);
	queue = col_queue_find(handle);
	if (!queue)
		queue = col_queue_meet(handle);
	if (queue && queue->plain && !queue->ring)
		look_from(queue, index);
	if (queue && queue->plain) {
		read = col_hsa.hsa_queue_load_read_index_relaxed(handle);
		/* After a pause: what went by meanwhile has been overwritten. */
		at = queue->n_written + handle->size > index ? queue->n_written : index;
		for (; at <= index; at++) {
			const union col_packet *packet =
				(const union col_packet *)handle->base_address + at % handle->size;
			uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);

			if ((header >> HSA_PACKET_HEADER_TYPE & 0xff) != HSA_PACKET_TYPE_INVALID)
				look_at(queue, packet);
			else if (at >= read)
				break; /* another thread is writing it, and will ring, too */
		}
		queue->n_written = at;
	}
	col_unlock(&col_queues_lock);
}

/* A doorbell is rung, or a signal set up for its next use: its times are of the last one still. */
static void before_store(hsa_signal_t handle, hsa_signal_value_t value)
{
	const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle.handle;
	int saved_errno = errno;

	if (!__builtin_expect(watching, 0) || !(col_on(COL_SERVICE_KERNEL) || col_counting()))
		return;
	if (signal->kind == AMD_SIGNAL_KIND_DOORBELL ||
	    signal->kind == AMD_SIGNAL_KIND_LEGACY_DOORBELL)
		/* an amd_queue_t begins with the queue that programs have */
		on_doorbell((hsa_queue_t *)signal->queue_ptr, (uint64_t)value);
	else if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1)
		col_pending_before_reuse(handle.handle);
	errno = saved_errno;
}

#define STORE(name)                                                                                \
	void col_hsa_hook_##name(hsa_signal_t signal, hsa_signal_value_t value)                    \
	{                                                                                          \
		before_store(signal, value);                                                       \
		col_hsa.name(signal, value);                                                       \
	}
STORE(hsa_signal_store_relaxed)
STORE(hsa_signal_store_screlease)
STORE(hsa_signal_silent_store_relaxed)
STORE(hsa_signal_silent_store_screlease)
#undef STORE
