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

/*
 * The lines of an instruction's last access whose addresses are a list, if they are few. In a loop the list is
 * the same and all addresses are moved: if that is by whole lines, the lines move along.
 */
#define SG_MEMO_LINES 16
struct sg_lines_memo {
	uint64_t mask, digest; /* of lanes; of the list (trace_digest.h) */
	uint64_t reach;        /* from the lowest address to the highest */
	uint32_t from;         /* the lowest address, modulo 64 */
	uint32_t n, n_requests;
	bool shared;
	struct sg_line_access at[SG_MEMO_LINES]; /* from the line of the lowest address on */
};

/* At most SG_MEMO_LINES lines, of addresses from `from` to `last`. */
void sg_lines_keep(struct sg_lines_memo *memo, const struct sg_accesses *lines, uint64_t mask,
		   uint64_t digest, uint64_t from, uint64_t last);

/* The lines of an access from `from` on, if it is like the one of the memo and ends before `extent`. */
static inline bool sg_lines_again(const struct sg_lines_memo *memo, uint64_t mask, uint64_t digest,
				  uint64_t from, uint64_t extent, struct sg_accesses *out)
{
	if (memo->digest != digest || memo->mask != mask || memo->from != from % 64 ||
	    from >= extent || memo->reach >= extent - from)
		return false;
	out->n = memo->n;
	out->n_requests = memo->n_requests;
	out->shared = memo->shared;
	out->per_line = 0;
	for (uint32_t k = 0; k < memo->n; k++)
		out->at[k] =
			(struct sg_line_access){ memo->at[k].line + from / 64, memo->at[k].bytes };
	return true;
}

#endif
