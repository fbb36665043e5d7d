/*
 * due: when each of up to sixteen waves, or SIMDs, is to be looked at next, in quad-cycles of a window.
 *
 * A byte each, so that all are compared at once: this is done for every quad-cycle of every SIMD. A load of all of them
 * waits until the host has written those that were stored last, one by one, to its cache. So a window, and a quad-cycle, load
 * them at the beginning (sg_due_bytes, struct sg_dues) and keep account of those that they change.
 */
#ifndef WS_SOFTGPU_TIMING_DUE_H
#define WS_SOFTGPU_TIMING_DUE_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
typedef __m128i sg_due_bytes;
#else
typedef struct {
	uint8_t at[16];
} sg_due_bytes;
#endif

#define SG_DUE_ROOM 16
#define SG_DUE_LATER 255 /* not in this window */

/* The byte for `time` in a window of cycles; times before it are due at once. */
static inline uint8_t sg_due_at(uint64_t time, uint64_t from, uint64_t end)
{
	if (time >= end)
		return SG_DUE_LATER;
	return time <= from ? 0 : (uint8_t)((time - from) / 4);
}

/* A copy of when they are due and of what kind they are. */
struct sg_dues {
	sg_due_bytes due, kinds;
};

#ifdef __SSE2__

static inline sg_due_bytes sg_due_load(const uint8_t due[SG_DUE_ROOM])
{
	return _mm_load_si128((const __m128i *)due);
}

/* With another value for one of them. */
static inline sg_due_bytes sg_due_with(sg_due_bytes v, uint32_t k, uint32_t value)
{
	static const uint8_t one[2 * SG_DUE_ROOM] = { [SG_DUE_ROOM] = 0xff };
	__m128i mask = _mm_loadu_si128((const __m128i *)(one + SG_DUE_ROOM - k));
	__m128i all = _mm_set1_epi8((char)value);

	return _mm_or_si128(_mm_andnot_si128(mask, v), _mm_and_si128(mask, all));
}

static inline uint32_t sg_due_min(sg_due_bytes v)
{
	v = _mm_min_epu8(v, _mm_srli_si128(v, 8));
	v = _mm_min_epu8(v, _mm_srli_si128(v, 4));
	v = _mm_min_epu8(v, _mm_srli_si128(v, 2));
	v = _mm_min_epu8(v, _mm_srli_si128(v, 1));
	return (uint32_t)_mm_cvtsi128_si32(v) & 0xff;
}

/* A bit for each that is due by then. */
static inline uint32_t sg_due_until(const uint8_t due[SG_DUE_ROOM], uint32_t until)
{
	__m128i v = _mm_load_si128((const __m128i *)due);
	__m128i late = _mm_subs_epu8(v, _mm_set1_epi8((char)until));

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(late, _mm_setzero_si128()));
}

/* A bit for each of this value. */
static inline uint32_t sg_due_equal(sg_due_bytes v, uint32_t value)
{
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)value)));
}

static inline struct sg_dues sg_dues_load(const uint8_t due[SG_DUE_ROOM],
					  const uint8_t kinds[SG_DUE_ROOM])
{
	return (struct sg_dues){ sg_due_load(due), sg_due_load(kinds) };
}

/* Takes those that are due by then: a bit for each. */
static inline uint32_t sg_dues_take(struct sg_dues *d, uint32_t until)
{
	__m128i late = _mm_subs_epu8(d->due, _mm_set1_epi8((char)until));
	__m128i taken = _mm_cmpeq_epi8(late, _mm_setzero_si128());

	d->due = _mm_or_si128(d->due, taken);
	return (uint32_t)_mm_movemask_epi8(taken);
}

/* A bit for each of this kind, whether taken or not. */
static inline uint32_t sg_dues_of(const struct sg_dues *d, uint32_t kind)
{
	return sg_due_equal(d->kinds, kind);
}

/* The earliest of those that were not taken. */
static inline uint32_t sg_dues_first(const struct sg_dues *d)
{
	return sg_due_min(d->due);
}

/* The same, without those after `own` that are of this kind. */
static inline uint32_t sg_dues_first_other(const struct sg_dues *d, uint32_t own, uint32_t kind)
{
	static const uint8_t ramp[2 * SG_DUE_ROOM] = { [SG_DUE_ROOM... 2 * SG_DUE_ROOM - 1] =
							       0xff };
	__m128i after = _mm_loadu_si128((const __m128i *)(ramp + SG_DUE_ROOM - 1 - own));
	__m128i same = _mm_cmpeq_epi8(d->kinds, _mm_set1_epi8((char)kind));

	return sg_due_min(_mm_or_si128(d->due, _mm_and_si128(same, after)));
}

#else

static inline sg_due_bytes sg_due_load(const uint8_t due[SG_DUE_ROOM])
{
	sg_due_bytes v;

	memcpy(v.at, due, sizeof(v.at));
	return v;
}

static inline sg_due_bytes sg_due_with(sg_due_bytes v, uint32_t k, uint32_t value)
{
	v.at[k] = (uint8_t)value;
	return v;
}

static inline uint32_t sg_due_min(sg_due_bytes v)
{
	uint32_t least = SG_DUE_LATER;

	for (unsigned k = 0; k < SG_DUE_ROOM; k++)
		least = v.at[k] < least ? v.at[k] : least;
	return least;
}

static inline uint32_t sg_due_until(const uint8_t due[SG_DUE_ROOM], uint32_t until)
{
	uint32_t bits = 0;

	for (unsigned k = 0; k < SG_DUE_ROOM; k++)
		bits |= (uint32_t)(due[k] <= until) << k;
	return bits;
}

static inline uint32_t sg_due_equal(sg_due_bytes v, uint32_t value)
{
	uint32_t bits = 0;

	for (unsigned k = 0; k < SG_DUE_ROOM; k++)
		bits |= (uint32_t)(v.at[k] == value) << k;
	return bits;
}

static inline struct sg_dues sg_dues_load(const uint8_t due[SG_DUE_ROOM],
					  const uint8_t kinds[SG_DUE_ROOM])
{
	return (struct sg_dues){ sg_due_load(due), sg_due_load(kinds) };
}

static inline uint32_t sg_dues_take(struct sg_dues *d, uint32_t until)
{
	uint32_t taken = sg_due_until(d->due.at, until);

	for (unsigned k = 0; k < SG_DUE_ROOM; k++)
		d->due.at[k] = taken >> k & 1 ? SG_DUE_LATER : d->due.at[k];
	return taken;
}

static inline uint32_t sg_dues_of(const struct sg_dues *d, uint32_t kind)
{
	return sg_due_equal(d->kinds, kind);
}

static inline uint32_t sg_dues_first(const struct sg_dues *d)
{
	return sg_due_min(d->due);
}

static inline uint32_t sg_dues_first_other(const struct sg_dues *d, uint32_t own, uint32_t kind)
{
	uint32_t least = SG_DUE_LATER;

	for (unsigned k = 0; k < SG_DUE_ROOM; k++)
		if (!(k > own && d->kinds.at[k] == kind))
			least = d->due.at[k] < least ? d->due.at[k] : least;
	return least;
}

#endif

#endif
