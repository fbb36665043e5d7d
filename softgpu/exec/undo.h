/*
 * undo: what a kernel overwrote, byte by byte, so that it can be run again from the same memory.
 *
 *	sg_undo_save(undo, p, n)      before [p, p + n) is written; any number of threads
 *	sg_undo_keep(undo)            what the run left there, in case a later run is given up
 *	sg_undo_restore(undo)         memory is as before the first write
 *	sg_undo_redo(undo)            memory is as it was at keep
 *
 * A byte is saved once, before its first write, and nothing but saved bytes is ever put back: what the
 * host or another queue writes beside them stays. After restore the same undo serves the next run.
 *
 * Threads  save: any, at the same time; it takes no lock and may be left by the guard (mem/guard.h) while it
 *          reads memory. All others: while nobody saves. Those that touch memory run inside the guard.
 * Errors   what cannot be saved (no memory, or past the ceiling) sets `lost` for good: the kernel must
 *          not be run again then.
 */
#ifndef WS_SOFTGPU_EXEC_UNDO_H
#define WS_SOFTGPU_EXEC_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_undo;

struct sg_undo *sg_undo_create(uint64_t max_bytes); /* of storage; NULL: no memory */
void sg_undo_destroy(struct sg_undo *undo);         /* NULL is fine */
void sg_undo_save(struct sg_undo *undo, const void *at, size_t n_bytes);
bool sg_undo_lost(const struct sg_undo *undo);
uint64_t sg_undo_n_bytes(const struct sg_undo *undo); /* saved */
bool sg_undo_keep(struct sg_undo *undo);              /* false: no memory, and `lost` */
void sg_undo_restore(const struct sg_undo *undo);
void sg_undo_redo(const struct sg_undo *undo);

#endif
