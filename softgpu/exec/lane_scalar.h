/*
 * lane_scalar: the functions that the result columns of sop1, sop2, sopc and sopk use.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_SCALAR_H
#define WS_SOFTGPU_EXEC_LANE_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* Two's complement, without the overflow that C leaves undefined. */
static inline int32_t s_add_i32(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t s_sub_i32(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a - (uint32_t)b);
}

static inline bool s_add_overflows(int32_t a, int32_t b)
{
	return __builtin_add_overflow_p(a, b, (int32_t)0);
}

static inline bool s_sub_overflows(int32_t a, int32_t b)
{
	return __builtin_sub_overflow_p(a, b, (int32_t)0);
}

static inline int32_t s_abs_i32(int32_t a)
{
	return a < 0 ? s_sub_i32(0, a) : a;
}

/* Bit field extract: position in bits 0-4 (0-5) of the second operand, width in bits 16-22. */
static inline uint32_t s_bfe_u32(uint32_t v, uint32_t field)
{
	uint32_t at = field & 31, width = field >> 16 & 0x7f;

	return (uint32_t)((v >> at) & (width < 32 ? (1u << width) - 1 : ~0u));
}

static inline int32_t s_bfe_i32(int32_t v, uint32_t field)
{
	uint32_t at = field & 31, width = field >> 16 & 0x7f;
	int32_t shifted = v >> at;

	if (width == 0)
		return 0;
	return width < 32 ? (int32_t)((uint32_t)shifted << (32 - width)) >> (32 - width) : shifted;
}

static inline uint64_t s_bfe_u64(uint64_t v, uint32_t field)
{
	uint32_t at = field & 63, width = field >> 16 & 0x7f;

	return (v >> at) & (width < 64 ? (1ull << width) - 1 : ~0ull);
}

static inline int64_t s_bfe_i64(int64_t v, uint32_t field)
{
	uint32_t at = field & 63, width = field >> 16 & 0x7f;
	int64_t shifted = v >> at;

	if (width == 0)
		return 0;
	return width < 64 ? (int64_t)((uint64_t)shifted << (64 - width)) >> (64 - width) : shifted;
}

static inline uint32_t s_brev_b32(uint32_t v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	return __builtin_bswap32(v);
}

static inline uint64_t s_brev_b64(uint64_t v)
{
	return (uint64_t)s_brev_b32((uint32_t)v) << 32 | s_brev_b32((uint32_t)(v >> 32));
}

/* Position of the lowest 1, -1 when there is none. */
static inline int32_t s_ff1(uint64_t v)
{
	return v ? __builtin_ctzll(v) : -1;
}

/* Zeros before the highest 1 of a word of that many bits, -1 when there is none. */
static inline int32_t s_flbit(uint64_t v, int bits)
{
	return v ? __builtin_clzll(v) - (64 - bits) : -1;
}

/* One bit per quad: whether any of its four is set. */
static inline uint64_t s_quadmask(uint64_t v)
{
	uint64_t any = (v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111ull;

	any = (any | any >> 3) & 0x0303030303030303ull;
	any = (any | any >> 6) & 0x000f000f000f000full;
	any = (any | any >> 12) & 0x000000ff000000ffull;
	return (any | any >> 24) & 0xffff;
}

/* Whole quad mode: all four when any of them is set. */
static inline uint64_t s_wqm(uint64_t v)
{
	return ((v | v >> 1 | v >> 2 | v >> 3) & 0x1111111111111111ull) * 15;
}

/* Every bit twice. */
static inline uint64_t s_bitreplicate(uint32_t v)
{
	uint64_t x = v;

	x = (x | x << 16) & 0x0000ffff0000ffffull;
	x = (x | x << 8) & 0x00ff00ff00ff00ffull;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
	x = (x | x << 2) & 0x3333333333333333ull;
	x = (x | x << 1) & 0x5555555555555555ull;
	return x | x << 1;
}

#endif
