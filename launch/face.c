#include "launch/face.h"

#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROCR "libhsa-runtime64.so.1"
#define THUNK "libhsakmt.so.1"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

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

/*
 * Who looks for the driver or for its files, and not only for GPUs in AMD's runtime, names one of
 * these: in its code, as a library that it needs, or as a command in a script. A word too many
 * does no harm: the kernel's interface serves every program.
 */
static const char *const driver_words[] = {
	/* the devices */
	"/dev/kfd",
	"/dev/dri",
	/* the files about them, below /sys */
	"/class/kfd",
	"/class/drm",
	"/virtual/kfd",
	"/module/amdgpu",
	/* libraries that read these, and their Python modules */
	"libdrm_amdgpu",
	"rocm_smi",
	"amd_smi",
	"amdsmi",
	/* commands that do */
	"rocm-smi",
	"amd-smi",
	"rocminfo",
	"rocm_agent_enumerator",
};
/* Scripts, tools, and the names of libraries of any program: 1 ms. */
#define SEARCHED_BYTES (512u << 10)

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

/*
 * Whether ROCr uses the thunk, and the replacement has each function that it names. Names are
 * strings of their own in both files, so no table has to be understood for this.
 */
static bool fits(const struct ws_str *rocr, const struct ws_str *thunk)
{
	static const char prefix[] = "\0hsaKmt";
	const char *at = rocr->at, *end = rocr->at + rocr->n;

	if (!memmem(rocr->at, rocr->n, THUNK, sizeof(THUNK)))
		return false;
	while ((at = memmem(at, (size_t)(end - at), prefix, sizeof(prefix) - 1))) {
		const char *last = memchr(at + 1, '\0', (size_t)(end - at - 1));

		if (!last)
			break;
		/* messages begin like that, too */
		if (at + 1 + strspn(at + 1, NAME_CHARS) == last &&
		    !memmem(thunk->at, thunk->n, at, (size_t)(last - at + 1)))
			return false;
		at = last;
	}
	return true;
}

/* Mapped, not read: names stand near the beginning of files of many megabytes. */
static enum ws_status map_library(const char *path, struct ws_str *out, struct ws_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	void *at = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		if (!st.st_size) {
			close(fd);
			*out = (struct ws_str){ "", 0 }; /* nothing to map, and names nothing */
			return WS_OK;
		}
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (at == MAP_FAILED) {
		enum ws_status status = ws_fail_errno(err, errno, "cannot read '%s'", path);

		if (fd >= 0)
			close(fd);
		return status;
	}
	close(fd);
	*out = (struct ws_str){ at, (size_t)st.st_size };
	return WS_OK;
}

static void unmap_library(struct ws_str *library)
{
	if (library->n)
		munmap((void *)library->at, library->n);
}

static enum ws_status look_at_rocr(const char *rocr_path, const char *thunk_path,
				   enum launch_face *out_face, struct ws_err *err)
{
	struct ws_str rocr = { 0 }, thunk = { 0 };
	enum ws_status st = map_library(rocr_path, &rocr, err);

	if (!st && thunk_path)
		st = map_library(thunk_path, &thunk, err);
	if (!st)
		*out_face =
			thunk_path && fits(&rocr, &thunk) ? LAUNCH_FACE_THUNK : LAUNCH_FACE_KERNEL;
	unmap_library(&rocr);
	unmap_library(&thunk);
	return st;
}

bool launch_face_knows(const struct ws_env *env, const char *arch, char out_path[PATH_MAX])
{
	struct ws_str rocr;
	bool knows;

	if (!find_rocr(env, out_path) || map_library(out_path, &rocr, NULL))
		return true;
	/* Names of instruction sets are strings of their own in it. */
	knows = !rocr.n || memmem(rocr.at, rocr.n, arch, strlen(arch) + 1);
	unmap_library(&rocr);
	return knows;
}

static bool text_names_driver(struct ws_str text)
{
	for (size_t i = 0; i < sizeof(driver_words) / sizeof(driver_words[0]); i++)
		if (memmem(text.at, text.n, driver_words[i], strlen(driver_words[i])))
			return true;
	return false;
}

static bool file_names_driver(const char *path)
{
	struct ws_str file;
	struct stat st;
	bool found;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || map_library(path, &file, NULL))
		return false;
	found = text_names_driver(
		(struct ws_str){ file.at, file.n < SEARCHED_BYTES ? file.n : SEARCHED_BYTES });
	unmap_library(&file);
	return found;
}

/* The program, what an interpreter is to execute, and all that is typed behind it. */
static bool names_driver(char *const *argv)
{
	char path[PATH_MAX];

	for (char *const *word = argv; *word; word++)
		if (text_names_driver(ws_str_from(*word)))
			return true;
	return (!ws_path_program(argv[0], path, NULL) && file_names_driver(path)) ||
	       (argv[1] && file_names_driver(argv[1]));
}

enum ws_status launch_face_choose(const struct ws_env *env, const char *thunk, char *const *argv,
				  enum launch_face *out_face, struct ws_err *err)
{
	const char *word = ws_env_get(env, LAUNCH_FACE_VARIABLE);
	enum ws_status st = WS_OK;
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
	if (find_rocr(env, path))
		st = look_at_rocr(path, thunk, out_face, err);
	if (!st && *out_face == LAUNCH_FACE_THUNK && argv && argv[0] && names_driver(argv))
		*out_face = LAUNCH_FACE_KERNEL;
	return st;
}
