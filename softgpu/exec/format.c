#include "softgpu/exec/format.h"

#include <math.h>
#include <string.h>

#define SG_LEVEL plain
#include "softgpu/exec/amo.h" /* half precision */

/* Bits of x, y, z, w by data format. */
/* clang-format off */
static const uint8_t layout[16][4] = {
	[1] = { 8 },
	[2] = { 16 },
	[3] = { 8, 8 },
	[4] = { 32 },
	[5] = { 16, 16 },
	[6] = { 11, 11, 10 },
	[7] = { 10, 11, 11 },
	[8] = { 2, 10, 10, 10 },
	[9] = { 10, 10, 10, 2 },
	[10] = { 8, 8, 8, 8 },
	[11] = { 32, 32 },
	[12] = { 16, 16, 16, 16 },
	[13] = { 32, 32, 32 },
	[14] = { 32, 32, 32, 32 },
};
/* clang-format on */

unsigned sg_format_bytes(unsigned dfmt)
{
	const uint8_t *bits = layout[dfmt & 15];

	return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u;
}

bool sg_format_is_int(unsigned nfmt)
{
	return nfmt == SG_NUM_UINT || nfmt == SG_NUM_SINT;
}

/* ---- bit fields of an element ---- */

static uint32_t get_bits(const uint8_t *element, unsigned at, unsigned n)
{
	uint64_t v = 0;

	memcpy(&v, element + at / 8, (at % 8 + n + 7) / 8);
	return (uint32_t)(v >> at % 8 & ((1ull << n) - 1));
}

static void put_bits(uint8_t *element, unsigned at, unsigned n, uint32_t v)
{
	uint64_t old = 0, mask = ((1ull << n) - 1) << at % 8;
	unsigned n_bytes = (at % 8 + n + 7) / 8;

	memcpy(&old, element + at / 8, n_bytes);
	old = (old & ~mask) | ((uint64_t)v << at % 8 & mask);
	memcpy(element + at / 8, &old, n_bytes);
}

static int32_t sign_extend(uint32_t v, unsigned n)
{
	return (int32_t)(v << (32 - n)) >> (32 - n);
}

/* ---- small floats: 10 and 11 bits have 5 bits of exponent and no sign ---- */

static float float_from_bits(uint32_t v, unsigned n)
{
	if (n == 32)
		return sg_as_f32(v);
	if (n == 16)
		return sg_f16_to_f32((uint16_t)v);
	return sg_f16_to_f32((uint16_t)(v << (15 - n)));
}

static uint32_t float_to_bits(float f, unsigned n)
{
	if (n == 32)
		return sg_f32_bits(f);
	if (n == 16)
		return sg_f32_to_f16(f);
	if (n < 10) /* the 2-bit component of a format that has no floats */
		return 0;
	if (f != f)
		return (1u << n) - 1;
	if (!(f > 0))
		return 0;

	/* as a half, with the bits that are too many rounded away before the conversion */
	unsigned drop = 15 - n;
	uint32_t max = (31u << (n - 5)) - 1, v;
	int exp;

	if (isinf(f))
		return max + 1;
	frexpf(f, &exp);
	int unit = (exp - 1 < -14 ? -14 : exp - 1) - (int)(10 - drop);

	v = (uint32_t)sg_f32_to_f16(ldexpf(nearbyintf(ldexpf(f, -unit)), unit)) >> drop;
	return v > max ? max : v;
}

/* ---- one component ---- */

static uint32_t decode(unsigned nfmt, uint32_t v, unsigned n)
{
	float f;

	switch (nfmt) {
	case SG_NUM_UNORM:
		f = (float)((double)v / (double)((1ull << n) - 1));
		break;
	case SG_NUM_SNORM:
	case SG_NUM_SNORM_OGL:
		f = (float)((double)sign_extend(v, n) / (double)((1ull << (n - 1)) - 1));
		f = f < -1 ? -1 : f;
		break;
	case SG_NUM_USCALED:
		f = (float)v;
		break;
	case SG_NUM_SSCALED:
		f = (float)sign_extend(v, n);
		break;
	case SG_NUM_UINT:
		return v;
	case SG_NUM_SINT:
		return (uint32_t)sign_extend(v, n);
	default:
		f = float_from_bits(v, n);
		break;
	}
	return sg_f32_bits(f);
}

static double clamp(double v, double low, double high)
{
	return v != v ? 0 : v < low ? low : v > high ? high : v;
}

static uint32_t encode(unsigned nfmt, uint32_t v, unsigned n)
{
	double f = sg_as_f32(v);
	double top = (double)((1ull << n) - 1), stop = (double)((1ull << (n - 1)) - 1);

	switch (nfmt) {
	case SG_NUM_UNORM:
		return (uint32_t)nearbyint(clamp(f, 0, 1) * top);
	case SG_NUM_SNORM:
	case SG_NUM_SNORM_OGL:
		return (uint32_t)(int32_t)nearbyint(clamp(f, -1, 1) * stop);
	case SG_NUM_USCALED:
		return (uint32_t)clamp(trunc(f), 0, top);
	case SG_NUM_SSCALED:
		return (uint32_t)(int32_t)clamp(trunc(f), -stop - 1, stop);
	case SG_NUM_UINT:
		return n < 32 && v >> n ? (uint32_t)top : v;
	case SG_NUM_SINT:
		return (uint32_t)(int32_t)clamp((int32_t)v, -stop - 1, stop);
	default:
		return float_to_bits((float)f, n);
	}
}

void sg_format_decode(unsigned dfmt, unsigned nfmt, const uint8_t *element, uint32_t out[4])
{
	const uint8_t *bits = layout[dfmt & 15];
	unsigned at = 0;

	for (unsigned k = 0; k < 4; k++) {
		if (bits[k])
			out[k] = decode(nfmt, get_bits(element, at, bits[k]), bits[k]);
		else
			out[k] = k < 3 ? 0 : sg_format_is_int(nfmt) ? 1 : sg_f32_bits(1.0f);
		at += bits[k];
	}
}

void sg_format_encode(unsigned dfmt, unsigned nfmt, const uint32_t in[4], uint8_t *element)
{
	const uint8_t *bits = layout[dfmt & 15];
	unsigned at = 0;

	for (unsigned k = 0; k < 4 && bits[k]; k++) {
		put_bits(element, at, bits[k], encode(nfmt, in[k], bits[k]));
		at += bits[k];
	}
}

uint16_t sg_format_to_d16(unsigned nfmt, uint32_t v)
{
	return sg_format_is_int(nfmt) ? (uint16_t)v : sg_f32_to_f16(sg_as_f32(v));
}

uint32_t sg_format_from_d16(unsigned nfmt, uint16_t v)
{
	if (nfmt == SG_NUM_SINT)
		return (uint32_t)(int16_t)v;
	return nfmt == SG_NUM_UINT ? v : sg_f32_bits(sg_f16_to_f32(v));
}
