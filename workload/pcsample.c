#include "workload/pcsample.h"

#include "base/path.h"
#include "workload/csv.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define STALL_PREFIX "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
#define N_STALLS 16

static const struct {
	const char *file, *records;
	bool stochastic;
} methods[] = {
	{ "ps_file_pc_sampling_stochastic.csv", "pc_sample_stochastic", true },
	{ "ps_file_pc_sampling_host_trap.csv", "pc_sample_host_trap", false },
};

static const char *last_part(struct ws_arena *arena, const char *comment)
{
	const char *slash = strrchr(comment, '/');

	return ws_arena_printf(arena, ".../%s", slash ? slash + 1 : comment);
}

static int by_count_then_label(const void *a, const void *b)
{
	const struct wl_pcsample_row *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->label < y->label ? -1 : x->label > y->label;
}

static int by_offset(const void *a, const void *b)
{
	const struct wl_pcsample_row *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int by_line(const void *a, const void *b)
{
	const struct wl_pcsample_row *x = a, *y = b;

	return strcmp(x->source_line, y->source_line);
}

static enum ws_status sum_lines(const struct wl_csv *csv, const struct wl_dict *dict,
				struct ws_arena *arena, struct wl_pcsamples *out,
				struct ws_err *err)
{
	const struct wl_csv_column *text = wl_csv_column(csv, "Instruction");
	const struct wl_csv_column *line = wl_csv_column(csv, "Instruction_Comment");
	size_t *row_of = calloc(dict->n + 1, sizeof(*row_of));
	enum ws_status st = WS_OK;

	out->rows = ws_arena_array(arena, dict->n + 1, sizeof(*out->rows));
	if (!row_of || !out->rows)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	else if (!text || !line)
		st = ws_fail(err, WS_E_FORMAT, "no column Instruction or Instruction_Comment");
	for (size_t i = 0; !st && i < csv->n_rows; i++) {
		size_t key = (size_t)line->at[i];

		if (!dict->texts[key][0])
			continue; /* code without line information */
		if (!row_of[key]) {
			row_of[key] = ++out->n;
			out->rows[out->n - 1].source_line = dict->texts[key];
			out->rows[out->n - 1].instruction = dict->texts[(size_t)text->at[i]];
		}
		out->rows[row_of[key] - 1].n++;
	}
	free(row_of);
	if (st)
		return st;
	qsort(out->rows, out->n, sizeof(*out->rows), by_line);
	for (size_t i = 0; i < out->n; i++) {
		out->rows[i].label = i;
		out->rows[i].source_line = last_part(arena, out->rows[i].source_line);
		if (!out->rows[i].source_line)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	qsort(out->rows, out->n, sizeof(*out->rows), by_count_then_label);
	return WS_OK;
}

static int find_method(const char *dir, char path[PATH_MAX])
{
	for (size_t m = 0; m < WS_ARRAY_LEN(methods); m++)
		if (!ws_path_join(dir, methods[m].file, path, NULL) && ws_path_exists(path))
			return (int)m;
	return -1;
}

bool wl_pcsamples_exist(const char *dir)
{
	char path[PATH_MAX];

	return find_method(dir, path) >= 0;
}

enum ws_status wl_pcsamples_all(const char *dir, struct ws_arena *arena, struct wl_pcsamples *out,
				struct ws_err *err)
{
	static const char *const texts[] = { "Instruction", "Instruction_Comment", NULL };
	char path[PATH_MAX];
	struct wl_dict dict;
	struct wl_csv_how how = { texts, &dict };
	struct wl_csv csv;
	enum ws_status st;
	int method = find_method(dir, path);

	if (method < 0)
		return ws_fail(err, WS_E_NOTFOUND, "'%s' contains no PC samples", dir);
	*out = (struct wl_pcsamples){ .stochastic = methods[method].stochastic };
	wl_dict_init(&dict, arena);
	st = wl_csv_read(path, &how, arena, &csv, err);
	if (!st) {
		st = sum_lines(&csv, &dict, arena, out, err);
		wl_csv_fini(&csv);
		if (st)
			st = ws_fail_in(err, st, "%s", path);
	}
	wl_dict_fini(&dict);
	return st;
}

/* By kernel: the JSON has the offsets. Keys are looked for at any depth. */

static json_t *find_key(json_t *in, const char *key)
{
	json_t *found = json_object_get(in, key), *value;
	const char *name;
	size_t i;

	if (found)
		return found;
	if (json_is_object(in))
		json_object_foreach(in, name,
				    value) if ((found = find_key(value, key))) return found;
	/* Long lists are samples, all alike: the key is in the first or in none. */
	if (json_is_array(in))
		json_array_foreach(in, i,
				   value) if (i < 8 && (found = find_key(value, key))) return found;
	return NULL;
}

static uint64_t number_of(json_t *in, const char *key)
{
	return (uint64_t)json_number_value(find_key(in, key));
}

struct code {
	uint64_t object, from, to;
};

/*
 * Where the code of a kernel begins within its code object, as samples count it. The entry of the
 * kernel descriptor is relative to the descriptor, and stands in only where addresses are missing.
 */
static uint64_t entry_of(json_t *root, json_t *symbol)
{
	json_t *objects = find_key(root, "code_objects"), *object;
	uint64_t address = number_of(json_object_get(symbol, "kernel_address"), "handle");
	uint64_t id = number_of(symbol, "code_object_id");
	size_t i;

	json_array_foreach(objects, i, object)
	{
		uint64_t base = number_of(object, "load_delta");

		if (number_of(object, "code_object_id") == id && base && address >= base)
			return address - base;
	}
	return number_of(symbol, "kernel_code_entry_byte_offset");
}

static bool find_code(json_t *root, const char *kernel, struct code *out)
{
	static const char *const names[] = { "formatted_kernel_name", "demangled_kernel_name",
					     "truncated_kernel_name" };
	json_t *symbols = find_key(root, "kernel_symbols"), *symbol;
	bool found = false;
	size_t i;

	json_array_foreach(symbols, i, symbol) for (size_t n = 0; !found && n < WS_ARRAY_LEN(names);
						    n++)
	{
		const char *name = json_string_value(json_object_get(symbol, names[n]));

		if (!name || strcmp(name, kernel) != 0)
			continue;
		out->object = number_of(symbol, "code_object_id");
		out->from = entry_of(root, symbol);
		out->to = UINT64_MAX;
		found = true;
	}
	json_array_foreach(symbols, i, symbol)
	{
		uint64_t at = entry_of(root, symbol);

		if (found && number_of(symbol, "code_object_id") == out->object && at > out->from &&
		    at < out->to)
			out->to = at;
	}
	return found;
}

struct stall {
	char name[32];
	uint64_t n;
};

struct place {
	struct wl_pcsample_row row;
	struct stall stalls[N_STALLS];
};

static const char *stall_text(struct ws_arena *arena, struct stall *stalls)
{
	struct ws_buf text;
	const char *kept;

	ws_buf_init(&text, 4096);
	ws_buf_add(&text, "[");
	for (;;) {
		struct stall *most = NULL;

		for (size_t i = 0; i < N_STALLS; i++)
			if (stalls[i].n && (!most || stalls[i].n > most->n))
				most = &stalls[i];
		if (!most)
			break;
		ws_buf_printf(&text, "%s('%s', %llu)", text.n > 1 ? ", " : "", most->name,
			      (unsigned long long)most->n);
		most->n = 0;
	}
	ws_buf_add(&text, "]");
	kept = ws_arena_strdup(arena, text.at);
	ws_buf_fini(&text);
	return kept;
}

static void count_sample(struct place *place, json_t *record)
{
	json_t *issued = find_key(record, "wave_issued");
	const char *reason = json_string_value(find_key(record, "stall_reason"));
	bool was_issued = json_is_true(issued) || json_number_value(issued) > 0;

	place->row.n++;
	place->row.n_issued += was_issued;
	place->row.n_stalled += !was_issued;
	if (was_issued || !reason)
		return;
	if (strncmp(reason, STALL_PREFIX, sizeof(STALL_PREFIX) - 1) == 0)
		reason += sizeof(STALL_PREFIX) - 1;
	for (size_t i = 0; i < N_STALLS; i++) {
		struct stall *stall = &place->stalls[i];

		if (stall->n && strncmp(stall->name, reason, sizeof(stall->name) - 1) != 0)
			continue;
		snprintf(stall->name, sizeof(stall->name), "%s", reason);
		stall->n++;
		return;
	}
}

static enum ws_status sum_kernel(json_t *root, json_t *records, const struct code *code,
				 struct ws_arena *arena, struct wl_pcsamples *out,
				 struct ws_err *err)
{
	json_t *texts = find_key(root, "pc_sample_instructions");
	json_t *lines = find_key(root, "pc_sample_comments"), *record;
	struct ws_map places;
	enum ws_status st = WS_OK;
	size_t i;

	ws_map_init(&places, WS_MAP_U64, 1u << 24);
	json_array_foreach(records, i, record)
	{
		uint64_t at = number_of(record, "code_object_offset");
		json_t *index = json_object_get(record, "inst_index");
		struct place *place;

		if (!index || number_of(record, "code_object_id") != code->object ||
		    at < code->from || at >= code->to)
			continue;
		place = ws_map_get_u64(&places, at);
		if (!place) {
			size_t inst = (size_t)json_number_value(index);
			const char *text = json_string_value(json_array_get(texts, inst));
			const char *line = json_string_value(json_array_get(lines, inst));

			place = ws_arena_new(arena, struct place);
			if (!place)
				st = ws_fail(err, WS_E_NOMEM, "out of memory");
			if (!st)
				st = ws_map_put_u64(&places, at, place, err);
			if (st)
				break;
			place->row.label = places.n - 1;
			place->row.offset = at;
			place->row.instruction = ws_arena_strdup(arena, text ? text : "");
			place->row.source_line = line && line[0] ? last_part(arena, line) : "";
		}
		count_sample(place, record);
	}
	out->rows = ws_arena_array(arena, places.n + 1, sizeof(*out->rows));
	if (!st && !out->rows)
		st = ws_fail(err, WS_E_NOMEM, "out of memory");
	if (!st)
		ws_map_each(entry, &places) {
			struct place *place = entry->value;

			place->row.stalls = stall_text(arena, place->stalls);
			out->rows[out->n++] = place->row;
		}
	ws_map_fini(&places);
	return st;
}

struct wl_pcsample_file {
	char path[PATH_MAX];
	json_t *root, *records; /* NULL: no records */
	bool stochastic;
};

enum ws_status wl_pcsamples_open(const char *dir, struct wl_pcsample_file **out_file,
				 struct ws_err *err)
{
	struct wl_pcsample_file *file = calloc(1, sizeof(*file));
	json_error_t wrong;
	enum ws_status st;

	if (!file)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	st = ws_path_join(dir, "ps_file_results.json", file->path, err);
	/* exec_mask has all 64 bits set as a rule, which is more than jansson's integers hold. */
	if (!st)
		file->root = json_load_file(file->path, JSON_DECODE_INT_AS_REAL, &wrong);
	if (!st && !file->root)
		st = ws_fail(err, WS_E_FORMAT, "%s:%d: %s", file->path, wrong.line, wrong.text);
	if (st) {
		wl_pcsamples_close(file);
		return st;
	}
	for (size_t m = 0; m < WS_ARRAY_LEN(methods) && !json_array_size(file->records); m++) {
		file->records = find_key(file->root, methods[m].records);
		file->stochastic = methods[m].stochastic;
	}
	*out_file = file;
	return WS_OK;
}

void wl_pcsamples_close(struct wl_pcsample_file *file)
{
	if (file)
		json_decref(file->root);
	free(file);
}

enum ws_status wl_pcsamples_kernel(const struct wl_pcsample_file *file, const char *kernel,
				   bool by_count, struct ws_arena *arena, struct wl_pcsamples *out,
				   struct ws_err *err)
{
	struct code code;
	enum ws_status st;

	*out = (struct wl_pcsamples){ .by_kernel = true, .stochastic = file->stochastic };
	if (!find_code(file->root, kernel, &code))
		return ws_fail(err, WS_E_NOTFOUND, "'%s' has no samples of kernel '%s'", file->path,
			       kernel);
	st = sum_kernel(file->root, file->records, &code, arena, out, err);
	if (!st && out->n)
		qsort(out->rows, out->n, sizeof(*out->rows),
		      by_count ? by_count_then_label : by_offset);
	return st;
}
