/*
 * lock: one benchmark at a time on a GPU, or ranks that share it would measure each other.
 */
#ifndef WS_ROOFLINE_LOCK_H
#define WS_ROOFLINE_LOCK_H

#include "gpu/agent.h"

/*
 * Waits until no other process measures @gpu; @waits is called before, if one does. Returns a file
 * descriptor to close. -1: no lock file can be made, or another process has held the lock for ten
 * minutes; the benchmark then runs without it.
 */
int roof_lock(const struct gpu_agent *gpu, void (*waits)(void));

#endif
