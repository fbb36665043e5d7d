/*
 * flame: call trees as a flame graph, in one page that needs no network.
 *
 * The page holds up to three views: CPU time and wall-clock time of the samples, and measured
 * time of regions and calls, where GPU work is added to the call that launched it. Threads are
 * shown one by one or merged. Names are foreign text and cannot leave the data they are in.
 *
 * Failure  of writing is the stream's.
 */
#ifndef WS_PROFILE_FLAME_H
#define WS_PROFILE_FLAME_H

#include "profile/tree.h"

#include <stdio.h>

struct prof_flame_view {
	const char *title, *note;
	const struct prof_tree *tree;
	enum prof_clock clock;
};

#define PROF_FLAME_VIEWS_MAX 3

/* The views that have something to show; returns how many. Each tree may be NULL. */
size_t prof_flame_views(const struct prof_tree *calls, const struct prof_tree *samples,
			struct prof_flame_view out_views[PROF_FLAME_VIEWS_MAX]);
/* False: no memory; what was written is not complete. */
bool prof_flame_write(const struct prof_flame_view *views, size_t n_views, const char *program,
		      FILE *to);

#endif
