/*
 * roofcache: a cache of measured GPU peaks.
 *
 *	$XDG_CACHE_HOME/wavescope/roofline-<16 hex digits>		(or ~/.cache/wavescope)
 *
 * An entry is for one machine, its GPUs, the benchmark and the software it runs on. Their
 * description is the first part of the file; its hash is the file name. Entries for anything
 * else and damaged entries are ignored. The folder is private to the user; without a home
 * folder there is no cache.
 *
 * One process at a time has an entry open. Others wait, with a time limit, so that ranks of
 * one launch and profiles started together measure once.
 */
#ifndef WS_LAUNCH_ROOFCACHE_H
#define WS_LAUNCH_ROOFCACHE_H

#include "base/error.h"
#include "base/str.h"
#include "gpu/agent.h"

#include <limits.h>
#include <stdbool.h>
#include <time.h>

struct launch_roofcache {
	char path[PATH_MAX]; /* "": there is none */
	struct ws_buf key;
	int lock; /* -1: not locked */
};

/* What an entry is for. */
struct launch_roofcache_key {
	const char *version; /* of ours */
	const struct gpu_agents *agents;
	int device; /* as for launch_roofline_run() */
};

/* Fails where there is no cache, with the reason; @cache may be used all the same. */
enum ws_status launch_roofcache_open(struct launch_roofcache *cache,
				     const struct launch_roofcache_key *key, struct ws_err *err);
/* When this process began, to the next clock tick: what others measured since counts as measured now. */
struct timespec launch_roofcache_start(void);
/*
 * The peaks as the text of a roofline.csv, and when they were measured; older ones than @since
 * do not count. False: measure them.
 */
bool launch_roofcache_take(const struct launch_roofcache *cache, struct timespec since,
			   struct ws_buf *out_text, time_t *out_when);
void launch_roofcache_put(const struct launch_roofcache *cache, const struct ws_buf *text);
void launch_roofcache_close(struct launch_roofcache *cache);

#endif
