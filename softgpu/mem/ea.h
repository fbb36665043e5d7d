/*
 * ea: what L2 sends to memory: to the GPU's own (hbm.h), and over the links to peers and the host,
 * which all channels share.
 *
 * A link has a rate for each direction, so reads and writes do not compete. A request occupies the link with
 * its data and a packet header. While a channel waits for a link that others use, it is stalled for lack of
 * credits; the time to send its own request does not count. PCIe writes are posted: they wait in the fabric
 * and count no stall (published).
 *
 * Each function counts the requests in TCC_EA_*, and returns the time of the answer.
 */
#ifndef WS_SOFTGPU_MEM_EA_H
#define WS_SOFTGPU_MEM_EA_H

#include "softgpu/counters/catalogue.h"
#include "softgpu/mem/tcc.h"

/* Starts a dispatch at `mhz`, with no request in flight. */
void sg_ea_begin(struct sg_tcc *tcc, uint32_t mhz);
/* A request is about to use the route. */
void sg_ea_open(struct sg_tcc *tcc, struct sg_memory_kind kind);

/* n times 64 bytes, in one request. number: of the line in the channel; scalar: see hbm.h. */
uint64_t sg_ea_read(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		    uint32_t route, uint32_t n, bool uncached, bool scalar);
/* Those bytes of 64: in one request of 64, or in one or two of 32. */
uint64_t sg_ea_write(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		     uint64_t bytes, uint32_t route, bool uncached);
/* An atomic on those bytes, executed by memory: a request for each half of 32. */
uint64_t sg_ea_atomic(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		      uint64_t bytes, uint32_t route);

/* Completes the counters. */
void sg_ea_count(const struct sg_tcc *tcc, struct sg_channel *ch);

/* Cycles in which a channel had no credits for a link. */
uint64_t sg_ea_stalled(const struct sg_tcc *tcc, const struct sg_link_stall *stall);

/* ---- the most frequent ones, inline: those to the GPU's own cached memory ---- */

/* n times 64 bytes, in one request. */
static inline __attribute__((always_inline)) uint64_t sg_ea_read_on(struct sg_tcc *tcc,
								    struct sg_channel *ch,
								    struct sg_hbm_way way,
								    bool there, uint64_t time,
								    uint32_t n, bool scalar)
{
	uint64_t waited, done = sg_hbm_read(&tcc->hbm, way, n, there, scalar, time, &waited);

	ch->own_reads[n - 1]++;
	ch->c[SG_C_TCC_EA_RDREQ_LEVEL] += done - time;
	if (waited > tcc->hbm.read_credit)
		sg_busy_add(&ch->read_stall, time, time + (waited >> 8) - tcc->hw->read_credit);
	return done;
}

static inline uint64_t sg_ea_read_at_once(struct sg_tcc *tcc, struct sg_channel *ch,
					  uint64_t number, uint64_t time, uint32_t n, bool scalar)
{
	struct sg_hbm *hbm = &tcc->hbm;
	bool there = hbm->mall && sg_hbm_touch(hbm, ch->index, number, 1, time, false);

	return sg_ea_read_on(tcc, ch, sg_hbm_way(hbm, ch->index, number), there, time, n, scalar);
}

/*
 * Requests of a channel to its GPU's own memory, one after the other, which nothing else is between: what they change is kept
 * in the host's registers. Reads: if memory is `direct`; to write: if there is an Infinity Cache, sg_hbm_touch() has put the
 * line there.
 */
struct sg_ea_run {
	uint64_t taken;                   /* *sg_channel.taken */
	uint64_t read_level, write_level; /* sums of when they are sent, from when they came */
};

static inline struct sg_ea_run sg_ea_start(const struct sg_channel *ch)
{
	return (struct sg_ea_run){ .taken = *ch->taken };
}

/* After so many requests. */
static inline void sg_ea_stop(const struct sg_tcc *tcc, struct sg_channel *ch,
			      const struct sg_ea_run *run, uint32_t n_reads, uint32_t n_writes)
{
	*ch->taken = run->taken;
	ch->own_reads[0] += n_reads;
	ch->own_writes += n_writes;
	if (n_reads)
		ch->c[SG_C_TCC_EA_RDREQ_LEVEL] +=
			run->read_level + n_reads * (uint64_t)tcc->hbm.read_cycles;
	if (n_writes)
		ch->c[SG_C_TCC_EA_WRREQ_LEVEL] +=
			run->write_level + n_writes * (uint64_t)tcc->hbm.write_cycles;
}

/* n times 64 bytes of one line, in n requests one after the other. The second waits for the first, so its wait for credits
 * includes that of the first. */
static inline __attribute__((always_inline)) uint64_t sg_ea_read_next(const struct sg_tcc *tcc,
								      struct sg_channel *ch,
								      struct sg_ea_run *run,
								      uint64_t time, uint32_t n)
{
	uint64_t now = time << 8, start = now > run->taken ? now : run->taken;
	uint64_t end = start + tcc->hbm.read_cost;

	run->read_level += (end >> 8) - time;
	if (n == 2) {
		start = end;
		end += tcc->hbm.read_cost;
		run->read_level += (end >> 8) - time;
	}
	run->taken = end;
	if (start - now > tcc->hbm.read_credit)
		sg_busy_add(&ch->read_stall, time, (start >> 8) - tcc->hw->read_credit);
	return (end >> 8) + tcc->hbm.read_cycles;
}

static inline __attribute__((always_inline)) uint64_t sg_ea_write_next(const struct sg_tcc *tcc,
								       struct sg_channel *ch,
								       struct sg_ea_run *run,
								       uint64_t time, uint32_t n)
{
	uint64_t now = time << 8, start = now > run->taken ? now : run->taken;
	uint64_t end = start + tcc->hbm.taken_cost;
	/* fitted: a write is acknowledged on its way to memory */
	uint64_t done = (end >> 8) - ((start - now) >> 9);

	run->write_level += done - time;
	if (n == 2) {
		start = end;
		end += tcc->hbm.taken_cost;
		done = (end >> 8) - ((start - now) >> 9);
		run->write_level += done - time;
	}
	run->taken = end;
	if (start - now > tcc->hbm.write_credit)
		sg_busy_add(&ch->write_stall, time, (start >> 8) - tcc->hw->write_credit);
	return done + tcc->hbm.write_cycles;
}

/* One of them alone. */
static inline __attribute__((always_inline)) uint64_t sg_ea_read_own(const struct sg_tcc *tcc,
								     struct sg_channel *ch,
								     uint64_t time, uint32_t n)
{
	struct sg_ea_run run = sg_ea_start(ch);
	uint64_t done = sg_ea_read_next(tcc, ch, &run, time, n);

	sg_ea_stop(tcc, ch, &run, n, 0);
	return done;
}

static inline __attribute__((always_inline)) uint64_t sg_ea_write_own(const struct sg_tcc *tcc,
								      struct sg_channel *ch,
								      uint64_t time, uint32_t n)
{
	struct sg_ea_run run = sg_ea_start(ch);
	uint64_t done = sg_ea_write_next(tcc, ch, &run, time, n);

	sg_ea_stop(tcc, ch, &run, 0, n);
	return done;
}

#endif
