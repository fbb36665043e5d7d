/*
 * kind: what memory is to the GPU that reaches for it: by which route, and what its caches may keep.
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

enum ws_mtype {
	WS_MTYPE_RW, /* cached */
	WS_MTYPE_CC, /* coherently cached: only loads are; stores and atomics go out at once */
	WS_MTYPE_NC, /* cached, until the end of a kernel */
	WS_MTYPE_UC, /* not cached */
};

enum ws_route {
	WS_ROUTE_OWN, /* to its own HBM */
	WS_ROUTE_IO,  /* over PCIe: to the host, or to a GPU without a bridge */
	WS_ROUTE_GMI, /* over xGMI; one for each peer, from here on */
	WS_MAX_ROUTES = WS_ROUTE_GMI + 16
};

struct ws_memory_kind {
	uint8_t mtype;   /* enum ws_mtype */
	uint8_t route;   /* enum ws_route */
	uint8_t n_links; /* side by side; of its own HBM: 0 */
};

#endif
