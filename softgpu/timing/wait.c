/* wait: the memory counters of a wave, and what s_waitcnt makes of them. */
#include "softgpu/timing/model_priv.h"

/* When are at most `left` of the ring's instructions unfinished? SG_NEVER: unknown. */
static uint64_t ring_time(struct sg_done_ring *r, const uint64_t *ring, uint32_t size,
			  uint32_t left, uint64_t now)
{
	uint64_t time = now;

	for (uint32_t k = r->n_retired; r->n_issued - k > left; k++) {
		uint64_t done = ring[k % size];

		if (done == SG_NEVER)
			return SG_NEVER;
		time = done > time ? done : time;
		if (done <= now && k == r->n_retired)
			r->n_retired++;
	}
	return time;
}

/* Scalar loads come back in any order: a wait for them is always for all. */
static uint64_t wait_time(struct sg_model_wave *w, uint64_t now)
{
	uint64_t vm = now, lgkm = now;

	if (w->wait_vm != SG_NO_WAIT)
		vm = ring_time(&w->vm, w->vm_done, SG_MAX_VM, w->wait_vm, now);
	if (w->wait_lgkm != SG_NO_WAIT)
		lgkm = ring_time(&w->lgkm, w->lgkm_done, SG_MAX_LGKM, w->wait_lgkm, now);
	return vm == SG_NEVER || lgkm == SG_NEVER ? SG_NEVER : vm > lgkm ? vm : lgkm;
}

void sg_wave_answered(struct sg_model_wave *w, uint64_t now)
{
	uint64_t t;

	if (!w->waiting)
		return;
	t = wait_time(w, w->issued_at);
	if (t == SG_NEVER)
		return;
	w->waiting = false;
	w->ready_at = sg_quads_up(t);
	sg_wave_wake(w);
}

void sg_wave_wait(struct sg_model_wave *w, uint64_t t)
{
	uint64_t until = wait_time(w, t);

	w->stall = SG_STALL_WAITCNT;
	w->waits = true;
	w->waiting = until == SG_NEVER;
	w->ready_at = w->waiting ? SG_NEVER : sg_quads_up(until);
}
