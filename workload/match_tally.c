/* What the passes of a folder have in common, counted from their files. */
#include "workload/match.h"

#include "base/path.h"
#include "base/vec.h"
#include "workload/csv.h"
#include "workload/launch_columns.h"
#include "workload/names.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MAX (1u << 20)

struct kind {
	size_t kernel; /* of the dictionary */
	uint64_t grid;
	uint64_t *n_in; /* by pass */
};

struct counting {
	struct ws_arena *arena;
	struct trc_match match;
	struct wl_dict names;
	WS_VEC(struct kind) kinds;
	size_t n_passes, n_empty;
};

static enum ws_status count_row(struct counting *c, const struct trc_launch *launch, size_t pass,
				struct ws_err *err)
{
	uint32_t number;
	enum ws_status st = trc_match_kind(&c->match, launch, &number, err);

	if (!st && number == c->kinds.n) {
		struct kind kind = { launch->kernel, launch->grid[0],
				     ws_arena_array(c->arena, c->n_passes, sizeof(*kind.n_in)) };

		st = kind.n_in ? ws_vec_push(&c->kinds, kind, err)
			       : ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!st)
		c->kinds.at[number].n_in[pass]++;
	return st;
}

static enum ws_status count_file(struct counting *c, const char *path, size_t pass,
				 struct ws_err *err)
{
	static const char *const texts[] = { WL_COL_KERNEL, NULL };
	const struct wl_csv_how how = { texts, &c->names };
	const struct wl_csv_column *id;
	struct wl_launch_columns columns;
	struct wl_csv csv = { .n_rows = 0 };
	enum ws_status st = wl_csv_read(path, &how, c->arena, &csv, err);

	columns = wl_launch_columns_of_csv(&csv);
	id = wl_csv_column(&csv, WL_COL_DISPATCH);
	if (!st && (!columns.kernel || !columns.grid))
		st = ws_fail(err, WS_E_FORMAT, "'%s': columns are missing", path);
	for (size_t i = 0; i < csv.n_rows && !st; i++) {
		struct trc_launch launch;

		if (id && i && id->at[i] == id->at[i - 1])
			continue; /* the long form: another counter of the same dispatch */
		launch = wl_launch_of_file(&columns, i);
		st = count_row(c, &launch, pass, err);
	}
	c->n_empty += csv.n_rows_holed == csv.n_rows;
	wl_csv_fini(&csv);
	return st;
}

static enum ws_status sum_up(struct counting *c, struct wl_tally *out, struct ws_err *err)
{
	struct wl_uneven *uneven = ws_arena_array(c->arena, c->kinds.n + 1, sizeof(*uneven));

	if (!uneven)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*out = (struct wl_tally){ .n_kernels = c->names.n,
				  .n_kinds = c->kinds.n,
				  .n_empty = c->n_empty,
				  .uneven = uneven };
	ws_vec_each(kind, &c->kinds) {
		uint64_t least = UINT64_MAX, most = 0;

		for (size_t p = 0; p < c->n_passes; p++) {
			least = WS_MIN(least, kind->n_in[p]);
			most = WS_MAX(most, kind->n_in[p]);
		}
		out->n_matched += least;
		out->n_most += most;
		if (least != most)
			uneven[out->n_uneven++] = (struct wl_uneven){ c->names.texts[kind->kernel],
								      kind->grid, least, most };
	}
	return WS_OK;
}

enum ws_status wl_tally(const char *dir, const char *const *files, size_t n_files,
			enum trc_alike alike, struct ws_arena *arena, struct wl_tally *out_tally,
			struct ws_err *err)
{
	struct counting c = { .arena = arena, .n_passes = n_files };
	enum ws_status st = WS_OK;

	trc_match_init(&c.match, alike);
	wl_dict_init(&c.names, arena);
	ws_vec_init(&c.kinds, KINDS_MAX);
	for (size_t i = 0; i < n_files && !st; i++) {
		char path[PATH_MAX];

		st = ws_path_join(dir, files[i], path, err);
		if (!st)
			st = count_file(&c, path, i, err);
	}
	if (!st)
		st = sum_up(&c, out_tally, err);
	ws_vec_fini(&c.kinds);
	wl_dict_fini(&c.names);
	trc_match_fini(&c.match);
	return st;
}
