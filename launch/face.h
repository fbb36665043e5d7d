/*
 * face: through which interface a program sees the software GPU.
 *
 * ROCr up to 6.1 loads its driver library by name, and the software GPU can replace that library
 * (the thunk). Later versions contain it and speak to the kernel themselves; there the software
 * GPU is preloaded and answers for the kernel driver. The second way works for all versions; the
 * first one is taken where the replacement has all functions that ROCr uses.
 *
 * Threads  pure functions of the environment and the file system.
 */
#ifndef WS_LAUNCH_FACE_H
#define WS_LAUNCH_FACE_H

#include "base/env.h"
#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* "thunk" or "kernel": overrides the choice. */
#define LAUNCH_FACE_VARIABLE "WAVESCOPE_DRIVER"

enum launch_face { LAUNCH_FACE_THUNK, LAUNCH_FACE_KERNEL, LAUNCH_N_FACES };

/*
 * By LAUNCH_FACE_VARIABLE, or by the ROCr that a program with this environment loads; the thunk
 * if there is none. A program that asks the kernel besides gets its interface: one that names the driver,
 * its files or a tool that reads them, in its file, its script or its arguments. thunk: the path of
 * the replacement; NULL: there is none. argv: the program as it was typed; NULL: not known.
 */
enum ws_status launch_face_choose(const struct ws_env *env, const char *thunk, char *const *argv,
				  enum launch_face *out_face, struct ws_err *err);
/*
 * Whether the ROCr that such a program loads knows the GPU; it refuses others as "unrecognized". True: also
 * where no ROCr is found. Programs that bring their own are not seen, so a caller warns at most.
 * out_path: of the ROCr that does not.
 */
bool launch_face_knows(const struct ws_env *env, const char *arch, char out_path[PATH_MAX]);
/* The file name of the library that presents it. */
const char *launch_face_library(enum launch_face face);

#endif
