/*
 * roctx: AMD's annotation library, both of its names (libroctx64, librocprofiler-sdk-roctx).
 *
 * The collector is reached through weak references: a program that runs without it finds
 * them NULL, and ranges then only count their depth. No symbol versions are defined, because the
 * loader takes such a library for any version that a program was linked with.
 */
#include "collector/roctx/include/roctx.h"
#include "base/util.h"
#include "collector/hip/streams.h"
#include "collector/provider.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma weak col_marker_mark
#pragma weak col_marker_push
#pragma weak col_marker_pop
#pragma weak col_marker_start
#pragma weak col_marker_stop
#pragma weak col_marker_thread_id
#pragma weak col_marker_pause
#pragma weak col_marker_resume
#pragma weak col_thread_name
#pragma weak col_hip_stream_name
#pragma weak col_agent_name_hsa
#pragma weak col_agent_name_hip

static __thread int depth;
static uint64_t last_range;

WS_PUBLIC void roctxMarkA(const char *message)
{
	if (col_marker_mark && message)
		col_marker_mark(message);
}

WS_PUBLIC int roctxRangePushA(const char *message)
{
	if (col_marker_push)
		return col_marker_push(message ? message : "");
	return depth++;
}

WS_PUBLIC int roctxRangePop(void)
{
	if (col_marker_pop)
		return col_marker_pop();
	return depth ? --depth : -1;
}

WS_PUBLIC roctx_range_id_t roctxRangeStartA(const char *message)
{
	if (col_marker_start)
		return col_marker_start(message ? message : "");
	return __atomic_add_fetch(&last_range, 1, __ATOMIC_RELAXED);
}

WS_PUBLIC void roctxRangeStop(roctx_range_id_t id)
{
	if (col_marker_stop)
		col_marker_stop(id);
}

WS_PUBLIC int roctxProfilerPause(roctx_thread_id_t tid)
{
	if (col_marker_pause)
		col_marker_pause();
	return 0;
}

WS_PUBLIC int roctxProfilerResume(roctx_thread_id_t tid)
{
	if (col_marker_resume)
		col_marker_resume();
	return 0;
}

WS_PUBLIC int roctxGetThreadId(roctx_thread_id_t *tid)
{
	if (!tid)
		return -1;
	*tid = (roctx_thread_id_t)(col_marker_thread_id ? col_marker_thread_id()
							: syscall(SYS_gettid));
	return 0;
}

WS_PUBLIC int roctxNameOsThread(const char *name)
{
	if (col_thread_name && name)
		col_thread_name(name);
	return 0;
}

WS_PUBLIC int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
	if (col_hip_stream_name && name)
		col_hip_stream_name(stream, name);
	return 0;
}

WS_PUBLIC int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
	uint64_t handle;

	if (col_agent_name_hsa && name && agent) {
		memcpy(&handle, agent, sizeof(handle)); /* all that the struct holds */
		col_agent_name_hsa(handle, name);
	}
	return 0;
}

WS_PUBLIC int roctxNameHipDevice(const char *name, int device_id)
{
	if (col_agent_name_hip && name)
		col_agent_name_hip(device_id, name);
	return 0;
}

WS_PUBLIC uint32_t roctx_version_major(void)
{
	return ROCTX_VERSION_MAJOR;
}

WS_PUBLIC uint32_t roctx_version_minor(void)
{
	return ROCTX_VERSION_MINOR;
}
