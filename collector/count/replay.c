/*
 * replay: the counters of a dispatch that hsa/replay.c runs once per set.
 *
 * While a pass runs, the ticket has its set, so that the software GPU's service counts the same (source_compare.c).
 */
#include "collector/collector_priv.h"
#include "collector/count/count_priv.h"
#include "collector/count/source.h"

uint32_t col_count_n_sets(const struct col_count_ticket *ticket)
{
	const struct col_count_source *source;
	const struct col_count_target *target = col_count_target_of(ticket, &source);

	return target && target->asked ? (uint32_t)target->asked->n_sets : 0;
}

void col_count_replay_begin(struct col_count_ticket *ticket)
{
	const struct col_count_source *source;
	const struct col_count_target *target = col_count_target_of(ticket, &source);

	if (target && source->replay)
		source->replay(target, NULL);
}

void col_count_pass_begin(struct col_count_ticket *ticket, uint32_t set)
{
	ticket->queue = ticket->packet = 0;
	__atomic_store_n(&ticket->met, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ticket->set, set, __ATOMIC_RELEASE);
}

void col_count_pass_end(struct col_count_ticket *ticket)
{
	const struct col_count_source *source;
	const struct col_count_target *target = col_count_target_of(ticket, &source);

	col_count_lock_results();
	if (target && source->pass)
		source->pass(target, ticket);
	col_count_unlock_results();
}

void col_count_replay_end(struct col_count_ticket *ticket, const struct col_count_replay *replay)
{
	const struct col_count_source *source;
	const struct col_count_target *target = col_count_target_of(ticket, &source);

	__atomic_store_n(&ticket->set, COL_COUNT_REPLAYED, __ATOMIC_RELEASE);
	if (target && source->replay)
		source->replay(target, replay);
}
