/* Which bytes an instruction is about to overwrite. */
#include "softgpu/exec/save.h"

#define WS_LEVEL plain
#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#include "softgpu/exec/ops_smem.h"
#undef WS_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"
#include "softgpu/timing/inst_isa.h"

uint8_t ws_save_bytes(const struct ws_insn *insn)
{
	struct ws_inst_source src = ws_inst_source_of(insn, false);
	struct ws_tinst t = ws_tinst_of(&src);

	if (insn->row->enc == WS_ENC_DS || (t.mem != WS_MEM_STORE && t.mem != WS_MEM_ATOMIC &&
					    t.mem != WS_MEM_ATOMIC_RET))
		return 0;
	return strstr(insn->row->mnemonic, "format") ? WS_SAVE_FORMAT : t.bytes;
}

/* LDS and scratch are the wave's own: every run begins with them anew. */
static bool is_own(const struct ws_wave *w, const uint8_t *p)
{
	const struct ws_launch *l = w->launch;
	const uint8_t *scratch = ws_host(w->mem, l->scratch_base);
	uint64_t scratch_bytes = (uint64_t)l->n_scratch_waves * l->scratch_wave_bytes;

	return (uint64_t)(p - w->lds) < w->lds_bytes || (uint64_t)(p - scratch) < scratch_bytes;
}

static void save(const struct ws_wave *w, struct ws_undo *undo, const uint8_t *p, size_t n)
{
	if (!is_own(w, p))
		ws_undo_save(undo, p, n);
}

static void save_lanes(const struct ws_wave *w, struct ws_undo *undo, const struct ws_lanes *a,
		       unsigned size)
{
	const uint8_t *from = NULL;
	size_t n = 0;
	unsigned l;

	WS_FOR_ACTIVE(l, a->plain) { /* neighbours go together */
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
	WS_FOR_ACTIVE(l, a->odd)
		for (unsigned b = 0; b < size && b < a->n_bytes[l]; b++)
			save(w, undo, ws_odd_byte(a->at[l], a->step, b), 1);
}

static void save_scalar(struct ws_wave *w, const struct ws_inst *i, struct ws_undo *undo, unsigned size)
{
	unsigned op = i->fields->row->op, n = size / 4;
	bool scratch = op >= 0x15 && op <= 0x17, buffer = (op >= 0x18 && op <= 0x1a) || (op >= 0x40 && op < 0x80);
	uint64_t addr;

	if (buffer)
		n = ws_smem_buffer(w, i, n, &addr);
	else
		addr = ws_smem_address(w, i, scratch ? 64 : 1);
	if (n && ws_reachable(w->mem, addr, 4 * n))
		save(w, undo, ws_host(w->mem, addr), 4 * n);
}

static void save_flat(struct ws_wave *w, const struct ws_inst *i, struct ws_undo *undo, unsigned size)
{
	const uint8_t *row = ws_flat_row(w, i, size);
	struct ws_lanes a;

	if (i->inner & WS_MEM_SEG_SCRATCH)
		return;
	if (row)
		save(w, undo, row, (size_t)WS_LANES * size);
	else if (ws_flat_lanes(w, i, size, true, &a) == WS_GO)
		save_lanes(w, undo, &a, size);
}

static void save_buffer(struct ws_wave *w, const struct ws_inst *i, struct ws_undo *undo, unsigned size)
{
	bool format = size == WS_SAVE_FORMAT, atomic = i->fields->row->flags & WS_ISA_ATOMIC;
	struct ws_lanes a;

	if (format)
		size = ws_format_bytes(ws_buffer_format(w, i, i->fields->row->enc == WS_ENC_MTBUF).dfmt);
	if (size && ws_buffer_lanes(w, i, size, true, format || atomic, &a) == WS_GO)
		save_lanes(w, undo, &a, size);
}

void ws_save(struct ws_wave *w, const struct ws_inst *i, struct ws_undo *undo)
{
	struct ws_fault before = w->fault; /* the instruction itself will meet it */

	switch (i->fields->row->enc) {
	case WS_ENC_SMEM:
		save_scalar(w, i, undo, i->clamp);
		break;
	case WS_ENC_FLAT:
		save_flat(w, i, undo, i->clamp);
		break;
	default:
		save_buffer(w, i, undo, i->clamp);
		break;
	}
	w->fault = before;
}
