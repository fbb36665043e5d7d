/*
 * got: installs wrappers in a running process.
 *
 * A preloaded wrapper is bound at program start. Later the bindings have to be changed, in each
 * object's table of addresses of functions in other objects (base/got.h).
 *
 * Not changed: the wrapped libraries themselves, our own, and addresses that the program has
 * already looked up by name and keeps.
 *
 * Threads  one at a time; the program's may run meanwhile.
 */
#ifndef WS_COLLECTOR_INTERPOSE_GOT_H
#define WS_COLLECTOR_INTERPOSE_GOT_H

#include <stdint.h>

/* Load the libraries of wrappers that these need (preload.h), from beside this library. */
void col_got_want(uint32_t services, uint32_t flags);
/* Change what is not changed yet; cheap when nothing was loaded since the last time. */
void col_got_patch(void);

#endif
