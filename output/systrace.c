/*
 * The file of rocprof-sys's Perfetto trace: what is in it, in which order, and what is left out
 * when it would become too large.
 *
 * With AMD's tool the limit is the size of a buffer, which is full (what comes later is
 * lost) or a ring (what came first is lost). Here events are read by their start, so the
 * first means to stop, and the second to start later: at the time from which on everything
 * fits. That time is known when all has been counted once.
 */
#include "output/systrace_priv.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const category_names[OUTPUT_SYS_CATEGORY_COUNT + 1] = {
#define OUTPUT_SYS_ROW(name) #name,
	OUTPUT_SYS_CATEGORY_TABLE(OUTPUT_SYS_ROW)
#undef OUTPUT_SYS_ROW
};

static const char *const note_names[OUTPUT_SYS_NOTE_COUNT] = {
#define OUTPUT_SYS_ROW(name) [OUTPUT_SYS_NOTE_##name] = #name,
	OUTPUT_SYS_NOTE_TABLE(OUTPUT_SYS_ROW)
#undef OUTPUT_SYS_ROW
};

const char *output_systrace_category(size_t i)
{
	return i < OUTPUT_SYS_CATEGORY_COUNT ? category_names[i] : NULL;
}

enum ws_status output_sys_no_memory(struct output_sys *sys)
{
	return output_pf_no_memory(&sys->file);
}

/* ---- categories ---- */

static enum output_sys_category find_category(const char *name)
{
	unsigned i = 0;

	while (i < OUTPUT_SYS_CATEGORY_COUNT && strcmp(category_names[i], name) != 0)
		i++;
	return i;
}

static uint64_t categories_of(const char *const *names)
{
	uint64_t bits = 0;

	for (; *names; names++) {
		unsigned i = find_category(*names);

		if (i < OUTPUT_SYS_CATEGORY_COUNT)
			bits |= 1ull << i;
	}
	return bits;
}

static void choose_categories(struct output_sys *sys)
{
	sys->enabled = sys->opts->enable    ? categories_of(sys->opts->enable)
		       : sys->opts->disable ? ~categories_of(sys->opts->disable)
					    : UINT64_MAX;
	for (unsigned i = 0; i < CAP_METRIC_CATEGORY_COUNT; i++)
		sys->metric_category[i] = find_category(trc_metric_category_name(i));
	for (unsigned i = 0; i < CAP_REGION_CATEGORY_COUNT; i++)
		sys->region_category[i] = find_category(trc_region_category_name(i));
}

/* ---- slices ---- */

char *output_sys_begin(struct output_sys *sys, const struct output_sys_slice *slice, size_t room,
		       struct output_sys_begun *out_begun)
{
	uint64_t iid = output_pf_intern_name(&sys->file, slice->name, slice->stable_name);
	size_t n = iid ? 0 : output_pf_name_bytes(slice->name);
	char *p = output_pf_begin(&sys->file, n + room + 128, &out_begun->packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, slice->start_ns);
	p = output_pb_begin(p, PACKET_TRACK_EVENT, &out_begun->event);
	p = output_pb_u64(p, EVENT_TYPE, TYPE_BEGIN);
	p = output_pb_u64(p, EVENT_TRACK, slice->track);
	p = output_pb_u64(p, EVENT_CATEGORY_IIDS, (uint64_t)slice->category + 1);
	if (iid)
		p = output_pb_u64(p, EVENT_NAME_IID, iid);
	else
		p = output_pb_text(p, EVENT_NAME, slice->name, n);
	if (slice->corr_id)
		p = output_pb_fixed64(p, EVENT_FLOWS, slice->corr_id ^ sys->file.uuid);
	return p;
}

void output_sys_begin_done(struct output_sys *sys, char *p, const struct output_sys_begun *begun)
{
	output_pb_end(p, begun->event);
	output_pf_end(&sys->file, p, begun->packet);
	sys->result->n_slices++;
}

void output_sys_end(struct output_sys *sys, uint64_t track, uint64_t at_ns, const char *notes,
		    size_t n_notes)
{
	char *packet, *event, *p = output_pf_begin(&sys->file, n_notes + 128, &packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, at_ns);
	p = output_pb_begin(p, PACKET_TRACK_EVENT, &event);
	p = output_pb_u64(p, EVENT_TYPE, TYPE_END);
	p = output_pb_u64(p, EVENT_TRACK, track);
	if (sys->opts->annotations)
		p = output_pf_note_u64(p, OUTPUT_SYS_NOTE_end_ns, at_ns);
	if (n_notes)
		memcpy(p, notes, n_notes);
	p += n_notes;
	output_pb_end(p, event);
	output_pf_end(&sys->file, p, packet);
}

uint64_t output_sys_note(struct output_sys *sys, const char *name)
{
	return output_pf_intern(&sys->file, &sys->file.notes, INTERNED_NOTES, OUTPUT_SYS_NOTE_COUNT,
				name);
}

uint64_t output_sys_known_note(const struct output_sys *sys, const char *name)
{
	return (uintptr_t)ws_map_get(&sys->file.notes, name);
}

/* ---- threads ---- */

struct output_sys_thread *output_sys_thread_of(struct output_sys *sys,
					       const struct trc_thread *thread)
{
	struct output_sys_thread *own =
		&sys->threads[WS_MIN((size_t)thread->index, sys->n_threads - 1)];

	own->thread = thread;
	return own;
}

struct output_pf_track *output_sys_thread_track(struct output_sys *sys,
						struct output_sys_thread *thread)
{
	const struct trc_thread *info = thread->thread;
	uint64_t uuid = info->tid ^ sys->file.uuid;
	char name[64];

	if (thread->track)
		return thread->track;
	snprintf(name, sizeof(name), "Thread %u", info->index);
	thread->track = output_pf_track_new(&sys->file, uuid, name);
	if (thread->track)
		output_pf_put_thread(&sys->file, uuid, info->tid, *info->name ? info->name : name);
	return thread->track;
}

/* ---- events ---- */

/* Where the file is at which time: for the ring. */
#define MARKS 4096u
struct marks {
	struct {
		uint64_t at_ns, n_bytes, n_before; /* what would be lost before it */
	} at[MARKS];
	size_t n;
	uint64_t every, n_events; /* a mark is set for each @every-th event */
	uint64_t n_before;
};

struct reading {
	struct output_sys *sys;
	struct marks *marks; /* the first reading for a ring; else NULL */
	bool discards;       /* what is over the limit is not written */
};

/*
 * Whether the user misses it when it is not in the file. The end of a region and its
 * annotations are no events of their own.
 */
static bool is_missed(const struct output_sys *sys, const struct trc_event *ev)
{
	switch (ev->domain) {
	case CAP_DOMAIN_REGIONS:
		return ev->region.enters &&
		       output_sys_on(sys, sys->region_category[ev->region.region->category]);
	case CAP_DOMAIN_CALL_STACK_SAMPLING:
		return sys->opts->frames &&
		       output_sys_on(sys, output_sys_sample_category(ev->stack.info->sampler));
	case CAP_DOMAIN_METRICS:
		return true; /* of several categories */
	default:
		return output_sys_on(sys, output_sys_category_of(sys, ev));
	}
}

static void mark(struct marks *marks, const struct output_sys *sys, const struct trc_event *ev,
		 uint64_t n_bytes)
{
	uint64_t n_before = marks->n_before;

	marks->n_before += is_missed(sys, ev);
	if (marks->n_events++ % marks->every)
		return;
	if (marks->n == MARKS) { /* half as dense from here on */
		marks->n /= 2;
		for (size_t i = 0; i < marks->n; i++)
			marks->at[i] = marks->at[i * 2];
		marks->every *= 2;
		if ((marks->n_events - 1) % marks->every)
			return;
	}
	marks->at[marks->n].at_ns = ev->start_ns;
	marks->at[marks->n].n_bytes = n_bytes;
	marks->at[marks->n++].n_before = n_before;
}

static enum ws_status put_one(struct output_sys *sys, const struct trc_event *ev)
{
	switch (ev->domain) {
	case CAP_DOMAIN_HSA_API:
	case CAP_DOMAIN_HIP_API:
	case CAP_DOMAIN_MARKER_API:
	case CAP_DOMAIN_RCCL_API:
	case CAP_DOMAIN_ROCDECODE_API:
	case CAP_DOMAIN_ROCJPEG_API:
		return output_sys_put_call(sys, ev);
	case CAP_DOMAIN_KERNEL_DISPATCH:
	case CAP_DOMAIN_COUNTER_COLLECTION:
		return output_sys_put_kernel(sys, ev);
	case CAP_DOMAIN_MEMORY_COPY:
		return output_sys_put_copy(sys, ev);
	case CAP_DOMAIN_MEMORY_ALLOCATION:
		return output_sys_put_alloc(sys, ev);
	case CAP_DOMAIN_SCRATCH_MEMORY:
		return output_sys_put_scratch(sys, ev);
	case CAP_DOMAIN_CALL_STACK_SAMPLING:
		return output_sys_put_sample(sys, ev);
	case CAP_DOMAIN_METRICS:
		return output_sys_put_metrics(sys, ev);
	case CAP_DOMAIN_REGIONS:
		return output_sys_put_region(sys, ev, true);
	default:
		return WS_OK;
	}
}

static enum ws_status put_event(struct reading *reading, const struct trc_event *ev)
{
	struct output_sys *sys = reading->sys;
	uint64_t n_bytes = output_sink_bytes(sys->sink);
	bool inside = ev->start_ns >= sys->from_ns && ev->start_ns < sys->until_ns;
	enum ws_status st = WS_OK;

	if (sys->opts->max_bytes && n_bytes >= sys->opts->max_bytes) {
		sys->sink->only_counts = reading->marks; /* there will be a second reading */
		sys->full = reading->discards;
	}
	if (inside && !sys->full) {
		if (reading->marks)
			mark(reading->marks, sys, ev, n_bytes);
		st = put_one(sys, ev);
	} else {
		sys->result->n_lost += inside && is_missed(sys, ev);
		if (ev->domain == CAP_DOMAIN_REGIONS && !ev->region.annotation)
			st = output_sys_put_region(sys, ev, false);
	}
	return st ? st : sys->sink->err.status;
}

#define DOMAINS                                                                                    \
	(~(TRC_DOMAIN_BIT(COUNTER_VALUES) | TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |                \
	   TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC)))

static enum ws_status put_events(struct reading *reading, struct ws_err *err)
{
	struct trc_event_query query = { .domains = DOMAINS,
					 .order = TRC_ORDER_START,
					 .process = reading->sys->process };
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closing;

	st = trc_events_open(reading->sys->trace, &query, &events, err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events)))
		if (output_event_is_sound(ev))
			st = put_event(reading, ev);
	closing = trc_events_close(events, st ? NULL : err);
	return st ? st : closing;
}

/* ---- the file ---- */

static void put_known_names(struct output_sys *sys)
{
	for (unsigned i = 0; i < OUTPUT_SYS_CATEGORY_COUNT; i++)
		output_pf_put_interned(&sys->file, INTERNED_CATEGORIES, i + 1, category_names[i]);
	for (uintptr_t i = 1; i < OUTPUT_SYS_NOTE_COUNT; i++) {
		output_pf_put_interned(&sys->file, INTERNED_NOTES, i, note_names[i]);
		/* an argument may have the same name; without memory it gets a second number */
		(void)ws_map_put(&sys->file.notes, ws_str_from(note_names[i]), (void *)i, NULL);
	}
}

static bool has_simulated_metrics(const struct trc_process *process)
{
	for (size_t i = 0; i < process->metrics.n; i++)
		if (process->metrics.at[i].simulated)
			return true;
	return false;
}

static enum ws_status begin(struct output_sys *sys, struct ws_err *err)
{
	const struct trc_process *process = sys->process;
	struct ws_arena *arena = &sys->file.arena;

	output_pf_file_init(&sys->file, sys->sink, err);
	output_pf_file_begin_process(&sys->file, process);
	sys->file.pid_base = sys->opts->pid_base;
	sys->file.process_name = sys->opts->process_name;
	put_known_names(sys);
	sys->n_threads = process->threads.n + 2;
	sys->threads = ws_arena_array(arena, sys->n_threads, sizeof(*sys->threads));
	sys->streams = ws_arena_array(arena, process->streams.n + 1, sizeof(*sys->streams));
	sys->queues = ws_arena_array(arena, process->queues.n + 1, sizeof(*sys->queues));
	sys->metrics = ws_arena_array(arena, process->metrics.n + 1, sizeof(*sys->metrics));
	sys->region_names =
		ws_arena_array(arena, process->regions.n + 1, sizeof(*sys->region_names));
	ws_map_init(&sys->tracks, WS_MAP_U64, 1u << 24);
	ws_map_init(&sys->counters, WS_MAP_U64, 1u << 24);
	ws_map_init(&sys->functions, WS_MAP_STR, 1u << 24);
	ws_map_init(&sys->paths, WS_MAP_STR, 1u << 20);
	ws_map_init(&sys->sources, WS_MAP_STR, 1u << 22);
	ws_map_init(&sys->mappings, WS_MAP_U64, 1u << 20);
	ws_map_init(&sys->frames, WS_MAP_U64, 1u << 26);
	ws_map_init(&sys->stacks, WS_MAP_U64, 1u << 26);
	if (!sys->threads || !sys->streams || !sys->queues || !sys->metrics || !sys->region_names)
		return output_sys_no_memory(sys);
	output_pf_put_process(&sys->file, &(struct output_pf_process){
						  .label = sys->opts->label ? sys->opts->label
							   : has_simulated_metrics(process)
								   ? "GPU metrics: simulated"
								   : NULL,
						  .ranked = sys->opts->ranked,
						  .rank = sys->opts->rank,
					  });
	return WS_OK;
}

static void fini(struct output_sys *sys)
{
	for (size_t i = 0; sys->threads && i < sys->n_threads; i++) {
		struct output_sys_thread *thread = &sys->threads[i];

		for (size_t k = 0; k < thread->cap_open; k++)
			free(thread->open[k].notes);
		free(thread->open);
		for (unsigned k = 0; k < CAP_SAMPLER_COUNT; k++)
			output_samples_fini(&thread->sampled[k].samples);
		free(thread->events);
	}
	sys->threads = NULL;
	ws_map_fini(&sys->tracks);
	ws_map_fini(&sys->counters);
	ws_map_fini(&sys->functions);
	ws_map_fini(&sys->paths);
	ws_map_fini(&sys->sources);
	ws_map_fini(&sys->mappings);
	ws_map_fini(&sys->frames);
	ws_map_fini(&sys->stacks);
	output_pf_file_end_process(&sys->file);
	output_pf_file_fini(&sys->file);
}

/* One reading of the events, into the sink. */
static enum ws_status write_once(struct output_sys *sys, struct marks *marks, struct ws_err *err)
{
	struct reading reading = { sys, marks, sys->opts->fill == OUTPUT_SYSTRACE_DISCARD };
	enum ws_status st;

	memset(sys->result, 0, sizeof(*sys->result));
	memset(sys->n_sampled, 0, sizeof(sys->n_sampled));
	sys->full = sys->sampling = false;
	st = begin(sys, err);
	if (!st)
		st = put_events(&reading, err);
	if (!st) {
		output_sys_end_regions(sys);
		output_sys_end_samples(sys);
		output_sys_end_metrics(sys);
	}
	fini(sys);
	return st;
}

static void explain_loss(struct output_sys *sys)
{
	struct output_systrace_result *result = sys->result;

	if (result->n_lost)
		snprintf(result->lost, sizeof(result->lost),
			 "the buffer of %" PRIu64 " KB is full: %s %" PRIu64
			 " events are not in the trace: raise "
			 "ROCPROFSYS_PERFETTO_BUFFER_SIZE_KB or limit what is collected",
			 sys->opts->max_bytes >> 10,
			 sys->opts->fill == OUTPUT_SYSTRACE_RING ? "the first" : "the last",
			 result->n_lost);
}

/*
 * From when on everything fits; UINT64_MAX: nothing does. Names and tracks that were written
 * before that time are written again, for which a part of the file is set aside.
 */
static uint64_t ring_start(const struct marks *marks, uint64_t n_bytes, uint64_t max_bytes,
			   uint64_t *out_lost)
{
	uint64_t n_head = marks->n ? marks->at[0].n_bytes : 0;

	max_bytes -= WS_MIN(max_bytes, max_bytes / 16 + n_head);
	for (size_t i = 0; i < marks->n; i++) {
		if (n_bytes - marks->at[i].n_bytes > max_bytes)
			continue;
		*out_lost = marks->at[i].n_before;
		return marks->at[i].at_ns;
	}
	*out_lost = marks->n_before;
	return UINT64_MAX;
}

static enum ws_status write_file(struct output_sys *sys, const char *path, struct ws_err *err)
{
	bool ring = sys->opts->max_bytes && sys->opts->fill == OUTPUT_SYSTRACE_RING;
	struct marks *marks = ring ? calloc(1, sizeof(*marks)) : NULL;
	uint64_t n_lost = 0;
	enum ws_status st;

	if (ring && !marks)
		return ws_fail(err, WS_E_NOMEM, "no memory to write '%s'", path);
	if (marks)
		marks->every = 1;
	st = output_sink_open(sys->sink, path, -1, err);
	if (!st)
		st = write_once(sys, marks, err);
	if (!st && sys->sink->only_counts) {
		sys->from_ns = ring_start(marks, output_sink_bytes(sys->sink), sys->opts->max_bytes,
					  &n_lost);
		output_sink_abandon(sys->sink);
		st = output_sink_open(sys->sink, path, -1, err);
		if (!st)
			st = write_once(sys, NULL, err);
		sys->result->n_lost += n_lost;
	}
	free(marks);
	sys->result->n_bytes = output_sink_bytes(sys->sink);
	if (!st || sys->sink->err.status)
		st = output_sink_finish(sys->sink, err);
	output_sink_abandon(sys->sink);
	if (!st)
		explain_loss(sys);
	return st;
}

static struct output_sys *create(const struct trc_trace *trace, const struct trc_process *process,
				 const struct output_systrace_opts *opts, struct output_sink *sink,
				 struct output_systrace_result *result)
{
	struct output_sys *sys = calloc(1, sizeof(*sys));

	memset(result, 0, sizeof(*result));
	if (!sys)
		return NULL;
	sys->trace = trace;
	sys->opts = opts;
	sys->process = process;
	sys->result = result;
	sys->sink = sink;
	sys->from_ns = opts->from_ns;
	sys->until_ns = opts->until_ns ? opts->until_ns : UINT64_MAX;
	choose_categories(sys);
	return sys;
}

static void destroy(struct output_sys *sys)
{
	free(sys->sums);
	free(sys);
}

enum ws_status output_sys_put_process(const struct trc_trace *trace,
				      const struct trc_process *process,
				      const struct output_systrace_opts *opts,
				      struct output_sink *sink,
				      struct output_systrace_result *out_result, struct ws_err *err)
{
	struct output_sys *sys = create(trace, process, opts, sink, out_result);
	enum ws_status st;

	if (!sys)
		return ws_fail(err, WS_E_NOMEM, "no memory to write a Perfetto trace");
	st = write_once(sys, NULL, err);
	destroy(sys);
	return st;
}

enum ws_status output_systrace_write(const struct trc_trace *trace,
				     const struct trc_process *process,
				     const struct output_systrace_opts *opts, const char *path,
				     struct output_systrace_result *out_result, struct ws_err *err)
{
	struct output_sink sink = { 0 };
	struct output_sys *sys = create(trace, process, opts, &sink, out_result);
	enum ws_status st;

	if (!sys)
		return ws_fail(err, WS_E_NOMEM, "no memory to write '%s'", path);
	st = write_file(sys, path, err);
	if (st)
		memset(out_result, 0, sizeof(*out_result));
	destroy(sys);
	return st;
}
