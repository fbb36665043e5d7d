#include "base/file.h"

#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ws_status ws_file_read(const char *path, struct ws_buf *out, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ws_fail_errno(err, errno, "cannot open '%s'", path);
	for (;;) {
		/* Files of /sys have no size to go by; they are read until they end. */
		size_t left = out->max_n - out->n;
		size_t want = WS_MIN(left, (size_t)4096);
		char *room, past;
		ssize_t n;

		if (!want) { /* exactly full is fine, one byte more is not */
			n = read(fd, &past, 1);
			if (n > 0)
				st = ws_fail(err, WS_E_LIMIT, "'%s' is larger than %zu bytes", path,
					     out->max_n);
			break;
		}
		room = ws_buf_room(out, want);
		if (!room) {
			st = ws_buf_status(out, err);
			break;
		}
		n = read(fd, room, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			st = ws_fail_errno(err, errno, "cannot read '%s'", path);
		if (n <= 0)
			break;
		out->n += (size_t)n;
		out->at[out->n] = '\0';
	}
	close(fd);
	return st;
}

bool ws_file_line(const char *path, char *out_line, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		n = read(fd, out_line, room - 1);
	} while (n < 0 && errno == EINTR);
	close(fd);
	if (n < 0)
		return false;
	out_line[n] = '\0';
	out_line[strcspn(out_line, "\r\n")] = '\0';
	return true;
}

bool ws_file_u64(const char *path, uint64_t *out_value)
{
	char line[64];

	return ws_file_line(path, line, sizeof(line)) &&
	       ws_str_u64(ws_str_trim(ws_str_from(line)), out_value);
}

/* ---- names that others can guess ---- */

#define TRIES_MAX 16 /* do not retry for ever if another process keeps creating the name */

enum ws_status ws_file_create(const char *path, int *out_fd, struct ws_err *err)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

		if (fd >= 0) {
			*out_fd = fd;
			return WS_OK;
		}
		if (errno != EEXIST)
			return ws_fail_errno(err, errno, "cannot write '%s'", path);
		if (unlink(path) && errno != ENOENT)
			return ws_fail_errno(err, errno, "cannot replace '%s'", path);
	}
	return ws_fail(err, WS_E_EXISTS, "cannot write '%s': another process is creating it", path);
}

/* @fd is the stream's, or closed. */
static enum ws_status stream_of(int fd, const char *mode, const char *path, FILE **out_file,
				struct ws_err *err)
{
	FILE *file = fdopen(fd, mode);

	if (!file) {
		close(fd);
		return ws_fail(err, WS_E_NOMEM, "out of memory while writing '%s'", path);
	}
	*out_file = file;
	return WS_OK;
}

enum ws_status ws_file_create_stream(const char *path, FILE **out_file, struct ws_err *err)
{
	int fd;
	enum ws_status st = ws_file_create(path, &fd, err);

	return st ? st : stream_of(fd, "w", path, out_file, err);
}

enum ws_status ws_file_open_plain(const char *path, int *out_fd, struct ws_err *err)
{
	/* NONBLOCK: a pipe without a reader is refused below, and is not waited for. */
	int fd =
		open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	struct stat file;

	if (fd < 0 && errno == ELOOP)
		return ws_fail(err, WS_E_ACCESS, "'%s' is a symbolic link: remove it", path);
	if (fd < 0)
		return ws_fail_errno(err, errno, "cannot open '%s'", path);
	/*
	 * With a second name it could be a file of ours that somebody has us write to. Whose it is
	 * does not matter: on file systems that map owners ours may look like another's.
	 */
	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_nlink > 1) {
		close(fd);
		return ws_fail(err, WS_E_ACCESS,
			       "'%s' is not a regular file, or has other hard links: remove it",
			       path);
	}
	*out_fd = fd;
	return WS_OK;
}

enum ws_status ws_file_append_stream(const char *path, FILE **out_file, struct ws_err *err)
{
	int fd;
	enum ws_status st = ws_file_open_plain(path, &fd, err);

	if (st)
		return st;
	st = stream_of(fd, "a", path, out_file, err);
	if (!st)
		fseek(*out_file, 0, SEEK_END); /* ftell() tells its size, as after fopen() */
	return st;
}

static bool part_name(const char *path, char part[PATH_MAX])
{
	return (size_t)snprintf(part, PATH_MAX, "%s.part", path) < PATH_MAX;
}

enum ws_status ws_file_begin(const char *path, FILE **out_file, struct ws_err *err)
{
	char part[PATH_MAX];

	if (!part_name(path, part))
		return ws_fail(err, WS_E_LIMIT, "'%.80s...' is too long for a path", path);
	return ws_file_create_stream(part, out_file, err);
}

enum ws_status ws_file_commit(const char *path, FILE *file, struct ws_err *err)
{
	char part[PATH_MAX];
	enum ws_status st;
	bool good = !ferror(file);

	part_name(path, part);
	errno = good ? 0 : EIO;
	good &= fclose(file) == 0; /* a full disk may show only here */
	good = good && rename(part, path) == 0;
	if (good)
		return WS_OK;
	st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	unlink(part);
	return st;
}

void ws_file_discard(const char *path, FILE *file)
{
	char part[PATH_MAX];

	if (!file)
		return;
	fclose(file);
	if (part_name(path, part))
		unlink(part);
}

enum ws_status ws_file_replace(const char *path, const void *bytes, size_t n, struct ws_err *err)
{
	FILE *file = NULL;
	enum ws_status st = ws_file_begin(path, &file, err);

	if (st)
		return st;
	if (fwrite(bytes, 1, n, file) == n)
		return ws_file_commit(path, file, err);
	st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	ws_file_discard(path, file);
	return st;
}

enum ws_status ws_dir_private(const char *path, struct ws_err *err)
{
	struct stat dir;
	int fd;

	/* Made here it is ours, whatever owner a network file system gives it. */
	if (mkdir(path, 0700) == 0)
		return WS_OK;
	if (errno != EEXIST)
		return ws_fail_errno(err, errno, "cannot create the folder '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return ws_fail(err, WS_E_ACCESS, "'%s' is not a folder: remove it", path);
	if (fd < 0)
		return ws_fail_errno(err, errno, "cannot open the folder '%s'", path);
	if (fstat(fd, &dir) || dir.st_uid != geteuid() ||
	    ((dir.st_mode & 077) && fchmod(fd, 0700) != 0)) {
		close(fd);
		return ws_fail(err, WS_E_ACCESS, "the folder '%s' belongs to another user", path);
	}
	close(fd);
	return WS_OK;
}

/* Folders are made from the user's own home on; elsewhere others could have been there first. */
enum ws_status ws_dir_cache(char out_path[PATH_MAX], struct ws_err *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char base[PATH_MAX];
	struct stat dir;
	enum ws_status st;

	if (xdg && xdg[0] == '/') /* a relative one is to be ignored, says its specification */
		st = ws_path_join(xdg, "", base, err);
	else if (home && home[0] == '/')
		st = ws_path_join(home, ".cache", base, err);
	else
		st = ws_fail(err, WS_E_NOTFOUND, "neither XDG_CACHE_HOME nor HOME is set");
	if (!st && !(xdg && xdg[0] == '/') && (stat(home, &dir) || dir.st_uid != geteuid()))
		st = ws_fail(err, WS_E_ACCESS, "HOME '%s' belongs to another user", home);
	if (!st)
		st = ws_mkdirs(base, err);
	if (!st && (stat(base, &dir) || dir.st_uid != geteuid()))
		st = ws_fail(err, WS_E_ACCESS, "'%s' belongs to another user", base);
	if (!st)
		st = ws_path_join(base, "wavescope", out_path, err);
	return st ? st : ws_dir_private(out_path, err);
}

static enum ws_status temp_name(const char *name, char out_path[PATH_MAX], struct ws_err *err)
{
	const char *tmp = getenv("TMPDIR");

	if ((size_t)snprintf(out_path, PATH_MAX, "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp",
			     name) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "TMPDIR is too long for a path");
	return WS_OK;
}

static enum ws_status no_temp(const char *what, char path[PATH_MAX], struct ws_err *err)
{
	return ws_fail(err, ws_status_from_errno(errno),
		       "cannot create the temporary %s '%s': %s: set TMPDIR to a writable folder",
		       what, path, strerror(errno));
}

enum ws_status ws_dir_temp(const char *name, char out_path[PATH_MAX], struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = temp_name(name, path, err);

	if (st)
		return st;
	if (!mkdtemp(path))
		return no_temp("folder", path, err);
	strcpy(out_path, path);
	return WS_OK;
}

enum ws_status ws_file_temp(const char *name, char out_path[PATH_MAX], int *out_fd,
			    struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = temp_name(name, path, err);
	int fd;

	if (st)
		return st;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return no_temp("file", path, err);
	strcpy(out_path, path);
	*out_fd = fd;
	return WS_OK;
}

enum ws_status ws_mkdirs(const char *path, struct ws_err *err)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof(part))
		return ws_fail(err, WS_E_LIMIT, "'%s' is too long for a path", path);
	for (size_t i = 1; i <= n; i++) {
		struct stat st;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) == 0 || errno == EISDIR)
			continue;
		if (errno != EEXIST)
			return ws_fail(err, ws_status_from_errno(errno),
				       "cannot create the folder '%s': %s: choose another folder",
				       part, strerror(errno));
		if (stat(part, &st) == 0 && !S_ISDIR(st.st_mode))
			return ws_fail(err, WS_E_EXISTS, "'%s' is a file: choose another folder",
				       part);
	}
	return WS_OK;
}
