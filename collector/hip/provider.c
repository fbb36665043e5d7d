#include "collector/hip/hip.h"

#include "base/util.h"
#include "collector/count/count.h"
#include "collector/hip/hooks.h"
#include "collector/hip/streams.h"
#include "collector/interpose/ops.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hip_version; /* 0: not met */

/* "libamdhip64.so.5.2.21153" is HIP version 50221153. Asking HIP would touch its last error. */
static uint32_t version_of(const char *path)
{
	char real_path[PATH_MAX];
	const char *at = realpath(path, real_path) ? strstr(real_path, ".so.") : NULL;
	uint32_t parts[3] = { 0 };

	if (at)
		at += 4;
	for (int i = 0; at && i < 3; i++) {
		parts[i] = (uint32_t)strtoul(at, NULL, 10);
		at = strchr(at, '.');
		at = at ? at + 1 : NULL;
	}
	return parts[0] * 10000000 + parts[1] * 100000 + parts[2];
}

WS_PUBLIC void col_hip_found(const char *path)
{
	uint32_t version;

	if (__atomic_load_n(&hip_version, __ATOMIC_RELAXED))
		return;
	version = version_of(path);
	/* In this order: it may open the capture, and state() is not to say it as well. */
	col_runtime_used(CAP_RUNTIME_HIP, version);
	__atomic_store_n(&hip_version, version ? version : 1, __ATOMIC_RELAXED);
}

static void choose(void)
{
	col_ops_choose(COL_OP_HIP, col_hip_ops, col_hip_n_ops);
}

static void state(struct cap_writer *writer)
{
	if (col_asked(COL_SERVICE_HIP_RUNTIME) || col_asked(COL_SERVICE_HIP_COMPILER)) {
		col_ops_state(writer, COL_OP_HIP, col_hip_ops, col_hip_n_ops);
		col_enum_names_state(writer, col_hip_names, col_hip_n_names);
	}
	if (__atomic_load_n(&hip_version, __ATOMIC_RELAXED))
		col_runtime_state(writer, CAP_RUNTIME_HIP, hip_version);
	col_hip_streams_state(writer);
	col_hip_host_functions_state(writer);
}

static void forked(void)
{
	col_hip_streams_forked();
	col_hip_host_functions_forked();
}

/* ---- attaching ---- */

/*
 * HIP 5.2 puts a completion signal on a kernel's packet only while somebody wants times, and without one
 * a packet on a queue that we do not intercept cannot be timed, nor counted. Whoever registers a callback
 * for the activity of some function wants times. The function is one that programs under a
 * profiler have no reason to call, and the callback does nothing. HIP 5.7 has no such switch any more.
 */
#define QUIET_FUNCTION "hipProfilerStop"
#define IDS_MAX 512u

static struct {
	int32_t (*remove)(uint32_t id);
	uint32_t id;
	bool on, tried;
} times;

static void *no_activity(uint32_t id, void *record, const void *data, void *arg)
{
	return NULL;
}

static void attach(void)
{
	int32_t (*add)(uint32_t id, void *callback, void *arg);
	const char *(*name_of)(uint32_t id);
	void *hip;

	if (times.tried || !(col_asked(COL_SERVICE_KERNEL) || col_counting()))
		return;
	hip = dlopen("libamdhip64.so.5", RTLD_NOLOAD | RTLD_LAZY);
	if (!hip)
		return; /* not yet, or another one */
	times.tried = true;
	add = (int32_t(*)(uint32_t, void *, void *))dlsym(hip, "hipRegisterActivityCallback");
	name_of = (const char *(*)(uint32_t))dlsym(hip, "hipApiName");
	times.remove = (int32_t(*)(uint32_t))dlsym(hip, "hipRemoveActivityCallback");
	for (uint32_t id = 0; add && name_of && times.remove && !times.on && id < IDS_MAX; id++) {
		const char *name = name_of(id);

		if (!name || strcmp(name, QUIET_FUNCTION) != 0)
			continue;
		times.id = id;
		times.on = add(id, (void *)no_activity, NULL) == 0;
	}
	dlclose(hip);
}

static void detach(void)
{
	if (times.on)
		times.remove(times.id);
	times.on = times.tried = false;
}

const struct col_provider col_provider_hip = {
	.name = "hip",
	.choose = choose,
	.state = state,
	.forked = forked,
	.attach = attach,
	.detach = detach,
};
