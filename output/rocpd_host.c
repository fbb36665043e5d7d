/*
 * The CPU side of a process in a database, in the rows that AMD's system profiler has for it.
 *
 * A frame of a sample is an event with a call stack, a region from the previous sample to this
 * one, and a row of the sampling track. A value over time is an event, a row of its track and
 * the value of a counter of the CPU or the GPU. AMD's tool uses one event for all values that
 * were read together, so that its tracks cannot be told apart; here each value has its own.
 */
#include "output/rocpd_host_priv.h"
#include "profile/frames.h"

#include <inttypes.h>

/* Rows of counters: ids from here on are of metrics. */
#define METRIC_IDS ((int64_t)1 << 32)

static struct output_rocpd_host_thread *thread_of(struct output_rocpd_host *h,
						  const struct trc_thread *thread)
{
	struct output_rocpd_host_thread **at =
		&h->threads[WS_MIN(thread->index, h->process->threads.n)];

	if (!*at) {
		*at = ws_arena_new(&h->db->process_arena, struct output_rocpd_host_thread);
		if (!*at) {
			ws_fail(h->db->err, WS_E_NOMEM, "no memory to write a database");
			return NULL;
		}
		(*at)->thread = thread;
		ws_vec_init(&(*at)->open, OUTPUT_ROCPD_DEPTH_MAX);
	}
	return *at;
}

/* ---- rows ---- */

int64_t output_rocpd_host_event(struct output_rocpd_host *h, const char *category, size_t n_stack)
{
	struct output_rocpd_db *db = h->db;
	int64_t id = (int64_t)++db->n_events;
	int64_t category_id = output_rocpd_string(db, category, true);
	struct output_rocpd_row row =
		output_rocpd_row(db, n_stack ? OUTPUT_ROCPD_EVENT_STACK : OUTPUT_ROCPD_EVENT);

	output_rocpd_int(&row, id);
	output_rocpd_int(&row, category_id);
	for (int i = 0; i < 3; i++)
		output_rocpd_int(&row, 0);
	if (n_stack) {
		output_rocpd_text_n(&row, db->json.buf, n_stack);
		output_rocpd_text_n(&row, db->json.buf + n_stack, db->json.n - n_stack);
	}
	return category_id < 0 || output_rocpd_step(db, &row) ? -1 : id;
}

enum ws_status output_rocpd_host_region(struct output_rocpd_host *h,
					const struct trc_thread *thread, uint64_t start_ns,
					uint64_t end_ns, int64_t name_id, int64_t event_id)
{
	int64_t tid = output_rocpd_thread(h->db, thread);
	struct output_rocpd_row row;

	if (tid < 0 || name_id < 0 || event_id < 0)
		return output_rocpd_fail(h->db);
	row = output_rocpd_row(h->db, OUTPUT_ROCPD_REGION);
	output_rocpd_null(&row);
	output_rocpd_bind_thread(h->db, &row, tid);
	output_rocpd_int(&row, (int64_t)start_ns);
	output_rocpd_int(&row, (int64_t)WS_MAX(start_ns, end_ns));
	output_rocpd_int(&row, name_id);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step(h->db, &row);
}

/* @thread NULL: a track of the process. */
static enum ws_status put_track(struct output_rocpd_host *h, const struct trc_thread *thread,
				const char *name, int64_t *out_track)
{
	struct output_rocpd_db *db = h->db;
	int64_t tid = thread ? output_rocpd_thread(db, thread) : 0;
	int64_t name_id = output_rocpd_string(db, name, false);
	struct output_rocpd_row row;

	if (tid < 0 || name_id < 0)
		return output_rocpd_fail(db);
	row = output_rocpd_row(db, OUTPUT_ROCPD_TRACK);
	*out_track = (int64_t)++db->n_tracks;
	output_rocpd_int(&row, *out_track);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, db->pid);
	if (thread)
		output_rocpd_int(&row, tid);
	else
		output_rocpd_null(&row);
	output_rocpd_int(&row, name_id);
	return output_rocpd_step(db, &row);
}

static enum ws_status put_sample_row(struct output_rocpd_host *h, int64_t track, uint64_t at_ns,
				     int64_t event_id)
{
	struct output_rocpd_row row = output_rocpd_row(h->db, OUTPUT_ROCPD_SAMPLE);

	output_rocpd_null(&row);
	output_rocpd_int(&row, track);
	output_rocpd_int(&row, (int64_t)at_ns);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step(h->db, &row);
}

/* ---- values over time ---- */

struct quantity {
	const char *name, *unit, *category;
	const struct trc_thread *thread; /* NULL: of the process or a device */
	int32_t gpu;                     /* -1: none */
	bool simulated;
};

/* GPUs are numbered among themselves; all else belongs to the first CPU. */
static const struct trc_agent *agent_of(const struct trc_process *process, int32_t gpu)
{
	for (size_t i = 0; i < process->agents.n; i++) {
		const struct cap_rec_agent *info = process->agents.at[i]->info;

		if (gpu < 0 ? info->type == CAP_AGENT_CPU
			    : info->type == CAP_AGENT_GPU &&
				      info->logical_node_type_id == (uint32_t)gpu)
			return process->agents.at[i];
	}
	return NULL;
}

static enum ws_status put_pmc(struct output_rocpd_host *h, const struct quantity *q,
			      int64_t *out_pmc)
{
	struct output_rocpd_db *db = h->db;
	const struct trc_agent *agent = agent_of(h->process, q->gpu);
	struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_METRIC);

	*out_pmc = db->base + METRIC_IDS + ++h->n_pmcs;
	output_rocpd_int(&row, *out_pmc);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, db->pid);
	if (agent)
		output_rocpd_int(&row, db->base + agent->info->node_id);
	else
		output_rocpd_null(&row);
	output_rocpd_text(&row, q->gpu < 0 ? "CPU" : "GPU");
	output_rocpd_text(&row, q->name);
	output_rocpd_text(&row, q->category);
	output_rocpd_text(&row, q->simulated ? "simulated" : "");
	output_rocpd_text(&row, "rocprof-sys");
	output_rocpd_text(&row, q->unit);
	output_rocpd_text(&row, "ABS");
	return output_rocpd_step(db, &row);
}

static enum ws_status put_value(struct output_rocpd_host *h, struct output_rocpd_series *series,
				const struct quantity *q, uint64_t at_ns, double value)
{
	struct output_rocpd_row row;
	enum ws_status st = WS_OK;
	int64_t event_id;

	if (!series->pmc) {
		st = put_track(h, q->thread, q->name, &series->track);
		if (!st)
			st = put_pmc(h, q, &series->pmc);
	}
	if (st)
		return st;
	event_id = output_rocpd_host_event(h, q->category, 0);
	if (event_id < 0)
		return output_rocpd_fail(h->db);
	st = put_sample_row(h, series->track, at_ns, event_id);
	if (st)
		return st;
	row = output_rocpd_row(h->db, OUTPUT_ROCPD_PMC_EVENT);
	output_rocpd_int(&row, event_id);
	output_rocpd_int(&row, series->pmc);
	sqlite3_bind_double(row.statement, ++row.at, value);
	return output_rocpd_step(h->db, &row);
}

static enum ws_status put_metrics(struct output_rocpd_host *h, const struct trc_event *ev)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; i < ev->metrics.n_values && !st; i++) {
		const struct cap_metric_value *value = &ev->metrics.values[i];
		const struct trc_metric *metric;

		if (!value->metric || value->metric >= h->process->metrics.n)
			continue;
		metric = &h->process->metrics.at[value->metric];
		if (!metric->id)
			continue;
		st = put_value(h, &h->metrics[value->metric],
			       &(struct quantity){
				       .name = metric->name,
				       .unit = metric->unit,
				       .category = trc_metric_category_name(metric->category),
				       .gpu = output_metric_on_gpu(metric) ? metric->device : -1,
				       .simulated = metric->simulated,
			       },
			       ev->start_ns, value->value);
	}
	return st;
}

static enum ws_status put_usage(struct output_rocpd_host *h,
				struct output_rocpd_host_thread *thread, const struct trc_event *ev,
				const struct output_sample_step *step)
{
	const char *names = h->process->samplers[ev->stack.info->sampler].count_names;
	char event[OUTPUT_SAMPLE_NAME_MAX], name[OUTPUT_SAMPLE_NAME_MAX];
	struct quantity q = { .name = name, .thread = ev->thread, .gpu = -1 };
	enum ws_status st = WS_OK;

	if (!step->has_usage)
		return WS_OK;
	for (unsigned i = 0; i < OUTPUT_USED_COUNT && !st; i++) {
		const struct output_used_info *info = &output_used_infos[i];

		output_used_track(ev->thread, info->name, name);
		q.unit = info->unit;
		q.category = info->category;
		st = put_value(h, &thread->used[i], &q, step->middle_ns, step->used[i]);
	}
	q.unit = "";
	q.category = OUTPUT_CPU_EVENT_CATEGORY;
	for (uint32_t i = 0; i < step->n_counts && !st && output_cpu_event_next(&names, event);
	     i++) {
		output_used_track(ev->thread, event, name);
		st = put_value(h, &thread->events[i], &q, step->middle_ns, step->counts[i]);
	}
	return st;
}

/* ---- samples ---- */

static void json_hex(struct output_jsonw *w, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	output_json_str(w, key, text);
}

/* Where a function is in the source; AMD's keys, which say "inlined" of any line. */
void output_rocpd_json_line(struct output_jsonw *w, const char *name, const char *file,
			    uint32_t line)
{
	char text[16];

	if (!*file || !line)
		return;
	snprintf(text, sizeof(text), "%u", line);
	output_json_open(w, "inlined", '{');
	output_json_str(w, "name", name);
	output_json_str(w, "location", file);
	output_json_str(w, "line", text);
	output_json_close(w, '}');
}

/* The call stack and the line information of a frame; where the second begins. */
static size_t json_frame(struct output_rocpd_db *db, const struct prof_frame *frame)
{
	struct output_jsonw w = { &db->json, false };
	char line[16];
	size_t n_stack;

	db->json.n = 0;
	output_json_open(&w, NULL, '{');
	output_json_str(&w, "name", frame->name);
	if (frame->inlined) {
		snprintf(line, sizeof(line), "%u", frame->line);
		output_json_str(&w, "location", frame->file);
		output_json_str(&w, "line", line);
		output_json_str(&w, "inlined", "true");
	} else if (frame->python) {
		output_json_str(&w, "file", frame->file);
	} else {
		json_hex(&w, "pc", frame->address);
		output_json_str(&w, "file", frame->module);
	}
	output_json_close(&w, '}');
	n_stack = db->json.n;
	w.more = false;
	output_json_open(&w, NULL, '{');
	if (!frame->inlined) {
		if (!frame->python)
			json_hex(&w, "line_address", frame->offset);
		output_json_str(&w, "name", frame->name);
		output_rocpd_json_line(&w, frame->name, frame->file, frame->line);
	}
	output_json_close(&w, '}');
	return n_stack;
}

static enum ws_status put_frame(struct output_rocpd_host *h, const struct trc_event *ev,
				const struct prof_frame *frame, int64_t track,
				const struct output_sample_step *step)
{
	size_t n_stack = json_frame(h->db, frame);
	int64_t event_id =
		output_rocpd_host_event(h, output_sample_category(ev->stack.info->sampler),
					n_stack);
	enum ws_status st =
		output_rocpd_host_region(h, ev->thread, step->start_ns, step->end_ns,
					 output_rocpd_string(h->db, frame->name, true), event_id);

	return st ? st : put_sample_row(h, track, step->start_ns, event_id);
}

static enum ws_status put_sample(struct output_rocpd_host *h,
				 struct output_rocpd_host_thread *thread,
				 const struct trc_event *ev)
{
	const struct cap_rec_sample *info = ev->stack.info;
	char name[OUTPUT_SAMPLE_NAME_MAX];
	const struct prof_frame *stack = NULL;
	struct output_sample_step step;
	enum ws_status st;
	int64_t *track;
	size_t n;

	if (info->sampler >= CAP_SAMPLER_COUNT || !h->frames)
		return WS_OK;
	track = &thread->sampled[info->sampler].track;
	n = prof_frames_of(h->frames, info->h.what, &stack);
	st = output_samples_next(&thread->sampled[info->sampler].samples, ev, &step, h->db->err);
	if (!st && !*track) {
		output_sample_track(h->process, ev->thread, info->sampler, name);
		st = put_track(h, ev->thread, name, track);
	}
	if (!st)
		st = put_usage(h, thread, ev, &step);
	for (size_t i = 0; i < n && !st; i++)
		st = put_frame(h, ev, &stack[i], *track, &step);
	h->db->run->result->n_written[OUTPUT_ROCPD][CAP_DOMAIN_CALL_STACK_SAMPLING]++;
	return st;
}

/* The region around the samples of a thread. */
static enum ws_status put_outermost(struct output_rocpd_host *h,
				    const struct output_rocpd_host_thread *thread,
				    enum cap_sampler kind)
{
	const struct output_samples *samples = &thread->sampled[kind].samples;
	int64_t track = thread->sampled[kind].track, event_id;
	char name[OUTPUT_SAMPLE_NAME_MAX];
	enum ws_status st;

	if (!track)
		return WS_OK;
	output_sample_outermost(h->process, kind, name);
	event_id = output_rocpd_host_event(h, output_sample_category(kind), 0);
	st = output_rocpd_host_region(h, thread->thread, samples->first_ns, samples->last_ns,
				      output_rocpd_string(h->db, name, false), event_id);
	return st ? st : put_sample_row(h, track, samples->first_ns, event_id);
}

/* ---- all of them ---- */

static enum ws_status put_one(struct output_rocpd_host *h, const struct trc_event *ev)
{
	struct output_rocpd_host_thread *thread;

	if (ev->domain == CAP_DOMAIN_METRICS) {
		h->db->run->result->n_written[OUTPUT_ROCPD][CAP_DOMAIN_METRICS]++;
		return put_metrics(h, ev);
	}
	thread = thread_of(h, ev->thread);
	if (!thread)
		return WS_E_NOMEM;
	return ev->domain == CAP_DOMAIN_REGIONS ? output_rocpd_put_region(h, thread, ev)
						: put_sample(h, thread, ev);
}

/* What is open when the process ends. */
static enum ws_status end_thread(struct output_rocpd_host *h,
				 struct output_rocpd_host_thread *thread)
{
	uint64_t end_ns = thread->thread->end_ns ? thread->thread->end_ns : h->process->fini_ns;
	enum ws_status st;

	st = output_rocpd_end_regions(h, thread, end_ns);
	for (unsigned k = 0; k < CAP_SAMPLER_COUNT && !st; k++)
		st = put_outermost(h, thread, k);
	return st;
}

static void release_thread(struct output_rocpd_host_thread *thread)
{
	for (size_t i = 0; i < thread->open.n; i++)
		ws_buf_fini(&thread->open.at[i].notes);
	ws_vec_fini(&thread->open);
	for (unsigned k = 0; k < CAP_SAMPLER_COUNT; k++)
		output_samples_fini(&thread->sampled[k].samples);
}

enum ws_status output_rocpd_put_host(struct output_rocpd_db *db)
{
	const struct trc_process *process = db->process;
	struct trc_event_query query = { .domains = TRC_DOMAIN_BIT(CALL_STACK_SAMPLING) |
						    TRC_DOMAIN_BIT(METRICS) |
						    TRC_DOMAIN_BIT(REGIONS),
					 .order = TRC_ORDER_START,
					 .process = process };
	struct output_rocpd_host h = { .db = db,
				       .process = process,
				       .frames = db->run->cfg->frames };
	size_t n_threads = process->threads.n + 1;
	const struct trc_event *ev;
	struct trc_events *events;
	enum ws_status st, closed;

	h.threads = ws_arena_array(&db->process_arena, n_threads, sizeof(*h.threads));
	h.metrics = ws_arena_array(&db->process_arena, process->metrics.n + 1, sizeof(*h.metrics));
	if (!h.threads || !h.metrics)
		return ws_fail(db->err, WS_E_NOMEM, "no memory to write a database");
	st = trc_events_open(db->run->trace, &query, &events, db->err);
	if (st)
		return st;
	while (!st && (ev = trc_events_next(events)))
		if (output_event_is_sound(ev))
			st = put_one(&h, ev);
	closed = trc_events_close(events, st ? NULL : db->err);
	st = st ? st : closed;
	for (size_t i = 0; i < n_threads; i++) {
		if (!h.threads[i])
			continue;
		if (!st)
			st = end_thread(&h, h.threads[i]);
		release_thread(h.threads[i]);
	}
	return st;
}
