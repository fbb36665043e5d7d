/* events: records one after the other, with what they refer to. */
#include "trace/trace_priv.h"

#include <stdlib.h>
#include <string.h>

struct trc_events {
	const struct trc_trace *trace;
	struct trc_event_query query;
	struct trc_event event;
	struct trc_order *order; /* NULL: as recorded */
	size_t capture, chunk;   /* next to load */
	struct cap_view view;
	uint64_t types;
	size_t hint;                     /* of the clock */
	const struct trc_thread *thread; /* of the last event: the next is mostly the same */
	char *text;                      /* a message that is not terminated in the record */
	size_t text_cap;
	struct cap_rec_dispatch dispatch; /* the same with other values, or its number */
	struct trc_launch_block *launch_hint;
	const struct trc_capture *launch_capture; /* which the hint is of */
	struct cap_counter_value *values;
	size_t values_cap;
	struct cap_metric_value *metrics;
	size_t metrics_cap;
	enum ws_status st;
	struct ws_err err;
};

enum ws_status trc_events_open(const struct trc_trace *trace, const struct trc_event_query *query,
			       struct trc_events **out_events, struct ws_err *err)
{
	struct trc_events *events = calloc(1, sizeof(*events));
	enum ws_status st = WS_OK;

	if (!events)
		return ws_fail(err, WS_E_NOMEM, "events");
	events->trace = trace;
	events->query = *query;
	if (!events->query.domains)
		events->query.domains = TRC_DOMAINS_USUAL;
	events->types = trc_domain_types(events->query.domains);
	if (query->order == TRC_ORDER_START)
		st = trc_order_open(trace, &events->query, &events->order, err);
	if (st) {
		trc_events_close(events, NULL);
		return st;
	}
	*out_events = events;
	return WS_OK;
}

enum ws_status trc_events_close(struct trc_events *events, struct ws_err *err)
{
	enum ws_status st;

	if (!events)
		return WS_OK;
	st = events->st;
	if (st && err)
		*err = events->err;
	trc_order_close(events->order);
	cap_view_fini(&events->view);
	free(events->text);
	free(events->values);
	free(events->metrics);
	free(events);
	return st;
}

/* ---- one event ---- */

static const char *terminated(struct trc_events *events, struct cap_tail tail)
{
	if (events->text_cap <= tail.n_bytes) {
		size_t cap = WS_MAX((size_t)256, (size_t)tail.n_bytes * 2);
		char *text = realloc(events->text, cap);

		if (!text) {
			events->st = ws_fail(&events->err, WS_E_NOMEM, "a marker's message");
			return "";
		}
		events->text = text;
		events->text_cap = cap;
	}
	memcpy(events->text, tail.at, tail.n_bytes);
	events->text[tail.n_bytes] = 0;
	return events->text;
}

static void fill_call(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_call *call = (const struct cap_rec_call *)rec;
	const struct cap_rec_call_args *with = (const struct cap_rec_call_args *)rec;
	const struct trc_operation *op = trc_list_at(ev->process->operations, rec->what);

	ev->kind = op->kind;
	ev->op_id = op->id;
	ev->name = op->name;
	ev->corr_id = call->corr_id;
	ev->ancestor_id = call->ancestor_id;
	ev->call.op = op;
	ev->call.slots = NULL;
	ev->call.n_slots = 0;
	ev->call.has_retval = false;
	ev->call.retval = 0;
	if (cap_rec_type(rec) != CAP_REC_CALL_ARGS)
		return;
	ev->external_id = with->external_id;
	ev->stream = trc_list_at(ev->process->streams, with->stream);
	ev->call.has_retval = op->ret_kind != CAP_ARG_NONE;
	ev->call.retval = with->retval;
	ev->call.n_slots = with->n_arg_bytes / (uint32_t)sizeof(uint64_t);
	if (ev->call.n_slots)
		ev->call.slots = cap_rec_tail(rec).at;
}

static void fill_marker(struct trc_events *events, struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_marker *marker = (const struct cap_rec_marker *)rec;
	bool control = rec->what >= CAP_MARKER_PAUSE;
	const char *op_name;

	ev->kind = control ? CAP_KIND_MARKER_CONTROL_API : CAP_KIND_MARKER_CORE_RANGE_API;
	ev->op_id = control ? rec->what - CAP_MARKER_PAUSE : rec->what;
	op_name = trc_kind_op_name(ev->kind, ev->op_id);
	ev->marker.op_name = op_name ? op_name : "";
	ev->marker.has_message = !control && (marker->message || marker->n_bytes ||
					      rec->what <= CAP_MARKER_PROCESS_RANGE);
	if (marker->message)
		ev->name = trc_process_string(ev->process, marker->message);
	else if (ev->marker.has_message)
		ev->name = terminated(events, cap_rec_tail(rec));
	else
		ev->name = ev->marker.op_name;
	ev->corr_id = marker->corr_id;
	ev->ancestor_id = marker->ancestor_id;
}

static void fill_dispatch(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_dispatch *d = (const struct cap_rec_dispatch *)rec;

	ev->kind = CAP_KIND_KERNEL_DISPATCH;
	ev->op_id = 2; /* COMPLETE */
	ev->corr_id = d->corr_id;
	ev->external_id = d->external_id;
	ev->stream = trc_list_at(ev->process->streams, d->stream);
	ev->dispatch.kernel = trc_list_at(ev->process->kernels, rec->what);
	ev->dispatch.agent = trc_process_agent(ev->process, d->agent);
	ev->dispatch.queue = trc_list_at(ev->process->queues, d->queue);
	ev->dispatch.info = d;
	ev->dispatch.values = cap_rec_tail(rec).at;
	ev->dispatch.renamed = trc_process_external(ev->process, d->external_id);
	ev->name = ev->dispatch.renamed ? ev->dispatch.renamed : ev->dispatch.kernel->formatted;
}

/* The number that it has among all of its process. */
static void number(struct trc_events *events, struct trc_event *ev,
		   const struct trc_capture *capture)
{
	if (events->launch_capture != capture)
		events->launch_hint = NULL;
	events->launch_capture = capture;
	events->dispatch = *ev->dispatch.info;
	events->dispatch.dispatch_id =
		trc_launches_rank(&capture->launches, events->dispatch.dispatch_id,
				  &events->launch_hint);
	ev->dispatch.info = &events->dispatch;
}

/* Values from elsewhere than the record. One without any in it was not counted at all. */
static void recount(struct trc_events *events, struct trc_event *ev, const struct trc_recount *by)
{
	const struct cap_rec_dispatch *d = ev->dispatch.info;
	size_t n = d->n_values
			   ? by->values(by->ctx, ev->process, d, events->values, events->values_cap)
			   : 0;

	if (n > events->values_cap) {
		struct cap_counter_value *values = realloc(events->values, n * sizeof(*values));

		if (!values) {
			events->st = ws_fail(&events->err, WS_E_NOMEM, "a dispatch's counters");
			return;
		}
		events->values = values;
		events->values_cap = n;
		by->values(by->ctx, ev->process, d, values, n);
	}
	events->dispatch = *d;
	events->dispatch.n_values = (uint32_t)n;
	ev->dispatch.info = &events->dispatch;
	ev->dispatch.values = events->values;
}

static void remetric(struct trc_events *events, struct trc_event *ev, const struct trc_remetric *by)
{
	size_t n = by->values(by->ctx, ev->metrics.values, ev->metrics.n_values, events->metrics,
			      events->metrics_cap);

	if (n > events->metrics_cap) {
		struct cap_metric_value *values = realloc(events->metrics, n * sizeof(*values));

		if (!values) {
			events->st = ws_fail(&events->err, WS_E_NOMEM, "the metrics of a reading");
			return;
		}
		events->metrics = values;
		events->metrics_cap = n;
		by->values(by->ctx, ev->metrics.values, ev->metrics.n_values, values, n);
	}
	ev->metrics.values = events->metrics;
	ev->metrics.n_values = (uint32_t)n;
}

static void fill_op(struct trc_event *ev, enum cap_kind kind, uint32_t id)
{
	const char *name = trc_kind_op_name(kind, id);

	ev->kind = kind;
	ev->op_id = id;
	ev->name = name ? name : "";
}

static void fill_copy(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_copy *copy = (const struct cap_rec_copy *)rec;

	fill_op(ev, CAP_KIND_MEMORY_COPY, rec->what);
	ev->corr_id = copy->corr_id;
	ev->external_id = copy->external_id;
	ev->stream = trc_list_at(ev->process->streams, copy->stream);
	ev->copy.dst = trc_process_agent(ev->process, copy->dst_agent);
	ev->copy.src = trc_process_agent(ev->process, copy->src_agent);
	ev->copy.info = copy;
}

static void fill_alloc(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_alloc *alloc = (const struct cap_rec_alloc *)rec;

	fill_op(ev, CAP_KIND_MEMORY_ALLOCATION, rec->what);
	ev->corr_id = alloc->corr_id;
	ev->ancestor_id = alloc->ancestor_id;
	ev->external_id = alloc->external_id;
	ev->stream = trc_list_at(ev->process->streams, alloc->stream);
	ev->alloc.agent = trc_process_agent(ev->process, alloc->agent);
	ev->alloc.info = alloc;
}

static void fill_scratch(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_scratch *scratch = (const struct cap_rec_scratch *)rec;

	fill_op(ev, CAP_KIND_SCRATCH_MEMORY, rec->what);
	ev->corr_id = scratch->corr_id;
	ev->scratch.agent = trc_process_agent(ev->process, scratch->agent);
	ev->scratch.queue = trc_list_at(ev->process->queues, scratch->queue);
	ev->scratch.info = scratch;
}

static void fill_sample(struct trc_event *ev, const struct cap_rec *rec)
{
	const struct cap_rec_pc_sample *sample = (const struct cap_rec_pc_sample *)rec;

	ev->kind = CAP_KIND_NONE;
	ev->op_id = 0;
	ev->name = "";
	ev->corr_id = sample->corr_id;
	ev->external_id = sample->external_id;
	ev->sample.agent = trc_process_agent(ev->process, sample->agent);
	ev->sample.code_object =
		trc_list_at(ev->process->code_objects,
			    sample->code_object < UINT32_MAX ? (uint32_t)sample->code_object : 0);
	ev->sample.info = sample;
}

/* Records of the CPU side, which belong to the thread that owns the lane. */
static void fill_host(struct trc_event *ev, const struct cap_rec *rec)
{
	fill_op(ev, CAP_KIND_NONE, 0);
	ev->corr_id = 0;
	switch (cap_rec_type(rec)) {
	case CAP_REC_SAMPLE:
		ev->stack.info = (const struct cap_rec_sample *)rec;
		ev->stack.counts = cap_rec_tail(rec).at;
		break;
	case CAP_REC_METRICS:
		ev->metrics.values = cap_rec_tail(rec).at;
		ev->metrics.n_values = ((const struct cap_rec_metrics *)rec)->n_values;
		break;
	case CAP_REC_ANNOTATION:
		ev->region.region = &ev->process->regions.at[0];
		ev->region.annotation = (const struct cap_rec_annotation *)rec;
		ev->region.enters = false;
		break;
	default:
		ev->region.region = trc_list_at(ev->process->regions, rec->what);
		ev->region.annotation = NULL;
		ev->region.enters = cap_rec_type(rec) == CAP_REC_ENTER;
		ev->name = ev->region.region->name;
	}
}

static const struct trc_thread *thread_of(struct trc_events *events,
					  const struct trc_process *process, uint32_t tid)
{
	if (!events->thread || events->thread->tid != tid || events->thread->process != process)
		events->thread = trc_process_thread(process, tid);
	return events->thread;
}

/* The event of a record, or NULL if it is not requested. */
static const struct trc_event *fill(struct trc_events *events, const struct trc_capture *capture,
				    const struct cap_rec *rec, uint32_t tid)
{
	struct trc_event *ev = &events->event;
	uint32_t type = cap_rec_type(rec);

	ev->domain = trc_rec_domain(capture, rec);
	if (ev->domain == CAP_DOMAIN_COUNT || !trc_query_wants(&events->query, ev->domain, rec))
		return NULL;
	if (!trc_rec_times(capture, rec, &events->hint, &ev->start_ns, &ev->end_ns))
		return NULL;
	ev->process = &capture->pub;
	ev->rec = rec;
	ev->ancestor_id = ev->external_id = 0;
	ev->stream = &capture->pub.streams.at[0];
	if (type == CAP_REC_CALL || type == CAP_REC_CALL_ARGS) {
		fill_call(ev, rec);
	} else if (type == CAP_REC_MARKER) {
		fill_marker(events, ev, rec);
	} else if (type == CAP_REC_DISPATCH) {
		fill_dispatch(ev, rec);
		if (ev->dispatch.info->flags & CAP_DISPATCH_ORDERED)
			number(events, ev, capture);
		if (capture->recount)
			recount(events, ev, capture->recount);
		tid = ev->dispatch.info->tid;
	} else if (type == CAP_REC_COPY) {
		fill_copy(ev, rec);
		tid = ev->copy.info->tid;
	} else if (type == CAP_REC_ALLOC) {
		fill_alloc(ev, rec);
	} else if (type == CAP_REC_SCRATCH) {
		fill_scratch(ev, rec);
		tid = ev->scratch.info->tid;
	} else if (type == CAP_REC_COUNTED) {
		fill_op(ev, CAP_KIND_NONE, 0);
		ev->corr_id = 0;
		ev->counted.info = (const struct cap_rec_counted *)rec;
	} else if (type == CAP_REC_PC_SAMPLE) {
		fill_sample(ev, rec);
	} else {
		fill_host(ev, rec);
		if (type == CAP_REC_METRICS && capture->remetric)
			remetric(events, ev, capture->remetric);
	}
	ev->thread = thread_of(events, ev->process, tid);
	return ev;
}

/* ---- one after the other ---- */

static const struct trc_event *next_recorded(struct trc_events *events)
{
	const struct trc_trace *trace = events->trace;

	for (; events->capture < trace->n; events->capture++, events->chunk = 0) {
		const struct trc_capture *capture = trace->captures[events->capture];

		if (events->query.process && events->query.process != &capture->pub)
			continue;
		for (;;) {
			const struct trc_event *ev;
			const struct cap_rec *rec;

			while (events->view.bytes && (rec = cap_view_next(&events->view))) {
				ev = fill(events, capture, rec, events->view.tid);
				if (ev)
					return ev;
			}
			while (events->chunk < cap_reader_n_chunks(capture->reader) &&
			       !trc_chunk_wanted(cap_reader_chunk(capture->reader, events->chunk),
						 events->types))
				events->chunk++;
			if (events->chunk >= cap_reader_n_chunks(capture->reader))
				break;
			events->st = cap_reader_load(capture->reader, events->chunk++,
						     &events->view, &events->err);
			if (events->st)
				return NULL;
		}
	}
	return NULL;
}

const struct trc_event *trc_events_next(struct trc_events *events)
{
	const struct trc_capture *capture;
	const struct trc_event *ev;
	const struct cap_rec *rec;
	uint32_t tid;

	if (events->st)
		return NULL;
	if (!events->order)
		return next_recorded(events);
	while ((rec = trc_order_next(events->order, &capture, &tid, &events->st, &events->err))) {
		ev = fill(events, capture, rec, tid);
		if (ev)
			return ev;
	}
	return NULL;
}
