/*
 * sample: what a timer would see that looks at one wave of a CU every so many cycles, its waves in turn.
 */
#include "softgpu/timing/impl.h"

static const struct ws_model_wave *pick(struct ws_cu *cu)
{
	uint32_t n = cu->n_waves ? cu->sample_rr++ % cu->n_waves : 0;

	for (unsigned s = 0; s < 4; s++) {
		if (n < cu->simd[s].n_waves)
			return cu->simd[s].waves[n];
		n -= cu->simd[s].n_waves;
	}
	return NULL;
}

void ws_sample_window(struct ws_cu *cu, uint64_t t)
{
	const struct ws_model_dispatch *d = cu->model->d;

	for (; cu->next_sample <= t; cu->next_sample += d->sample_cycles) {
		const struct ws_model_wave *w = pick(cu);
		struct ws_pc_sample s = { .cycle = cu->next_sample };

		if (!w || cu->next_sample < w->started)
			continue;
		s.wg = w->wg->id;
		s.pc = ws_model_pc(w);
		s.exec = w->exec;
		s.wave = w->index;
		s.cu = (uint16_t)cu->index;
		s.simd = w->simd;
		s.slot = w->wave_slot;
		s.unit = ws_wave_inst(w)->unit;
		s.waves = (uint8_t)cu->simd[w->simd].n_waves;
		/* ready: it issues in this quad-cycle, unless it was passed over in the last one */
		s.stall = cu->simd[w->simd].ready[w->age] > cu->next_sample ? w->stall : WS_STALL_NONE;
		if (!s.stall && w->issued_at + 4 <= cu->next_sample && w->stall == WS_STALL_NOT_CHOSEN)
			s.stall = WS_STALL_NOT_CHOSEN;
		d->sample(d->ctx, &s);
	}
}
