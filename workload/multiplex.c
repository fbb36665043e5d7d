/*
 * Iteration multiplexing: successive dispatches of a kernel counted successive sets of
 * counters. What a dispatch did not count is taken from its neighbours of the same round.
 */
#include "workload/workload_priv.h"

#include "base/log.h"
#include "base/vec.h"
#include "workload/launch_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
	size_t n, cap;
	uint32_t *rows;
};
WS_VEC_TYPE(group_list, struct group);

/* Which columns of a row are empty, as one number. */
static uint64_t signature(const struct wl_frame *frame, uint32_t row)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t c = 0; c < frame->n_columns; c++) {
		if (frame->columns[c].is_text)
			continue;
		hash ^= isnan(frame->columns[c].at[row]) ? 1 + c : 0;
		hash *= 0x100000001b3u;
	}
	return hash;
}

/* How many different sets of counters come before the first that comes again. */
static size_t round_length(const struct wl_frame *frame, const struct group *group)
{
	uint64_t seen[256];
	size_t n = 0;

	while (n < group->n && n < WS_ARRAY_LEN(seen)) {
		uint64_t sig = signature(frame, group->rows[n]);

		for (size_t i = 0; i < n; i++)
			if (seen[i] == sig)
				return n;
		seen[n++] = sig;
	}
	return WS_MAX(n, (size_t)1);
}

/* Backward first, then forward, within one round. False: a column stayed empty. */
static bool fill_round(const struct wl_frame *frame, const uint32_t *rows, size_t n)
{
	bool whole = true;

	for (size_t c = 0; c < frame->n_columns; c++) {
		double *at = (double *)(uintptr_t)frame->columns[c].at;

		if (frame->columns[c].is_text)
			continue;
		for (size_t i = n - 1; i-- > 0;)
			if (isnan(at[rows[i]]))
				at[rows[i]] = at[rows[i + 1]];
		for (size_t i = 1; i < n; i++)
			if (isnan(at[rows[i]]))
				at[rows[i]] = at[rows[i - 1]];
		whole &= !isnan(at[rows[0]]);
	}
	return whole;
}

static enum ws_status add_row(struct group_list *groups, uint32_t kind, uint32_t row,
			      struct ws_err *err)
{
	struct group *group;

	if (kind == groups->n) {
		struct group none = { .n = 0 };
		enum ws_status st = ws_vec_push(groups, none, err);

		if (st)
			return st;
	}
	group = &groups->at[kind];
	if (group->n == group->cap) {
		size_t cap = group->cap ? group->cap * 2 : 64;
		uint32_t *grown = realloc(group->rows, cap * sizeof(*grown));

		if (!grown)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		group->rows = grown;
		group->cap = cap;
	}
	group->rows[group->n++] = row;
	return WS_OK;
}

enum ws_status wl_load_fill(struct wl_workload *load, struct ws_err *err)
{
	const struct wl_frame *frame = load->frames[0];
	struct wl_launch_columns columns = wl_launch_columns_of_frame(frame);
	struct group_list groups;
	struct trc_match match;
	enum ws_status st = WS_OK;

	trc_match_init(&match, TRC_ALIKE_LAUNCH);
	ws_vec_init(&groups, UINT32_MAX);
	for (size_t row = 0; !st && row < load->n_rows; row++) {
		struct trc_launch launch = wl_launch_of_file(&columns, row);
		uint32_t kind;

		st = trc_match_kind(&match, &launch, &kind, err);
		if (!st)
			st = add_row(&groups, kind, (uint32_t)row, err);
	}
	ws_vec_each(group, &groups) {
		size_t n = st ? 0 : round_length(frame, group);
		bool whole = true;

		for (size_t first = 0; !st && first < group->n; first += n)
			whole &=
				fill_round(frame, group->rows + first, WS_MIN(n, group->n - first));
		if (!st && !whole)
			ws_log_warn("%s: kernel '%s' was launched too few times for all counters: "
				    "the missing ones have no value",
				    load->path,
				    load->kernels[load->kernel_of[group->rows[0]]].name);
		free(group->rows);
	}
	ws_vec_fini(&groups);
	trc_match_fini(&match);
	return st;
}
