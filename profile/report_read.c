/* The rows of a JSON report. */
#include "base/file.h"
#include "profile/report_priv.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1u << 30)
#define ROWS_MAX (4u << 20)
#define DEPTH_MAX 65536u
#define PRECISION_MAX 17

static double real_of(const json_t *map, const char *key)
{
	return json_number_value(json_object_get(map, key));
}

static uint64_t count_of(const json_t *map, const char *key)
{
	double n = real_of(map, key);

	return n > 0 && n < 1e18 ? (uint64_t)n : 0;
}

static enum prof_kind kind_of(const json_t *row)
{
	const char *word = json_string_value(json_object_get(row, "kind"));

	for (unsigned kind = 0; word && kind < PROF_KIND_COUNT; kind++)
		if (strcmp(word, prof_kind_word(kind)) == 0)
			return kind;
	return PROF_KIND_C;
}

/* WS_OK without a row: it is none that can be shown. */
static enum ws_status add_row(struct prof_read *read, const json_t *from, struct ws_err *err)
{
	const char *label = json_string_value(json_object_get(from, "prefix"));
	const char *name = label ? strstr(label, ">>> ") : NULL;
	const json_t *stats = json_object_get(from, "stats");
	const json_t *entry = json_object_get(from, "entry");
	double depth = real_of(from, "depth");
	struct prof_read_row row = {
		.stat = { .n = count_of(entry, "laps"),
			  .sum = real_of(entry, "value"),
			  .sqr = real_of(stats, "sqr") * read->unit * read->unit,
			  .min = real_of(stats, "min") * read->unit,
			  .max = real_of(stats, "max") * read->unit },
		.kind = kind_of(from),
		.n_periods = count_of(from, "periods"),
		.n_inside = count_of(from, "inside"),
	};

	if (!name || !(depth >= 0 && depth < DEPTH_MAX))
		return WS_OK;
	row.depth = (uint32_t)depth;
	row.label = ws_arena_strdup(&read->arena, label);
	if (!row.label)
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of a report");
	row.n_thread = (size_t)(name + 4 - label);
	row.name = row.label + row.n_thread;
	if (row.depth) {
		row.name += strspn(row.name, " ");
		row.name += strncmp(row.name, "|_", 2) ? 0 : 2;
	}
	return ws_vec_push(&read->rows, row, err);
}

static const char *text_of(struct prof_read *read, const json_t *map, const char *key)
{
	const char *text = json_string_value(json_object_get(map, key));

	return text ? ws_arena_strdup(&read->arena, text) : "";
}

static enum ws_status fill(struct prof_read *read, const char *metric, const json_t *from,
			   struct ws_err *err)
{
	const json_t *ranks = json_object_get(from, "ranks");
	const json_t *precision = json_object_get(from, "precision");
	enum ws_status st = WS_OK;

	ws_arena_init(&read->arena, FILE_BYTES_MAX);
	ws_vec_init(&read->rows, ROWS_MAX);
	read->metric = ws_arena_strdup(&read->arena, metric);
	read->description = text_of(read, from, "description");
	read->unit_text = text_of(read, from, "unit_repr");
	read->note = json_object_get(from, "note") ? text_of(read, from, "note") : NULL;
	read->unit = real_of(from, "unit_value");
	read->unit = read->unit > 0 ? read->unit : 1;
	read->precision = 6;
	if (json_is_number(precision) && json_number_value(precision) >= 0)
		read->precision = (int)WS_MIN(json_number_value(precision), PRECISION_MAX);
	if (!read->metric || !read->description || !read->unit_text)
		return ws_fail(err, WS_E_NOMEM, "no memory for the rows of a report");
	for (size_t i = 0; i < json_array_size(ranks); i++) {
		const json_t *graph = json_object_get(json_array_get(ranks, i), "graph");

		for (size_t k = 0; !st && k < json_array_size(graph); k++)
			st = add_row(read, json_array_get(graph, k), err);
	}
	return st;
}

enum ws_status prof_read_parse(const char *name, struct ws_str text, const char *metric,
			       struct prof_read **out_read, struct ws_err *err)
{
	struct prof_read *read = calloc(1, sizeof(*read));
	json_error_t error;
	/* Hashes are larger than Jansson's integers. */
	json_t *root = json_loadb(text.at, text.n, JSON_DECODE_INT_AS_REAL, &error);
	json_t *reports = json_object_get(root, "timemory"), *found;
	enum ws_status st, missing = metric ? WS_E_FORMAT : WS_E_NOTFOUND;

	if (!metric)
		metric = json_object_iter_key(json_object_iter(reports));
	found = metric ? json_object_get(reports, metric) : NULL;
	if (!read)
		st = ws_fail(err, WS_E_NOMEM, "no memory for the rows of a report");
	else if (!root)
		st = ws_fail(err, WS_E_FORMAT, "%s:%d: %s", name, error.line, error.text);
	else if (!found)
		st = ws_fail(err, missing, "%s: has no report of '%s'", name,
			     metric ? metric : "a metric");
	else
		st = fill(read, metric, found, err);
	json_decref(root);
	if (st)
		prof_read_destroy(read);
	else
		*out_read = read;
	return st;
}

enum ws_status prof_read_file(const char *path, const char *metric, struct prof_read **out_read,
			      struct ws_err *err)
{
	struct ws_buf text;
	enum ws_status st;

	ws_buf_init(&text, FILE_BYTES_MAX);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = prof_read_parse(path, ws_buf_view(&text), metric, out_read, err);
	ws_buf_fini(&text);
	return st;
}

void prof_read_destroy(struct prof_read *read)
{
	if (!read)
		return;
	ws_vec_fini(&read->rows);
	ws_arena_fini(&read->arena);
	free(read);
}
