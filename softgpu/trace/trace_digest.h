/*
 * trace_digest: a 64-bit digest of a wave trace.
 *
 * Traces with the same digest are treated as equal. Nobody constructs collisions, and the chance of one
 * is 2^-64.
 */
#ifndef WS_SOFTGPU_TRACE_TRACE_DIGEST_H
#define WS_SOFTGPU_TRACE_TRACE_DIGEST_H

#include "softgpu/trace/wave_trace.h"

/* Extends the digest `before` (0: empty) by `size` bytes. */
uint64_t sg_digest(uint64_t before, const void *bytes, size_t size);
uint64_t sg_trace_digest(uint64_t before, const struct sg_wave_trace *trace);

/* Digests of the lists of distances that a wave has used, by place in its trace: most are used many times. */
#define SG_LIST_DIGESTS 8
struct sg_list_digests {
	uint32_t n_added; /* the newest eight are there */
	uint32_t at[SG_LIST_DIGESTS];
	uint64_t digest[SG_LIST_DIGESTS];
};

/* Of the list at this place, which is computed if it is not there. */
uint64_t sg_list_digest(struct sg_list_digests *lists, size_t at, const uint8_t *list, size_t size);

/* The place of the list in the arrays; SG_LIST_DIGESTS: it is not there. */
static inline uint32_t sg_list_digest_at(const struct sg_list_digests *lists, size_t at)
{
	uint32_t n = lists->n_added < SG_LIST_DIGESTS ? lists->n_added : SG_LIST_DIGESTS;

	for (uint32_t k = 0; k < n; k++)
		if (lists->at[k] == at)
			return k;
	return SG_LIST_DIGESTS;
}

/* A memory record of few bytes: what it has in common with others like it. */
struct sg_trace_short {
	enum sg_trace_form form; /* AFFINE or LIST32 */
	uint64_t base, digest;   /* digest: the stride, or of the list */
};

/* The next memory record, if it is short, without a mask, of this space, and its list is there. Does not advance. */
static inline bool sg_trace_short(const struct sg_trace_records *r, enum sg_trace_space space,
				  const struct sg_list_digests *lists, struct sg_trace_short *out)
{
	const uint8_t *record = r->bytes + r->at;
	uint32_t word, k; /* a stride, or the way back to a list */

	if (r->size - r->at < SG_TRACE_SHORT_BYTES)
		return false;
	memcpy(&out->base, record + 1, sizeof(out->base));
	memcpy(&word, record + 9, sizeof(word));
	out->digest = word;
	out->form = SG_TRACE_AFFINE;
	if (*record == (SG_TRACE_AFFINE | (int)space << 2))
		return true;
	if (*record != (SG_TRACE_LIKE | (int)space << 2))
		return false;
	k = sg_list_digest_at(lists, r->at - word);
	if (k == SG_LIST_DIGESTS)
		return false;
	out->form = SG_TRACE_LIST32;
	out->digest = lists->digest[k];
	return true;
}

/* The next memory record, if it is LIKE one before it, without a mask, of this space. Does not advance. */
bool sg_trace_like(const struct sg_trace_records *r, uint64_t exec, enum sg_trace_space space,
		   struct sg_list_digests *lists, struct sg_trace_short *out);

#endif
