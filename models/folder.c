#include "models/folder.h"

#include "base/file.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMON "scripts/common"
#define LIST COMMON "/" MDL_MARK

enum ws_status mdl_folder_lock(const char *dir, int *out_fd, struct ws_err *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return ws_fail_errno(err, errno, "%s", dir);
	/* A file system without locks does not keep anybody from working. */
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		close(fd);
		return ws_fail(
			err, WS_E_STATE,
			"another madengine runs in this folder: wait for it, or start this one "
			"in another folder");
	}
	*out_fd = fd;
	return WS_OK;
}

/* ---- copying ---- */

static enum ws_status copy_bytes(int from, int to, const char *path, struct ws_err *err)
{
	char block[1 << 16];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0)
		for (ssize_t done = 0, put; done < n; done += put) {
			put = write(to, block + done, (size_t)(n - done));
			if (put < 0)
				return ws_fail_errno(err, errno, "%s", path);
		}
	return n < 0 ? ws_fail_errno(err, errno, "%s", path) : WS_OK;
}

static enum ws_status copy_file(const char *from, const char *to, mode_t mode, struct ws_err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	enum ws_status st;

	if (in < 0)
		return ws_fail_errno(err, errno, "%s", from);
	st = ws_file_create(to, &out, err);
	if (!st)
		st = copy_bytes(in, out, to, err);
	if (!st && fchmod(out, (mode & 0777) | 0600) != 0)
		st = ws_fail_errno(err, errno, "%s", to);
	if (out >= 0 && close(out) != 0 && !st)
		st = ws_fail_errno(err, errno, "%s", to);
	close(in);
	return st;
}

/* Walks @from, links followed, in order of names. @visit gets paths relative to it. */
static enum ws_status walk(const char *from,
			   enum ws_status (*visit)(void *ctx, const char *path, const char *rel,
						   const struct stat *stat, struct ws_err *err),
			   void *ctx, struct ws_err *err)
{
	char *roots[] = { (char *)from, NULL };
	FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
	enum ws_status st = WS_OK;
	size_t n = strlen(from);
	FTSENT *at;

	if (!tree)
		return ws_fail_errno(err, errno, "%s", from);
	while (!st && (at = fts_read(tree))) {
		if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || at->fts_info == FTS_NS)
			st = ws_fail_errno(err, at->fts_errno, "%s", at->fts_path);
		else if (at->fts_info == FTS_D || at->fts_info == FTS_F)
			st = visit(ctx, at->fts_path, at->fts_path + n + (at->fts_path[n] == '/'),
				   at->fts_statp, err);
	}
	fts_close(tree);
	return st;
}

static enum ws_status copy_entry(void *ctx, const char *path, const char *rel,
				 const struct stat *stat, struct ws_err *err)
{
	const char *to = ctx;
	char target[PATH_MAX];
	enum ws_status st =
		*rel ? ws_path_join(to, rel, target, err) : ws_path_join(".", to, target, err);

	if (st)
		return st;
	if (!S_ISDIR(stat->st_mode))
		return copy_file(path, target, stat->st_mode, err);
	return ws_mkdirs(target, err);
}

enum ws_status mdl_copy(const char *from, const char *to, struct ws_err *err)
{
	return walk(from, copy_entry, (void *)to, err);
}

/* ---- scripts/common ---- */

struct laying {
	struct mdl_common *common;
	struct ws_arena *arena;
	struct ws_strv old; /* laid by a run that was killed */
};

static bool lists(const struct ws_strv *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (strcmp(paths->at[i], path) == 0)
			return true;
	return false;
}

/* Adds @path to what is ours, unless something of the user's has that name. */
static enum ws_status claim(struct laying *laying, const char *path, const char *source,
			    bool is_folder, struct ws_err *err)
{
	char *line = ws_arena_printf(laying->arena, "%s%s", path, is_folder ? "/" : "");
	char *from = ws_arena_strdup(laying->arena, source);
	char whole[PATH_MAX];
	enum ws_status st;

	if (!line || !from)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_path_join(laying->common->dir, path, whole, err);
	if (st || lists(&laying->common->paths, line) ||
	    (ws_path_exists(whole) && !lists(&laying->old, line)))
		return st;
	st = ws_vec_push(&laying->common->sources, from, err);
	return st ? st : ws_vec_push(&laying->common->paths, line, err);
}

static enum ws_status plan_entry(void *ctx, const char *path, const char *rel,
				 const struct stat *stat, struct ws_err *err)
{
	char target[PATH_MAX];
	enum ws_status st;

	if (!*rel)
		return WS_OK;
	st = ws_path_join(COMMON, rel, target, err);
	return st ? st : claim(ctx, target, path, S_ISDIR(stat->st_mode), err);
}

static enum ws_status read_list(struct laying *laying, struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_str rest, line;
	struct ws_buf text;
	enum ws_status st = ws_path_join(laying->common->dir, LIST, path, err);

	if (st || !ws_path_exists(path))
		return st;
	ws_buf_init(&text, 1 << 20);
	st = ws_file_read(path, &text, err);
	rest = ws_buf_view(&text);
	while (!st && ws_str_next(&rest, '\n', &line)) {
		char *copy = ws_arena_strndup(laying->arena, line.at, line.n);

		st = copy ? ws_vec_push(&laying->old, copy, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	ws_buf_fini(&text);
	return st;
}

static enum ws_status write_list(const struct mdl_common *common, struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_buf text;
	enum ws_status st = ws_path_join(common->dir, LIST, path, err);

	ws_buf_init(&text, 1 << 20);
	for (size_t i = 0; i < common->paths.n; i++)
		ws_buf_printf(&text, "%s\n", common->paths.at[i]);
	if (!st)
		st = ws_buf_status(&text, err);
	if (!st)
		st = ws_file_replace(path, text.at, text.n, err);
	ws_buf_fini(&text);
	return st;
}

static enum ws_status lay(const struct mdl_common *common, struct ws_err *err)
{
	char whole[PATH_MAX];
	struct stat stat_of;
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < common->paths.n && !st; i++) {
		const char *path = common->paths.at[i], *source = common->sources.at[i];

		st = ws_path_join(common->dir, path, whole, err);
		if (st)
			break;
		if (path[strlen(path) - 1] == '/')
			st = ws_mkdirs(whole, err);
		else if (stat(source, &stat_of) != 0)
			st = ws_fail_errno(err, errno, "%s", source);
		else
			st = copy_file(source, whole, stat_of.st_mode, err);
	}
	return st;
}

enum ws_status mdl_common_lay(const char *dir, const char *const *from, struct ws_arena *arena,
			      struct mdl_common *out_common, struct ws_err *err)
{
	struct laying laying = { .common = out_common,
				 .arena = arena,
				 .old = { .max_n = 1 << 16 } };
	char whole[PATH_MAX];
	enum ws_status st;

	*out_common = (struct mdl_common){ .dir = dir,
					   .paths = { .max_n = 1 << 16 },
					   .sources = { .max_n = 1 << 16 } };
	st = read_list(&laying, err);
	if (!st)
		st = claim(&laying, "scripts", "", true, err);
	if (!st)
		st = claim(&laying, COMMON, "", true, err);
	for (; *from && !st; from++)
		if (ws_path_exists(*from))
			st = walk(*from, plan_entry, &laying, err);
	/* The list first: whatever happens later, the next run knows what to remove. */
	if (!st)
		st = ws_path_join(dir, COMMON, whole, err);
	if (!st)
		st = ws_mkdirs(whole, err);
	if (!st)
		st = write_list(out_common, err);
	if (!st)
		st = lay(out_common, err);
	ws_vec_fini(&laying.old);
	if (st)
		mdl_common_remove(out_common);
	return st;
}

void mdl_common_remove(struct mdl_common *common)
{
	char whole[PATH_MAX];

	if (!common->dir)
		return;
	if (!ws_path_join(common->dir, LIST, whole, NULL))
		unlink(whole);
	/* From the end: folders come before what is in them. One that is not empty stays. */
	for (size_t i = common->paths.n; i-- > 0;) {
		const char *path = common->paths.at[i];

		if (ws_path_join(common->dir, path, whole, NULL))
			continue;
		if (path[strlen(path) - 1] == '/')
			rmdir(whole);
		else
			unlink(whole);
	}
	ws_vec_fini(&common->paths);
	ws_vec_fini(&common->sources);
	common->dir = NULL;
}
