/*
 * softgpu: makes a program see software GPUs instead of the machine's GPUs.
 *
 * AMD's runtime up to 6.1 loads its driver library, libhsakmt.so.1, by name. The software
 * GPU is a library of that name in a separate folder. Only the environment of the
 * program changes: the folder is prepended to LD_LIBRARY_PATH. For later runtimes, which
 * speak to the kernel themselves, a library that answers for it is preloaded (face.h).
 *
 * A build with a sanitizer adds that sanitizer's runtime to LD_PRELOAD, because it
 * must be loaded first in a program that was built without it.
 */
#ifndef WS_LAUNCH_SOFTGPU_H
#define WS_LAUNCH_SOFTGPU_H

#include "base/env.h"
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOFTGPU_DEFAULT "mi210"
#define SOFTGPU_NATIVE "native" /* in place of a model: the machine's own GPUs */

struct launch_softgpu {
	const char *gpus;      /* "mi210,mi100"; NULL: WAVESCOPE_GPU, or one mi210 */
	uint64_t n_workers;    /* host threads; 0: all cores */
	bool preload;          /* LD_PRELOAD too, for runtimes whose RPATH comes first */
	uint64_t sample_waves; /* when counting, model about so many of a dispatch; 0: all */
	bool sample_only;      /* ... and execute no others */
	char *const *argv;     /* of the program that is going to run; NULL: not known */
	const char *gpu_time;  /* "host" or "simulated"; NULL: as the environment says */
};

/* Times of GPU work: "simulated" from the timing model, "host" as long as executing it took. */
#define LAUNCH_GPU_TIME_VARIABLE "WAVESCOPE_GPU_TIME"

/* The library that a program started here would get: as installed, or in the build tree. */
enum ws_status launch_softgpu_library(char out_path[PATH_MAX], struct ws_err *err);

enum ws_status launch_softgpu_env(const struct launch_softgpu *soft, struct ws_env *env,
				  struct ws_err *err);

/*
 * Why the program at @path will not see the software GPU, as the end of a message about it; NULL
 * when it will, as far as the file shows.
 */
const char *launch_softgpu_obstacle(const char *path);

/* Whether a running process is on the software GPU: its library is mapped there. */
bool launch_softgpu_in_process(pid_t pid);

#endif
