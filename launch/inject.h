/*
 * inject: the environment in which a program carries the collector.
 *
 * Only the environment changes: LD_PRELOAD gets the user's libraries in front, then
 * what was there, then the collector and the wrappers that the services need
 * (collector/interpose/preload.h); HSA_TOOLS_LIB makes AMD's runtime load the collector as
 * its tool; WAVESCOPE_COLLECT tells it what to do (collector/config.h). Where the machine
 * has no GPU the software GPU comes along.
 */
#ifndef WS_LAUNCH_INJECT_H
#define WS_LAUNCH_INJECT_H

#include "base/env.h"
#include "base/error.h"
#include "base/vec.h"
#include "collector/config.h"

#include <limits.h>
#include <stdbool.h>

struct ws_inject {
	struct ws_collect_config *config; /* the SOFTGPU flag is set here */
	const struct ws_strv *preload;    /* the user's own; NULL entries are skipped */
	bool no_roctx;                    /* leave the program's own roctx library in place */
};

/* Where the collector is: as installed, or in the build tree. */
enum ws_status ws_inject_library(char out_path[PATH_MAX], struct ws_err *err);

enum ws_status ws_inject_env(const struct ws_inject *inject, struct ws_env *env,
			     struct ws_err *err);

/*
 * The software GPU, unless a real one is here or WAVESCOPE_GPU says "native".
 * Also for programs that run without the collector.
 */
enum ws_status ws_inject_gpu(struct ws_env *env, bool *out_soft, struct ws_err *err);

#endif
