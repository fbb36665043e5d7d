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
const struct output_domain_info output_domain_infos[CAP_DOMAIN_COUNT] = {
	[CAP_DOMAIN_HSA_API] = { OUTPUT_SHAPE_CALL, "hsa_api_trace", "hsa_api_stats", "hsa_api" },
	[CAP_DOMAIN_HIP_API] = { OUTPUT_SHAPE_CALL, "hip_api_trace", "hip_api_stats", "hip_api" },
	[CAP_DOMAIN_MARKER_API] = { OUTPUT_SHAPE_MARKER, "marker_api_trace", "marker_api_stats", "marker_api" },
	[CAP_DOMAIN_KERNEL_DISPATCH] = { OUTPUT_SHAPE_DISPATCH, "kernel_trace", "kernel_stats", "kernel_dispatch" },
	[CAP_DOMAIN_MEMORY_COPY] = { OUTPUT_SHAPE_COPY, "memory_copy_trace", "memory_copy_stats", "memory_copy" },
	[CAP_DOMAIN_SCRATCH_MEMORY] = { OUTPUT_SHAPE_SCRATCH, "scratch_memory_trace", "scratch_memory_stats", "scratch_memory" },
	[CAP_DOMAIN_COUNTER_COLLECTION] = { OUTPUT_SHAPE_COUNTERS, "counter_collection", NULL, "counter_collection" },
	[CAP_DOMAIN_RCCL_API] = { OUTPUT_SHAPE_CALL, "rccl_api_trace", "rccl_api_stats", "rccl_api" },
	[CAP_DOMAIN_MEMORY_ALLOCATION] = { OUTPUT_SHAPE_ALLOC, "memory_allocation_trace", "memory_allocation_stats", "memory_allocation" },
	[CAP_DOMAIN_COUNTER_VALUES] = { OUTPUT_SHAPE_NONE, NULL, NULL, NULL },
	[CAP_DOMAIN_PC_SAMPLING_HOST_TRAP] = { OUTPUT_SHAPE_SAMPLE, "pc_sampling_host_trap", NULL, NULL },
	[CAP_DOMAIN_ROCDECODE_API] = { OUTPUT_SHAPE_CALL, "rocdecode_api_trace", "rocdecode_api_stats", "rocdecode_api" },
	[CAP_DOMAIN_ROCJPEG_API] = { OUTPUT_SHAPE_CALL, "rocjpeg_api_trace", "rocjpeg_api_stats", "rocjpeg_api" },
	[CAP_DOMAIN_PC_SAMPLING_STOCHASTIC] = { OUTPUT_SHAPE_SAMPLE, "pc_sampling_stochastic", NULL, NULL },
	[CAP_DOMAIN_CALL_STACK_SAMPLING] = { OUTPUT_SHAPE_NONE, NULL, NULL, NULL },
	[CAP_DOMAIN_METRICS] = { OUTPUT_SHAPE_NONE, NULL, NULL, NULL },
	[CAP_DOMAIN_REGIONS] = { OUTPUT_SHAPE_NONE, NULL, NULL, NULL },
};
/* clang-format on */

static const struct output_ops *const all_ops[] = {
#define OUTPUT_ROW(name, word, ops) &ops,
	OUTPUT_TABLE(OUTPUT_ROW)
#undef OUTPUT_ROW
};

const struct output_ops *output_ops(enum output_format format)
{
	return (unsigned)format < OUTPUT_COUNT ? all_ops[format] : NULL;
}

bool output_by_word(const char *word, enum output_format *out_format)
{
	for (unsigned i = 0; i < OUTPUT_COUNT; i++) {
		if (!strcmp(word, all_ops[i]->word)) {
			*out_format = i;
			return true;
		}
	}
	return false;
}

void output_config_init(struct output_config *cfg)
{
	*cfg = (struct output_config){
		.stream_fd = -1,
		.summary_unit = WS_TIME_NSEC,
		.perfetto_shmem_size_hint_kb = 64,
		.perfetto_buffer_size_kb = 1048576,
		.perfetto_buffer_fill_policy = "discard",
		.perfetto_backend = "inprocess",
	};
}

size_t output_agent_text(const struct trc_agent *agent, enum trc_agent_index mode, char sep,
			 char *to, size_t room)
{
	uint32_t number;
	const char *label;

	if (!agent) {
		if (room)
			*to = '\0';
		return 0;
	}
	label = output_agent_label(agent, mode, &number);
	return (size_t)snprintf(to, room, "%s%c%u", label, sep, number);
}

void output_new_guid(const struct trc_process *process, char out_guid[37])
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
			const char *machine = process->facts[CAP_FACT_MACHINE_ID];

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

enum ws_status output_run_path(const struct output_run *run, const char *name,
			       char out_path[PATH_MAX], struct ws_err *err)
{
	if (snprintf(out_path, PATH_MAX, "%s_%s", run->cfg->prefix, name) >= PATH_MAX)
		return ws_fail(err, WS_E_LIMIT, "the path is too long: %.80s...", out_path);
	return WS_OK;
}

enum ws_status output_run_open_at(struct output_run *run, struct output_sink *sink,
				  const char *path, struct ws_err *err)
{
	enum ws_status st = output_sink_open(sink, path, run->cfg->stream_fd, err);

	if (!st && run->cfg->opened && run->cfg->stream_fd < 0)
		run->cfg->opened(run->cfg->opened_ctx, path, NULL);
	return st;
}

enum ws_status output_run_open(struct output_run *run, struct output_sink *sink, const char *name,
			       struct ws_err *err)
{
	char path[PATH_MAX];
	enum ws_status st = output_run_path(run, name, path, err);

	return st ? st : output_run_open_at(run, sink, path, err);
}

void output_run_file(struct output_run *run, enum output_format format, const char *path,
		     uint64_t n_rows, uint64_t n_bytes, const struct ws_err *err)
{
	struct output_result *result = run->result;
	struct output_file *file;

	if (result->n_files == result->cap_files) {
		size_t cap = result->cap_files ? result->cap_files * 2 : 16;
		struct output_file *more = realloc(result->files, cap * sizeof(*more));

		if (!more)
			return; /* the file is there all the same */
		result->files = more;
		result->cap_files = cap;
	}
	file = &result->files[result->n_files++];
	*file = (struct output_file){ .format = format, .n_rows = n_rows, .n_bytes = n_bytes };
	file->path = strdup(path);
	if (err && err->status)
		file->err = *err;
}

enum ws_status output_run_finish(struct output_run *run, enum output_format format,
				 struct output_sink *sink, struct ws_err *err)
{
	struct ws_err own = { 0 };
	uint64_t n_bytes = output_sink_bytes(sink);
	enum ws_status st = output_sink_finish(sink, &own);

	output_run_file(run, format, sink->path, sink->n_rows, n_bytes, &own);
	if (st && err && !err->status)
		*err = own;
	return st;
}

bool output_run_has(const struct output_run *run, enum cap_domain domain)
{
	return run->result->n_events[domain] &&
	       run->result->n_bytes[domain] >= run->cfg->minimum_bytes;
}

/* ---- events ---- */

/*
 * Whether the record is what its domain's shape says. An operation of a damaged capture may
 * claim any domain, and the writers go by that.
 */
bool output_event_is_sound(const struct trc_event *ev)
{
	enum output_record_shape shape;

	if ((unsigned)ev->domain >= CAP_DOMAIN_COUNT || (unsigned)ev->kind >= CAP_KIND_COUNT)
		return false;
	shape = output_domain_infos[ev->domain].shape;
	switch (cap_rec_type(ev->rec)) {
	case CAP_REC_CALL:
	case CAP_REC_CALL_ARGS:
		return shape == OUTPUT_SHAPE_CALL && ev->kind != CAP_KIND_KERNEL_DISPATCH;
	default:
		return shape != OUTPUT_SHAPE_CALL;
	}
}

enum ws_status output_run_each(const struct output_run *run, const struct trc_process *process,
			       uint32_t domains, enum trc_event_order order, output_event_fn *fn,
			       void *ctx, struct ws_err *err)
{
	struct trc_event_query query = { .domains =
						 domains ? domains : (1u << CAP_DOMAIN_COUNT) - 1,
					 .order = order,
					 .process = process };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closing;

	st = trc_events_open(run->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events)))
		if (__builtin_expect(output_event_is_sound(ev), 1) &&
		    output_domain_infos[ev->domain].shape != OUTPUT_SHAPE_NONE)
			st = fn(ctx, ev);
	closing = trc_events_close(events, st ? NULL : err);
	return st ? st : closing;
}

size_t output_counter_sums(const struct trc_event *ev, struct output_counter_sum *to, size_t room)
{
	const struct cap_counter_value *values = ev->dispatch.values;
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
		to[at] = (struct output_counter_sum){ values[i].counter, values[i].value };
		n++;
	}
	return n;
}

/* ---- what is there: counted when the trace was opened; and the statistics ---- */

static void count_events(struct output_run *run)
{
	struct output_result *result = run->result;

	run->first_ns = UINT64_MAX;
	for (size_t i = 0; i < run->n_processes; i++) {
		for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
			const struct trc_ledger_sum *sum = &run->processes[i]->ledger[d];

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
	struct output_run *run;
	struct ws_err *err;
};

static enum ws_status add_to_stats(void *ctx, const struct trc_event *ev)
{
	struct counting *c = ctx;
	enum cap_domain domain =
		output_event_is_dispatch(ev) ? CAP_DOMAIN_KERNEL_DISPATCH : ev->domain;

	if (!output_domain_infos[domain].stats_stem ||
	    (output_event_is_dispatch(ev) && !output_event_traced(ev)))
		return WS_OK;
	return output_stats_add(&c->run->stats, domain, output_run_name(c->run, ev),
				domain != CAP_DOMAIN_MARKER_API,
				ev->end_ns > ev->start_ns ? ev->end_ns - ev->start_ns : 0, c->err);
}

static enum ws_status make_stats(struct output_run *run, struct ws_err *err)
{
	struct counting ctx = { run, err };
	enum ws_status st = WS_OK;

	for (size_t i = 0; !st && i < run->n_processes; i++)
		st = output_run_each(run, run->processes[i], 0, TRC_ORDER_RECORDED, add_to_stats,
				     &ctx, err);
	run->result->n_unnamed = run->stats.n_unnamed;
	return st ? st : output_stats_sort(&run->stats, err);
}

bool output_run_wants_summary(const struct output_run *run)
{
	const struct output_config *cfg = run->cfg;

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

static enum ws_status write_formats(struct output_run *run, struct ws_err *err)
{
	const struct output_config *cfg = run->cfg;
	enum ws_status first = WS_OK, st;

	for (unsigned i = 0; i < OUTPUT_COUNT; i++) {
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
				output_run_file(run, i, cfg->prefix, 0, 0, &own);
		}
		note_failure(&first, st, err, &own, all_ops[i]->word);
	}
	if (output_run_wants_summary(run)) {
		struct ws_err own = { 0 };

		st = output_summary_write(run, &own);
		note_failure(&first, st, err, &own, "summary");
	}
	return first;
}

enum ws_status output_write(const struct trc_trace *trace,
			    const struct trc_process *const *processes, size_t n_processes,
			    const struct output_config *cfg, struct output_result *out_result,
			    struct ws_err *err)
{
	const struct trc_process **all = NULL;
	struct output_run *run;
	uint64_t n_events = 0, n_bytes = 0;
	enum ws_status st = WS_OK;

	memset(out_result, 0, sizeof(*out_result));
	run = calloc(1, sizeof(*run));
	if (!processes) {
		n_processes = trc_n_processes(trace);
		all = calloc(n_processes + 1, sizeof(*all));
		for (size_t i = 0; all && i < n_processes; i++)
			all[i] = trc_process_at(trace, i);
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
		output_new_guid(n_processes ? processes[0] : NULL, run->guid);
	output_stats_init(&run->stats);
	count_events(run);
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		n_events += out_result->n_events[d];
		n_bytes += out_result->n_bytes[d];
	}
	out_result->below_minimum = n_events && n_bytes < cfg->minimum_bytes;
	if (n_events && !out_result->below_minimum) {
		if (cfg->stats || output_run_wants_summary(run))
			st = make_stats(run, err);
		if (!st)
			st = write_formats(run, err);
	}
	output_stats_fini(&run->stats);
	free(run);
	free(all);
	return st;
}

void output_result_fini(struct output_result *result)
{
	for (size_t i = 0; i < result->n_files; i++)
		free(result->files[i].path);
	free(result->files);
	result->files = NULL;
	result->n_files = result->cap_files = 0;
}
