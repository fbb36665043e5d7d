/* trace: captures opened together, and the small questions about their facts. */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

#define FACT_BYTES_DEFAULT ((size_t)256 << 20)
#define MAP_MAX (1u << 24)

static void close_capture(struct trc_capture *capture)
{
	if (!capture)
		return;
	ws_map_fini(&capture->agents);
	ws_map_fini(&capture->externals);
	ws_map_fini(&capture->launches);
	ws_map_fini(&capture->enums);
	trc_clock_map_fini(&capture->clock);
	ws_arena_fini(&capture->arena);
	cap_reader_close(capture->reader);
	free(capture);
}

/* The file only: its head is needed to place the clocks of all before anything is read. */
static enum ws_status open_capture(const char *path, const struct trc_opts *opts,
				   struct trc_capture **out_capture, struct ws_err *err)
{
	struct trc_capture *capture = calloc(1, sizeof(*capture));
	enum ws_status st;

	if (!capture)
		return ws_fail(err, WS_E_NOMEM, "capture '%s'", path);
	ws_arena_init(&capture->arena, opts->max_bytes ? opts->max_bytes : FACT_BYTES_DEFAULT);
	ws_map_init(&capture->agents, WS_MAP_U64, MAP_MAX);
	ws_map_init(&capture->externals, WS_MAP_U64, MAP_MAX);
	trc_launches_init(&capture->launches);
	ws_map_init(&capture->enums, WS_MAP_U64, MAP_MAX);
	st = cap_reader_open(path, &capture->reader, err);
	if (st) {
		close_capture(capture);
		return st;
	}
	if (opts->since)
		trc_mark_apply(opts->since, capture->reader);
	capture->pub.path = cap_reader_path(capture->reader);
	*out_capture = capture;
	return WS_OK;
}

/*
 * CLOCK_BOOTTIME counts from each machine's own start. Captures of several machines
 * meet on the clock of the one that began first, by way of CLOCK_REALTIME, and are
 * as well aligned as the machines' own clocks were.
 */
static bool same_machine(const struct cap_file_head *a, const struct cap_file_head *b)
{
	return memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id)) == 0;
}

static void align_clocks(struct trc_trace *trace)
{
	const struct cap_file_head *first = NULL;

	for (size_t i = 0; i < trace->n; i++) {
		const struct cap_file_head *head = cap_reader_head(trace->captures[i]->reader);

		if (!first || head->created_realtime_ns < first->created_realtime_ns)
			first = head;
	}
	for (size_t i = 0; i < trace->n; i++) {
		const struct cap_file_head *head = cap_reader_head(trace->captures[i]->reader);

		/* Processes of one machine share a clock: two readings of it would part them. */
		for (size_t k = 0; k < i; k++) {
			const struct cap_file_head *other =
				cap_reader_head(trace->captures[k]->reader);

			if (same_machine(head, other)) {
				head = other;
				break;
			}
		}
		if (!same_machine(head, first))
			trace->captures[i]->pub.clock.shift_ns =
				(int64_t)((head->created_realtime_ns - head->created_ns) -
					  (first->created_realtime_ns - first->created_ns));
	}
}

static int by_start(const void *a, const void *b)
{
	const struct trc_process *x = &(*(struct trc_capture *const *)a)->pub;
	const struct trc_process *y = &(*(struct trc_capture *const *)b)->pub;

	if (x->init_ns != y->init_ns)
		return x->init_ns < y->init_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

enum ws_status trc_open(const char *const *paths, size_t n_paths, const struct trc_opts *opts,
			struct trc_trace **out_trace, struct ws_err *err)
{
	static const struct trc_opts plain;
	struct trc_trace *trace = calloc(1, sizeof(*trace));
	enum ws_status st = WS_OK;

	if (trace)
		trace->captures = calloc(n_paths + 1, sizeof(struct trc_capture *));
	if (!trace || !trace->captures) {
		trc_close(trace);
		return ws_fail(err, WS_E_NOMEM, "trace of %zu captures", n_paths);
	}
	trace->opts = opts ? *opts : plain;
	for (size_t i = 0; !st && i < n_paths; i++) {
		st = open_capture(paths[i], &trace->opts, &trace->captures[trace->n], err);
		trace->n += !st;
	}
	align_clocks(trace);
	for (size_t i = 0; !st && i < trace->n; i++) {
		st = trc_capture_read_facts(trace->captures[i], &trace->opts, err);
		if (!st)
			st = trc_capture_survey(trace->captures[i], err);
	}
	if (st) {
		trc_close(trace);
		return st;
	}
	qsort(trace->captures, trace->n, sizeof(struct trc_capture *), by_start);
	for (size_t i = 0; i < trace->n; i++)
		trace->captures[i]->pub.index = (uint32_t)i;
	*out_trace = trace;
	return WS_OK;
}

/* Facts hold times of the trace: back to the machine's own, and forth again. */
static void move_fact(const struct trc_capture *capture, const struct trc_clock_line *old,
		      uint64_t *ns)
{
	uint64_t own = *ns - (uint64_t)old->shift_ns;

	own -= (uint64_t)(int64_t)(old->drift / (1 + old->drift) *
				   (double)(int64_t)(own - old->at_ns));
	if (*ns)
		*ns = trc_capture_shift(capture, own);
}

void trc_set_clock(struct trc_trace *trace, size_t process, const struct trc_clock_line *clock)
{
	struct trc_capture *c = trace->captures[process];
	struct trc_process *p = &c->pub;
	const struct trc_clock_line before = p->clock, *old = &before;

	p->clock = *clock;
	move_fact(c, old, &p->init_ns);
	move_fact(c, old, &p->fini_ns);
	for (size_t i = 0; i < p->threads.n; i++) {
		move_fact(c, old, &p->threads.at[i].start_ns);
		move_fact(c, old, &p->threads.at[i].end_ns);
	}
	for (size_t i = 0; i < p->code_objects.n; i++) {
		move_fact(c, old, &p->code_objects.at[i].load_ns);
		move_fact(c, old, &p->code_objects.at[i].unload_ns);
	}
	for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++) {
		move_fact(c, old, &p->ledger[i].first_ns);
		move_fact(c, old, &p->ledger[i].last_ns);
	}
}

void trc_close(struct trc_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; trace->captures && i < trace->n; i++)
		close_capture(trace->captures[i]);
	free(trace->captures);
	free(trace);
}

size_t trc_n_processes(const struct trc_trace *trace)
{
	return trace->n;
}

const struct trc_process *trc_process_at(const struct trc_trace *trace, size_t i)
{
	return &trace->captures[i]->pub;
}

const char *trc_process_string(const struct trc_process *process, uint32_t id)
{
	const struct trc_capture *c = trc_capture_of(process);

	return id < c->n_strings ? c->strings[id] : "";
}

uint32_t trc_add_string(struct trc_trace *trace, size_t process, const char *text)
{
	struct trc_capture *c = trace->captures[process];
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

void trc_set_recount(struct trc_trace *trace, size_t process, const struct trc_recount *recount)
{
	struct trc_capture *c = trace->captures[process];

	c->recount = recount;
	c->pub.counters.at = (struct trc_counter *)recount->counters;
	c->pub.counters.n = recount->n_counters;
}

void trc_set_remetric(struct trc_trace *trace, size_t process, const struct trc_remetric *remetric)
{
	struct trc_capture *c = trace->captures[process];

	c->remetric = remetric;
	c->pub.metrics.at = (struct trc_metric *)remetric->metrics;
	c->pub.metrics.n = remetric->n_metrics;
}

void trc_borrow_agents(struct trc_trace *trace, size_t process, const struct trc_process *from)
{
	struct trc_process *to = &trace->captures[process]->pub;

	to->agents.at = from->agents.at;
	to->agents.n = from->agents.n;
}

const struct trc_thread *trc_process_thread(const struct trc_process *process, uint32_t tid)
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

const struct trc_agent *trc_process_agent(const struct trc_process *process, uint32_t id)
{
	return ws_map_get_u64(&trc_capture_of(process)->agents, id);
}

const char *trc_process_external(const struct trc_process *process, uint64_t external_id)
{
	return external_id ? ws_map_get_u64(&trc_capture_of(process)->externals, external_id)
			   : NULL;
}

size_t trc_process_n_externals(const struct trc_process *process)
{
	return trc_capture_of(process)->externals.n;
}

const char *trc_process_external_at(const struct trc_process *process, size_t i, uint64_t *out_id)
{
	/* Nothing is ever removed, so the entries have no holes. */
	const struct ws_map_entry *entry = &trc_capture_of(process)->externals.entries[i];

	*out_id = entry->num;
	return entry->value;
}

const char *trc_process_enum_name(const struct trc_process *process, uint32_t type_str,
				  int64_t value)
{
	return ws_map_get_u64(&trc_capture_of(process)->enums,
			      (uint64_t)type_str << 32 ^ (uint64_t)value);
}

static const char *env_of(const struct trc_process *process, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < process->n_env; i++)
		if (strncmp(process->env[i], name, n) == 0 && process->env[i][n] == '=')
			return process->env[i] + n + 1;
	return NULL;
}

/* The program's environment decides, as it does for the software GPU. */
enum trc_gpu_times trc_process_gpu_times(const struct trc_process *process)
{
	const char *now = env_of(process, "WAVESCOPE_GPU_TIME");
	const char *once = env_of(process, "WAVESCOPE_TIMES");

	if (!(process->flags & CAP_PROCESS_SOFTGPU))
		return TRC_GPU_TIMES_HARDWARE;
	if (now ? strcmp(now, "simulated") == 0 : once && strcmp(once, "modelled") == 0)
		return TRC_GPU_TIMES_SIMULATED;
	return process->ledger[CAP_DOMAIN_COUNTER_COLLECTION].asked ||
			       process->ledger[CAP_DOMAIN_PC_SAMPLING_HOST_TRAP].asked ||
			       process->ledger[CAP_DOMAIN_PC_SAMPLING_STOCHASTIC].asked
		       ? TRC_GPU_TIMES_COUNTED
		       : TRC_GPU_TIMES_HOST;
}

const char *trc_gpu_times_word(enum trc_gpu_times times)
{
	static const char *const words[] = {
		[TRC_GPU_TIMES_HARDWARE] = "hardware",
		[TRC_GPU_TIMES_HOST] = "host",
		[TRC_GPU_TIMES_COUNTED] = "simulated where counted or sampled, else host",
		[TRC_GPU_TIMES_SIMULATED] = "simulated",
	};

	return words[times];
}

void *trc_process_code_bytes(const struct trc_process *process, uint32_t code_object,
			     uint64_t *out_bytes)
{
	const struct cap_reader *reader = trc_capture_of(process)->reader;
	struct cap_view view = { 0 };
	uint64_t total = 0, have = 0;
	char *image = NULL;

	if (code_object < process->code_objects.n)
		code_object = process->code_objects.at[code_object].image;
	for (size_t i = 0; i < cap_reader_n_chunks(reader); i++) {
		const struct cap_rec *rec;

		if (cap_reader_chunk(reader, i)->kind != CAP_CHUNK_BULK ||
		    cap_reader_load(reader, i, &view, NULL))
			continue;
		while ((rec = cap_view_next(&view))) {
			const struct cap_rec_code_bytes *part =
				(const struct cap_rec_code_bytes *)rec;

			if (cap_rec_type(rec) != CAP_REC_CODE_BYTES || rec->what != code_object)
				continue;
			if (!image) {
				total = part->total_bytes;
				/* no image is larger than the file that holds it */
				if (total > cap_reader_head(reader)->end_bytes)
					continue;
				image = malloc(total ? total : 1);
				if (!image)
					break;
			}
			if (part->at_bytes > total || part->n_bytes > total - part->at_bytes)
				continue;
			memcpy(image + part->at_bytes, cap_rec_tail(rec).at, part->n_bytes);
			have += part->n_bytes;
		}
	}
	cap_view_fini(&view);
	if (have < total) { /* pieces are missing: an incomplete ELF file is of no use */
		free(image);
		return NULL;
	}
	*out_bytes = total;
	return image;
}
