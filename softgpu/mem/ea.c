#include "softgpu/mem/ea.h"

#include <string.h>

#include "softgpu/counters/catalogue.h"

#define C(name) ch->c[SG_C_##name]

enum { IN, OUT }; /* directions of a link */

/* Counters of 32 bytes, by where they are. */
enum { OWN, PEER, HOST, N_PLACES };
static const uint16_t read_32b[N_PLACES] = {
	[OWN] = SG_C_TCC_EA_RDREQ_DRAM_32B,
	[PEER] = SG_C_TCC_EA_RDREQ_GMI_32B,
	[HOST] = SG_C_TCC_EA_RDREQ_IO_32B,
};
static const uint16_t write_32b[N_PLACES] = {
	[OWN] = SG_C_TCC_EA_WRREQ_WRITE_DRAM_32B,
	[PEER] = SG_C_TCC_EA_WRREQ_WRITE_GMI_32B,
	[HOST] = SG_C_TCC_EA_WRREQ_WRITE_IO_32B,
};
static const uint16_t atomic_32b[N_PLACES] = {
	[OWN] = SG_C_TCC_EA_WRREQ_ATOMIC_DRAM_32B,
	[PEER] = SG_C_TCC_EA_WRREQ_ATOMIC_GMI_32B,
	[HOST] = SG_C_TCC_EA_WRREQ_ATOMIC_IO_32B,
};

static unsigned place_of(uint32_t route)
{
	return route == SG_ROUTE_OWN ? OWN : route == SG_ROUTE_IO ? HOST : PEER;
}

void sg_ea_begin(struct sg_tcc *tcc, uint32_t mhz)
{
	tcc->mhz = mhz;
	tcc->credit_cycles = tcc->hw->credit_ns * mhz / 1000;
	sg_hbm_begin(&tcc->hbm, mhz);
	memset(tcc->links, 0, sizeof(tcc->links));
}

void sg_ea_open(struct sg_tcc *tcc, struct sg_memory_kind kind)
{
	struct sg_link_state *link = &tcc->links[kind.route];
	uint32_t n_links = kind.n_links ? kind.n_links : 1;

	if (link->hw || kind.route == SG_ROUTE_OWN)
		return;
	link->hw = kind.route == SG_ROUTE_IO ? &tcc->hw->pcie : &tcc->hw->xgmi;
	link->byte_cost =
		(uint32_t)(((uint64_t)tcc->mhz << 16) / ((uint64_t)link->hw->mb_s * n_links));
	link->read_cycles = link->hw->read_ns * tcc->mhz / 1000;
	link->write_cycles = link->hw->write_ns * tcc->mhz / 1000;
}

/* A link: so many bytes in one direction. */
static uint64_t over_link(struct sg_link_state *link, unsigned direction, uint64_t time,
			  uint32_t n_bytes, struct sg_link_stall *stall)
{
	uint64_t now = time << 8, *free_at = &link->free_at[direction];
	uint64_t start = now > *free_at ? now : *free_at;
	uint32_t latency = direction == IN ? link->read_cycles : link->write_cycles;

	*free_at = start + ((uint64_t)n_bytes * link->byte_cost >> 8);
	if (stall && start > now) {
		sg_busy_add(&stall->waiting, time, start >> 8);
		stall->n++;
	}
	return (*free_at >> 8) + latency;
}

uint64_t sg_ea_stalled(const struct sg_tcc *tcc, const struct sg_link_stall *stall)
{
	uint64_t sending = stall->n * tcc->credit_cycles;

	return stall->waiting.cycles > sending ? stall->waiting.cycles - sending : 0;
}

/* n: times 64 bytes in one request */
static void count_reads(const struct sg_tcc *tcc, struct sg_channel *ch, uint32_t route, uint32_t n,
			bool uncached, uint64_t n_requests)
{
	bool bubble = n == 2 && tcc->hw->target == SG_ISA_GFX942; /* recorded; and 0 on gfx950 */

	C(TCC_EA_RDREQ) += n_requests;
	C(TCC_BUBBLE) += bubble ? n_requests : 0;
	C(TCC_EA_RDREQ_128B) += n == 2 ? n_requests : 0;
	C(TCC_EA_RDREQ_64B) += n == 1 ? n_requests : 0;
	C(TCC_EA_RDREQ_DRAM) += route == SG_ROUTE_OWN ? n_requests : 0;
	ch->c[read_32b[place_of(route)]] += 2 * n * n_requests;
	C(TCC_EA_RD_UNCACHED_32B) += uncached ? 2 * n * n_requests : 0;
}

uint64_t sg_ea_read(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		    uint32_t route, uint32_t n, bool uncached, bool scalar)
{
	struct sg_link_state *link = &tcc->links[route];
	uint64_t done;

	if (route == SG_ROUTE_OWN) {
		C(TCC_EA_RD_UNCACHED_32B) += uncached ? 2 * n : 0;
		return sg_ea_read_at_once(tcc, ch, number, time, n, scalar);
	}
	done = over_link(link, IN, time, n * 64 + link->hw->read_head,
			 route == SG_ROUTE_IO ? &ch->io_read : &ch->gmi_read);
	count_reads(tcc, ch, route, n, uncached, 1);
	C(TCC_EA_RDREQ_LEVEL) += done - time;
	return done;
}

/* A write or an atomic of n_bytes in n_packets. */
static uint64_t send(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		     uint32_t route, uint32_t n_bytes, uint32_t n_packets)
{
	struct sg_link_state *link = &tcc->links[route];
	uint64_t waited = 0, done;

	if (route == SG_ROUTE_OWN) {
		done = sg_hbm_write(&tcc->hbm, ch->index, number, time, &waited);
		waited >>= 8;
		done -= waited / 2; /* fitted: a write is acknowledged on its way to memory */
	} else {
		done = over_link(link, OUT, time, n_bytes + n_packets * link->hw->write_head,
				 link->hw->posted ? NULL : &ch->gmi_write);
	}
	if (waited > tcc->hw->write_credit)
		sg_busy_add(&ch->write_stall, time, time + waited - tcc->hw->write_credit);
	return done;
}

static void count_writes(struct sg_channel *ch, uint32_t route, bool whole, bool uncached,
			 uint64_t n)
{
	C(TCC_EA_WRREQ) += n;
	C(TCC_EA_WRREQ_DRAM) += route == SG_ROUTE_OWN ? n : 0;
	C(TCC_EA_WRREQ_64B) += whole ? n : 0;
	C(TCC_EA_WRREQ_WRITE_DRAM) += route == SG_ROUTE_OWN ? n : 0;
	ch->c[write_32b[place_of(route)]] += whole ? 2 * n : n;
	C(TCC_EA_WR_UNCACHED_32B) += uncached ? n : 0; /* published: one of 64 bytes counts once */
}

static uint64_t write_one(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
			  uint64_t bytes, uint32_t route, bool uncached)
{
	bool whole = bytes == ~0ull;
	uint64_t done = send(tcc, ch, number, time, route, whole ? 64 : 32, 1);

	if (route == SG_ROUTE_OWN && whole && !uncached)
		ch->own_writes++;
	else
		count_writes(ch, route, whole, uncached, 1);
	C(TCC_EA_WRREQ_LEVEL) += done - time;
	return done;
}

uint64_t sg_ea_write(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		     uint64_t bytes, uint32_t route, bool uncached)
{
	/* two writes of 32 bytes where one of 64 would carry bytes that nobody wrote */
	if (bytes != ~0ull && (uint32_t)bytes && bytes >> 32) {
		write_one(tcc, ch, number, time, bytes & 0xffffffff, route, uncached);
		bytes &= ~0xffffffffull;
	}
	return write_one(tcc, ch, number, time, bytes, route, uncached);
}

uint64_t sg_ea_atomic(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t number, uint64_t time,
		      uint64_t bytes, uint32_t route)
{
	uint64_t done = time;

	for (unsigned half = 0; half < 2; half++) {
		uint32_t of_half = (uint32_t)(bytes >> 32 * half);
		uint32_t n_bytes = (uint32_t)__builtin_popcount(of_half), n_packets = 1;

		if (!of_half)
			continue;
		if (route != SG_ROUTE_OWN && tcc->links[route].hw->per_operand)
			n_packets = (n_bytes + 3) / 4;
		done = send(tcc, ch, number, time, route, n_bytes, n_packets);
		/* the old value comes back by the way it went */
		done += route == SG_ROUTE_OWN
				? 0
				: tcc->links[route].read_cycles - tcc->links[route].write_cycles;
		C(TCC_EA_WRREQ)++;
		C(TCC_EA_WRREQ_DRAM) += route == SG_ROUTE_OWN;
		C(TCC_EA_ATOMIC)++;
		C(TCC_EA_WRREQ_ATOMIC_DRAM) += route == SG_ROUTE_OWN;
		ch->c[atomic_32b[place_of(route)]]++;
		C(TCC_EA_WR_UNCACHED_32B)++;
		C(TCC_EA_WRREQ_LEVEL) += done - time;
		C(TCC_EA_ATOMIC_LEVEL) += done - time;
	}
	return done;
}

void sg_ea_count(const struct sg_tcc *tcc, struct sg_channel *ch)
{
	for (uint32_t n = 1; n <= 2; n++)
		count_reads(tcc, ch, SG_ROUTE_OWN, n, false, ch->own_reads[n - 1]);
	count_writes(ch, SG_ROUTE_OWN, true, false, ch->own_writes);
}
