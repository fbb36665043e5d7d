/*
 * coalesce: from the addresses of a wave's lanes to requests and L1 accesses.
 *
 * The rules reproduce the recorded counts and AMD's formulas:
 *   request  one per lane; but four neighbouring lanes of up to 4 bytes each, within one line of 64
 *            bytes, are one (a fully coalesced instruction has 16)
 *   access   the distinct lines of each four requests, in order: one look-up in L1 each
 * So 64 lanes in order are 4 accesses for dwords, 16 for dwordx2 (recorded), 16 for dwordx4.
 */
#ifndef WS_SOFTGPU_MEM_COALESCE_H
#define WS_SOFTGPU_MEM_COALESCE_H

#include "softgpu/trace/wave_trace.h"

#define SG_MAX_ACCESSES 256 /* 64 lanes of 16 bytes across a line, or of 4 dwords of scratch */

struct sg_line_access {
	uint64_t line;  /* byte address / 64 */
	uint64_t bytes; /* which bytes of it */
};

struct sg_accesses {
	uint32_t n, n_requests;
	bool shared; /* lanes shared requests */
	/* Lanes in order: the access k is to line `first` + k / per_line, the k % per_line-th part of it, and at[] is
	 * not filled. 0: at[] has them. */
	uint8_t per_line;
	uint64_t first;
	struct sg_line_access at[SG_MAX_ACCESSES];
};

/* `in` may be expanded. */
void sg_coalesce(struct sg_trace_access *in, uint32_t bytes_per_lane, struct sg_accesses *out);

/* The access k of lanes in order. */
static inline struct sg_line_access sg_access_in_order(uint64_t first, uint32_t per_line,
						       uint32_t k)
{
	if (per_line == 1)
		return (struct sg_line_access){ first + k, ~0ull };
	return (struct sg_line_access){ first + k / 2, k & 1 ? ~0ull << 32 : 0xffffffff };
}

#endif
