#include "profile/ranks.h"

#include "base/file.h"
#include "profile/report_priv.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define METADATA_BYTES_MAX (64u << 20)
#define DEPTH_MAX 65536u

struct merging {
	struct prof_tree *tree;
	struct ws_arena arena; /* threads, texts of the sheet */
	struct prof_sheet sheet;
	uint32_t most_threads;           /* of one rank */
	WS_VEC(struct prof_node *) open; /* by depth */
	struct ws_err *err;
};

/* ---- reading ---- */

/* Of "|3>>> ", or "|0|3>>> ": 3. Of ">>> ", which is of all threads: NULL. */
static enum ws_status thread_of(struct merging *m, const struct prof_read_row *row,
				const struct trc_thread **out_thread)
{
	size_t at = row->n_thread - 4;
	struct trc_thread *thread;

	*out_thread = NULL;
	while (at && row->label[at - 1] != '|')
		at--;
	if (!at)
		return WS_OK;
	thread = ws_arena_new(&m->arena, struct trc_thread);
	if (!thread)
		return ws_fail(m->err, WS_E_NOMEM, "no memory for the profiles of ranks");
	thread->index = (uint32_t)strtoul(row->label + at, NULL, 10);
	*out_thread = thread;
	return WS_OK;
}

static void count(struct prof_node *node, const struct prof_read_row *row)
{
	prof_stat_merge(&node->stat[PROF_CLOCK_WALL], &row->stat);
	prof_stat_merge(&node->stat[PROF_CLOCK_CPU], &row->stat);
	node->n_trips += row->stat.n;
	node->n_periods += row->n_periods;
	node->n_inside += row->n_inside;
}

static enum ws_status add_rows(struct merging *m, const struct prof_read *read, uint64_t rank)
{
	struct prof_node *root = NULL, *parent, *node;
	const struct prof_read_row *before = NULL;
	const struct trc_thread *thread;
	enum ws_status st = WS_OK;
	uint32_t n_threads = 0;

	for (size_t i = 0; i < read->rows.n && !st; i++) {
		const struct prof_read_row *row = &read->rows.at[i];

		if (!before || before->n_thread != row->n_thread ||
		    memcmp(before->label, row->label, row->n_thread) != 0) {
			st = thread_of(m, row, &thread);
			root = st ? NULL : prof_tree_root(m->tree, thread, (int)rank, m->err);
			if (!root)
				return WS_E_NOMEM;
			m->open.n = 0;
			n_threads++;
		}
		before = row;
		m->open.n = WS_MIN(m->open.n, (size_t)row->depth);
		parent = m->open.n ? m->open.at[m->open.n - 1] : root;
		node = prof_tree_child(m->tree, parent, row->name, row->kind);
		if (node != parent)
			count(node, row);
		st = ws_vec_push(&m->open, node, m->err);
	}
	m->most_threads = WS_MAX(m->most_threads, n_threads);
	return st;
}

/* ---- the sheet ---- */

/* Columns and values are those of the report that the name stands for. */
static void choose_form(struct prof_sheet *sheet)
{
	sheet->columns = PROF_COLUMNS_ALL;
	sheet->value = PROF_VALUE_WALL;
	sheet->tree = true;
	if (strcmp(sheet->label, "trip_count") == 0) {
		sheet->columns = PROF_COLUMNS_TRIPS;
		sheet->value = PROF_VALUE_TRIPS;
	} else if (strcmp(sheet->label, "sampling_percent") == 0) {
		sheet->value = PROF_VALUE_PERCENT;
		sheet->tree = false; /* it is a list */
	} else if (strncmp(sheet->label, "rocprof-device-", 15) == 0) {
		sheet->columns = PROF_COLUMNS_COUNTER;
	}
}

static enum ws_status begin_sheet(struct merging *m, const struct prof_read *read)
{
	struct prof_sheet *sheet = &m->sheet;

	sheet->label = ws_arena_strdup(&m->arena, read->metric);
	sheet->description = ws_arena_strdup(&m->arena, read->description);
	sheet->unit_text = ws_arena_strdup(&m->arena, read->unit_text);
	sheet->note = read->note ? ws_arena_strdup(&m->arena, read->note) : NULL;
	if (!sheet->label || !sheet->description || !sheet->unit_text)
		return ws_fail(m->err, WS_E_NOMEM, "no memory for the profiles of ranks");
	sheet->unit = read->unit;
	sheet->precision = read->precision;
	sheet->width = -1;
	sheet->max_width = 120;
	choose_form(sheet);
	return WS_OK;
}

static enum ws_status add_file(struct merging *m, const struct prof_rank_file *file)
{
	struct prof_read *read = NULL;
	enum ws_status st = prof_read_file(file->path, m->sheet.label, &read, m->err);

	if (!st && !m->sheet.label)
		st = begin_sheet(m, read);
	if (!st && read->unit != m->sheet.unit)
		st = ws_fail(
			m->err, WS_E_FORMAT,
			"%s: its unit is %s, that of the first is %s: use the same settings for "
			"all ranks",
			file->path, read->unit_text, m->sheet.unit_text);
	if (!st)
		st = add_rows(m, read, file->rank);
	prof_read_destroy(read);
	return st;
}

/* ---- writing ---- */

static enum ws_status write_form(const struct merging *m, const char *name, const char *ext,
				 bool (*put)(const struct prof_sheet *sheet, FILE *to),
				 const struct prof_ranks_opts *opts)
{
	char path[PATH_MAX];
	FILE *to = NULL;
	enum ws_status st;

	if (snprintf(path, sizeof(path), "%s/merged-%s.%s", opts->folder, name, ext) >= PATH_MAX)
		return ws_fail(m->err, WS_E_LIMIT, "the path is too long: %.80s...", path);
	st = ws_file_begin(path, &to, m->err);
	if (st)
		return st;
	if (!put(&m->sheet, to)) {
		ws_file_discard(path, to);
		return ws_fail(m->err, WS_E_NOMEM, "no memory to write '%s'", path);
	}
	st = ws_file_commit(path, to, m->err);
	if (!st && opts->written)
		opts->written(opts->ctx, path);
	return st;
}

enum ws_status prof_ranks_write(const char *name, const struct prof_rank_file *files,
				size_t n_files, const struct prof_ranks_opts *opts,
				struct ws_err *err)
{
	struct merging m = { .err = err };
	struct prof_tree_opts tree_opts = { .max_depth = UINT32_MAX,
					    .collapse_processes = opts->collapse };
	enum ws_status st = prof_tree_create(&tree_opts, &m.tree, err);

	ws_arena_init(&m.arena, 256u << 20);
	ws_vec_init(&m.open, DEPTH_MAX);
	for (size_t i = 0; i < n_files && !st; i++)
		st = add_file(&m, &files[i]);
	if (!st && m.tree->n_unplaced)
		st = ws_fail(err, WS_E_LIMIT, "%s: there are too many different call paths", name);
	m.sheet.name = name;
	m.sheet.trees[0] = m.tree;
	m.sheet.n_trees = 1;
	m.sheet.n_ranks = opts->collapse ? 1 : n_files;
	m.sheet.n_threads = m.most_threads;
	if (!st)
		st = write_form(&m, name, "json", prof_sheet_json, opts);
	if (!st)
		st = write_form(&m, name, "txt", prof_sheet_text, opts);
	ws_vec_fini(&m.open);
	ws_arena_fini(&m.arena);
	prof_tree_destroy(m.tree);
	return st;
}

/* ---- metadata ---- */

enum ws_status prof_job_read(const char *path, struct prof_job *out_job, struct ws_err *err)
{
	json_t *root = NULL;
	const json_t *info, *rank, *size;
	const char *hostname;
	struct ws_buf text;
	json_error_t error;
	enum ws_status st;

	memset(out_job, 0, sizeof(*out_job));
	ws_buf_init(&text, METADATA_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st) {
		root = json_loadb(text.at, text.n, 0, &error);
		if (!root)
			st = ws_fail(err, WS_E_FORMAT, "%s:%d: %s", path, error.line, error.text);
	}
	ws_buf_fini(&text);
	info = json_object_get(
		json_object_get(json_object_get(root, "rocprofiler-systems"), "metadata"), "info");
	hostname = json_string_value(json_object_get(info, "HOSTNAME"));
	rank = json_object_get(info, "RANK");
	size = json_object_get(info, "NUM_RANKS");
	snprintf(out_job->hostname, sizeof(out_job->hostname), "%s", hostname ? hostname : "");
	if (json_is_integer(rank) && json_integer_value(rank) >= 0) {
		out_job->known = true;
		out_job->rank = (uint64_t)json_integer_value(rank);
		out_job->size = (uint64_t)WS_MAX(json_integer_value(size), (json_int_t)0);
	}
	json_decref(root);
	return st;
}
