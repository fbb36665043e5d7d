/*
 * request: requests of the caches of the shader engines to L2.
 *
 * Requests for lines that follow each other, which a CU sends at a steady rate, are one burst. It stays within what one
 * channel has in a row, SG_CHUNK bytes.
 */
#ifndef WS_SOFTGPU_MEM_REQUEST_H
#define WS_SOFTGPU_MEM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/mem/kind.h"

#define SG_NEVER UINT64_MAX
#define SG_CHANNEL_SHIFT 8 /* hw->channel_shift of all chips */
#define SG_CHUNK (1u << SG_CHANNEL_SHIFT)
#define SG_MAX_BURST (SG_CHUNK / 64)

enum sg_req_kind { SG_REQ_READ, SG_REQ_WRITE, SG_REQ_ATOMIC, SG_REQ_SCALAR, SG_REQ_INST };

/* What L2 can do at once. All but the first are plain: of a CU, for the GPU's own cached memory, and of all bytes if they write. */
enum sg_burst_shape {
	SG_BURST_OTHER,
	SG_BURST_READS,
	SG_BURST_WRITES,
	/* of all lines of a chunk */
	SG_BURST_READS_CHUNK,
	SG_BURST_WRITES_CHUNK,
	/* of its first 128 bytes by halves; of 128 bytes that may be the rest */
	SG_BURST_READS_HALVES,
	SG_BURST_READS_REST,
};

struct sg_request {
	uint64_t time;  /* of arrival at L2; of the first one */
	uint64_t addr;  /* of the first of `lines` lines of 64 bytes; of the first one */
	uint64_t bytes; /* writes: which bytes of each line */
	void *owner;    /* for the sender's answer function */
	uint32_t slot;
	uint16_t source; /* CU, or scalar cache from SG_SOURCE_SQC on */
	uint8_t shape;   /* enum sg_burst_shape, which follows from the others */
	uint8_t lines;   /* 1; reads: or 2 of one 128-byte line */
	uint8_t kind;    /* enum sg_req_kind */
	bool slc;
	struct sg_memory_kind memory;
	uint8_t n_more; /* of the burst: how many follow the first one */
	uint16_t step;  /* ...: 1/16 cycles from one to the next */
};
#define SG_SOURCE_SQC 0x8000
#define SG_SOURCE_NONE                                                                             \
	0x7fff /* nothing waits for the answers: their latency is added to *owner, a uint64_t */

/* When L2's answers to a burst arrive. */
struct sg_answers {
	uint64_t times[SG_MAX_BURST];
	uint64_t last, sum; /* of the times */
};

static inline enum sg_burst_shape sg_burst_shape_of(const struct sg_request *r)
{
	uint32_t n = r->n_more + 1u;

	if (r->slc || r->memory.mtype != SG_MTYPE_RW || r->memory.route != SG_ROUTE_OWN)
		return SG_BURST_OTHER;
	if (r->kind == SG_REQ_WRITE && r->bytes == ~0ull)
		return n == SG_MAX_BURST ? SG_BURST_WRITES_CHUNK : SG_BURST_WRITES;
	if (r->kind != SG_REQ_READ)
		return SG_BURST_OTHER;
	if (n * r->lines == SG_MAX_BURST)
		return SG_BURST_READS_CHUNK;
	if (n == 2 && !(r->addr & (SG_CHUNK - 1)))
		return SG_BURST_READS_HALVES;
	return n == 1 && r->lines == 2 ? SG_BURST_READS_REST : SG_BURST_READS;
}

/* When the k-th of a burst arrives. */
static inline uint64_t sg_request_time(const struct sg_request *r, uint32_t k)
{
	return r->time + (k * r->step >> 4);
}

/* The sum of the latencies of a burst's n requests, from the sender back to it; request: cycles from there to L2. */
static inline uint64_t sg_request_latency(const struct sg_request *r, const struct sg_answers *a,
					  uint32_t n, uint32_t request)
{
	return a->sum - n * (r->time - request) - (n * (n - 1) / 2 * r->step >> 4);
}

/* Cycles in which at least one interval was active, for the *_BUSY counters. Added in order of start. */
struct sg_busy {
	uint64_t until, cycles;
};

static inline void sg_busy_add(struct sg_busy *b, uint64_t from, uint64_t to)
{
	if (from < b->until)
		from = b->until;
	if (to > from) {
		b->cycles += to - from;
		b->until = to;
	}
}

#endif
