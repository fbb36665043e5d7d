#include "collector/hsa/packet_queue.h"

#include "collector/hsa/hsa_priv.h"

#include <string.h>

#define PACKETS 64u

struct col_packet_queue {
	hsa_queue_t *queue;
	hsa_signal_t done;
};

struct col_packet_queue *col_packet_queue_create(uint32_t agent)
{
	hsa_agent_t gpu = { col_agent_facts(agent)->handle };
	struct col_packet_queue *q = col_pages(sizeof(*q));

	if (!q)
		return NULL;
	if (col_hsa.hsa_signal_create && col_hsa.hsa_queue_create &&
	    col_hsa.hsa_queue_add_write_index_relaxed && col_hsa.hsa_signal_wait_scacquire &&
	    col_hsa.hsa_signal_create(0, 0, NULL, &q->done) == HSA_STATUS_SUCCESS &&
	    col_hsa.hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				     UINT32_MAX, &q->queue) == HSA_STATUS_SUCCESS)
		return q;
	col_packet_queue_destroy(q);
	return NULL;
}

void col_packet_queue_destroy(struct col_packet_queue *q)
{
	if (!q)
		return;
	if (q->queue)
		col_hsa.hsa_queue_destroy(q->queue);
	if (q->done.handle)
		col_hsa.hsa_signal_destroy(q->done);
	col_pages_free(q, sizeof(*q));
}

bool col_packet_queue_run(struct col_packet_queue *q, const union col_aql_packet *packet,
			  uint64_t timeout_ns)
{
	uint64_t index = col_hsa.hsa_queue_add_write_index_relaxed(q->queue, 1);
	union col_aql_packet *at =
		(union col_aql_packet *)q->queue->base_address + (index & (q->queue->size - 1));
	uint64_t end_ns = col_now_ns() + timeout_ns;
	uint32_t first;

	/* The one before has ended, so that there is a free place. */
	col_hsa.hsa_signal_store_screlease(q->done, 1);
	memcpy(at->bytes + 4, packet->bytes + 4, sizeof(*at) - 4);
	at->completion = q->done.handle;
	memcpy(&first, packet->bytes, sizeof(first));
	first = (first & 0xffff0000u) | HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE |
		1u << HSA_PACKET_HEADER_BARRIER |
		HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
		HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
	__atomic_store_n((uint32_t *)at, first, __ATOMIC_RELEASE);
	col_hsa.hsa_signal_store_screlease(q->queue->doorbell_signal, (hsa_signal_value_t)index);
	while (col_now_ns() < end_ns) {
		/* its timeout is in ticks of a clock that differs between runtimes: a short one, again */
		if (col_hsa.hsa_signal_wait_scacquire(q->done, HSA_SIGNAL_CONDITION_LT, 1, 10000000,
						      HSA_WAIT_STATE_BLOCKED) < 1)
			return true;
	}
	return false;
}
