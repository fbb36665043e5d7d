/*
 * ranges: the memory that kernels can write, for kernel replay (replay.h).
 *
 * Every allocation of the program that a GPU can reach is in a table, and so are the variables of loaded code. There
 * are three kinds, by who can write while a kernel runs:
 *
 *	SAVED      coarse-grained memory of a GPU: only that GPU. It is saved, and restored between two passes
 *	COMPARED   memory that the host can write at any time: restoring it could undo what the host wrote. A kernel
 *	           that changed it is not repeated
 *	CONSTANT   kernel arguments: kernels do not write them, and the host fills those of later kernels
 *
 * Memory that others can write at any time is an obstacle: fine-grained memory of a GPU, memory shared with other
 * processes, memory that several GPUs of the program can write.
 *
 * A replay is between col_ranges_begin() and col_ranges_end(). Meanwhile the program's copies into saved memory wait,
 * a second at most. Then the replay is interrupted: the pass that runs is the last one, and nothing is restored
 * any more. So no wait is without end. Memory that the program frees is forgotten first; that waits while
 * memory is being copied.
 *
 * Threads  any. hold, release: around all that uses the table itself.
 */
#ifndef WS_COLLECTOR_HSA_RANGES_H
#define WS_COLLECTOR_HSA_RANGES_H

#include "collector/hsa/obstacles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum col_range_kind { COL_RANGE_SAVED, COL_RANGE_COMPARED, COL_RANGE_CONSTANT };

struct col_range {
	uint64_t address, n_bytes;
	uint64_t number;              /* of the allocation: an address may come again */
	uint32_t agent;               /* whose memory it is */
	uint8_t kind;                 /* enum col_range_kind */
	bool peers;                   /* other GPUs can write it */
	uint32_t n_locks;             /* of memory that was locked: how often, beyond once */
	uint64_t hash[2], hashed_for; /* COMPARED: contents, when replay number hashed_for began */
};

void col_ranges_load(void);   /* the runtime is up: kernels will be replayed, or not */
bool col_ranges_kept(void);   /* they will be, so allocations are kept in the table */
void col_ranges_unload(void); /* allocations went with the runtime */
void col_ranges_forked(void);

/* From the hooks of the runtime's functions. */
void col_ranges_allocated(uint64_t address, uint64_t n_bytes, uint64_t pool);
void col_ranges_add(uint64_t address, uint64_t n_bytes, uint32_t agent, enum col_range_kind kind);
void col_ranges_remove(uint64_t address); /* before it is freed; unknown is fine */
void col_ranges_remove_in(uint64_t address, uint64_t n_bytes); /* all that begin there */
void col_ranges_kernarg(uint64_t address);                 /* a dispatch has its arguments there */
void col_ranges_allowed(uint64_t address, uint32_t agent); /* @agent can use it, too */
void col_ranges_shared(void); /* with another process or device: from now on nothing is known */
void col_ranges_queue(uint32_t agent); /* the program uses this GPU */

/*
 * Around a call that writes to @address. Begin: false: not saved memory, and nothing else is to be done.
 * End: with a signal, the copy runs until that falls below @value.
 */
bool col_ranges_write_begin(uint64_t address);
void col_ranges_write_end(uint64_t signal, int64_t value, const uint64_t *waits_for, uint32_t n);
void col_ranges_signal_reused(uint64_t signal); /* or destroyed: what it meant is over */

/* ---- for a replay, one at a time ---- */

/* Copies that run are waited for. Not NONE: no kernel of @agent can be repeated now. */
enum col_obstacle col_ranges_begin(uint32_t agent);
void col_ranges_end(void);
bool col_ranges_interrupted(void); /* held */

void col_ranges_hold(void);
void col_ranges_release(void);
/* Held, and valid until then. By address. */
const struct col_range *col_ranges_all(size_t *out_n);
struct col_range *col_ranges_at(uint64_t address); /* that contains it; NULL: none */

#endif
