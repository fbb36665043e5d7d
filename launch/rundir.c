#include "launch/rundir.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"
#include "base/util.h"
#include "collector/config.h"
#include "collector/count/request.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPTIONS_NAME "options"
#define SUB_NAME "run_"
#define SUB_ROOM 32u /* for it and any number */
#define CAPTURES_MAX 1000000u
#define TRIES_MAX 10000u

static const char *const parents[] = { LAUNCH_RUNDIR_ROCPROFV3, LAUNCH_RUNDIR_SYS };

/* ".rocprofv3-1000", for a user who finds ".rocprofv3" taken by another. */
static void own_name(const char *parent, char out[64])
{
	snprintf(out, 64, "%s-%ld", parent, (long)geteuid());
}

/* @base may be /tmp: what is in there under our name may be another user's, or bait. */
static enum ws_status make_parent(const char *base, const char *parent, char out_parent[PATH_MAX],
				  struct ws_err *err)
{
	char name[64];
	enum ws_status st = ws_path_join(base, parent, out_parent, err);

	if (!st)
		st = ws_dir_private(out_parent, err);
	if (st != WS_E_ACCESS)
		return st;
	own_name(parent, name);
	st = ws_path_join(base, name, out_parent, err);
	if (!st)
		st = ws_dir_private(out_parent, err);
	if (st != WS_E_ACCESS)
		return st;
	/* Both were taken, or the file system shows an owner that is not us for what is ours. */
	if ((size_t)snprintf(out_parent, PATH_MAX, "%s/%s-XXXXXX", base, name) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "'%.80s...' is too long for a path", base);
	if (!mkdtemp(out_parent))
		return ws_fail(err, ws_status_from_errno(errno),
			       "cannot create a folder in '%s': %s: choose another folder", base,
			       strerror(errno));
	return WS_OK;
}

static bool is_parent(const char *path)
{
	const char *name = strrchr(path, '/');
	char own[64];

	for (size_t i = 0; name && i < WS_ARRAY_LEN(parents); i++) {
		own_name(parents[i], own);
		if (strcmp(name + 1, parents[i]) == 0 || strncmp(name + 1, own, strlen(own)) == 0)
			return true;
	}
	return false;
}

enum ws_status launch_rundir_create(const char *base, const char *parent_name,
				    struct launch_rundir *out_dir, struct ws_err *err)
{
	char parent[PATH_MAX], real[PATH_MAX], host[256] = "localhost", name[300];
	enum ws_status st = ws_mkdirs(base, err);

	if (st)
		return st;
	if (!realpath(base, real))
		return ws_fail(err, ws_status_from_errno(errno),
			       "the folder '%s' no longer exists (%s): choose another folder", base,
			       strerror(errno));
	st = make_parent(real, parent_name, parent, err);
	gethostname(host, sizeof(host) - 1);
	for (unsigned i = 0; !st; i++) {
		snprintf(name, sizeof(name), "%s-%ld-%u", host, (long)getpid(), i);
		st = ws_path_join(parent, name, out_dir->path, err);
		if (st || mkdir(out_dir->path, 0700) == 0)
			return st;
		/* Another run that ends takes the parent with it when it was empty. */
		if (errno == ENOENT && i < TRIES_MAX)
			st = make_parent(real, parent_name, parent, err);
		else if (errno != EEXIST || i == TRIES_MAX)
			st = ws_fail_errno(err, errno, "cannot create the folder '%s'",
					   out_dir->path);
	}
	out_dir->path[0] = '\0';
	return st;
}

void launch_rundir_sub(const struct launch_rundir *dir, size_t n, struct launch_rundir *out_sub)
{
	*out_sub = *dir;
	if (n > 1)
		snprintf(out_sub->path + strlen(out_sub->path), SUB_ROOM, "/" SUB_NAME "%zu", n);
}

enum ws_status launch_rundir_create_sub(const struct launch_rundir *dir, size_t n,
					struct launch_rundir *out_sub, struct ws_err *err)
{
	if (strlen(dir->path) + SUB_ROOM >= sizeof(dir->path))
		return ws_fail(err, WS_E_LIMIT, "'%s' is too long for a path", dir->path);
	launch_rundir_sub(dir, n, out_sub);
	return ws_mkdirs(out_sub->path, err);
}

size_t launch_rundir_n_runs(const struct launch_rundir *dir)
{
	struct launch_rundir sub;
	size_t n = 1;

	if (strlen(dir->path) + SUB_ROOM >= sizeof(dir->path))
		return 1;
	for (;; n++) {
		launch_rundir_sub(dir, n + 1, &sub);
		if (!ws_path_exists(sub.path))
			return n;
	}
}

/* Also before the first capture: the process that will write it may still be running. */
static bool is_run(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		found = ws_str_ends(ws_str_from(entry->d_name), COL_CAPTURE_SUFFIX) ||
			strcmp(entry->d_name, OPTIONS_NAME) == 0;
	if (folder)
		closedir(folder);
	return found;
}

/* A run's folder in @path itself; "" when there is none. */
static void find_run(const char *path, char out_run[PATH_MAX])
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	out_run[0] = '\0';
	while (folder && !out_run[0] && (entry = readdir(folder)))
		if (ws_path_join(path, entry->d_name, out_run, NULL) ||
		    strcmp(entry->d_name, "..") == 0 || !is_run(out_run))
			out_run[0] = '\0';
	if (folder)
		closedir(folder);
}

enum ws_status launch_rundir_open(const char *path, struct launch_rundir *out_dir,
				  struct ws_err *err)
{
	char run[PATH_MAX] = "", parent[PATH_MAX], own[64];
	struct stat st;

	if (!realpath(path, out_dir->path) || stat(out_dir->path, &st) != 0)
		return ws_fail_errno(err, errno, "'%s'", path);
	if (!S_ISDIR(st.st_mode))
		return ws_fail(err, WS_E_NOTFOUND, "'%s' is not a folder", path);
	if (is_run(out_dir->path))
		return WS_OK;
	find_run(out_dir->path, run);
	for (size_t i = 0; i < WS_ARRAY_LEN(parents); i++) {
		own_name(parents[i], own);
		if (!*run && !ws_path_join(out_dir->path, parents[i], parent, NULL))
			find_run(parent, run);
		if (!*run && !ws_path_join(out_dir->path, own, parent, NULL))
			find_run(parent, run);
	}
	if (*run)
		return ws_fail(err, WS_E_NOTFOUND, "'%s' contains no captures: use '%s'", path,
			       run);
	return ws_fail(
		err, WS_E_NOTFOUND,
		"'%s' contains no captures of a run: they are in DIR/" LAUNCH_RUNDIR_ROCPROFV3
		"/RUN or DIR/" LAUNCH_RUNDIR_SYS "/RUN, where DIR is the output folder",
		path);
}

enum ws_status launch_rundir_save(const struct launch_rundir *dir, const struct ws_strv *words,
				  struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(dir->path, OPTIONS_NAME, path, err);
	FILE *file = st ? NULL : fopen(path, "we");

	if (st)
		return st;
	if (!file)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	for (size_t i = 0; i < words->n; i++)
		fwrite(words->at[i], 1, strlen(words->at[i]) + 1, file);
	if (fclose(file) != 0)
		return ws_fail_errno(err, errno, "cannot write '%s'", path);
	return WS_OK;
}

enum ws_status launch_rundir_load(const struct launch_rundir *dir, struct ws_arena *arena,
				  struct ws_strv *out_words, struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_str rest, line;
	struct ws_buf text;
	enum ws_status st = ws_path_join(dir->path, OPTIONS_NAME, path, err);

	if (!out_words->max_n)
		out_words->max_n = CAPTURES_MAX;
	if (st || !ws_path_exists(path))
		return st;
	ws_buf_init(&text, 4 << 20);
	st = ws_file_read(path, &text, err);
	rest = ws_buf_view(&text);
	while (!st && ws_str_next(&rest, '\0', &line)) {
		char *word = line.n ? ws_arena_strndup(arena, line.at, line.n) : NULL;

		if (line.n && !word)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		else if (word)
			st = ws_vec_push(out_words, word, err);
	}
	ws_buf_fini(&text);
	return st;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

enum ws_status launch_rundir_captures(const struct launch_rundir *dir, struct ws_arena *arena,
				      struct ws_strv *out_paths, struct ws_err *err)
{
	DIR *folder = opendir(dir->path);
	struct dirent *entry;
	enum ws_status st = WS_OK;

	if (!folder)
		return ws_fail_errno(err, errno, "cannot read '%s'", dir->path);
	out_paths->max_n = CAPTURES_MAX;
	while (!st && (entry = readdir(folder))) {
		char *path;

		if (!ws_str_ends(ws_str_from(entry->d_name), COL_CAPTURE_SUFFIX))
			continue;
		path = ws_arena_printf(arena, "%s/%s", dir->path, entry->d_name);
		st = path ? ws_vec_push(out_paths, path, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	closedir(folder);
	ws_vec_sort(out_paths, by_name);
	return st;
}

uint32_t launch_rundir_pid(const char *capture)
{
	const char *name = strrchr(capture, '/');

	return (uint32_t)strtoul(name ? name + 1 : capture, NULL, 10);
}

bool launch_rundir_replaced(const struct ws_strv *captures, size_t i)
{
	return i + 1 < captures->n &&
	       launch_rundir_pid(captures->at[i]) == launch_rundir_pid(captures->at[i + 1]);
}

unsigned launch_rundir_n_unrecorded(const struct launch_rundir *dir)
{
	struct launch_rundir sub;
	unsigned n_found = 0;

	for (size_t n = launch_rundir_n_runs(dir); n; n--) {
		struct dirent *entry;
		DIR *folder;

		launch_rundir_sub(dir, n, &sub);
		folder = opendir(sub.path);
		while (folder && (entry = readdir(folder)))
			n_found += ws_str_ends(ws_str_from(entry->d_name), COL_UNRECORDED_SUFFIX);
		if (folder)
			closedir(folder);
	}
	return n_found;
}

static void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, OPTIONS_NAME) == 0 ||
		    strcmp(entry->d_name, COL_COUNT_REQUEST_NAME) == 0 ||
		    strcmp(entry->d_name, COL_COMPLAINED_NAME) == 0 ||
		    ws_str_ends(ws_str_from(entry->d_name), COL_UNRECORDED_SUFFIX) ||
		    ws_str_ends(ws_str_from(entry->d_name), COL_CAPTURE_SUFFIX))
			unlinkat(dirfd(folder), entry->d_name, 0);
	closedir(folder);
	rmdir(path);
}

void launch_rundir_remove(const struct launch_rundir *dir)
{
	struct launch_rundir sub;
	char parent[PATH_MAX];

	if (!*dir->path)
		return;
	for (size_t n = launch_rundir_n_runs(dir); n; n--) {
		launch_rundir_sub(dir, n, &sub);
		remove_folder(sub.path);
	}
	strcpy(parent, dir->path);
	ws_path_parent(parent);
	/* Only a folder that we created: an empty folder of the user stays. So does one that
	 * still holds other runs. */
	if (is_parent(parent))
		rmdir(parent);
}

/* "<host>-<pid>-<number>" of ours, and no such process. A host's name may have dashes. */
static bool is_left(const char *name)
{
	char host[256] = "localhost";
	long pid;
	unsigned number;
	size_t n;

	gethostname(host, sizeof(host) - 1);
	n = strlen(host);
	return strncmp(name, host, n) == 0 && sscanf(name + n, "-%ld-%u", &pid, &number) == 2 &&
	       pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static void remove_left_in(const char *base, const char *name)
{
	struct launch_rundir dir;
	char parent[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *folder;

	if (ws_path_join(base, name, parent, NULL) || lstat(parent, &st) || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || !(folder = opendir(parent)))
		return;
	while ((entry = readdir(folder)))
		if (is_left(entry->d_name) && !ws_path_join(parent, entry->d_name, dir.path, NULL))
			launch_rundir_remove(&dir);
	closedir(folder);
}

void launch_rundir_remove_left(const char *base)
{
	char own[64];

	remove_left_in(base, LAUNCH_RUNDIR_ROCPROFV3);
	own_name(LAUNCH_RUNDIR_ROCPROFV3, own);
	remove_left_in(base, own);
}
