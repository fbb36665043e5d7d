#include "programs/roofline/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define WAIT_S 600 /* a benchmark takes a minute; a process that holds it longer does not measure */

int roof_lock(const struct gpu_agent *gpu, void (*waits)(void))
{
	const uint32_t bus = (uint32_t)(gpu->domain << 16 | gpu->location_id);
	char path[64];
	struct stat file;
	int fd;

	/* in /tmp whatever TMPDIR says: other users' benchmarks count, too */
	snprintf(path, sizeof(path), "/tmp/wavescope-roofline-%08x.lock", bus);
	/* nothing is written to it, so another user's will do; a link or a pipe will not */
	fd = open(path, O_RDONLY | O_CREAT | FLAGS, 0666);
	if (fd < 0 && errno == EACCES) /* it is another user's: O_CREAT is refused in /tmp */
		fd = open(path, O_RDONLY | FLAGS);
	if (fd < 0)
		return -1;
	for (int s = 0; s < WAIT_S && !fstat(fd, &file) && S_ISREG(file.st_mode); s++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		if (errno != EINTR && errno != EWOULDBLOCK)
			break;
		if (!s)
			waits();
		sleep(1);
	}
	close(fd);
	return -1;
}
