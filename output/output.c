#include "output/output_priv.h"

#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
const struct ws_domain_info ws_domain_infos[WS_DOMAIN_COUNT] = {
	[WS_DOMAIN_HSA_API] = { WS_SHAPE_CALL, "hsa_api_trace", "hsa_api_stats", "hsa_api" },
	[WS_DOMAIN_HIP_API] = { WS_SHAPE_CALL, "hip_api_trace", "hip_api_stats", "hip_api" },
	[WS_DOMAIN_MARKER_API] = { WS_SHAPE_MARKER, "marker_api_trace", "marker_api_stats", "marker_api" },
	[WS_DOMAIN_KERNEL_DISPATCH] = { WS_SHAPE_DISPATCH, "kernel_trace", "kernel_stats", "kernel_dispatch" },
	[WS_DOMAIN_MEMORY_COPY] = { WS_SHAPE_COPY, "memory_copy_trace", "memory_copy_stats", "memory_copy" },
	[WS_DOMAIN_SCRATCH_MEMORY] = { WS_SHAPE_SCRATCH, "scratch_memory_trace", "scratch_memory_stats", "scratch_memory" },
	[WS_DOMAIN_COUNTER_COLLECTION] = { WS_SHAPE_COUNTERS, "counter_collection", NULL, "counter_collection" },
	[WS_DOMAIN_RCCL_API] = { WS_SHAPE_CALL, "rccl_api_trace", "rccl_api_stats", "rccl_api" },
	[WS_DOMAIN_MEMORY_ALLOCATION] = { WS_SHAPE_ALLOC, "memory_allocation_trace", "memory_allocation_stats", "memory_allocation" },
	[WS_DOMAIN_COUNTER_VALUES] = { WS_SHAPE_NONE, NULL, NULL, NULL },
	[WS_DOMAIN_PC_SAMPLING_HOST_TRAP] = { WS_SHAPE_SAMPLE, "pc_sampling_host_trap", NULL, NULL },
	[WS_DOMAIN_ROCDECODE_API] = { WS_SHAPE_CALL, "rocdecode_api_trace", "rocdecode_api_stats", "rocdecode_api" },
	[WS_DOMAIN_ROCJPEG_API] = { WS_SHAPE_CALL, "rocjpeg_api_trace", "rocjpeg_api_stats", "rocjpeg_api" },
	[WS_DOMAIN_PC_SAMPLING_STOCHASTIC] = { WS_SHAPE_SAMPLE, "pc_sampling_stochastic", NULL, NULL },
};
/* clang-format on */

static const struct ws_output_ops *const all_ops[] = {
#define WS_OUTPUT_ROW(name, word, ops) &ops,
	WS_OUTPUT_TABLE(WS_OUTPUT_ROW)
#undef WS_OUTPUT_ROW
};

const struct ws_output_ops *ws_output_ops(enum ws_output_format format)
{
	return (unsigned)format < WS_OUTPUT_COUNT ? all_ops[format] : NULL;
}

bool ws_output_by_word(const char *word, enum ws_output_format *out_format)
{
	for (unsigned i = 0; i < WS_OUTPUT_COUNT; i++) {
		if (!strcmp(word, all_ops[i]->word)) {
			*out_format = i;
			return true;
		}
	}
	return false;
}

void ws_output_config_init(struct ws_output_config *cfg)
{
	*cfg = (struct ws_output_config){
		.stream_fd = -1,
		.perfetto_shmem_size_hint_kb = 64,
		.perfetto_buffer_size_kb = 1048576,
		.perfetto_buffer_fill_policy = "discard",
		.perfetto_backend = "inprocess",
	};
}

size_t ws_output_agent_text(const struct ws_agent *agent, enum ws_agent_index mode, char sep,
			    char *to, size_t room)
{
	uint32_t number;
	const char *label;

	if (!agent) {
		if (room)
			*to = '\0';
		return 0;
	}
	label = ws_agent_label(agent, mode, &number);
	return (size_t)snprintf(to, room, "%s%c%u", label, sep, number);
}

void ws_output_new_guid(const struct ws_process *process, char out_guid[37])
{
	struct timespec now;
	uint64_t ms, random[2] = { 0, 0 };
	struct {
		uint64_t init_ns, now_ns;
		uint32_t pid, ppid;
		uint64_t machine;
	} seed = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
		seed.now_ns = (uint64_t)now.tv_nsec;
		if (process) {
			const char *machine = process->facts[WS_FACT_MACHINE_ID];

			seed.pid = process->pid;
			seed.ppid = process->ppid;
			seed.init_ns = process->init_ns;
			seed.machine = machine ? ws_hash_bytes(machine, strlen(machine)) : 0;
		}
		random[0] = ws_hash_bytes(&seed, sizeof(seed));
		seed.now_ns ^= random[0];
		random[1] = ws_hash_bytes(&seed, sizeof(seed));
	}
	snprintf(out_guid, 37, "%08x-%04x-7%03x-%04x-%012llx", (unsigned)(ms >> 16),
		 (unsigned)(ms & 0xffff), (unsigned)(random[0] & 0xfff),
		 (unsigned)(0x8000 | (random[0] >> 12 & 0x3fff)),
		 (unsigned long long)(random[1] & 0xffffffffffffull));
}

/* ---- files ---- */

enum ws_status ws_run_path(const struct ws_output_run *run, const char *name,
			   char out_path[PATH_MAX], struct ws_err *err)
{
	if (snprintf(out_path, PATH_MAX, "%s_%s", run->cfg->prefix, name) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "the path is too long: %.80s...", out_path);
	return WS_OK;
}

enum ws_status ws_run_open(struct ws_output_run *run, struct ws_sink *sink, const char *name,
			   struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = ws_run_path(run, name, path, err);

	if (!st)
		st = ws_sink_open(sink, path, run->cfg->stream_fd, err);
	if (st)
		return st;
	if (run->cfg->opened && run->cfg->stream_fd < 0)
		run->cfg->opened(run->cfg->opened_ctx, path, NULL);
	return WS_OK;
}

void ws_run_file(struct ws_output_run *run, enum ws_output_format format, const char *path,
		 uint64_t n_rows, uint64_t n_bytes, const struct ws_err *err)
{
	struct ws_output_result *result = run->result;
	struct ws_output_file *file;

	if (result->n_files == result->cap_files) {
		size_t cap = result->cap_files ? result->cap_files * 2 : 16;
		struct ws_output_file *more = realloc(result->files, cap * sizeof(*more));

		if (!more)
			return; /* the file is there all the same */
		result->files = more;
		result->cap_files = cap;
	}
	file = &result->files[result->n_files++];
	*file = (struct ws_output_file){ .format = format, .n_rows = n_rows, .n_bytes = n_bytes };
	file->path = strdup(path);
	if (err && err->status)
		file->err = *err;
}

enum ws_status ws_run_finish(struct ws_output_run *run, enum ws_output_format format,
			     struct ws_sink *sink, struct ws_err *err)
{
	struct ws_err own = { 0 };
	uint64_t n_bytes = ws_sink_bytes(sink);
	enum ws_status st = ws_sink_finish(sink, &own);

	ws_run_file(run, format, sink->path, sink->n_rows, n_bytes, &own);
	if (st && err && !err->status)
		*err = own;
	return st;
}

bool ws_run_has(const struct ws_output_run *run, enum ws_domain domain)
{
	return run->result->n_events[domain] &&
	       run->result->n_bytes[domain] >= run->cfg->minimum_bytes;
}

/* ---- events ---- */

/*
 * Whether the record is what its domain's shape says. An operation of a damaged capture may
 * claim any domain, and the writers go by that.
 */
static bool is_sound(const struct ws_event *ev)
{
	enum ws_record_shape shape;

	if ((unsigned)ev->domain >= WS_DOMAIN_COUNT || (unsigned)ev->kind >= WS_KIND_COUNT)
		return false;
	shape = ws_domain_infos[ev->domain].shape;
	switch (ws_rec_type(ev->rec)) {
	case WS_REC_CALL:
	case WS_REC_CALL_ARGS:
		return shape == WS_SHAPE_CALL && ev->kind != WS_KIND_KERNEL_DISPATCH;
	default:
		return shape != WS_SHAPE_CALL && shape != WS_SHAPE_NONE;
	}
}

enum ws_status ws_run_each(const struct ws_output_run *run, const struct ws_process *process,
			   uint32_t domains, enum ws_event_order order, ws_event_fn *fn, void *ctx,
			   struct ws_err *err)
{
	struct ws_event_query query = { .domains = domains ? domains : (1u << WS_DOMAIN_COUNT) - 1,
					.order = order,
					.process = process };
	const struct ws_event *ev;
	struct ws_events *events;
	enum ws_status st, closing;

	st = ws_events_open(run->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = ws_events_next(events)))
		if (__builtin_expect(is_sound(ev), 1))
			st = fn(ctx, ev);
	closing = ws_events_close(events, st ? NULL : err);
	return st ? st : closing;
}

size_t ws_counter_sums(const struct ws_event *ev, struct ws_counter_sum *to, size_t room)
{
	const struct ws_counter_value *values = ev->dispatch.values;
	size_t n = 0;

	for (uint32_t i = 0; i < ev->dispatch.info->n_values; i++) {
		size_t at = n;

		/* instances of a counter come together, so the last one is usually it */
		while (at && to[at - 1].counter > values[i].counter)
			at--;
		if (at && to[at - 1].counter == values[i].counter) {
			to[at - 1].value += values[i].value;
			continue;
		}
		if (n == room)
			break;
		memmove(to + at + 1, to + at, (n - at) * sizeof(*to));
		to[at] = (struct ws_counter_sum){ values[i].counter, values[i].value };
		n++;
	}
	return n;
}

/* ---- what is there: counted when the trace was opened; and the statistics ---- */

static void count_events(struct ws_output_run *run)
{
	struct ws_output_result *result = run->result;

	run->first_ns = UINT64_MAX;
	for (size_t i = 0; i < run->n_processes; i++) {
		for (int d = 0; d < WS_DOMAIN_COUNT; d++) {
			const struct ws_ledger_sum *sum = &run->processes[i]->ledger[d];

			if (!sum->written)
				continue;
			result->n_events[d] += sum->written;
			result->n_bytes[d] += sum->record_bytes;
			run->first_ns = WS_MIN(run->first_ns, sum->first_ns);
			run->last_ns = WS_MAX(run->last_ns, sum->last_ns);
		}
	}
	if (run->first_ns == UINT64_MAX)
		run->first_ns = 0;
}

struct counting {
	struct ws_output_run *run;
	struct ws_err *err;
};

static enum ws_status add_to_stats(void *ctx, const struct ws_event *ev)
{
	struct counting *c = ctx;
	enum ws_domain domain = ws_event_is_dispatch(ev) ? WS_DOMAIN_KERNEL_DISPATCH : ev->domain;

	if (!ws_domain_infos[domain].stats_stem ||
	    (ws_event_is_dispatch(ev) && !ws_event_traced(ev)))
		return WS_OK;
	return ws_stats_add(&c->run->stats, domain, ws_run_name(c->run, ev),
			    domain != WS_DOMAIN_MARKER_API,
			    ev->end_ns > ev->start_ns ? ev->end_ns - ev->start_ns : 0, c->err);
}

static enum ws_status make_stats(struct ws_output_run *run, struct ws_err *err)
{
	struct counting ctx = { run, err };
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < run->n_processes; i++)
		st = ws_run_each(run, run->processes[i], 0, WS_ORDER_RECORDED, add_to_stats, &ctx,
				 err);
	run->result->n_unnamed = run->stats.n_unnamed;
	return st ? st : ws_stats_sort(&run->stats, err);
}

bool ws_run_wants_summary(const struct ws_output_run *run)
{
	const struct ws_output_config *cfg = run->cfg;

	return cfg->summary || cfg->summary_per_domain || cfg->n_summary_groups;
}

/* ---- the call ---- */

static void note_failure(enum ws_status *first, enum ws_status st, struct ws_err *err,
			 const struct ws_err *own, const char *word)
{
	if (!st || *first)
		return;
	*first = st;
	if (err) {
		*err = *own;
		ws_fail_in(err, st, "%s", word);
	}
}

static enum ws_status write_formats(struct ws_output_run *run, struct ws_err *err)
{
	const struct ws_output_config *cfg = run->cfg;
	enum ws_status first = WS_OK, st;

	for (unsigned i = 0; i < WS_OUTPUT_COUNT; i++) {
		struct ws_err own = { 0 };

		if (!(cfg->formats & 1u << i))
			continue;
		if (all_ops[i]->built && !all_ops[i]->built())
			st = ws_fail(&own, WS_E_UNSUPPORTED, "not in this build: %s",
				     all_ops[i]->how);
		else
			st = all_ops[i]->write(run, &own);
		/* a writer reports the files it began; what failed before that is said here */
		if (st) {
			bool said = false;

			for (size_t k = 0; k < run->result->n_files; k++)
				said |= run->result->files[k].format == i &&
					run->result->files[k].err.status;
			if (!said)
				ws_run_file(run, i, cfg->prefix, 0, 0, &own);
		}
		note_failure(&first, st, err, &own, all_ops[i]->word);
	}
	if (ws_run_wants_summary(run)) {
		struct ws_err own = { 0 };

		st = ws_summary_write(run, &own);
		note_failure(&first, st, err, &own, "summary");
	}
	return first;
}

enum ws_status ws_output_write(const struct ws_trace *trace,
			       const struct ws_process *const *processes, size_t n_processes,
			       const struct ws_output_config *cfg,
			       struct ws_output_result *out_result, struct ws_err *err)
{
	const struct ws_process **all = NULL;
	struct ws_output_run *run;
	uint64_t n_events = 0, n_bytes = 0;
	enum ws_status st = WS_OK;

	memset(out_result, 0, sizeof(*out_result));
	run = calloc(1, sizeof(*run));
	if (!processes) {
		n_processes = ws_trace_n_processes(trace);
		all = calloc(n_processes + 1, sizeof(*all));
		for (size_t i = 0; all && i < n_processes; i++)
			all[i] = ws_trace_process(trace, i);
		processes = all;
	}
	if (!run || !processes) {
		free(all);
		free(run);
		return ws_fail(err, WS_E_NOMEM, "no memory to write the output");
	}
	run->trace = trace;
	run->processes = processes;
	run->n_processes = n_processes;
	run->cfg = cfg;
	run->result = out_result;
	if (cfg->guid)
		snprintf(run->guid, sizeof(run->guid), "%s", cfg->guid);
	else
		ws_output_new_guid(n_processes ? processes[0] : NULL, run->guid);
	ws_stats_init(&run->stats);
	count_events(run);
	for (int d = 0; d < WS_DOMAIN_COUNT; d++) {
		n_events += out_result->n_events[d];
		n_bytes += out_result->n_bytes[d];
	}
	out_result->below_minimum = n_events && n_bytes < cfg->minimum_bytes;
	if (n_events && !out_result->below_minimum) {
		if (cfg->stats || ws_run_wants_summary(run))
			st = make_stats(run, err);
		if (!st)
			st = write_formats(run, err);
	}
	ws_stats_fini(&run->stats);
	free(run);
	free(all);
	return st;
}

void ws_output_result_fini(struct ws_output_result *result)
{
	for (size_t i = 0; i < result->n_files; i++)
		free(result->files[i].path);
	free(result->files);
	result->files = NULL;
	result->n_files = result->cap_files = 0;
}
