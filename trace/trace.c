/* trace: captures opened together, and the small questions about their facts. */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define FACT_BYTES_DEFAULT ((size_t)256 << 20)
#define MAP_MAX (1u << 24)

static void close_capture(struct ws_capture *capture)
{
	if (!capture)
		return;
	ws_map_fini(&capture->agents);
	ws_map_fini(&capture->externals);
	ws_map_fini(&capture->launches);
	ws_map_fini(&capture->enums);
	ws_clock_map_fini(&capture->clock);
	ws_arena_fini(&capture->arena);
	ws_reader_close(capture->reader);
	free(capture);
}

/* The file only: its head is needed to place the clocks of all before anything is read. */
static enum ws_status open_capture(const char *path, const struct ws_trace_opts *opts,
				   struct ws_capture **out_capture, struct ws_err *err)
{
	struct ws_capture *capture = calloc(1, sizeof(*capture));
	enum ws_status st;

	if (!capture)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	ws_arena_init(&capture->arena, opts->max_bytes ? opts->max_bytes : FACT_BYTES_DEFAULT);
	ws_map_init(&capture->agents, WS_MAP_U64, MAP_MAX);
	ws_map_init(&capture->externals, WS_MAP_U64, MAP_MAX);
	ws_launches_init(&capture->launches);
	ws_map_init(&capture->enums, WS_MAP_U64, MAP_MAX);
	st = ws_reader_open(path, &capture->reader, err);
	if (st) {
		close_capture(capture);
		return st;
	}
	capture->pub.path = ws_reader_path(capture->reader);
	*out_capture = capture;
	return WS_OK;
}

/*
 * CLOCK_BOOTTIME counts from each machine's own start. Captures of several machines
 * meet on the clock of the one that began first, by way of CLOCK_REALTIME, and are
 * as well aligned as the machines' own clocks were.
 */
static void align_clocks(struct ws_trace *trace)
{
	const struct ws_file_head *first = NULL;

	for (size_t i = 0; i < trace->n; i++) {
		const struct ws_file_head *head = ws_reader_head(trace->captures[i]->reader);

		if (!first || head->created_realtime_ns < first->created_realtime_ns)
			first = head;
	}
	for (size_t i = 0; i < trace->n; i++) {
		const struct ws_file_head *head = ws_reader_head(trace->captures[i]->reader);

		if (memcmp(head->boot_id, first->boot_id, sizeof(head->boot_id)) != 0)
			trace->captures[i]->pub.clock_shift_ns =
				(int64_t)((head->created_realtime_ns - head->created_ns) -
					  (first->created_realtime_ns - first->created_ns));
	}
}

static int by_start(const void *a, const void *b)
{
	const struct ws_process *x = &(*(struct ws_capture *const *)a)->pub;
	const struct ws_process *y = &(*(struct ws_capture *const *)b)->pub;

	if (x->init_ns != y->init_ns)
		return x->init_ns < y->init_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

enum ws_status ws_trace_open(const char *const *paths, size_t n_paths,
			     const struct ws_trace_opts *opts, struct ws_trace **out_trace,
			     struct ws_err *err)
{
	static const struct ws_trace_opts plain;
	struct ws_trace *trace = calloc(1, sizeof(*trace));
	enum ws_status st = WS_OK;

	if (trace)
		trace->captures = calloc(n_paths + 1, sizeof(struct ws_capture *));
	if (!trace || !trace->captures) {
		ws_trace_close(trace);
		return ws_fail(err, WS_E_NOMEM, "trace of %zu captures", n_paths);
	}
	trace->opts = opts ? *opts : plain;
	for (size_t i = 0; !st && i < n_paths; i++) {
		st = open_capture(paths[i], &trace->opts, &trace->captures[trace->n], err);
		trace->n += !st;
	}
	align_clocks(trace);
	for (size_t i = 0; !st && i < trace->n; i++) {
		st = ws_capture_read_facts(trace->captures[i], &trace->opts, err);
		if (!st)
			st = ws_capture_survey(trace->captures[i], err);
	}
	if (st) {
		ws_trace_close(trace);
		return st;
	}
	qsort(trace->captures, trace->n, sizeof(struct ws_capture *), by_start);
	for (size_t i = 0; i < trace->n; i++)
		trace->captures[i]->pub.index = (uint32_t)i;
	*out_trace = trace;
	return WS_OK;
}

void ws_trace_close(struct ws_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; trace->captures && i < trace->n; i++)
		close_capture(trace->captures[i]);
	free(trace->captures);
	free(trace);
}

size_t ws_trace_n_processes(const struct ws_trace *trace)
{
	return trace->n;
}

const struct ws_process *ws_trace_process(const struct ws_trace *trace, size_t i)
{
	return &trace->captures[i]->pub;
}

const char *ws_process_string(const struct ws_process *process, uint32_t id)
{
	const struct ws_capture *c = ws_capture_of(process);

	return id < c->n_strings ? c->strings[id] : "";
}

uint32_t ws_trace_add_string(struct ws_trace *trace, size_t process, const char *text)
{
	struct ws_capture *c = trace->captures[process];
	const char **more = ws_arena_array(&c->arena, c->n_strings + 1, sizeof(*more));
	char *kept = ws_arena_strdup(&c->arena, text);

	/* A handful are ever added: the list is copied each time. */
	if (!more || !kept)
		return 0;
	memcpy(more, c->strings, c->n_strings * sizeof(*more));
	more[c->n_strings] = kept;
	c->strings = more;
	return (uint32_t)c->n_strings++;
}

void ws_trace_recount(struct ws_trace *trace, size_t process, const struct ws_recount *recount)
{
	struct ws_capture *c = trace->captures[process];

	c->recount = recount;
	c->pub.counters.at = (struct ws_counter *)recount->counters;
	c->pub.counters.n = recount->n_counters;
}

void ws_trace_borrow_agents(struct ws_trace *trace, size_t process, const struct ws_process *from)
{
	struct ws_process *to = &trace->captures[process]->pub;

	to->agents.at = from->agents.at;
	to->agents.n = from->agents.n;
}

const struct ws_thread *ws_process_thread(const struct ws_process *process, uint32_t tid)
{
	size_t low = 0, high = process->threads.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (process->threads.at[mid].tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < process->threads.n && process->threads.at[low].tid == tid)
		return &process->threads.at[low];
	return process->main_thread;
}

const struct ws_agent *ws_process_agent(const struct ws_process *process, uint32_t id)
{
	return ws_map_get_u64(&ws_capture_of(process)->agents, id);
}

const char *ws_process_external(const struct ws_process *process, uint64_t external_id)
{
	return external_id ? ws_map_get_u64(&ws_capture_of(process)->externals, external_id) : NULL;
}

size_t ws_process_n_externals(const struct ws_process *process)
{
	return ws_capture_of(process)->externals.n;
}

const char *ws_process_external_at(const struct ws_process *process, size_t i, uint64_t *out_id)
{
	/* Nothing is ever removed, so the entries have no holes. */
	const struct ws_map_entry *entry = &ws_capture_of(process)->externals.entries[i];

	*out_id = entry->num;
	return entry->value;
}

const char *ws_process_enum_name(const struct ws_process *process, uint32_t type_str, int64_t value)
{
	return ws_map_get_u64(&ws_capture_of(process)->enums,
			      (uint64_t)type_str << 32 ^ (uint64_t)value);
}

static const char *env_of(const struct ws_process *process, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < process->n_env; i++)
		if (strncmp(process->env[i], name, n) == 0 && process->env[i][n] == '=')
			return process->env[i] + n + 1;
	return NULL;
}

/* The program's own environment tells, as it tells the software GPU. */
enum ws_gpu_times ws_process_gpu_times(const struct ws_process *process)
{
	const char *now = env_of(process, "WAVESCOPE_GPU_TIME");
	const char *once = env_of(process, "WAVESCOPE_TIMES");

	if (!(process->flags & WS_PROCESS_SOFTGPU))
		return WS_GPU_TIMES_HARDWARE;
	if (now ? strcmp(now, "simulated") == 0 : once && strcmp(once, "modelled") == 0)
		return WS_GPU_TIMES_SIMULATED;
	return process->ledger[WS_DOMAIN_COUNTER_COLLECTION].asked ||
			       process->ledger[WS_DOMAIN_PC_SAMPLING_HOST_TRAP].asked ||
			       process->ledger[WS_DOMAIN_PC_SAMPLING_STOCHASTIC].asked
		       ? WS_GPU_TIMES_COUNTED
		       : WS_GPU_TIMES_HOST;
}

const char *ws_gpu_times_word(enum ws_gpu_times times)
{
	static const char *const words[] = {
		[WS_GPU_TIMES_HARDWARE] = "hardware",
		[WS_GPU_TIMES_HOST] = "host",
		[WS_GPU_TIMES_COUNTED] = "simulated where counted or sampled, else host",
		[WS_GPU_TIMES_SIMULATED] = "simulated",
	};

	return words[times];
}

void *ws_process_code_bytes(const struct ws_process *process, uint32_t code_object,
			    uint64_t *out_bytes)
{
	const struct ws_reader *reader = ws_capture_of(process)->reader;
	struct ws_view view = { 0 };
	uint64_t total = 0, have = 0;
	char *image = NULL;

	if (code_object < process->code_objects.n)
		code_object = process->code_objects.at[code_object].image;
	for (size_t i = 0; i < ws_reader_n_chunks(reader); i++) {
		const struct ws_rec *rec;

		if (ws_reader_chunk(reader, i)->kind != WS_CHUNK_BULK ||
		    ws_reader_load(reader, i, &view, NULL))
			continue;
		while ((rec = ws_view_next(&view))) {
			const struct ws_rec_code_bytes *part =
				(const struct ws_rec_code_bytes *)rec;

			if (ws_rec_type(rec) != WS_REC_CODE_BYTES || rec->what != code_object)
				continue;
			if (!image) {
				total = part->total_bytes;
				/* no image is larger than the file that holds it */
				if (total > ws_reader_head(reader)->end_bytes)
					continue;
				image = malloc(total ? total : 1);
				if (!image)
					break;
			}
			if (part->at_bytes > total || part->n_bytes > total - part->at_bytes)
				continue;
			memcpy(image + part->at_bytes, ws_rec_tail(rec).at, part->n_bytes);
			have += part->n_bytes;
		}
	}
	ws_view_fini(&view);
	if (have < total) { /* pieces are missing: half an ELF file helps nobody */
		free(image);
		return NULL;
	}
	*out_bytes = total;
	return image;
}
