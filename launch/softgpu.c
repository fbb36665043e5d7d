#include "launch/softgpu.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "gpu/model.h"
#include "launch/attach.h"
#include "launch/face.h"
#include "launch/obstacle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Installed, it has a folder of its own: in a public one it would shadow the
 * real driver library for everybody. The build tree has it in lib/; lib/ beside
 * an installed program may hold the real one, so it has to look like a build tree.
 */
static const char *const installed[] = { "../lib/wavescope", NULL };
static const char *const built[] = { "../lib", NULL };
static const char *const tree[] = { "..", NULL };

static enum ws_status find_library(enum launch_face face, char out_path[PATH_MAX],
				   struct ws_err *err)
{
	const char *name = launch_face_library(face);
	enum ws_status st = ws_path_beside(installed, name, out_path, err);

	if (st == WS_E_NOTFOUND && !ws_path_beside(tree, "build.ninja", out_path, err))
		st = ws_path_beside(built, name, out_path, err);
	if (st == WS_E_NOTFOUND)
		return ws_fail(
			err, st,
			"the software GPU (%s) was not found next to this program: run 'make', "
			"or install wavescope again",
			name);
	return st;
}

/* The sanitizer that this build, and so the software GPU, was made with. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER "/libasan.so"
/* AMD's libraries leave memory behind at exit; that is theirs to know. */
#define SANITIZER_OPTIONS "ASAN_OPTIONS", "detect_leaks=0"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER "/libtsan.so"
#define SANITIZER_OPTIONS "TSAN_OPTIONS", "report_bugs=1"
#endif

#ifdef SANITIZER
/* Its path is in our own map: we are linked with it. */
static enum ws_status preload_sanitizer(struct ws_env *env, struct ws_err *err)
{
	struct ws_buf maps;
	struct ws_str rest, line;
	char path[PATH_MAX] = "";
	enum ws_status st;

	ws_buf_init(&maps, 16 << 20);
	st = ws_file_read("/proc/self/maps", &maps, err);
	rest = ws_buf_view(&maps);
	while (!st && !*path && ws_str_next(&rest, '\n', &line)) {
		const char *file = memchr(line.at, '/', line.n);

		if (file && memmem(line.at, line.n, SANITIZER, sizeof(SANITIZER) - 1))
			snprintf(path, sizeof(path), "%.*s", (int)(line.at + line.n - file), file);
	}
	ws_buf_fini(&maps);
	if (!st && *path)
		st = ws_env_prepend(env, "LD_PRELOAD", path, ':', err);
	if (!st && *path)
		st = ws_env_prepend(env, SANITIZER_OPTIONS, ':', err);
	return st;
}
#else
static enum ws_status preload_sanitizer(struct ws_env *env, struct ws_err *err)
{
	(void)env;
	(void)err;
	return WS_OK;
}
#endif

static enum ws_status set_number(struct ws_env *env, const char *name, uint64_t value,
				 struct ws_err *err)
{
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
	return ws_env_set(env, name, number, err);
}

/* WAVESCOPE_TIMES=modelled is what it was called before. */
static enum ws_status set_gpu_time(const char *typed, struct ws_env *env, struct ws_err *err)
{
	const char *word = typed ? typed : ws_env_get(env, LAUNCH_GPU_TIME_VARIABLE);

	if (!word || !*word)
		word = ws_env_get(env, "WAVESCOPE_TIMES");
	if (!word || !*word)
		return WS_OK;
	if (strcmp(word, "modelled") == 0)
		word = "simulated";
	if (strcmp(word, "host") != 0 && strcmp(word, "simulated") != 0)
		return ws_fail(
			err, WS_E_USAGE,
			"GPU times '%s': host or simulated (--gpu-time, " LAUNCH_GPU_TIME_VARIABLE
			")",
			word);
	return ws_env_set(env, LAUNCH_GPU_TIME_VARIABLE, word, err);
}

#define WORKERS_MAX 1024 /* softgpu/core/machine.c's */

/* Checked here, because the software GPU runs inside the program and cannot report errors well. */
static enum ws_status check_environment(const struct ws_env *env, struct ws_err *err)
{
	const char *waves = ws_env_get(env, "WAVESCOPE_SAMPLE_WAVES");
	const char *only = ws_env_get(env, "WAVESCOPE_SAMPLE_ONLY"),
		   *workers = ws_env_get(env, "WAVESCOPE_WORKERS"),
		   *model = ws_env_get(env, "WAVESCOPE_MODEL"),
		   *code_cache = ws_env_get(env, "WAVESCOPE_CODE_CACHE"),
		   *wait = ws_env_get(env, "WAVESCOPE_WAIT");
	uint64_t n;

	if (workers && *workers && (!ws_str_u64(ws_str_from(workers), &n) || !n || n > WORKERS_MAX))
		return ws_fail(err, WS_E_USAGE,
			       "WAVESCOPE_WORKERS is '%s': give a number from 1 to %d", workers,
			       WORKERS_MAX);
	if (waves && (!*waves || waves[strspn(waves, "0123456789")]))
		return ws_fail(err, WS_E_USAGE,
			       "WAVESCOPE_SAMPLE_WAVES is '%s': give a number of waves", waves);
	if (model && *model && strcmp(model, "always") && strcmp(model, "full"))
		return ws_fail(err, WS_E_USAGE,
			       "WAVESCOPE_MODEL is '%s': give always or full, or unset it", model);
	if (code_cache && *code_cache && *code_cache != '/' && strcmp(code_cache, "off"))
		return ws_fail(err, WS_E_USAGE,
			       "WAVESCOPE_CODE_CACHE is '%s': give off, or the absolute path of a "
			       "folder",
			       code_cache);
	if (wait && *wait && strcmp(wait, "sleep") && strcmp(wait, "spin"))
		return ws_fail(err, WS_E_USAGE, "WAVESCOPE_WAIT is '%s': give sleep or spin", wait);
	if (only && strcmp(only, "0") && strcmp(only, "1"))
		return ws_fail(err, WS_E_USAGE,
			       "WAVESCOPE_SAMPLE_ONLY is '%s': give 1, or unset it", only);
	if (only && !strcmp(only, "1") && !waves)
		return ws_fail(err, WS_E_USAGE,
			       "--sample-only (WAVESCOPE_SAMPLE_ONLY=1) requires --sample-waves N "
			       "(WAVESCOPE_SAMPLE_WAVES)");
	return WS_OK;
}

const char *launch_softgpu_obstacle(const char *path)
{
	static const char *const why[LAUNCH_N_OBSTACLES] = {
		[LAUNCH_OBSTACLE_PRIVILEGES] = "gains privileges (set-user-ID or similar), so the "
					       "loader does not load the "
					       "software GPU: run it as its owner",
		[LAUNCH_OBSTACLE_32_BIT] =
			"is a 32-bit program, which is not supported: only 64-bit programs that it "
			"starts see the software GPU",
		[LAUNCH_OBSTACLE_STATIC] =
			"is statically linked, so the software GPU cannot be loaded into it: only "
			"programs that it starts see it",
	};

	return why[launch_obstacle_of(path)];
}

bool launch_softgpu_in_process(pid_t pid)
{
	char library[PATH_MAX], whole[PATH_MAX];

	for (int face = 0; face < LAUNCH_N_FACES; face++)
		if (!find_library(face, library, NULL) && realpath(library, whole) &&
		    launch_attach_is_mapped(pid, whole))
			return true;
	return false;
}

/* A GPU of several dies in the list: the thunk of ROCm 5 has no field for their number. */
static bool has_dies(const struct ws_env *env)
{
	const char *list = ws_env_get(env, "WAVESCOPE_GPU");
	struct ws_str rest = ws_str_from(list ? list : ""), part;
	struct gpu_soft soft;

	while (list && ws_str_next(&rest, ',', &part))
		if (part.n && !gpu_soft_read(part, &soft, NULL) && soft.model->n_xcds > 1)
			return true;
	return false;
}

/* The library of the chosen face; where only the other one was built, that one has to do. */
static enum ws_status choose_library(const struct ws_env *env, char *const *argv,
				     enum launch_face *out_face, char out_path[PATH_MAX],
				     struct ws_err *err)
{
	const char *forced = ws_env_get(env, LAUNCH_FACE_VARIABLE);
	bool dies = has_dies(env);
	bool has_thunk = !dies && !find_library(LAUNCH_FACE_THUNK, out_path, NULL);
	enum ws_status st =
		launch_face_choose(env, has_thunk ? out_path : NULL, argv, out_face, err);

	if (!st && dies && !(forced && *forced))
		*out_face = LAUNCH_FACE_KERNEL;
	if (!st)
		st = find_library(*out_face, out_path, err);
	if (st == WS_E_NOTFOUND && !(forced && *forced)) {
		enum launch_face other =
			*out_face == LAUNCH_FACE_THUNK ? LAUNCH_FACE_KERNEL : LAUNCH_FACE_THUNK;

		if (find_library(other, out_path, NULL))
			return st; /* err names the one that was looked for first */
		*out_face = other;
		st = WS_OK;
	}
	return st;
}

enum ws_status launch_softgpu_library(char out_path[PATH_MAX], struct ws_err *err)
{
	struct ws_env env;
	enum launch_face face;
	enum ws_status st = ws_env_init(&env, environ, err);

	if (st)
		return st;
	st = choose_library(&env, NULL, &face, out_path, err);
	ws_env_fini(&env);
	return st;
}

/*
 * Another wavescope around this one may have chosen the other interface, or the user named our folder. A
 * program with both has two software GPUs: one that AMD's runtime uses, and one that the profiler finds.
 */
static enum ws_status take_out(enum launch_face face, struct ws_env *env, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st;

	if (find_library(face, path, NULL))
		return WS_OK; /* not built */
	st = ws_env_remove(env, "LD_PRELOAD", path, ':', err);
	if (st || face != LAUNCH_FACE_THUNK)
		return st;
	ws_path_parent(path);
	return ws_env_remove(env, "LD_LIBRARY_PATH", path, ':', err);
}

/* The thunk's library is found by its name, in front of AMD's; the other one is always preloaded. */
static enum ws_status put_in_front(const struct launch_softgpu *soft, struct ws_env *env,
				   struct ws_err *err)
{
	char library[PATH_MAX], dir[PATH_MAX];
	enum launch_face face = LAUNCH_FACE_THUNK;
	enum ws_status st = choose_library(env, soft->argv, &face, library, err);

	if (st)
		return st;
	strcpy(dir, library);
	ws_path_parent(dir);
	st = take_out(face == LAUNCH_FACE_THUNK ? LAUNCH_FACE_KERNEL : LAUNCH_FACE_THUNK, env, err);
	if (!st && face == LAUNCH_FACE_THUNK)
		st = ws_env_prepend(env, "LD_LIBRARY_PATH", dir, ':', err);
	if (!st && (soft->preload || face == LAUNCH_FACE_KERNEL))
		st = ws_env_prepend(env, "LD_PRELOAD", library, ':', err);
	return st;
}

static void warn_of_old_runtime(const struct ws_env *env)
{
	struct ws_str rest = ws_str_from(ws_env_get(env, "WAVESCOPE_GPU")), part;
	char path[PATH_MAX];
	struct gpu_soft soft;

	while (ws_str_next(&rest, ',', &part)) {
		if (gpu_soft_read(part, &soft, NULL) ||
		    launch_face_knows(env, soft.model->arch, path))
			continue;
		ws_log_warn("%s does not know %s (%s), so programs that use it will not see this "
			    "GPU: use a newer ROCm",
			    path, soft.model->arch, soft.model->name);
		return;
	}
}

enum ws_status launch_softgpu_env(const struct launch_softgpu *soft, struct ws_env *env,
				  struct ws_err *err)
{
	const char *gpus = soft->gpus ? soft->gpus : ws_env_get(env, "WAVESCOPE_GPU");
	struct ws_buf list;
	enum ws_status st;

	if (!gpus || !*gpus)
		gpus = SOFTGPU_DEFAULT;
	ws_buf_init(&list, 512);
	st = gpu_soft_list(gpus, &list, err);
	if (st && !soft->gpus)
		ws_fail_in(err, st, "WAVESCOPE_GPU");
	if (!st)
		st = ws_env_set(env, "WAVESCOPE_GPU", list.at, err);
	if (!st)
		warn_of_old_runtime(env);
	if (!st)
		st = put_in_front(soft, env, err);
	if (!st)
		st = preload_sanitizer(env, err);
	if (!st && soft->n_workers)
		st = set_number(env, "WAVESCOPE_WORKERS", soft->n_workers, err);
	if (!st && soft->sample_waves)
		st = set_number(env, "WAVESCOPE_SAMPLE_WAVES", soft->sample_waves, err);
	if (!st && soft->sample_only)
		st = ws_env_set(env, "WAVESCOPE_SAMPLE_ONLY", "1", err);
	if (!st)
		st = set_gpu_time(soft->gpu_time, env, err);
	if (!st)
		st = check_environment(env, err);
	ws_buf_fini(&list);
	return st;
}
