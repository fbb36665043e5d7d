#include "softgpu/exec/counting.h"

#include "softgpu/exec/code.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/save.h"

#define WS_LEVEL plain
#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#include "softgpu/exec/ops_smem.h"
#undef WS_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"

/* ---- the addresses of memory instructions ---- */

static void record_scalar(struct ws_wave *w, const struct ws_inst *i, struct ws_wave_trace *t)
{
	unsigned op = i->fields->row->op;
	bool scratch = (op >= 0x05 && op <= 0x07) || (op >= 0x15 && op <= 0x17);
	bool buffer = (op >= 0x08 && op <= 0x0c) || (op >= 0x18 && op <= 0x1a) || (op >= 0x40 && op < 0x80);
	uint64_t addr;

	if (buffer)
		ws_smem_buffer(w, i, 1, &addr);
	else
		addr = ws_smem_address(w, i, scratch ? 64 : 1);
	ws_trace_scalar(t, addr);
}

static void record_local(struct ws_wave *w, const struct ws_inst *i, struct ws_wave_trace *t)
{
	const struct ws_isa_row *row = i->fields->row;
	uint32_t offset = (uint32_t)i->imm;
	bool pair = false, has_address = false;

	for (unsigned n = 0; n < row->n_operands; n++) {
		pair |= row->operand[n].role == WS_ROLE_OFFSET1;
		has_address |= row->operand[n].role == WS_ROLE_VADDR;
	}
	if (pair) /* the models add the two offsets */
		offset = 0;
	if (has_address) {
		ws_trace_local(t, ws_exec(w), ws_src(w, i, WS_S0), offset);
	} else {
		uint32_t va[WS_LANES];

		for (unsigned l = 0; l < WS_LANES; l++)
			va[l] = (w->s[WS_S_M0] & 0xffff) + 4 * l;
		ws_trace_local(t, ws_exec(w), va, offset);
	}
}

/*
 * Which slice of scratch a wave has depends on which host thread ran it, and where the queue's scratch is on
 * which queue was first to need some. A trace counts from the wave's slice; the model puts waves where it
 * runs them. False: not all of the lanes are in it, and nothing was changed.
 */
static bool from_slice(const struct ws_wave *w, uint64_t *addr, uint64_t mask)
{
	unsigned l;

	WS_FOR_ACTIVE(l, mask)
		if (addr[l] - w->scratch >= w->scratch_bytes)
			return false;
	WS_FOR_ACTIVE(l, mask)
		addr[l] -= w->scratch;
	return true;
}

static void swizzle(const struct ws_wave *w, uint64_t *addr, uint64_t mask)
{
	uint64_t base = ws_s64(w, WS_S_FLAT_SCRATCH);
	unsigned l;

	WS_FOR_ACTIVE(l, mask) {
		uint64_t offset = (uint32_t)addr[l];

		addr[l] = base + (offset >> 2) * WS_SCRATCH_STEP + 4 * l + (offset & 3);
	}
}

static void record_flat(struct ws_wave *w, const struct ws_inst *i, struct ws_wave_trace *t)
{
	uint64_t addr[WS_LANES] __attribute__((aligned(64))), exec = ws_exec(w), shared = 0, private = 0;
	uint64_t memory;
	unsigned l;

	ws_flat_addresses(w, i, addr);
	if (i->inner & WS_MEM_SEG_SCRATCH) {
		swizzle(w, addr, exec);
		ws_trace_lanes(t, from_slice(w, addr, exec) ? WS_SPACE_SCRATCH : WS_SPACE_GLOBAL, exec, addr);
		return;
	}
	if (i->inner & WS_MEM_SEG_FLAT)
		WS_FOR_ACTIVE(l, exec) {
			uint32_t hi = (uint32_t)(addr[l] >> 32);

			shared |= (uint64_t)(hi == w->shared_hi) << l;
			private |= (uint64_t)(hi == w->private_hi) << l;
		}
	swizzle(w, addr, private);
	memory = exec & ~shared;
	if (shared) {
		WS_FOR_ACTIVE(l, shared)
			addr[l] = (uint32_t)addr[l];
		ws_trace_lanes(t, memory ? WS_SPACE_LDS_TOO : WS_SPACE_LDS, shared, addr);
		if (!memory)
			return;
	}
	ws_trace_lanes(t,
		       private && private == memory && from_slice(w, addr, memory)
			       ? WS_SPACE_SCRATCH
			       : WS_SPACE_GLOBAL,
		       memory, addr);
}

static void record_buffer(struct ws_wave *w, const struct ws_inst *i, struct ws_wave_trace *t)
{
	struct ws_fault before = w->fault;
	uint64_t addr[WS_LANES], mask;
	struct ws_lanes a;
	unsigned l;

	if (ws_buffer_lanes(w, i, 4, false, false, &a) != WS_GO) {
		w->fault = before; /* the instruction itself will meet it */
		ws_trace_lanes(t, WS_SPACE_GLOBAL, 0, addr);
		return;
	}
	mask = a.plain;
	WS_FOR_ACTIVE(l, a.odd)
		mask |= (uint64_t)(a.n_bytes[l] != 0) << l;
	WS_FOR_ACTIVE(l, mask)
		addr[l] = (uint64_t)(uintptr_t)a.at[l] - w->mem->host_base;
	ws_trace_lanes(t, a.odd && a.step == WS_SCRATCH_STEP && from_slice(w, addr, mask) ? WS_SPACE_SCRATCH :
											     WS_SPACE_GLOBAL,
		       mask, addr);
}

static void record(struct ws_wave *w, const struct ws_inst *i, struct ws_wave_trace *t)
{
	switch (i->fields->row->enc) {
	case WS_ENC_SMEM:
		record_scalar(w, i, t);
		break;
	case WS_ENC_DS:
		record_local(w, i, t);
		break;
	case WS_ENC_FLAT:
		record_flat(w, i, t);
		break;
	default:
		record_buffer(w, i, t);
		break;
	}
}

/* ---- the loop ---- */

struct mode { /* of a stretch without changes of MODE */
	bool indexing, skipping, plain_fp;
	uint32_t f32, f64;
};

static enum ws_stop run(struct ws_wave *w, const struct ws_inst *i, uint32_t head, const struct mode *mode)
{
	struct ws_inst indexed;
	enum ws_stop stop;

	if (mode->indexing && head & WS_HEAD_VECTOR) {
		ws_wave_index_registers(w, i, &indexed);
		i = &indexed;
	}
	if (mode->plain_fp || !(head & (WS_HEAD_FP32 | WS_HEAD_FP64)))
		return w->handlers[head & WS_HEAD_HANDLER](w, i);
	ws_fpmode_set(head & WS_HEAD_FP32 ? mode->f32 : mode->f64);
	stop = w->handlers[head & WS_HEAD_HANDLER](w, i);
	ws_fpmode_set(WS_FPMODE_DEFAULT);
	return stop;
}

/* How far the next instruction is from the one behind this one, in dwords. */
static int64_t skipped(const struct ws_wave *w, const struct ws_code_window *window,
		       const struct ws_inst *behind)
{
	if (w->window == window)
		return w->pc - behind;
	return (int64_t)(w->window->gpu_base + 4 * (uint64_t)(w->pc - w->window->slots) -
			 window->gpu_base - 4 * (uint64_t)(behind - window->slots)) / 4;
}

static enum ws_stop run_stretch(struct ws_wave *w, struct ws_wave_trace *t, uint64_t *budget)
{
	struct mode mode = {
		.indexing = w->mode & WS_MODE_GPR_IDX_EN,
		.skipping = w->mode & WS_MODE_VSKIP,
		.plain_fp = (w->mode & WS_MODE_FP_MASK) == WS_MODE_FP_DEFAULT,
		.f32 = ws_fpmode_of(w->mode, w->mode >> 4), .f64 = ws_fpmode_of(w->mode >> 2, w->mode >> 6),
	};
	struct ws_undo *undo = w->launch->undo;
	uint64_t n = *budget;
	enum ws_stop stop;

	do {
		const struct ws_inst *i = w->pc;
		const struct ws_code_window *window = w->window;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

		w->at = i;
		if (!head) {
			stop = ws_code_decode_only(w, i);
			continue;
		}
		w->pc = i + WS_HEAD_DWORDS(head);
		if (i - window->slots >= WS_WINDOW_SLOTS) { /* not code: the way into the next window */
			stop = w->handlers[head & WS_HEAD_HANDLER](w, i);
			continue;
		}
		n--;
		if (mode.skipping && head & WS_HEAD_LANES) {
			ws_trace_jump(t, WS_HEAD_DWORDS(head));
			stop = WS_GO;
			continue;
		}
		if (head & WS_HEAD_MEMORY) {
			if (undo && i->clamp)
				ws_save(w, i, undo);
			record(w, i, t);
		}
		stop = run(w, i, head, &mode);
		ws_trace_step(t, skipped(w, window, i + WS_HEAD_DWORDS(head)), ws_exec(w));
	} while (stop == WS_GO && n);
	*budget = n;
	return stop;
}

enum ws_stop ws_wave_run_counting(struct ws_wave *w, struct ws_wave_trace *t, uint64_t budget)
{
	uint64_t left = budget;
	enum ws_stop stop;

	do
		stop = run_stretch(w, t, &left);
	while (stop == WS_STOP_MODE && left);
	w->n_instructions += budget - left;
	if (stop == WS_STOP_END)
		ws_trace_end(t);
	return stop == WS_GO || stop == WS_STOP_MODE ? WS_STOP_BUDGET : stop;
}
