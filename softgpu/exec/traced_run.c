#include "softgpu/exec/traced_run.h"

#include "softgpu/exec/code.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/save.h"

#define SG_LEVEL plain
#include "softgpu/exec/mem.h"
#include "softgpu/exec/ops_flat.h"
#include "softgpu/exec/ops_smem.h"
#undef SG_OP_cache_control /* the buffers have the same one */
#include "softgpu/exec/ops_buffer.h"

/* ---- the addresses of memory instructions ---- */

static void record_scalar(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_wave_trace *t)
{
	uint64_t addr;

	sg_smem_reach(w, i, 1, &addr);
	sg_trace_scalar(t, addr);
}

static void record_local(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_wave_trace *t)
{
	const struct sg_isa_row *row = i->fields->row;
	uint32_t offset = (uint32_t)i->imm;
	bool has_address = false;

	for (unsigned n = 0; n < row->n_operands; n++)
		has_address |= row->operand[n].role == SG_ROLE_VADDR;
	if (sg_isa_is_pair(row)) /* the models add the two offsets */
		offset = 0;
	if (has_address) {
		sg_trace_local(t, sg_exec(w), sg_src(w, i, SG_S0), offset);
	} else {
		uint32_t va[SG_LANES];

		for (unsigned l = 0; l < SG_LANES; l++)
			va[l] = (w->s[SG_S_M0] & 0xffff) + 4 * l;
		sg_trace_local(t, sg_exec(w), va, offset);
	}
}

/*
 * Which slice of scratch a wave has depends on which host thread ran it, and where the queue's scratch is on
 * which queue was first to need some. A trace counts from the wave's slice; the model puts waves where it
 * runs them. False: not all of the lanes are in it, and nothing was changed.
 */
static bool from_slice(const struct sg_wave *w, uint64_t *addr, uint64_t mask)
{
	unsigned l;

	SG_FOR_ACTIVE(l, mask)
		if (addr[l] - w->scratch >= w->scratch_bytes)
			return false;
	SG_FOR_ACTIVE(l, mask)
		addr[l] -= w->scratch;
	return true;
}

static void swizzle(const struct sg_wave *w, uint64_t *addr, uint64_t mask)
{
	uint64_t base = sg_s64(w, SG_S_FLAT_SCRATCH);
	unsigned l;

	SG_FOR_ACTIVE(l, mask) {
		uint64_t offset = (uint32_t)addr[l];

		addr[l] = base + (offset >> 2) * SG_SCRATCH_STEP + 4 * l + (offset & 3);
	}
}

static void record_flat(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_wave_trace *t)
{
	uint64_t addr[SG_LANES] __attribute__((aligned(64))), exec = sg_exec(w), shared = 0,
							      private = 0;
	uint64_t memory;
	unsigned l;

	sg_flat_addresses(w, i, addr);
	if (i->inner & SG_MEM_SEG_SCRATCH) {
		swizzle(w, addr, exec);
		sg_trace_lanes(t, from_slice(w, addr, exec) ? SG_SPACE_SCRATCH : SG_SPACE_GLOBAL,
			       exec, addr);
		return;
	}
	if (i->inner & SG_MEM_SEG_FLAT)
		SG_FOR_ACTIVE(l, exec) {
			uint32_t hi = (uint32_t)(addr[l] >> 32);

			shared |= (uint64_t)(hi == w->shared_hi) << l;
			private |= (uint64_t)(hi == w->private_hi) << l;
		}
	swizzle(w, addr, private);
	memory = exec & ~shared;
	if (shared) {
		SG_FOR_ACTIVE(l, shared)
			addr[l] = (uint32_t)addr[l];
		sg_trace_lanes(t, memory ? SG_SPACE_LDS_TOO : SG_SPACE_LDS, shared, addr);
		if (!memory)
			return;
	}
	sg_trace_lanes(t,
		       private && private == memory && from_slice(w, addr, memory)
			       ? SG_SPACE_SCRATCH
			       : SG_SPACE_GLOBAL,
		       memory, addr);
}

static void record_buffer(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_wave_trace *t)
{
	struct sg_fault before = w->fault;
	uint64_t addr[SG_LANES], mask;
	struct sg_lanes a;
	unsigned l;

	if (sg_buffer_lanes(w, i, 4, false, false, &a) != SG_GO) {
		w->fault = before; /* the instruction itself will meet it */
		sg_trace_lanes(t, SG_SPACE_GLOBAL, 0, addr);
		return;
	}
	mask = a.plain;
	SG_FOR_ACTIVE(l, a.odd)
		mask |= (uint64_t)(a.n_bytes[l] != 0) << l;
	SG_FOR_ACTIVE(l, mask)
		addr[l] = (uint64_t)(uintptr_t)a.at[l] - w->mem->host_base;
	sg_trace_lanes(t,
		       a.odd && a.step == SG_SCRATCH_STEP && from_slice(w, addr, mask)
			       ? SG_SPACE_SCRATCH
			       : SG_SPACE_GLOBAL,
		       mask, addr);
}

static void record(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_wave_trace *t)
{
	switch (i->fields->row->enc) {
	case SG_ENC_SMEM:
		record_scalar(w, i, t);
		break;
	case SG_ENC_DS:
		record_local(w, i, t);
		break;
	case SG_ENC_FLAT:
		record_flat(w, i, t);
		break;
	default:
		record_buffer(w, i, t);
		break;
	}
}

/* ---- the loop ---- */

/* of a stretch without changes of MODE */
struct mode {
	bool indexing, skipping, plain_fp;
	uint32_t f32, f64;
};

static enum sg_stop run(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
			const struct mode *mode)
{
	struct sg_exec_insn indexed;
	enum sg_stop stop;

	if (mode->indexing && head & SG_HEAD_VECTOR) {
		sg_wave_index_registers(w, i, &indexed);
		i = &indexed;
	}
	if (mode->plain_fp || !(head & (SG_HEAD_FP32 | SG_HEAD_FP64)))
		return w->handlers[head & SG_HEAD_HANDLER](w, i);
	sg_fpmode_set(head & SG_HEAD_FP32 ? mode->f32 : mode->f64);
	stop = w->handlers[head & SG_HEAD_HANDLER](w, i);
	sg_fpmode_set(SG_FPMODE_DEFAULT);
	return stop;
}

/* How far the next instruction is from the one behind this one, in dwords. */
static int64_t skipped(const struct sg_wave *w, const struct sg_code_window *window,
		       const struct sg_exec_insn *behind)
{
	if (w->window == window)
		return w->pc - behind;
	return (int64_t)(w->window->gpu_base + 4 * (uint64_t)(w->pc - w->window->slots) -
			 window->gpu_base - 4 * (uint64_t)(behind - window->slots)) /
	       4;
}

static enum sg_stop run_stretch(struct sg_wave *w, struct sg_wave_trace *t, uint64_t *budget)
{
	struct mode mode = {
		.indexing = w->mode & SG_MODE_GPR_IDX_EN,
		.skipping = w->mode & SG_MODE_VSKIP,
		.plain_fp = (w->mode & SG_MODE_FP_MASK) == SG_MODE_FP_DEFAULT,
		.f32 = sg_fpmode_of(w->mode, w->mode >> 4),
		.f64 = sg_fpmode_of(w->mode >> 2, w->mode >> 6),
	};
	struct sg_undo *undo = w->launch->undo;
	uint64_t n = *budget;
	enum sg_stop stop;

	do {
		const struct sg_exec_insn *i = w->pc;
		const struct sg_code_window *window = w->window;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

		w->at = i;
		if (!head) {
			stop = sg_code_decode_only(w, i);
			continue;
		}
		w->pc = i + SG_HEAD_DWORDS(head);
		if (i - window->slots >=
		    SG_WINDOW_SLOTS) { /* not code: the way into the next window */
			stop = w->handlers[head & SG_HEAD_HANDLER](w, i);
			continue;
		}
		n--;
		if (mode.skipping && head & SG_HEAD_LANES) {
			sg_trace_jump(t, SG_HEAD_DWORDS(head));
			stop = SG_GO;
			continue;
		}
		if (head & SG_HEAD_MEMORY) {
			if (undo && i->clamp)
				sg_save(w, i, undo);
			record(w, i, t);
		}
		stop = run(w, i, head, &mode);
		sg_trace_step(t, skipped(w, window, i + SG_HEAD_DWORDS(head)), sg_exec(w));
	} while (stop == SG_GO && n);
	*budget = n;
	return stop;
}

enum sg_stop sg_wave_run_traced(struct sg_wave *w, struct sg_wave_trace *t, uint64_t budget)
{
	uint64_t left = budget;
	enum sg_stop stop;

	do
		stop = run_stretch(w, t, &left);
	while (stop == SG_STOP_MODE && left);
	w->n_instructions += budget - left;
	if (stop == SG_STOP_END)
		sg_trace_end(t);
	return stop == SG_GO || stop == SG_STOP_MODE ? SG_STOP_BUDGET : stop;
}
