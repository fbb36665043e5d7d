/*
 * progress: what takes long, and what does not move at all, said on stderr.
 *
 * A simulated kernel can take minutes and then looks like a hang; and a real hang, a queue that waits
 * for what never comes, looks like a kernel that takes long. On a terminal, after some seconds, one line below the
 * cursor says which of the two it is, and is kept up to date until it is over; elsewhere one line is written,
 * once per kernel or packet and later. WAVESCOPE_PROGRESS turns it off or says after how many seconds.
 *
 * It looks at counters that exist anyway, a few times per second, on the poller's thread; nothing is written
 * that would block, nothing while the program has the terminal in raw mode or runs in the background.
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

/* Whenever the poller comes by: cheap, most of the time. */
void sg_progress_tick(struct sg_cp *cp, uint64_t now_ns);
/* A kernel ends, and its program may print now: take the line away. */
void sg_progress_hide(struct sg_cp *cp);

#endif
