/*
 * host.h: the meaning of what kernel.h takes from the GPU's builtins. Included by it alone.
 */
#ifndef WS_TESTS_COMPILED_HOST_H
#define WS_TESTS_COMPILED_HOST_H

/* A sum of product and addend in double, rounded to odd, rounds to half as the exact sum does. */
INLINE f16 fma_f16(f16 a, f16 b, f16 c)
{
	f64 p = (f64)(f32)a * (f64)(f32)b, d = (f64)(f32)c, s = p + d;
	f64 back = s - p, rest = (p - (s - back)) + (d - back);
	u64 bits = __builtin_bit_cast(u64, s);

	if (s - s == 0 && rest != 0 && !(bits & 1))
		s = __builtin_bit_cast(f64, (rest > 0) == (s > 0) ? bits + 1 : bits - 1);
	return (f16)s;
}
INLINE f16x2 fma_f16x2(f16x2 a, f16x2 b, f16x2 c)
{
	return f16x2{ fma_f16(a.x, b.x, c.x), fma_f16(a.y, b.y, c.y) };
}

#define BARRIER() fz_turn()
#define ITEM_X() fz_item(0)
#define ITEM_Y() fz_item(1)
#define GROUP() fz_item(2)
#define LANE() (fz_item(3) & 63)

#define READLANE(x, lane) (fz_wave(x)[lane])
#define READFIRST(x) (fz_wave(x)[0])
INLINE u32 BPERMUTE(u32 from, u32 x)
{
	return fz_wave(x)[from & 63];
}
INLINE u64 BALLOT(bool c)
{
	u32 *of = fz_wave(c);
	u64 mask = 0;

	for (int i = 0; i < 64; i++)
		mask |= (u64)(of[i] & 1) << i;
	return mask;
}
INLINE u32 MBCNT(u64 mask)
{
	return (u32)__builtin_popcountl(mask & ((1ul << LANE()) - 1));
}

/* The lane that DPP reads from, or -1 where there is none. */
INLINE int dpp_source(int lane, int ctrl)
{
	int row = lane & ~15, at = lane & 15, n = ctrl & 15;

	if (ctrl < 0x100)
		return (lane & ~3) | (ctrl >> 2 * (lane & 3) & 3);
	switch (ctrl & ~15) {
	case 0x100: /* row_shl */
		return at + n < 16 ? lane + n : -1;
	case 0x110: /* row_shr */
		return at - n >= 0 ? lane - n : -1;
	case 0x120: /* row_ror */
		return row | ((at - n) & 15);
	}
	switch (ctrl) {
	case 0x130: /* wave_shl:1 */
		return lane < 63 ? lane + 1 : -1;
	case 0x134: /* wave_rol:1 */
		return (lane + 1) & 63;
	case 0x138: /* wave_shr:1 */
		return lane - 1;
	case 0x13c: /* wave_ror:1 */
		return (lane - 1) & 63;
	case 0x140: /* row_mirror */
		return row | (15 - at);
	case 0x141: /* row_half_mirror */
		return (lane & ~7) | (7 - (lane & 7));
	case 0x142: /* row_bcast:15 */
		return row - 1;
	default: /* row_bcast:31 */
		return lane >= 32 ? 31 : -1;
	}
}
INLINE u32 DPP(u32 old, u32 x, int ctrl, int rows, int banks, bool bound)
{
	u32 *of = fz_wave(x);
	int lane = (int)LANE(), from = dpp_source(lane, ctrl);

	if (!(rows >> lane / 16 & 1) || !(banks >> lane % 16 / 4 & 1))
		return old;
	if (from < 0)
		return bound ? 0 : old;
	return of[from];
}
INLINE u32 SWIZZLE(u32 x, int pattern)
{
	u32 *of = fz_wave(x);
	int lane = (int)LANE();

	if (pattern & 0x8000)
		return of[(lane & ~3) | (pattern >> 2 * (lane & 3) & 3)];
	return of[(lane & 32) |
		  ((((lane & 31) & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31))];
}

INLINE u32 PERM(u32 a, u32 b, u32 s)
{
	u64 both = (u64)a << 32 | b;
	u32 v = 0;

	for (int i = 0; i < 32; i += 8) {
		u32 n = s >> i & 255, byte;

		if (n < 8)
			byte = (u32)(both >> 8 * n) & 255;
		else if (n < 12) /* the sign of one of the four halves */
			byte = (both >> (16 * (n - 8) + 15) & 1) ? 255 : 0;
		else
			byte = n == 12 ? 0 : 255;
		v |= byte << i;
	}
	return v;
}
INLINE u32 ALIGNBIT(u32 a, u32 b, u32 s)
{
	return (u32)(((u64)a << 32 | b) >> (s & 31));
}
INLINE u32 ALIGNBYTE(u32 a, u32 b, u32 s)
{
	return (u32)(((u64)a << 32 | b) >> 8 * (s & 3));
}
INLINE u32 sad_parts(u32 a, u32 b, u32 c, int width)
{
	for (int i = 0; i < 32; i += width) {
		u32 mask = (1u << width) - 1, x = a >> i & mask, y = b >> i & mask;

		c += x > y ? x - y : y - x;
	}
	return c;
}
#define SAD_U8(a, b, c) sad_parts(a, b, c, 8)
#define SAD_U16(a, b, c) sad_parts(a, b, c, 16)
INLINE u32 LERP(u32 a, u32 b, u32 c)
{
	u32 v = 0;

	for (int i = 0; i < 32; i += 8)
		v |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1) << i;
	return v;
}
INLINE f16 floor_f16(f16 x)
{
	return (f16)__builtin_floorf((f32)x);
}
INLINE f16 ceil_f16(f16 x)
{
	return (f16)__builtin_ceilf((f32)x);
}
INLINE f16 trunc_f16(f16 x)
{
	return (f16)__builtin_truncf((f32)x);
}
INLINE f16 rint_f16(f16 x)
{
	return (f16)__builtin_rintf((f32)x);
}
INLINE f16 min_f16(f16 a, f16 b)
{
	return (f16)(__builtin_fminf((f32)a, (f32)b) + 0.0f);
}
INLINE f16 max_f16(f16 a, f16 b)
{
	return (f16)(__builtin_fmaxf((f32)a, (f32)b) + 0.0f);
}
#define UBFE(x, at, width) bfe_u32(x, at, width)
INLINE i32 SBFE(i32 x, i32 at, i32 width)
{
	int o = at & 31, w = width & 31;

	if (!w)
		return 0;
	return o + w < 32 ? (i32)((u32)x << (32 - o - w)) >> (32 - w) : x >> o;
}
INLINE u32 SAD_HI_U8(u32 a, u32 b, u32 c)
{
	return (sad_parts(a, b, 0, 8) << 16) + c;
}
INLINE u32 MSAD_U8(u32 a, u32 b, u32 c)
{
	for (int i = 0; i < 32; i += 8) {
		u32 x = a >> i & 255, y = b >> i & 255;

		if (y)
			c += x > y ? x - y : y - x;
	}
	return c;
}
INLINE u32 UDOT2(u16x2 a, u16x2 b, u32 c)
{
	return (u32)a.x * b.x + (u32)a.y * b.y + c;
}
INLINE i32 SDOT2(i16x2 a, i16x2 b, i32 c)
{
	return (i32)((u32)(a.x * b.x) + (u32)(a.y * b.y) + (u32)c);
}
INLINE i32 SDOT8(i32 a, i32 b, i32 c)
{
	u32 sum = (u32)c;

	for (int i = 0; i < 32; i += 4)
		sum += (u32)(((i32)((u32)a << (28 - i)) >> 28) * ((i32)((u32)b << (28 - i)) >> 28));
	return (i32)sum;
}
INLINE u32 CVT_PK_I16(i32 a, i32 b)
{
	a = a < -32768 ? -32768 : a > 32767 ? 32767 : a;
	b = b < -32768 ? -32768 : b > 32767 ? 32767 : b;
	return (u32)(u16)a | (u32)(u16)b << 16;
}
INLINE u32 CVT_PK_U16(u32 a, u32 b)
{
	return (a > 65535 ? 65535 : a) | (b > 65535 ? 65535 : b) << 16;
}
INLINE f16 toward_zero(f32 x)
{
	f16 h = (f16)x;
	f32 far = __builtin_fabsf((f32)h);

	return far > __builtin_fabsf(x)
		       ? __builtin_bit_cast(f16, (u16)(__builtin_bit_cast(u16, h) - 1))
		       : h;
}
#define PKRTZ(a, b) (f16x2{ toward_zero(a), toward_zero(b) })
#define LDEXP_F16(x, e) ((f16)__builtin_ldexp((f64)(f32)(x), e))
#define CLASS_F16(x, mask) float_class<f32>((f32)(x), 0x1p-14f, mask)
#define UDOT4(a, b, c) dot_u8(a, b, c)
INLINE i32 SDOT4(i32 a, i32 b, i32 c)
{
	u32 sum = (u32)c;

	for (int i = 0; i < 32; i += 8)
		sum += (u32)((i32)(i8)((u32)a >> i) * (i32)(i8)((u32)b >> i));
	return (i32)sum;
}
INLINE u32 UDOT8(u32 a, u32 b, u32 c)
{
	for (int i = 0; i < 32; i += 4)
		c += (a >> i & 15) * (b >> i & 15);
	return c;
}
#define LDEXP_F32(x, e) __builtin_ldexpf(x, e)
#define LDEXP_F64(x, e) __builtin_ldexp(x, e)

/* bits of the mask: two NaNs, then -inf -normal -denormal -0 +0 +denormal +normal +inf */
template <class T> INLINE bool float_class(T x, T least_normal, int mask)
{
	T most = x < 0 ? -x : x;
	int at = most - most != 0 ? 7 : most >= least_normal ? 6 : most != 0 ? 5 : 4;

	if (x != x)
		return mask & 3;
	return mask >> 2 >> (__builtin_signbit(x) ? 7 - at : at) & 1;
}
#define CLASS_F32(x, mask) float_class<f32>(x, 0x1p-126f, mask)
#define CLASS_F64(x, mask) float_class<f64>(x, 0x1p-1022, mask)
template <class T> INLINE T split_float(T x, int *out_exponent)
{
	*out_exponent = 0;
	return x - x == 0 ? (T)__builtin_frexp(x, out_exponent) : x;
}
template <class T> INLINE int frexp_exponent(T x)
{
	int e;

	split_float(x, &e);
	return e;
}
template <class T> INLINE T frexp_mantissa(T x)
{
	int e;

	return split_float(x, &e);
}
#define FREXP_EXP_F32(x) frexp_exponent<f32>(x)
#define FREXP_EXP_F64(x) frexp_exponent<f64>(x)
#define FREXP_MANT_F32(x) frexp_mantissa<f32>(x)
#define FREXP_MANT_F64(x) frexp_mantissa<f64>(x)

/* Matrices of 16 x 16: register r of lane l is row l / 16 * 4 + r, column l % 16. */
INLINE u32x4 MFMA_I8(u32 a, u32 b, u32x4 c)
{
	const u32 *as = fz_wave(a);
	u32 lane = LANE(), rows[4][4];

	for (int r = 0; r < 4; r++)
		for (int k = 0; k < 4; k++)
			rows[r][k] = as[k * 16 + (lane / 16 * 4 + r)];
	const u32 *bs = fz_wave(b);
	for (int r = 0; r < 4; r++)
		for (int k = 0; k < 4; k++)
			c[r] = (u32)SDOT4((i32)rows[r][k], (i32)bs[k * 16 + lane % 16], (i32)c[r]);
	return c;
}
INLINE f32x4 MFMA_F32(f32 a, f32 b, f32x4 c)
{
	const u32 *as = fz_wave(__builtin_bit_cast(u32, a));
	u32 lane = LANE(), rows[4][4];

	for (int r = 0; r < 4; r++)
		for (int k = 0; k < 4; k++)
			rows[r][k] = as[k * 16 + (lane / 16 * 4 + r)];
	const u32 *bs = fz_wave(__builtin_bit_cast(u32, b));
	for (int r = 0; r < 4; r++)
		for (int k = 0; k < 4; k++)
			c[r] += __builtin_bit_cast(f32, rows[r][k]) *
				__builtin_bit_cast(f32, bs[k * 16 + lane % 16]);
	return c;
}

template <class T> INLINE void atomic_mul(T *p, T v)
{
	*p = (T)(*p * v);
}
INLINE void ATOMIC_INC(u32 *p, u32 limit)
{
	*p = *p >= limit ? 0 : *p + 1;
}
INLINE void ATOMIC_DEC(u32 *p, u32 limit)
{
	*p = !*p || *p > limit ? limit : *p - 1;
}
template <class T> INLINE T atomic_add(T *p, T v)
{
	T was = *p;
	*p = (T)(was + v);
	return was;
}
template <class T> INLINE T atomic_and(T *p, T v)
{
	T was = *p;
	*p = was & v;
	return was;
}
template <class T> INLINE T atomic_or(T *p, T v)
{
	T was = *p;
	*p = was | v;
	return was;
}
template <class T> INLINE T atomic_xor(T *p, T v)
{
	T was = *p;
	*p = was ^ v;
	return was;
}
template <class T> INLINE T atomic_min(T *p, T v)
{
	T was = *p;
	*p = v < was ? v : was;
	return was;
}
template <class T> INLINE T atomic_max(T *p, T v)
{
	T was = *p;
	*p = v > was ? v : was;
	return was;
}
#define ATOMIC(op, p, v) atomic_##op(p, v)

#endif
