/* Which bytes an instruction is about to overwrite. */
#include "softgpu/exec/save.h"

#define SG_LEVEL plain
#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#include "softgpu/exec/ops_smem.h"
#undef SG_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"

uint8_t sg_save_bytes(const struct sg_decoded_insn *insn)
{
	const struct sg_isa_row *row = insn->row;

	if (row->enc == SG_ENC_DS ||
	    (row->mem_kind != SG_MEM_STORE && row->mem_kind != SG_MEM_ATOMIC))
		return 0;
	return row->addressing == SG_ADDR_FORMAT ? SG_SAVE_FORMAT : row->mem_bytes;
}

/* LDS and scratch are the wave's own: every run begins with them anew. */
static bool is_own(const struct sg_wave *w, const uint8_t *p)
{
	const struct sg_launch *l = w->launch;
	const uint8_t *scratch = sg_host(w->mem, l->scratch_base);
	uint64_t scratch_bytes = (uint64_t)l->n_scratch_waves * l->scratch_wave_bytes;

	return (uint64_t)(p - w->lds) < w->lds_bytes || (uint64_t)(p - scratch) < scratch_bytes;
}

static void save(const struct sg_wave *w, struct sg_undo *undo, const uint8_t *p, size_t n)
{
	if (!is_own(w, p))
		sg_undo_save(undo, p, n);
}

static void save_lanes(const struct sg_wave *w, struct sg_undo *undo, const struct sg_lanes *a,
		       unsigned size)
{
	const uint8_t *from = NULL;
	size_t n = 0;
	unsigned l;

	SG_FOR_ACTIVE(l, a->plain) { /* neighbours go together */
		if (n && a->at[l] == from + n) {
			n += size;
			continue;
		}
		if (n)
			save(w, undo, from, n);
		from = a->at[l];
		n = size;
	}
	if (n)
		save(w, undo, from, n);
	SG_FOR_ACTIVE(l, a->odd)
		for (unsigned b = 0; b < size && b < a->n_bytes[l]; b++)
			save(w, undo, sg_odd_byte(a->at[l], a->step, b), 1);
}

static void save_scalar(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_undo *undo,
			unsigned size)
{
	uint64_t addr;
	unsigned n = sg_smem_reach(w, i, size / 4, &addr);

	if (n && sg_reachable(w->mem, addr, 4 * n))
		save(w, undo, sg_host(w->mem, addr), 4 * n);
}

static void save_flat(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_undo *undo,
		      unsigned size)
{
	const uint8_t *row = sg_flat_row(w, i, size);
	struct sg_lanes a;

	if (i->inner & SG_MEM_SEG_SCRATCH)
		return;
	if (row)
		save(w, undo, row, (size_t)SG_LANES * size);
	else if (sg_flat_lanes(w, i, size, true, &a) == SG_GO)
		save_lanes(w, undo, &a, size);
}

static void save_buffer(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_undo *undo,
			unsigned size)
{
	bool format = size == SG_SAVE_FORMAT, atomic = i->fields->row->flags & SG_ISA_ATOMIC;
	struct sg_lanes a;

	if (format)
		size = sg_format_bytes(
			sg_buffer_format(w, i, i->fields->row->enc == SG_ENC_MTBUF).dfmt);
	if (size && sg_buffer_lanes(w, i, size, true, format || atomic, &a) == SG_GO)
		save_lanes(w, undo, &a, size);
}

void sg_save(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_undo *undo)
{
	struct sg_fault before = w->fault; /* the instruction itself will meet it */

	switch (i->fields->row->enc) {
	case SG_ENC_SMEM:
		save_scalar(w, i, undo, i->clamp);
		break;
	case SG_ENC_FLAT:
		save_flat(w, i, undo, i->clamp);
		break;
	default:
		save_buffer(w, i, undo, i->clamp);
		break;
	}
	w->fault = before;
}
