#include "collector/hsa/own_queue.h"

#include <string.h>

#define AGENTS 65u /* by our ids, from 1 */
#define LOOK_NS 5000000ull

static struct {
	struct col_lock lock;
	hsa_queue_t *queues[AGENTS];
	uint32_t broken[AGENTS]; /* it reported an error */
	hsa_signal_t ended;
	bool waits; /* for `ended` */
	col_own_queue_failed *failed;
} own;

static void on_error(hsa_status_t status, hsa_queue_t *queue, void *data)
{
	uint32_t agent = (uint32_t)(uintptr_t)data;

	if (status == HSA_STATUS_SUCCESS)
		return;
	own.failed(agent, status);
	__atomic_store_n(&own.broken[agent], 1, __ATOMIC_RELEASE);
}

static void make_queue(uint32_t agent)
{
	hsa_agent_t handle = { col_agent_facts(agent)->handle };

	__atomic_store_n(&own.broken[agent], 0, __ATOMIC_RELEASE);
	if (col_hsa.hsa_queue_create(handle, COL_OWN_PACKETS, HSA_QUEUE_TYPE_SINGLE, on_error,
				     (void *)(uintptr_t)agent, UINT32_MAX, UINT32_MAX,
				     &own.queues[agent]) == HSA_STATUS_SUCCESS)
		col_hsa.hsa_amd_profiling_set_profiler_enabled(own.queues[agent], 1);
	else
		own.queues[agent] = NULL;
}

bool col_own_queue_ready(uint32_t agent, col_own_queue_failed *failed)
{
	bool ready;

	col_lock(&own.lock);
	own.failed = failed;
	if (!own.ended.handle &&
	    col_hsa.hsa_signal_create(1, 0, NULL, &own.ended) != HSA_STATUS_SUCCESS)
		own.ended.handle = 0;
	if (!own.queues[agent])
		make_queue(agent);
	ready = own.ended.handle && own.queues[agent];
	col_unlock(&own.lock);
	return ready;
}

void col_own_queue_put(uint32_t agent, const union col_packet *packet)
{
	hsa_queue_t *queue = own.queues[agent];
	union col_packet *to;
	uint64_t index;

	if (!own.waits)
		col_hsa.hsa_signal_store_screlease(own.ended, 1);
	own.waits = true;
	if (!queue)
		return; /* broken, and could not be made anew */
	index = col_hsa.hsa_queue_add_write_index_relaxed(queue, 1);
	to = (union col_packet *)queue->base_address + index % queue->size;
	/* The header last, with the word it is in: the packet processor may be reading. */
	memcpy((char *)to + sizeof(uint32_t), (const char *)packet + sizeof(uint32_t),
	       sizeof(*to) - sizeof(uint32_t));
	__atomic_store_n((uint32_t *)to, *(const uint32_t *)packet, __ATOMIC_RELEASE);
	col_hsa.hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

uint64_t col_own_queue_end(void)
{
	return own.ended.handle;
}

void col_own_queue_put_end(uint32_t agent)
{
	union col_packet end = { .barrier = {
					 .header = COL_PACKET_HEADER(HSA_PACKET_TYPE_BARRIER_AND),
					 .completion_signal = own.ended } };

	col_own_queue_put(agent, &end);
}

enum col_own_end col_own_queue_wait(uint32_t agent, const uint32_t *stop)
{
	own.waits = false;
	for (;;) {
		if (col_hsa.hsa_signal_wait_scacquire(own.ended, HSA_SIGNAL_CONDITION_LT, 1,
						      LOOK_NS, HSA_WAIT_STATE_BLOCKED) < 1)
			return COL_OWN_ENDED;
		if (stop && __atomic_load_n(stop, __ATOMIC_ACQUIRE))
			return COL_OWN_STOPPED;
		if (!own.queues[agent] || __atomic_load_n(&own.broken[agent], __ATOMIC_ACQUIRE))
			return COL_OWN_BROKEN;
	}
}

void col_own_queue_renew(uint32_t agent)
{
	col_lock(&own.lock);
	if (own.queues[agent])
		col_hsa.hsa_queue_destroy(own.queues[agent]);
	make_queue(agent);
	col_unlock(&own.lock);
}

/* Queues that are made again when they are needed; their scratch memory is the runtime's. */
void col_own_queue_close(void)
{
	col_lock(&own.lock);
	for (uint32_t i = 0; i < AGENTS; i++) {
		if (own.queues[i])
			col_hsa.hsa_queue_destroy(own.queues[i]);
		own.queues[i] = NULL;
	}
	col_unlock(&own.lock);
}

/* The signal goes with the runtime. */
void col_own_queue_unload(void)
{
	memset(&own, 0, sizeof(own));
}
