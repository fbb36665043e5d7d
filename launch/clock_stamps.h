/*
 * clock_stamps: how far the clocks of a job's nodes are apart, through files in the output folder.
 *
 *	stamps = launch_clock_stamps_begin(&dir, &place.rank);
 *	...                                                     the program runs
 *	launch_clock_stamps_end(stamps);
 *
 * For jobs without collectives. One front end per node keeps DIR/.rocprofv3/clocks/<rank>.stamp up to
 * date, which has the id and the time of its clock, read before the file is written. Rank 0
 * reads those of all others, and they read the one of rank 0. What was read, and when, goes to
 * <rank>.wclk: a stamp that was read at a time was made before it. That is true whatever the delays
 * of the file system are, and both directions together bound the difference of two clocks.
 *
 * A thread of the front end does it, which sleeps nearly all the time: 20 times in the first second, then
 * less and less often, every 30 seconds at last. The program does not notice it.
 *
 * Failure  is silent: the run does not depend on it, and the merge says what it lacks.
 */
#ifndef WS_LAUNCH_CLOCK_STAMPS_H
#define WS_LAUNCH_CLOCK_STAMPS_H

#include "base/str.h"
#include "launch/rank.h"
#include "launch/rundir.h"

#include <stdint.h>

#define LAUNCH_CLOCK_STAMPS_FOLDER "clocks"
#define LAUNCH_CLOCK_STAMPS_SUFFIX ".wclk"

struct launch_clock_stamps;
/* NULL: nothing to exchange, because there is one rank, or another one of this node does it. */
struct launch_clock_stamps *launch_clock_stamps_begin(const struct launch_rundir *dir,
						      const struct launch_rank *rank);
void launch_clock_stamps_end(struct launch_clock_stamps *stamps); /* NULL is fine */

/* A time of one clock, which is known by its boot id: "0123...cdef 123456789". */
struct launch_clock_time {
	uint8_t boot_id[16];
	uint64_t ns;
};
/*
 * A line of @n of them. A .wclk file has lines of two: the first clock read a stamp of the second.
 * False: it is none.
 */
bool launch_clock_times_parse(struct ws_str line, struct launch_clock_time *out_times, size_t n);

#endif
