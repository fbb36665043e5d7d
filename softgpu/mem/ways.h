/*
 * ways: a byte for each way of a set of L2, so that all sixteen are compared at once.
 */
#ifndef WS_SOFTGPU_MEM_WAYS_H
#define WS_SOFTGPU_MEM_WAYS_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SG_L2_WAYS 16

#ifdef __SSE2__

/* A bit for each way with this value. */
static inline uint32_t sg_ways_equal(const uint8_t bytes[SG_L2_WAYS], uint8_t value)
{
	__m128i v = _mm_load_si128((const __m128i *)bytes);
	__m128i wanted = _mm_set1_epi32((int)(value * 0x01010101u));

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted));
}

/* A bit for each way whose byte has its upper bit set. */
static inline uint32_t sg_ways_upper(const uint8_t bytes[SG_L2_WAYS])
{
	return (uint32_t)_mm_movemask_epi8(_mm_load_si128((const __m128i *)bytes));
}

/* The halves of a vector of one, two, ... bytes change places, so that each byte becomes the smallest of all. */
static inline uint32_t sg_ways_first_least(__m128i v)
{
	__m128i least = _mm_min_epu8(v, _mm_shuffle_epi32(v, 0x4e));

	least = _mm_min_epu8(least, _mm_shuffle_epi32(least, 0xb1));
	least = _mm_min_epu8(least, _mm_shufflehi_epi16(_mm_shufflelo_epi16(least, 0xb1), 0xb1));
	least = _mm_min_epu8(least,
			     _mm_or_si128(_mm_slli_epi16(least, 8), _mm_srli_epi16(least, 8)));
	return (uint32_t)__builtin_ctz((uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, least)));
}

/* The first way with the smallest value. */
static inline uint32_t sg_ways_least(const uint8_t bytes[SG_L2_WAYS])
{
	return sg_ways_first_least(_mm_load_si128((const __m128i *)bytes));
}

/* The same, of those whose byte in `of` has its upper bit set. There is one, and the values are less than 255. */
static inline uint32_t sg_ways_least_of(const uint8_t bytes[SG_L2_WAYS],
					const uint8_t of[SG_L2_WAYS])
{
	__m128i v = _mm_load_si128((const __m128i *)bytes);
	__m128i others = _mm_cmpgt_epi8(_mm_load_si128((const __m128i *)of), _mm_set1_epi8(-1));

	return sg_ways_first_least(_mm_or_si128(v, others));
}

#else

static inline uint32_t sg_ways_equal(const uint8_t bytes[SG_L2_WAYS], uint8_t value)
{
	uint32_t bits = 0;

	for (unsigned w = 0; w < SG_L2_WAYS; w++)
		bits |= (uint32_t)(bytes[w] == value) << w;
	return bits;
}

static inline uint32_t sg_ways_upper(const uint8_t bytes[SG_L2_WAYS])
{
	uint32_t bits = 0;

	for (unsigned w = 0; w < SG_L2_WAYS; w++)
		bits |= (uint32_t)(bytes[w] >> 7) << w;
	return bits;
}

static inline uint32_t sg_ways_least(const uint8_t bytes[SG_L2_WAYS])
{
	uint32_t least = 0;

	for (unsigned w = 1; w < SG_L2_WAYS; w++)
		least = bytes[w] < bytes[least] ? w : least;
	return least;
}

static inline uint32_t sg_ways_least_of(const uint8_t bytes[SG_L2_WAYS],
					const uint8_t of[SG_L2_WAYS])
{
	uint32_t least = SG_L2_WAYS;

	for (unsigned w = 0; w < SG_L2_WAYS; w++)
		if (of[w] >> 7 && (least == SG_L2_WAYS || bytes[w] < bytes[least]))
			least = w;
	return least;
}

#endif

#endif
