/*
 * lane_int: integer operations of one lane.
 *
 * Everything is branch-free and free of builtins that only some vector extensions have, so that a
 * loop over lanes becomes vector code at every level.
 */
#ifndef WS_SOFTGPU_EXEC_LANE_INT_H
#define WS_SOFTGPU_EXEC_LANE_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/exec/handler.h"

/* Always inlined: a call left in the loop over lanes would keep it from becoming vector code. */
#define LANE static inline __attribute__((always_inline))

/* cond ? a : b without a branch. For nested choices, which compilers turn into jumps otherwise. */
LANE uint32_t sel32(bool cond, uint32_t a, uint32_t b)
{
	return b ^ ((a ^ b) & (0 - (uint32_t)cond));
}

LANE uint64_t sel64(bool cond, uint64_t a, uint64_t b)
{
	return b ^ ((a ^ b) & (0 - (uint64_t)cond));
}

/* ---- saturation: what the clamp bit does to integers ---- */

LANE uint32_t sat_u32(uint64_t v)
{
	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

LANE int32_t sat_i32(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

LANE uint16_t sat_u16(int32_t v)
{
	return (uint16_t)(v > UINT16_MAX ? UINT16_MAX : v < 0 ? 0 : v);
}

LANE int16_t sat_i16(int32_t v)
{
	return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

LANE uint32_t sat_u8(int32_t v)
{
	return (uint32_t)(v > 255 ? 255 : v < 0 ? 0 : v);
}

LANE int32_t wrap_i32(int64_t v, bool clamp)
{
	return clamp ? sat_i32(v) : (int32_t)(uint32_t)v;
}

LANE uint32_t wrap_u32(uint64_t v, bool clamp)
{
	return clamp ? sat_u32(v) : (uint32_t)v;
}

LANE uint16_t wrap_u16(int32_t v, bool clamp)
{
	return clamp ? sat_u16(v) : (uint16_t)v;
}

LANE int16_t wrap_i16(int32_t v, bool clamp)
{
	return clamp ? sat_i16(v) : (int16_t)(uint16_t)v;
}

/* ---- add and subtract with carry ---- */

LANE uint32_t add_u32(uint32_t a, uint32_t b, bool clamp)
{
	uint32_t sum = a + b;

	return clamp && sum < a ? UINT32_MAX : sum;
}

LANE uint32_t sub_u32(uint32_t a, uint32_t b, bool clamp)
{
	return clamp && a < b ? 0 : a - b;
}

/* In 32 bits on purpose: 64-bit sums would halve the lanes of a vector. */
LANE uint32_t carry_of_add(uint32_t a, uint32_t b, uint32_t c)
{
	return ((a & b) | ((a | b) & ~(a + b + c))) >> 31;
}

LANE uint32_t borrow_of_sub(uint32_t a, uint32_t b, uint32_t c)
{
	return ((~a & b) | ((~a | b) & (a - b - c))) >> 31;
}

LANE uint32_t addc_u32(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	return clamp && carry_of_add(a, b, c) ? UINT32_MAX : a + b + c;
}

LANE uint32_t subb_u32(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	return clamp && borrow_of_sub(a, b, c) ? 0 : a - b - c;
}

LANE int32_t add_i32(int32_t a, int32_t b, bool clamp)
{
	uint32_t sum = (uint32_t)a + (uint32_t)b;
	uint32_t overflow = ((uint32_t)a ^ sum) & ((uint32_t)b ^ sum);

	return (int32_t)(clamp && overflow >> 31 ? (uint32_t)(a >> 31) ^ 0x7fffffffu : sum);
}

LANE int32_t sub_i32(int32_t a, int32_t b, bool clamp)
{
	uint32_t diff = (uint32_t)a - (uint32_t)b;
	uint32_t overflow = ((uint32_t)a ^ (uint32_t)b) & ((uint32_t)a ^ diff);

	return (int32_t)(clamp && overflow >> 31 ? (uint32_t)(a >> 31) ^ 0x7fffffffu : diff);
}

/* ---- multiply ---- */

LANE uint32_t mul_hi_u32(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}

LANE int32_t mul_hi_i32(int32_t a, int32_t b)
{
	return (int32_t)((uint64_t)((int64_t)a * b) >> 32);
}

LANE uint64_t mad_u64(uint32_t a, uint32_t b, uint64_t c, bool clamp)
{
	uint64_t sum = (uint64_t)a * b + c;

	return clamp && sum < c ? UINT64_MAX : sum;
}

LANE bool mad_u64_carry(uint32_t a, uint32_t b, uint64_t c)
{
	return (uint64_t)a * b + c < c;
}

LANE int64_t mad_i64(int32_t a, int32_t b, int64_t c, bool clamp)
{
	uint64_t product = (uint64_t)((int64_t)a * b), sum = product + (uint64_t)c;
	uint64_t overflow = (product ^ sum) & ((uint64_t)c ^ sum);

	return (int64_t)(clamp && overflow >> 63 ? (0 - ((uint64_t)c >> 63)) ^ INT64_MAX : sum);
}

/* Bit 64 of the sum of the sign-extended product and addend. */
LANE bool mad_i64_carry(int32_t a, int32_t b, int64_t c)
{
	uint64_t product = (uint64_t)((int64_t)a * b), sum = product + (uint64_t)c;
	uint64_t carry = (product & (uint64_t)c) | ((product | (uint64_t)c) & ~sum);

	return (product ^ (uint64_t)c ^ carry) >> 63;
}

/* ---- bits ---- */

LANE uint32_t bfe_u32(uint32_t v, uint32_t at, uint32_t width)
{
	width &= 31;
	return (v >> (at & 31)) & ((1u << width) - 1);
}

/* A field that sticks out at the top is as wide as what is left of the register. */
LANE int32_t bfe_i32(int32_t v, uint32_t at, uint32_t width)
{
	int32_t shifted = v >> (at & 31);
	uint32_t mask, sign;

	width &= 31;
	mask = (1u << width) - 1;
	sign = width ? 1u << (width - 1) : 0;
	return (int32_t)((((uint32_t)shifted & mask) ^ sign) - sign);
}

LANE uint32_t bcnt_u32(uint32_t v)
{
	v -= (v >> 1) & 0x55555555u;
	v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
	v = (v + (v >> 4)) & 0x0f0f0f0fu;
	v += v >> 8; /* by a multiplication compilers would know it, and use popcnt lane by lane */
	return (v + (v >> 16)) & 0x3f;
}

LANE uint32_t bfrev_b32(uint32_t v)
{
	v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
	v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
	v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
	v = (v >> 8 & 0x00ff00ffu) | (v & 0x00ff00ffu) << 8;
	return v >> 16 | v << 16;
}

/* Leading zeros of v != 0, from the exponent of its conversion to float. Dropping each bit below a
 * set one keeps the conversion from rounding up to the next power of two. */
LANE uint32_t clz_u32(uint32_t v)
{
	uint32_t top = v & ~(v >> 1);
	uint32_t exponent = sg_f32_bits((float)(int32_t)(top & 0x7fffffffu)) >> 23;

	return v >> 31 ? 0 : 158 - exponent;
}

LANE uint32_t ffbh_u32(uint32_t v)
{
	return v ? clz_u32(v) : UINT32_MAX;
}

LANE int32_t ffbh_i32(int32_t v)
{
	return (int32_t)ffbh_u32((uint32_t)(v ^ v >> 31));
}

LANE uint32_t ffbl_b32(uint32_t v)
{
	return v ? 31 - clz_u32(v & (0 - v)) : UINT32_MAX;
}

LANE uint32_t mbcnt_lo(uint32_t mask, unsigned lane)
{
	return bcnt_u32(mask & (lane < 32 ? (1u << (lane & 31)) - 1 : ~0u));
}

LANE uint32_t mbcnt_hi(uint32_t mask, unsigned lane)
{
	return bcnt_u32(mask & (lane < 32 ? 0 : (1u << (lane & 31)) - 1));
}

/* AVX2 has no arithmetic 64-bit shift: shift the signs in separately. */
LANE int64_t ashr_i64(int64_t v, uint32_t by)
{
	uint64_t u = (uint64_t)v, signs = 0 - (u >> 63);

	by &= 63;
	return (int64_t)(u >> by | (signs << 1) << (63 - by));
}

LANE uint32_t align_bits(uint32_t hi, uint32_t lo, uint32_t by)
{
	by &= 31;
	return lo >> by | (hi << 1) << (31 - by);
}

/* Selector bytes: 0-7 a byte of {a, b}, 8-11 a sign, 12 zero, above that ones. */
LANE uint32_t perm_byte(uint32_t a, uint32_t b, uint32_t selector)
{
	uint32_t at = (selector & 3) * 8, word = selector & 4 ? a : b;
	uint32_t sign_at = selector & 1 ? 31 : 15, sign_word = selector & 2 ? a : b;
	uint32_t sign = 0 - (sign_word >> sign_at & 1);
	uint32_t special = selector > 12 ? 0xff : selector == 12 ? 0 : sign;

	return (selector > 7 ? special : word >> at) & 0xff;
}

LANE uint32_t perm_b32(uint32_t a, uint32_t b, uint32_t selectors)
{
	return perm_byte(a, b, selectors & 0xff) | perm_byte(a, b, selectors >> 8 & 0xff) << 8 |
	       perm_byte(a, b, selectors >> 16 & 0xff) << 16 |
	       perm_byte(a, b, selectors >> 24) << 24;
}

/* Per byte (a + b + (c & 1)) / 2. */
LANE uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t low = ((a & b) | ((a | b) & c)) & 0x01010101u;

	return ((a >> 1) & 0x7f7f7f7fu) + ((b >> 1) & 0x7f7f7f7fu) + low;
}

/* ---- sums of absolute differences ---- */

LANE uint32_t absdiff_u32(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

LANE uint32_t sad4(uint32_t a, uint32_t b)
{
	return absdiff_u32(a & 0xff, b & 0xff) + absdiff_u32(a >> 8 & 0xff, b >> 8 & 0xff) +
	       absdiff_u32(a >> 16 & 0xff, b >> 16 & 0xff) + absdiff_u32(a >> 24, b >> 24);
}

/* Where the reference b has a zero byte the difference does not count. */
LANE uint32_t msad4(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (unsigned at = 0; at < 32; at += 8) {
		uint32_t byte = b >> at & 0xff;

		sum += byte ? absdiff_u32(a >> at & 0xff, byte) : 0;
	}
	return sum;
}

LANE uint32_t sad2_u16(uint32_t a, uint32_t b)
{
	return absdiff_u32(a & 0xffff, b & 0xffff) + absdiff_u32(a >> 16, b >> 16);
}

/* Four sums at byte offsets 0 to 3 of a, added to the 16-bit parts of c. */
#define SG_QSAD(name, sad)                                                                         \
	LANE uint64_t name(uint64_t a, uint32_t b, uint64_t c, bool clamp)                         \
	{                                                                                          \
		uint64_t out = 0;                                                                  \
		for (unsigned j = 0; j < 4; j++)                                                   \
			out |= (uint64_t)wrap_u16((int32_t)(sad((uint32_t)(a >> 8 * j), b) +       \
							    (c >> 16 * j & 0xffff)),               \
						  clamp)                                           \
			       << 16 * j;                                                          \
		return out;                                                                        \
	}
SG_QSAD(qsad_pk_u16, sad4)
SG_QSAD(mqsad_pk_u16, msad4)

/* ---- packed pairs of 16 bits ---- */

#define LO16(v) ((uint16_t)(v))
#define HI16(v) ((uint16_t)((v) >> 16))
#define PACK16(lo, hi) ((uint32_t)(uint16_t)(lo) | (uint32_t)(uint16_t)(hi) << 16)
/* fn(lanes' halves, more arguments) for both halves */
#define PK1(fn, a, ...) PACK16(fn(LO16(a), ##__VA_ARGS__), fn(HI16(a), ##__VA_ARGS__))
#define PK2(fn, a, b, ...)                                                                         \
	PACK16(fn(LO16(a), LO16(b), ##__VA_ARGS__), fn(HI16(a), HI16(b), ##__VA_ARGS__))
#define PK3(fn, a, b, c, ...)                                                                      \
	PACK16(fn(LO16(a), LO16(b), LO16(c), ##__VA_ARGS__),                                       \
	       fn(HI16(a), HI16(b), HI16(c), ##__VA_ARGS__))

LANE uint16_t add_u16(uint16_t a, uint16_t b, bool clamp)
{
	return wrap_u16(a + b, clamp);
}

LANE uint16_t sub_u16(uint16_t a, uint16_t b, bool clamp)
{
	return wrap_u16(a - b, clamp);
}

LANE int16_t add_i16(int16_t a, int16_t b, bool clamp)
{
	return wrap_i16(a + b, clamp);
}

LANE int16_t sub_i16(int16_t a, int16_t b, bool clamp)
{
	return wrap_i16(a - b, clamp);
}

LANE uint16_t mul_lo_u16(uint16_t a, uint16_t b)
{
	return (uint16_t)((uint32_t)a * b);
}

LANE uint16_t mad_u16(uint16_t a, uint16_t b, uint16_t c, bool clamp)
{
	uint32_t product = (uint32_t)a * b; /* plus c it still fits: 65535 * 65536 */

	return (uint16_t)(clamp && product + c > UINT16_MAX ? UINT16_MAX : product + c);
}

LANE int16_t mad_i16(int16_t a, int16_t b, int16_t c, bool clamp)
{
	return wrap_i16((int32_t)a * b + c, clamp);
}

/* By way of 32-bit values: there are no shifts of single 16-bit lanes below AVX-512. */
LANE int32_t ashr_i32(int32_t v, uint32_t by)
{
	return v >> by;
}

LANE uint16_t lshl_b16(uint16_t by, uint16_t v)
{
	return (uint16_t)((uint32_t)v << (by & 15));
}

LANE uint16_t lshr_b16(uint16_t by, uint16_t v)
{
	return (uint16_t)((uint32_t)v >> (by & 15));
}

LANE int16_t ashr_i16(uint16_t by, int16_t v)
{
	return (int16_t)(ashr_i32(v, by & 15));
}

#define SG_MIN_MAX(type, name)                                                                     \
	LANE type min_##name(type a, type b)                                                       \
	{                                                                                          \
		return a < b ? a : b;                                                              \
	}                                                                                          \
	LANE type max_##name(type a, type b)                                                       \
	{                                                                                          \
		return a > b ? a : b;                                                              \
	}                                                                                          \
	LANE type med3_##name(type a, type b, type c)                                              \
	{                                                                                          \
		return max_##name(min_##name(a, b), min_##name(max_##name(a, b), c));              \
	}
SG_MIN_MAX(uint16_t, u16)
SG_MIN_MAX(int16_t, i16)
SG_MIN_MAX(uint32_t, u32)
SG_MIN_MAX(int32_t, i32)

/* ---- dot products: exact sum, then wrapped or saturated ---- */

LANE int32_t dot2_i32(uint32_t a, uint32_t b, int32_t c, bool clamp)
{
	int64_t lo = (int16_t)a * (int16_t)b, hi = (int16_t)(a >> 16) * (int16_t)(b >> 16);

	return wrap_i32(lo + hi + c, clamp);
}

LANE uint32_t dot2_u32(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	uint64_t lo = (a & 0xffff) * (b & 0xffff), hi = (a >> 16) * (b >> 16);

	return wrap_u32(lo + hi + c, clamp);
}

LANE int32_t dot4_i32(uint32_t a, uint32_t b, int32_t c, bool clamp)
{
	int32_t sum = 0;

	for (unsigned at = 0; at < 32; at += 8)
		sum += (int8_t)(a >> at) * (int8_t)(b >> at);
	return add_i32(sum, c, clamp);
}

LANE uint32_t dot4_u32(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	uint32_t sum = 0;

	for (unsigned at = 0; at < 32; at += 8)
		sum += (a >> at & 0xff) * (b >> at & 0xff);
	return add_u32(sum, c, clamp);
}

LANE int32_t dot8_i32(uint32_t a, uint32_t b, int32_t c, bool clamp)
{
	int32_t sum = 0;

	for (unsigned at = 0; at < 32; at += 4)
		sum += ((int32_t)(a << (28 - at)) >> 28) * ((int32_t)(b << (28 - at)) >> 28);
	return add_i32(sum, c, clamp);
}

LANE uint32_t dot8_u32(uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
	uint32_t sum = 0;

	for (unsigned at = 0; at < 32; at += 4)
		sum += (a >> at & 0xf) * (b >> at & 0xf);
	return add_u32(sum, c, clamp);
}

#endif
