/*
 * dispatch_match: which dispatch of one pass is which dispatch of another.
 *
 * Nothing in a record says so: ids, addresses and times differ from run to run. What stays
 * the same is what the program does. Dispatches are of one kind when they launch the same
 * kernel in the same way, and the n-th dispatch of a kind in one pass is the n-th of that
 * kind in every other. This is the only place that decides it: the join of captures, the
 * files of a profile folder and multiplexed counters all ask here.
 *
 *	trc_match_init(&match, TRC_ALIKE_GRID);
 *	for each dispatch of the first pass:
 *		trc_match_kind(&match, &launch, &kind, err);
 *		trc_match_add(&match, kind, err);           // row 0, 1, 2, ...
 *	for each later pass:
 *		trc_match_rewind(&match);
 *		for each of its dispatches, in order of submission:
 *			trc_match_kind(&match, &launch, &kind, err);
 *			row = trc_match_take(&match, kind); // of the first pass, or TRC_NO_ROW
 *
 * Threads  one at a time.
 */
#ifndef WS_TRACE_DISPATCH_MATCH_H
#define WS_TRACE_DISPATCH_MATCH_H

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* How much of a launch must agree; the process and the GPU always must. */
enum trc_alike {
	TRC_ALIKE_KERNEL, /* the kernel: --join-type kernel */
	TRC_ALIKE_GRID,   /* and the number of work-items: --join-type grid */
	TRC_ALIKE_LAUNCH, /* and the shape of grid and workgroup, and the LDS */
};

/* What stays the same from run to run. A source that does not record a field leaves it 0. */
struct trc_launch {
	uint64_t process; /* a number that means the same in all passes */
	uint64_t gpu;     /* the same */
	uint64_t kernel;  /* stands for the name: an index or a hash */
	uint64_t grid[3]; /* in work-items; a file has the product in [0] */
	uint64_t workgroup[3], group_bytes;
};

#define TRC_NO_ROW SIZE_MAX

struct trc_match_rows {
	size_t first, last; /* rows of this kind, chained by `next` */
	size_t next;        /* to be taken */
};

struct trc_match {
	enum trc_alike alike;
	struct ws_arena arena;
	struct ws_map kinds;                /* of the part of a launch that must agree: kind + 1 */
	WS_VEC(struct trc_match_rows) rows; /* by kind */
	WS_VEC(size_t) next;                /* by row of the first pass: the next of its kind */
};

void trc_match_init(struct trc_match *match, enum trc_alike alike);
void trc_match_fini(struct trc_match *match); /* a zeroed one is fine */

/* Kinds are numbered from 0, in order of appearance. */
enum ws_status trc_match_kind(struct trc_match *match, const struct trc_launch *launch,
			      uint32_t *out_kind, struct ws_err *err);

/* The next dispatch of the first pass. */
enum ws_status trc_match_add(struct trc_match *match, uint32_t kind, struct ws_err *err);
/* A pass begins: dispatches are counted from the first of each kind. */
void trc_match_rewind(struct trc_match *match);
/* The row of the first pass that the next dispatch of @kind is; TRC_NO_ROW: it has none. */
size_t trc_match_take(struct trc_match *match, uint32_t kind);

#endif
