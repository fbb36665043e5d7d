#include "launch/face.h"

#include "base/file.h"
#include "base/str.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROCR "libhsa-runtime64.so.1"
#define ROCR_MAX_BYTES (256u << 20)
#define THUNK "libhsakmt.so.1"
#define THUNK_DRM_CALL "hsaKmtGetAMDGPUDeviceHandle"

static const struct {
	const char *word, *library;
} faces[] = {
	[LAUNCH_FACE_THUNK] = { "thunk", THUNK },
	[LAUNCH_FACE_KERNEL] = { "kernel", "libwavescope-kfd.so" },
};

/* Where the loader looks behind LD_LIBRARY_PATH, on the distributions that have ROCm. */
static const char *const places[] = {
	"/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64",
	"/usr/lib",
};

const char *launch_face_library(enum launch_face face)
{
	return faces[face].library;
}

static bool is_there(struct ws_str folder, char out_path[PATH_MAX])
{
	int n = snprintf(out_path, PATH_MAX, "%.*s/" ROCR, (int)folder.n, folder.at);

	return folder.n && n < PATH_MAX && !access(out_path, R_OK);
}

static bool find_rocr(const struct ws_env *env, char out_path[PATH_MAX])
{
	const char *list = ws_env_get(env, "LD_LIBRARY_PATH");
	struct ws_str rest = ws_str_from(list ? list : ""), folder;

	while (ws_str_next(&rest, ':', &folder))
		if (is_there(folder, out_path))
			return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (is_there(ws_str_from(places[i]), out_path))
			return true;
	return false;
}

static bool holds(const struct ws_buf *bytes, const char *name)
{
	return memmem(bytes->at, bytes->n, name, strlen(name) + 1);
}

/*
 * A ROCr that does not name the thunk contains it. Since 6.0 it asks the thunk for libdrm's handle of the device, which
 * only AMD's own can give: that one is left in place, and the kernel driver below it is replaced.
 */
static enum ws_status look_at_rocr(const char *path, enum launch_face *out_face, struct ws_err *err)
{
	struct ws_buf bytes;
	enum ws_status st;

	ws_buf_init(&bytes, ROCR_MAX_BYTES);
	st = ws_file_read(path, &bytes, err);
	if (!st)
		*out_face = holds(&bytes, THUNK) && !holds(&bytes, THUNK_DRM_CALL)
				    ? LAUNCH_FACE_THUNK
				    : LAUNCH_FACE_KERNEL;
	ws_buf_fini(&bytes);
	return st;
}

enum ws_status launch_face_choose(const struct ws_env *env, enum launch_face *out_face,
				  struct ws_err *err)
{
	const char *word = ws_env_get(env, LAUNCH_FACE_VARIABLE);
	char path[PATH_MAX];

	if (word && *word) {
		for (int face = 0; face < LAUNCH_N_FACES; face++) {
			if (strcmp(word, faces[face].word) != 0)
				continue;
			*out_face = face;
			return WS_OK;
		}
		return ws_fail(err, WS_E_USAGE,
			       LAUNCH_FACE_VARIABLE " is '%s': give thunk or kernel", word);
	}
	*out_face = LAUNCH_FACE_THUNK;
	return find_rocr(env, path) ? look_at_rocr(path, out_face, err) : WS_OK;
}
