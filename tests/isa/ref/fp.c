#include "tests/isa/ref/fp.h"

#include <quadmath.h>

static const struct {
	uint8_t bits, precision;
	int16_t bias;
} formats[] = {
	[F16] = { 16, 11, 15 },
	[F32] = { 32, 24, 127 },
	[F64] = { 64, 53, 1023 },
};

unsigned fp_bits(enum fp_format f)
{
	return formats[f].bits;
}
int fp_precision(enum fp_format f)
{
	return formats[f].precision;
}
int fp_bias(enum fp_format f)
{
	return formats[f].bias;
}

static uint64_t sign_bit(enum fp_format f)
{
	return 1ull << (formats[f].bits - 1);
}
static uint64_t mantissa_mask(enum fp_format f)
{
	return (1ull << (formats[f].precision - 1)) - 1;
}
static uint64_t magnitude(enum fp_format f, uint64_t x)
{
	return x & (sign_bit(f) - 1);
}

uint64_t fp_inf(enum fp_format f, bool negative)
{
	return (sign_bit(f) - 1 - mantissa_mask(f)) | (negative ? sign_bit(f) : 0);
}

uint64_t fp_nan(enum fp_format f)
{
	return fp_inf(f, false) | (mantissa_mask(f) + 1) >> 1;
}
uint64_t fp_max(enum fp_format f, bool negative)
{
	return fp_inf(f, negative) - 1;
}
uint64_t fp_one(enum fp_format f)
{
	return (uint64_t)formats[f].bias << (formats[f].precision - 1);
}
uint64_t fp_signed_zero(enum fp_format f, bool negative)
{
	return negative ? sign_bit(f) : 0;
}
uint64_t fp_negate(enum fp_format f, uint64_t x)
{
	return x ^ sign_bit(f);
}
uint64_t fp_absolute(enum fp_format f, uint64_t x)
{
	return magnitude(f, x);
}
bool fp_sign(enum fp_format f, uint64_t x)
{
	return x & sign_bit(f);
}

unsigned fp_exponent(enum fp_format f, uint64_t x)
{
	return (unsigned)(magnitude(f, x) >> (formats[f].precision - 1));
}

bool fp_is_nan(enum fp_format f, uint64_t x)
{
	return magnitude(f, x) > fp_inf(f, false);
}
bool fp_is_inf(enum fp_format f, uint64_t x)
{
	return magnitude(f, x) == fp_inf(f, false);
}
bool fp_is_zero(enum fp_format f, uint64_t x)
{
	return magnitude(f, x) == 0;
}

bool fp_is_snan(enum fp_format f, uint64_t x)
{
	return fp_is_nan(f, x) && !(x & (mantissa_mask(f) + 1) >> 1);
}

bool fp_is_denorm(enum fp_format f, uint64_t x)
{
	return !fp_is_zero(f, x) && fp_exponent(f, x) == 0;
}

uint64_t fp_quiet(enum fp_format f, uint64_t x)
{
	return x | (mantissa_mask(f) + 1) >> 1;
}

quad fp_value(enum fp_format f, uint64_t x)
{
	int min_exponent = 1 - fp_bias(f) - (fp_precision(f) - 1);
	unsigned e = fp_exponent(f, x);
	uint64_t m = x & mantissa_mask(f);
	quad v;

	if (fp_is_nan(f, x))
		return nanq("");
	if (fp_is_inf(f, x))
		v = HUGE_VALQ;
	else if (e == 0)
		v = ldexpq((quad)m, min_exponent);
	else
		v = ldexpq((quad)(m | (mantissa_mask(f) + 1)), (int)e - 1 + min_exponent);
	return fp_sign(f, x) ? -v : v;
}

uint64_t fp_rounded(enum fp_format f, quad v, enum fp_round round)
{
	int p = fp_precision(f), min_exponent = 1 - fp_bias(f) - (p - 1), e, last;
	bool negative = signbitq(v), up;
	uint64_t sign = negative ? sign_bit(f) : 0, bits;
	quad scaled, whole, rest;

	if (isnanq(v))
		return fp_nan(f);
	if (isinfq(v))
		return fp_inf(f, negative);
	if (v == 0)
		return sign;
	v = fabsq(v);
	frexpq(v, &e); /* v = [0.5, 1) * 2^e: its last kept bit weighs 2^(e - p) */
	last = e - p > min_exponent ? e - p : min_exponent;
	scaled = ldexpq(v, -last);
	whole = floorq(scaled);
	rest = scaled - whole;
	bits = (uint64_t)whole;
	switch (round) {
	case ROUND_NEAREST:
		up = rest > 0.5Q || (rest == 0.5Q && (bits & 1));
		break;
	case ROUND_UP:
		up = rest != 0 && !negative;
		break;
	case ROUND_DOWN:
		up = rest != 0 && negative;
		break;
	default:
		up = false;
	}
	if (last - min_exponent > 2 * fp_bias(f)) /* far beyond the largest finite number */
		bits = fp_inf(f, false);
	else /* a carry out of the mantissa moves the exponent by itself */
		bits = bits + up + ((uint64_t)(last - min_exponent) << (p - 1));
	if (bits >= fp_inf(f, false)) {
		bool to_inf = round == ROUND_NEAREST || (round == ROUND_UP && !negative) ||
			      (round == ROUND_DOWN && negative);

		bits = to_inf ? fp_inf(f, false) : fp_max(f, false);
	}
	return bits | sign;
}

quad fp_add_odd(quad a, quad b, enum fp_round round)
{
	quad sum = a + b, bb, error;
	union {
		quad q;
		unsigned __int128 u;
	} pun;

	if (isnanq(sum) || isinfq(sum))
		return sum;
	if (sum == 0) {
		if (a == 0 && b == 0 && signbitq(a) == signbitq(b))
			return a;
		return round == ROUND_DOWN ? -0.0Q : 0.0Q;
	}
	bb = sum - a; /* TwoSum: a + b == sum + error exactly */
	error = (a - (sum - bb)) + (b - bb);
	pun.q = sum;
	if (error != 0 && !(pun.u & 1))
		sum = nextafterq(sum, error > 0 ? HUGE_VALQ : -HUGE_VALQ);
	return sum;
}

enum fp_round fp_mode_round(enum fp_format f, uint32_t mode)
{
	return f == F32 ? REF_MODE_ROUND_F32(mode) : REF_MODE_ROUND_F64(mode);
}

uint64_t fp_flush(enum fp_format f, uint64_t x)
{
	return fp_is_denorm(f, x) ? fp_signed_zero(f, fp_sign(f, x)) : x;
}

static unsigned denorm_mode(enum fp_format f, uint32_t mode)
{
	return f == F32 ? REF_MODE_DENORM_F32(mode) : REF_MODE_DENORM_F64(mode);
}

uint64_t fp_flush_in(enum fp_format f, uint64_t x, uint32_t mode)
{
	return denorm_mode(f, mode) & 1 ? x : fp_flush(f, x);
}

uint64_t fp_flush_out(enum fp_format f, uint64_t x, uint32_t mode)
{
	return denorm_mode(f, mode) & 2 ? x : fp_flush(f, x);
}

static uint64_t finish(enum fp_format f, quad v, uint32_t mode)
{
	return fp_flush_out(f, fp_rounded(f, v, fp_mode_round(f, mode)), mode);
}

uint64_t fp_add(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode)
{
	return finish(f,
		      fp_add_odd(fp_value(f, fp_flush_in(f, a, mode)),
				 fp_value(f, fp_flush_in(f, b, mode)), fp_mode_round(f, mode)),
		      mode);
}

uint64_t fp_mul(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode)
{
	return finish(f,
		      fp_value(f, fp_flush_in(f, a, mode)) * fp_value(f, fp_flush_in(f, b, mode)),
		      mode);
}

uint64_t fp_fma(enum fp_format f, uint64_t a, uint64_t b, uint64_t c, uint32_t mode)
{
	/* 2 * 53 bits fit: the product is exact. */
	quad product = fp_value(f, fp_flush_in(f, a, mode)) * fp_value(f, fp_flush_in(f, b, mode));

	return finish(f,
		      fp_add_odd(product, fp_value(f, fp_flush_in(f, c, mode)),
				 fp_mode_round(f, mode)),
		      mode);
}

uint64_t fp_scale(enum fp_format f, uint64_t a, int exponent, uint32_t mode)
{
	/* Beyond +-4400 nothing is left of any f64; the quad must not overflow on the way. */
	int e = exponent > 4400 ? 4400 : exponent < -4400 ? -4400 : exponent;

	return finish(f, ldexpq(fp_value(f, fp_flush_in(f, a, mode)), e), mode);
}

uint64_t fp_convert(enum fp_format to, enum fp_format from, uint64_t x, enum fp_round round,
		    uint32_t mode)
{
	quad v = fp_value(from, fp_flush_in(from, x, mode));

	return fp_flush_out(to, fp_rounded(to, v, round), mode);
}

/* The manual's V_MIN_F32 / V_MAX_F32, line by line. */
static uint64_t pick(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode, bool max)
{
	a = fp_flush_in(f, a, mode);
	b = fp_flush_in(f, b, mode);
	if ((mode & REF_MODE_IEEE) && fp_is_snan(f, a))
		return fp_quiet(f, a);
	if ((mode & REF_MODE_IEEE) && fp_is_snan(f, b))
		return fp_quiet(f, b);
	if (fp_is_nan(f, a))
		return fp_flush_out(f, b, mode);
	if (fp_is_nan(f, b))
		return fp_flush_out(f, a, mode);
	if (fp_is_zero(f, a) && fp_is_zero(f, b))
		return fp_signed_zero(f, max ? fp_sign(f, a) && fp_sign(f, b)
					     : fp_sign(f, a) || fp_sign(f, b));
	if (max)
		return fp_flush_out(f, fp_value(f, a) > fp_value(f, b) ? a : b, mode);
	return fp_flush_out(f, fp_value(f, a) < fp_value(f, b) ? a : b, mode);
}

uint64_t fp_min(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode)
{
	return pick(f, a, b, mode, false);
}

uint64_t fp_max2(enum fp_format f, uint64_t a, uint64_t b, uint32_t mode)
{
	return pick(f, a, b, mode, true);
}
