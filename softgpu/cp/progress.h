/*
 * progress: reports long kernels and queues without progress on stderr.
 *
 * A simulated kernel can take minutes and then looks like a hang. A real hang, a queue that waits for a
 * signal that never comes, looks like a long kernel. After some seconds a line on stderr says which of the
 * two it is: on a terminal it stands below the cursor and is updated until the end, elsewhere it is written
 * once per kernel or packet. WAVESCOPE_PROGRESS turns it off or sets the number of seconds.
 *
 * The poller's thread reads counters that exist anyway, a few times per second. Nothing is written that
 * would block, nor while the program has the terminal in raw mode or runs in the background.
 *
 * Threads  create, destroy: before and after the poller. tick: the poller. hide: any.
 */
#ifndef WS_SOFTGPU_CP_PROGRESS_H
#define WS_SOFTGPU_CP_PROGRESS_H

#include <stdint.h>

struct sg_cp;
struct sg_progress;

struct sg_progress *sg_progress_create(void); /* NULL: off */
void sg_progress_destroy(struct sg_progress *progress);

/* Called by the poller in each round; mostly cheap. */
void sg_progress_tick(struct sg_cp *cp, uint64_t now_ns);
/* Removes the line: a kernel ends, and its program may print now. */
void sg_progress_hide(struct sg_cp *cp);

#endif
