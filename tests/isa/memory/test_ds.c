/* The data share: every row, with lanes inside and outside of LDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/exec/gws.h"
#include "tests/isa/memory/world.h"

#define VADDR 2
#define DATA0 8
#define DATA1 14
#define VDST 20
#define N_VARIANTS 36

struct ds {
	unsigned offset, vdst;
	bool acc, gds;
};

static void encode(const struct world *w, const struct ds *d, uint32_t words[2])
{
	unsigned used[4] = { 0 };

	for (unsigned n = 0; n < w->row->n_operands; n++)
		switch (w->row->operand[n].role) {
		case SG_ROLE_VADDR:
			used[0] = VADDR;
			break;
		case SG_ROLE_DATA0:
			used[1] = DATA0;
			break;
		case SG_ROLE_DATA1:
			used[2] = DATA1;
			break;
		case SG_ROLE_VDST:
			used[3] = d->vdst;
			break;
		}
	words[0] = 0x36u << 26 | (uint32_t)d->acc << 25 | (uint32_t)w->row->op << 17 |
		   (uint32_t)d->gds << 16 | d->offset;
	words[1] = used[0] | used[1] << 8 | used[2] << 16 | used[3] << 24;
}

/* Addresses such that address + offset is mostly inside; by turns consecutive, spread, equal. */
static void write_addresses(struct world *w, unsigned v, unsigned size, unsigned align,
			    uint32_t offset)
{
	uint32_t first = world_below(w, 32) * 16, turn = world_below(w, 64) | 1;

	for (unsigned l = 0; l < 64; l++) {
		uint32_t at = first + l * size;

		if (v % 4 == 1)
			at = l * turn % 64 * 64 + world_below(w, 48) / align * align;
		if (v % 4 == 2)
			at = (l * turn % 64 * 65 + world_below(w, 40)) / align *
			     align; /* past the end */
		if (v % 4 == 3)
			at = 64 + l / 16 * 16;
		if (v % 16 == 2 && l % 5 == 0)
			at = 0x80000000u + l * 16;
		w->step.vgpr[VADDR][l] = at - offset; /* may be negative: addresses wrap */
	}
}

/* size bytes at address + offset; all of them, or none when any is outside */
static struct access locate(struct world *w, unsigned lane, uint32_t offset, unsigned size,
			    bool gds)
{
	uint32_t at = w->before.vgpr[VADDR][lane] + offset;
	struct access a = { 0 };

	if (gds || (uint64_t)at + size > LDS_BYTES)
		return a;
	for (unsigned b = 0; b < size; b++)
		a.byte[b] = ref_lds(w, at, b);
	return a;
}

static bool run(struct world *w, const struct ds *d, unsigned v)
{
	uint32_t words[2];
	char what[60];

	encode(w, d, words);
	snprintf(what, sizeof(what), "variant %u offset %u vdst %u acc %d gds %d", v, d->offset,
		 d->vdst, d->acc, d->gds);
	return world_check(w, words, 2, what);
}

static struct ds variant(struct world *w, unsigned v)
{
	struct ds d = { .vdst = VDST,
			.acc = w->target >= SG_ISA_GFX90A && v % 5 == 4,
			.gds = w->target < SG_ISA_GFX942 && v % 13 == 12 };

	world_reset(w, v / 4);
	d.offset = world_below(w, 3) ? world_below(w, 2048) : 0;
	return d;
}

static uint32_t (*registers(struct world *w, const struct ds *d))[64]
{
	return d->acc ? w->expect.agpr : w->expect.vgpr;
}

/* ---- reads and writes ---- */

static void test_move(struct world *w, const struct data_type *t, bool write)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);

		if (!write && v % 7 == 6 && !d.acc)
			d.vdst = VADDR;
		/* two lanes never write the same place: which of them is last is not defined */
		write_addresses(w, write && v % 4 == 3 ? v - 2 : v, t->n_bytes,
				v % 3 ? t->n_bytes & -t->n_bytes : 1, d.offset);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, l, d.offset, t->n_bytes, d.gds);

			if (!world_active(w, l))
				continue;
			if (write)
				ref_store(t, &a, registers(w, &d) + DATA0, l);
			else
				ref_load(t, &a, registers(w, &d) + d.vdst, l);
		}
		run(w, &d, v);
	}
}

static void test_pair(struct world *w, const char *kind, unsigned bits, unsigned unit)
{
	const struct data_type *t = ref_type(bits == 64 ? "b64" : "b32");
	unsigned n_regs = bits / 32;

	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);
		unsigned first = world_below(w, unit > 8 ? 8 : 64), second = first + 1;

		d.offset = first | second << 8;
		if (*kind == 'r' && v % 3 == 2 && !d.acc)
			d.vdst = VADDR;
		write_addresses(w, v % 4 == 3 ? v - 3 : v, 2 * t->n_bytes, bits / 8, first * unit);
		world_fork(w);
		/* all lanes' first halves, then all second ones */
		for (unsigned n = 0; n < 2 * 64; n++) {
			unsigned l = n % 64, which = n / 64;
			uint32_t offset = (which ? second : first) * unit;
			struct access a = locate(w, l, offset, bits / 8, d.gds);
			uint32_t(*regs)[64] = registers(w, &d);

			if (!world_active(w, l))
				continue;
			if (*kind != 'w') /* read, exchange */
				ref_load(t, &a, regs + d.vdst + which * n_regs, l);
			if (*kind != 'r')
				ref_store(t, &a, regs + (which ? DATA1 : DATA0), l);
		}
		run(w, &d, v);
	}
}

/* ---- atomics ---- */

struct atomic {
	const char *name, *op;
	unsigned bits;
};

/* clang-format off */
static const struct atomic atomics[] = {
	{ "add_u32", "add", 32 }, { "sub_u32", "sub", 32 }, { "rsub_u32", "rsub", 32 },
	{ "inc_u32", "inc", 32 }, { "dec_u32", "dec", 32 }, { "min_i32", "smin", 32 },
	{ "max_i32", "smax", 32 }, { "min_u32", "umin", 32 }, { "max_u32", "umax", 32 },
	{ "and_b32", "and", 32 }, { "or_b32", "or", 32 }, { "xor_b32", "xor", 32 },
	{ "mskor_b32", "mskor", 32 }, { "wrxchg_b32", "swap", 32 }, { "cmpst_b32", "cmpst", 32 },
	{ "cmpst_f32", "fcmpst", 32 }, { "min_f32", "fmin", 32 }, { "max_f32", "fmax", 32 },
	{ "add_f32", "fadd", 32 }, { "wrap_b32", "wrap", 32 }, { "write_b32", "swap", 32 },
	{ "add_u64", "add", 64 }, { "sub_u64", "sub", 64 }, { "rsub_u64", "rsub", 64 },
	{ "inc_u64", "inc", 64 }, { "dec_u64", "dec", 64 }, { "min_i64", "smin", 64 },
	{ "max_i64", "smax", 64 }, { "min_u64", "umin", 64 }, { "max_u64", "umax", 64 },
	{ "and_b64", "and", 64 }, { "or_b64", "or", 64 }, { "xor_b64", "xor", 64 },
	{ "mskor_b64", "mskor", 64 }, { "wrxchg_b64", "swap", 64 }, { "cmpst_b64", "cmpst", 64 },
	{ "cmpst_f64", "fcmpst", 64 }, { "min_f64", "fmin", 64 }, { "max_f64", "fmax", 64 },
	{ "add_f64", "fadd", 64 }, { "write_b64", "swap", 64 }, { "pk_add_f16", "pk_add_f16", 32 },
	{ "pk_add_bf16", "pk_add_bf16", 32 },
};
/* clang-format on */

static const struct atomic *find_atomic(const char *name)
{
	for (size_t n = 0; n < sizeof(atomics) / sizeof(*atomics); n++)
		if (!strcmp(atomics[n].name, name))
			return &atomics[n];
	return NULL;
}

static void test_atomic(struct world *w, const struct atomic *at, bool rtn)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);
		uint32_t(*data)[64] = d.acc ? w->step.agpr : w->step.vgpr;

		d.offset &= ~7u;
		if (rtn && v % 6 == 5)
			d.vdst = DATA0;
		if (!strcmp(w->row->mnemonic, "ds_add_f32") && v % 2)
			w->step.mode &= ~0x30u; /* flushes denormals */
		world_make_atomic_data(w, at->op, at->bits, data + DATA1);
		world_make_atomic_data(w, at->op, at->bits, data + DATA0);
		write_addresses(w, v, at->bits / 8, at->bits / 8, d.offset);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, l, d.offset, at->bits / 8, d.gds);
			uint32_t(*regs)[64] = registers(w, &d);
			const char *op =
				w->before.mode & 0x30 || strcmp(at->op, "fadd") || at->bits == 64
					? at->op
					: "fadd_flush";

			if (world_active(w, l))
				ref_atomic_lane(op, at->bits, &a, regs + DATA0, regs + DATA1,
						rtn ? regs + d.vdst : NULL, l);
		}
		run(w, &d, v);
	}
}

/* DS[A] op= DS[A + distance]: the distance from the offset field, or from the address's top bits */
static void test_src2(struct world *w, const struct atomic *at)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);
		int distance = (int)world_below(w, 64) * 2 - 32;

		d.gds = d.acc = false;
		d.offset = v & 1 ? 0x8000 : (unsigned)distance & 0x7fff;
		world_make_atomic_data(w, at->op, at->bits, w->step.vgpr + DATA0);
		for (unsigned l = 0; l < 64; l++)
			w->step.vgpr[VADDR][l] =
				512 + l * 8 + (v & 1 ? (uint32_t)distance << 17 : 0);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = { 0 }, b = { 0 };
			uint64_t m, s;
			bool known;

			if (!world_active(w, l))
				continue;
			for (unsigned k = 0; k < at->bits / 8; k++) {
				a.byte[k] = ref_lds(w, 512 + l * 8, k);
				b.byte[k] = ref_lds(w, 512 + l * 8 + (uint32_t)(distance * 4), k);
			}
			m = ref_get(&a, 0, at->bits / 8);
			s = ref_get(&b, 0, at->bits / 8);
			ref_put(&a, 0, at->bits / 8, ref_atomic(at->op, at->bits, m, s, 0, &known));
		}
		run(w, &d, v);
	}
}

/* ---- exchanges between lanes ---- */

static unsigned swizzled_lane(unsigned mode, unsigned lane)
{
	unsigned in = lane % 32, out = 0, kept = mode & 31;

	if (mode >> 13 == 7) {
		unsigned shift = 0;

		for (unsigned b = 0; b < 5; b++)
			if (in & 16u >> b)
				out += 1u << b;
		for (unsigned b = 0; b < 5; b++)
			shift += mode >> b & 1;
		out = out >> shift | (in & kept);
	} else if (mode >> 14 == 3) {
		int by = (int)(mode >> 5 & 31) * (mode & 0x400 ? -1 : 1);

		out = (in & kept) | ((unsigned)(((int)in + by) % 32 + 32) % 32 & ~kept & 31);
	} else if (mode >> 15) {
		out = in / 4 * 4 + (mode >> in % 4 * 2 & 3);
	} else {
		for (unsigned b = 0; b < 5; b++) {
			unsigned bit = in >> b & 1 & mode >> b;

			bit |= mode >> (5 + b) & 1;
			out |= (bit ^ (mode >> (10 + b) & 1)) << b;
		}
	}
	return lane / 32 * 32 + out;
}

static void test_swizzle(struct world *w)
{
	static const unsigned modes[] = { 0x001f, 0x041f, 0x7c1f, 0x03e0, 0x2a15,
					  0x80e4, 0x801b, 0x8000, 0xc020, 0xc4e3,
					  0xc07c, 0xe000, 0xe010, 0xe018, 0xe01f };

	for (unsigned v = 0; v < 3 * sizeof(modes) / sizeof(*modes); v++) {
		struct ds d = { .offset = modes[v / 3], .vdst = v % 2 ? VDST : VADDR };

		world_reset(w, v);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			unsigned from = swizzled_lane(d.offset, l);

			if (world_active(w, l))
				w->expect.vgpr[d.vdst][l] =
					world_active(w, from) ? w->before.vgpr[VADDR][from] : 0;
		}
		run(w, &d, v);
	}
}

static void test_permute(struct world *w, bool backward)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = { .offset = v % 2 ? world_below(w, 64) * 4 : 0,
				.vdst = v % 3 ? VDST : DATA0 };
		uint32_t got[64] = { 0 };

		world_reset(w, v);
		for (unsigned l = 0; l < 64; l++)
			w->step.vgpr[VADDR][l] = world_below(w, 1024);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			unsigned other = (w->before.vgpr[VADDR][l] + d.offset) / 4 % 64;

			if (backward)
				got[l] = world_active(w, other) ? w->before.vgpr[DATA0][other] : 0;
			else if (world_active(w, l))
				got[other] = w->before.vgpr[DATA0][l];
		}
		for (unsigned l = 0; l < 64; l++)
			if (world_active(w, l))
				w->expect.vgpr[d.vdst][l] = got[l];
		run(w, &d, v);
	}
}

/* ---- the rest ---- */

static void test_addtid(struct world *w, bool write)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);

		d.gds = false;
		d.offset = d.offset & ~3u;
		w->step.sgpr[124] =
			v % 2 ? LDS_BYTES - 128 - d.offset : 64; /* M0; the first ends outside */
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = { 0 };

			if (!world_active(w, l))
				continue;
			for (unsigned b = 0; b < 4; b++)
				a.byte[b] = ref_lds(w, w->before.sgpr[124], d.offset + 4 * l + b);
			if (write)
				ref_put(&a, 0, 4, registers(w, &d)[DATA0][l]);
			else
				registers(w, &d)[d.vdst][l] = (uint32_t)ref_get(&a, 0, 4);
		}
		run(w, &d, v);
	}
}

static void test_counter(struct world *w, int sign)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);
		struct access a = { 0 };
		uint32_t was, n_active = 0;

		d.offset &= 0xffcu;
		world_fork(w);
		for (unsigned b = 0; b < 4 && !d.gds; b++)
			a.byte[b] = ref_lds(w, w->before.sgpr[124], d.offset + b);
		was = (uint32_t)ref_get(&a, 0, 4);
		for (unsigned l = 0; l < 64; l++) {
			n_active += world_active(w, l);
			if (world_active(w, l))
				registers(w, &d)[d.vdst][l] = was;
		}
		ref_put(&a, 0, 4, was + (uint32_t)sign * n_active);
		run(w, &d, v);
	}
}

static void test_condxchg(struct world *w)
{
	const struct data_type *t = ref_type("b64");

	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);

		d.offset &= ~7u;
		write_addresses(w, v % 4 == 3 ? v - 2 : v, 8, 8, d.offset);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, l, d.offset, 8, d.gds);
			uint32_t(*regs)[64] = registers(w, &d);

			if (!world_active(w, l))
				continue;
			ref_load(t, &a, regs + d.vdst, l);
			for (unsigned n = 0; n < 2; n++)
				if (regs[DATA0 + n][l] >= 0x80000000u)
					ref_put(&a, 4 * n, 4, regs[DATA0 + n][l] - 0x80000000u);
		}
		run(w, &d, v);
	}
}

/* Nothing to see but zeros in the destination, if there is one. */
static void test_quiet(struct world *w, bool zero_dst, bool gds)
{
	struct ds d = { .vdst = VDST, .gds = gds };

	world_reset(w, 1);
	world_fork(w);
	for (unsigned l = 0; l < 64 && zero_dst; l++)
		if (world_active(w, l))
			w->expect.vgpr[VDST][l] = 0;
	run(w, &d, 0);
}

/* The GWS rows need a partner; what they do together is in test_gws(). Here: each of them alone. */
static void test_gws_row(struct world *w)
{
	struct ds d = { .gds = true };
	struct sg_gws *gws = sg_gws_create();
	bool waits = !strcmp(w->row->mnemonic, "ds_gws_sema_p");

	world_reset(w, 0);
	w->step.gws = gws;
	world_fork(w);
	run(w, &d, 0);
	if ((w->step.waits > 0) != waits)
		world_fail(w, "alone", waits ? "did not wait" : "waited");
	sg_gws_destroy(gws);
	world_reset(w, 0);
	world_fork(w);
	w->expect.fault.kind = SG_FAULT_APERTURE;
	run(w, &d, 1);
}

static bool test_special(struct world *w, const char *name)
{
	if (!strcmp(name, "nop"))
		test_quiet(w, false, false);
	else if (!strcmp(name, "ordered_count"))
		test_quiet(w, true, true);
	else if (!strcmp(name, "swizzle_b32"))
		test_swizzle(w);
	else if (!strcmp(name, "permute_b32") || !strcmp(name, "bpermute_b32"))
		test_permute(w, *name == 'b');
	else if (!strcmp(name, "read_addtid_b32") || !strcmp(name, "write_addtid_b32"))
		test_addtid(w, *name == 'w');
	else if (!strcmp(name, "append") || !strcmp(name, "consume"))
		test_counter(w, *name == 'a' ? 1 : -1);
	else if (!strcmp(name, "condxchg32_rtn_b64"))
		test_condxchg(w);
	else if (!strncmp(name, "gws_", 4))
		test_gws_row(w);
	else
		return false;
	return true;
}

static bool test_pairs(struct world *w, const char *name)
{
	/* clang-format off */
	static const struct { const char *name, *kind; unsigned bits, unit; } pairs[] = {
		{ "read2_b32", "r", 32, 4 },       { "read2st64_b32", "r", 32, 256 },
		{ "read2_b64", "r", 64, 8 },       { "read2st64_b64", "r", 64, 512 },
		{ "write2_b32", "w", 32, 4 },      { "write2st64_b32", "w", 32, 256 },
		{ "write2_b64", "w", 64, 8 },      { "write2st64_b64", "w", 64, 512 },
		{ "wrxchg2_rtn_b32", "x", 32, 4 }, { "wrxchg2st64_rtn_b32", "x", 32, 256 },
		{ "wrxchg2_rtn_b64", "x", 64, 8 }, { "wrxchg2st64_rtn_b64", "x", 64, 512 },
	};
	/* clang-format on */

	for (size_t n = 0; n < sizeof(pairs) / sizeof(*pairs); n++)
		if (!strcmp(pairs[n].name, name)) {
			test_pair(w, pairs[n].kind, pairs[n].bits, pairs[n].unit);
			return true;
		}
	return false;
}

/* "add_rtn_u32" without "_rtn"; false: there is none */
static bool without(const char *name, const char *part, char *out, size_t size)
{
	const char *at = strstr(name, part);

	snprintf(out, size, "%.*s%s", at ? (int)(at - name) : (int)strlen(name), name,
		 at ? at + strlen(part) : "");
	return at != NULL;
}

/* 16 lanes have rows of 16 elements one after the other, and each lane gets a column. */
static void test_transpose(struct world *w, unsigned bits)
{
	unsigned n_bytes = w->row->mem_bytes, n = n_bytes * 8 / bits;

	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct ds d = variant(w, v);
		uint8_t read[64][16] = { 0 };

		d.offset &= ~7u;
		write_addresses(w, v, n_bytes, 8, d.offset);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, l, d.offset, n_bytes, false);

			for (unsigned b = 0; b < n_bytes && world_active(w, l); b++)
				read[l][b] = a.byte[b] ? *a.byte[b] : 0;
		}
		for (unsigned l = 0; l < 64; l++) {
			for (unsigned r = 0; r < n_bytes / 4 && world_active(w, l); r++)
				registers(w, &d)[d.vdst + r][l] = 0;
			for (unsigned b = 0; b < n_bytes * 8 && world_active(w, l); b++) {
				/* bit b is of row b / bits; where that row has this lane's column */
				unsigned element = b / bits * 16 + l % 16;
				const uint8_t *from = read[l / 16 * 16 + element / n];
				unsigned at = element % n * bits + b % bits;

				registers(w, &d)[d.vdst + b / 32][l] |=
					(uint32_t)(from[at / 8] >> at % 8 & 1) << b % 32;
			}
		}
		run(w, &d, v);
	}
}

bool test_ds_row(struct world *w)
{
	const char *name = w->row->mnemonic + strlen("ds_");
	const char *transposed = strstr(name, "_tr_b");
	const struct data_type *t = NULL;
	char plain[40], base[40];
	bool rtn, src2;

	if (test_special(w, name) || test_pairs(w, name))
		return true;
	if (transposed) {
		test_transpose(w, (unsigned)atoi(transposed + 5));
		return true;
	}
	if (!strncmp(name, "read_", 5) || (!strncmp(name, "write_", 6) && !strstr(name, "src2")))
		t = ref_type(strchr(name, '_') + 1);
	if (t) {
		test_move(w, t, *name == 'w');
		return true;
	}
	rtn = without(name, "_rtn", plain, sizeof(plain));
	src2 = without(plain, "_src2", base, sizeof(base));
	if (!find_atomic(base))
		return false;
	if (src2)
		test_src2(w, find_atomic(base));
	else
		test_atomic(w, find_atomic(base), rtn);
	return true;
}
