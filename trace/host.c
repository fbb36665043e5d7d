/* host: one reading of all events for what call stacks refer to. */
#include "trace/host.h"

#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define HOST_BYTES_MAX ((size_t)2 << 30)
#define HOST_ID_MAX (1u << 24) /* a larger one is damage */

/* Where the record with an id is: its index + 1 in a list; 0: there is none. */
struct id_index {
	uint32_t *at;
	uint32_t n; /* one more than the largest id */
};

struct trc_host {
	struct ws_arena arena;
	WS_VEC(struct trc_module) modules; /* by generation, then start */
	WS_VEC(struct trc_stack) stacks;   /* as recorded, as are the next */
	WS_VEC(struct trc_python_code) codes;
	struct id_index stack_of, code_of;
};

/* ---- reading ---- */

static enum ws_status no_memory(struct ws_err *err)
{
	return ws_fail(err, WS_E_NOMEM, "call stacks (at most %zu MB)", HOST_BYTES_MAX >> 20);
}

static enum ws_status take_module(struct trc_host *host, const struct cap_rec *rec,
				  struct ws_err *err)
{
	const struct cap_rec_module *from = (const struct cap_rec_module *)rec;
	struct cap_tail path = cap_rec_tail(rec);
	struct trc_module module = {
		.id = rec->what,
		.generation = from->generation,
		.start = from->start,
		.end = from->end,
		.bias = from->bias,
		.n_build_id = from->n_build_id,
	};
	uint8_t *build_id;

	if (from->start >= from->end || from->n_build_id > CAP_BUILD_ID_MAX)
		return WS_OK;
	module.path = ws_arena_strndup(&host->arena, path.at, path.n_bytes);
	module.build_id = build_id = ws_arena_alloc(&host->arena, CAP_BUILD_ID_MAX);
	if (!module.path || !build_id)
		return no_memory(err);
	memcpy(build_id, from->build_id, from->n_build_id);
	return ws_vec_push(&host->modules, module, err);
}

static enum ws_status take_stack(struct trc_host *host, const struct cap_rec *rec,
				 struct ws_err *err)
{
	const struct cap_rec_stack *from = (const struct cap_rec_stack *)rec;
	struct cap_tail tail = cap_rec_tail(rec);
	struct trc_stack stack = {
		.id = rec->what,
		.flags = from->flags,
		.generation = from->generation,
		.n_frames = from->n_frames,
		.n_native = from->n_native,
	};
	uint64_t *frames;

	if (!rec->what || rec->what >= HOST_ID_MAX || from->n_native > from->n_frames)
		return WS_OK;
	stack.frames = frames = ws_arena_alloc(&host->arena, tail.n_bytes);
	if (!frames)
		return no_memory(err);
	memcpy(frames, tail.at, tail.n_bytes);
	return ws_vec_push(&host->stacks, stack, err);
}

static enum ws_status take_code(struct trc_host *host, const struct cap_rec *rec,
				struct ws_err *err)
{
	const struct cap_rec_python_code *from = (const struct cap_rec_python_code *)rec;
	struct cap_tail tail = cap_rec_tail(rec);
	uint64_t n_names = (uint64_t)from->n_name + from->n_file;
	struct trc_python_code code = {
		.id = rec->what,
		.first_line = from->first_line,
		.version = from->version,
	};
	uint8_t *table;

	if (!rec->what || rec->what >= HOST_ID_MAX || n_names > tail.n_bytes)
		return WS_OK;
	code.n_line_table = (uint32_t)(tail.n_bytes - n_names);
	code.name = ws_arena_strndup(&host->arena, tail.at, from->n_name);
	code.file =
		ws_arena_strndup(&host->arena, (const char *)tail.at + from->n_name, from->n_file);
	code.line_table = table = ws_arena_alloc(&host->arena, code.n_line_table);
	if (!code.name || !code.file || !table)
		return no_memory(err);
	memcpy(table, (const char *)tail.at + n_names, code.n_line_table);
	return ws_vec_push(&host->codes, code, err);
}

static const struct {
	enum cap_rec_type type;
	enum ws_status (*take)(struct trc_host *host, const struct cap_rec *rec,
			       struct ws_err *err);
} takers[] = {
	{ CAP_REC_MODULE, take_module },
	{ CAP_REC_STACK, take_stack },
	{ CAP_REC_PYTHON_CODE, take_code },
};

static enum ws_status read_events(struct trc_host *host, const struct cap_reader *reader,
				  struct ws_err *err)
{
	struct cap_view view = { 0 };
	enum ws_status st = WS_OK;
	const struct cap_rec *rec;
	uint64_t types = 0;

	for (size_t k = 0; k < WS_ARRAY_LEN(takers); k++)
		types |= 1ull << (takers[k].type & 63);
	for (size_t i = 0; !st && i < cap_reader_n_chunks(reader); i++) {
		if (!trc_chunk_wanted(cap_reader_chunk(reader, i), types))
			continue;
		st = cap_reader_load(reader, i, &view, err);
		while (!st && (rec = cap_view_next(&view)))
			for (size_t k = 0; !st && k < WS_ARRAY_LEN(takers); k++)
				if (cap_rec_type(rec) == takers[k].type)
					st = takers[k].take(host, rec, err);
	}
	cap_view_fini(&view);
	return st;
}

/* ---- finding ---- */

/*
 * Of the @n rows at @rows, each of @row_bytes, of which the first member is the id. Of rows with
 * the same id the first one counts.
 */
static enum ws_status make_index(struct id_index *index, const void *rows, size_t n,
				 size_t row_bytes, struct ws_err *err)
{
	const char *row = rows;
	uint32_t id;

	for (size_t i = 0; i < n; i++) {
		memcpy(&id, row + i * row_bytes, sizeof(id));
		index->n = WS_MAX(index->n, id + 1);
	}
	index->at = calloc((size_t)index->n + 1, sizeof(*index->at));
	if (!index->at)
		return ws_fail(err, WS_E_NOMEM, "call stacks");
	for (size_t i = 0; i < n; i++) {
		memcpy(&id, row + i * row_bytes, sizeof(id));
		if (!index->at[id])
			index->at[id] = (uint32_t)i + 1;
	}
	return WS_OK;
}

static uint32_t index_get(const struct id_index *index, uint32_t id)
{
	return id < index->n ? index->at[id] : 0;
}

static int by_generation_and_start(const void *a, const void *b)
{
	const struct trc_module *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

enum ws_status trc_host_open(const struct trc_process *process, struct trc_host **out_host,
			     struct ws_err *err)
{
	struct trc_host *host = calloc(1, sizeof(*host));
	enum ws_status st;

	if (!host)
		return ws_fail(err, WS_E_NOMEM, "call stacks");
	ws_arena_init(&host->arena, HOST_BYTES_MAX);
	ws_vec_init(&host->modules, HOST_ID_MAX);
	ws_vec_init(&host->stacks, HOST_ID_MAX);
	ws_vec_init(&host->codes, HOST_ID_MAX);
	st = read_events(host, trc_capture_of(process)->reader, err);
	if (!st)
		st = make_index(&host->stack_of, host->stacks.at, host->stacks.n,
				sizeof(*host->stacks.at), err);
	if (!st)
		st = make_index(&host->code_of, host->codes.at, host->codes.n,
				sizeof(*host->codes.at), err);
	if (st) {
		trc_host_close(host);
		return ws_fail_in(err, st, "capture '%s'", process->path);
	}
	ws_vec_sort(&host->modules, by_generation_and_start);
	*out_host = host;
	return WS_OK;
}

void trc_host_close(struct trc_host *host)
{
	if (!host)
		return;
	ws_vec_fini(&host->modules);
	ws_vec_fini(&host->stacks);
	ws_vec_fini(&host->codes);
	free(host->stack_of.at);
	free(host->code_of.at);
	ws_arena_fini(&host->arena);
	free(host);
}

const struct trc_stack *trc_host_stack(const struct trc_host *host, uint32_t id)
{
	uint32_t at = index_get(&host->stack_of, id);

	return at ? &host->stacks.at[at - 1] : NULL;
}

const struct trc_python_code *trc_host_python(const struct trc_host *host, uint32_t id)
{
	uint32_t at = index_get(&host->code_of, id);

	return at ? &host->codes.at[at - 1] : NULL;
}

const struct trc_module *trc_host_module(const struct trc_host *host, uint32_t generation,
					 uint64_t address)
{
	size_t low = 0, high = host->modules.n;

	while (low < high) { /* the first module behind it */
		size_t mid = low + (high - low) / 2;
		const struct trc_module *module = &host->modules.at[mid];

		if (module->generation < generation ||
		    (module->generation == generation && module->start <= address))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || host->modules.at[low - 1].generation != generation ||
	    address >= host->modules.at[low - 1].end)
		return NULL;
	return &host->modules.at[low - 1];
}

/* Linear: a program has some hundred modules, and few generations of them. */
const struct trc_module *trc_host_module_latest(const struct trc_host *host, uint64_t address)
{
	for (size_t i = host->modules.n; i-- > 0;)
		if (host->modules.at[i].start <= address && address < host->modules.at[i].end)
			return &host->modules.at[i];
	return NULL;
}

uint32_t trc_host_n_stacks(const struct trc_host *host)
{
	return host->stack_of.n;
}
