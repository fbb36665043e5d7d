/*
 * peek: reads and writes memory that may be unmapped, also while that happens. It takes system calls.
 *
 * Threads  any.
 * Signals  SIGSEGV or SIGBUS occurs only when another thread unmaps the memory during the call.
 */
#ifndef WS_SOFTGPU_DEVICE_PEEK_H
#define WS_SOFTGPU_DEVICE_PEEK_H

#include <stdbool.h>
#include <stddef.h>

/* False: not all of it can be read; *to is undefined then. */
bool sg_peek_bytes(const void *from, void *to, size_t size);
/* False: not all of it can be written; a part may have been. */
bool sg_poke_bytes(void *to, const void *from, size_t size);
/* A string, cut at size - 1 characters or where it cannot be read. */
void sg_peek_text(const char *from, char *to, size_t size);

#endif
