#include "launch/inject.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "collector/interpose/preload.h"
#include "gpu/present.h"
#include "launch/obstacle.h"
#include "launch/softgpu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = { "../lib/wavescope", "../lib", NULL };

#define PRELOAD_MAX 65536u

enum ws_status launch_inject_library(char out_path[PATH_MAX], struct ws_err *err)
{
	enum ws_status st = ws_path_beside(places, COL_COLLECT_LIBRARY, out_path, err);

	if (st == WS_E_NOTFOUND)
		return ws_fail(
			err, st,
			"the collector (%s) was not found next to this program: run 'make', or "
			"install wavescope again",
			COL_COLLECT_LIBRARY);
	return st;
}

const char *launch_inject_obstacle(const char *path)
{
	static const char *const why[LAUNCH_N_OBSTACLES] = {
		[LAUNCH_OBSTACLE_PRIVILEGES] =
			"gains privileges (set-user-ID or similar), so the loader does not preload "
			"the collector: run it as its owner",
		[LAUNCH_OBSTACLE_32_BIT] =
			"is a 32-bit program, which is not supported: only 64-bit programs that it "
			"starts are recorded",
		[LAUNCH_OBSTACLE_STATIC] =
			"is statically linked, so the collector cannot be preloaded: only programs "
			"that it starts are recorded",
	};

	return why[launch_obstacle_of(path)];
}

void launch_inject_explain_end(const struct ws_proc_end *end)
{
	if (end->signal == SIGSYS)
		ws_log_warn("the program was killed by a filter of system calls (seccomp): allow "
			    "those of the collector, see 'Programs with a seccomp filter' in "
			    "docs/rocprofv3.md");
}

static void add_soft(const char *list, struct gpu_agents *gpus)
{
	struct ws_str rest = ws_str_from(list), part;

	while (ws_str_next(&rest, ',', &part)) {
		struct gpu_soft soft;

		if (gpu_soft_read(part, &soft, NULL)) /* the list has been checked */
			continue;
		for (unsigned i = 0; i < soft.n_agents && gpus->n < GPU_AGENTS_MAX; i++)
			gpu_agent_of_soft(&soft, &gpus->at[gpus->n++]);
	}
}

enum ws_status launch_inject_gpus(struct gpu_agents *out_gpus, struct ws_err *err)
{
	const char *chosen = getenv("WAVESCOPE_GPU");
	bool native = chosen && strcmp(chosen, SOFTGPU_NATIVE) == 0;
	struct ws_buf list;
	enum ws_status st = gpu_present("/sys", out_gpus, err);

	if (st || native || (!chosen && out_gpus->n))
		return st;
	out_gpus->soft = true;
	out_gpus->n = 0;
	ws_buf_init(&list, 1024);
	st = gpu_soft_list(chosen && *chosen ? chosen : SOFTGPU_DEFAULT, &list, err);
	if (!st)
		add_soft(list.at, out_gpus);
	ws_buf_fini(&list);
	return st;
}

enum ws_status launch_inject_gpu(struct ws_env *env, bool *out_soft, struct ws_err *err)
{
	static struct gpu_agents set; /* too large for the stack */
	const char *chosen = ws_env_get(env, "WAVESCOPE_GPU");
	enum ws_status st;

	*out_soft = false;
	if (chosen && strcmp(chosen, SOFTGPU_NATIVE) == 0)
		return WS_OK;
	st = gpu_present("/sys", &set, err);
	if (st || (set.n && !chosen))
		return st;
	*out_soft = true;
	return launch_softgpu_env(&(struct launch_softgpu){ .gpus = NULL }, env, err);
}

static void add_library(struct ws_buf *list, const char *path)
{
	if (list->n)
		ws_buf_add_c(list, ':', 1);
	ws_buf_add(list, path);
}

static enum ws_status set_preload(const struct launch_inject *inject, struct ws_env *env,
				  struct ws_err *err)
{
	const char *there = ws_env_get(env, "LD_PRELOAD");
	char path[PATH_MAX];
	struct ws_buf list;
	enum ws_status st = WS_OK;

	ws_buf_init(&list, PRELOAD_MAX);
	for (size_t i = 0; inject->preload && i < inject->preload->n; i++)
		if (inject->preload->at[i] && *inject->preload->at[i])
			add_library(&list, inject->preload->at[i]);
	if (there && *there)
		add_library(&list, there);
	for (size_t i = 0; i < COL_PRELOAD_COUNT && !st; i++) {
		const char *name = col_preload[i].library;

		if (!col_preload_wanted(i, inject->config->services, inject->config->flags) ||
		    (inject->no_roctx && strstr(name, "roctx")))
			continue;
		st = ws_path_beside(places, name, path, err);
		if (st == WS_E_NOTFOUND)
			ws_fail(err, st,
				"%s was not found next to this program: run 'make', or install "
				"wavescope again",
				name);
		add_library(&list, path);
	}
	if (!st)
		st = ws_buf_status(&list, err);
	if (!st)
		st = ws_env_set(env, "LD_PRELOAD", list.at, err);
	ws_buf_fini(&list);
	return st;
}

/* Behind the user's own, if there are any. */
static enum ws_status set_kokkos_tool(struct ws_env *env, struct ws_err *err)
{
	const char *there = ws_env_get(env, "KOKKOS_TOOLS_LIBS");
	char path[PATH_MAX];
	struct ws_buf list;
	enum ws_status st = ws_path_beside(places, "libwavescope-kokkosp.so", path, err);

	if (st)
		return st;
	ws_buf_init(&list, PRELOAD_MAX);
	ws_buf_printf(&list, "%s%s%s", there ? there : "", there && *there ? ";" : "", path);
	st = ws_buf_status(&list, err);
	if (!st)
		st = ws_env_set(env, "KOKKOS_TOOLS_LIBS", list.at, err);
	ws_buf_fini(&list);
	return st;
}

/* ROCr splits the list at blanks, except between double quotes. */
static enum ws_status set_hsa_tool(const char *collector, struct ws_env *env, struct ws_err *err)
{
	char quoted[PATH_MAX + 3];

	snprintf(quoted, sizeof(quoted), strchr(collector, ' ') ? "\"%s\"" : "%s", collector);
	return ws_env_prepend(env, "HSA_TOOLS_LIB", quoted, ' ', err);
}

enum ws_status launch_inject_env(const struct launch_inject *inject, struct ws_env *env,
				 struct ws_err *err)
{
	static char text[COL_COLLECT_TEXT_MAX];
	char collector[PATH_MAX];
	bool soft;
	enum ws_status st = launch_inject_library(collector, err);

	if (!st && strpbrk(collector, ": "))
		st = ws_fail(err, WS_E_UNSUPPORTED,
			     "'%s': LD_PRELOAD cannot contain a path with ':' or a blank: install "
			     "wavescope in another folder",
			     collector);
	if (!st)
		st = set_preload(inject, env, err);
	if (!st)
		st = set_hsa_tool(collector, env, err);
	if (!st && inject->kokkos)
		st = set_kokkos_tool(env, err);
	if (!st && inject->gpu_time)
		st = ws_env_set(env, LAUNCH_GPU_TIME_VARIABLE, inject->gpu_time, err);
	/* After LD_PRELOAD is made: a sanitizer's runtime goes in front of it all. */
	if (!st)
		st = launch_inject_gpu(env, &soft, err);
	if (!st && !soft && inject->gpu_time && strcmp(inject->gpu_time, "simulated") == 0)
		st = ws_fail(err, WS_E_USAGE,
			     "--gpu-time simulated has no effect: the program uses a real GPU: "
			     "WAVESCOPE_GPU=mi210 selects the software GPU");
	if (st)
		return st;
	if (soft)
		inject->config->flags |= COL_COLLECT_FLAG(SOFTGPU);
	if (!col_collect_print(inject->config, text, sizeof(text)))
		return ws_fail(err, WS_E_LIMIT, "'%s': the path is too long", inject->config->dir);
	ws_log_debug(COL_COLLECT_VARIABLE "=%s", text);
	return ws_env_set(env, COL_COLLECT_VARIABLE, text, err);
}
