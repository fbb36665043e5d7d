/* wait: the memory counters of a wave, and what s_waitcnt makes of them. */
#include "softgpu/timing/impl.h"

/* When are at most `left` of the ring's instructions unfinished? WS_NEVER: unknown. */
static uint64_t ring_time(struct ws_done_ring *r, uint32_t size, uint32_t left, uint64_t now)
{
	uint64_t time = now;

	for (uint32_t k = r->n_retired; r->n_issued - k > left; k++) {
		uint64_t done = r->done[k % size];

		if (done == WS_NEVER)
			return WS_NEVER;
		time = done > time ? done : time;
		if (done <= now && k == r->n_retired)
			r->n_retired++;
	}
	return time;
}

/* Scalar loads come back in any order: a wait for them is always for all. */
static uint64_t wait_time(struct ws_model_wave *w, uint64_t now)
{
	uint64_t vm = now, lgkm = now;

	if (w->wait_vm != WS_NO_WAIT)
		vm = ring_time(&w->vm, WS_MAX_VM, w->wait_vm, now);
	if (w->wait_lgkm != WS_NO_WAIT)
		lgkm = ring_time(&w->lgkm, WS_MAX_LGKM, w->wait_lgkm, now);
	return vm == WS_NEVER || lgkm == WS_NEVER ? WS_NEVER : vm > lgkm ? vm : lgkm;
}

void ws_wave_answered(struct ws_model_wave *w, uint64_t now)
{
	uint64_t t;

	if (!w->waiting)
		return;
	t = wait_time(w, w->issued_at);
	if (t == WS_NEVER)
		return;
	w->waiting = false;
	w->ready_at = ws_quads_up(t);
	ws_wave_wake(w);
}

void ws_wave_wait(struct ws_model_wave *w, uint64_t t)
{
	uint64_t until = wait_time(w, t);

	w->stall = WS_STALL_WAITCNT;
	w->waits = true;
	w->waiting = until == WS_NEVER;
	w->ready_at = w->waiting ? WS_NEVER : ws_quads_up(until);
}
