/* Packages: folders with an index.yaml that names databases, as AMD's tool writes them. */
#include "rocpd/rocpd_priv.h"

#include "base/arena.h"
#include "base/doc.h"
#include "base/file.h"
#include "base/path.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

static enum ws_status add_packaged(const char *folder, const char *path, const char *name,
				   struct ws_arena *arena, struct ws_strv *out_files,
				   struct ws_err *err)
{
	const char *at = path && path[0] == '/' ? "" : folder;
	char *file = name[0] == '/'
			     ? ws_arena_strdup(arena, name)
			     : ws_arena_printf(arena, "%s/%s/%s", at, path ? path : ".", name);

	return file ? ws_vec_push(out_files, file, err) : ws_fail(err, WS_E_NOMEM, "out of memory");
}

static bool is_name(const struct ws_doc *doc)
{
	return doc && doc->kind < WS_DOC_LIST && *doc->text;
}

/* A package is a folder with index.yaml that names its databases: a list, or just one. */
static enum ws_status read_package(const char *index, struct ws_arena *arena,
				   struct ws_strv *out_files, struct ws_err *err)
{
	const struct ws_doc *files, *about;
	char folder[PATH_MAX];
	const char *path;
	struct ws_doc *doc;
	enum ws_status st = ws_doc_read(index, arena, &doc, err);

	if (st)
		return st;
	about = ws_doc_get(ws_doc_get(doc, "rocprofiler-sdk"), "rocpd");
	files = ws_doc_get(about, "files");
	about = ws_doc_get(about, "path");
	path = is_name(about) ? about->text : NULL;
	snprintf(folder, sizeof(folder), "%s", index);
	ws_path_parent(folder);
	if (is_name(files))
		return add_packaged(folder, path, files->text, arena, out_files, err);
	if (!files || files->kind != WS_DOC_LIST)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' is not a package: no rocprofiler-sdk: rocpd: files:", index);
	for (size_t i = 0; i < files->n && !st; i++) {
		if (!is_name(files->at[i]))
			return ws_fail(err, WS_E_FORMAT, "'%s': files: number %zu is not a name",
				       index, i + 1);
		st = add_packaged(folder, path, files->at[i]->text, arena, out_files, err);
	}
	return st;
}

enum ws_status rpd_inputs(const struct ws_strv *inputs, struct ws_arena *arena,
			  struct ws_strv *out_files, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	out_files->max_n = RPD_FILES_MAX;
	if (!inputs->n)
		return ws_fail(err, WS_E_USAGE, "no database: -i FILE...");
	for (size_t i = 0; i < inputs->n && !st; i++) {
		const char *name = inputs->at[i];
		char index[PATH_MAX];
		struct stat info;

		if (stat(name, &info) != 0)
			return ws_fail(err, WS_E_USAGE, "File '%s' does not exist.", name);
		snprintf(index, sizeof(index), "%s/index.yaml", name);
		if (S_ISDIR(info.st_mode) && !ws_path_exists(index))
			st = ws_fail(
				err, WS_E_USAGE,
				"'%s' is a folder but not a package: specify the databases in it",
				name);
		else if (S_ISDIR(info.st_mode))
			st = read_package(index, arena, out_files, err);
		else if (ws_str_ends(ws_str_from(name), ".yaml") ||
			 ws_str_ends(ws_str_from(name), ".yml"))
			st = read_package(name, arena, out_files, err);
		else
			st = ws_vec_push(out_files, name, err);
	}
	return st;
}

/* ---- writing ---- */

static enum ws_status copy_file(const char *from, const char *to, struct ws_err *err)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	enum ws_status st;
	ssize_t n = 1;
	int out = -1;

	if (in < 0)
		return ws_fail_errno(err, errno, "cannot read '%s'", from);
	st = ws_file_create(to, &out, err);
	while (!st && n > 0)
		n = sendfile(out, in, NULL, 1 << 24);
	if (n < 0)
		st = ws_fail_errno(err, errno, "cannot copy '%s' to '%s'", from, to);
	close(in);
	if (out >= 0 && close(out) && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", to);
	return st;
}

static enum ws_status fill_package(const struct ws_strv *files, const char *folder,
				   enum rpd_package_how how, FILE *index, struct ws_err *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	enum ws_status st = WS_OK;

	if (how == RPD_PACKAGE_MERGE) {
		snprintf(path, sizeof(path), "%.4000s/merged.db", folder);
		fputs("      - merged.db\n", index);
		return rpd_merge_files(files, path, err);
	}
	for (size_t i = 0; i < files->n && !st; i++) {
		const char *slash = strrchr(files->at[i], '/');
		const char *name = slash ? slash + 1 : files->at[i];

		if (how == RPD_PACKAGE_REFER) {
			if (!realpath(files->at[i], real))
				return ws_fail_errno(err, errno, "'%s'", files->at[i]);
			fprintf(index, "      - \"%s\"\n", real);
			continue;
		}
		/* Files of several runs may have one name. */
		snprintf(path, sizeof(path), "%.3000s/%zu_%.1000s", folder, i, name);
		fprintf(index, "      - \"%zu_%s\"\n", i, name);
		st = copy_file(files->at[i], path, err);
	}
	return st;
}

enum ws_status rpd_package_write(const struct ws_strv *files, const char *folder,
				 enum rpd_package_how how, struct ws_err *err)
{
	char path[PATH_MAX];
	FILE *index = NULL;
	enum ws_status st;

	snprintf(path, sizeof(path), "%.4000s/index.yaml", folder);
	st = ws_file_create_stream(path, &index, err);
	if (st)
		return st;
	fputs("rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n"
	      "    path: \".\"\n    files:\n",
	      index);
	st = fill_package(files, folder, how, index, err);
	if (fclose(index) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write '%s'", path);
	return st;
}
