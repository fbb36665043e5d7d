/*
 * PyTorch operators and their kernels.
 *
 * A module of ours in the program's Python (torch/) opens a roctx range per operator, and
 * the collector puts the innermost range on each kernel that is launched inside it. So a
 * kernel names its operator by itself; the markers only add when the operator began and
 * ended.
 */
#include "cmd/compute/profile_collect.h"

#include "base/file.h"
#include "base/map.h"
#include "base/path.h"
#include "base/str.h"
#include "cmd/compute/say.h"
#include "workload/outfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX (1u << 28)
#define CONTEXT_MARK ":#"

static bool is_python(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	return strncmp(name, "python", 6) == 0 || ws_str_ends(ws_str_from(name), ".py");
}

enum ws_status pf_torch_begin(struct pf *pf, struct ws_err *err)
{
	static const char *const places[] = { "../lib/wavescope/torch", "../collector/torch",
					      NULL };
	const char *there = getenv("PYTHONPATH");
	char folder[PATH_MAX];
	struct ws_buf list;
	enum ws_status st;

	if (!is_python(pf->argv[0]))
		return ws_fail(err, WS_E_STATE,
			       "--torch-trace needs a Python program: 'python script.py', or a .py "
			       "file; '%s' is neither",
			       pf->argv[0]);
	st = ws_path_beside(places, "sitecustomize.py", folder, err);
	if (st)
		return ws_fail_in(err, st, "--torch-trace");
	ws_path_parent(folder);
	ws_buf_init(&list, 1 << 17);
	ws_buf_printf(&list, "%s%s%s", folder, there && *there ? ":" : "", there ? there : "");
	st = ws_buf_status(&list, err);
	/* Ours, too: every child is the program, and we run no Python ourselves. */
	if (!st && setenv("PYTHONPATH", list.at, 1) != 0)
		st = ws_fail_errno(err, errno, "--torch-trace");
	ws_buf_fini(&list);
	say(SAY_WARNING, "Torch trace is experimental and may change in future releases.");
	return st;
}

/* ---- operators ---- */

struct range {
	uint64_t start_ns, end_ns;
};

struct mapping {
	struct pf_collect *c;
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

static enum ws_status open_file(struct pf_collect *c, FILE **out_file, struct ws_err *err)
{
	char folder[PATH_MAX], path[PATH_MAX];
	enum ws_status st = ws_path_join(c->pf->dir, "torch_trace", folder, err);

	if (!st)
		st = ws_path_join(folder, "consolidated.csv", path, err);
	if (!st)
		st = ws_mkdirs(folder, err);
	if (st)
		return st;
	st = ws_file_append_stream(path, out_file, err);
	if (st)
		return st;
	if (ftell(*out_file) == 0)
		fputs("Operator_Name,Context_Id,Kernel_Name,Counter_Name,Counter_Value,"
		      "Start_Timestamp_function,End_Timestamp_function,Start_Timestamp_kernel,"
		      "End_Timestamp_kernel\n",
		      *out_file);
	return WS_OK;
}

enum ws_status pf_torch_write(struct pf_collect *c, const struct trc_counted *table,
			      const struct wl_sheet_rows *rows, size_t first, size_t n,
			      struct ws_err *err)
{
	struct mapping m = { .c = c, .table = table };
	enum ws_status st = open_file(c, &m.to, err);

	if (st)
		return st;
	ws_arena_init(&m.arena, (size_t)4 << 30);
	ws_map_init(&m.ranges, WS_MAP_STR, RANGES_MAX);
	ws_buf_init(&m.key, 1 << 20);
	st = read_ranges(&m, err);
	for (size_t i = 0; i < c->sheets.n && !st; i++)
		if (c->sheets.at[i].pass >= first && c->sheets.at[i].pass < first + n)
			st = wl_sheet_each(&c->sheets, &c->sheets.at[i], table, rows, put_row, &m,
					   err);
	if (fclose(m.to) != 0 && !st)
		st = ws_fail_errno(err, errno, "cannot write torch_trace/consolidated.csv");
	if (!st && !m.ranges.n && trc_counted_n_rows(table))
		say(SAY_WARNING, "No PyTorch operator was observed: is torch imported, and does "
				 "Python read PYTHONPATH (no -I, no -E)?");
	else if (!st && m.ranges.n && first == 0)
		say(SAY_INFO,
		    "%zu calls of PyTorch operators; torch_trace/consolidated.csv has the "
		    "counters of their kernels",
		    m.ranges.n);
	ws_buf_fini(&m.key);
	ws_map_fini(&m.ranges);
	ws_arena_fini(&m.arena);
	return st;
}
