#include "workload/folder.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "workload/names.h"
#include "workload/state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define ASIDE_MAX 100000u

/* Patterns. In parentheses: clang-tidy takes other joined literals for a missing comma. */
#define COUNTED_WIDE (WL_MERGED_NAME "*" WL_CSV)
#define COUNTED_LONG (WL_LONG_PREFIX "*" WL_CSV)
#define PC_SAMPLES (WL_SAMPLES_PREFIX "_*")
#define OPERATORS (WL_DIR_TORCH "*")

/* Names in a workload folder: what --replace removes, and what may be in a folder of ours. */
static const char *const own_names[] = {
	WL_FILE_SYSINFO,
	WL_FILE_TIMESTAMPS,
	WL_FILE_LOG,
	WL_FILE_CONFIG,
	COUNTED_WIDE,
	COUNTED_LONG,
	"SQ_*.csv",
	"SQC_*.csv",
	"*.db",
	WL_FILE_PEAKS,
	PC_SAMPLES,
	"*_hip_api_trace.csv",
	OPERATORS,
	WL_FILE_TOP_KERNELS,
	WL_FILE_DISPATCHES,
	"*_counter_collection.csv",
	"empirRoof_*",
	"*.part",
	WL_STATE_NAME,
	WL_DIR_RECORDED,
	".rocprofv3*",
};
/* Of these, what was measured by running a program. */
static const char *const counted_names[] = {
	COUNTED_WIDE, COUNTED_LONG, "SQ_*.csv", "SQC_*.csv", PC_SAMPLES, OPERATORS,
};
static const char *const own_folders[] = { WL_DIR_PERFMON, WL_DIR_TORCH };

static bool matches(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, FNM_PERIOD) == 0)
			return true;
	return false;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

enum ws_status wl_folder_look(const char *dir, struct wl_folder_content *out, struct ws_err *err)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	*out = (struct wl_folder_content){ .there = folder != NULL };
	if (!folder)
		/* A file on the way: making the folder says which. */
		return errno == ENOENT || errno == ENOTDIR ? WS_OK
							   : ws_fail_errno(err, errno, "'%s'", dir);
	while ((entry = readdir(folder))) {
		const char *name = entry->d_name;

		if (is_dot(name))
			continue;
		out->any = true;
		out->counted |= matches(name, counted_names, WS_ARRAY_LEN(counted_names));
		if (!*out->foreign && strcmp(name, WL_DIR_PERFMON) != 0 &&
		    !matches(name, own_names, WS_ARRAY_LEN(own_names)))
			snprintf(out->foreign, sizeof(out->foreign), "%s", name);
	}
	closedir(folder);
	return WS_OK;
}

/* A file system that cannot lock leaves it to the user. */
bool wl_folder_is_profile(const char *dir)
{
	char file[PATH_MAX];

	return !ws_path_join(dir, WL_FILE_SYSINFO, file, NULL) && ws_path_exists(file);
}

enum ws_status wl_folder_lock(const char *dir, struct ws_err *err)
{
	static int held = -1;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ws_fail_errno(err, errno, "'%s'", dir);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return ws_fail(err, WS_E_STATE,
			       "'%s' is in use by another rocprof-compute: wait, or use separate "
			       "folders, for example with %%env{NAME}%%",
			       dir);
	}
	if (held >= 0)
		close(held); /* of the one that was moved aside */
	held = fd;
	return WS_OK;
}

/* Files of ours in @dir; all of them in a folder that is ours as a whole. */
static void remove_files(const char *dir, bool all)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (!is_dot(entry->d_name) &&
		    (all || matches(entry->d_name, own_names, WS_ARRAY_LEN(own_names))))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

enum ws_status wl_folder_clear(const char *dir, struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < WS_ARRAY_LEN(own_folders) && !st; i++) {
		st = ws_path_join(dir, own_folders[i], path, err);
		if (!st) {
			remove_files(path, true);
			rmdir(path);
		}
	}
	remove_files(dir, false);
	return st;
}

/* The peaks of the GPU are still what they were: they come along. */
static void keep_roofline(const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	if (!ws_path_join(from, WL_FILE_PEAKS, old, NULL) &&
	    !ws_path_join(to, WL_FILE_PEAKS, new, NULL) && ws_path_exists(old) &&
	    link(old, new) != 0)
		ws_log_debug("%s stays there: %s", old, strerror(errno));
}

enum ws_status wl_folder_move_aside(const char *dir, bool keep_peaks, char out_aside[PATH_MAX],
				    struct ws_err *err)
{
	char aside[PATH_MAX];
	enum ws_status st;

	for (unsigned i = 1;; i++) {
		if (i > ASIDE_MAX ||
		    (size_t)snprintf(aside, sizeof(aside), "%s.%u", dir, i) >= sizeof(aside))
			return ws_fail(
				err, WS_E_LIMIT,
				"'%s': no free name for the earlier profile: remove old ones", dir);
		if (!ws_path_exists(aside))
			break;
	}
	if (rename(dir, aside) != 0)
		return ws_fail_errno(err, errno, "cannot move '%s' to '%s'", dir, aside);
	st = ws_mkdirs(dir, err);
	if (!st)
		st = wl_folder_lock(dir, err);
	if (!st && keep_peaks)
		keep_roofline(aside, dir);
	strcpy(out_aside, aside);
	return st;
}
