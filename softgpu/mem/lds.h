/*
 * lds: cycles of an LDS instruction: 32 or 64 banks of 4 bytes, one access per bank and cycle.
 *
 * With 32 banks, 32 lanes of up to 4 bytes are served together, 16 of 8 bytes, 8 of 16: as many as 128 bytes
 * a cycle allow. 64 banks read twice as much; their writes and atomics are assumed to stay at 128 bytes. Lanes
 * that access the same dword share it. Lanes that access different dwords of one bank are served one after the
 * other, and the additional cycles are the bank conflict.
 *
 * Lanes that are served together are neighbours, except in reads of 16 bytes. There quads of lanes are together
 * that others measured on MI300X and MI350X, and that AMD's swizzled layouts rely on.
 */
#ifndef WS_SOFTGPU_MEM_LDS_H
#define WS_SOFTGPU_MEM_LDS_H

#include "softgpu/trace/timing_insn.h"
#include "softgpu/trace/trace_digest.h"
#include "softgpu/trace/wave_trace.h"

struct sg_lds_cost {
	uint32_t cycles;                                  /* in total */
	uint32_t bank_conflict, addr_conflict, unaligned; /* the part of each */
	uint32_t violations;                              /* lanes out of bounds */
};

#define SG_LDS_MAX_DWORDS                                                                          \
	(64u << 10) /* a power of two, and more than any GPU has; lanes beyond share them */

/* Which dwords lanes access at the same time: for sg_lds_cost() to use; all 0 before and after. */
struct sg_lds_seen {
	uint8_t dwords[SG_LDS_MAX_DWORDS];
};

/* The LDS of a workgroup */
struct sg_lds {
	uint32_t bytes;   /* lanes beyond are violations; 0: not checked */
	uint32_t n_banks; /* 32 or 64 */
	struct sg_lds_seen *seen;
};

#define SG_LDS_BANKS 64               /* at most */
#define SG_LDS_ROW (4 * SG_LDS_BANKS) /* bytes; a multiple of what any number of banks has */

/* The cost of an instruction's last access. Adding a multiple of a row to all addresses does not change the cost, so in
 * a loop nearly every access equals the one before. */
struct sg_lds_memo {
	struct sg_lds_cost cost;
	uint64_t mask, reach; /* reach: from the base to the last byte */
	uint64_t digest;      /* of the distances between lanes (trace_digest.h) */
	uint32_t base;        /* modulo SG_LDS_ROW */
	uint8_t form;
	bool is_set;
};

/* As below, for the next access in the trace. False: the trace is damaged. */
bool sg_lds_next(struct sg_trace_records *r, uint64_t exec, const struct sg_timing_insn *inst,
		 const struct sg_lds *lds, struct sg_lds_memo *memo, struct sg_list_digests *lists,
		 struct sg_lds_cost *out);

/*
 * The next access, if it costs as much as the instruction's last one, which is in memo->cost, and the trace says so in
 * few bytes: most do. False: sg_lds_next() has to look at it.
 */
static inline bool sg_lds_again(struct sg_trace_records *r, uint64_t exec, const struct sg_lds *lds,
				const struct sg_lds_memo *memo, const struct sg_list_digests *lists)
{
	struct sg_trace_short next;

	if (!sg_trace_short(r, SG_SPACE_LDS, lists, &next) || next.form != memo->form)
		return false;
	if (!memo->is_set || memo->digest != next.digest || memo->mask != exec ||
	    next.base % SG_LDS_ROW != memo->base || next.base + memo->reach > lds->bytes)
		return false;
	r->at += SG_TRACE_SHORT_BYTES;
	return true;
}

/* All addresses are in in->addr. */
struct sg_lds_cost sg_lds_cost(const struct sg_trace_access *in, const struct sg_timing_insn *inst,
			       const struct sg_lds *lds);

#endif
