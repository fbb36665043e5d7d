/*
 * sample: PC sampling. Every so many cycles one wave of each CU is sampled, its waves in turn.
 */
#include "softgpu/timing/model_priv.h"

static const struct sg_model_wave *pick(struct sg_cu *cu)
{
	uint32_t n = cu->n_waves ? cu->sample_rr++ % cu->n_waves : 0;

	for (unsigned s = 0; s < 4; s++) {
		if (n < cu->simd[s].n_waves)
			return cu->simd[s].waves[n];
		n -= cu->simd[s].n_waves;
	}
	return NULL;
}

/*
 * Whether the wave is at the instruction that it issued last: it is being executed, or it is one
 * that waits (s_waitcnt, s_barrier, s_sleep). Else it is at the next one.
 */
static bool is_at_last(const struct sg_cu *cu, const struct sg_model_wave *w)
{
	return (w->waits && w->stall != SG_STALL_FETCH) ||
	       (w->stall == SG_STALL_NONE && w->last_pc &&
		cu->simd[w->simd].ready[w->age] > cu->next_sample);
}

static const struct sg_timing_insn *inst_at(struct sg_cu *cu, uint64_t pc)
{
	const struct sg_map_page *page = sg_code_map_page(&cu->model->code, pc); /* it is there */

	return &page->inst[(pc - page->base) / 4];
}

/* Whether the wave's branch is taken: it was, or the trace says that it will be. */
static bool is_taken(const struct sg_model_wave *w, bool at_last, const struct sg_timing_insn *inst)
{
	if (at_last)
		return sg_model_pc(w) != w->last_pc + 4ull * inst->dwords;
	return w->trace.reader.run == 1 && w->trace.reader.op == SG_TRACE_JUMP;
}

void sg_sample_window(struct sg_cu *cu, uint64_t t)
{
	const struct sg_model_dispatch *d = cu->model->d;
	const struct sg_hw *hw = cu->model->hw;

	for (; cu->next_sample <= t; cu->next_sample += d->sample_cycles) {
		const struct sg_model_wave *w = pick(cu);
		struct sg_pc_sample s = { .cycle = cu->next_sample };
		const struct sg_timing_insn *inst;
		bool at_last;

		if (!w || cu->next_sample < w->started)
			continue;
		s.wg = w->wg->id;
		/* ready: it issues in this quad-cycle, unless it was passed over in the last one */
		s.stall = cu->simd[w->simd].ready[w->age] > cu->next_sample ? w->stall
									    : SG_STALL_NONE;
		if (!s.stall && w->issued_at + 4 <= cu->next_sample &&
		    w->stall == SG_STALL_NOT_CHOSEN)
			s.stall = SG_STALL_NOT_CHOSEN;
		at_last = is_at_last(cu, w);
		s.pc = at_last ? w->last_pc : sg_model_pc(w);
		inst = inst_at(cu, s.pc);
		s.exec = w->exec;
		s.wave = w->index;
		s.xcc = (uint8_t)cu->xcc;
		s.se = (uint8_t)(cu->se % hw->n_se);
		s.cu = (uint8_t)(cu->index % hw->cus_per_se);
		s.simd = w->simd;
		s.slot = w->wave_slot;
		s.unit = inst->unit;
		s.insn_class = inst->insn_class;
		s.taken = is_taken(w, at_last, inst);
		s.waves = (uint8_t)cu->n_waves;
		d->sample(d->ctx, &s);
	}
}
