/* flat, global and scratch: every row in every segment it exists in. */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

#define VADDR 2
#define VDATA 8
#define VDST 16
#define SADDR 20
#define N_VARIANTS 12

enum { SEG_FLAT, SEG_SCRATCH, SEG_GLOBAL };

struct flat {
	unsigned seg;
	bool saddr, acc, glc, lds, top_bit;
	bool sve; /* scratch, from gfx942 on: the VGPR counts, beside the SGPR or alone */
	unsigned vdst;
	int offset;
};

static void encode(const struct world *w, const struct flat *f, uint32_t words[2])
{
	words[0] = 0x37u << 26 | (uint32_t)w->row->op << 18 | (uint32_t)f->glc << 16 |
		   f->seg << 14 | (uint32_t)(w->target >= SG_ISA_GFX942 ? f->sve : f->lds) << 13 |
		   ((uint32_t)f->offset & 0x1fff) | (uint32_t)f->top_bit << 12;
	words[1] = VADDR | VDATA << 8 |
		   (f->seg == SEG_FLAT ? 0
		    : f->saddr         ? SADDR
				       : 0x7fu)
			   << 16 |
		   (uint32_t)f->acc << 23 | f->vdst << 24;
}

/* ---- where the lanes point: chosen here, turned into registers below ---- */

enum { IN_GLOBAL, IN_LDS, IN_PRIVATE };

struct place {
	unsigned kind;
	uint32_t offset; /* into data, LDS, or the lane's private memory */
};

enum { CONSECUTIVE, SCATTERED, UNALIGNED, SAME, N_SHAPES };

static void choose_places(struct world *w, const struct flat *f, unsigned shape, unsigned size,
			  struct place *places)
{
	uint32_t base = 8192 + world_below(w, 256) * 16, turn = world_below(w, 64) | 1;

	for (unsigned l = 0; l < 64; l++) {
		unsigned kind = f->seg == SEG_SCRATCH ? IN_PRIVATE : IN_GLOBAL;
		uint32_t slot = l * turn % 64 * 32, limit = DATA_BYTES;

		if (f->seg == SEG_FLAT && shape != CONSECUTIVE)
			kind = world_below(w, 3);
		limit = kind == IN_LDS       ? LDS_BYTES - 64
			: kind == IN_PRIVATE ? SCRATCH_LANE_BYTES - 64
					     : limit;
		uint32_t from = kind == IN_GLOBAL ? base : 0;
		uint32_t offset = shape == CONSECUTIVE ? l * size : shape == SAME ? 64 : slot;

		if (shape == UNALIGNED)
			offset += world_below(w, 16);
		if (kind == IN_PRIVATE && shape != SAME)
			offset = world_below(w, 24) * 16 +
				 (shape == UNALIGNED ? world_below(w, 4) : 0);
		places[l] = (struct place){ kind, from + offset % limit };
	}
}

static void write_addresses(struct world *w, const struct flat *f, const struct place *places)
{
	uint64_t base = MEM_AT + world_below(w, 4096);

	if (world_below(w, 2)) /* the register beside a scalar base has no sign */
		base -= 0x80000000u;

	w->step.sgpr[SADDR] = (uint32_t)base;
	w->step.sgpr[SADDR + 1] = (uint32_t)(base >> 32);
	if (f->seg == SEG_SCRATCH)
		w->step.sgpr[SADDR] =
			f->sve ? (uint32_t)base : places[0].offset - (uint32_t)f->offset;
	for (unsigned l = 0; l < 64; l++) {
		uint64_t addr = MEM_AT + places[l].offset;

		if (places[l].kind == IN_LDS)
			addr = (uint64_t)SHARED_HI << 32 | places[l].offset;
		if (places[l].kind == IN_PRIVATE)
			addr = (f->seg == SEG_FLAT ? (uint64_t)PRIVATE_HI << 32 : 0) |
			       places[l].offset;
		addr -= (uint64_t)(int64_t)f->offset;
		if (f->saddr && (f->seg == SEG_GLOBAL || f->sve))
			addr -= base;
		w->step.vgpr[VADDR][l] = (uint32_t)addr;
		if (!f->saddr && f->seg != SEG_SCRATCH)
			w->step.vgpr[VADDR + 1][l] = (uint32_t)(addr >> 32);
	}
}

static struct access locate(struct world *w, const struct place *p, unsigned lane, unsigned size)
{
	struct access a = { 0 };

	for (unsigned b = 0; b < size; b++)
		a.byte[b] = p->kind == IN_GLOBAL ? ref_global(w, MEM_AT + p->offset + b)
			    : p->kind == IN_LDS  ? ref_lds(w, p->offset, b)
						 : ref_private(w, lane, p->offset + b);
	return a;
}

/* ---- loads and stores ---- */

static void reference_move(struct world *w, const struct flat *f, const struct data_type *t,
			   bool store, const struct place *places)
{
	uint32_t(*regs)[64] = f->acc ? w->expect.agpr : w->expect.vgpr;

	for (unsigned l = 0; l < 64; l++) {
		struct access a;

		if (!world_active(w, l))
			continue;
		a = locate(w,
			   f->saddr && f->seg == SEG_SCRATCH && !f->sve ? &places[0] : &places[l],
			   l, t->n_bytes);
		if (store) {
			ref_store(t, &a, regs + VDATA, l);
		} else if (f->lds) {
			unsigned n_bytes = t->n_bytes < 4 ? 4 : t->n_bytes;
			uint32_t all[4][64];

			ref_load(t, &a, all, l);
			for (unsigned b = 0; b < n_bytes; b++) {
				uint8_t *to = ref_lds(w, w->before.sgpr[124],
						      (uint32_t)f->offset + n_bytes * l + b);

				if (to)
					*to = (uint8_t)(all[b / 4][l] >> b % 4 * 8);
			}
		} else {
			ref_load(t, &a, regs + f->vdst, l);
		}
	}
}

static void test_move(struct world *w, const struct data_type *t, bool store, unsigned seg,
		      bool is_to_lds)
{
	for (unsigned v = 0; v < N_VARIANTS * N_SHAPES; v++) {
		unsigned shape = v % N_SHAPES;
		struct flat f = { .seg = seg,
				  .saddr = seg != SEG_FLAT && v / N_SHAPES % 2,
				  .acc = w->target >= SG_ISA_GFX90A && v % 5 == 4 && !is_to_lds };
		struct place places[64];
		uint32_t words[2];
		char what[80];

		if (w->target >= SG_ISA_GFX942 && seg == SEG_SCRATCH)
			f.sve = !f.saddr || v % 3;
		world_reset(w, v / 2);
		f.offset = seg == SEG_FLAT ? (int)world_below(w, 4096)
					   : (int)world_below(w, 8192) - 4096;
		f.top_bit = seg == SEG_FLAT && v % 3 == 2; /* of 13 bits: flat has 12 */
		f.vdst = !store && v % 7 == 6 && !f.acc ? VADDR : VDST;
		choose_places(w, &f, store && shape == SAME ? SCATTERED : shape, t->n_bytes,
			      places);
		if (w->target >= SG_ISA_GFX942) /* loads to LDS have rows of their own */
			f.lds = is_to_lds;
		else
			f.lds = !store && seg != SEG_FLAT && v % 11 == 10 && !f.acc &&
				t->n_bytes <= 4 && !t->half;
		if (f.lds)
			f.offset &= ~3; /* LDS gets whole dwords */
		write_addresses(w, &f, places);
		world_fork(w);
		reference_move(w, &f, t, store, places);
		encode(w, &f, words);
		snprintf(what, sizeof(what),
			 "segment %u variant %u shape %u saddr %d offset %d lds %d", seg, v, shape,
			 f.saddr, f.offset, f.lds);
		world_check(w, words, 2, what);
	}
}

/* ---- atomics ---- */

struct atomic {
	const char *name, *op;
	unsigned bits;
};

/* clang-format off */
static const struct atomic atomics[] = {
	{ "swap", "swap", 32 }, { "cmpswap", "cmpswap", 32 }, { "add", "add", 32 }, { "sub", "sub", 32 },
	{ "smin", "smin", 32 }, { "umin", "umin", 32 }, { "smax", "smax", 32 }, { "umax", "umax", 32 },
	{ "and", "and", 32 }, { "or", "or", 32 }, { "xor", "xor", 32 }, { "inc", "inc", 32 },
	{ "dec", "dec", 32 }, { "swap_x2", "swap", 64 }, { "cmpswap_x2", "cmpswap", 64 },
	{ "add_x2", "add", 64 }, { "sub_x2", "sub", 64 }, { "smin_x2", "smin", 64 },
	{ "umin_x2", "umin", 64 }, { "smax_x2", "smax", 64 }, { "umax_x2", "umax", 64 },
	{ "and_x2", "and", 64 }, { "or_x2", "or", 64 }, { "xor_x2", "xor", 64 }, { "inc_x2", "inc", 64 },
	{ "dec_x2", "dec", 64 }, { "add_f32", "fadd_flush", 32 }, { "pk_add_f16", "pk_add_f16", 32 },
	{ "pk_add_bf16", "pk_add_bf16", 32 },
	{ "add_f64", "fadd", 64 }, { "min_f64", "fmin", 64 }, { "max_f64", "fmax", 64 },
};
/* clang-format on */

static void test_atomic(struct world *w, const struct atomic *at, unsigned seg)
{
	bool can_return = false;

	for (unsigned n = 0; n < w->row->n_operands; n++)
		can_return |= w->row->operand[n].role == SG_ROLE_VDST;
	for (unsigned v = 0; v < N_VARIANTS * 2; v++) {
		struct flat f = { .seg = seg,
				  .saddr = seg != SEG_FLAT && v / 2 % 2,
				  .glc = can_return && v & 1,
				  .acc = w->target >= SG_ISA_GFX90A && v % 5 == 4,
				  .vdst = VDST };
		unsigned shape = v % 3 == 0 ? CONSECUTIVE : v % 3 == 1 ? SCATTERED : SAME;
		unsigned n_regs = at->bits / 32;
		struct place places[64];
		uint32_t words[2];
		char what[80];

		world_reset(w, v / 2);
		f.offset = (int)world_below(w, 512) * 8;
		choose_places(w, &f, shape, at->bits / 8, places);
		world_make_atomic_data(w, at->op, at->bits,
				       f.acc ? w->step.agpr + VDATA : w->step.vgpr + VDATA);
		write_addresses(w, &f, places);
		world_fork(w);

		uint32_t(*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = locate(w, &places[l], l, at->bits / 8);

			if (world_active(w, l))
				ref_atomic_lane(at->op, at->bits, &a, regs + VDATA,
						regs + VDATA + n_regs, f.glc ? regs + f.vdst : NULL,
						l);
		}
		encode(w, &f, words);
		snprintf(what, sizeof(what), "segment %u variant %u shape %u glc %d saddr %d", seg,
			 v, shape, f.glc, f.saddr);
		world_check(w, words, 2, what);
	}
}

bool test_flat_row(struct world *w)
{
	const char *name = w->row->mnemonic + strlen("flat_");
	const struct data_type *t = NULL;
	const struct atomic *at = NULL;
	bool store = !strncmp(name, "store_", 6), is_to_lds = !strncmp(name, "load_lds_", 9);

	if (is_to_lds)
		t = ref_type(name + 9);
	else if (store || !strncmp(name, "load_", 5))
		t = ref_type(strchr(name, '_') + 1);
	for (size_t n = 0; n < sizeof(atomics) / sizeof(*atomics); n++)
		if (!strncmp(name, "atomic_", 7) && !strcmp(name + 7, atomics[n].name))
			at = &atomics[n];
	if (!t && !at)
		return false;
	for (unsigned seg = 0; seg < 3; seg++) {
		if (!(w->row->segments & 1u << seg))
			continue;
		if (t)
			test_move(w, t, store, seg, is_to_lds);
		else
			test_atomic(w, at, seg);
	}
	return true;
}
