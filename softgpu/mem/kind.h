/*
 * kind: how a GPU reaches a range of memory: the route, and what its caches may keep.
 *
 * The types are those of the page tables, as AMD assigns them on MI100 and MI200:
 *
 *                  coarse-grained  fine-grained
 *   its own HBM    RW              CC
 *   a peer's HBM   NC              UC
 *   the host's     NC              UC
 */
#ifndef WS_SOFTGPU_MEM_KIND_H
#define WS_SOFTGPU_MEM_KIND_H

#include <stdint.h>

enum sg_mtype {
	SG_MTYPE_RW, /* cached */
	SG_MTYPE_CC, /* coherently cached: only loads are; stores and atomics go out at once */
	SG_MTYPE_NC, /* cached, until the end of a kernel */
	SG_MTYPE_UC, /* not cached */
};

enum sg_route {
	SG_ROUTE_OWN, /* to its own HBM */
	SG_ROUTE_IO,  /* over PCIe: to the host, or to a GPU without a bridge */
	SG_ROUTE_GMI, /* over xGMI; one for each peer, from here on */
	SG_MAX_ROUTES = SG_ROUTE_GMI + 16
};

struct sg_memory_kind {
	uint8_t mtype;   /* enum sg_mtype */
	uint8_t route;   /* enum sg_route */
	uint8_t n_links; /* in parallel; 0 for its own HBM */
};

#endif
