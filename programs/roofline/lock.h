/*
 * lock: one benchmark at a time on a GPU, or ranks that share it would measure each other.
 */
#ifndef WS_ROOFLINE_LOCK_H
#define WS_ROOFLINE_LOCK_H

#include <stdint.h>

/*
 * Waits for whoever measures the GPU at this place on the bus; @waits is called first if somebody
 * does. Returns a file descriptor to close, or -1 where there is no place for a lock, or somebody
 * has had it for ten minutes: then nobody waits.
 */
int roof_lock(uint32_t bus, void (*waits)(void));

#endif
