/*
 * scratch_events: ROCr 6.0 and later call the tool before and after an allocation, on the same thread.
 *
 * The table of such calls has six functions, three pairs; each gets a pointer to a struct that
 * begins the same way. Declared here, because no header of ROCr 5 has it.
 */
#include "collector/hsa/queue_priv.h"
#include "collector/hsa/scratch.h"

#define PAIRS 3u

struct event {
	uint32_t kind;
	const hsa_queue_t *queue;
	uint32_t flags;
	/* of allocations */
	uint64_t dispatch_id;
	/* at their ends */
	size_t n_bytes;
	size_t n_slots;
};

typedef hsa_status_t (*event_fn)(const struct event *event);

static event_fn before_us[2 * PAIRS];
static __thread uint64_t started_ticks[PAIRS] __attribute__((tls_model("initial-exec")));

static hsa_status_t pass_on(unsigned at, const struct event *event)
{
	return before_us[at] ? before_us[at](event) : HSA_STATUS_SUCCESS;
}

static hsa_status_t start(unsigned pair, const struct event *event)
{
	started_ticks[pair] = col_on(COL_SERVICE_SCRATCH_MEMORY) ? cap_ticks() : 0;
	return pass_on(2 * pair, event);
}

static hsa_status_t end(unsigned pair, const struct event *event)
{
	static const enum cap_scratch_op ops[PAIRS] = { CAP_SCRATCH_ALLOC, CAP_SCRATCH_FREE,
							CAP_SCRATCH_ASYNC_RECLAIM };
	struct col_scratch_event out = {
		.op = ops[pair],
		.flags = event->flags,
		.start_ticks = started_ticks[pair],
		.end_ticks = cap_ticks(),
		.n_bytes = ops[pair] == CAP_SCRATCH_ALLOC ? event->n_bytes : 0,
	};
	const struct col_queue *queue;

	started_ticks[pair] = 0;
	if (!out.start_ticks)
		return pass_on(2 * pair + 1, event);
	col_lock(&col_queues_lock);
	queue = col_queue_find(event->queue);
	if (queue) {
		out.queue = queue->rec.h.what;
		out.agent = queue->rec.agent;
	}
	col_unlock(&col_queues_lock);
	col_scratch_write(&out);
	return pass_on(2 * pair + 1, event);
}

#define PAIR(number, name)                                                                         \
	static hsa_status_t name##_start(const struct event *event)                                \
	{                                                                                          \
		return start(number, event);                                                       \
	}                                                                                          \
	static hsa_status_t name##_end(const struct event *event)                                  \
	{                                                                                          \
		return end(number, event);                                                         \
	}
PAIR(0, alloc)
PAIR(1, free)
PAIR(2, reclaim)
#undef PAIR

bool col_scratch_events_install(struct col_hsa_table *tools)
{
	static const event_fn ours[2 * PAIRS] = { alloc_start, alloc_end,     free_start,
						  free_end,    reclaim_start, reclaim_end };

	if (col_hsa_table_functions(tools) < 2 * PAIRS)
		return false;
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		if (tools->functions[i] == (void (*)(void))ours[i])
			continue; /* attached once more */
		before_us[i] = (event_fn)tools->functions[i];
		tools->functions[i] = (void (*)(void))ours[i];
	}
	return true;
}
