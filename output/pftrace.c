/*
 * pftrace: a trace for ui.perfetto.dev. docs/formats/pftrace.md.
 *
 * Here are the file, its slices and their annotations; see pf_file.h for how they nest,
 * pftrace_gpu.c for overlapping kernels, pftrace_counters.c for values over time.
 */
#include "output/pftrace_priv.h"
#include "output/systrace_priv.h"

#include <stdlib.h>

/* clang-format off */
#define NOTES(X)                                                                                   \
	X(begin_ns) X(end_ns) X(delta_ns) X(tid) X(kind) X(operation) X(corr_id) X(ancestor_id)    \
	X(stream_ID) X(src_agent) X(dst_agent) X(copy_bytes) X(agent) X(agent_type) X(queue)       \
	X(kernel_id) X(Scratch_Size) X(LDS_Block_Size) X(VGPR_Count) X(Accum_VGPR_Count)           \
	X(SGPR_Count) X(workgroup_size) X(grid_size)
/* clang-format on */

enum note {
	NOTE_NONE,
#define NOTE(name) NOTE_##name,
	NOTES(NOTE)
#undef NOTE
		NOTE_COUNT
};
static const char *const note_names[] = {
#define NOTE(name) [NOTE_##name] = #name,
	NOTES(NOTE)
#undef NOTE
};

/* ---- slices ---- */

static char *note_agent(struct output_pf *pf, char *p, enum note note,
			const struct trc_agent *agent)
{
	char text[48], *end = text;

	if (agent) {
		uint32_t number;
		const char *label = output_agent_label(agent, pf->run->cfg->agent_index, &number);

		end = stpcpy(end, label);
		*end++ = '-';
		end = output_fmt_u64(end, number);
	}
	return output_pf_note_text(p, note, text, (size_t)(end - text));
}

/* All of a BEGIN but its annotations; they follow, then put_begin_end(). */
struct begun {
	char *packet, *event;
	bool instant; /* set before: a point in time, which is never ended */
};

static char *put_begin(struct output_pf *pf, const struct output_pf_lane *lane,
		       enum cap_domain category, const char *name, uint64_t name_iid,
		       uint64_t start_ns, uint64_t corr_id, size_t room, struct begun *out)
{
	size_t n = name_iid ? 0 : output_pf_name_bytes(name);
	char *p = output_pf_begin(&pf->file, n + room + 128, &out->packet);

	p = output_pb_u64(p, PACKET_TIMESTAMP, start_ns);
	p = output_pb_begin(p, PACKET_TRACK_EVENT, &out->event);
	p = output_pb_u64(p, EVENT_TYPE, out->instant ? TYPE_INSTANT : TYPE_BEGIN);
	p = output_pb_u64(p, EVENT_TRACK, lane->uuid);
	p = output_pb_u64(p, EVENT_CATEGORY_IIDS, (uint64_t)category + 1);
	if (name_iid)
		p = output_pb_u64(p, EVENT_NAME_IID, name_iid);
	else
		p = output_pb_text(p, EVENT_NAME, name, n);
	if (corr_id)
		p = output_pb_fixed64(p, EVENT_FLOWS, corr_id ^ pf->file.uuid);
	return p;
}

static void put_begin_end(struct output_pf *pf, char *p, struct begun *begun)
{
	output_pb_end(p, begun->event);
	output_pf_end(&pf->file, p, begun->packet);
	pf->file.sink->n_rows++;
}

static char *note_times(char *p, uint64_t start_ns, uint64_t end_ns)
{
	p = output_pf_note_u64(p, NOTE_begin_ns, start_ns);
	p = output_pf_note_u64(p, NOTE_end_ns, end_ns);
	return output_pf_note_u64(p, NOTE_delta_ns, end_ns - start_ns);
}

/* What it is: AMD's numbers, or from a database, as its converter has it, their names. */
static char *note_what(struct output_pf *pf, char *p, const struct trc_event *ev,
		       const char *operation)
{
	const char *kind = trc_kind_name(ev->kind);

	if (!pf->run->cfg->from_database) {
		p = output_pf_note_u64(p, NOTE_kind, (uint64_t)ev->kind);
		return operation ? output_pf_note_u64(p, NOTE_operation, ev->op_id) : p;
	}
	p = output_pf_note_text(p, NOTE_kind, kind, strlen(kind));
	return operation ? output_pf_note_text(p, NOTE_operation, operation,
					       WS_MIN(strlen(operation), 96u))
			 : p;
}

/* rocDecode's arguments, one annotation each. */
static char *note_args(struct output_pf *pf, char *p, size_t room, const struct trc_event *ev)
{
	struct trc_arg_walk walk = { 0 };
	char value[256], *limit = p + room;
	struct trc_arg arg;

	while (trc_event_arg(ev, &walk, &arg)) {
		struct ws_map_entry *entry = ws_map_find(&pf->file.notes, ws_str_from(arg.name));
		int n = trc_arg_print(ev->process, &arg, value, sizeof(value));

		if (!entry || n < 0 || limit - p < (ptrdiff_t)sizeof(value) + 32)
			continue;
		p = output_pf_note_text(p, (uintptr_t)entry->value, value,
					WS_MIN((size_t)n, sizeof(value) - 1));
	}
	return p;
}

#define ARGS_ROOM 8192u

static enum ws_status put_call(struct output_pf *pf, const struct trc_event *ev)
{
	bool decode = ev->domain == CAP_DOMAIN_ROCDECODE_API;
	uint64_t end_ns = WS_MAX(ev->end_ns, ev->start_ns);
	struct output_pf_track *track = output_pf_thread_track(pf, ev->thread);
	struct begun begun = { .instant = pf->run->cfg->from_database && end_ns == ev->start_ns };
	struct output_pf_lane *lane = track ? &track->first : NULL;
	const char *operation = ev->domain == CAP_DOMAIN_MARKER_API ? ev->marker.op_name : ev->name;
	uint64_t iid;
	char *p;

	if (lane && !begun.instant)
		lane = output_pf_enter(&pf->file, track, ev->start_ns, end_ns);
	if (!lane)
		return output_pf_no_memory(&pf->file);
	iid = output_pf_intern_name(&pf->file, ev->name, ev->domain != CAP_DOMAIN_MARKER_API);
	if (decode) {
		struct trc_arg_walk walk = { 0 };
		struct trc_arg arg;

		while (trc_event_arg(ev, &walk, &arg))
			output_pf_intern(&pf->file, &pf->file.notes, INTERNED_NOTES, NOTE_COUNT,
					 arg.name);
	}
	p = put_begin(pf, lane, ev->domain, ev->name, iid, ev->start_ns, ev->corr_id,
		      decode ? ARGS_ROOM + 512 : 512, &begun);
	p = note_times(p, ev->start_ns, end_ns);
	p = output_pf_note_u64(p, NOTE_tid, ev->thread->tid);
	p = note_what(pf, p, ev, operation);
	p = output_pf_note_u64(p, NOTE_corr_id, ev->corr_id);
	p = output_pf_note_u64(p, NOTE_ancestor_id, ev->ancestor_id);
	if (ev->domain == CAP_DOMAIN_HIP_API)
		p = output_pf_note_u64(p, NOTE_stream_ID, output_run_stream(pf->run, ev));
	if (decode)
		p = note_args(pf, p, ARGS_ROOM, ev);
	put_begin_end(pf, p, &begun);
	pf->run->result->n_written[OUTPUT_PFTRACE][ev->domain]++;
	return WS_OK;
}

/* A product; from a database, with its factors. */
static char *note_size(struct output_pf *pf, char *p, enum note note, const uint32_t dims[3])
{
	uint64_t product = (uint64_t)dims[0] * dims[1] * dims[2];
	char text[96];
	int n;

	if (!pf->run->cfg->from_database)
		return output_pf_note_u64(p, note, product);
	n = snprintf(text, sizeof(text), "%llu (x=%u, y=%u, z=%u)", (unsigned long long)product,
		     dims[0], dims[1], dims[2]);
	return output_pf_note_text(p, note, text, (size_t)n);
}

static char *note_dispatch(struct output_pf *pf, char *p, const struct output_pf_gpu_slice *slice)
{
	const struct trc_event *ev = &slice->ev;
	const struct cap_rec_dispatch *info = &slice->info.dispatch;
	const struct cap_rec_kernel *kernel = ev->dispatch.kernel->info;
	uint32_t queue = ev->dispatch.queue->id;
	bool database = pf->run->cfg->from_database;

	p = note_what(pf, p, ev, NULL);
	p = note_agent(pf, p, NOTE_agent, ev->dispatch.agent);
	if (!database)
		p = output_pf_note_text(p, NOTE_agent_type,
					output_agent_type_text(ev->dispatch.agent), 3);
	p = output_pf_note_u64(p, NOTE_corr_id, ev->corr_id);
	p = output_pf_note_u64(p, NOTE_queue, database || !queue ? queue : queue - 1);
	p = output_pf_note_u64(p, NOTE_tid, ev->thread->tid);
	p = output_pf_note_u64(p, NOTE_kernel_id, ev->dispatch.kernel->id);
	p = output_pf_note_u64(p, NOTE_Scratch_Size, info->private_bytes);
	p = output_pf_note_u64(p, NOTE_LDS_Block_Size, info->group_bytes);
	if (!database) {
		p = output_pf_note_u64(p, NOTE_VGPR_Count, kernel ? kernel->arch_vgpr_count : 0);
		p = output_pf_note_u64(p, NOTE_Accum_VGPR_Count,
				       kernel ? kernel->accum_vgpr_count : 0);
		p = output_pf_note_u64(p, NOTE_SGPR_Count, kernel ? kernel->sgpr_count : 0);
	}
	p = note_size(pf, p, NOTE_workgroup_size, info->workgroup);
	p = note_size(pf, p, NOTE_grid_size, info->grid);
	return output_pf_note_u64(p, NOTE_stream_ID, output_run_stream(pf->run, ev));
}

static char *note_copy(struct output_pf *pf, char *p, const struct output_pf_gpu_slice *slice)
{
	const struct trc_event *ev = &slice->ev;

	p = note_what(pf, p, ev, ev->name);
	p = note_agent(pf, p, NOTE_src_agent, ev->copy.src);
	p = note_agent(pf, p, NOTE_dst_agent, ev->copy.dst);
	p = output_pf_note_u64(p, NOTE_copy_bytes, slice->info.copy.n_bytes);
	p = output_pf_note_u64(p, NOTE_corr_id, ev->corr_id);
	p = output_pf_note_u64(p, NOTE_tid, ev->thread->tid);
	return output_pf_note_u64(p, NOTE_stream_ID, output_run_stream(pf->run, ev));
}

static const char *counter_name(const struct trc_process *process, uint32_t id)
{
	return id < process->counters.n ? process->counters.at[id].name : "";
}

#define NOTES_ROOM 768u /* of a kernel or a copy, without counters */
#define COUNTER_ROOM 32u

enum ws_status output_pf_put_gpu(struct output_pf *pf, const struct output_pf_gpu_slice *slice)
{
	const struct trc_event *ev = &slice->ev;
	bool kernel = output_event_is_dispatch(ev);
	enum cap_domain category = kernel ? CAP_DOMAIN_KERNEL_DISPATCH : CAP_DOMAIN_MEMORY_COPY;
	const char *name = output_run_name(pf->run, ev);
	struct output_pf_track *stream = output_pf_stream_track(pf, ev);
	struct output_pf_track *track = !pf->queue_mode ? stream
					: kernel        ? output_pf_queue_track(pf, ev)
							: output_pf_copy_track(pf, ev);
	struct output_pf_lane *lane = NULL;
	/* a packet holds so many; tracks and other formats have them all */
	size_t n_sums = WS_MIN(slice->n_sums, (OUTPUT_SINK_ROOM_MAX / 2) / COUNTER_ROOM);
	struct begun begun = { .instant = false };
	uint64_t iid;
	char *p;

	if (stream && track)
		lane = output_pf_enter(&pf->file, track, slice->start_ns, slice->end_ns);
	if (!lane)
		return output_pf_no_memory(&pf->file);
	iid = output_pf_intern_name(&pf->file, name, true);
	for (size_t i = 0; i < n_sums; i++)
		output_pf_intern(&pf->file, &pf->file.notes, INTERNED_NOTES, NOTE_COUNT,
				 counter_name(ev->process, slice->sums[i].counter));
	p = put_begin(pf, lane, category, name, iid, slice->start_ns, ev->corr_id,
		      NOTES_ROOM + n_sums * COUNTER_ROOM, &begun);
	p = note_times(p, slice->start_ns, slice->end_ns);
	p = kernel ? note_dispatch(pf, p, slice) : note_copy(pf, p, slice);
	for (size_t i = 0; i < n_sums; i++) {
		const char *counter = counter_name(ev->process, slice->sums[i].counter);
		struct ws_map_entry *entry = ws_map_find(&pf->file.notes, ws_str_from(counter));

		if (entry)
			p = output_pf_note_f64(p, (uintptr_t)entry->value, slice->sums[i].value);
	}
	put_begin_end(pf, p, &begun);
	pf->run->result->n_written[OUTPUT_PFTRACE][category]++;
	if (kernel && slice->n_sums)
		pf->run->result->n_written[OUTPUT_PFTRACE][CAP_DOMAIN_COUNTER_COLLECTION]++;
	return WS_OK;
}

static enum ws_status put_event(void *ctx, const struct trc_event *ev)
{
	struct output_pf *pf = ctx;
	enum ws_status st = WS_OK;

	switch (output_domain_infos[ev->domain].shape) {
	case OUTPUT_SHAPE_CALL:
	case OUTPUT_SHAPE_MARKER:
		st = put_call(pf, ev);
		break;
	case OUTPUT_SHAPE_DISPATCH:
	case OUTPUT_SHAPE_COUNTERS:
		if (output_event_traced(ev))
			st = output_pf_take_gpu(pf, ev);
		if (!st && ev->dispatch.info->n_values)
			st = output_pf_counters_event(pf->counters, ev);
		break;
	case OUTPUT_SHAPE_COPY:
		st = output_pf_take_gpu(pf, ev);
		if (!st)
			st = output_pf_counters_event(pf->counters, ev);
		break;
	case OUTPUT_SHAPE_ALLOC:
	case OUTPUT_SHAPE_SCRATCH: /* points of a counter track, no slices */
		st = output_pf_counters_event(pf->counters, ev);
		if (!st)
			pf->run->result->n_written[OUTPUT_PFTRACE][ev->domain]++;
		break;
	default:
		break;
	}
	return st ? st : pf->file.sink->err.status;
}

/* ---- the file ---- */

static void put_known_names(struct output_pf *pf)
{
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++)
		if (output_domain_infos[d].category)
			output_pf_put_interned(&pf->file, INTERNED_CATEGORIES, (uint64_t)d + 1,
					       output_domain_infos[d].category);
	for (int i = 1; i < NOTE_COUNT; i++)
		output_pf_put_interned(&pf->file, INTERNED_NOTES, (uint64_t)i,
				       i == NOTE_stream_ID && pf->run->cfg->from_database
					       ? "stream_id"
					       : note_names[i]);
}

static enum ws_status begin_process(struct output_pf *pf, const struct trc_process *process)
{
	struct ws_arena *arena = &pf->file.arena;

	output_pf_file_begin_process(&pf->file, process);
	pf->queue_mode = pf->run->cfg->group_by_queue || !process->hip_used;
	pf->threads = ws_arena_array(arena, process->threads.n + 2, sizeof(*pf->threads));
	pf->streams = ws_arena_array(arena, process->streams.n + 1, sizeof(*pf->streams));
	pf->queues = ws_arena_array(arena, process->queues.n + 1, sizeof(*pf->queues));
	pf->last = ws_arena_array(arena, process->queues.n + 1, sizeof(*pf->last));
	ws_map_init(&pf->copies, WS_MAP_U64, 1u << 24);
	pf->counters = output_pf_counters_create(pf);
	if (!pf->threads || !pf->streams || !pf->queues || !pf->last || !pf->counters)
		return output_pf_no_memory(&pf->file);
	output_pf_put_process(&pf->file, &(struct output_pf_process){ .label = NULL });
	return WS_OK;
}

static enum ws_status end_process(struct output_pf *pf, enum ws_status st)
{
	if (!st)
		st = output_pf_release(pf, UINT64_MAX);
	if (!st)
		st = output_pf_counters_flush(pf->counters);
	while (pf->n_heap) {
		struct output_pf_gpu_slice *slice = pf->heap[--pf->n_heap];

		slice->next_free = pf->free;
		pf->free = slice;
	}
	output_pf_counters_destroy(pf->counters);
	pf->counters = NULL;
	ws_map_fini(&pf->copies);
	output_pf_file_end_process(&pf->file);
	return st;
}

/* A database of rocprof-sys: its own timeline has tracks for all that is in it. */
static enum ws_status write_systrace(struct output_run *run, struct ws_err *err)
{
	struct output_systrace_opts opts = { .annotations = true,
					     .group_by_queue = run->cfg->group_by_queue };
	struct output_systrace_result result;
	struct output_sink sink;
	enum ws_status st = output_run_open(run, &sink, "results.pftrace", err);

	if (st)
		return st;
	for (size_t i = 0; !st && i < run->n_processes; i++) {
		st = prof_frames_open(run->processes[i], &(struct prof_frames_opts){ 0 },
				      &opts.frames, err);
		if (!st)
			st = output_sys_put_process(run->trace, run->processes[i], &opts, &sink,
						    &result, err);
		sink.n_rows += st ? 0 : result.n_slices;
		prof_frames_close(opts.frames);
		opts.frames = NULL;
	}
	if (!st || sink.err.status)
		st = output_run_finish(run, OUTPUT_PFTRACE, &sink, err);
	output_sink_abandon(&sink);
	return st;
}

static bool has_host_data(const struct output_run *run)
{
	const uint64_t *n = run->result->n_events;

	return n[CAP_DOMAIN_CALL_STACK_SAMPLING] || n[CAP_DOMAIN_METRICS] || n[CAP_DOMAIN_REGIONS];
}

static enum ws_status write_pftrace(struct output_run *run, struct ws_err *err)
{
	struct output_pf *pf = calloc(1, sizeof(*pf));
	struct output_sink sink;
	enum ws_status st;

	if (!pf)
		return ws_fail(err, WS_E_NOMEM, "no memory to write a Perfetto trace");
	if (run->cfg->from_database && has_host_data(run)) {
		free(pf);
		return write_systrace(run, err);
	}
	st = run->cfg->pftrace_path ? output_run_open_at(run, &sink, run->cfg->pftrace_path, err)
				    : output_run_open(run, &sink, "results.pftrace", err);
	if (st) {
		free(pf);
		return st;
	}
	pf->run = run;
	output_pf_file_init(&pf->file, &sink, err);
	put_known_names(pf);
	for (size_t i = 0; !st && i < run->n_processes; i++) {
		st = begin_process(pf, run->processes[i]);
		if (!st)
			st = output_run_each(run, run->processes[i], 0, TRC_ORDER_START, put_event,
					     pf, err);
		if (!st)
			st = output_each_interval(run, run->processes[i], OUTPUT_PFTRACE,
						  output_pf_counters_interval, pf->counters, err);
		st = end_process(pf, st);
	}
	if (!st || sink.err.status)
		st = output_run_finish(run, OUTPUT_PFTRACE, &sink, err);
	if (st)
		memset(run->result->n_written[OUTPUT_PFTRACE], 0,
		       sizeof(run->result->n_written[OUTPUT_PFTRACE]));
	output_sink_abandon(&sink);
	for (struct output_pf_gpu_slice *slice; (slice = pf->free);) {
		pf->free = slice->next_free;
		free(slice->sums);
		free(slice);
	}
	free(pf->heap);
	output_pf_file_fini(&pf->file);
	free(pf);
	return st;
}

const struct output_ops output_pftrace = {
	.word = "pftrace",
	.what = "Perfetto trace",
	.write = write_pftrace,
};
