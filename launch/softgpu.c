#include "launch/softgpu.h"

#include "base/path.h"
#include "gpu/model.h"

#include <stdio.h>
#include <string.h>

/*
 * Installed, it has a folder of its own: in a public one it would shadow the
 * real driver library for everybody. The build tree has it in lib/.
 */
static const char *const places[] = { "../lib/wavescope", "../lib", NULL };

enum ws_status ws_softgpu_library(char out_path[PATH_MAX], struct ws_err *err)
{
	enum ws_status st = ws_path_beside(places, WS_SOFTGPU_LIBRARY, out_path, err);

	if (st == WS_E_NOTFOUND)
		return ws_fail(err, st,
			       "the software GPU (%s) is not beside this program: "
			       "run 'make', or install wavescope again",
			       WS_SOFTGPU_LIBRARY);
	return st;
}

enum ws_status ws_softgpu_env(const struct ws_softgpu *soft, struct ws_env *env,
			      struct ws_err *err)
{
	const char *gpus = soft->gpus ? soft->gpus : ws_env_get(env, "WAVESCOPE_GPU");
	char library[PATH_MAX], dir[PATH_MAX], number[24];
	enum ws_status st;

	if (!gpus || !*gpus)
		gpus = WS_SOFTGPU_DEFAULT;
	st = ws_gpu_soft_list_check(gpus, err);
	if (st)
		return soft->gpus ? st : ws_fail_in(err, st, "WAVESCOPE_GPU");
	st = ws_softgpu_library(library, err);
	if (st)
		return st;
	strcpy(dir, library);
	ws_path_parent(dir);
	st = ws_env_set(env, "WAVESCOPE_GPU", gpus, err);
	if (!st)
		st = ws_env_prepend(env, "LD_LIBRARY_PATH", dir, ':', err);
	if (!st && soft->preload)
		st = ws_env_prepend(env, "LD_PRELOAD", library, ':', err);
	if (!st && soft->n_workers) {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)soft->n_workers);
		st = ws_env_set(env, "WAVESCOPE_WORKERS", number, err);
	}
	if (!st && soft->check)
		st = ws_env_set(env, "WAVESCOPE_CHECK", "1", err);
	return st;
}
