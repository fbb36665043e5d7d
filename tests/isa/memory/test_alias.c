/*
 * Registers that are destination and source at once.
 *
 * Each load and each atomic that returns a value runs with its result in every position around its
 * address and data, and once more, from the same state, with address and data copied to registers of
 * their own. Registers, memory and LDS must be the same afterwards. What is right is said elsewhere.
 */
#include <stdio.h>
#include <string.h>

#include "tests/isa/memory/test_buffer.h"

#define NEAR 8  /* window of vector registers, 16 of them */
#define AWAY 32 /* from a register of the window to its copy */
#define S_NEAR 12
#define S_AWAY 48
#define N_TRIALS 24

static bool has(const struct world *w, unsigned role)
{
	for (unsigned n = 0; n < w->row->n_operands; n++)
		if (w->row->operand[n].role == role)
			return true;
	return false;
}

static bool is_atomic(const struct world *w)
{
	return strstr(w->row->mnemonic, "atomic");
}

static unsigned around(struct world *w, unsigned reg)
{
	return reg - 4 + world_below(w, 8);
}

static void copy_away(struct world *w)
{
	for (unsigned n = 0; n < 16; n++)
		memcpy(w->step.vgpr[NEAR - 4 + n + AWAY], w->step.vgpr[NEAR - 4 + n],
		       sizeof(w->step.vgpr[0]));
	memcpy(w->step.sgpr + S_NEAR + S_AWAY, w->step.sgpr + S_NEAR, 8 * 4);
}

/* The state that `apart` leaves is what `shared` has to leave. */
static void compare(struct world *w, const uint32_t *shared, const uint32_t *apart,
		    const char *what)
{
	static uint8_t mem[MEM_BYTES], lds[LDS_BYTES];
	enum sg_fault_kind kind;

	world_fork(w);
	memcpy(mem, w->mem, MEM_BYTES);
	memcpy(lds, w->lds, LDS_BYTES);
	kind = sg_step_run(w->target, apart, 2, &w->step);
	if (kind != SG_FAULT_NONE) {
		world_fail(w, what, w->step.fault.text);
		return;
	}
	w->expect = w->step;
	memcpy(w->mem_expect, w->mem, MEM_BYTES);
	memcpy(w->lds_expect, w->lds, LDS_BYTES);
	w->step = w->before;
	memcpy(w->mem, mem, MEM_BYTES);
	memcpy(w->lds, lds, LDS_BYTES);
	world_check(w, shared, 2, what);
}

static void alias_ds(struct world *w, unsigned v)
{
	unsigned vdst = around(w, NEAR), data0 = around(w, NEAR), data1 = around(w, NEAR);
	uint32_t words[2][2];
	char what[80];

	for (unsigned l = 0; l < 64; l++)
		w->step.vgpr[NEAR][l] = world_below(w, LDS_BYTES / 16) * 16;
	copy_away(w);
	for (unsigned k = 0; k < 2; k++) {
		unsigned by = k * AWAY;

		words[k][0] = 0x36u << 26 | (uint32_t)w->row->op << 17 | (v & 1 ? 0x0203 : 0) |
			      (w->row->flags & SG_ISA_GDSONLY ? 1u << 16 : 0);
		words[k][1] = (has(w, SG_ROLE_VADDR) ? NEAR + by : 0) |
			      (has(w, SG_ROLE_DATA0) ? data0 + by : 0) << 8 |
			      (has(w, SG_ROLE_DATA1) ? data1 + by : 0) << 16 | vdst << 24;
	}
	snprintf(what, sizeof(what), "aliasing vdst %u, vaddr %u, data %u %u", vdst, NEAR, data0,
		 data1);
	compare(w, words[0], words[1], what);
}

static void alias_flat(struct world *w, unsigned v)
{
	unsigned vdst = around(w, NEAR), data = around(w, NEAR), seg = v % 3;
	uint32_t words[2][2];
	char what[80];

	while (!(w->row->segments & 1u << seg))
		seg = (seg + 1) % 3;
	for (unsigned l = 0; l < 64; l++) {
		uint64_t addr = seg == 1 ? world_below(w, SCRATCH_LANE_BYTES / 16) * 16
					 : MEM_AT + world_below(w, DATA_BYTES / 16) * 16;

		w->step.vgpr[NEAR][l] = (uint32_t)addr;
		if (seg != 1)
			w->step.vgpr[NEAR + 1][l] = (uint32_t)(addr >> 32);
	}
	copy_away(w);
	for (unsigned k = 0; k < 2; k++) {
		words[k][0] = 0x37u << 26 | (uint32_t)w->row->op << 18 | seg << 14 |
			      (uint32_t)is_atomic(w) << 16;
		words[k][1] = (NEAR + k * AWAY) | (data + k * AWAY) << 8 | (seg ? 0x7fu : 0) << 16 |
			      vdst << 24;
	}
	snprintf(what, sizeof(what), "aliasing segment %u vdst %u, vaddr %u, data %u", seg, vdst,
		 NEAR, data);
	compare(w, words[0], words[1], what);
}

/* The data register is source and destination by itself; here it meets the address. */
static void alias_buffer(struct world *w, unsigned v)
{
	struct buffer f = buffer_make(w, v);
	unsigned vdata = around(w, NEAR);
	uint32_t words[2][2];
	char what[80];

	f.acc = false;
	f.glc = is_atomic(w) && !(w->row->flags & SG_ISA_NOGLC);
	f.dfmt = 14; /* four components of 32 bits */
	f.nfmt = 4;
	f.imm &= ~7u;
	f.soffset &= ~7u;
	buffer_write_operands(w, &f, v, 8, true);
	memcpy(w->step.vgpr[NEAR], w->step.vgpr[VADDR], 2 * sizeof(w->step.vgpr[0]));
	copy_away(w);
	for (unsigned k = 0; k < 2; k++) {
		buffer_encode(w, &f, words[k]);
		words[k][1] = (words[k][1] & ~0xffffu) | (NEAR + k * AWAY) | vdata << 8;
	}
	snprintf(what, sizeof(what), "aliasing variant %u vdata %u, vaddr %u", v, vdata, NEAR);
	compare(w, words[0], words[1], what);
}

static void alias_scalar(struct world *w, unsigned v)
{
	bool buffer = strstr(w->row->mnemonic, "buffer"),
	     narrow = strstr(w->row->mnemonic, "dword");
	unsigned sdst = around(w, S_NEAR), soffset = S_NEAR + 2 + v % 4;
	uint32_t words[2][2];
	uint64_t base = MEM_AT + world_below(w, 64) * 64;
	char what[80];

	narrow = narrow && !strchr(strstr(w->row->mnemonic, "dword"), 'x');
	if (!narrow || is_atomic(w)) /* tuples are aligned */
		sdst &= ~3u;
	w->step.sgpr[S_NEAR] = (uint32_t)base;
	w->step.sgpr[S_NEAR + 1] = (uint32_t)(base >> 32);
	if (buffer)
		w->step.sgpr[S_NEAR + 2] = 4096;
	w->step.sgpr[soffset] = world_below(w, 16) * 16;
	if (buffer && soffset == S_NEAR + 2)
		w->step.sgpr[soffset] |= 2048; /* the size, too */
	copy_away(w);
	for (unsigned k = 0; k < 2; k++) {
		words[k][0] = 0x30u << 26 | (uint32_t)w->row->op << 18 |
			      (uint32_t)is_atomic(w) << 16 | sdst << 6 | (S_NEAR + k * S_AWAY) / 2;
		words[k][1] = soffset + k * S_AWAY;
	}
	snprintf(what, sizeof(what), "aliasing sdst %u, sbase %u, soffset %u", sdst, S_NEAR,
		 soffset);
	compare(w, words[0], words[1], what);
}

bool test_alias_row(struct world *w)
{
	void (*alias)(struct world * w, unsigned v) = NULL;
	const char *name = w->row->mnemonic;
	unsigned enc = w->row->enc;

	if (strstr(name, "store") || strstr(name, "gws") || strstr(name, "barrier"))
		return false;
	if (enc == SG_ENC_DS && has(w, SG_ROLE_VDST))
		alias = alias_ds;
	else if (enc == SG_ENC_FLAT && has(w, SG_ROLE_VDST))
		alias = alias_flat;
	else if ((enc == SG_ENC_MUBUF || enc == SG_ENC_MTBUF) && has(w, SG_ROLE_VDATA))
		alias = alias_buffer;
	else if (enc == SG_ENC_SMEM && has(w, SG_ROLE_SBASE) && !strstr(name, "probe"))
		alias = alias_scalar;
	if (!alias)
		return false;
	for (unsigned v = 0; v < N_TRIALS; v++) {
		world_reset(w, v);
		alias(w, v);
	}
	return true;
}
