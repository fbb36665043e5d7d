#include "softgpu/trace/trace_digest.h"

/* Odd, and with about as many ones as zeros: digits of pi. */
#define K0 0x243f6a8885a308d3ull
#define K1 0x13198a2e03707345ull
#define K2 0xa4093822299f31d1ull
#define K3 0x082efa98ec4e6c89ull

/* Every bit of both depends on every bit of the product's halves. */
static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t word(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t sg_digest(uint64_t before, const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint64_t a = before ^ K0, b = before ^ K1, tail[2] = { 0 };
	size_t left = size;

	/* two chains, since a multiplication takes longer than the next one has to wait */
	for (; left >= 32; left -= 32, p += 32) {
		a = fold(word(p) ^ a, word(p + 8) ^ K2);
		b = fold(word(p + 16) ^ b, word(p + 24) ^ K3);
	}
	if (left >= 16) {
		a = fold(word(p) ^ a, word(p + 8) ^ K2);
		left -= 16;
		p += 16;
	}
	if (left) /* nothing may be nowhere */
		memcpy(tail, p, left);
	b = fold(tail[0] ^ b, tail[1] ^ K3);
	return fold(a ^ K2, b ^ size ^ K3); /* K0 would undo the start where nothing came to a */
}

uint64_t sg_trace_digest(uint64_t before, const struct sg_wave_trace *trace)
{
	const uint64_t start[2] = { trace->entry, trace->exec };
	uint64_t digest = sg_digest(before, start, sizeof(start));

	digest = sg_digest(digest, trace->control.bytes, trace->control.size);
	return sg_digest(digest, trace->memory.bytes, trace->memory.size);
}

uint64_t sg_list_digest(struct sg_list_digests *lists, size_t at, const uint8_t *list, size_t size)
{
	uint32_t k = sg_list_digest_at(lists, at);

	if (k == SG_LIST_DIGESTS) {
		k = lists->n_added++ % SG_LIST_DIGESTS;
		lists->at[k] = (uint32_t)at;
		lists->digest[k] = sg_digest(0, list, size);
	}
	return lists->digest[k];
}

bool sg_trace_like(const struct sg_trace_records *r, uint64_t exec, enum sg_trace_space space,
		   struct sg_list_digests *lists, struct sg_trace_short *out)
{
	enum sg_trace_form form;
	const uint8_t *list;
	uint64_t mask, base;
	size_t size, end;

	if (r->at >= r->size || r->bytes[r->at] != (SG_TRACE_LIKE | (int)space << 2))
		return false;
	if (sg_trace_short(r, space, lists, out))
		return true;
	list = sg_trace_peek(r, exec, &mask, &base, &form, &size, &end);
	if (!list || list - r->bytes > UINT32_MAX)
		return false;
	*out = (struct sg_trace_short){ .form = SG_TRACE_LIST32,
					.base = base,
					.digest = sg_list_digest(lists, (size_t)(list - r->bytes),
								 list, size) };
	return true;
}
