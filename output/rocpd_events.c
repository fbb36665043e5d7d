/*
 * The rows of a database that are events: calls, markers, dispatches, copies, memory.
 *
 * rocpd_host.c has those of the CPU side: samples, regions, metrics.
 */
#include "output/rocpd_priv.h"

static enum ws_status put_event_row(struct output_rocpd_db *db, const struct trc_event *ev,
				    uint64_t parent_id, int64_t *out_id)
{
	struct output_rocpd_row row;
	bool message = ev->domain == CAP_DOMAIN_MARKER_API && ev->marker.has_message;

	row = output_rocpd_row(db, message ? OUTPUT_ROCPD_EVENT_EXT : OUTPUT_ROCPD_EVENT);
	*out_id = (int64_t)++db->n_events;
	output_rocpd_int(&row, *out_id);
	output_rocpd_int(&row, db->kind_ids[ev->kind]);
	output_rocpd_int(&row, (int64_t)ev->corr_id);
	output_rocpd_int(&row, (int64_t)parent_id);
	output_rocpd_int(&row, (int64_t)ev->external_id);
	if (message) {
		struct output_jsonw w = { &db->json, false };

		db->json.n = 0;
		output_json_open(&w, NULL, '{');
		output_json_str(&w, "message", ev->name);
		output_json_close(&w, '}');
		output_rocpd_text_n(&row, db->json.buf, db->json.n);
	}
	return output_rocpd_step(db, &row);
}

enum ws_status output_rocpd_put_args(struct output_rocpd_db *db,
				     const struct output_rocpd_arg *rows, int n, int64_t event_id,
				     int position)
{
	struct output_rocpd_row row = { db->args[n - 1], 0 };

	for (int i = 0; i < n; i++) {
		output_rocpd_int(&row, event_id);
		output_rocpd_int(&row, position + i);
		output_rocpd_text(&row, rows[i].type);
		output_rocpd_text(&row, rows[i].name);
		output_rocpd_text_n(&row, rows[i].value, rows[i].n_value);
		output_rocpd_text_n(&row, rows[i].extdata, rows[i].n_extdata);
	}
	db->n_rows += (uint64_t)n - 1;
	return output_rocpd_step(db, &row);
}

static enum ws_status put_args(struct output_rocpd_db *db, const struct trc_event *ev,
			       int64_t event_id)
{
	struct output_rocpd_arg rows[OUTPUT_ROCPD_ARGS];
	struct trc_arg_walk walk = { 0 };
	enum ws_status st = WS_OK;
	int n = 0, position = 0;
	struct trc_arg arg;

	while (!st && trc_event_arg(ev, &walk, &arg)) {
		struct output_rocpd_arg *row = &rows[n++];
		int n_value = trc_arg_print(ev->process, &arg, row->value, sizeof(row->value));

		row->type = arg.type;
		row->name = arg.name;
		row->n_value = n_value < 0 ? 0 : WS_MIN((size_t)n_value, sizeof(row->value) - 1);
		strcpy(row->extdata, "{}"); /* the table's default */
		row->n_extdata = 2;
		if (arg.kind == CAP_ARG_STREAM) {
			uint32_t id = db->run->cfg->group_by_queue ? 0 : arg.stream;
			int64_t row_id = output_rocpd_stream(db, id);

			if (row_id < 0)
				return output_rocpd_fail(db);
			row->n_extdata =
				(size_t)snprintf(row->extdata, sizeof(row->extdata),
						 "{\"stream_id\":%lld}", (long long)row_id);
		}
		if (n == OUTPUT_ROCPD_ARGS) {
			st = output_rocpd_put_args(db, rows, n, event_id, position);
			position += n;
			n = 0;
		}
	}
	return !st && n ? output_rocpd_put_args(db, rows, n, event_id, position) : st;
}

static void bind_span(const struct output_rocpd_db *db, struct output_rocpd_row *row, int64_t tid,
		      const struct trc_event *ev, int64_t name_id)
{
	output_rocpd_bind_thread(db, row, tid);
	output_rocpd_int(row, (int64_t)ev->start_ns);
	output_rocpd_int(row, (int64_t)ev->end_ns);
	output_rocpd_int(row, name_id);
}

static enum ws_status put_sample(struct output_rocpd_db *db, const struct trc_event *ev,
				 int64_t tid, int64_t event_id)
{
	uint64_t key = (uint64_t)ev->thread->index << 8 | (uint64_t)ev->kind;
	int64_t track = (int64_t)(intptr_t)ws_map_get_u64(&db->tracks, key);
	struct output_rocpd_row row;
	enum ws_status st;

	if (!track) {
		track = (int64_t)++db->n_tracks;
		row = output_rocpd_row(db, OUTPUT_ROCPD_TRACK);
		output_rocpd_int(&row, track);
		output_rocpd_bind_thread(db, &row, tid);
		output_rocpd_int(&row, db->kind_ids[ev->kind]);
		st = output_rocpd_step(db, &row);
		if (!st)
			st = ws_map_put_u64(&db->tracks, key, (void *)(intptr_t)track, db->err);
		if (st)
			return st;
	}
	row = output_rocpd_row(db, OUTPUT_ROCPD_SAMPLE);
	output_rocpd_int(&row, db->base + (int64_t)ev->corr_id);
	output_rocpd_int(&row, track);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step_or_new_id(db, &row);
}

static enum ws_status put_region(struct output_rocpd_db *db, const struct trc_event *ev)
{
	/* a marker's region is named after the function: its message is with the event */
	const char *name = ev->domain == CAP_DOMAIN_MARKER_API ? ev->marker.op_name : ev->name;
	int64_t tid = output_rocpd_thread(db, ev->thread);
	int64_t name_id = output_rocpd_string(db, name, true), event_id;
	struct output_rocpd_row row;
	enum ws_status st;

	if (tid < 0 || name_id < 0)
		return output_rocpd_fail(db);
	/* messages are in the table of strings, too, as far as it may grow */
	if (ev->domain == CAP_DOMAIN_MARKER_API && db->strings.n < OUTPUT_NAMES_MAX &&
	    output_rocpd_string(db, ev->name, false) < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->ancestor_id, &event_id);
	if (!st && (ev->domain == CAP_DOMAIN_HIP_API || ev->domain == CAP_DOMAIN_ROCDECODE_API))
		st = put_args(db, ev, event_id);
	if (st)
		return st;
	if (ev->start_ns == ev->end_ns)
		return put_sample(db, ev, tid, event_id);
	row = output_rocpd_row(db, OUTPUT_ROCPD_REGION);
	output_rocpd_int(&row, db->base + (int64_t)ev->corr_id);
	bind_span(db, &row, tid, ev, name_id);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step_or_new_id(db, &row);
}

static enum ws_status put_values(struct output_rocpd_db *db, const struct trc_event *ev,
				 int64_t event_id)
{
	enum ws_status st = WS_OK;

	for (uint32_t i = 0; !st && i < ev->dispatch.info->n_values; i++) {
		const struct cap_counter_value *value = &ev->dispatch.values[i];
		struct output_rocpd_row row = output_rocpd_row(db, OUTPUT_ROCPD_PMC_EVENT);

		if (value->counter >= ev->process->counters.n ||
		    !ev->process->counters.at[value->counter].info)
			continue; /* no such counter: there is no row to refer to */
		output_rocpd_int(&row, event_id);
		output_rocpd_int(&row, db->base + value->counter);
		sqlite3_bind_double(row.statement, ++row.at, value->value);
		st = output_rocpd_step(db, &row);
	}
	return st;
}

static enum ws_status put_dispatch(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;
	bool renamed = db->run->cfg->kernel_rename && ev->dispatch.renamed;
	int64_t ids[] = {
		output_rocpd_thread(db, ev->thread),
		output_rocpd_agent(db, ev->dispatch.agent),
		output_rocpd_kernel(db, ev->dispatch.kernel),
		(int64_t)info->dispatch_id,
		output_rocpd_queue(db, ev->dispatch.queue->id),
		output_rocpd_stream(db, output_run_stream(db->run, ev)),
	};
	int64_t region =
		renamed ? output_rocpd_string(db, ev->dispatch.renamed, true) : db->empty_id;
	struct output_rocpd_row row;
	int64_t event_id;
	enum ws_status st;

	for (size_t i = 0; i < WS_ARRAY_LEN(ids); i++)
		if (ids[i] < 0 || region < 0)
			return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->corr_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, OUTPUT_ROCPD_DISPATCH);
	output_rocpd_int(&row, db->base + (int64_t)info->dispatch_id);
	output_rocpd_int(&row, db->nid);
	output_rocpd_int(&row, db->pid);
	for (size_t i = 0; i < WS_ARRAY_LEN(ids); i++)
		output_rocpd_int(&row, ids[i]);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, (int64_t)ev->end_ns);
	output_rocpd_int(&row, info->private_bytes);
	output_rocpd_int(&row, info->group_bytes);
	for (int i = 0; i < 3; i++)
		output_rocpd_int(&row, info->workgroup[i]);
	for (int i = 0; i < 3; i++)
		output_rocpd_int(&row, info->grid[i]);
	output_rocpd_int(&row, region);
	output_rocpd_int(&row, event_id);
	st = output_rocpd_step_or_new_id(db, &row);
	return st ? st : put_values(db, ev, event_id);
}

static void bind_agent(struct output_rocpd_db *db, struct output_rocpd_row *row,
		       const struct trc_agent *agent)
{
	if (agent)
		output_rocpd_int(row, output_rocpd_agent(db, agent));
	else
		output_rocpd_null(row);
}

static enum ws_status put_copy(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_copy *info = ev->copy.info;
	int64_t tid = output_rocpd_thread(db, ev->thread);
	int64_t name_id = output_rocpd_string(db, ev->name, true);
	int64_t stream = output_rocpd_stream(db, output_run_stream(db->run, ev));
	/* the view shows copies whose agents are both known: an unknown one is a row, too */
	int64_t dst = output_rocpd_agent(db, ev->copy.dst),
		src = output_rocpd_agent(db, ev->copy.src);
	struct output_rocpd_row row;
	int64_t event_id;
	enum ws_status st;

	if (tid < 0 || name_id < 0 || stream < 0 || dst < 0 || src < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->corr_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, OUTPUT_ROCPD_COPY);
	bind_span(db, &row, tid, ev, name_id);
	output_rocpd_int(&row, dst);
	output_rocpd_int(&row, (int64_t)info->dst_address);
	output_rocpd_int(&row, src);
	output_rocpd_int(&row, (int64_t)info->src_address);
	output_rocpd_int(&row, (int64_t)info->n_bytes);
	output_rocpd_int(&row, stream);
	output_rocpd_int(&row, event_id);
	return output_rocpd_step(db, &row);
}

/* Allocations and scratch share a table. */
static enum ws_status put_memory(struct output_rocpd_db *db, const struct trc_event *ev,
				 const char *type, const char *level, const struct trc_agent *agent,
				 uint64_t address, uint64_t n_bytes, uint32_t queue_id,
				 uint32_t stream_id, const char *ext)
{
	int64_t tid = output_rocpd_thread(db, ev->thread), queue = output_rocpd_queue(db, queue_id);
	int64_t stream = output_rocpd_stream(db, stream_id), event_id;
	struct output_rocpd_row row;
	enum ws_status st;

	if (tid < 0 || queue < 0 || stream < 0)
		return output_rocpd_fail(db);
	st = put_event_row(db, ev, ev->ancestor_id, &event_id);
	if (st)
		return st;
	row = output_rocpd_row(db, ext ? OUTPUT_ROCPD_SCRATCH : OUTPUT_ROCPD_ALLOCATE);
	output_rocpd_bind_thread(db, &row, tid);
	bind_agent(db, &row, agent);
	output_rocpd_text(&row, type);
	output_rocpd_text(&row, level);
	output_rocpd_int(&row, (int64_t)ev->start_ns);
	output_rocpd_int(&row, (int64_t)ev->end_ns);
	output_rocpd_int(&row, (int64_t)address);
	output_rocpd_int(&row, (int64_t)n_bytes);
	output_rocpd_int(&row, queue);
	output_rocpd_int(&row, stream);
	output_rocpd_int(&row, event_id);
	if (ext)
		output_rocpd_text(&row, ext);
	return output_rocpd_step(db, &row);
}

static enum ws_status put_alloc(struct output_rocpd_db *db, const struct trc_event *ev)
{
	const struct cap_rec_alloc *info = ev->alloc.info;
	uint32_t op = info->h.what;
	bool is_free = op == CAP_ALLOC_FREE || op == CAP_ALLOC_VMEM_FREE;
	bool is_virtual = op == CAP_ALLOC_VMEM_ALLOCATE || op == CAP_ALLOC_VMEM_FREE;

	return put_memory(db, ev, is_free ? "FREE" : "ALLOC", is_virtual ? "VIRTUAL" : "REAL",
			  is_free ? NULL : ev->alloc.agent, info->address, info->n_bytes, 0,
			  output_run_stream(db->run, ev), NULL);
}

static enum ws_status put_scratch(struct output_rocpd_db *db, const struct trc_event *ev)
{
	static const char *const types[] = {
		[CAP_SCRATCH_ALLOC] = "ALLOC",
		[CAP_SCRATCH_FREE] = "FREE",
		[CAP_SCRATCH_ASYNC_RECLAIM] = "RECLAIM",
	};
	const struct cap_rec_scratch *info = ev->scratch.info;
	const char *type = info->h.what < WS_ARRAY_LEN(types) ? types[info->h.what] : NULL;
	char ext[40];

	snprintf(ext, sizeof(ext), "{\"flags\":\"%u\"}", info->flags);
	return put_memory(db, ev, type, "SCRATCH", ev->scratch.agent, 0, info->n_bytes,
			  ev->scratch.queue->id, 0, ext);
}

enum ws_status output_rocpd_put_event(void *ctx, const struct trc_event *ev)
{
	struct output_rocpd_db *db = ctx;
	uint64_t *n_written = db->run->result->n_written[OUTPUT_ROCPD];
	enum ws_status st = WS_OK;

	if (output_event_is_dispatch(ev)) {
		st = put_dispatch(db, ev);
		n_written[CAP_DOMAIN_KERNEL_DISPATCH] += output_event_traced(ev);
		n_written[CAP_DOMAIN_COUNTER_COLLECTION] += ev->dispatch.info->n_values != 0;
		return st;
	}
	switch (output_domain_infos[ev->domain].shape) {
	case OUTPUT_SHAPE_CALL:
	case OUTPUT_SHAPE_MARKER:
		st = put_region(db, ev);
		break;
	case OUTPUT_SHAPE_COPY:
		st = put_copy(db, ev);
		break;
	case OUTPUT_SHAPE_ALLOC:
		st = put_alloc(db, ev);
		break;
	case OUTPUT_SHAPE_SCRATCH:
		st = put_scratch(db, ev);
		break;
	default:
		return WS_OK; /* the schema has no place for PC samples */
	}
	n_written[ev->domain]++;
	return st;
}
