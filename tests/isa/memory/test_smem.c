/* Scalar memory: every row, with its offsets in all three forms. */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/world.h"

#define SBASE 12
#define SOFFSET 20
#define SDATA 32
#define N_VARIANTS 24

struct smem {
	bool imm_en, soffset_en, glc;
	int imm;
};

static void encode(const struct world *w, const struct smem *s, uint32_t words[2])
{
	bool has_base = false;

	for (unsigned n = 0; n < w->row->n_operands; n++)
		has_base |= w->row->operand[n].role == SG_ROLE_SBASE;
	words[0] = 0x30u << 26 | (uint32_t)w->row->op << 18 | (uint32_t)s->glc << 16 | SDATA << 6;
	words[1] = 0;
	if (!has_base)
		return;
	/* a register without a constant is written into the constant's low bits */
	words[0] |= SBASE / 2 | (uint32_t)s->imm_en << 17 |
		    (uint32_t)(s->imm_en && s->soffset_en) << 14;
	words[1] = s->imm_en ? ((uint32_t)s->imm & 0x1fffff) |
				       (s->soffset_en ? (uint32_t)SOFFSET << 25 : 0)
			     : SOFFSET;
}

/* Chooses offsets that add up to `offset` bytes; returns how the instruction says it. */
static struct smem split(struct world *w, unsigned v, int offset, unsigned scale)
{
	struct smem s = { .imm_en = v % 3 != 1, .soffset_en = v % 3 != 0 };
	uint32_t reg = s.soffset_en ? s.imm_en ? world_below(w, (unsigned)offset / scale + 1)
					       : (unsigned)offset / scale
				    : 0;

	w->step.sgpr[SOFFSET] = reg;
	s.imm = offset - (int)(reg * scale);
	return s;
}

static bool run(struct world *w, const struct smem *s, unsigned v)
{
	uint32_t words[2];
	char what[60];

	encode(w, s, words);
	snprintf(what, sizeof(what), "variant %u imm %d (%d) register %d", v, s->imm, s->imm_en,
		 s->soffset_en);
	return world_check(w, words, 2, what);
}

/* Fills the base for the row; returns the bytes that exist behind it. */
static uint32_t write_base(struct world *w, bool buffer, unsigned v, uint32_t at)
{
	uint64_t base = MEM_AT + at;
	uint32_t stride = v % 2 ? 16 : 0, n_bytes = 1024 + world_below(w, 8) * 16;

	w->step.sgpr[SBASE] = (uint32_t)base;
	w->step.sgpr[SBASE + 1] = (uint32_t)(base >> 32);
	if (!buffer)
		return DATA_BYTES;
	w->step.sgpr[SBASE + 1] |= stride << 16;
	w->step.sgpr[SBASE + 2] = stride ? n_bytes / stride : n_bytes;
	return n_bytes;
}

static struct access locate(struct world *w, uint32_t at, uint32_t offset, uint32_t n_bytes,
			    unsigned size)
{
	struct access a = { 0 };

	for (unsigned b = 0; b < size; b++)
		if ((offset & ~3u) + (b & ~3u) < n_bytes)
			a.byte[b] = ref_global(w, MEM_AT + ((at + offset) & ~3u) + b);
	return a;
}

static void test_move(struct world *w, unsigned n_dwords, bool store, bool buffer, bool scratch)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		/* low bits in the base as well: those of the sum are what does not count */
		uint32_t at = 4096 + world_below(w, 64) * 4 + (buffer ? 0 : v % 4), offset, n_bytes;
		unsigned scale = scratch ? 64 : 1;
		struct smem s;

		world_reset(w, v);
		n_bytes = write_base(w, buffer, v, at);
		offset = buffer && v % 4 == 3 ? n_bytes - 8 : world_below(w, 960) / scale * scale;
		if (scale == 1 && v % 5)
			offset &= ~3u;
		s = split(w, v, (int)offset, scale);
		if (!buffer && v % 3 == 0 && v & 4) /* before the base */
			s.imm = -(int)(offset = world_below(w, 256) * 4);
		if (s.imm < 0) {
			at -= offset;
			offset = 0;
		}
		world_fork(w);
		for (unsigned n = 0; n < n_dwords; n++) {
			struct access a = locate(w, at, offset + 4 * n, n_bytes, 4);

			if (store)
				ref_put(&a, 0, 4, w->expect.sgpr[SDATA + n]);
			else
				w->expect.sgpr[SDATA + n] = (uint32_t)ref_get(&a, 0, 4);
		}
		run(w, &s, v);
	}
}

static void test_atomic(struct world *w, const char *op, unsigned bits, bool buffer)
{
	for (unsigned v = 0; v < N_VARIANTS; v++) {
		uint32_t at = 4096 + world_below(w, 64) * 8, offset, n_bytes, data[4][64];
		uint64_t m, x, c;
		struct access a;
		struct smem s;
		bool known;

		world_reset(w, v);
		world_make_atomic_data(w, op, bits, data);
		n_bytes = write_base(w, buffer, v, at);
		offset = buffer && v % 4 == 3 ? n_bytes : world_below(w, 120) * 8;
		for (unsigned n = 0; n < bits / 16; n++)
			w->step.sgpr[SDATA + n] = data[n][0];
		s = split(w, v, (int)offset, 1);
		s.glc = v & 1;
		world_fork(w);
		a = locate(w, at, offset, n_bytes, bits / 8);
		m = ref_get(&a, 0, bits / 8);
		x = w->before.sgpr[SDATA];
		c = w->before.sgpr[SDATA + bits / 32];
		if (bits == 64) {
			x |= (uint64_t)w->before.sgpr[SDATA + 1] << 32;
			c |= (uint64_t)w->before.sgpr[SDATA + 3] << 32;
		}
		ref_put(&a, 0, bits / 8, ref_atomic(op, bits, m, x, c, &known));
		if (s.glc) {
			w->expect.sgpr[SDATA] = (uint32_t)m;
			if (bits == 64)
				w->expect.sgpr[SDATA + 1] = (uint32_t)(m >> 32);
		}
		run(w, &s, v);
	}
}

/* Cache maintenance changes nothing; sg_step's clock stands still at 0. */
static void test_quiet(struct world *w, bool clock)
{
	struct smem s = { .imm_en = true };

	world_reset(w, 0);
	write_base(w, false, 0, 4096);
	world_fork(w);
	if (clock)
		w->expect.sgpr[SDATA] = w->expect.sgpr[SDATA + 1] = 0;
	run(w, &s, 0);
}

static bool test_atomic_row(struct world *w, const char *name, bool buffer)
{
	static const char *const ops[] = { "swap", "cmpswap", "add", "sub", "smin", "umin", "smax",
					   "umax", "and",     "or",  "xor", "inc",  "dec" };

	for (size_t n = 0; n < sizeof(ops) / sizeof(*ops); n++) {
		size_t length = strlen(ops[n]);

		if (strncmp(name, ops[n], length) || (name[length] && strcmp(name + length, "_x2")))
			continue;
		test_atomic(w, ops[n], name[length] ? 64 : 32, buffer);
		return true;
	}
	return false;
}

bool test_smem_row(struct world *w)
{
	/* clang-format off */
	static const struct { const char *tail; unsigned n; } sizes[] = {
		{ "dword", 1 }, { "dwordx2", 2 }, { "dwordx4", 4 }, { "dwordx8", 8 }, { "dwordx16", 16 },
	};
	/* clang-format on */
	const char *name = w->row->mnemonic + 2;
	bool buffer = !strncmp(name, "buffer_", 7), scratch = !strncmp(name, "scratch_", 8);

	if (!strncmp(name, "dcache_", 7) || !strncmp(name, "atc_probe", 9) ||
	    !strncmp(name, "mem", 3)) {
		test_quiet(w, *name == 'm');
		return true;
	}
	name += buffer ? 7 : scratch ? 8 : 0;
	if (!strncmp(name, "atomic_", 7))
		return test_atomic_row(w, name + 7, buffer);
	for (size_t n = 0; n < sizeof(sizes) / sizeof(*sizes); n++) {
		if (strcmp(strchr(name, '_') + 1, sizes[n].tail))
			continue;
		test_move(w, sizes[n].n, *name == 's', buffer, scratch);
		return true;
	}
	return false;
}
