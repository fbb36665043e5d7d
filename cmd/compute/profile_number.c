/*
 * Numbers of dispatches in the long form.
 *
 * Files of the long form (rocpd) are put together by the number of a dispatch, and each pass
 * of application replay is a run that may have launched its kernels in another order. So a
 * dispatch has the number of its counterpart in the first pass of the folder: the one of the
 * same kernel and launch size that is the how-manieth it is. Those without one get numbers
 * of their own.
 */
#include "cmd/compute/profile_collect.h"

#include "base/map.h"
#include "base/str.h"
#include "workload/csv.h"

#include <stdio.h>

#define DISPATCHES_MAX INT32_MAX

struct numbering {
	struct ws_arena arena;
	struct ws_map times;   /* kernel and launch size: how many were there */
	struct ws_map numbers; /* the same and how-manieth: its number */
	uint32_t next;
};

static uint64_t volume(const uint32_t size[3])
{
	return (uint64_t)size[0] * size[1] * size[2];
}

static uint32_t *value_in(struct numbering *n, struct ws_map *map, const char *key,
			  struct ws_err *err)
{
	uint32_t *value = ws_map_get(map, key);
	char *own;

	if (value)
		return value;
	own = ws_arena_strdup(&n->arena, key);
	value = ws_arena_new(&n->arena, uint32_t);
	if (!own || !value) {
		ws_fail(err, WS_E_NOMEM, "out of memory");
		return NULL;
	}
	*value = UINT32_MAX;
	return ws_map_put(map, ws_str_from(own), value, err) ? NULL : value;
}

/* Where the number of the next dispatch of this kind stands; UINT32_MAX: it has none. */
static uint32_t *next_of(struct numbering *n, const char *kernel, uint64_t grid, uint64_t group,
			 uint64_t lds, struct ws_err *err)
{
	uint32_t *times, *number = NULL;
	struct ws_buf key;

	ws_buf_init(&key, 1 << 20);
	ws_buf_printf(&key, "%llu %llu %llu %s", (unsigned long long)grid,
		      (unsigned long long)group, (unsigned long long)lds, kernel);
	times = value_in(n, &n->times, key.at, err);
	if (times) {
		*times += 1; /* from none, all bits set, to 0 */
		ws_buf_printf(&key, " %u", *times);
		number = value_in(n, &n->numbers, key.at, err);
	}
	ws_buf_fini(&key);
	return number;
}

/* The numbers that the dispatches of a file have. */
static enum ws_status learn(struct numbering *n, const char *path, struct ws_err *err)
{
	static const char *const texts[] = { "Kernel_Name", NULL };
	const struct wl_csv_column *id, *name, *grid, *group, *lds;
	struct wl_dict names;
	const struct wl_csv_how how = { texts, &names };
	struct wl_csv csv = { .n_rows = 0 };
	enum ws_status st;

	wl_dict_init(&names, &n->arena);
	st = wl_csv_read(path, &how, &n->arena, &csv, err);
	id = wl_csv_column(&csv, "Dispatch_ID");
	name = wl_csv_column(&csv, "Kernel_Name");
	grid = wl_csv_column(&csv, "Grid_Size");
	group = wl_csv_column(&csv, "Workgroup_Size");
	lds = wl_csv_column(&csv, "LDS_Per_Workgroup");
	if (!st && !(id && name && grid && group && lds))
		st = ws_fail(err, WS_E_FORMAT, "'%s': columns are missing", path);
	for (size_t i = 0; i < csv.n_rows && !st; i++) {
		uint32_t *number;

		if (i && id->at[i] == id->at[i - 1])
			continue; /* another counter of it */
		number = next_of(n, names.texts[(size_t)name->at[i]], (uint64_t)grid->at[i],
				 (uint64_t)group->at[i], (uint64_t)lds->at[i], err);
		if (!number) {
			st = err->status;
			break;
		}
		*number = (uint32_t)id->at[i];
		n->next = WS_MAX(n->next, *number + 1);
	}
	wl_csv_fini(&csv);
	wl_dict_fini(&names);
	return st;
}

static enum ws_status number_rows(struct pf_collect *c, struct numbering *n,
				  const struct trc_counted *table, struct wl_sheet_rows *out_rows,
				  struct ws_err *err)
{
	size_t n_rows = trc_counted_n_rows(table);
	uint32_t *numbers = ws_arena_array(&c->pf->arena, n_rows + 1, sizeof(*numbers));

	if (!numbers)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	ws_map_each(entry, &n->times)
		*(uint32_t *)entry->value = UINT32_MAX; /* count anew */
	for (size_t i = 0; i < n_rows; i++) {
		const struct trc_counted_row *row = trc_counted_row(table, i);
		uint32_t *number = next_of(n, row->kernel->formatted, volume(row->grid),
					   volume(row->workgroup), row->group_bytes, err);

		if (!number)
			return err->status;
		if (*number == UINT32_MAX)
			*number = n->next++;
		numbers[i] = *number;
	}
	out_rows->number = numbers;
	return WS_OK;
}

enum ws_status pf_number_rows(struct pf_collect *c, const struct trc_counted *table,
			      struct wl_sheet_rows *out_rows, struct ws_err *err)
{
	struct numbering n = { .next = 0 };
	char path[2 * PATH_MAX] = "";
	enum ws_status st;

	for (size_t i = 0; i < c->state.passes.n && !*path; i++)
		if (c->state.passes.at[i].done)
			snprintf(path, sizeof(path), "%s/results_%zu.csv", c->pf->dir, i);
	if (c->pf->args->format != PF_FORMAT_ROCPD || !*path)
		return WS_OK; /* the first: its order counts */
	ws_arena_init(&n.arena, (size_t)4 << 30);
	ws_map_init(&n.times, WS_MAP_STR, DISPATCHES_MAX);
	ws_map_init(&n.numbers, WS_MAP_STR, DISPATCHES_MAX);
	st = learn(&n, path, err);
	if (!st)
		st = number_rows(c, &n, table, out_rows, err);
	ws_map_fini(&n.times);
	ws_map_fini(&n.numbers);
	ws_arena_fini(&n.arena);
	return st;
}
