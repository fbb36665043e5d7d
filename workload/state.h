/*
 * state: how far a profile has come, kept in its folder.
 *
 * A profile may take hours of runs, and be stopped by Ctrl-C, a crash, a full disk. After
 * each pass the file .profile-state.yaml says which passes are done and what they counted,
 * and how the profile was started: --resume goes on from it, and a later -b knows what is
 * there already. Without the file a folder is not ours.
 */
#ifndef WS_WORKLOAD_STATE_H
#define WS_WORKLOAD_STATE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "workload/sheet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_STATE_NAME ".profile-state.yaml"

struct wl_state_pass {
	const char *name; /* "pmc_perf_0" */
	bool done;
	uint64_t n_rows;
	const char *const *wants; /* "SQ_WAVES", "TCC_HIT[]" with all its channels */
	size_t n_wants;
};
WS_VEC_TYPE(wl_state_passes, struct wl_state_pass);

struct wl_state {
	struct ws_strv argv;   /* the program and its arguments */
	const char *directory; /* where it was started */
	const char *program;   /* the file that argv[0] was, its size and its time of change: */
	int64_t program_bytes, program_mtime_ns; /* another one is another workload */
	const char *arch;
	const char *how;         /* filters and modes that make results comparable, as one text */
	struct ws_strv sections; /* report blocks; none: all */
	bool complete;
	struct wl_state_passes passes;
};

/* Lists are empty afterwards; texts of a state live in its arena. */
void wl_state_init(struct wl_state *state);
void wl_state_fini(struct wl_state *state);

/* WS_E_NOTFOUND: there is none. WS_E_FORMAT: it is not one. */
enum ws_status wl_state_read(const char *dir, struct ws_arena *arena, struct wl_state *out_state,
			     struct ws_err *err);
enum ws_status wl_state_write(const struct wl_state *state, const char *dir, struct ws_err *err);

/* Fill program, program_bytes and program_mtime_ns from the file that argv0 is. */
enum ws_status wl_state_program(struct wl_state *state, const char *argv0, struct ws_arena *arena,
				struct ws_err *err);

/* NULL: results of the two belong together. Else why not: "it is of another command". */
const char *wl_state_difference(const struct wl_state *old, const struct wl_state *now);
size_t wl_state_n_done(struct wl_state *state); /* passes */
bool wl_state_same_passes(struct wl_state *a, struct wl_state *b);
/* The N for the next pmc_perf_N. */
unsigned wl_state_next_number(struct wl_state *state);

/* Adds the finished passes of @old. */
enum ws_status wl_state_keep_done(struct wl_state *state, struct wl_state *old, struct ws_err *err);
/* Everything was profiled when one of the two did so; else what both name. */
enum ws_status wl_state_join_sections(struct wl_state *state, struct wl_state *old,
				      struct ws_err *err);

/* Leaves out of @wants what a finished pass of @state has; *@n are left. */
enum ws_status wl_state_subtract(struct wl_state *state, struct wl_want *wants, size_t *n,
				 struct ws_arena *arena, struct ws_err *err);
/* Adds a pass per sheet, to be done. @wants are those that the sheets were made for. */
enum ws_status wl_state_add_passes(struct wl_state *state, const struct wl_sheets *sheets,
				   const struct wl_want *wants, struct ws_arena *arena,
				   struct ws_err *err);

#endif
