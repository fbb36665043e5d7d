#include "workload/state.h"

#include "base/doc.h"
#include "base/path.h"
#include "base/str.h"
#include "workload/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIST_MAX 65536u
#define LAYOUT 1

void wl_state_init(struct wl_state *state)
{
	*state = (struct wl_state){ .directory = "", .program = "", .arch = "", .how = "" };
	ws_vec_init(&state->argv, LIST_MAX);
	ws_vec_init(&state->sections, LIST_MAX);
	ws_vec_init(&state->passes, LIST_MAX);
}

void wl_state_fini(struct wl_state *state)
{
	ws_vec_fini(&state->argv);
	ws_vec_fini(&state->sections);
	ws_vec_fini(&state->passes);
}

enum ws_status wl_state_program(struct wl_state *state, const char *argv0, struct ws_arena *arena,
				struct ws_err *err)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct stat info;
	enum ws_status st = ws_path_program(argv0, path, err);

	if (st)
		return st;
	if (!realpath(path, real) || stat(real, &info) != 0)
		return ws_fail_errno(err, errno, "'%s'", path);
	state->program = ws_arena_strdup(arena, real);
	state->program_bytes = info.st_size;
	state->program_mtime_ns = info.st_mtim.tv_sec * 1000000000ll + info.st_mtim.tv_nsec;
	return state->program ? WS_OK : ws_fail(err, WS_E_NOMEM, "out of memory");
}

/* ---- writing ---- */

/* A pass as one line: "done 3 pmc_perf_0 SQ_WAVES TCC_HIT[]". */
static void pass_line(const struct wl_state_pass *pass, struct ws_buf *out)
{
	ws_buf_clear(out);
	ws_buf_printf(out, "%s %llu %s", pass->done ? "done" : "todo",
		      (unsigned long long)pass->n_rows, pass->name);
	for (size_t i = 0; i < pass->n_wants; i++)
		ws_buf_printf(out, " %s", pass->wants[i]);
}

enum ws_status wl_state_write(const struct wl_state *state, const char *dir, struct ws_err *err)
{
	struct ws_strv lines;
	struct wl_config file;
	struct ws_buf line;
	enum ws_status st = WS_OK;

	ws_vec_init(&lines, LIST_MAX);
	ws_buf_init(&line, 4 << 20);
	wl_config_init(&file);
	for (size_t i = 0; i < state->passes.n && !st; i++) {
		char *copy;

		pass_line(&state->passes.at[i], &line);
		copy = ws_arena_strndup(&file.arena, line.at, line.n);
		st = copy && !line.failed ? ws_vec_push(&lines, copy, err)
					  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	wl_config_int(&file, "wavescope_profile", LAYOUT);
	wl_config_list(&file, "argv", state->argv.at, state->argv.n);
	wl_config_text(&file, "directory", state->directory);
	wl_config_text(&file, "program", state->program);
	wl_config_int(&file, "program_bytes", state->program_bytes);
	wl_config_int(&file, "program_mtime_ns", state->program_mtime_ns);
	wl_config_text(&file, "arch", state->arch);
	wl_config_text(&file, "how", state->how);
	wl_config_list(&file, "sections", state->sections.at, state->sections.n);
	wl_config_bool(&file, "complete", state->complete);
	wl_config_list(&file, "passes", lines.at, lines.n);
	if (!st)
		st = wl_config_write(&file, dir, WL_STATE_NAME, err);
	wl_config_fini(&file);
	ws_buf_fini(&line);
	ws_vec_fini(&lines);
	return st;
}

/* ---- reading ---- */

static const char *text_of(const struct ws_doc *doc, const char *key)
{
	const struct ws_doc *value = ws_doc_get(doc, key);

	return value && value->kind != WS_DOC_LIST && value->kind != WS_DOC_MAP ? value->text : "";
}

static int64_t number_of(const struct ws_doc *doc, const char *key)
{
	const struct ws_doc *value = ws_doc_get(doc, key);

	return value && value->kind == WS_DOC_INT ? value->number : 0;
}

static enum ws_status texts_of(const struct ws_doc *doc, const char *key, struct ws_strv *out,
			       struct ws_err *err)
{
	const struct ws_doc *list = ws_doc_get(doc, key);
	enum ws_status st = WS_OK;

	for (size_t i = 0; list && list->kind == WS_DOC_LIST && i < list->n && !st; i++)
		if (list->at[i]->kind != WS_DOC_LIST && list->at[i]->kind != WS_DOC_MAP)
			st = ws_vec_push(out, list->at[i]->text, err);
	return st;
}

static enum ws_status read_pass(const char *line, struct ws_arena *arena,
				struct wl_state_pass *out_pass, struct ws_err *err)
{
	struct ws_str rest = ws_str_from(line), word;
	struct ws_strv wants;
	enum ws_status st = WS_OK;

	ws_vec_init(&wants, LIST_MAX);
	if (!ws_str_next(&rest, ' ', &word))
		return ws_fail(err, WS_E_FORMAT, "an empty pass");
	*out_pass = (struct wl_state_pass){ .done = ws_str_is(word, "done") };
	if (!out_pass->done && !ws_str_is(word, "todo"))
		return ws_fail(err, WS_E_FORMAT, "'%.60s' is not a pass", line);
	if (!rest.at || !ws_str_next(&rest, ' ', &word) || !ws_str_u64(word, &out_pass->n_rows) ||
	    !rest.at || !ws_str_next(&rest, ' ', &word) || !word.n || memchr(word.at, '/', word.n))
		return ws_fail(err, WS_E_FORMAT, "'%.60s' is not a pass", line);
	out_pass->name = ws_arena_strndup(arena, word.at, word.n);
	while (!st && out_pass->name && rest.at && ws_str_next(&rest, ' ', &word)) {
		char *want = ws_arena_strndup(arena, word.at, word.n);

		st = want ? ws_vec_push(&wants, want, err)
			  : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	out_pass->n_wants = wants.n;
	out_pass->wants = ws_arena_array(arena, wants.n + 1, sizeof(*wants.at));
	if (!st && (!out_pass->name || !out_pass->wants))
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	else if (!st && wants.n)
		memcpy((void *)out_pass->wants, wants.at, wants.n * sizeof(*wants.at));
	ws_vec_fini(&wants);
	return st;
}

static enum ws_status read_passes(const struct ws_doc *doc, struct ws_arena *arena,
				  struct wl_state_passes *out, struct ws_err *err)
{
	struct ws_strv lines;
	enum ws_status st;

	ws_vec_init(&lines, LIST_MAX);
	st = texts_of(doc, "passes", &lines, err);
	for (size_t i = 0; i < lines.n && !st; i++) {
		struct wl_state_pass pass;

		st = read_pass(lines.at[i], arena, &pass, err);
		if (!st)
			st = ws_vec_push(out, pass, err);
	}
	ws_vec_fini(&lines);
	return st;
}

enum ws_status wl_state_read(const char *dir, struct ws_arena *arena, struct wl_state *out_state,
			     struct ws_err *err)
{
	const struct ws_doc *complete;
	struct ws_doc *doc;
	char path[PATH_MAX];
	enum ws_status st = ws_path_join(dir, WL_STATE_NAME, path, err);

	wl_state_init(out_state);
	if (!st && !ws_path_exists(path))
		return ws_fail(err, WS_E_NOTFOUND, "'%s' is not there", path);
	if (!st)
		st = ws_doc_read(path, arena, &doc, err);
	if (st)
		return st;
	if (number_of(doc, "wavescope_profile") != LAYOUT)
		return ws_fail(err, WS_E_FORMAT,
			       "'%s' was written by another version: --replace profiles again",
			       path);
	out_state->directory = text_of(doc, "directory");
	out_state->program = text_of(doc, "program");
	out_state->program_bytes = number_of(doc, "program_bytes");
	out_state->program_mtime_ns = number_of(doc, "program_mtime_ns");
	out_state->arch = text_of(doc, "arch");
	out_state->how = text_of(doc, "how");
	complete = ws_doc_get(doc, "complete");
	out_state->complete = complete && complete->kind == WS_DOC_BOOL && complete->on;
	st = texts_of(doc, "argv", &out_state->argv, err);
	if (!st)
		st = texts_of(doc, "sections", &out_state->sections, err);
	if (!st)
		st = read_passes(doc, arena, &out_state->passes, err);
	return st ? ws_fail_in(err, st, "'%s'", path) : WS_OK;
}
