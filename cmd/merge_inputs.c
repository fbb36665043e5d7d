#include "cmd/merge_inputs.h"

#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "capture/reader.h"
#include "launch/clock_stamps.h"
#include "rocpd/rocpd.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX ((size_t)1 << 20)
#define CAPTURE_SUFFIX ".wcap"
#define DATABASE_SUFFIX ".db"

/* ---- files ---- */

/* Two operands may lead to one file. */
static bool is_known(const struct ws_strv *list, const struct stat *file)
{
	struct stat other;

	for (size_t i = 0; i < list->n; i++)
		if (stat(list->at[i], &other) == 0 && other.st_dev == file->st_dev &&
		    other.st_ino == file->st_ino)
			return true;
	return false;
}

static enum ws_status add(struct ws_strv *list, const char *path, struct ws_err *err)
{
	struct stat file;
	enum ws_status st;
	char *copy;

	if (stat(path, &file) == 0 && is_known(list, &file))
		return WS_OK;
	copy = strdup(path);
	if (!copy)
		return ws_fail(err, WS_E_NOMEM, "the names of files");
	st = ws_vec_push(list, copy, err);
	if (st)
		free(copy);
	return st;
}

static void release(struct ws_strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->at[i]);
	ws_vec_fini(list);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Captures of the folder; its databases only if there are none. */
static enum ws_status search(const char *folder, const char *except, struct ws_strv *captures,
			     struct ws_strv *clocks, struct ws_strv *databases, struct ws_err *err)
{
	char *const roots[] = { (char *)folder, NULL };
	size_t n_captures = captures->n, n_databases = databases->n;
	struct stat own = { .st_ino = 0 };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	enum ws_status st = WS_OK;
	FTSENT *entry;

	if (!tree)
		return ws_fail_errno(err, errno, "cannot read '%s'", folder);
	if (except && stat(except, &own) != 0)
		own.st_ino = 0;
	while (!st && (entry = fts_read(tree))) {
		struct ws_str name = { entry->fts_name, entry->fts_namelen };

		if (entry->fts_info != FTS_F ||
		    (own.st_ino && entry->fts_statp->st_ino == own.st_ino &&
		     entry->fts_statp->st_dev == own.st_dev))
			continue;
		if (ws_str_ends(name, CAPTURE_SUFFIX))
			st = add(captures, entry->fts_path, err);
		else if (ws_str_ends(name, LAUNCH_CLOCK_STAMPS_SUFFIX))
			st = add(clocks, entry->fts_path, err);
		else if (ws_str_ends(name, DATABASE_SUFFIX))
			st = add(databases, entry->fts_path, err);
	}
	fts_close(tree);
	if (!st && captures->n > n_captures && databases->n > n_databases)
		while (databases->n > n_databases)
			free((char *)databases->at[--databases->n]);
	return st;
}

/* ---- databases ---- */

static enum ws_status import(const char *path, struct merge_inputs *to, struct ws_err *err)
{
	struct ws_strv one = { .at = &path, .n = 1 }, made = { .max_n = 0 };
	struct rpd_db db = { .sql = NULL };
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = "";
	enum ws_status st = rpd_open(&db, &one, err);

	/* Each in a folder of its own, named after it: messages name the captures. */
	if (!st && snprintf(folder, sizeof(folder), "%s/%zu-%s", to->folder, to->n_databases,
			    slash ? slash + 1 : path) >= (int)sizeof(folder))
		st = ws_fail(err, WS_E_LIMIT, "the path of TMPDIR is too long");
	if (!st)
		st = ws_mkdirs(folder, err);
	if (!st)
		st = rpd_import_captures(&db, folder, &made, err);
	rpd_close(&db);
	to->n_databases++;
	for (size_t i = 0; i < made.n; i++) {
		if (!st)
			st = ws_vec_push(&to->captures, made.at[i], err);
		if (!st) {
			to->n_temporary++;
			continue;
		}
		unlink(made.at[i]);
		free((char *)made.at[i]);
	}
	rmdir(folder); /* nothing is in it after a failure */
	ws_vec_fini(&made);
	return st;
}

static enum ws_status import_all(const struct ws_strv *databases, struct merge_inputs *to,
				 struct ws_err *err)
{
	enum ws_status st = WS_OK;

	if (!databases->n)
		return WS_OK;
	st = ws_dir_temp("wavescope-merge", to->folder, err);
	for (size_t i = 0; !st && i < databases->n; i++) {
		st = import(databases->at[i], to, err);
		if (st == WS_E_FORMAT) { /* a folder of results may have databases of others */
			ws_log_warn("%s: left out", err->text);
			to->n_left_out++;
			st = WS_OK;
		}
	}
	return st;
}

void merge_inputs_release(struct merge_inputs *inputs)
{
	for (size_t i = 0; i < inputs->n_temporary; i++) {
		char *path = (char *)inputs->captures.at[inputs->captures.n - 1 - i];

		unlink(path);
		*strrchr(path, '/') = 0;
		rmdir(path); /* after the last of a folder */
	}
	if (*inputs->folder)
		rmdir(inputs->folder);
	release(&inputs->captures);
	release(&inputs->clocks);
}

/* ---- all ---- */

/* A capture without a head ends a whole merge; better to leave it out and say so. */
static void drop_unreadable(struct merge_inputs *inputs)
{
	size_t n = 0;

	for (size_t i = 0; i < inputs->captures.n; i++) {
		const char *path = inputs->captures.at[i];
		struct cap_reader *reader = NULL;
		struct ws_err err = { .status = WS_OK };

		if (cap_unbegun(path)) {
			ws_log_warn("'%s' is empty: its process was killed before it recorded "
				    "anything: left out",
				    path);
		} else if (cap_reader_open(path, &reader, &err)) {
			ws_log_warn("%s: left out", err.text);
		} else {
			cap_reader_close(reader);
			inputs->captures.at[n++] = path;
			continue;
		}
		inputs->n_left_out++;
		free((char *)path);
	}
	inputs->captures.n = n;
}

enum ws_status merge_inputs_find(char *const *operands, size_t n, const char *except,
				 struct merge_inputs *out, struct ws_err *err)
{
	struct ws_strv databases;
	enum ws_status st = WS_OK;

	*out = (struct merge_inputs){ .folder = "" };
	ws_vec_init(&out->captures, FILES_MAX);
	ws_vec_init(&out->clocks, FILES_MAX);
	ws_vec_init(&databases, FILES_MAX);
	for (size_t i = 0; !st && i < n; i++) {
		struct stat file;

		if (stat(operands[i], &file) != 0)
			st = ws_fail_errno(err, errno, "cannot read '%s'", operands[i]);
		else if (S_ISDIR(file.st_mode))
			st = search(operands[i], except, &out->captures, &out->clocks, &databases,
				    err);
		else if (ws_str_ends(ws_str_from(operands[i]), LAUNCH_CLOCK_STAMPS_SUFFIX))
			st = add(&out->clocks, operands[i], err);
		else if (ws_str_ends(ws_str_from(operands[i]), DATABASE_SUFFIX))
			st = add(&databases, operands[i], err);
		else
			st = add(&out->captures, operands[i], err);
	}
	if (!st)
		drop_unreadable(out);
	if (!st)
		st = import_all(&databases, out, err);
	if (!st && !out->captures.n)
		st = ws_fail(err, WS_E_NOTFOUND,
			     out->n_left_out ? "none of the files under '%s' can be read"
					     : "no captures (*.wcap) or databases (*.db) under "
					       "'%s': record with --keep-captures, or with "
					       "--output-format rocpd",
			     operands[0]);
	release(&databases);
	return st;
}
