#include "collector/hsa/own_queue.h"

#include "collector/hsa/queue_priv.h"

#include <string.h>

#define LOOK_TICKS 5000000ull /* of a clock that differs between runtimes */

struct col_own_queue {
	uint32_t agent;
	uint32_t broken;    /* it reported an error */
	hsa_queue_t *queue; /* NULL: broken, and could not be made again */
	hsa_signal_t ended;
	bool waits; /* for `ended` */
	col_own_queue_failed *failed;
};

static void on_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
	struct col_own_queue *q = data;

	if (status == HSA_STATUS_SUCCESS)
		return;
	if (q->failed)
		q->failed(q->agent, status);
	__atomic_store_n(&q->broken, 1, __ATOMIC_RELEASE);
}

static bool make_queue(struct col_own_queue *q)
{
	hsa_agent_t gpu = { col_agent_facts(q->agent)->handle };

	__atomic_store_n(&q->broken, 0, __ATOMIC_RELEASE);
	if (col_hsa.hsa_queue_create(gpu, COL_OWN_PACKETS, HSA_QUEUE_TYPE_SINGLE, on_error, q,
				     UINT32_MAX, UINT32_MAX, &q->queue) == HSA_STATUS_SUCCESS)
		col_hsa.hsa_amd_profiling_set_profiler_enabled(q->queue, 1);
	else
		q->queue = NULL;
	return q->queue != NULL;
}

struct col_own_queue *col_own_queue_create(uint32_t agent, col_own_queue_failed *failed)
{
	bool can = col_hsa.hsa_signal_create && col_hsa.hsa_queue_create &&
		   col_hsa.hsa_queue_add_write_index_relaxed && col_hsa.hsa_signal_wait_scacquire &&
		   col_hsa.hsa_amd_profiling_set_profiler_enabled;
	struct col_own_queue *q = can ? col_pages(sizeof(*q)) : NULL;

	if (!q)
		return NULL;
	q->agent = agent;
	q->failed = failed;
	if (col_hsa.hsa_signal_create(1, 0, NULL, &q->ended) != HSA_STATUS_SUCCESS)
		q->ended.handle = 0;
	if (q->ended.handle && make_queue(q))
		return q;
	col_own_queue_destroy(q);
	return NULL;
}

void col_own_queue_destroy(struct col_own_queue *q)
{
	if (!q)
		return;
	if (q->queue)
		col_hsa.hsa_queue_destroy(q->queue);
	if (q->ended.handle)
		col_hsa.hsa_signal_destroy(q->ended);
	col_own_queue_forget(q);
}

void col_own_queue_forget(struct col_own_queue *q)
{
	if (q)
		col_pages_free(q, sizeof(*q));
}

void col_own_queue_renew(struct col_own_queue *q)
{
	if (q->queue)
		col_hsa.hsa_queue_destroy(q->queue);
	make_queue(q);
}

uint32_t col_own_queue_agent(const struct col_own_queue *q)
{
	return q->agent;
}

void col_own_queue_put(struct col_own_queue *q, const union col_packet *packet)
{
	union col_packet *to;
	uint64_t index;

	if (!q->waits)
		col_hsa.hsa_signal_store_screlease(q->ended, 1);
	q->waits = true;
	if (!q->queue)
		return;
	index = col_hsa.hsa_queue_add_write_index_relaxed(q->queue, 1);
	to = (union col_packet *)q->queue->base_address + index % q->queue->size;
	/* The header last, with the word it is in: the packet processor may be reading. */
	memcpy((char *)to + sizeof(uint32_t), (const char *)packet + sizeof(uint32_t),
	       sizeof(*to) - sizeof(uint32_t));
	__atomic_store_n((uint32_t *)to, *(const uint32_t *)packet, __ATOMIC_RELEASE);
	col_hsa.hsa_signal_store_screlease(q->queue->doorbell_signal, (hsa_signal_value_t)index);
}

void col_own_queue_put_step(struct col_own_queue *q, const struct col_aql_packets *packets,
			    enum col_aql_step step, uint64_t completes)
{
	union col_packet packet;

	col_packet_of_step(&packet, packets, step, completes);
	col_own_queue_put(q, &packet);
}

uint64_t col_own_queue_end(const struct col_own_queue *q)
{
	return q->ended.handle;
}

void col_own_queue_put_end(struct col_own_queue *q)
{
	union col_packet end = { .barrier = {
					 .header = COL_PACKET_HEADER(HSA_PACKET_TYPE_BARRIER_AND),
					 .completion_signal = q->ended } };

	col_own_queue_put(q, &end);
}

enum col_own_end col_own_queue_wait(struct col_own_queue *q, const uint32_t *stop,
				    uint64_t timeout_ns)
{
	uint64_t begin_ns = col_now_ns();

	q->waits = false;
	for (;;) {
		if (col_hsa.hsa_signal_wait_scacquire(q->ended, HSA_SIGNAL_CONDITION_LT, 1,
						      LOOK_TICKS, HSA_WAIT_STATE_BLOCKED) < 1)
			return COL_OWN_ENDED;
		if (stop && __atomic_load_n(stop, __ATOMIC_ACQUIRE))
			return COL_OWN_STOPPED;
		if (!q->queue || __atomic_load_n(&q->broken, __ATOMIC_ACQUIRE))
			return COL_OWN_BROKEN;
		if (col_now_ns() - begin_ns >= timeout_ns)
			return COL_OWN_LATE;
	}
}
