/*
 * burst: requests of a vector memory pipeline for lines that follow each other, on their way to L2.
 */
#ifndef WS_SOFTGPU_TIMING_BURST_H
#define WS_SOFTGPU_TIMING_BURST_H

#include "softgpu/timing/model_priv.h"

struct sg_burst {
	uint64_t line, now; /* of the first one; 1/16 cycles */
	uint32_t n, lines;  /* how many requests, and of how many lines of 64 bytes each */
	uint32_t step;      /* 1/16 cycles */
	uint32_t slot;      /* reads: the first one's entry */
};

/* Who sends it. */
struct sg_sender {
	void *owner; /* what sg_request.owner is for this source */
	uint16_t source;
	uint8_t xcc;
	struct sg_memory_kind memory;
};

/* The requests are of one chunk of SG_CHUNK bytes. */
static inline struct sg_request sg_burst_request(const struct sg_model *m,
						 const struct sg_vmem_op *op,
						 const struct sg_sender *sender,
						 enum sg_req_kind kind, const struct sg_burst *b,
						 uint64_t bytes)
{
	return (struct sg_request){ .time = (b->now >> 4) + m->hw->request,
				    .addr = b->line << 6,
				    .bytes = bytes,
				    .owner = sender->owner,
				    .slot = b->slot,
				    .source = sender->source,
				    .kind = (uint8_t)kind,
				    .lines = (uint8_t)b->lines,
				    .memory = sender->memory,
				    .slc = op->slc,
				    .n_more = (uint8_t)(b->n - 1),
				    .step = (uint16_t)b->step };
}

static inline void sg_burst_send(struct sg_model *m, const struct sg_vmem_op *op,
				 const struct sg_sender *sender, enum sg_req_kind kind,
				 const struct sg_burst *b, uint64_t bytes)
{
	struct sg_request r = sg_burst_request(m, op, sender, kind, b, bytes);

	sg_tcc_send(&m->tcc, sender->xcc, &r);
}

/* A chunk has 128 bytes of one tag RAM, and then of the next: the first one, and how many requests it gets. */
#define SG_BURST_RAMS 4

static inline uint32_t sg_burst_ram(const struct sg_burst *b)
{
	return b->line >> 1 & (SG_BURST_RAMS - 1);
}

static inline uint32_t sg_burst_n_of_ram(const struct sg_burst *b)
{
	uint32_t n = (2 - (b->line & 1)) >> (b->lines - 1);

	return n < b->n ? n : b->n;
}

/* n: 1, or -1 to take them back. */
static inline void sg_burst_count_rams(struct sg_vmem_counts *counts, const struct sg_burst *b,
				       uint64_t n)
{
	uint64_t *rams = counts->tcp + SG_C_TCP_TAGRAM0_REQ;
	uint32_t ram = sg_burst_ram(b), of_ram = sg_burst_n_of_ram(b);

	rams[ram] += n * of_ram;
	rams[(ram + 1) % SG_BURST_RAMS] += n * (b->n - of_ram);
}

/* By the type of the memory, and the kind of request: they are in the same order for each type. */
static inline void sg_burst_count_type(struct sg_vmem_counts *counts, struct sg_memory_kind memory,
				       enum sg_req_kind kind, uint64_t n)
{
	static const uint16_t first[] = {
		[SG_MTYPE_RW] = SG_C_TCP_TCC_RW_READ_REQ,
		[SG_MTYPE_CC] = SG_C_TCP_TCC_CC_READ_REQ,
		[SG_MTYPE_NC] = SG_C_TCP_TCC_NC_READ_REQ,
		[SG_MTYPE_UC] = SG_C_TCP_TCC_UC_READ_REQ,
	};

	counts->tcp[first[memory.mtype] + kind - SG_REQ_READ] += n;
}

#endif
