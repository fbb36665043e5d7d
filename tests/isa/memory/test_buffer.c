/* Buffers: every row through linear, structured, swizzled and stack descriptors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

#define SRSRC 8
#define SOFFSET 20
#define VADDR 2
#define VDATA 8
#define N_VARIANTS 40

struct buffer {
	bool idxen, offen, glc, lds, acc, tfe;
	unsigned imm, dfmt, nfmt;
	bool soffset_inline;
	uint32_t soffset;
	/* the descriptor */
	uint32_t base, stride, n_records, index_stride; /* base: offset into memory */
	bool swizzled, add_lane;
	uint32_t select;              /* dst_sel_x .. w */
};

static void encode(const struct world *w, const struct buffer *f, uint32_t words[2])
{
	bool typed = w->row->enc == WS_ENC_MTBUF;

	words[0] = f->imm | (uint32_t)f->offen << 12 | (uint32_t)f->idxen << 13 | (uint32_t)f->glc << 14;
	if (typed)
		words[0] |= 0x3au << 26 | (uint32_t)w->row->op << 15 | f->dfmt << 19 | f->nfmt << 23;
	else
		words[0] |= 0x38u << 26 | (uint32_t)w->row->op << 18 | (uint32_t)f->lds << 16;
	words[1] = VADDR | VDATA << 8 | SRSRC / 4 << 16 | (uint32_t)(f->acc || f->tfe) << 23 |
		   (f->soffset_inline ? 128 + f->soffset : SOFFSET) << 24;
}

/* ---- descriptors and addresses ---- */

enum { RAW, STRUCTURED, SWIZZLED, STACK, N_KINDS };

static struct buffer make(struct world *w, unsigned v)
{
	struct buffer f = { .imm = world_below(w, 4) ? world_below(w, 256) * 4 : 0, .select = 0xfac };
	unsigned kind = v % N_KINDS;

	f.base = 8192 + world_below(w, 64) * 16;
	f.acc = w->target == WS_GFX90A && v % 5 == 4;
	f.soffset_inline = v % 3 == 0;
	f.soffset = f.soffset_inline ? world_below(w, 16) * 4 : world_below(w, 256) * 4;
	f.idxen = kind == STRUCTURED || kind == SWIZZLED;
	f.offen = v / N_KINDS % 2;
	f.index_stride = 8u << world_below(w, 4);
	if (kind == RAW) {
		f.n_records = 4096;
	} else if (kind == STRUCTURED) {
		f.stride = 64;
		f.n_records = 48; /* of lanes that go up to 63 */
	} else if (kind == SWIZZLED) {
		f.stride = 64;
		f.n_records = 50;
		f.swizzled = true;
		f.imm = world_below(w, 8) * 4;
	} else {
		f.base = DATA_BYTES;
		f.swizzled = f.add_lane = true;
		f.index_stride = 64;
		f.imm = world_below(w, 24) * 4;
		f.n_records = 64 * SCRATCH_LANE_BYTES;
		if (f.soffset_inline)
			f.soffset = 0;
		else
			f.soffset = 512;
	}
	return f;
}

static void write_operands(struct world *w, const struct buffer *f, unsigned v, unsigned align, bool spread)
{
	uint64_t base = MEM_AT + f->base;
	unsigned shift = 0;

	while (8u << shift < f->index_stride)
		shift++;
	w->step.sgpr[SRSRC] = (uint32_t)base;
	w->step.sgpr[SRSRC + 1] = (uint32_t)(base >> 32) | f->stride << 16 | (uint32_t)f->swizzled << 31;
	w->step.sgpr[SRSRC + 2] = f->n_records;
	w->step.sgpr[SRSRC + 3] = f->select | f->nfmt << 12 | (f->add_lane ? 0 : f->dfmt << 15) |
				  shift << 21 | (uint32_t)f->add_lane << 23;
	w->step.sgpr[SOFFSET] = f->soffset;
	for (unsigned l = 0; l < 64; l++) {
		unsigned k = 0;

		if (f->idxen)
			w->step.vgpr[VADDR + k++][l] = l * 37 % 64;
		if (!f->offen)
			continue;
		w->step.vgpr[VADDR + k][l] = f->stride ? world_below(w, 32) / align * align
				 : f->add_lane ? v % 3 && !spread ? 64 : world_below(w, 40) / align * align
					       : l * 64 + world_below(w, 48) / align * align;
	}
}

/*
 * Byte b of a lane's access, or NULL. unit: bytes that are inside or outside together.
 */
static uint8_t *locate_byte(struct world *w, const struct buffer *f, unsigned lane, unsigned b, unsigned unit)
{
	const uint32_t *va[2] = { w->before.vgpr[VADDR], w->before.vgpr[VADDR + 1] };
	uint64_t index = (f->idxen ? va[0][lane] : 0) + (f->add_lane ? lane : 0);
	uint64_t first = f->imm + (f->offen ? va[f->idxen][lane] : 0);
	uint64_t checked = first + b / unit * unit, offset = first + b, at, at_checked;

	at = index * f->stride + offset;
	at_checked = index * f->stride + checked;
	if (f->swizzled) {
		uint64_t s = f->index_stride, block = index / s * f->stride, in = index % s * 4;

		at = (block + offset / 4 * 4) * s + in + offset % 4;
		at_checked = (block + checked / 4 * 4) * s + in + checked % 4;
	}
	if (f->idxen && f->stride) {
		if (index >= f->n_records || (f->swizzled && checked >= f->stride))
			return NULL;
	} else if (at_checked + f->soffset >= f->n_records) {
		return NULL;
	}
	return ref_global(w, MEM_AT + f->base + f->soffset + at);
}

/* whole: all bytes or none */
static struct access locate(struct world *w, const struct buffer *f, unsigned lane, unsigned size, bool whole)
{
	struct access a = { 0 }, none = { 0 };

	for (unsigned b = 0; b < size; b++) {
		a.byte[b] = locate_byte(w, f, lane, b, whole ? 1 : 4);
		if (whole && !a.byte[b])
			return none;
	}
	return a;
}

static bool run(struct world *w, const struct buffer *f, unsigned v)
{
	uint32_t words[2];
	char what[120];

	encode(w, f, words);
	snprintf(what, sizeof(what),
		 "variant %u idxen %d offen %d imm %u soffset %u index stride %u lds %d format %u/%u", v,
		 f->idxen, f->offen, f->imm, f->soffset, f->index_stride, f->lds, f->dfmt, f->nfmt);
	return world_check(w, words, 2, what);
}

static void to_lds(struct world *w, const struct buffer *f, unsigned lane, uint32_t v)
{
	for (unsigned b = 0; b < 4; b++) {
		uint8_t *to = ref_lds(w, w->before.sgpr[124], f->imm + 4 * lane + b);

		if (to)
			*to = (uint8_t)(v >> 8 * b);
	}
}

/* ---- loads, stores, atomics ---- */

static void test_move(struct world *w, const struct data_type *t, bool store)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;
		bool aligned = store || v % 6;

		world_reset(w, v / 8);
		f = make(w, v);
		f.lds = !store && v % 7 == 6 && !f.acc && t->n_bytes <= 4 && !t->half;
		f.tfe = w->target == WS_GFX908 && !store && !f.lds && v % 3 == 2;
		write_operands(w, &f, v, aligned ? 4 : 1, false);
		if (store && f.offen && !f.idxen && !f.add_lane) /* no two lanes to one place */
			for (unsigned l = 0; l < 64; l++)
				w->step.vgpr[VADDR][l] = l * 64;
		world_fork(w);
		uint32_t (*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &f, l, t->n_bytes, false);
			uint32_t one[1][64];

			if (!world_active(w, l))
				continue;
			if (f.lds) {
				ref_load(t, &a, one, l);
				to_lds(w, &f, l, one[0][l]);
			} else if (store) {
				ref_store(t, &a, regs + VDATA, l);
			} else {
				ref_load(t, &a, regs + VDATA, l);
				if (f.tfe)
					regs[VDATA + (t->n_bytes + 3) / 4][l] = 0;
			}
		}
		run(w, &f, v);
	}
}

static void test_atomic(struct world *w, const char *op, unsigned bits, bool can_return)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;

		world_reset(w, v / 8);
		f = make(w, v);
		f.imm &= ~7u;
		f.soffset &= ~7u;
		f.glc = can_return && v & 1;
		world_make_atomic_data(w, op, bits, (f.acc ? w->step.agpr : w->step.vgpr) + VDATA);
		write_operands(w, &f, v, 8, false);
		world_fork(w);
		uint32_t (*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &f, l, bits / 8, true);

			if (world_active(w, l))
				ref_atomic_lane(op, bits, &a, regs + VDATA, regs + VDATA + bits / 32,
						f.glc ? regs + VDATA : NULL, l);
		}
		run(w, &f, v);
	}
}

static void test_store_lds(struct world *w)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;

		world_reset(w, v / 4);
		f = make(w, 3); /* the lane is added */
		f.lds = true;
		f.offen = f.idxen = f.acc = false;
		write_operands(w, &f, v, 4, false);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &f, l, 4, false), from = { 0 };

			for (unsigned b = 0; b < 4; b++)
				from.byte[b] = ref_lds(w, w->before.sgpr[124], f.imm + 4 * l + b);
			if (world_active(w, l))
				ref_put(&a, 0, 4, ref_get(&from, 0, 4));
		}
		uint32_t words[2];

		encode(w, &f, words);
		words[1] &= ~0xffffu;
		world_check(w, words, 2, "from LDS");
	}
}

/* ---- formats ---- */

static const char *const layouts[16] = { /* bits of x y z w */
	[1] = "8", [2] = "16", [3] = "8 8", [4] = "32", [5] = "16 16", [6] = "11 11 10", [7] = "10 11 11",
	[8] = "2 10 10 10", [9] = "10 10 10 2", [10] = "8 8 8 8", [11] = "32 32", [12] = "16 16 16 16",
	[13] = "32 32 32", [14] = "32 32 32 32",
};

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
	return component(f->nfmt, get_bits(a, at, component_bits(f->dfmt, k)), component_bits(f->dfmt, k));
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
			*p &= ~(1u << (f->dfmt == 6 ? 10 : 9) | 1u << (f->dfmt == 6 ? 21 : 20) | 1u << 31);
	}
}

static void test_format_load(struct world *w, unsigned n, bool d16, bool hi)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;
		unsigned size;

		world_reset(w, v / 8);
		f = make(w, v % N_KINDS == STACK && w->row->enc == WS_ENC_MUBUF ? v + 1 : v);
		choose_format(w, v, &f);
		if (w->row->enc == WS_ENC_MUBUF && v % 3 == 1)
			f.select = 1 | 6 << 3 | 4 << 6 | 0 << 9; /* 1, z, x, 0 */
		size = component_bits(f.dfmt, 4) / 8;
		write_operands(w, &f, v, 4, false);
		make_floats(w, &f);
		f.lds = w->row->enc == WS_ENC_MUBUF && n == 1 && !d16 && v % 11 == 10 && !f.acc;
		world_fork(w);
		uint32_t (*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &f, l, size, true);

			for (unsigned k = 0; k < n && world_active(w, l); k++) {
				unsigned from = w->row->enc == WS_ENC_MTBUF ? 4 + k : f.select >> 3 * k & 7;
				uint32_t c = from >= 4 ? reference_component(&f, &a, from - 4)
					   : from == 0 ? 0 : is_int(f.nfmt) ? 1 : 0x3f800000;
				uint32_t *to = &regs[VDATA + (d16 ? k / 2 : k)][l];

				if (f.lds)
					to_lds(w, &f, l, c);
				else if (!d16)
					*to = c;
				else if (hi || k & 1)
					*to = (*to & 0xffff) | to_d16(f.nfmt, c) << 16;
				else
					*to = (*to & 0xffff0000) | to_d16(f.nfmt, c);
			}
		}
		run(w, &f, v);
	}
}

/*
 * Stores: every value that a component can have is written from what it reads as, so the reference of
 * the loads serves again; values beyond the format's range are the clamp test's.
 */
static void test_format_store(struct world *w, unsigned n, bool d16, bool hi)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;
		unsigned size, at = 0;
		uint8_t element[64][16] = { { 0 } };

		world_reset(w, v / 8);
		f = make(w, v % N_KINDS == STACK && w->row->enc == WS_ENC_MUBUF ? v + 1 : v);
		choose_format(w, v, &f);
		if (d16 && (component_bits(f.dfmt, 0) == 32 ||
			    (!is_int(f.nfmt) && component_bits(f.dfmt, 0) >= 10 && f.nfmt != 7)))
			f.nfmt = 7; /* what goes through 16 bits and back unharmed */
		if (d16 && component_bits(f.dfmt, 0) == 32)
			f.dfmt = 12;
		if (f.nfmt == 7 && (f.dfmt == 8 || f.dfmt == 9))
			f.dfmt = 12;
		size = component_bits(f.dfmt, 4) / 8;
		write_operands(w, &f, v, 4, true);
		if (f.offen)
			for (unsigned l = 0; l < 64; l++)
				w->step.vgpr[VADDR + f.idxen][l] = f.idxen || f.add_lane ? 16 : l * 64;
		uint32_t (*regs)[64] = f.acc ? w->step.agpr : w->step.vgpr;

		for (unsigned k = 0; k < 4 && component_bits(f.dfmt, k); k++) {
			unsigned bits = component_bits(f.dfmt, k);

			for (unsigned l = 0; l < 64; l++) {
				uint32_t raw = (uint32_t)world_random(w) & (uint32_t)((1ull << bits) - 1), c;

				if (f.nfmt == 7) /* no NaN */
					raw &= bits == 32 ? 0xbfffffff : bits == 16 ? 0xbfff : ~(1u << (bits - 1));
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
					regs[VDATA + k / 2][l] = (regs[VDATA + k / 2][l] & 0xffff0000) |
								 to_d16(f.nfmt, c);
			}
			at += bits;
		}
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &f, l, size, true);

			for (unsigned b = 0; b < size && world_active(w, l); b++)
				if (a.byte[b])
					*a.byte[b] = element[l][b];
		}
		run(w, &f, v);
	}
}

static bool test_format_row(struct world *w, const char *tail, bool store)
{
	bool d16 = !strncmp(tail, "d16_", 4), hi = !strncmp(tail, "d16_hi_", 7);
	const char *components = tail + (hi ? 7 : d16 ? 4 : 0);
	unsigned n = (unsigned)strlen(components);

	if (strncmp("xyzw", components, n) || !n)
		return false;
	if (store)
		test_format_store(w, n, d16, hi);
	else
		test_format_load(w, n, d16, hi);
	return true;
}

static bool test_atomic_row(struct world *w, const char *name)
{
	static const struct { const char *name, *op; unsigned bits; } others[] = {
		{ "add_f32", "fadd_flush", 32 }, { "pk_add_f16", "pk_add_f16", 32 }, { "add_f64", "fadd", 64 },
		{ "min_f64", "fmin", 64 }, { "max_f64", "fmax", 64 },
	};
	static const char *const ops[] = { "swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax",
					   "and", "or", "xor", "inc", "dec" };

	for (size_t n = 0; n < sizeof(others) / sizeof(*others); n++)
		if (!strcmp(name, others[n].name)) {
			test_atomic(w, others[n].op, others[n].bits, w->row->targets & WS_ISA_GFX90A);
			return true;
		}
	for (size_t n = 0; n < sizeof(ops) / sizeof(*ops); n++) {
		size_t length = strlen(ops[n]);

		if (strncmp(name, ops[n], length) || (name[length] && strcmp(name + length, "_x2")))
			continue;
		test_atomic(w, ops[n], name[length] ? 64 : 32, true);
		return true;
	}
	return false;
}

static void test_quiet(struct world *w)
{
	uint32_t words[2] = { 0x38u << 26 | (uint32_t)w->row->op << 18, 0 };

	world_reset(w, 0);
	world_fork(w);
	world_check(w, words, 2, "cache");
}

bool test_buffer_row(struct world *w)
{
	const char *name = strchr(w->row->mnemonic, '_') + 1;
	const struct data_type *t = NULL;
	bool store = !strncmp(name, "store_", 6);

	if (!strncmp(name, "wb", 2) || !strncmp(name, "inv", 3)) {
		test_quiet(w);
		return true;
	}
	if (!strcmp(name, "store_lds_dword")) {
		test_store_lds(w);
		return true;
	}
	if (!strncmp(name, "atomic_", 7))
		return test_atomic_row(w, name + 7);
	name = strchr(name, '_') + 1;
	if (!strncmp(name, "format_", 7))
		return test_format_row(w, name + 7, store);
	t = ref_type(name);
	if (t)
		test_move(w, t, store);
	return t != NULL;
}
