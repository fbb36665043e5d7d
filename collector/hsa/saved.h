/*
 * saved: the contents of memory before a kernel that is replayed (replay.h).
 *
 *	col_saved_save(queue)        all saved ranges of its agent, and what is compared
 *	col_saved_restore()          as it was
 *	col_saved_host_changed()     whether memory that is compared is as it was
 *
 * The copies are made by the GPU, into memory of the GPU, or of the host where that is not enough. The memory is kept for
 * the next kernel, and given back when an allocation of the program fails. A range that was freed meanwhile is
 * not restored.
 *
 * Limit    WAVESCOPE_REPLAY_MB, for what is saved and for what is compared each; default COL_SAVED_MB.
 * Threads  one at a time, but for give_back: any.
 */
#ifndef WS_COLLECTOR_HSA_SAVED_H
#define WS_COLLECTOR_HSA_SAVED_H

#include "collector/hsa/obstacles.h"

#include <stdbool.h>
#include <stdint.h>

struct col_own_queue;

#define COL_SAVED_MB 16384u

enum col_obstacle col_saved_save(struct col_own_queue *queue, uint64_t *out_bytes);
enum col_obstacle col_saved_restore(void);
bool col_saved_host_changed(void);
void col_saved_done(void); /* of this kernel: the memory may be given back */

bool col_saved_give_back(void); /* false: there is nothing that could be */
void col_saved_unload(void);

#endif
