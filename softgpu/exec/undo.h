/*
 * undo: what a kernel overwrote, byte by byte, so that it can be run again from the same memory.
 *
 *	ws_undo_save(undo, p, n)      before [p, p + n) is written; any number of threads
 *	ws_undo_keep(undo)            what the run left there, in case a later run is given up
 *	ws_undo_restore(undo)         memory is as before the first write
 *	ws_undo_redo(undo)            memory is as it was at keep
 *
 * A byte is saved once, before its first write, and nothing but saved bytes is ever put back: what the
 * host or another queue writes beside them stays. After restore the same undo serves the next run.
 *
 * Threads  save: any, at the same time; it takes no lock and may be left by the guard (guard.h) while it
 *          reads memory. All others: while nobody saves. Those that touch memory run inside the guard.
 * Errors   what cannot be saved (no memory, or past the ceiling) sets `lost` for good: the kernel must
 *          not be run again then.
 */
#ifndef WS_SOFTGPU_EXEC_UNDO_H
#define WS_SOFTGPU_EXEC_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ws_undo;

struct ws_undo *ws_undo_create(uint64_t max_bytes); /* of storage; NULL: no memory */
void ws_undo_destroy(struct ws_undo *undo); /* NULL is fine */
void ws_undo_save(struct ws_undo *undo, const void *at, size_t n_bytes);
bool ws_undo_lost(const struct ws_undo *undo);
uint64_t ws_undo_n_bytes(const struct ws_undo *undo); /* saved */
bool ws_undo_keep(struct ws_undo *undo); /* false: no memory, and `lost` */
void ws_undo_restore(const struct ws_undo *undo);
void ws_undo_redo(const struct ws_undo *undo);

#endif
