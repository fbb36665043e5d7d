/* Finding things in the tree of metrics, and the files it is made from. */
#include "analysis/metric.h"

#include "base/file.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 200u

void ana_metrics_free(struct ana_metrics *metrics)
{
	if (!metrics)
		return;
	ana_expr_pool_fini(&metrics->pool);
	ws_arena_fini(&metrics->arena);
	free(metrics);
}

const struct ana_expr *ana_metrics_variable(const struct ana_metrics *metrics, const char *name)
{
	for (size_t i = 0; i < metrics->n_vars; i++)
		if (strcmp(metrics->vars[i].name, name) == 0)
			return metrics->vars[i].expr;
	return NULL;
}

const struct ana_block *ana_block_find(const struct ana_metrics *metrics, unsigned block)
{
	for (size_t i = 0; i < metrics->n_blocks; i++)
		if (metrics->blocks[i]->id == block)
			return metrics->blocks[i];
	return NULL;
}

const struct ana_table *ana_table_find(const struct ana_metrics *metrics, unsigned block,
				       unsigned table)
{
	const struct ana_block *b = ana_block_find(metrics, block);

	for (size_t i = 0; b && i < b->n_tables; i++)
		if (b->tables[i]->index == table)
			return b->tables[i];
	return NULL;
}

const struct ana_metric *ana_metric_find(const struct ana_metrics *metrics, unsigned block,
					 unsigned table, unsigned index)
{
	const struct ana_table *t = ana_table_find(metrics, block, table);

	if (!t || (t->kind != ANA_TABLE_CHANNELS && index >= t->n_metrics) || !t->n_metrics)
		return NULL;
	return &t->metrics[t->kind == ANA_TABLE_CHANNELS ? 0 : index];
}

const struct ana_metric *ana_metric_named(const struct ana_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_metrics; i++)
		if (strcmp(table->metrics[i].name, name) == 0)
			return &table->metrics[i];
	return NULL;
}

int ana_header_index(const struct ana_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_headers; i++)
		if (strcmp(table->headers[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool small_number(struct ws_str text, int *out)
{
	uint64_t value;

	if (!text.n || text.n > 4 || !ws_str_u64(text, &value) || text.at[0] < '0' ||
	    text.at[0] > '9')
		return false;
	*out = (int)value;
	return true;
}

bool ana_metric_id_parse(const struct ana_metrics *metrics, const char *text,
			 struct ana_metric_id *out_id)
{
	struct ws_str rest = ws_str_trim(ws_str_from(text)), part;
	struct ana_metric_id id = { 0, -1, -1 };
	int block = -1;

	if (!ws_str_next(&rest, '.', &part))
		return false;
	if (!small_number(part, &block)) {
		for (size_t i = 0; metrics && i < metrics->n_blocks; i++)
			if (ws_str_is(part, metrics->blocks[i]->alias))
				block = (int)metrics->blocks[i]->id;
		if (ws_str_is(part, "roof")) /* its name before it was roofline */
			block = 4;
	}
	if (block < 0)
		return false;
	id.block = (unsigned)block;
	if (ws_str_next(&rest, '.', &part) && !small_number(part, &id.table))
		return false;
	if (ws_str_next(&rest, '.', &part) && !small_number(part, &id.index))
		return false;
	if (ws_str_next(&rest, '.', &part))
		return false;
	*out_id = id;
	return true;
}

static int is_definition(const struct dirent *entry)
{
	return ws_str_ends(ws_str_from(entry->d_name), ".metrics") ||
	       ws_str_ends(ws_str_from(entry->d_name), ".finding");
}

/* Put @dir's file in the place of the embedded one of its name, or behind them all. */
static enum ws_status overlay(const char *dir, const char *name, struct ws_arena *arena,
			      struct ana_metric_file *files, size_t *n, struct ws_err *err)
{
	char path[PATH_MAX];
	struct ws_buf text;
	enum ws_status st = ws_path_join(dir, name, path, err);
	size_t i;

	if (st)
		return st;
	ws_buf_init(&text, 16u << 20);
	st = ws_file_read(path, &text, err);
	for (i = 0; i < *n; i++)
		if (strcmp(files[i].name, name) == 0)
			break;
	if (!st && i == FILES_MAX)
		st = ws_fail(err, WS_E_LIMIT, "'%s' has too many files of definitions", dir);
	if (!st) {
		files[i].name = ws_arena_strdup(arena, path);
		files[i].text = ws_arena_strndup(arena, text.at, text.n);
		if (!files[i].name || !files[i].text)
			st = ws_fail(err, WS_E_NOMEM, "out of memory");
		if (i == *n)
			++*n;
	}
	ws_buf_fini(&text);
	return st;
}

enum ws_status ana_metrics_load(const char *arch, const char *config_dir,
				struct ana_metrics **out_metrics, struct ws_err *err)
{
	struct ana_metric_file files[FILES_MAX + 1] = { { NULL, NULL } };
	struct dirent **entries = NULL;
	enum ws_status st = WS_OK;
	struct ws_arena arena;
	size_t n = 0;
	int found;

	if (!config_dir)
		return ana_metrics_parse(arch, ana_metric_files, out_metrics, err);
	while (ana_metric_files[n].name && n < FILES_MAX) {
		files[n] = ana_metric_files[n];
		n++;
	}
	found = scandir(config_dir, &entries, is_definition, alphasort);
	if (found < 0)
		return ws_fail_errno(err, errno, "cannot read the directory '%s'", config_dir);
	if (!found) {
		free(entries);
		return ws_fail(err, WS_E_NOTFOUND,
			       "'%s' has no .metrics or .finding files: docs/metrics.md describes "
			       "them",
			       config_dir);
	}
	ws_arena_init(&arena, 64u << 20);
	for (int i = 0; i < found; i++) {
		if (!st)
			st = overlay(config_dir, entries[i]->d_name, &arena, files, &n, err);
		free(entries[i]);
	}
	free(entries);
	files[n].name = NULL;
	if (!st)
		st = ana_metrics_parse(arch, files, out_metrics, err);
	ws_arena_fini(&arena);
	return st;
}
