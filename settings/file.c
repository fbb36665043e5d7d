#include "settings/file.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "settings/file_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "%env{HOME}%/x" and "$env{HOME}/x"; a path keeps its slashes, unlike in names of output. */
static void expand_path(struct ws_str path, struct ws_buf *out)
{
	while (path.n) {
		bool percent = ws_str_starts(path, "%env{");
		const char *end = percent || ws_str_starts(path, "$env{")
					  ? memchr(path.at, '}', path.n)
					  : NULL;
		char name[256];
		size_t n;

		if (!end || (size_t)(end - path.at) - 5 >= sizeof(name)) {
			ws_buf_add_c(out, *path.at, 1);
			path.at++, path.n--;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - path.at) - 5, path.at + 5);
		ws_buf_add(out, getenv(name) ? getenv(name) : "");
		n = (size_t)(end - path.at) + 1;
		n += percent && n < path.n && path.at[n] == '%';
		path.at += n;
		path.n -= n;
	}
}

static bool ends_in(const char *path, const char *extension)
{
	size_t n = strlen(path), n_extension = strlen(extension);

	return n > n_extension && strcasecmp(path + n - n_extension, extension) == 0;
}

/* ---- one file ---- */

static enum ws_status parse(struct set_values *values, const char *path, struct ws_str text,
			    struct set_entries *out, struct ws_err *err)
{
	struct ws_doc *root = NULL;
	enum ws_status st;

	if (ends_in(path, ".json"))
		st = ws_doc_parse_json(path, text, &values->arena, &root, err);
	else if (ends_in(path, ".xml"))
		st = set_parse_xml(path, text, &values->arena, &root, err);
	else
		return set_parse_lines(values, path, text, out, err);
	return st ? st : set_parse_tree(values, path, root, out, err);
}

static enum ws_status at_line(struct ws_err *err, enum ws_status st, const char *path,
			      unsigned line)
{
	if (line)
		return ws_fail_in(err, st, "%s:%u", path, line);
	return ws_fail_in(err, st, "%s", path);
}

/* Not strict: what looks like a setting of another version reaches the program. */
static enum ws_status pass_on(struct set_values *values, const struct set_entry *entry,
			      struct ws_err *err)
{
	enum ws_status st;

	if (strncmp(entry->name, SET_PREFIX, strlen(SET_PREFIX)) != 0 || getenv(entry->name))
		return WS_OK;
	st = ws_vec_push(&values->exports, entry->name, err);
	return st ? st : ws_vec_push(&values->exports, entry->text, err);
}

static enum ws_status read_at(struct set_values *values, const char *path, unsigned depth,
			      bool *out_opened, struct ws_err *err);

/* A file named in a file is looked for beside it. */
static enum ws_status include(struct set_values *values, const char *path,
			      const struct set_entry *entry, unsigned depth, bool *out_opened,
			      struct ws_err *err)
{
	struct ws_str rest = ws_str_from(entry->text), word;
	enum ws_status st = WS_OK;

	*out_opened = false;
	if (depth >= SET_FILE_DEPTH_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %u files that name each other",
			       SET_FILE_DEPTH_MAX);
	while (!st && set_next_word(&rest, true, &word)) {
		char folder[PATH_MAX], full[PATH_MAX];
		struct ws_buf name;

		snprintf(folder, sizeof(folder), "%s", path);
		ws_path_parent(folder);
		ws_buf_init(&name, PATH_MAX - 1);
		expand_path(word, &name);
		st = ws_buf_status(&name, err);
		if (!st)
			st = ws_path_join(folder, name.at, full, err);
		if (!st)
			st = read_at(values, full, depth + 1, out_opened, err);
		ws_buf_fini(&name);
	}
	return st;
}

static enum ws_status apply(struct set_values *values, const char *path,
			    struct set_entries *entries, unsigned depth, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	/* Whether unknown names are allowed may be further down. */
	ws_vec_each(entry, entries)
		if (!st && set_find(ws_str_from(entry->name)) == SET_STRICT_CONFIG) {
			st = set_put(values, SET_STRICT_CONFIG, entry->text, SET_FROM_FILE, err);
			if (st)
				at_line(err, st, path, entry->line);
		}
	ws_vec_each(entry, entries) {
		bool inside = false; /* of another file, which the message names */

		if (st)
			break;
		if (set_find(ws_str_from(entry->name)) == SET_CONFIG_FILE)
			st = include(values, path, entry, depth, &inside, err);
		else
			st = set_put_named(values, entry->name, entry->text, SET_FROM_FILE, err);
		if (st == WS_E_NOTFOUND && set_find(ws_str_from(entry->name)) == SET_COUNT &&
		    !set_on(values, SET_STRICT_CONFIG))
			st = pass_on(values, entry, err);
		else if (st && !inside)
			at_line(err, st, path, entry->line);
	}
	return st;
}

static enum ws_status read_bytes(struct set_values *values, const char *path, struct ws_str text,
				 unsigned depth, struct ws_err *err)
{
	struct set_entries entries;
	enum ws_status st;

	ws_vec_init(&entries, SET_ENTRIES_MAX);
	st = parse(values, path, text, &entries, err);
	if (!st)
		st = apply(values, path, &entries, depth, err);
	ws_vec_fini(&entries);
	return st;
}

static enum ws_status read_at(struct set_values *values, const char *path, unsigned depth,
			      bool *out_opened, struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_log_info("reading '%s'", path);
	ws_buf_init(&text, SET_FILE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	*out_opened = !st;
	if (st)
		st = ws_fail_in(err, st, "configuration file");
	else
		st = read_bytes(values, path, ws_buf_view(&text), depth, err);
	ws_buf_fini(&text);
	return st;
}

enum ws_status set_read_file(struct set_values *values, const char *path, struct ws_err *err)
{
	bool opened;

	return read_at(values, path, 0, &opened, err);
}

enum ws_status set_read_text(struct set_values *values, const char *path, struct ws_str text,
			     struct ws_err *err)
{
	return read_bytes(values, path, text, 0, err);
}

/* ---- all of them ---- */

enum ws_status set_from_files(struct set_values *values, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(set_text(values, SET_CONFIG_FILE)), word;
	bool named = set_is_given(values, SET_CONFIG_FILE);
	enum ws_status st = WS_OK;

	if (set_on(values, SET_SUPPRESS_CONFIG))
		return WS_OK;
	while (!st && set_next_word(&rest, true, &word)) {
		struct ws_buf path;

		ws_buf_init(&path, PATH_MAX - 1);
		expand_path(word, &path);
		st = ws_buf_status(&path, err);
		if (!st && (named || ws_path_exists(path.at)))
			st = set_read_file(values, path.at, err);
		ws_buf_fini(&path);
	}
	return st;
}
