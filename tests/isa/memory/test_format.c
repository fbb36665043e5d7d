/* Formatted elements: every data format with the number formats it has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/test_buffer.h"

/* clang-format off */
static const char *const layouts[16] = { /* bits of x y z w */
	[1] = "8", [2] = "16", [3] = "8 8", [4] = "32", [5] = "16 16", [6] = "11 11 10", [7] = "10 11 11",
	[8] = "2 10 10 10", [9] = "10 10 10 2", [10] = "8 8 8 8", [11] = "32 32", [12] = "16 16 16 16",
	[13] = "32 32 32", [14] = "32 32 32 32",
};
/* clang-format on */

static unsigned component_bits(unsigned dfmt, unsigned k)
{
	unsigned bits[4] = { 0 };

	if (layouts[dfmt])
		sscanf(layouts[dfmt], "%u %u %u %u", &bits[0], &bits[1], &bits[2], &bits[3]);
	return k < 4 ? bits[k] : bits[0] + bits[1] + bits[2] + bits[3];
}

static bool is_int(unsigned nfmt)
{
	return nfmt == 4 || nfmt == 5;
}

/* A float of 10, 11 or 16 bits with 5 bits of exponent; 32 bits as they are. */
static double small_float(uint32_t v, unsigned bits)
{
	unsigned man = bits == 16 ? 10 : bits - 5;
	double m = v & ((1u << man) - 1);
	int exp = v >> man & 31;
	float f;

	if (bits == 32) {
		memcpy(&f, &v, 4);
		return f;
	}
	m = exp ? ldexp(ldexp(1, (int)man) + m, exp - 15 - (int)man) : ldexp(m, -14 - (int)man);
	return bits == 16 && v >> 15 ? -m : m;
}

static uint32_t float_bits(double d)
{
	float f = (float)d;
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

static uint32_t component(unsigned nfmt, uint32_t v, unsigned bits)
{
	int64_t s = v >> (bits - 1) & 1 ? (int64_t)v - (1ll << bits) : v;
	double top = ldexp(1, (int)bits) - 1, half = ldexp(1, (int)bits - 1) - 1;

	switch (nfmt) {
	case 0:
		return float_bits(v / top);
	case 1:
		return float_bits(fmax(s / half, -1));
	case 2:
		return float_bits(v);
	case 3:
		return float_bits((double)s);
	case 4:
		return v;
	case 5:
		return (uint32_t)s;
	default:
		return float_bits(small_float(v, bits));
	}
}

static uint32_t get_bits(const struct access *a, unsigned at, unsigned n)
{
	uint32_t v = 0;

	for (unsigned b = 0; b < n; b++)
		v |= (uint32_t)(*a->byte[(at + b) / 8] >> (at + b) % 8 & 1) << b;
	return v;
}

/* The 16-bit form of a component: the nearest half, found by halving the distance. */
static uint32_t to_d16(unsigned nfmt, uint32_t v)
{
	float f;

	if (is_int(nfmt))
		return v & 0xffff;
	memcpy(&f, &v, 4);
	double want = fabs((double)f);
	uint32_t low = 0, high = 0x7c00;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (small_float(middle, 16) <= want)
			low = middle;
		else
			high = middle;
	}
	double up = (high == 0x7c00 ? 65536 : small_float(high, 16)) - want;
	double down = want - small_float(low, 16);

	if (up < down || (up == down && low & 1))
		low = high;
	return low | (signbit(f) ? 0x8000 : 0);
}

/* Formats that the hardware has: floats only of sizes that are floats. */
static bool choose_format(struct world *w, unsigned v, struct buffer *f)
{
	static const unsigned nfmts[] = { 0, 1, 2, 3, 4, 5, 7 };

	f->dfmt = 1 + v % 14;
	f->nfmt = nfmts[world_below(w, 7)];
	unsigned bits = component_bits(f->dfmt, 0);

	if (f->nfmt == 7 && (bits == 8 || f->dfmt == 8 || f->dfmt == 9))
		f->nfmt = 4;
	if (bits == 32 && f->nfmt < 4)
		f->nfmt = 4 + f->nfmt % 2;
	return true;
}

static uint32_t reference_component(const struct buffer *f, const struct access *a, unsigned k)
{
	unsigned at = 0;

	if (!a->byte[0])
		return 0;
	if (!component_bits(f->dfmt, k))
		return k < 3 ? 0 : is_int(f->nfmt) ? 1 : 0x3f800000;
	for (unsigned n = 0; n < k; n++)
		at += component_bits(f->dfmt, n);
	return component(f->nfmt, get_bits(a, at, component_bits(f->dfmt, k)),
			 component_bits(f->dfmt, k));
}

/* NaNs of memory's floats would have to be compared by class: leave none. */
static void make_floats(struct world *w, const struct buffer *f)
{
	unsigned bits = component_bits(f->dfmt, 0);

	if (f->nfmt != 7)
		return;
	for (size_t k = 0; k < MEM_BYTES; k += 4) {
		uint32_t *p = (uint32_t *)(w->mem + k);

		if (bits == 32)
			*p = (*p & 0x807fffff) | (96 + *p % 64) << 23;
		else if (bits == 16)
			*p &= 0xbfffbfff;
		else
			*p &= ~(1u << (f->dfmt == 6 ? 10 : 9) | 1u << (f->dfmt == 6 ? 21 : 20) |
				1u << 31);
	}
}

static void test_format_load(struct world *w, unsigned n, bool d16, bool hi)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;
		unsigned size;

		world_reset(w, v / 8);
		f = buffer_make(w, v % N_KINDS == STACK && w->row->enc == SG_ENC_MUBUF ? v + 1 : v);
		choose_format(w, v, &f);
		if (w->row->enc == SG_ENC_MUBUF && v % 3 == 1)
			f.select = 1 | 6 << 3 | 4 << 6 | 0 << 9; /* 1, z, x, 0 */
		size = component_bits(f.dfmt, 4) / 8;
		buffer_write_operands(w, &f, v, 4, false);
		make_floats(w, &f);
		f.lds = w->row->enc == SG_ENC_MUBUF && n == 1 && !d16 && v % 11 == 10 && !f.acc;
		world_fork(w);
		uint32_t(*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, size, true);

			for (unsigned k = 0; k < n && world_active(w, l); k++) {
				unsigned from =
					w->row->enc == SG_ENC_MTBUF ? 4 + k : f.select >> 3 * k & 7;
				uint32_t c = from >= 4   ? reference_component(&f, &a, from - 4)
					     : from == 0 ? 0
					     : is_int(f.nfmt) ? 1
							      : 0x3f800000;
				uint32_t *to = &regs[VDATA + (d16 ? k / 2 : k)][l];

				if (f.lds)
					buffer_to_lds(w, &f, l, c);
				else if (!d16)
					*to = c;
				else if (hi || k & 1)
					*to = (hi ? 0 : *to & 0xffff) | to_d16(f.nfmt, c) << 16;
				else
					*to = to_d16(f.nfmt, c);
			}
		}
		buffer_run(w, &f, v);
	}
}

/*
 * Stores: every value that a component can have is written from what it reads as, so the reference
 * of the loads serves again; values beyond the format's range are the clamp test's.
 */
static void test_format_store(struct world *w, unsigned n, bool d16, bool hi)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;
		unsigned size, at = 0;
		uint8_t element[64][16] = { { 0 } };

		world_reset(w, v / 8);
		f = buffer_make(w, v % N_KINDS == STACK && w->row->enc == SG_ENC_MUBUF ? v + 1 : v);
		choose_format(w, v, &f);
		if (d16 && (component_bits(f.dfmt, 0) == 32 ||
			    (!is_int(f.nfmt) && component_bits(f.dfmt, 0) >= 10 && f.nfmt != 7)))
			f.nfmt = 7; /* what goes through 16 bits and back unharmed */
		if (d16 && component_bits(f.dfmt, 0) == 32)
			f.dfmt = 12;
		if (f.nfmt == 7 && (f.dfmt == 8 || f.dfmt == 9))
			f.dfmt = 12;
		size = component_bits(f.dfmt, 4) / 8;
		buffer_write_operands(w, &f, v, 4, true);
		if (f.offen)
			for (unsigned l = 0; l < 64; l++)
				w->step.vgpr[VADDR + f.idxen][l] =
					f.idxen || f.add_lane ? 16 : l * 64;
		uint32_t(*regs)[64] = f.acc ? w->step.agpr : w->step.vgpr;

		for (unsigned k = 0; k < 4 && component_bits(f.dfmt, k); k++) {
			unsigned bits = component_bits(f.dfmt, k);

			for (unsigned l = 0; l < 64; l++) {
				uint32_t raw = (uint32_t)world_random(w) &
					       (uint32_t)((1ull << bits) - 1),
					 c;

				if (f.nfmt == 7) /* no NaN */
					raw &= bits == 32   ? 0xbfffffff
					       : bits == 16 ? 0xbfff
							    : ~(1u << (bits - 1));
				if (f.nfmt == 1 && raw == 1u << (bits - 1))
					raw++; /* the second -1 */
				if (k >= n)
					raw = 0; /* what the instruction does not give */
				for (unsigned b = 0; b < bits; b++)
					element[l][(at + b) / 8] |=
						(uint8_t)((raw >> b & 1) << (at + b) % 8);
				if (k >= n)
					continue;
				c = component(f.nfmt, raw, bits);
				if (!d16)
					regs[VDATA + k][l] = c;
				else if (hi || k & 1)
					regs[VDATA + k / 2][l] = (regs[VDATA + k / 2][l] & 0xffff) |
								 to_d16(f.nfmt, c) << 16;
				else
					regs[VDATA + k / 2][l] =
						(regs[VDATA + k / 2][l] & 0xffff0000) |
						to_d16(f.nfmt, c);
			}
			at += bits;
		}
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, size, true);

			for (unsigned b = 0; b < size && world_active(w, l); b++)
				if (a.byte[b])
					*a.byte[b] = element[l][b];
		}
		buffer_run(w, &f, v);
	}
}

/* Values that do not fit: the nearest that does, and 0 for a NaN. */
static void test_format_clamp(struct world *w)
{
	/* clang-format off */
	static const struct { unsigned dfmt, nfmt; uint32_t in, out; } cases[] = {
		{ 1, 0, 0x40000000, 0xff },       /* unorm 2.0 */
		{ 1, 0, 0xbf800000, 0 },          /* unorm -1.0 */
		{ 1, 0, 0x7fc00000, 0 },          /* unorm NaN */
		{ 1, 1, 0xc0400000, 0x81 },       /* snorm -3.0 */
		{ 2, 1, 0x7f800000, 0x7fff },     /* snorm infinity */
		{ 1, 2, 0x43c80000, 0xff },       /* uscaled 400.0 */
		{ 1, 3, 0xc3480000, 0x80 },       /* sscaled -200.0 */
		{ 2, 4, 0x00012345, 0xffff },     /* uint */
		{ 2, 5, 0x00012345, 0x7fff },     /* sint */
		{ 2, 5, 0xfffe0000, 0x8000 },
		{ 2, 7, 0x47800000, 0x7c00 },     /* half of 65536.0 */
		{ 4, 7, 0x7f800000, 0x7f800000 },
	};
	/* clang-format on */

	for (unsigned n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		struct buffer f;
		unsigned size = component_bits(cases[n].dfmt, 4) / 8;

		world_reset(w, 0);
		f = buffer_make(w, RAW);
		f.offen = true;
		f.acc = false;
		f.dfmt = cases[n].dfmt;
		f.nfmt = cases[n].nfmt;
		buffer_write_operands(w, &f, 0, 4, true);
		for (unsigned l = 0; l < 64; l++) {
			w->step.vgpr[VADDR][l] = l * 16;
			w->step.vgpr[VDATA][l] = cases[n].in;
		}
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, size, true);

			if (a.byte[0])
				ref_put(&a, 0, size, cases[n].out);
		}
		buffer_run(w, &f, n);
	}
}

bool test_format_row(struct world *w, const char *tail, bool store)
{
	bool d16 = !strncmp(tail, "d16_", 4), hi = !strncmp(tail, "d16_hi_", 7);
	const char *components = tail + (hi ? 7 : d16 ? 4 : 0);
	unsigned n = (unsigned)strlen(components);

	if (strncmp("xyzw", components, n) || !n)
		return false;
	if (store && n == 1 && !d16)
		test_format_clamp(w);
	if (store)
		test_format_store(w, n, d16, hi);
	else
		test_format_load(w, n, d16, hi);
	return true;
}
