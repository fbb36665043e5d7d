#include "base/path.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum ws_status ws_path_self(char out_path[PATH_MAX], struct ws_err *err)
{
	ssize_t n = readlink("/proc/self/exe", out_path, PATH_MAX - 1);

	if (n < 0)
		return ws_fail_errno(err, errno, "cannot read /proc/self/exe");
	out_path[n] = '\0';
	return WS_OK;
}

enum ws_status ws_path_join(const char *dir, const char *name, char out_path[PATH_MAX],
			    struct ws_err *err)
{
	bool whole = name[0] == '/' || !*dir;
	const char *sep = whole || dir[strlen(dir) - 1] == '/' ? "" : "/";
	char joined[PATH_MAX];
	int n = snprintf(joined, sizeof(joined), "%s%s%s", whole ? "" : dir, sep, name);

	if (n < 0 || n >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "path too long: '%.60s...'", dir);
	memcpy(out_path, joined, (size_t)n + 1); /* @dir may be @out_path */
	return WS_OK;
}

void ws_path_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0'; /* the parent of "/a" is "/" */
}

bool ws_path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

enum ws_status ws_path_beside(const char *const *places, const char *name, char out_path[PATH_MAX],
			      struct ws_err *err)
{
	char self[PATH_MAX], path[PATH_MAX];
	const char *last;
	enum ws_status st = ws_path_self(self, err);

	if (st)
		return st;
	ws_path_parent(self);
	for (size_t i = 0; places[i]; i++) {
		st = ws_path_join(self, places[i], path, err);
		if (!st)
			st = ws_path_join(path, name, path, err);
		if (st)
			return st;
		if (!ws_path_exists(path))
			continue;
		/* Resolve the folder, not the file: its name is what a loader asks for. */
		ws_path_parent(path);
		if (!realpath(path, out_path))
			return ws_fail_errno(err, errno, "cannot resolve '%s'", path);
		last = strrchr(name, '/');
		return ws_path_join(out_path, last ? last + 1 : name, out_path, err);
	}
	return ws_fail(err, WS_E_NOTFOUND, "'%s' not found next to '%s'", name, self);
}

/* WS_OK when @path is a file that may be executed; @typed: it was named as a path. */
static enum ws_status executable(const char *path, bool typed)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return ws_status_from_errno(errno);
	/* A folder on PATH that has the program's name is passed over; "./folder" is a mistake. */
	if (!S_ISREG(info.st_mode))
		return typed ? WS_E_ACCESS : WS_E_NOTFOUND;
	return access(path, X_OK) == 0 ? WS_OK : WS_E_ACCESS;
}

/*
 * A script whose interpreter is not there: the system only says that something does not exist,
 * and names the script. Other ways to be no program are left to the system.
 */
static enum ws_status check_interpreter(const char *path, struct ws_err *err)
{
	char line[256], *name = line + 2;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return WS_OK;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	name += strspn(name, " \t");
	name[strcspn(name, " \t")] = '\0';
	if (!*name || ws_path_exists(name))
		return WS_OK;
	if (name[strcspn(name, "\r")])
		return ws_fail(
			err, WS_E_ACCESS,
			"cannot run '%s': the script has Windows line endings: convert them to LF",
			path);
	return ws_fail(
		err, WS_E_ACCESS,
		"cannot run '%s': interpreter '%s' not found: correct the first line of the script",
		path, name);
}

static enum ws_status found_program(const char *path, char out_path[PATH_MAX], struct ws_err *err)
{
	enum ws_status st = ws_path_join("", path, out_path, err);

	return st ? st : check_interpreter(out_path, err);
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum ws_status ws_path_program(const char *program, char out_path[PATH_MAX], struct ws_err *err)
{
	const char *path = getenv("PATH");
	struct ws_str rest = ws_str_from(path ? path : "/usr/local/bin:/usr/bin:/bin"), dir;
	enum ws_status st, found = WS_E_NOTFOUND;
	char here[PATH_MAX];

	if (strchr(program, '/')) {
		found = executable(program, true);
		if (!found)
			return found_program(program, out_path, err);
		if (is_folder(program))
			return ws_fail(err, found, "'%s' is a folder, not a program", program);
		if (found == WS_E_ACCESS)
			return ws_fail(err, found, "'%s' cannot be executed: check its permissions",
				       program);
		return ws_fail(err, WS_E_NOTFOUND, "program '%s' not found: check the path",
			       program);
	}
	while (*program && ws_str_next(&rest, ':', &dir)) {
		int n = snprintf(here, sizeof(here), "%.*s/%s", dir.n ? (int)dir.n : 1,
				 dir.n ? dir.at : ".", program);

		if (n < 0 || n >= PATH_MAX)
			continue;
		st = executable(here, false);
		if (!st)
			return found_program(here, out_path, err);
		if (st == WS_E_ACCESS)
			found = st;
	}
	if (found == WS_E_ACCESS)
		return ws_fail(err, found, "'%s' in PATH cannot be executed: check its permissions",
			       program);
	if (executable(program, false) == WS_OK)
		return ws_fail(err, found, "program '%s' not found in PATH: did you mean './%s'?",
			       program, program);
	return ws_fail(err, found, "program '%s' not found in PATH: check the name", program);
}
