#include "collector/count/gpu_lock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ARGS_WORDS 10u /* the longer of the two layouts; the driver takes what it knows */

enum operation { LOCK_PMC = 0, LOCK_VERSION = 2 };

struct profiler_args {
	uint32_t word[ARGS_WORDS]; /* the operation, then the operands, from word 1 or 2 on */
};

bool col_gpu_lock_find(int kfd, struct col_gpu_lock_way *out_way)
{
	static const uint8_t numbers[] = { 0x86, 0x28 };
	int saved_errno = errno;

	for (size_t i = 0; i < sizeof(numbers); i++) {
		struct profiler_args args;
		unsigned long request = _IOWR('K', numbers[i], struct profiler_args);

		memset(&args, 0xff, sizeof(args));
		args.word[0] = LOCK_VERSION;
		if (ioctl(kfd, request, &args) != 0)
			continue;
		for (uint32_t at = 1; at <= 2; at++)
			if (args.word[at] != UINT32_MAX) {
				*out_way = (struct col_gpu_lock_way){ request, at, args.word[at] };
				errno = saved_errno;
				return true;
			}
	}
	errno = saved_errno;
	return false;
}

int col_gpu_lock_set(int kfd, const struct col_gpu_lock_way *way, uint32_t gpu_id, bool locked)
{
	struct profiler_args args = { { LOCK_PMC } };
	int saved_errno = errno, error = 0;

	args.word[way->first_word] = gpu_id;
	args.word[way->first_word + 1] = locked;
	args.word[way->first_word + 2] = locked; /* counting is enabled on all queues */
	if (ioctl(kfd, way->request, &args) != 0)
		error = errno == EALREADY ? 0 : errno;
	errno = saved_errno;
	return error;
}

/* An abstract socket: no file is left behind, and nobody needs a permission. */
bool col_gpu_claim(uint32_t domain, uint32_t location)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int saved_errno = errno, n;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool taken;

	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "wavescope-counts-%x-%x",
		     domain, location);
	taken = fd >= 0 &&
		bind(fd, (const struct sockaddr *)&address,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) != 0 &&
		errno == EADDRINUSE;
	if (taken)
		close(fd); /* else it stays, and with it the name */
	errno = saved_errno;
	return !taken;
}
