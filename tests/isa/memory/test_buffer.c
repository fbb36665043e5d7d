/* Buffers: every row through linear, structured, swizzled and stack descriptors. */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/test_buffer.h"

void buffer_encode(const struct world *w, const struct buffer *f, uint32_t words[2])
{
	bool typed = w->row->enc == SG_ENC_MTBUF;

	words[0] = f->imm | (uint32_t)f->offen << 12 | (uint32_t)f->idxen << 13 |
		   (uint32_t)f->glc << 14;
	if (typed)
		words[0] |=
			0x3au << 26 | (uint32_t)w->row->op << 15 | f->dfmt << 19 | f->nfmt << 23;
	else
		words[0] |= 0x38u << 26 | (uint32_t)w->row->op << 18 | (uint32_t)f->lds << 16;
	words[1] = VADDR | VDATA << 8 | SRSRC / 4 << 16 | (uint32_t)(f->acc || f->tfe) << 23 |
		   (f->soffset_inline ? 128 + f->soffset : SOFFSET) << 24;
}

/* ---- descriptors and addresses ---- */

struct buffer buffer_make(struct world *w, unsigned v)
{
	struct buffer f = { .imm = world_below(w, 4) ? world_below(w, 256) * 4 : 0,
			    .select = 0xfac };
	unsigned kind = v % N_KINDS;

	f.base = 8192 + world_below(w, 64) * 16;
	f.acc = w->target >= SG_ISA_GFX90A && v % 5 == 4;
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

void buffer_write_operands(struct world *w, const struct buffer *f, unsigned v, unsigned align,
			   bool spread)
{
	uint64_t base = MEM_AT + f->base;
	unsigned shift = 0;

	while (8u << shift < f->index_stride)
		shift++;
	w->step.sgpr[SRSRC] = (uint32_t)base;
	w->step.sgpr[SRSRC + 1] =
		(uint32_t)(base >> 32) | f->stride << 16 | (uint32_t)f->swizzled << 31;
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
		w->step.vgpr[VADDR + k][l] =
			f->stride     ? world_below(w, 32) / align * align
			: f->add_lane ? v % 3 && !spread ? 64 : world_below(w, 40) / align * align
				      : l * 64 + world_below(w, 48) / align * align;
		if (v & 8) /* often negative, as compiled code has it: array[constant - i] */
			w->step.vgpr[VADDR + k][l] -= f->imm;
	}
}

/*
 * Byte b of a lane's access, or NULL. unit: bytes that are inside or outside together.
 */
static uint8_t *locate_byte(struct world *w, const struct buffer *f, unsigned lane, unsigned b,
			    unsigned unit)
{
	const uint32_t *va[2] = { w->before.vgpr[VADDR], w->before.vgpr[VADDR + 1] };
	uint64_t index = (f->idxen ? va[0][lane] : 0) + (f->add_lane ? lane : 0);
	uint32_t first = f->imm + (f->offen ? va[f->idxen][lane] : 0); /* wraps */
	uint64_t checked = (uint64_t)first + b / unit * unit, offset = (uint64_t)first + b;
	uint64_t at, at_checked;

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
struct access buffer_locate(struct world *w, const struct buffer *f, unsigned lane, unsigned size,
			    bool whole)
{
	struct access a = { 0 }, none = { 0 };

	for (unsigned b = 0; b < size; b++) {
		a.byte[b] = locate_byte(w, f, lane, b, whole ? 1 : 4);
		if (whole && !a.byte[b])
			return none;
	}
	return a;
}

bool buffer_run(struct world *w, const struct buffer *f, unsigned v)
{
	uint32_t words[2];
	char what[120];

	buffer_encode(w, f, words);
	snprintf(what, sizeof(what),
		 "variant %u idxen %d offen %d imm %u soffset %u index stride %u lds %d format "
		 "%u/%u",
		 v, f->idxen, f->offen, f->imm, f->soffset, f->index_stride, f->lds, f->dfmt,
		 f->nfmt);
	return world_check(w, words, 2, what);
}

void buffer_to_lds(struct world *w, const struct buffer *f, unsigned lane, uint32_t v)
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
		f = buffer_make(w, v);
		f.lds = !store && v % 7 == 6 && !f.acc && !t->half &&
			(t->n_bytes <= 4 || (w->target >= SG_ISA_GFX950 && t->n_bytes > 8));
		f.tfe = w->target == SG_ISA_GFX908 && !store && !f.lds && v % 3 == 2;
		buffer_write_operands(w, &f, v, aligned ? 4 : 1, false);
		if (store && f.offen && !f.idxen && !f.add_lane) /* no two lanes to one place */
			for (unsigned l = 0; l < 64; l++)
				w->step.vgpr[VADDR][l] = l * 64;
		world_fork(w);
		uint32_t(*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, t->n_bytes, false);
			uint32_t all[4][64];

			if (!world_active(w, l))
				continue;
			if (f.lds) {
				unsigned n = (t->n_bytes + 3) / 4;

				ref_load(t, &a, all, l);
				for (unsigned r = 0; r < n; r++)
					buffer_to_lds(w, &f, l * n + r, all[r][l]);
			} else if (store) {
				ref_store(t, &a, regs + VDATA, l);
			} else {
				ref_load(t, &a, regs + VDATA, l);
				if (f.tfe)
					regs[VDATA + (t->n_bytes + 3) / 4][l] = 0;
			}
		}
		buffer_run(w, &f, v);
	}
}

static void test_atomic(struct world *w, const char *op, unsigned bits, bool can_return)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;

		world_reset(w, v / 8);
		f = buffer_make(w, v);
		f.imm &= ~7u;
		f.soffset &= ~7u;
		f.glc = can_return && v & 1;
		world_make_atomic_data(w, op, bits, (f.acc ? w->step.agpr : w->step.vgpr) + VDATA);
		buffer_write_operands(w, &f, v, 8, false);
		world_fork(w);
		uint32_t(*regs)[64] = f.acc ? w->expect.agpr : w->expect.vgpr;

		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, bits / 8, true);

			if (world_active(w, l))
				ref_atomic_lane(op, bits, &a, regs + VDATA,
						regs + VDATA + bits / 32,
						f.glc ? regs + VDATA : NULL, l);
		}
		buffer_run(w, &f, v);
	}
}

static void test_store_lds(struct world *w)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		struct buffer f;

		world_reset(w, v / 4);
		f = buffer_make(w, 3); /* the lane is added */
		f.lds = true;
		f.offen = f.idxen = f.acc = false;
		buffer_write_operands(w, &f, v, 4, false);
		world_fork(w);
		for (unsigned l = 0; l < 64; l++) {
			struct access a = buffer_locate(w, &f, l, 4, false), from = { 0 };

			for (unsigned b = 0; b < 4; b++)
				from.byte[b] = ref_lds(w, w->before.sgpr[124], f.imm + 4 * l + b);
			if (world_active(w, l))
				ref_put(&a, 0, 4, ref_get(&from, 0, 4));
		}
		uint32_t words[2];

		buffer_encode(w, &f, words);
		words[1] &= ~0xffffu;
		world_check(w, words, 2, "from LDS");
	}
}

static bool test_atomic_row(struct world *w, const char *name)
{
	/* clang-format off */
	static const struct { const char *name, *op; unsigned bits; } others[] = {
		{ "add_f32", "fadd_flush", 32 }, { "pk_add_f16", "pk_add_f16", 32 }, { "add_f64", "fadd", 64 },
		{ "min_f64", "fmin", 64 }, { "max_f64", "fmax", 64 }, { "pk_add_bf16", "pk_add_bf16", 32 },
	};
	/* clang-format on */
	static const char *const ops[] = { "swap", "cmpswap", "add", "sub", "smin", "umin", "smax",
					   "umax", "and",     "or",  "xor", "inc",  "dec" };

	for (size_t n = 0; n < sizeof(others) / sizeof(*others); n++)
		if (!strcmp(name, others[n].name)) {
			test_atomic(w, others[n].op, others[n].bits, w->target >= SG_ISA_GFX90A);
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
