/*
 * PyTorch operators and the counters of their kernels: torch_trace/consolidated.csv.
 *
 * The collector puts the innermost roctx range on each kernel that is launched inside it. So
 * a kernel names its operator by itself; the markers add when the operator began and ended.
 */
#include "workload/torch.h"

#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "trace/counted.h"
#include "workload/names.h"
#include "workload/outfile.h"
#include "workload/sheet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX (1u << 28)
#define CONTEXT_MARK ":#"

struct range {
	uint64_t start_ns, end_ns;
};

struct mapping {
	const struct trc_counted *table;
	FILE *to;
	struct ws_arena arena;
	struct ws_map ranges; /* "pid message" to struct range */
	struct ws_buf key;
	uint64_t n_rows, n_unknown; /* rows written; kernels outside of any operator */
};

static struct range *find_range(struct mapping *m, const struct trc_process *process,
				const char *message)
{
	ws_buf_clear(&m->key);
	ws_buf_printf(&m->key, "%u %s", process->pid, message);
	return ws_map_get(&m->ranges, m->key.at);
}

static enum ws_status read_ranges(struct mapping *m, struct ws_err *err)
{
	const struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(MARKER_API) };
	const struct trc_event *event;
	struct trc_events *events = NULL;
	enum ws_status st = trc_events_open(trc_counted_trace(m->table), &query, &events, err);

	if (st)
		return st;
	while (!st && (event = trc_events_next(events))) {
		struct range *range;
		char *key;

		if (!event->marker.has_message || !strstr(event->name, CONTEXT_MARK))
			continue;
		range = find_range(m, event->process, event->name);
		if (range)
			continue;
		range = ws_arena_new(&m->arena, struct range);
		key = ws_arena_strndup(&m->arena, m->key.at, m->key.n);
		if (!range || !key) {
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
			break;
		}
		*range = (struct range){ event->start_ns, event->end_ns };
		st = ws_map_put(&m->ranges, ws_str_from(key), range, err);
	}
	return st ? (trc_events_close(events, NULL), st) : trc_events_close(events, err);
}

static void put_row(void *of, size_t i, const struct wl_sheet_column *column, double value)
{
	struct mapping *m = of;
	const struct trc_counted_row *row = trc_counted_row(m->table, i);
	const char *message = trc_process_external(row->process, row->external_id);
	const char *mark = message ? strstr(message, CONTEXT_MARK) : NULL;
	const struct range *range = mark ? find_range(m, row->process, message) : NULL;
	char *op;

	if (!range) {
		m->n_unknown++;
		return;
	}
	op = strndup(message, (size_t)(mark - message));
	wl_put_text(m->to, op ? op : "", ',');
	free(op);
	wl_put_text(m->to, mark + strlen(CONTEXT_MARK), ',');
	wl_put_text(m->to, row->kernel->formatted, ',');
	wl_put_text(m->to, column->name, ',');
	wl_put_number(m->to, value, ',');
	wl_put_u64(m->to, range->start_ns, ',');
	wl_put_u64(m->to, range->end_ns, ',');
	wl_put_u64(m->to, row->start_ns, ',');
	wl_put_u64(m->to, row->end_ns, '\n');
	m->n_rows++;
}

static enum ws_status open_file(const char *dir, FILE **out_file, struct ws_err *err)
{
	char folder[PATH_MAX], path[PATH_MAX];
	enum ws_status st = ws_path_join(dir, WL_DIR_TORCH, folder, err);

	if (!st)
		st = ws_path_join(folder, WL_FILE_TORCH, path, err);
	if (!st)
		st = ws_mkdirs(folder, err);
	if (st)
		return st;
	st = ws_file_append_stream(path, out_file, err);
	if (st)
		return st;
	if (ftell(*out_file) == 0)
		fputs(WL_COL_OPERATOR "," WL_COL_CONTEXT "," WL_COL_KERNEL "," WL_COL_COUNTER
				      "," WL_COL_VALUE "," WL_COL_START "_function," WL_COL_END
				      "_function," WL_COL_START_KERNEL "," WL_COL_END_KERNEL "\n",
		      *out_file);
	return WS_OK;
}

enum ws_status wl_torch_write(const struct wl_sheets *sheets, size_t first_pass, size_t n_passes,
			      const struct trc_counted *table, const struct wl_sheet_rows *rows,
			      const char *dir, size_t *out_n_calls, struct ws_err *err)
{
	struct mapping m = { .table = table };
	enum ws_status st = open_file(dir, &m.to, err);

	if (st)
		return st;
	ws_arena_init(&m.arena, (size_t)4 << 30);
	ws_map_init(&m.ranges, WS_MAP_STR, RANGES_MAX);
	ws_buf_init(&m.key, 1 << 20);
	st = read_ranges(&m, err);
	for (size_t i = 0; i < sheets->n && !st; i++)
		if (sheets->at[i].pass >= first_pass && sheets->at[i].pass < first_pass + n_passes)
			st = wl_sheet_each(sheets, &sheets->at[i], table, rows, put_row, &m, err);
	if (fclose(m.to) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write " WL_DIR_TORCH "/" WL_FILE_TORCH);
	*out_n_calls = m.ranges.n;
	ws_buf_fini(&m.key);
	ws_map_fini(&m.ranges);
	ws_arena_fini(&m.arena);
	return st;
}
