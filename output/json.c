/*
 * json: one file with everything, on one line. docs/formats/json.md.
 *
 * Records are grouped by domain, so the trace is read once per domain that has any.
 * Here are the records; what stands before them is in json_facts.c.
 */
#include "output/json_sizes.h"
#include "output/jsonw.h"

#include <stdlib.h>

struct json {
	struct output_run *run;
	struct output_sink *sink;
	struct ws_map pcs;
	enum cap_domain domain;
	bool more;
};

#define KEY_U64(p, literal, v) output_fmt_u64(OUTPUT_FMT_LIT((p), literal), (v))

static char *fmt_head(struct json *json, char *p, const struct trc_event *ev, unsigned size)
{
	if (json->more)
		*p++ = ',';
	json->more = true;
	p = KEY_U64(p, "{\"size\":", size);
	p = KEY_U64(p, ",\"kind\":", (uint64_t)ev->kind);
	return KEY_U64(p, ",\"operation\":", ev->op_id);
}

static char *fmt_corr(char *p, const struct trc_event *ev, bool ancestor)
{
	p = KEY_U64(p, ",\"correlation_id\":{\"internal\":", ev->corr_id);
	p = KEY_U64(p, ",\"external\":", ev->external_id);
	if (ancestor)
		p = KEY_U64(p, ",\"ancestor\":", ev->ancestor_id);
	*p++ = '}';
	return p;
}

static char *fmt_times(char *p, const struct trc_event *ev)
{
	p = KEY_U64(p, ",\"start_timestamp\":", ev->start_ns);
	return KEY_U64(p, ",\"end_timestamp\":", ev->end_ns);
}

static char *fmt_handle(char *p, uint64_t v)
{
	p = KEY_U64(p, "{\"handle\":", v);
	*p++ = '}';
	return p;
}

static char *fmt_stream(struct json *json, char *p, const struct trc_event *ev)
{
	p = OUTPUT_FMT_LIT(p, ",\"stream_id\":");
	return fmt_handle(p, output_run_stream(json->run, ev));
}

static uint64_t agent_handle(const struct trc_agent *agent)
{
	return agent ? agent->info->handle : 0;
}

static char *fmt_dims(char *p, const uint32_t dims[3])
{
	p = KEY_U64(p, "{\"x\":", dims[0]);
	p = KEY_U64(p, ",\"y\":", dims[1]);
	p = KEY_U64(p, ",\"z\":", dims[2]);
	*p++ = '}';
	return p;
}

static char *fmt_dispatch_info(char *p, const struct trc_event *ev)
{
	const struct cap_rec_dispatch *info = ev->dispatch.info;

	p = KEY_U64(p, ",\"dispatch_info\":{\"size\":", OUTPUT_JSON_SIZE_DISPATCH_INFO);
	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"agent_id\":"), agent_handle(ev->dispatch.agent));
	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"queue_id\":"), ev->dispatch.queue->id);
	p = KEY_U64(p, ",\"kernel_id\":", ev->dispatch.kernel->id);
	p = KEY_U64(p, ",\"dispatch_id\":", info->dispatch_id);
	p = KEY_U64(p, ",\"private_segment_size\":", info->private_bytes);
	p = KEY_U64(p, ",\"group_segment_size\":", info->group_bytes);
	p = fmt_dims(OUTPUT_FMT_LIT(p, ",\"workgroup_size\":"), info->workgroup);
	p = fmt_dims(OUTPUT_FMT_LIT(p, ",\"grid_size\":"), info->grid);
	*p++ = '}';
	return p;
}

/* ---- records ---- */

/* What the GPU or the runtime did; the fields are AMD's, and so is their order. */
static char *begin_work(struct json *json, const struct trc_event *ev, unsigned size, bool ancestor)
{
	char *p = output_sink_room(json->sink, 1024);

	p = fmt_head(json, p, ev, size);
	p = KEY_U64(p, ",\"thread_id\":", ev->thread->tid);
	p = fmt_corr(p, ev, ancestor);
	return fmt_times(p, ev);
}

static char *begin_call(struct json *json, const struct trc_event *ev, unsigned size)
{
	char *p = output_sink_room(json->sink, 512);

	p = fmt_head(json, p, ev, size);
	p = fmt_corr(p, ev, true);
	p = fmt_times(p, ev);
	return KEY_U64(p, ",\"thread_id\":", ev->thread->tid);
}

static void end_record(struct json *json, char *p)
{
	*p++ = '}';
	output_sink_at(json->sink, p);
}

static void put_args(struct json *json, const struct trc_event *ev)
{
	struct output_sink *sink = json->sink;
	struct trc_arg_walk walk = { 0 };
	char value[CAP_ARG_STR_MAX + 64];
	const char *sep = "";
	struct trc_arg arg;

	output_sink_lit(sink, ",\"args\":[");
	while (trc_event_arg(ev, &walk, &arg)) {
		int n = trc_arg_print(ev->process, &arg, value, sizeof(value));
		size_t n_type = strlen(arg.type), n_name = strlen(arg.name);
		char *p;

		if (n_type + n_name > 1024)
			continue; /* no C declaration is that long: damage */
		p = output_sink_room(sink, n_type + n_name + 64);
		while (*sep)
			*p++ = *sep++;
		p = OUTPUT_FMT_LIT(p, "{\"type\":\"");
		memcpy(p, arg.type, n_type);
		p += n_type;
		p = OUTPUT_FMT_LIT(p, "\",\"name\":\"");
		memcpy(p, arg.name, n_name);
		p += n_name;
		p = OUTPUT_FMT_LIT(p, "\",\"value\":");
		output_sink_at(sink, p);
		n = n < 0 ? 0 : n < (int)sizeof(value) ? n : (int)sizeof(value) - 1;
		output_json_text(sink, value, (size_t)n);
		output_sink_lit(sink, "}");
		sep = ",";
	}
	output_sink_lit(sink, "]");
}

static void put_call(struct json *json, const struct trc_event *ev)
{
	bool hip = ev->domain == CAP_DOMAIN_HIP_API;
	bool args = hip || ev->domain == CAP_DOMAIN_ROCDECODE_API;
	char *p = begin_call(json, ev,
			     hip    ? OUTPUT_JSON_SIZE_HIP_CALL
			     : args ? OUTPUT_JSON_SIZE_ROCDECODE_CALL
				    : OUTPUT_JSON_SIZE_CALL);

	if (args) {
		output_sink_at(json->sink, p);
		put_args(json, ev);
		p = output_sink_room(json->sink, 128);
		p = KEY_U64(p, ",\"retval\":{\"uint64_t_retval\":",
			    ev->call.has_retval ? ev->call.retval : 0);
		*p++ = '}';
	}
	if (hip)
		p = fmt_stream(json, p, ev);
	end_record(json, p);
}

static void put_marker(struct json *json, const struct trc_event *ev)
{
	end_record(json, begin_call(json, ev, OUTPUT_JSON_SIZE_CALL));
}

static void put_dispatch(struct json *json, const struct trc_event *ev)
{
	char *p = begin_work(json, ev, OUTPUT_JSON_SIZE_DISPATCH, false);

	p = fmt_dispatch_info(p, ev);
	p = fmt_stream(json, p, ev);
	end_record(json, p);
}

static void put_counters(struct json *json, const struct trc_event *ev)
{
	char *p = output_sink_room(json->sink, 1024);

	if (json->more)
		*p++ = ',';
	json->more = true;
	p = KEY_U64(p, "{\"thread_id\":", ev->thread->tid);
	p = KEY_U64(p, ",\"dispatch_data\":{\"size\":", OUTPUT_JSON_SIZE_COUNTED);
	p = fmt_corr(p, ev, false);
	p = fmt_times(p, ev);
	p = fmt_dispatch_info(p, ev);
	p = OUTPUT_FMT_LIT(p, "},\"records\":[");
	for (uint32_t i = 0; i < ev->dispatch.info->n_values; i++) {
		output_sink_at(json->sink, p);
		p = output_sink_room(json->sink, OUTPUT_FMT_F64_MAX + 64);
		if (i)
			*p++ = ',';
		p = OUTPUT_FMT_LIT(p, "{\"counter_id\":");
		p = fmt_handle(p, ev->dispatch.values[i].counter);
		p = OUTPUT_FMT_LIT(p, ",\"value\":");
		p = output_fmt_json_f64(p, ev->dispatch.values[i].value);
		*p++ = '}';
	}
	*p++ = ']';
	p = fmt_stream(json, p, ev);
	end_record(json, p);
}

static void put_copy(struct json *json, const struct trc_event *ev)
{
	char *p = begin_work(json, ev, OUTPUT_JSON_SIZE_COPY, false);

	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"dst_agent_id\":"), agent_handle(ev->copy.dst));
	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"src_agent_id\":"), agent_handle(ev->copy.src));
	p = KEY_U64(p, ",\"bytes\":", ev->copy.info->n_bytes);
	p = fmt_stream(json, p, ev);
	end_record(json, p);
}

static void put_alloc(struct json *json, const struct trc_event *ev)
{
	char *p = begin_work(json, ev, OUTPUT_JSON_SIZE_ALLOC, true);

	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"agent_id\":"), agent_handle(ev->alloc.agent));
	p = output_fmt_hex16(OUTPUT_FMT_LIT(p, ",\"address\":\""), ev->alloc.info->address);
	p = KEY_U64(p, "\",\"allocation_size\":", ev->alloc.info->n_bytes);
	p = fmt_stream(json, p, ev);
	end_record(json, p);
}

static void put_scratch(struct json *json, const struct trc_event *ev)
{
	char *p = output_sink_room(json->sink, 1024);

	p = fmt_head(json, p, ev, OUTPUT_JSON_SIZE_SCRATCH);
	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"agent_id\":"), agent_handle(ev->scratch.agent));
	p = fmt_handle(OUTPUT_FMT_LIT(p, ",\"queue_id\":"), ev->scratch.queue->id);
	p = KEY_U64(p, ",\"thread_id\":", ev->thread->tid);
	p = fmt_times(p, ev);
	p = fmt_corr(p, ev, true);
	p = KEY_U64(p, ",\"flags\":", ev->scratch.info->flags);
	p = KEY_U64(p, ",\"allocation_size\":", ev->scratch.info->n_bytes);
	end_record(json, p);
}

static const char *const pipes[] = { "valu",     "matrix", "lds", "lds_direct", "scalar",
				     "vmem_tex", "flat",   "exp", "misc",       "brmsg" };

static void put_snapshot(struct output_jsonw *w, const struct cap_rec_pc_sample *info)
{
	char key[40];

	output_json_bool(w, "wave_issued", info->wave_issued);
	output_json_str(w, "inst_type", output_pc_inst_type(info->inst_type));
	output_json_u64(w, "wave_cnt", info->wave_count);
	output_json_open(w, "snapshot", '{');
	output_json_str(w, "stall_reason", output_pc_stall_reason(info->stall_reason));
	output_json_u64(w, "dual_issue_valu", info->dual_issue_valu);
	for (size_t i = 0; i < WS_ARRAY_LEN(pipes); i++) {
		snprintf(key, sizeof(key), "arb_state_issue_%s", pipes[i]);
		output_json_u64(w, key, info->arb_issue >> i & 1);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(pipes); i++) {
		snprintf(key, sizeof(key), "arb_state_stall_%s", pipes[i]);
		output_json_u64(w, key, info->arb_stall >> i & 1);
	}
	output_json_close(w, '}');
}

static void put_sample(struct json *json, const struct trc_event *ev)
{
	const struct cap_rec_pc_sample *info = ev->sample.info;
	struct output_jsonw writer = { json->sink, json->more }, *w = &writer;

	output_json_open(w, NULL, '{');
	output_json_open(w, "record", '{');
	if (info->h.what & CAP_PC_STOCHASTIC) {
		output_json_open(w, "flags", '{');
		output_json_bool(w, "has_mem_cnt", info->h.what & CAP_PC_HAS_MEM_CNT);
		output_json_close(w, '}');
	}
	output_json_open(w, "hw_id", '{');
	output_json_u64(w, "chiplet", info->chiplet);
	output_json_u64(w, "wave_id", info->wave_id);
	output_json_u64(w, "simd_id", info->simd_id);
	output_json_u64(w, "pipe_id", info->pipe_id);
	output_json_u64(w, "cu_or_wgp_id", info->cu_or_wgp_id);
	output_json_u64(w, "shader_array_id", info->shader_array_id);
	output_json_u64(w, "shader_engine_id", info->shader_engine_id);
	output_json_u64(w, "workgroup_id ", info->hw_workgroup_id); /* the blank is AMD's */
	output_json_u64(w, "vm_id", info->vm_id);
	output_json_u64(w, "queue_id", info->queue_id);
	output_json_u64(w, "microengine_id", info->microengine_id);
	output_json_close(w, '}');
	output_json_open(w, "pc", '{');
	output_json_u64(w, "code_object_id", info->code_object);
	output_json_u64(w, "code_object_offset", info->offset);
	output_json_close(w, '}');
	output_json_u64(w, "exec_mask", info->exec_mask);
	output_json_u64(w, "timestamp", ev->start_ns);
	output_json_u64(w, "dispatch_id", info->dispatch_id);
	output_json_open(w, "corr_id", '{');
	output_json_u64(w, "internal", ev->corr_id);
	output_json_u64(w, "external", ev->external_id);
	output_json_close(w, '}');
	output_json_dim3(w, "wrkgrp_id", info->workgroup);
	output_json_u64(w, "wave_in_grp", info->wave_in_group);
	if (info->h.what & CAP_PC_STOCHASTIC)
		put_snapshot(w, info);
	output_json_close(w, '}');
	output_json_i64(w, "inst_index",
			(int64_t)(intptr_t)ws_map_get_u64(&json->pcs, output_json_pc_key(info)) -
				1);
	output_json_close(w, '}');
	json->more = true;
}

typedef void put_record(struct json *json, const struct trc_event *ev);

static put_record *const put_records[] = {
	[OUTPUT_SHAPE_CALL] = put_call,         [OUTPUT_SHAPE_MARKER] = put_marker,
	[OUTPUT_SHAPE_DISPATCH] = put_dispatch, [OUTPUT_SHAPE_COUNTERS] = put_counters,
	[OUTPUT_SHAPE_COPY] = put_copy,         [OUTPUT_SHAPE_ALLOC] = put_alloc,
	[OUTPUT_SHAPE_SCRATCH] = put_scratch,   [OUTPUT_SHAPE_SAMPLE] = put_sample,
};

static enum ws_status put_event(void *ctx, const struct trc_event *ev)
{
	struct json *json = ctx;

	if (output_event_is_dispatch(ev) &&
	    (json->domain == CAP_DOMAIN_COUNTER_COLLECTION ? !ev->dispatch.info->n_values
							   : !output_event_traced(ev)))
		return WS_OK;
	put_records[output_domain_infos[json->domain].shape](json, ev);
	json->sink->n_rows++;
	json->run->result->n_written[OUTPUT_JSON][json->domain]++;
	return json->sink->err.status;
}

static enum ws_status put_domain(struct json *json, const struct trc_process *process,
				 const char *key, enum cap_domain domain, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	output_sink_lit(json->sink, "\"");
	output_sink_str(json->sink, key);
	output_sink_lit(json->sink, "\":[");
	json->domain = domain;
	json->more = false;
	if (json->run->result->n_events[domain])
		st = output_run_each(json->run, process, 1u << domain, TRC_ORDER_RECORDED,
				     put_event, json, err);
	output_sink_lit(json->sink, "]");
	return st;
}

/* ---- PC samples: the texts come before the records ---- */

struct texts {
	const struct output_decoder *decoder;
	struct ws_map *pcs;
	struct output_jsonw instructions, comments;
	struct ws_err *err;
};

static enum ws_status decode_sample(void *ctx, const struct trc_event *ev)
{
	struct texts *texts = ctx;
	const struct cap_rec_pc_sample *info = ev->sample.info;
	const char *instruction, *comment;
	uint64_t key = output_json_pc_key(info);

	if (ws_map_find_u64(texts->pcs, key) ||
	    !texts->decoder->decode(texts->decoder->ctx, ev->process, info->code_object,
				    info->offset, &instruction, &comment))
		return WS_OK;
	output_json_str(&texts->instructions, NULL, instruction);
	output_json_str(&texts->comments, NULL, comment);
	return ws_map_put_u64(texts->pcs, key, (void *)(intptr_t)(texts->pcs->n + 1), texts->err);
}

enum ws_status output_json_sample_texts(struct output_jsonw *w, struct output_run *run,
					const struct trc_process *process, struct ws_map *pcs,
					struct ws_err *err)
{
	static const char *const empty[] = { "att_filenames", "code_object_snapshot_filenames" };
	struct texts texts = { .decoder = run->cfg->decoder, .pcs = pcs, .err = err };
	struct output_sink sinks[2];
	enum ws_status st = output_sink_open_memory(&sinks[0], err);

	if (st)
		return st;
	st = output_sink_open_memory(&sinks[1], err);
	texts.instructions.sink = &sinks[0];
	texts.comments.sink = &sinks[1];
	if (!st && texts.decoder &&
	    (run->result->n_events[CAP_DOMAIN_PC_SAMPLING_HOST_TRAP] ||
	     run->result->n_events[CAP_DOMAIN_PC_SAMPLING_STOCHASTIC]))
		st = output_run_each(run, process,
				     TRC_DOMAIN_BIT(PC_SAMPLING_HOST_TRAP) |
					     TRC_DOMAIN_BIT(PC_SAMPLING_STOCHASTIC),
				     TRC_ORDER_RECORDED, decode_sample, &texts, err);
	for (int i = 0; !st && i < 2; i++) {
		output_json_open(w, i ? "pc_sample_comments" : "pc_sample_instructions", '[');
		output_sink_put(w->sink, sinks[i].buf, sinks[i].n);
		output_json_close(w, ']');
		st = sinks[i].err.status;
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(empty); i++) {
		output_json_open(w, empty[i], '[');
		output_json_close(w, ']');
	}
	output_sink_abandon(&sinks[0]);
	output_sink_abandon(&sinks[1]);
	return st;
}

/* ---- the file ---- */

static const struct {
	const char *key;
	enum cap_domain domain;
} buffers[] = {
	{ "kernel_dispatch", CAP_DOMAIN_KERNEL_DISPATCH },
	{ "hip_api", CAP_DOMAIN_HIP_API },
	{ "hsa_api", CAP_DOMAIN_HSA_API },
	{ "marker_api", CAP_DOMAIN_MARKER_API },
	{ "rccl_api", CAP_DOMAIN_RCCL_API },
	{ "rocjpeg_api", CAP_DOMAIN_ROCJPEG_API },
	{ "rocdecode_api", CAP_DOMAIN_ROCDECODE_API },
	{ "memory_copy", CAP_DOMAIN_MEMORY_COPY },
	{ "memory_allocation", CAP_DOMAIN_MEMORY_ALLOCATION },
	{ "scratch_memory", CAP_DOMAIN_SCRATCH_MEMORY },
	{ "pc_sample_host_trap", CAP_DOMAIN_PC_SAMPLING_HOST_TRAP },
	{ "pc_sample_stochastic", CAP_DOMAIN_PC_SAMPLING_STOCHASTIC },
};

/* AMD's tool has no such records. */
static enum ws_status put_interval(void *ctx, const struct output_interval *interval)
{
	struct output_jsonw *w = ctx;

	output_json_open(w, NULL, '{');
	output_json_handle(w, "agent_id", agent_handle(interval->agent));
	output_json_str(w, "counter_name", interval->metric->counter);
	output_json_f64(w, "value", interval->value);
	output_json_u64(w, "start_timestamp", interval->start_ns);
	output_json_u64(w, "end_timestamp", interval->end_ns);
	output_json_close(w, '}');
	return w->sink->err.status;
}

static enum ws_status put_intervals(struct json *json, const struct trc_process *process,
				    struct ws_err *err)
{
	struct output_jsonw w = { json->sink, true };
	enum ws_status st;

	if (!output_has_intervals(process))
		return WS_OK;
	output_json_open(&w, "counter_intervals", '[');
	st = output_each_interval(json->run, process, OUTPUT_JSON, put_interval, &w, err);
	output_json_close(&w, ']');
	return st;
}

static enum ws_status put_process(struct json *json, const struct trc_process *process,
				  struct ws_err *err)
{
	struct output_jsonw w = { json->sink, false };
	enum ws_status st;

	output_sink_lit(json->sink, "{");
	ws_map_init(&json->pcs, WS_MAP_U64, 1u << 24);
	st = output_json_facts(&w, json->run, process, &json->pcs, err);
	output_sink_lit(json->sink, ",\"callback_records\":{");
	if (!st)
		st = put_domain(json, process, "counter_collection", CAP_DOMAIN_COUNTER_COLLECTION,
				err);
	output_sink_lit(json->sink, "},\"buffer_records\":{");
	for (size_t i = 0; !st && i < WS_ARRAY_LEN(buffers); i++) {
		if (i)
			output_sink_lit(json->sink, ",");
		st = put_domain(json, process, buffers[i].key, buffers[i].domain, err);
	}
	if (!st)
		st = put_intervals(json, process, err);
	output_sink_lit(json->sink, "}}");
	ws_map_fini(&json->pcs);
	return st;
}

static enum ws_status write_json(struct output_run *run, struct ws_err *err)
{
	struct output_sink sink;
	struct json json = { .run = run, .sink = &sink };
	enum ws_status st = output_run_open(run, &sink, "results.json", err);

	if (st)
		return st;
	output_sink_lit(&sink, "{\"rocprofiler-sdk-tool\":[");
	for (size_t i = 0; !st && i < run->n_processes; i++) {
		if (i)
			output_sink_lit(&sink, ",");
		st = put_process(&json, run->processes[i], err);
	}
	output_sink_lit(&sink, "]}\n");
	if (!st || sink.err.status)
		st = output_run_finish(run, OUTPUT_JSON, &sink, err);
	if (st) {
		memset(run->result->n_written[OUTPUT_JSON], 0,
		       sizeof(run->result->n_written[OUTPUT_JSON]));
		output_sink_abandon(&sink);
	}
	return st;
}

const struct output_ops output_json = {
	.word = "json",
	.what = "JSON",
	.write = write_json,
};
