/* Compiled once per SIMD level, like the handlers. */
#include "softgpu/exec/traced_run.h"

#include "softgpu/exec/code.h"
#include "softgpu/exec/fpmode.h"
#include "softgpu/exec/record.h"
#include "softgpu/exec/save.h"

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

/* A slot without an instruction: it is not decoded yet, or it is the way into the next window. */
static enum sg_stop enter_code(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head)
{
	if (!head)
		return sg_code_decode_only(w, i);
	w->pc = i;
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
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

static void record_memory(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
			  struct sg_wave_trace *t)
{
	if (w->launch->undo && i->clamp)
		sg_save(w, i, w->launch->undo);
	sg_record(w, i, head, t);
}

SG_NOINLINE enum sg_stop run_any_memory(struct sg_wave *w, const struct sg_exec_insn *i,
					uint32_t head, struct sg_wave_trace *t)
{
	record_memory(w, i, head, t);
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
}

SG_NOINLINE enum sg_stop run_other_flat(struct sg_wave *w, const struct sg_exec_insn *i,
					uint32_t head, struct sg_wave_trace *t)
{
	sg_record_any_flat(w, i, t);
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
}

SG_NOINLINE enum sg_stop run_flat(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
				  struct sg_wave_trace *t)
{
	if (!sg_record_row(w, i, t, ~0ull, NULL))
		return run_other_flat(w, i, head, t);
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
}

SG_NOINLINE enum sg_stop run_local(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
				   struct sg_wave_trace *t)
{
	if (!sg_record_plain_local(w, i, t))
		return run_any_memory(w, i, head, t);
	return w->handlers[head & SG_HEAD_HANDLER](w, i);
}

/*
 * A memory instruction. Functions that call another one at their end only need no stack frame; that of all that can
 * happen here would be a third of what a scalar load costs. So there is one for each of the frequent kinds.
 */
SG_NOINLINE enum sg_stop run_memory(struct sg_wave *w, const struct sg_exec_insn *i, uint32_t head,
				    struct sg_wave_trace *t)
{
	unsigned kind = SG_HEAD_MEMORY_KIND(head);

	if (!w->launch->undo) {
		if (kind == SG_MEMORY_FLAT && sg_exec(w) == ~0ull)
			return run_flat(w, i, head, t);
		if (kind == SG_MEMORY_LOCAL && sg_exec(w) == ~0ull)
			return run_local(w, i, head, t);
		if (kind == SG_MEMORY_SCALAR && sg_record_plain_scalar(w, i, t))
			return w->handlers[head & SG_HEAD_HANDLER](w, i);
	}
	return run_any_memory(w, i, head, t);
}

/*
 * With the MODE that nearly all code has. What instructions that compute pay for the trace is a look at where
 * they lead and at EXEC: how many they were follows from the budget.
 */
static enum sg_stop run_fast(struct sg_wave *w, struct sg_wave_trace *t, uint64_t *budget)
{
	const sg_handler *handlers = w->handlers;
	const struct sg_code_window *window = w->window;
	uint64_t n = *budget, n_counted = n; /* what t->run knows of */
	uint64_t exec = t->exec_now;
	const struct sg_exec_insn *i = w->pc, *behind;
	enum sg_stop stop;

	do {
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);
		size_t length = SG_HEAD_BYTES(head); /* 0: there is no instruction */

		w->at = i;
		behind = (const struct sg_exec_insn *)((const char *)i + length);
		if (__builtin_expect(!length, 0)) {
			stop = enter_code(w, i, head);
			window = w->window;
			i = w->pc;
			continue;
		}
		w->pc = behind;
		stop = head & SG_HEAD_MEMORY ? run_memory(w, i, head, t)
					     : handlers[head & SG_HEAD_HANDLER](w, i);
		n--;
		if (__builtin_expect(w->pc != behind || sg_exec(w) != exec, 0)) {
			int64_t skip = skipped(w, window, behind);

			t->run += (uint32_t)(n_counted - n);
			n_counted = n;
			window = w->window;
			exec = sg_exec(w);
			if (skip)
				sg_trace_jump(t, skip);
			if (exec != t->exec_now)
				sg_trace_exec(t, exec);
		}
		i = sg_wave_next(w, behind);
	} while (stop == SG_GO && n);
	t->run += (uint32_t)(n_counted - n);
	*budget = n;
	return stop;
}

static enum sg_stop run_slow(struct sg_wave *w, struct sg_wave_trace *t, uint64_t *budget)
{
	struct mode mode = {
		.indexing = w->mode & SG_MODE_GPR_IDX_EN,
		.skipping = w->mode & SG_MODE_VSKIP,
		.plain_fp = (w->mode & SG_MODE_FP_MASK) == SG_MODE_FP_DEFAULT,
		.f32 = sg_fpmode_of(w->mode, w->mode >> 4),
		.f64 = sg_fpmode_of(w->mode >> 2, w->mode >> 6),
	};
	uint64_t n = *budget;
	enum sg_stop stop;

	do {
		const struct sg_exec_insn *i = w->pc;
		const struct sg_code_window *window = w->window;
		uint32_t head = atomic_load_explicit(&i->head, memory_order_acquire);

		w->at = i;
		if (!SG_HEAD_DWORDS(head)) {
			stop = enter_code(w, i, head);
			continue;
		}
		w->pc = i + SG_HEAD_DWORDS(head);
		n--;
		if (mode.skipping && head & SG_HEAD_LANES) {
			sg_trace_jump(t, SG_HEAD_DWORDS(head));
			stop = SG_GO;
			continue;
		}
		if (head & SG_HEAD_MEMORY)
			record_memory(w, i, head, t);
		stop = run(w, i, head, &mode);
		sg_trace_step(t, skipped(w, window, i + SG_HEAD_DWORDS(head)), sg_exec(w));
	} while (stop == SG_GO && n);
	*budget = n;
	return stop;
}

enum sg_stop SG_FN(run_traced)(struct sg_wave *w, struct sg_wave_trace *t, uint64_t budget)
{
	uint64_t left = budget;
	enum sg_stop stop;

	do {
		bool plain = (w->mode & SG_MODE_FP_MASK) == SG_MODE_FP_DEFAULT &&
			     !(w->mode & (SG_MODE_GPR_IDX_EN | SG_MODE_VSKIP));

		stop = plain ? run_fast(w, t, &left) : run_slow(w, t, &left);
	} while (stop == SG_STOP_MODE && left);
	w->n_instructions += budget - left;
	if (stop == SG_STOP_END)
		sg_trace_end(t);
	return stop == SG_GO || stop == SG_STOP_MODE ? SG_STOP_BUDGET : stop;
}
