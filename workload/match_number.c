/* Numbers of dispatches in the long form: those of their counterparts in the first pass. */
#include "workload/match.h"

#include "base/path.h"
#include "base/vec.h"
#include "workload/csv.h"
#include "workload/launch_columns.h"
#include "workload/names.h"

#include <stdlib.h>

#define DISPATCHES_MAX INT32_MAX

struct numbering {
	struct ws_arena arena; /* of names and cells */
	struct wl_dict names;
	struct trc_match match;
	WS_VEC(uint32_t) numbers; /* of the first pass, by row of the match */
	uint32_t next;            /* that no dispatch of it has */
};

static enum ws_status learn(struct numbering *n, const char *path, struct ws_err *err)
{
	static const char *const texts[] = { WL_COL_KERNEL, NULL };
	const struct wl_csv_how how = { texts, &n->names };
	const struct wl_csv_column *id;
	struct wl_launch_columns columns;
	struct wl_csv csv = { .n_rows = 0 };
	enum ws_status st = wl_csv_read(path, &how, &n->arena, &csv, err);

	columns = wl_launch_columns_of_csv(&csv);
	id = wl_csv_column(&csv, WL_COL_DISPATCH);
	if (!st && !(id && columns.kernel && columns.grid && columns.workgroup && columns.lds))
		st = ws_fail(err, WS_E_FORMAT, "'%s': columns are missing", path);
	for (size_t i = 0; i < csv.n_rows && !st; i++) {
		struct trc_launch launch;
		uint32_t kind;

		if (i && id->at[i] == id->at[i - 1])
			continue; /* another counter of it */
		launch = wl_launch_of_file(&columns, i);
		st = trc_match_kind(&n->match, &launch, &kind, err);
		if (!st)
			st = trc_match_add(&n->match, kind, err);
		if (!st)
			st = ws_vec_push(&n->numbers, (uint32_t)id->at[i], err);
		n->next = WS_MAX(n->next, (uint32_t)id->at[i] + 1);
	}
	wl_csv_fini(&csv);
	return st;
}

static enum ws_status number(struct numbering *n, const struct trc_counted *table,
			     uint32_t *numbers, struct ws_err *err)
{
	trc_match_rewind(&n->match);
	for (size_t i = 0; i < trc_counted_n_rows(table); i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);
		size_t kernel = wl_dict_add(&n->names, ws_str_from(row->kernel->formatted)), first;
		struct trc_launch launch = wl_launch_of_row(row, kernel);
		uint32_t kind;
		enum ws_status st = kernel == SIZE_MAX
					    ? ws_fail(err, WS_E_NOMEM, "out of memory")
					    : trc_match_kind(&n->match, &launch, &kind, err);

		if (st)
			return st;
		first = trc_match_take(&n->match, kind);
		numbers[i] = first == TRC_NO_ROW ? n->next++ : n->numbers.at[first];
	}
	return WS_OK;
}

enum ws_status wl_number_rows(const char *dir, const char *first_file,
			      const struct trc_counted *table, enum trc_alike alike,
			      struct ws_arena *arena, const uint32_t **out_numbers,
			      struct ws_err *err)
{
	uint32_t *numbers = ws_arena_array(arena, trc_counted_n_rows(table) + 1, sizeof(*numbers));
	struct numbering n = { .next = 0 };
	char path[PATH_MAX];
	enum ws_status st = numbers ? ws_path_join(dir, first_file, path, err)
				    : ws_fail(err, WS_E_NOMEM, "out of memory");

	ws_arena_init(&n.arena, (size_t)4 << 30);
	wl_dict_init(&n.names, &n.arena);
	trc_match_init(&n.match, alike);
	ws_vec_init(&n.numbers, DISPATCHES_MAX);
	if (!st)
		st = learn(&n, path, err);
	if (!st)
		st = number(&n, table, numbers, err);
	if (!st)
		*out_numbers = numbers;
	ws_vec_fini(&n.numbers);
	trc_match_fini(&n.match);
	wl_dict_fini(&n.names);
	ws_arena_fini(&n.arena);
	return st;
}
