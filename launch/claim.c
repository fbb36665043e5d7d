#include "launch/claim.h"

#include "base/file.h"
#include "base/path.h"
#include "base/util.h"
#include "launch/rundir.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES_MAX 100u

struct timespec launch_claim_now(void)
{
	struct timespec now;

	/*
	 * No file that is there has a time after this. One that is written in the next few
	 * milliseconds may have one before, where the file system's clock is coarse: whoever
	 * wrote that was as good as done.
	 */
	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

/* A run writes one of these, whatever was requested. */
static bool written_since(const char *prefix, struct timespec since)
{
	static const char *const names[] = { "_agent_info.csv",
					     "_results.json",
					     "_results.pftrace",
					     "_results.db",
					     "_results.otf2",
					     "_config.json",
					     ".pftrace", /* --perfetto-trace-filename */
					     ".json" /* rocprof-sys: metadata */ };
	char path[PATH_MAX + 32];
	struct stat file;

	for (size_t i = 0; i < WS_ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s%s", prefix, names[i]);
		if (stat(path, &file) == 0 &&
		    (file.st_mtim.tv_sec > since.tv_sec ||
		     (file.st_mtim.tv_sec == since.tv_sec && file.st_mtim.tv_nsec > since.tv_nsec)))
			return true;
	}
	return false;
}

static bool is_there(const char *path, int fd)
{
	struct stat named, open_one;

	return stat(path, &named) == 0 && fstat(fd, &open_one) == 0 &&
	       named.st_ino == open_one.st_ino && named.st_dev == open_one.st_dev;
}

bool launch_claim_take(struct launch_claim *claim, const char *prefix, struct timespec since)
{
	char folder[PATH_MAX];

	claim->fd = -1;
	if (snprintf(claim->path, sizeof(claim->path), "%s.lock", prefix) >= PATH_MAX)
		return true;
	strcpy(folder, claim->path);
	ws_path_parent(folder);
	if (ws_mkdirs(folder, NULL))
		return true;
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		/* No file to lock, or bait in its place: then there is no other rank of ours. */
		if (ws_file_open_plain(claim->path, &claim->fd, NULL))
			return true;
		if (flock(claim->fd, LOCK_EX | LOCK_NB) != 0) {
			bool taken = errno == EWOULDBLOCK;

			close(claim->fd);
			claim->fd = -1;
			return !taken;
		}
		/* The previous owner may have removed it in between: then it locks nothing. */
		if (is_there(claim->path, claim->fd))
			break;
		close(claim->fd);
		claim->fd = -1;
	}
	if (!written_since(prefix, since))
		return true;
	launch_claim_release(claim);
	return false;
}

void launch_claim_release(struct launch_claim *claim)
{
	if (claim->fd < 0)
		return;
	unlink(claim->path);
	close(claim->fd);
	claim->fd = -1;
}
