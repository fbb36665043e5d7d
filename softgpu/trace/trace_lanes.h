/*
 * trace_lanes: how the addresses of 64 lanes become a record of a wave trace.
 *
 * Loops over lanes that the compiler turns into vector code. The interpreter includes them in each of its
 * SIMD levels; wave_trace.c, for the tests, in none. All write the same bytes.
 *
 * Below, `only` is mask as a word per lane, 0 or ~0; NULL: all lanes are in mask. Whoever has a constant mask
 * and a constant NULL gets code without either, so these functions are always inline.
 */
#ifndef WS_SOFTGPU_TRACE_TRACE_LANES_H
#define WS_SOFTGPU_TRACE_TRACE_LANES_H

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "softgpu/trace/wave_trace.h"

#define SG_TRACE_INLINE static inline __attribute__((always_inline))

/* ---- records ---- */

/* wave_trace.c; false: no memory, and t->lost is set. */
bool sg_trace_grow(struct sg_wave_trace *t, struct sg_trace_stream *s, size_t *room, size_t size);

#define SG_TRACE_MOST_HEAD 9 /* bytes in front of the payload */
#define SG_TRACE_SHORT_PAYLOAD (SG_TRACE_SHORT_BYTES - 1)

/* For a record with a payload of so many bytes. */
static inline bool sg_trace_has_room(const struct sg_wave_trace *t, size_t payload)
{
	return t->memory_room - t->memory.size >= SG_TRACE_MOST_HEAD + payload;
}

/* Where the record's payload goes; there is room. */
static inline uint8_t *sg_trace_add(struct sg_wave_trace *t, enum sg_trace_form form,
				    enum sg_trace_space space, uint64_t mask, size_t payload)
{
	bool own = mask != t->exec_now;
	uint8_t *p = t->memory.bytes + t->memory.size;

	t->memory.size += 1 + (own ? 8 : 0) + payload;
	*p++ = (uint8_t)(form | space << 2 | own << 5);
	if (__builtin_expect(own, 0)) {
		memcpy(p, &mask, 8);
		p += 8;
	}
	return p;
}

static inline void sg_trace_add_affine(struct sg_wave_trace *t, enum sg_trace_space space,
				       uint64_t mask, uint64_t base, int32_t stride)
{
	uint8_t *p = sg_trace_add(t, SG_TRACE_AFFINE, space, mask, SG_TRACE_SHORT_PAYLOAD);

	memcpy(p, &base, 8);
	memcpy(p + 8, &stride, 4);
}

static inline void sg_trace_add_like(struct sg_wave_trace *t, enum sg_trace_space space,
				     uint64_t mask, uint64_t low, size_t list)
{
	uint32_t back = (uint32_t)(t->memory.size - list);
	uint8_t *p = sg_trace_add(t, SG_TRACE_LIKE, space, mask, SG_TRACE_SHORT_PAYLOAD);

	memcpy(p, &low, 8);
	memcpy(p + 8, &back, 4);
}

/* Makes it. False: the record is lost. */
static inline bool sg_trace_make_room(struct sg_wave_trace *t, size_t payload)
{
	return __builtin_expect(sg_trace_has_room(t, payload), 1) ||
	       sg_trace_grow(t, &t->memory, &t->memory_room, SG_TRACE_MOST_HEAD + payload);
}

/* The same as to add, with more room if it is needed. NULL: the record is lost. */
static inline uint8_t *sg_trace_put(struct sg_wave_trace *t, enum sg_trace_form form,
				    enum sg_trace_space space, uint64_t mask, size_t payload)
{
	return sg_trace_make_room(t, payload) ? sg_trace_add(t, form, space, mask, payload) : NULL;
}

static inline void sg_trace_put_affine(struct sg_wave_trace *t, enum sg_trace_space space,
				       uint64_t mask, uint64_t base, int32_t stride)
{
	if (sg_trace_make_room(t, SG_TRACE_SHORT_PAYLOAD))
		sg_trace_add_affine(t, space, mask, base, stride);
}

static inline void sg_trace_put_like(struct sg_wave_trace *t, enum sg_trace_space space,
				     uint64_t mask, uint64_t low, size_t list)
{
	if (sg_trace_make_room(t, SG_TRACE_SHORT_PAYLOAD))
		sg_trace_add_like(t, space, mask, low, list);
}

/* ---- addresses that rise evenly ---- */

SG_TRACE_INLINE unsigned sg_trace_first(uint64_t mask)
{
	return (unsigned)__builtin_ctzll(mask);
}

SG_TRACE_INLINE unsigned sg_trace_last(uint64_t mask)
{
	return 63 - (unsigned)__builtin_clzll(mask);
}

/* The stride that `apart`, the distance of the first two lanes of mask, suggests. False: none. */
SG_TRACE_INLINE bool sg_trace_stride(uint64_t mask, int64_t apart, int32_t *stride)
{
	uint64_t rest = mask & (mask - 1);
	int gap = (int)(sg_trace_first(rest) - sg_trace_first(mask));

	*stride = (int32_t)apart;
	if (gap == 1)
		return apart == *stride;
	*stride = (int32_t)(apart / gap);
	return apart == (int64_t)*stride * gap;
}

/*
 * Whether lane[l] is at + l * stride for all lanes. The compiler multiplies for each lane and reduces the differences step by
 * step: this is most of what it costs to record an access that rises evenly, and nearly all do.
 */
SG_TRACE_INLINE bool sg_trace_rises32(const uint32_t lane[64], uint32_t at, uint32_t stride)
{
#if defined(__AVX512F__)
	const __m512i n = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const __m512i step = _mm512_set1_epi32((int)(16 * stride));
	__m512i is = _mm512_add_epi32(_mm512_set1_epi32((int)at),
				      _mm512_mullo_epi32(n, _mm512_set1_epi32((int)stride)));
	__m512i differ = _mm512_setzero_si512();

	for (unsigned l = 0; l < 64; l += 16, is = _mm512_add_epi32(is, step))
		differ =
			_mm512_or_si512(differ, _mm512_xor_si512(_mm512_loadu_si512(lane + l), is));
	return !_mm512_test_epi32_mask(differ, differ);
#elif defined(__AVX2__)
	const __m256i n = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	const __m256i step = _mm256_set1_epi32((int)(8 * stride));
	__m256i is = _mm256_add_epi32(_mm256_set1_epi32((int)at),
				      _mm256_mullo_epi32(n, _mm256_set1_epi32((int)stride)));
	__m256i differ = _mm256_setzero_si256();

	for (unsigned l = 0; l < 64; l += 8, is = _mm256_add_epi32(is, step))
		differ = _mm256_or_si256(
			differ,
			_mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(lane + l)), is));
	return _mm256_testz_si256(differ, differ);
#else
	uint32_t differ = 0;

	for (unsigned l = 0; l < 64; l++)
		differ |= lane[l] ^ (at + l * stride);
	return !differ;
#endif
}

/* Whether the active lanes are in a row of numbers that does not wrap around; mask is not 0. */
SG_TRACE_INLINE bool sg_trace_even32(const uint32_t lane[64], uint64_t mask, const uint32_t *only,
				     int32_t *stride)
{
	unsigned first = sg_trace_first(mask), last = sg_trace_last(mask);
	uint32_t at, differ = 0;

	*stride = 0;
	if (first == last)
		return true;
	if (!sg_trace_stride(
		    mask, (int64_t)lane[sg_trace_first(mask & (mask - 1))] - (int64_t)lane[first],
		    stride) ||
	    lane[last] != lane[first] + (int64_t)*stride * (int)(last - first))
		return false;
	at = lane[first] - (uint32_t)*stride * first;
	if (!only)
		return sg_trace_rises32(lane, at, (uint32_t)*stride);
	for (unsigned l = 0; l < 64; l++)
		differ |= (lane[l] ^ (at + l * (uint32_t)*stride)) & only[l];
	return !differ;
}

SG_TRACE_INLINE bool sg_trace_equal32(const uint32_t lane[64], uint64_t mask, const uint32_t *only)
{
	uint32_t first = lane[sg_trace_first(mask)], differ = 0;

	if (!only)
		return sg_trace_rises32(lane, first, 0);
	for (unsigned l = 0; l < 64; l++)
		differ |= (lane[l] ^ first) & only[l];
	return !differ;
}

SG_TRACE_INLINE bool sg_trace_even64(const uint64_t addr[64], uint64_t mask, const uint32_t *only,
				     int32_t *stride)
{
	unsigned first = sg_trace_first(mask), last = sg_trace_last(mask);
	uint64_t at, differ = 0;

	*stride = 0;
	if (first == last)
		return true;
	if (!sg_trace_stride(mask, (int64_t)(addr[sg_trace_first(mask & (mask - 1))] - addr[first]),
			     stride) ||
	    addr[last] != addr[first] + (uint64_t)((int64_t)*stride * (int)(last - first)))
		return false;
	at = addr[first] - (uint64_t)((int64_t)*stride * (int)first);
	/* no product: SSE2 has none of 64 bits */
	for (unsigned l = 0; l < 64; l++, at += (uint64_t)(int64_t)*stride)
		differ |= (addr[l] ^ at) & (only ? (uint64_t)(int32_t)only[l] : ~0ull);
	return !differ;
}

/* ---- addresses that do not ---- */

static inline struct sg_trace_list *sg_trace_list_of(struct sg_trace_patterns *patterns,
						     unsigned reg)
{
	return &patterns->list[(reg ^ reg >> 4) % SG_TRACE_LISTS];
}

/* The list of this register, if it is in the stream, within reach, and of these lanes. */
SG_TRACE_INLINE const struct sg_trace_list *sg_trace_known(const struct sg_wave_trace *t,
							   unsigned reg, uint64_t mask)
{
	const struct sg_trace_list *list;

	if (!t->patterns)
		return NULL;
	list = sg_trace_list_of(t->patterns, reg);
	return t->patterns->written >> (list - t->patterns->list) & 1 && list->mask == mask &&
			       t->memory.size - list->at <= UINT32_MAX
		       ? list
		       : NULL;
}

SG_TRACE_INLINE bool sg_trace_like64(const struct sg_trace_list *list, const uint64_t addr[64],
				     const uint32_t *only, uint64_t *low)
{
	unsigned first = sg_trace_first(list->mask), last = sg_trace_last(list->mask);
	uint64_t differ = 0;

	*low = addr[first] - list->from_low[first];
	if (addr[last] - *low != list->from_low[last])
		return false;
	for (unsigned l = 0; l < 64; l++)
		differ |= (addr[l] - *low - list->from_low[l]) &
			  (only ? (uint64_t)(int32_t)only[l] : ~0ull);
	return !differ;
}

/* Whether lane[l] is from + from_low[l] for all lanes: see sg_trace_rises32(). */
SG_TRACE_INLINE bool sg_trace_moved32(const uint32_t lane[64], uint32_t from,
				      const uint32_t from_low[64])
{
#if defined(__AVX512F__)
	const __m512i by = _mm512_set1_epi32((int)from);
	__m512i differ = _mm512_setzero_si512();

	for (unsigned l = 0; l < 64; l += 16) {
		__m512i is = _mm512_add_epi32(_mm512_loadu_si512(from_low + l), by);

		differ =
			_mm512_or_si512(differ, _mm512_xor_si512(_mm512_loadu_si512(lane + l), is));
	}
	return !_mm512_test_epi32_mask(differ, differ);
#elif defined(__AVX2__)
	const __m256i by = _mm256_set1_epi32((int)from);
	__m256i differ = _mm256_setzero_si256();

	for (unsigned l = 0; l < 64; l += 8) {
		__m256i is = _mm256_loadu_si256((const __m256i *)(lane + l));
		__m256i was = _mm256_loadu_si256((const __m256i *)(from_low + l));

		differ = _mm256_or_si256(differ, _mm256_xor_si256(is, _mm256_add_epi32(was, by)));
	}
	return _mm256_testz_si256(differ, differ);
#else
	uint32_t differ = 0;

	for (unsigned l = 0; l < 64; l++)
		differ |= lane[l] ^ (from + from_low[l]);
	return !differ;
#endif
}

/* Of lane[l] + offset, which must not wrap around. */
SG_TRACE_INLINE bool sg_trace_like32(const struct sg_trace_list *list, const uint32_t lane[64],
				     uint32_t offset, const uint32_t *only, uint64_t *low)
{
	unsigned first = sg_trace_first(list->mask);
	uint32_t from = lane[first] - list->from_low[first], differ = 0;

	*low = (uint64_t)from + offset;
	if (lane[first] < list->from_low[first] || *low + list->span > UINT32_MAX)
		return false;
	if (!only)
		return sg_trace_moved32(lane, from, list->from_low);
	for (unsigned l = 0; l < 64; l++)
		differ |= (lane[l] - from - list->from_low[l]) & only[l];
	return !differ;
}

SG_TRACE_INLINE void sg_trace_limits(const uint64_t addr[64], uint64_t mask, const uint32_t *only,
				     uint64_t *out_low, uint64_t *out_high)
{
	uint64_t first = addr[sg_trace_first(mask)], low = first, high = first;

	for (unsigned l = 0; l < 64; l++) {
		uint64_t a = !only || only[l] ? addr[l] : first;

		low = a < low ? a : low;
		high = a > high ? a : high;
	}
	*out_low = low;
	*out_high = high;
}

static inline void sg_trace_put_list64(struct sg_wave_trace *t, enum sg_trace_space space,
				       uint64_t mask, const uint64_t addr[64])
{
	uint8_t *p = sg_trace_put(t, SG_TRACE_LIST64, space, mask,
				  8 * (size_t)__builtin_popcountll(mask));

	for (uint64_t m = p ? mask : 0; m; m &= m - 1, p += 8)
		memcpy(p, &addr[__builtin_ctzll(m)], 8);
}

SG_TRACE_INLINE void sg_trace_put_list(struct sg_wave_trace *t, unsigned reg,
				       enum sg_trace_space space, uint64_t mask,
				       const uint32_t *only, const uint64_t addr[64])
{
	struct sg_trace_list own, *list = t->patterns ? sg_trace_list_of(t->patterns, reg) : &own;
	size_t size = 4 * (size_t)__builtin_popcountll(mask);
	uint64_t low, high;
	uint8_t *p;

	sg_trace_limits(addr, mask, only, &low, &high);
	if (high - low > UINT32_MAX) {
		sg_trace_put_list64(t, space, mask, addr);
		return;
	}
	p = sg_trace_put(t, SG_TRACE_LIST32, space, mask, 8 + size);
	if (!p)
		return;
	memcpy(p, &low, 8);
	p += 8;
	for (unsigned l = 0; l < 64; l++)
		list->from_low[l] = (uint32_t)(addr[l] - low);
	list->mask = mask;
	list->span = high - low;
	list->at = t->memory.size - size;
	if (t->patterns)
		t->patterns->written |= 1u << (list - t->patterns->list);
	if (!only)
		memcpy(p, list->from_low, sizeof(list->from_low));
	else
		for (uint64_t m = mask; m; m &= m - 1, p += 4)
			memcpy(p, &list->from_low[__builtin_ctzll(m)], 4);
}

/* ---- an instruction ---- */

SG_TRACE_INLINE void sg_trace_put_lanes(struct sg_wave_trace *t, unsigned reg,
					enum sg_trace_space space, uint64_t mask,
					const uint32_t *only, const uint64_t addr[64])
{
	const struct sg_trace_list *list;
	int32_t stride;
	uint64_t low;

	if (!mask) {
		sg_trace_put_affine(t, space, 0, 0, 0);
	} else if (sg_trace_even64(addr, mask, only, &stride)) {
		unsigned first = sg_trace_first(mask);

		sg_trace_put_affine(t, space, mask,
				    addr[first] - (uint64_t)((int64_t)stride * (int)first), stride);
	} else {
		list = sg_trace_known(t, reg, mask);
		if (list && sg_trace_like64(list, addr, only, &low))
			sg_trace_put_like(t, space, mask, low, list->at);
		else
			sg_trace_put_list(t, reg, space, mask, only, addr);
	}
}

/*
 * Offset + lane[l], of 32 bits, that do not wrap around and are in a row or were written before; mask is not 0. False:
 * something else, or no room; and nothing was written.
 */
SG_TRACE_INLINE bool sg_trace_add_local(struct sg_wave_trace *t, unsigned reg, uint64_t mask,
					const uint32_t *only, const uint32_t lane[64],
					uint32_t offset)
{
	const struct sg_trace_list *list;
	int32_t stride;
	uint64_t low;

	if (!sg_trace_has_room(t, SG_TRACE_SHORT_PAYLOAD))
		return false;
	if (sg_trace_even32(lane, mask, only, &stride)) {
		unsigned first = sg_trace_first(mask), last = sg_trace_last(mask);
		uint32_t high = lane[first] > lane[last] ? lane[first] : lane[last];

		if (high <= UINT32_MAX - offset) {
			sg_trace_add_affine(t, SG_SPACE_LDS, mask,
					    (uint64_t)lane[first] + offset -
						    (uint64_t)((int64_t)stride * (int)first),
					    stride);
			return true;
		}
	}
	list = sg_trace_known(t, reg, mask);
	if (!list || !sg_trace_like32(list, lane, offset, only, &low))
		return false;
	sg_trace_add_like(t, SG_SPACE_LDS, mask, low, list->at);
	return true;
}

/* The same of any sums: each is computed. */
SG_TRACE_INLINE void sg_trace_put_local(struct sg_wave_trace *t, unsigned reg, uint64_t mask,
					const uint32_t *only, const uint32_t lane[64],
					uint32_t offset)
{
	uint64_t addr[64];

	if (mask && sg_trace_add_local(t, reg, mask, only, lane, offset))
		return;
	for (unsigned l = 0; l < 64; l++)
		addr[l] = offset + lane[l];
	sg_trace_put_lanes(t, reg, SG_SPACE_LDS, mask, only, addr);
}

#endif
