/*
 * peek: reads and writes memory that may be unmapped, without a signal. It takes system calls.
 *
 * Threads  any.
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
