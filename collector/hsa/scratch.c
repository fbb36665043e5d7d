#include "collector/hsa/scratch.h"

void col_scratch_install(struct col_hsa_table *tools)
{
	if (!col_asked(COL_SERVICE_SCRATCH_MEMORY))
		return;
	if (!col_scratch_events_install(tools) && !col_scratch_locks_install())
		col_note("scratch memory: not supported with this HSA runtime");
}

void col_scratch_write(const struct col_scratch_event *event)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	struct cap_rec_scratch *rec = lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec) {
		col_call_lost_(t, CAP_DOMAIN_SCRATCH_MEMORY);
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
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(SCRATCH, struct cap_rec_scratch));
}
