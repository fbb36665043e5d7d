/* Profiles of one folder compared and joined: what is done, and what is still to be counted. */
#include "workload/state.h"

#include "base/map.h"
#include "base/str.h"
#include "base/utf8.h"
#include "workload/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536u

/* As a file of text keeps it. */
static bool same_word(const char *kept, const char *word)
{
	struct ws_buf utf8;
	bool same;

	ws_buf_init(&utf8, SIZE_MAX);
	ws_buf_add_utf8(&utf8, word, strlen(word));
	same = strcmp(kept, utf8.at) == 0;
	ws_buf_fini(&utf8);
	return same;
}

static bool same_words(const struct ws_strv *kept, const struct ws_strv *words)
{
	if (kept->n != words->n)
		return false;
	for (size_t i = 0; i < kept->n; i++)
		if (!same_word(kept->at[i], words->at[i]))
			return false;
	return true;
}

/* NULL: results of the two belong together. Else why not. */
const char *wl_state_difference(const struct wl_state *old, const struct wl_state *now)
{
	if (!same_words(&old->argv, &now->argv))
		return "it belongs to another command";
	if (strcmp(old->program, now->program) != 0 || old->program_bytes != now->program_bytes ||
	    old->program_mtime_ns != now->program_mtime_ns)
		return "the program has changed since";
	if (strcmp(old->arch, now->arch) != 0)
		return "it was recorded on another GPU";
	if (strcmp(old->how, now->how) != 0)
		return "it was recorded with other filters or modes";
	return NULL;
}

size_t wl_state_n_done(struct wl_state *state)
{
	size_t n = 0;

	ws_vec_each(pass, &state->passes)
		n += pass->done;
	return n;
}

/* Everything was profiled when one of the two did so; else what both name. */
enum ws_status wl_state_join_sections(struct wl_state *state, struct wl_state *old,
				      struct ws_err *err)
{
	enum ws_status st = WS_OK;

	if (!old->sections.n || !state->sections.n) {
		ws_vec_clear(&state->sections);
		return WS_OK;
	}
	ws_vec_each(section, &old->sections) {
		bool there = false;

		ws_vec_each(own, &state->sections)
			there |= strcmp(*own, *section) == 0;
		if (!there && !st)
			st = ws_vec_push(&state->sections, *section, err);
	}
	return st;
}

enum ws_status wl_state_keep_done(struct wl_state *state, struct wl_state *old, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	ws_vec_each(pass, &old->passes)
		if (pass->done && !st)
			st = ws_vec_push(&state->passes, *pass, err);
	return st;
}

/* The number for the next pmc_perf_N. */
unsigned wl_state_next_number(struct wl_state *state)
{
	unsigned next = 0, number;

	ws_vec_each(pass, &state->passes)
		if (sscanf(pass->name, WL_PASS_PREFIX "%u", &number) == 1)
			next = WS_MAX(next, number + 1);
	return next;
}

bool wl_state_same_passes(struct wl_state *a, struct wl_state *b)
{
	if (a->passes.n != b->passes.n)
		return false;
	for (size_t i = 0; i < a->passes.n; i++) {
		const struct wl_state_pass *p = &a->passes.at[i], *q = &b->passes.at[i];

		if (strcmp(p->name, q->name) != 0 || p->n_wants != q->n_wants)
			return false;
		for (size_t k = 0; k < p->n_wants; k++)
			if (strcmp(p->wants[k], q->wants[k]) != 0)
				return false;
	}
	return true;
}

/* ---- counters ---- */

/* "TCC_HIT[]" for a counter with all its channels. */
static const char *spell(const struct wl_want *want, struct ws_arena *arena)
{
	return want->channels ? ws_arena_printf(arena, "%s[]", want->name) : want->name;
}

enum ws_status wl_state_subtract(struct wl_state *state, struct wl_want *wants, size_t *n,
				 struct ws_arena *arena, struct ws_err *err)
{
	struct ws_map done;
	size_t n_left = 0;
	enum ws_status st = WS_OK;

	ws_map_init(&done, WS_MAP_STR, NAMES_MAX);
	ws_vec_each(pass, &state->passes)
		for (size_t i = 0; i < pass->n_wants && pass->done && !st; i++)
			st = ws_map_put(&done, ws_str_from(pass->wants[i]), NULL, err);
	for (size_t i = 0; i < *n && !st; i++) {
		const char *name = spell(&wants[i], arena);

		if (!name)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		else if (!ws_map_find(&done, ws_str_from(name)))
			wants[n_left++] = wants[i];
	}
	*n = n_left;
	ws_map_fini(&done);
	return st;
}

enum ws_status wl_state_add_passes(struct wl_state *state, const struct wl_sheets *sheets,
				   const struct wl_want *wants, struct ws_arena *arena,
				   struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < sheets->n && !st; i++) {
		const struct wl_sheet *sheet = &sheets->at[i];
		const char **names = ws_arena_array(arena, sheet->n_columns + 1, sizeof(*names));
		size_t n = 0, last = SIZE_MAX;

		for (size_t k = 0; names && k < sheet->n_columns; k++) {
			size_t request = sheet->columns[k].request;

			if (request != last) /* channels of one counter stand together */
				names[n++] = spell(&wants[request], arena);
			last = request;
		}
		st = names ? ws_vec_push(&state->passes,
					 ((struct wl_state_pass){ .name = sheet->name,
								  .wants = names,
								  .n_wants = n }),
					 err)
			   : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	return st;
}
