#include "tests/isa/semantics/inputs.h"

static const uint16_t edges_f16[] = {
	0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
	0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7d00, 0xfc01, 0x3800, 0x3bff,
	0x3c01, 0x3e00, 0x4100, 0x6400, 0xb800, 0x5bff, 0x77ff, 0x4248,
};

static const uint32_t edges_f32[] = {
	0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff,
	0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00001, 0x7f800001, 0xffa00000, 0x3f000000, 0x3effffff, 0x3f7fffff,
	0x3f800001, 0x3fc00000, 0x40200000, 0xbf000000, 0x4b000000, 0x4f000000, 0x4effffff,
	0x4f7fffff, 0xcf000000, 0x477fe000, 0x477ff000, 0x33000000, 0x387fc000, 0x40490fdb,
	0x43800000, 0x3e22f983,
};

static const uint64_t edges_f64[] = {
	0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
	0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x800fffffffffffff,
	0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001,
	0x7ff0000000000001, 0xfff4000000000000, 0x3fe0000000000000, 0x3fdfffffffffffff,
	0x3fefffffffffffff, 0x3ff0000000000001, 0x3ff8000000000000, 0x4004000000000000,
	0xbfe0000000000000, 0x4330000000000000, 0x41dfffffffc00000, 0x41e0000000000000,
	0x41efffffffe00000, 0xc1e0000000200000, 0x47efffffe0000000, 0x47effffff0000000,
	0x36a0000000000000, 0x380fffffe0000000, 0x400921fb54442d18, 0x434fffffffffffff,
};

static const uint32_t edges_int[] = {
	0,      1,      0xffffffff, 2,          0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
	0x7fff, 0x8000, 0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x1000000,
	31,     32,     33,         63,         64,         15,         16,         0x7f,
	0x80,   0xff,   0x55555555, 0xaaaaaaaa, 0x00ff00ff, 0x80007fff, 0xffff8000, 0x01020304,
};

static const uint64_t edges_int64[] = {
	0,
	1,
	~0ull,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xffffffff,
	0x100000000,
	0x80000000,
	0xffffffff00000000,
	0x7fffffff,
	0x8000000000000001,
	0xfffffffffffffffe,
	63,
	64,
	0x5555555555555555,
	0x00ff00ff00ff00ff,
	0x0123456789abcdef,
	0xffff0000,
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

uint64_t rng_next(struct rng *rng) /* splitmix64 */
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void rng_seed(struct rng *rng, const char *text)
{
	rng->state = 0xcbf29ce484222325;
	for (; *text; text++)
		rng->state = (rng->state ^ (uint8_t)*text) * 0x100000001b3;
}

static bool is_pair(const struct sg_isa_operand *op)
{
	return is_pair16(op) || op->type_class == SG_TYPE_PK32;
}

size_t input_n_edges(const struct sg_isa_operand *op)
{
	if (op->is_float)
		return op->bits == 16   ? LENGTH(edges_f16)
		       : op->bits == 32 ? LENGTH(edges_f32)
					: LENGTH(edges_f64);
	return op->n_regs >= 2 ? LENGTH(edges_int64) : LENGTH(edges_int);
}

uint64_t input_edge(const struct sg_isa_operand *op, size_t index)
{
	uint64_t v;

	if (op->is_float) {
		v = op->bits == 16   ? edges_f16[index]
		    : op->bits == 32 ? edges_f32[index]
				     : edges_f64[index];
		if (is_pair(op)) { /* the other half: the next edge */
			size_t other = (index + 1) % input_n_edges(op);

			v |= op->bits == 16 ? (uint64_t)edges_f16[other] << 16
					    : (uint64_t)edges_f32[other] << 32;
		} else if (op->bits == 16) {
			v |= 0xabcd0000; /* must not matter */
		}
		return v;
	}
	return op->n_regs >= 2 ? edges_int64[index] : edges_int[index];
}

static uint64_t near_one(unsigned bits, struct rng *rng)
{
	uint64_t r = rng_next(rng);
	uint64_t e = r >> 60;

	switch (bits) {
	case 16:
		return (r & 0x83ff) | (15 - 8 + e) << 10;
	case 32:
		return (r & 0x807fffff) | (127 - 8 + e) << 23;
	default:
		return (r & 0x800fffffffffffff) | (1023 - 8 + e) << 52;
	}
}

uint64_t input_random(const struct sg_isa_operand *op, struct rng *rng)
{
	uint64_t r = rng_next(rng), v;

	switch (r % 4) {
	case 0:
	case 1:
		v = input_edge(op, rng_next(rng) % input_n_edges(op));
		if (is_pair(op)) { /* halves vary on their own */
			unsigned bits = op->bits;
			uint64_t other = input_edge(op, rng_next(rng) % input_n_edges(op));

			v = bits == 16 ? (v & 0xffff) | (other & 0xffff) << 16
				       : (v & 0xffffffff) | other << 32;
		}
		return v;
	case 2:
		if (op->is_float) {
			v = near_one(op->bits, rng);
			if (is_pair(op))
				v |= near_one(op->bits, rng) << op->bits;
			else if (op->bits == 16)
				v |= rng_next(rng) << 16 & 0xffff0000;
			return v;
		}
		return rng_next(rng) >> (r >> 8 & 63);
	default:
		return rng_next(rng);
	}
}
