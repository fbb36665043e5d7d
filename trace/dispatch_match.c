#include "trace/dispatch_match.h"

#include <stdlib.h>
#include <string.h>

#define KINDS_MAX ((size_t)1 << 28)
#define ROWS_MAX (((size_t)1 << 31) - 1)
#define ARENA_MAX ((size_t)64 << 30)

void trc_match_init(struct trc_match *match, enum trc_alike alike)
{
	match->alike = alike;
	ws_arena_init(&match->arena, ARENA_MAX);
	ws_map_init(&match->kinds, WS_MAP_STR, KINDS_MAX);
	ws_vec_init(&match->rows, KINDS_MAX);
	ws_vec_init(&match->next, ROWS_MAX);
}

void trc_match_fini(struct trc_match *match)
{
	ws_map_fini(&match->kinds);
	ws_vec_fini(&match->rows);
	ws_vec_fini(&match->next);
	ws_arena_fini(&match->arena);
}

static uint64_t product(const uint64_t size[3])
{
	return size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
}

/* @launch with what need not agree left out. Every byte is set: bytes are compared. */
static struct trc_launch part_that_agrees(const struct trc_launch *launch, enum trc_alike alike)
{
	struct trc_launch part = *launch;

	if (alike == TRC_ALIKE_LAUNCH)
		return part;
	memset(part.workgroup, 0, sizeof(part.workgroup));
	memset(part.grid, 0, sizeof(part.grid));
	part.group_bytes = 0;
	if (alike == TRC_ALIKE_GRID)
		part.grid[0] = product(launch->grid);
	return part;
}

enum ws_status trc_match_kind(struct trc_match *match, const struct trc_launch *launch,
			      uint32_t *out_kind, struct ws_err *err)
{
	static const struct trc_match_rows none = { TRC_NO_ROW, TRC_NO_ROW, TRC_NO_ROW };
	struct trc_launch part = part_that_agrees(launch, match->alike), *kept;
	struct ws_str bytes = { (const char *)&part, sizeof(part) };
	struct ws_map_entry *entry = ws_map_find(&match->kinds, bytes);
	enum ws_status st;

	if (entry) {
		*out_kind = (uint32_t)((uintptr_t)entry->value - 1);
		return WS_OK;
	}
	kept = ws_arena_new(&match->arena, struct trc_launch);
	if (!kept)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	*kept = part;
	bytes.at = (const char *)kept;
	st = ws_vec_push(&match->rows, none, err);
	if (!st)
		st = ws_map_put(&match->kinds, bytes, (void *)(uintptr_t)match->rows.n, err);
	*out_kind = (uint32_t)match->rows.n - 1;
	return st;
}

enum ws_status trc_match_add(struct trc_match *match, uint32_t kind, struct ws_err *err)
{
	struct trc_match_rows *rows = &match->rows.at[kind];
	size_t row = match->next.n;
	enum ws_status st = ws_vec_push(&match->next, TRC_NO_ROW, err);

	if (st)
		return st;
	if (rows->first == TRC_NO_ROW)
		rows->first = row;
	else
		match->next.at[rows->last] = row;
	rows->last = row;
	return WS_OK;
}

void trc_match_rewind(struct trc_match *match)
{
	ws_vec_each(rows, &match->rows)
		rows->next = rows->first;
}

size_t trc_match_take(struct trc_match *match, uint32_t kind)
{
	size_t row = match->rows.at[kind].next;

	if (row != TRC_NO_ROW)
		match->rows.at[kind].next = match->next.at[row];
	return row;
}
