#include "collector/hsa/scratch.h"

void ws_scratch_take(struct ws_hsa_table *tools)
{
	if (!ws_asked(WS_SERVICE_SCRATCH_MEMORY))
		return;
	if (!ws_scratch_told_take(tools) && !ws_scratch_seen_take())
		ws_note("scratch memory: this HSA runtime neither reports it nor can be watched");
}

void ws_scratch_write(const struct ws_scratch_event *event)
{
	struct ws_thread *t = ws_thread();
	struct ws_lane *lane = t ? ws_thread_lane(t) : NULL;
	struct ws_rec_scratch *rec = lane ? ws_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		ws_call_lost_(t, WS_DOMAIN_SCRATCH_MEMORY);
		return;
	}
	rec->h.what = event->op;
	rec->h.time = event->start_ticks;
	rec->end_ticks = event->end_ticks;
	rec->corr_id = t->corr_id; /* 0 on ROCr's own thread, as in AMD's tool */
	rec->n_bytes = event->n_bytes;
	rec->agent = event->agent;
	rec->queue = event->queue;
	rec->tid = t->tid;
	rec->flags = event->flags;
	ws_lane_commit(lane, &rec->h, WS_REC_FIXED_TAG(SCRATCH, struct ws_rec_scratch));
}
