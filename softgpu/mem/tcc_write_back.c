/*
 * tcc_write_back: what L2 writes to memory at the end of a dispatch: each channel as fast as memory takes it, so that nothing waits
 * long enough to be out of credits.
 */
#include "softgpu/mem/tcc_chunk.h"

/* Of a channel. */
struct writing {
	uint64_t from;       /* all of it can be written then */
	uint64_t last;       /* when the last line is there */
	uint64_t waited;     /* when memory was free for that */
	uint64_t n, n_whole; /* lines; of them, whole ones that are written next */
};

/* When memory begins to take the lines that are written next, in 1/256 cycles. */
static inline uint64_t next_taken(const struct sg_channel *ch, const struct writing *all)
{
	return *ch->taken > all->from << 8 ? *ch->taken : all->from << 8;
}

/* Writes the whole lines, each as soon as memory has taken the one before. */
static inline __attribute__((always_inline)) void write_whole(struct sg_tcc *tcc,
							      struct sg_channel *ch,
							      uint32_t n_halves,
							      struct writing *all)
{
	struct sg_ea_run run = sg_ea_start(ch);
	uint32_t n = (uint32_t)all->n_whole;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t free_at = run.taken >> 8, done;

		done = sg_ea_write_next(tcc, ch, &run, free_at > all->from ? free_at : all->from,
					n_halves);
		all->waited = free_at;
		all->last = done > all->last ? done : all->last;
	}
	sg_ea_stop(tcc, ch, &run, 0, n * n_halves);
	C(TCC_WRITEBACK) += n;
	all->n += n;
	all->n_whole = 0;
}

static void write_set_back(struct sg_tcc *tcc, struct sg_channel *ch, uint32_t index,
			   struct writing *all)
{
	struct sg_l2_set *set = &ch->sets[index];

	for (uint32_t dirty = sg_ways_upper(set->states); dirty; dirty &= dirty - 1) {
		struct sg_l2_line l = { set, index, (uint32_t)__builtin_ctz(dirty) };
		uint64_t free_at = *ch->taken >> 8, done;

		done = sg_l2_write_line_back(tcc, ch, l, next_taken(ch, all) >> 8, tcc->n_halves);
		all->n++;
		all->waited = free_at > all->waited ? free_at : all->waited;
		all->last = done > all->last ? done : all->last;
	}
}

/* Of a group whose sets are not apart. Its lines are alike, so that it makes no difference which one is first. */
static inline __attribute__((always_inline)) void add_group(struct sg_tcc *tcc,
							    struct sg_channel *ch,
							    struct sg_l2_set *set,
							    uint32_t n_halves, struct writing *all)
{
	uint32_t n_lines = SG_MAX_BURST / n_halves;

	for (uint32_t dirty = sg_ways_upper(set->states); dirty; dirty &= dirty - 1) {
		uint32_t way = (uint32_t)__builtin_ctz(dirty);
		struct sg_l2_leaving chunk = { true, set->tags[way] - 1 };
		uint64_t n_before = all->n_whole * n_halves;

		set->states[way] &= ANY_VALID;
		if (tcc->hbm.mall)
			sg_l2_announce(tcc, ch, &chunk, n_lines,
				       (next_taken(ch, all) + n_before * tcc->hbm.taken_cost) >> 8);
		all->n_whole += n_lines;
	}
}

/* Returns when the last line is there. */
static inline __attribute__((always_inline)) uint64_t write_channel_back(struct sg_tcc *tcc,
									 struct sg_channel *ch,
									 uint64_t time,
									 uint32_t n_halves)
{
	struct writing all = { .from = time, .last = time };
	uint32_t n = SG_MAX_BURST / n_halves;

	for (uint32_t first = 0; first < tcc->n_sets; first += n) {
		if (ch->sets[first].group == SG_L2_HALFWAY)
			sg_tcc_set_apart(tcc, &ch->sets[first]);
		if (ch->sets[first].group == SG_L2_TOGETHER) {
			add_group(tcc, ch, &ch->sets[first], n_halves, &all);
			continue;
		}
		write_whole(tcc, ch, n_halves, &all);
		for (uint32_t k = 0; k < n; k++)
			write_set_back(tcc, ch, first + k, &all);
	}
	write_whole(tcc, ch, n_halves, &all);
	C(TCC_ALL_TC_OP_WB_WRITEBACK) += all.n;
	if (tcc->hw->release_stalls)
		sg_busy_add(&ch->write_stall, time, all.waited);
	return all.last;
}

uint64_t sg_tcc_write_back(struct sg_tcc *tcc, uint64_t time)
{
	uint64_t last = time;

	for (uint32_t k = 0, n = sg_hw_n_channels(tcc->hw); k < n; k++) {
		struct sg_channel *ch = &tcc->channels[k];
		uint64_t done = !ch->touched         ? time
				: tcc->n_halves == 2 ? write_channel_back(tcc, ch, time, 2)
						     : write_channel_back(tcc, ch, time, 1);

		last = done > last ? done : last;
	}
	return last;
}
