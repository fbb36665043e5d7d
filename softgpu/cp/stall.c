#include "softgpu/cp/stall.h"

#include <stdio.h>

#include "softgpu/device/peek.h"

#define MAX_PACKETS 4096 /* that are looked through for who completes a signal */

static uint64_t load(_Atomic uint64_t *at)
{
	return atomic_load_explicit(at, memory_order_acquire);
}

bool sg_stall_at(const struct sg_queue *queue, uint64_t *out_index)
{
	uint64_t read = load(queue->desc.read_ptr);

	if (atomic_load(&queue->dispatching) || atomic_load(&queue->dying) ||
	    atomic_load(&queue->halted) || !atomic_load(&queue->active) ||
	    read >= load(queue->desc.write_ptr))
		return false;
	*out_index = read;
	return true;
}

static bool packet_of(const struct sg_queue *queue, uint64_t index, union sg_aql_packet *out)
{
	uint64_t n = queue->desc.size_bytes / sizeof(*out);

	return sg_peek_bytes((union sg_aql_packet *)queue->desc.ring + (index & (n - 1)), out,
			     sizeof(*out));
}

/* The completion signal is at the same place in every packet. */
static bool completes(const struct sg_queue *queue, uint64_t signal, uint64_t *out_index)
{
	uint64_t from = load(queue->desc.read_ptr), to = load(queue->desc.write_ptr);
	union sg_aql_packet packet;

	if (queue->desc.type != SG_QUEUE_AQL)
		return false;
	for (uint64_t i = from; i < to && i - from < MAX_PACKETS; i++) {
		if (packet_of(queue, i, &packet) &&
		    (packet.barrier.header & 0xff) != SG_AQL_INVALID &&
		    packet.barrier.completion == signal) {
			*out_index = i;
			return true;
		}
	}
	return false;
}

static int put_signal(const struct sg_queue *queue, uint64_t handle, const char *wanted, char *text,
		      size_t size)
{
	struct sg_amd_signal signal;
	uint64_t index;

	if (!sg_peek_bytes(sg_cp_pointer(queue->cp, handle), &signal, sizeof(signal)))
		return snprintf(text, size, "signal 0x%llx, which cannot be read",
				(unsigned long long)handle);
	for (const struct sg_queue *q = queue->cp->queues; q; q = q->next)
		if (completes(q, handle, &index))
			return snprintf(text, size,
					"signal 0x%llx, which is %lld and not %s: packet %llu of "
					"%s completes it",
					(unsigned long long)handle, (long long)signal.value, wanted,
					(unsigned long long)index,
					q == queue ? "the same queue" : "another queue");
	return snprintf(
		text, size,
		"signal 0x%llx, which is %lld and not %s: no packet in any queue completes it, "
		"so the program has to set it",
		(unsigned long long)handle, (long long)signal.value, wanted);
}

static bool is_zero(const struct sg_queue *queue, uint64_t handle)
{
	struct sg_amd_signal signal;

	return sg_peek_bytes(sg_cp_pointer(queue->cp, handle), &signal, sizeof(signal)) &&
	       signal.value == 0;
}

static void describe_barrier(const struct sg_queue *queue, const union sg_aql_packet *packet,
			     char *text, size_t size)
{
	bool all = (packet->barrier.header & 0xff) == SG_AQL_BARRIER_AND;
	int n = snprintf(text, size, "a barrier-%s waits for ", all ? "AND" : "OR");

	for (int i = 0; i < 5; i++)
		if (packet->barrier.signals[i] && !is_zero(queue, packet->barrier.signals[i])) {
			put_signal(queue, packet->barrier.signals[i], "0", text + n,
				   size - (size_t)n);
			return;
		}
}

static void describe_value(const struct sg_queue *queue, const union sg_aql_packet *packet,
			   char *text, size_t size)
{
	static const char *const conditions[] = { "", "other than ", "less than ", "at least " };
	int n = snprintf(text, size, "a barrier-value waits for ");
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "%s%lld",
		 packet->vendor.condition < 4 ? conditions[packet->vendor.condition] : "",
		 (long long)packet->vendor.value);
	put_signal(queue, packet->vendor.signal, wanted, text + n, size - (size_t)n);
}

static void describe_aql(const struct sg_queue *queue, char *text, size_t size)
{
	union sg_aql_packet packet;

	if (!packet_of(queue, load(queue->desc.read_ptr), &packet)) {
		snprintf(text, size, "a packet that cannot be read");
		return;
	}
	switch (packet.barrier.header & 0xff) {
	case SG_AQL_INVALID:
		snprintf(text, size,
			 "the packet was reserved, and the program never wrote its header");
		break;
	case SG_AQL_BARRIER_AND:
	case SG_AQL_BARRIER_OR:
		describe_barrier(queue, &packet, text, size);
		break;
	case SG_AQL_DISPATCH:
		snprintf(text, size,
			 "a kernel waits for scratch memory, which the runtime has to provide");
		break;
	default:
		describe_value(queue, &packet, text, size);
		break;
	}
}

static void describe_copy(const struct sg_queue *queue, char *text, size_t size)
{
	uint64_t at = load(queue->desc.read_ptr) & (queue->desc.size_bytes - 1) & ~3ull;
	uint32_t dw[6], value = 0;
	uint64_t address;

	if (at + sizeof(dw) > queue->desc.size_bytes ||
	    !sg_peek_bytes((uint8_t *)queue->desc.ring + at, dw, sizeof(dw)) ||
	    (dw[0] & 0xff) != 8) {
		snprintf(text, size, "a copy does not end");
		return;
	}
	address = dw[1] | (uint64_t)dw[2] << 32;
	sg_peek_bytes(sg_cp_pointer(queue->cp, address), &value, sizeof(value));
	snprintf(text, size, "a copy waits for 0x%llx, whose value is %u and is compared with %u",
		 (unsigned long long)address, value & dw[4], dw[3]);
}

void sg_stall_describe(const struct sg_queue *queue, char *text, size_t size)
{
	if (queue->desc.type == SG_QUEUE_AQL)
		describe_aql(queue, text, size);
	else
		describe_copy(queue, text, size);
}
