/* The reference: bytes, one lane after the other, nothing shared with the interpreter. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

uint8_t *ref_global(struct world *w, uint64_t addr)
{
	return addr >= MEM_AT && addr < MEM_AT + MEM_BYTES ? w->mem_expect + (addr - MEM_AT) : NULL;
}

uint8_t *ref_private(struct world *w, unsigned lane, uint32_t offset)
{
	return ref_global(w, SCRATCH_AT + (uint64_t)(offset / 4) * 256 + lane * 4 + offset % 4);
}

uint8_t *ref_lds(struct world *w, uint32_t addr, uint32_t offset)
{
	uint32_t at = addr + offset;

	return at < LDS_BYTES ? w->lds_expect + at : NULL;
}

uint64_t ref_get(const struct access *a, unsigned from, unsigned n_bytes)
{
	uint64_t v = 0;

	for (unsigned b = n_bytes; b-- > 0;)
		v = v << 8 | (a->byte[from + b] ? *a->byte[from + b] : 0);
	return v;
}

void ref_put(const struct access *a, unsigned from, unsigned n_bytes, uint64_t v)
{
	for (unsigned b = 0; b < n_bytes; b++)
		if (a->byte[from + b])
			*a->byte[from + b] = (uint8_t)(v >> 8 * b);
}

/* clang-format off */
static const struct data_type types[] = {
	{ "ubyte", 1, 'u', 0 }, { "sbyte", 1, 's', 0 }, { "ushort", 2, 'u', 0 }, { "sshort", 2, 's', 0 },
	{ "dword", 4, 'u', 0 }, { "dwordx2", 8, 'u', 0 }, { "dwordx3", 12, 'u', 0 },
	{ "dwordx4", 16, 'u', 0 }, { "byte", 1, 'u', 0 }, { "short", 2, 'u', 0 },
	{ "byte_d16_hi", 1, 'u', 'h' }, { "short_d16_hi", 2, 'u', 'h' }, { "short_d16", 2, 'u', 'l' },
	{ "ubyte_d16", 1, 'u', 'l' }, { "ubyte_d16_hi", 1, 'u', 'h' }, { "sbyte_d16", 1, 's', 'l' },
	{ "sbyte_d16_hi", 1, 's', 'h' },
	/* the data share's names */
	{ "b8", 1, 'u', 0 }, { "b16", 2, 'u', 0 }, { "b32", 4, 'u', 0 }, { "b64", 8, 'u', 0 },
	{ "b96", 12, 'u', 0 }, { "b128", 16, 'u', 0 }, { "u8", 1, 'u', 0 }, { "i8", 1, 's', 0 },
	{ "u16", 2, 'u', 0 }, { "i16", 2, 's', 0 }, { "b8_d16_hi", 1, 'u', 'h' },
	{ "b16_d16_hi", 2, 'u', 'h' }, { "u8_d16", 1, 'u', 'l' }, { "u8_d16_hi", 1, 'u', 'h' },
	{ "i8_d16", 1, 's', 'l' }, { "i8_d16_hi", 1, 's', 'h' }, { "u16_d16", 2, 'u', 'l' },
	{ "u16_d16_hi", 2, 'u', 'h' },
};
/* clang-format on */

const struct data_type *ref_type(const char *name)
{
	for (size_t n = 0; n < sizeof(types) / sizeof(*types); n++)
		if (!strcmp(types[n].name, name))
			return &types[n];
	return NULL;
}

void ref_load(const struct data_type *t, const struct access *a, uint32_t (*reg)[64], unsigned lane)
{
	uint32_t v;

	for (unsigned n = 0; n < t->n_bytes / 4; n++)
		reg[n][lane] = (uint32_t)ref_get(a, 4 * n, 4);
	if (t->n_bytes >= 4)
		return;
	v = (uint32_t)ref_get(a, 0, t->n_bytes);
	if (t->extend == 's' && v >> (8 * t->n_bytes - 1))
		v |= ~0u << 8 * t->n_bytes;
	if (t->half == 'l')
		v &= 0xffff;
	if (t->half == 'h')
		v <<= 16;
	reg[0][lane] = v;
}

void ref_store(const struct data_type *t, const struct access *a, uint32_t (*reg)[64],
	       unsigned lane)
{
	if (t->n_bytes < 4)
		ref_put(a, 0, t->n_bytes, t->half == 'h' ? reg[0][lane] >> 16 : reg[0][lane]);
	for (unsigned n = 0; n < t->n_bytes / 4; n++)
		ref_put(a, 4 * n, 4, reg[n][lane]);
}

/* ---- atomics ---- */

static double number(unsigned bits, uint64_t v)
{
	float f;
	double d;
	uint32_t low = (uint32_t)v;

	if (bits == 64) {
		memcpy(&d, &v, 8);
		return d;
	}
	memcpy(&f, &low, 4);
	return f;
}

static uint64_t pattern(unsigned bits, double d)
{
	float f = (float)d;
	uint32_t low;
	uint64_t v;

	if (bits == 64) {
		memcpy(&v, &d, 8);
		return v;
	}
	memcpy(&low, &f, 4);
	return low;
}

static double flush(double d)
{
	return fabs(d) < 0x1p-126 ? copysign(0, d) : d;
}

static double half(uint32_t h)
{
	int exp = h >> 10 & 31;
	double m = h & 0x3ff, v;

	if (exp == 31)
		v = m ? NAN : INFINITY;
	else
		v = exp ? ldexp(1024 + m, exp - 25) : ldexp(m, -24);
	return h & 0x8000 ? -v : v;
}

/* Nearest even, by looking for it among all halves. */
static uint32_t to_half(double v)
{
	uint32_t low = 0, high = 0x7c00, sign = signbit(v) ? 0x8000 : 0;
	double a = fabs(v);

	if (a != a)
		return 0x10000; /* any NaN */
	if (a >= 65520)
		return sign | 0x7c00;
	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (half(mid) <= a)
			low = mid;
		else
			high = mid;
	}
	double up = high == 0x7c00 ? 65536 : half(high), down = half(low);

	if (a - down > up - a || (a - down == up - a && low & 1))
		low = high;
	return sign | low;
}

static uint64_t pk_add(uint64_t m, uint64_t v)
{
	uint32_t out = 0;

	for (unsigned k = 0; k < 32; k += 16) {
		uint32_t sum = to_half(half(m >> k & 0xffff) + half(v >> k & 0xffff));

		out |= (sum & 0xffff) << k;
	}
	return out;
}

/* Of the two neighbours the nearer one, or the even one: the sum of two bf16 fits into a double. */
static uint32_t bf16_sum(uint32_t a, uint32_t b)
{
	float x, y, low, high;
	uint32_t bits = a << 16;
	double sum;

	memcpy(&x, &bits, 4);
	bits = b << 16;
	memcpy(&y, &bits, 4);
	sum = (double)x + y;
	low = (float)sum; /* rounded once to 24 bits: at most one bf16 away */
	memcpy(&bits, &low, 4);
	for (bits = (bits >> 16) - ((bits & 0x7fffffff) >= 0x10000);; bits++) {
		uint32_t here = bits << 16, next = (bits + 1) << 16;

		memcpy(&low, &here, 4);
		memcpy(&high, &next, 4);
		if (fabs(sum) < fabs((double)low) / 2 + fabs((double)high) / 2 ||
		    (fabs(sum) == fabs((double)low) / 2 + fabs((double)high) / 2 && bits % 2 == 0))
			return bits & 0xffff;
	}
}

static uint64_t pk_add_bf16(uint64_t m, uint64_t v)
{
	return bf16_sum(m & 0xffff, v & 0xffff) |
	       (uint64_t)bf16_sum(m >> 16 & 0xffff, v >> 16 & 0xffff) << 16;
}

static uint64_t float_atomic(const char *op, unsigned bits, uint64_t m, uint64_t v, uint64_t c,
			     bool *out_known)
{
	double a = number(bits, m), b = number(bits, v);

	if (!strcmp(op, "fadd"))
		return pattern(bits, a + b);
	if (!strcmp(op, "fadd_flush"))
		return pattern(bits, flush((float)(flush(a) + flush(b))));
	/* a number is preferred to the NaN that memory may have */
	if (!strcmp(op, "fmin"))
		return isnan(a) || b < a ? v : m;
	if (!strcmp(op, "fmax"))
		return isnan(a) || b > a ? v : m;
	if (!strcmp(op, "fcmpst"))
		return a == b ? c : m;
	*out_known = false;
	return 0;
}

uint64_t ref_atomic(const char *op, unsigned bits, uint64_t m, uint64_t v, uint64_t c,
		    bool *out_known)
{
	uint64_t mask = bits == 64 ? ~0ull : 0xffffffff;
	__int128 sm = bits == 64 ? (int64_t)m : (int32_t)m,
		 sv = bits == 64 ? (int64_t)v : (int32_t)v;
	__int128 um = m, uv = v;

	*out_known = true;
	if (!strcmp(op, "swap"))
		return v;
	if (!strcmp(op, "cmpswap"))
		return m == c ? v : m;
	if (!strcmp(op, "cmpst"))
		return m == v ? c : m;
	if (!strcmp(op, "add"))
		return (uint64_t)(um + uv) & mask;
	if (!strcmp(op, "sub"))
		return (uint64_t)(um - uv) & mask;
	if (!strcmp(op, "rsub"))
		return (uint64_t)(uv - um) & mask;
	if (!strcmp(op, "smin"))
		return (uint64_t)(sm < sv ? sm : sv) & mask;
	if (!strcmp(op, "smax"))
		return (uint64_t)(sm > sv ? sm : sv) & mask;
	if (!strcmp(op, "umin"))
		return (uint64_t)(um < uv ? um : uv);
	if (!strcmp(op, "umax"))
		return (uint64_t)(um > uv ? um : uv);
	if (!strcmp(op, "and"))
		return m & v;
	if (!strcmp(op, "or"))
		return m | v;
	if (!strcmp(op, "xor"))
		return (m | v) & ~(m & v);
	if (!strcmp(op, "inc"))
		return um >= uv ? 0 : m + 1;
	if (!strcmp(op, "dec"))
		return um == 0 || um > uv ? v : m - 1;
	if (!strcmp(op, "mskor"))
		return ((m | v) ^ v) | c;
	if (!strcmp(op, "wrap"))
		return (uint64_t)(um >= uv ? um - uv : um + (__int128)c) & mask;
	if (!strcmp(op, "pk_add_f16"))
		return pk_add(m, v);
	if (!strcmp(op, "pk_add_bf16"))
		return pk_add_bf16(m, v);
	return float_atomic(op, bits, m, v, c, out_known);
}

static uint64_t get_reg(uint32_t (*reg)[64], unsigned bits, unsigned lane)
{
	return reg[0][lane] | (bits == 64 ? (uint64_t)reg[1][lane] << 32 : 0);
}

void ref_atomic_lane(const char *op, unsigned bits, const struct access *a, uint32_t (*data)[64],
		     uint32_t (*data2)[64], uint32_t (*dst)[64], unsigned lane)
{
	uint64_t m = ref_get(a, 0, bits / 8), v = get_reg(data, bits, lane);
	uint64_t c = data2 ? get_reg(data2, bits, lane) : 0;
	bool known;

	ref_put(a, 0, bits / 8, ref_atomic(op, bits, m, v, c, &known));
	if (!known)
		printf("the reference does not know '%s'\n", op);
	if (dst) {
		dst[0][lane] = (uint32_t)m;
		if (bits == 64)
			dst[1][lane] = (uint32_t)(m >> 32);
	}
}

/* Random, but no NaN, whose bits are nobody's business; denormals and zeros among them. */
static uint64_t float_value(struct world *w, unsigned bits)
{
	uint64_t v = world_random(w), kind = world_random(w) % 8;
	uint64_t exp = bits == 64 ? 1023 : 127, man = bits == 64 ? 52 : 23,
		 sign = v >> 63 << (bits - 1);

	v &= (1ull << man) - 1;
	if (kind == 0)
		return sign;
	if (kind == 1)
		return sign | v;
	return sign | (exp + world_random(w) % 30 - 15) << man | v;
}

static uint64_t half_pair(struct world *w, unsigned bits)
{
	uint64_t v = world_random(w);

	/* exponents below 31, denormals included */
	return (v & 0x83ff83ff) | (v >> 32) % 31 << 10 | (v >> 40) % 31 << 26;
}

static uint64_t bf16_pair(struct world *w, unsigned bits)
{
	/* exponents around 1 */
	return (world_random(w) & 0x80ff80ff) | (120 + world_random(w) % 16) << 7 |
	       (120 + world_random(w) % 16) << 23;
}

static uint64_t ordered_value(struct world *w, unsigned bits)
{
	uint64_t all = bits == 64 ? 0x7ffull << 52 : 0xffull << 23, v;

	if (world_random(w) % 8 != 0)
		return float_value(w, bits);
	v = world_random(w);
	/* infinity, or a NaN of either kind */
	return all | v >> 63 << (bits - 1) | (v % 4 ? 1 + v % 8 * (all & -all) / 8 : 0);
}

static uint64_t int_value(struct world *w, unsigned bits)
{
	/* small numbers: comparisons meet, counters reach their ends */
	return world_random(w) % 4 ? world_random(w) : world_random(w) % 4;
}

/* What makes the operands of an atomic; looked up once, for it is called for every number in memory. */
typedef uint64_t value_maker(struct world *w, unsigned bits);

static value_maker *maker_of(const char *op)
{
	if (!strcmp(op, "pk_add_f16"))
		return half_pair;
	if (!strcmp(op, "pk_add_bf16"))
		return bf16_pair;
	if (!strcmp(op, "fmin") || !strcmp(op, "fmax"))
		return ordered_value;
	return op[0] == 'f' ? float_value : int_value;
}

static void fill(struct world *w, value_maker *make, unsigned bits, uint8_t *p, size_t n_bytes)
{
	for (size_t k = 0; k < n_bytes; k += bits / 8) {
		uint64_t v = make(w, bits);

		memcpy(p + k, &v, bits / 8);
	}
}

void world_make_atomic_data(struct world *w, const char *op, unsigned bits, uint32_t (*data)[64])
{
	value_maker *make = maker_of(op);

	fill(w, make, bits, w->mem, DATA_BYTES);
	fill(w, make, bits, w->lds, LDS_BYTES);
	for (size_t k = 0; k < 64 * SCRATCH_LANE_BYTES / 256; k++) { /* interleaved */
		uint8_t *row = w->mem + DATA_BYTES + k * 256;

		for (unsigned l = 0; l < 64; l++) {
			uint64_t v = make(w, bits);

			if (bits == 32)
				memcpy(row + 4 * l, &v, 4);
			else if (k % 2 == 0) {
				memcpy(row + 4 * l, &v, 4);
				memcpy(row + 256 + 4 * l, (char *)&v + 4, 4);
			}
		}
	}
	for (unsigned l = 0; l < 64; l++)
		for (unsigned n = 0; n < 2; n++) {
			uint64_t v = make(w, bits);

			data[n * bits / 32][l] = (uint32_t)v;
			if (bits == 64)
				data[n * 2 + 1][l] = (uint32_t)(v >> 32);
		}
}
