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

/* Cycles in which a channel had no credits for a link. */
uint64_t sg_ea_stalled(const struct sg_tcc *tcc, const struct sg_link_stall *stall);

#endif
