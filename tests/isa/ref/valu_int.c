/* Integer and bit operations of one lane. */
#include "tests/isa/ref/ref.h"

#define S0 ((uint32_t)in->s[0])
#define S1 ((uint32_t)in->s[1])
#define S2 ((uint32_t)in->s[2])
#define H0 ((uint16_t)in->s[0])
#define H1 ((uint16_t)in->s[1])
#define H2 ((uint16_t)in->s[2])

/* name: out->d = expression */
#define ROW(name, expression)                                                                      \
	static void name(in_t *in, out_t *out)                                                     \
	{                                                                                          \
		out->d = (uint64_t)(expression);                                                   \
	}

static int64_t signed_24(uint32_t x)
{
	return (int32_t)(x << 8) >> 8;
}
static int64_t low_24(uint32_t x)
{
	return x & 0xffffff;
}

/* The result of exact arithmetic in a register of `bits`: saturated if clamp is on, else cut off. */
static uint64_t fit(__int128 v, unsigned bits, bool is_signed, bool clamp)
{
	__int128 high = is_signed ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
	__int128 low = is_signed ? -high - 1 : 0;
	uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;

	if (clamp)
		v = v > high ? high : v < low ? low : v;
	return (uint64_t)v & mask;
}

#define FIT(name, bits, is_signed, expression)                                                     \
	ROW(name, fit((expression), bits, is_signed, in->clamp))

/* --- moves and logic --------------------------------------------------------------------------- */

ROW(mov, S0)
ROW(cndmask, in->ci ? S1 : S0)
ROW(not1, ~S0)
ROW(and2, S0 &S1)
ROW(or2, S0 | S1)
ROW(xor2, S0 ^ S1)
ROW(xnor2, ~(S0 ^ S1))
ROW(and_or, (S0 & S1) | S2)
ROW(or3, S0 | S1 | S2)
ROW(xad, (uint32_t)((S0 ^ S1) + S2))
ROW(bfi, (S0 & S1) | (~S0 & S2))
ROW(bfm, ((1u << (S0 & 31)) - 1) << (S1 & 31))
ROW(bfe_u32, S0 >> (S1 & 31) & ((1u << (S2 & 31)) - 1))

static void bfe_i32(in_t *in, out_t *out)
{
	unsigned width = S2 & 31;
	int32_t field = (int32_t)S0 >> (S1 & 31);

	out->d = width ? (uint32_t)((int32_t)((uint32_t)field << (32 - width)) >> (32 - width)) : 0;
}

static void bfrev(in_t *in, out_t *out)
{
	for (int i = 0; i < 32; i++)
		out->d |= (uint64_t)(S0 >> i & 1) << (31 - i);
}

static uint32_t count_ones(uint32_t x)
{
	uint32_t n = 0;

	for (; x; x >>= 1)
		n += x & 1;
	return n;
}

ROW(bcnt, (uint32_t)(count_ones(S0) + S1))
/* lanes below this one, as a mask: its lower and upper half */
ROW(mbcnt_lo, (uint32_t)(count_ones(S0 &(uint32_t)((1ull << in->lane) - 1)) + S1))
ROW(mbcnt_hi, (uint32_t)(count_ones(S0 &(uint32_t)(((1ull << in->lane) - 1) >> 32)) + S1))

static void ffbh_u32(in_t *in, out_t *out)
{
	out->d = UINT32_MAX;
	for (int i = 31; i >= 0; i--)
		if (S0 >> i & 1) {
			out->d = (uint32_t)(31 - i);
			return;
		}
}

static void ffbl(in_t *in, out_t *out)
{
	out->d = UINT32_MAX;
	for (uint32_t i = 0; i < 32; i++)
		if (S0 >> i & 1) {
			out->d = i;
			return;
		}
}

static void ffbh_i32(in_t *in, out_t *out)
{
	out->d = UINT32_MAX;
	for (int i = 30; i >= 0; i--)
		if ((S0 >> i & 1) != S0 >> 31) {
			out->d = (uint32_t)(31 - i);
			return;
		}
}

/* --- shifts ------------------------------------------------------------------------------------ */

ROW(lshlrev_b32, S1 << (S0 & 31))
ROW(lshrrev_b32, S1 >> (S0 & 31))
ROW(ashrrev_i32, (uint32_t)((int32_t)S1 >> (S0 & 31)))
ROW(lshlrev_b16, (uint16_t)(H1 << (S0 & 15)))
ROW(lshrrev_b16, H1 >> (S0 & 15))
ROW(ashrrev_i16, (uint16_t)((int16_t)H1 >> (S0 & 15)))
ROW(lshlrev_b64, in->s[1] << (S0 & 63))
ROW(mov_b64, in->s[0])
ROW(lshl_add_u64, in->s[0] * (1u << (S1 & 7)) + in->s[2])
ROW(lshrrev_b64, in->s[1] >> (S0 & 63))
ROW(ashrrev_i64, (int64_t)in->s[1] >> (S0 & 63))
ROW(lshl_add, (uint32_t)((S0 << (S1 & 31)) + S2))
ROW(add_lshl, (uint32_t)((S0 + S1) << (S2 & 31)))
ROW(lshl_or, (S0 << (S1 & 31)) | S2)
ROW(alignbit, (uint32_t)(((uint64_t)S0 << 32 | S1) >> (S2 & 31)))
ROW(alignbyte, (uint32_t)(((uint64_t)S0 << 32 | S1) >> 8 * (S2 & 3)))

/* --- add and subtract -------------------------------------------------------------------------- */

#define WIDE(x) ((__int128)(x))
FIT(add_u32, 32, false, WIDE(S0) + S1)
FIT(sub_u32, 32, false, WIDE(S0) - S1)
FIT(subrev_u32, 32, false, WIDE(S1) - S0)
FIT(add_i32, 32, true, WIDE((int32_t)S0) + (int32_t)S1)
FIT(sub_i32, 32, true, WIDE((int32_t)S0) - (int32_t)S1)
FIT(add_u16, 16, false, WIDE(H0) + H1)
FIT(sub_u16, 16, false, WIDE(H0) - H1)
FIT(subrev_u16, 16, false, WIDE(H1) - H0)
FIT(add_i16, 16, true, WIDE((int16_t)H0) + (int16_t)H1)
FIT(sub_i16, 16, true, WIDE((int16_t)H0) - (int16_t)H1)
ROW(add3, (uint32_t)(S0 + S1 + S2))

static void carry(in_t *in, out_t *out, __int128 v)
{
	out->d = fit(v, 32, false, in->clamp);
	out->co = v < 0 || v > UINT32_MAX;
}

static void add_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S0) + S1);
}
static void sub_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S0) - S1);
}
static void subrev_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S1) - S0);
}
static void addc_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S0) + S1 + in->ci);
}
static void subb_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S0) - S1 - in->ci);
}
static void subbrev_co(in_t *in, out_t *out)
{
	carry(in, out, WIDE(S1) - S0 - in->ci);
}

/* --- multiply ---------------------------------------------------------------------------------- */

ROW(mul_lo_u32, (uint32_t)(S0 *S1))
ROW(mul_hi_u32, (uint64_t)S0 *S1 >> 32)
ROW(mul_hi_i32, (uint32_t)((int64_t)(int32_t)S0 *(int32_t)S1 >> 32))
ROW(mul_i24, (uint32_t)(signed_24(S0) * signed_24(S1)))
ROW(mul_hi_i24, (uint32_t)(signed_24(S0) * signed_24(S1) >> 32))
ROW(mul_u24, (uint32_t)(low_24(S0) * low_24(S1)))
ROW(mul_hi_u24, (uint32_t)(low_24(S0) * low_24(S1) >> 32))
ROW(mul_lo_u16, (uint16_t)((uint32_t)H0 *H1))
FIT(mad_i24, 32, true, WIDE(signed_24(S0)) * signed_24(S1) + (int32_t)S2)
FIT(mad_u24, 32, false, WIDE(low_24(S0)) * low_24(S1) + S2)
FIT(mad_u16, 16, false, WIDE(H0) * H1 + H2)
FIT(mad_i16, 16, true, WIDE((int16_t)H0) * (int16_t)H1 + (int16_t)H2)
FIT(mad_u32_u16, 32, false, WIDE(H0) * H1 + S2)
FIT(mad_i32_i16, 32, true, WIDE((int16_t)H0) * (int16_t)H1 + (int32_t)S2)

static void mad_u64_u32(in_t *in, out_t *out)
{
	unsigned __int128 v = (unsigned __int128)S0 * S1 + in->s[2];

	out->d = in->clamp && v >> 64 ? UINT64_MAX : (uint64_t)v;
	out->co = v >> 64;
}

static void mad_i64_i32(in_t *in, out_t *out) /* a 65-bit signed sum; its top bit is the carry */
{
	__int128 v = WIDE((int32_t)S0) * (int32_t)S1 + (int64_t)in->s[2];

	out->d = fit(v, 64, true, in->clamp);
	out->co = v < 0;
}

/* --- minimum, maximum, median ------------------------------------------------------------------ */

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ORDERED(suffix, type, mask)                                                                \
	static type first_##suffix(in_t *in)                                                       \
	{                                                                                          \
		return (type)in->s[0];                                                             \
	}                                                                                          \
	static type second_##suffix(in_t *in)                                                      \
	{                                                                                          \
		return (type)in->s[1];                                                             \
	}                                                                                          \
	static type third_##suffix(in_t *in)                                                       \
	{                                                                                          \
		return (type)in->s[2];                                                             \
	}                                                                                          \
	ROW(min_##suffix, MIN(first_##suffix(in), second_##suffix(in)) & (mask))                   \
	ROW(max_##suffix, MAX(first_##suffix(in), second_##suffix(in)) & (mask))                   \
	ROW(min3_##suffix,                                                                         \
	    MIN(MIN(first_##suffix(in), second_##suffix(in)), third_##suffix(in)) & (mask))        \
	ROW(max3_##suffix,                                                                         \
	    MAX(MAX(first_##suffix(in), second_##suffix(in)), third_##suffix(in)) & (mask))        \
	ROW(med3_##suffix,                                                                         \
	    MAX(MIN(first_##suffix(in), second_##suffix(in)),                                      \
		MIN(MAX(first_##suffix(in), second_##suffix(in)), third_##suffix(in))) &           \
		    (mask))
ORDERED(i32, int32_t, UINT32_MAX)
ORDERED(u32, uint32_t, UINT32_MAX)
ORDERED(i16, int16_t, UINT16_MAX)
ORDERED(u16, uint16_t, UINT16_MAX)

/* --- bytes ------------------------------------------------------------------------------------- */

static unsigned byte_of(uint64_t x, unsigned i)
{
	return (unsigned)(x >> 8 * i & 0xff);
}

static uint32_t sad(uint32_t a, uint32_t b, bool masked)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 4; i++) {
		unsigned x = byte_of(a, i), y = byte_of(b, i);

		if (!masked || y != 0) /* masked: a zero byte of the reference does not count */
			sum += x > y ? x - y : y - x;
	}
	return sum;
}

static uint32_t sad16(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 32; i += 16) {
		uint32_t x = a >> i & 0xffff, y = b >> i & 0xffff;

		sum += x > y ? x - y : y - x;
	}
	return sum;
}

FIT(sad_u8, 32, false, WIDE(sad(S0, S1, false)) + S2)
FIT(sad_hi_u8, 32, false, (WIDE(sad(S0, S1, false)) << 16) + S2)
FIT(sad_u16, 32, false, WIDE(sad16(S0, S1)) + S2)
FIT(sad_u32, 32, false, WIDE(S0 > S1 ? S0 - S1 : S1 - S0) + S2)
FIT(msad_u8, 32, false, WIDE(sad(S0, S1, true)) + S2)

static void quad_sad(in_t *in, out_t *out, bool masked)
{
	for (unsigned i = 0; i < 4; i++) {
		uint32_t window = (uint32_t)(in->s[0] >> 8 * i);
		uint64_t sum = sad(window, S1, masked) + (in->s[2] >> 16 * i & 0xffff);

		out->d |= fit((__int128)sum, 16, false, in->clamp) << 16 * i;
	}
}

static void qsad_pk(in_t *in, out_t *out)
{
	quad_sad(in, out, false);
}
static void mqsad_pk(in_t *in, out_t *out)
{
	quad_sad(in, out, true);
}

static void mqsad_u32(in_t *in, out_t *out)
{
	uint64_t r[4];

	for (unsigned i = 0; i < 4; i++) {
		uint32_t acc = (uint32_t)((i < 2 ? in->s[2] : in->s2_hi) >> 32 * (i & 1));

		r[i] = fit(WIDE(sad((uint32_t)(in->s[0] >> 8 * i), S1, true)) + acc, 32, false,
			   in->clamp);
	}
	out->d = r[0] | r[1] << 32;
	out->d_hi = r[2] | r[3] << 32;
}

static void lerp(in_t *in, out_t *out) /* byte averages; bit 0 of src2's byte rounds up */
{
	for (unsigned i = 0; i < 4; i++)
		out->d |= (uint64_t)((byte_of(S0, i) + byte_of(S1, i) + (byte_of(S2, i) & 1)) >> 1)
			  << 8 * i;
}

static void perm(in_t *in, out_t *out)
{
	uint64_t bytes = (uint64_t)S0 << 32 | S1;

	for (unsigned i = 0; i < 4; i++) {
		unsigned sel = byte_of(S2, i);
		uint64_t v;

		if (sel >= 13)
			v = 0xff;
		else if (sel == 12)
			v = 0;
		else if (sel >= 8) /* sign of bytes 1, 3, 5, 7 */
			v = byte_of(bytes, 2 * (sel - 8) + 1) & 0x80 ? 0xff : 0;
		else
			v = byte_of(bytes, sel);
		out->d |= v << 8 * i;
	}
}

/* The manual's table for screens divided among four shader engines, one digit per entry. */
static void partition_4se(in_t *in, out_t *out)
{
	static const char table[] =
		"137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff"
		"ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7"
		"bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5"
		"9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";
	char digit = table[S0 & 0xff];

	out->d = (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

const struct ref_row ref_int_rows[] = {
	{ "v_mov_b32", mov, REF_INT },
	{ "v_mov_b64", mov_b64, REF_INT },
	{ "v_accvgpr_read_b32", mov, REF_INT },
	{ "v_accvgpr_write_b32", mov, REF_INT },
	{ "v_accvgpr_mov_b32", mov, REF_INT },
	{ "v_cndmask_b32", cndmask, REF_INT },
	{ "v_not_b32", not1, REF_INT },
	{ "v_and_b32", and2, REF_INT },
	{ "v_or_b32", or2, REF_INT },
	{ "v_xor_b32", xor2, REF_INT },
	{ "v_xnor_b32", xnor2, REF_INT },
	{ "v_and_or_b32", and_or, REF_INT },
	{ "v_or3_b32", or3, REF_INT },
	{ "v_xad_u32", xad, REF_INT },
	{ "v_bfi_b32", bfi, REF_INT },
	{ "v_bfm_b32", bfm, REF_INT },
	{ "v_bfe_u32", bfe_u32, REF_INT },
	{ "v_bfe_i32", bfe_i32, REF_INT },
	{ "v_bfrev_b32", bfrev, REF_INT },
	{ "v_bcnt_u32_b32", bcnt, REF_INT },
	{ "v_mbcnt_lo_u32_b32", mbcnt_lo, REF_INT },
	{ "v_mbcnt_hi_u32_b32", mbcnt_hi, REF_INT },
	{ "v_ffbh_u32", ffbh_u32, REF_INT },
	{ "v_ffbl_b32", ffbl, REF_INT },
	{ "v_ffbh_i32", ffbh_i32, REF_INT },
	{ "v_lshlrev_b32", lshlrev_b32, REF_INT },
	{ "v_lshrrev_b32", lshrrev_b32, REF_INT },
	{ "v_ashrrev_i32", ashrrev_i32, REF_INT },
	{ "v_lshlrev_b16", lshlrev_b16, REF_INT, 0, REF_D16 },
	{ "v_lshrrev_b16", lshrrev_b16, REF_INT, 0, REF_D16 },
	{ "v_ashrrev_i16", ashrrev_i16, REF_INT, 0, REF_D16 },
	{ "v_lshlrev_b64", lshlrev_b64, REF_INT },
	{ "v_lshl_add_u64", lshl_add_u64, REF_INT, 0, 0,
	  "shifts by more than 4 are not documented" },
	{ "v_lshrrev_b64", lshrrev_b64, REF_INT },
	{ "v_ashrrev_i64", ashrrev_i64, REF_INT },
	{ "v_lshl_add_u32", lshl_add, REF_INT },
	{ "v_add_lshl_u32", add_lshl, REF_INT },
	{ "v_lshl_or_b32", lshl_or, REF_INT },
	{ "v_alignbit_b32", alignbit, REF_INT },
	{ "v_alignbyte_b32", alignbyte, REF_INT },
	{ "v_add_u32", add_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_sub_u32", sub_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_subrev_u32", subrev_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_add_i32", add_i32, REF_INT, 0, REF_ICLAMP },
	{ "v_sub_i32", sub_i32, REF_INT, 0, REF_ICLAMP },
	{ "v_add_u16", add_u16, REF_INT, 0, REF_ICLAMP | REF_D16 },
	{ "v_sub_u16", sub_u16, REF_INT, 0, REF_ICLAMP | REF_D16 },
	{ "v_subrev_u16", subrev_u16, REF_INT, 0, REF_ICLAMP | REF_D16 },
	{ "v_add_i16", add_i16, REF_INT, 0, REF_ICLAMP | REF_D16_KEEP },
	{ "v_sub_i16", sub_i16, REF_INT, 0, REF_ICLAMP | REF_D16_KEEP },
	{ "v_add3_u32", add3, REF_INT },
	{ "v_add_co_u32", add_co, REF_INT, 0, REF_ICLAMP },
	{ "v_sub_co_u32", sub_co, REF_INT, 0, REF_ICLAMP },
	{ "v_subrev_co_u32", subrev_co, REF_INT, 0, REF_ICLAMP },
	{ "v_addc_co_u32", addc_co, REF_INT, 0, REF_ICLAMP },
	{ "v_subb_co_u32", subb_co, REF_INT, 0, REF_ICLAMP },
	{ "v_subbrev_co_u32", subbrev_co, REF_INT, 0, REF_ICLAMP },
	{ "v_mul_lo_u32", mul_lo_u32, REF_INT },
	{ "v_mul_hi_u32", mul_hi_u32, REF_INT },
	{ "v_mul_hi_i32", mul_hi_i32, REF_INT },
	{ "v_mul_i32_i24", mul_i24, REF_INT },
	{ "v_mul_hi_i32_i24", mul_hi_i24, REF_INT },
	{ "v_mul_u32_u24", mul_u24, REF_INT },
	{ "v_mul_hi_u32_u24", mul_hi_u24, REF_INT },
	{ "v_mul_lo_u16", mul_lo_u16, REF_INT, 0, REF_D16 },
	{ "v_mad_i32_i24", mad_i24, REF_INT, 0, REF_ICLAMP },
	{ "v_mad_u32_u24", mad_u24, REF_INT, 0, REF_ICLAMP },
	{ "v_mad_u16", mad_u16, REF_INT, 0, REF_ICLAMP | REF_D16_KEEP },
	{ "v_mad_i16", mad_i16, REF_INT, 0, REF_ICLAMP | REF_D16_KEEP },
	{ "v_mad_legacy_u16", mad_u16, REF_INT, 0, REF_ICLAMP | REF_D16 },
	{ "v_mad_legacy_i16", mad_i16, REF_INT, 0, REF_ICLAMP | REF_D16 },
	{ "v_mad_u32_u16", mad_u32_u16, REF_INT, 0, REF_ICLAMP },
	{ "v_mad_i32_i16", mad_i32_i16, REF_INT, 0, REF_ICLAMP },
	{ "v_mad_u64_u32", mad_u64_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_mad_i64_i32", mad_i64_i32, REF_INT, 0, REF_ICLAMP },
	{ "v_min_i32", min_i32, REF_INT },
	{ "v_max_i32", max_i32, REF_INT },
	{ "v_min_u32", min_u32, REF_INT },
	{ "v_max_u32", max_u32, REF_INT },
	{ "v_min_i16", min_i16, REF_INT, 0, REF_D16 },
	{ "v_max_i16", max_i16, REF_INT, 0, REF_D16 },
	{ "v_min_u16", min_u16, REF_INT, 0, REF_D16 },
	{ "v_max_u16", max_u16, REF_INT, 0, REF_D16 },
	{ "v_min3_i32", min3_i32, REF_INT },
	{ "v_max3_i32", max3_i32, REF_INT },
	{ "v_med3_i32", med3_i32, REF_INT },
	{ "v_min3_u32", min3_u32, REF_INT },
	{ "v_max3_u32", max3_u32, REF_INT },
	{ "v_med3_u32", med3_u32, REF_INT },
	{ "v_min3_i16", min3_i16, REF_INT, 0, REF_D16_KEEP },
	{ "v_max3_i16", max3_i16, REF_INT, 0, REF_D16_KEEP },
	{ "v_med3_i16", med3_i16, REF_INT, 0, REF_D16_KEEP },
	{ "v_min3_u16", min3_u16, REF_INT, 0, REF_D16_KEEP },
	{ "v_max3_u16", max3_u16, REF_INT, 0, REF_D16_KEEP },
	{ "v_med3_u16", med3_u16, REF_INT, 0, REF_D16_KEEP },
	{ "v_sad_u8", sad_u8, REF_INT, 0, REF_ICLAMP },
	{ "v_sad_hi_u8", sad_hi_u8, REF_INT, 0, REF_ICLAMP },
	{ "v_sad_u16", sad_u16, REF_INT, 0, REF_ICLAMP },
	{ "v_sad_u32", sad_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_msad_u8", msad_u8, REF_INT, 0, REF_ICLAMP },
	{ "v_qsad_pk_u16_u8", qsad_pk, REF_INT, 0, REF_ICLAMP },
	{ "v_mqsad_pk_u16_u8", mqsad_pk, REF_INT, 0, REF_ICLAMP },
	{ "v_mqsad_u32_u8", mqsad_u32, REF_INT, 0, REF_ICLAMP },
	{ "v_lerp_u8", lerp, REF_INT },
	{ "v_perm_b32", perm, REF_INT },
	{ "v_screen_partition_4se_b32", partition_4se, REF_INT },
	{ 0 }
};
