#include "launch/perfmon.h"

#include "base/file.h"
#include "base/str.h"
#include "collector/count/gpu_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAP_BIT_SYS_ADMIN 21u
#define CAP_BIT_PERFMON 38u
#define CAP_BITS (1ull << CAP_BIT_SYS_ADMIN | 1ull << CAP_BIT_PERFMON)

static uint64_t capabilities(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtoull(at + strlen(key), NULL, 16) : 0;
}

bool launch_perfmon_capable(const char *status, bool is_root, char *out_text, size_t room)
{
	uint64_t own = capabilities(status, "CapEff:") & CAP_BITS;
	uint64_t inherited = is_root ? own : capabilities(status, "CapAmb:") & CAP_BITS;

	snprintf(out_text, room, "%s",
		 inherited & 1ull << CAP_BIT_PERFMON     ? "CAP_PERFMON"
		 : inherited & 1ull << CAP_BIT_SYS_ADMIN ? "CAP_SYS_ADMIN"
		 : own ? "wavescope has CAP_PERFMON, but not the programs that it starts"
		       : "neither CAP_PERFMON nor CAP_SYS_ADMIN");
	return inherited != 0;
}

void launch_perfmon_look(struct launch_perfmon *out_perfmon)
{
	struct col_gpu_lock_way way;
	int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	struct ws_buf status;

	*out_perfmon = (struct launch_perfmon){ 0 };
	if (kfd >= 0 && col_gpu_lock_find(kfd, &way))
		out_perfmon->version = way.version;
	if (kfd >= 0)
		close(kfd);
	ws_buf_init(&status, 65536);
	if (!ws_file_read("/proc/self/status", &status, NULL))
		out_perfmon->is_capable =
			launch_perfmon_capable(status.at, geteuid() == 0, out_perfmon->capability,
					       sizeof(out_perfmon->capability));
	ws_buf_fini(&status);
}

enum ws_status launch_check_perfmon(struct ws_err *err)
{
	struct launch_perfmon perfmon;

	launch_perfmon_look(&perfmon);
	if (!perfmon.version)
		return ws_fail(err, WS_E_ACCESS,
			       "this driver cannot switch on the counters of SQ for all queues of "
			       "a GPU: use AMD's driver of ROCm 7.0 or later, or count without SQ");
	if (!perfmon.is_capable)
		return ws_fail(err, WS_E_ACCESS,
			       "counters of SQ of a whole GPU need CAP_PERFMON (%s): run as root, "
			       "or start the container with --cap-add=PERFMON",
			       perfmon.capability);
	return WS_OK;
}
