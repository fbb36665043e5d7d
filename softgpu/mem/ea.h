/*
 * ea: what L2 sends to memory: to the HBM behind each channel, and over the links to peers and the host,
 * which all channels share.
 *
 * A link has a rate for each direction, so reads and writes do not hinder each other. What is on the wire
 * of a request is its data and the head of a packet. A channel is stalled, for want of credits, while it waits
 * for a link that others have; but for the time that it takes to send what it sends. PCIe writes are
 * posted: they wait as well, but in the fabric, and count no stall (published).
 *
 * Each function counts the requests, in TCC_EA_*, and returns when the answer is there.
 */
#ifndef WS_SOFTGPU_MEM_EA_H
#define WS_SOFTGPU_MEM_EA_H

#include "softgpu/mem/tcc.h"

/* For a dispatch at `mhz`: nothing is on its way. */
void sg_ea_begin(struct sg_tcc *tcc, uint32_t mhz);
/* A request is about to use the route. */
void sg_ea_open(struct sg_tcc *tcc, struct sg_memory_kind kind);

/* 64 bytes. */
uint64_t sg_ea_read(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t time, uint32_t route,
		    bool uncached);
/* Those bytes of 64: in one request of 64, or in one or two of 32. */
uint64_t sg_ea_write(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t time, uint64_t bytes,
		     uint32_t route, bool uncached);
/* An atomic of those bytes, memory's to execute: a request for each half of 32. */
uint64_t sg_ea_atomic(struct sg_tcc *tcc, struct sg_channel *ch, uint64_t time, uint64_t bytes,
		      uint32_t route);

/* Cycles in which a channel had no credits for a link. */
uint64_t sg_ea_stalled(const struct sg_tcc *tcc, const struct sg_link_stall *stall);

#endif
