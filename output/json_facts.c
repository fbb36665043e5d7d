/* What the JSON file says before its records; keys and their order as rocprofv3 has them. */
#include "output/jsonw.h"

#include <stdlib.h>

uint64_t ws_node_hash(const struct ws_process *process)
{
	const char *id = process->facts[WS_FACT_MACHINE_ID];

	return ws_hash_bytes(id ? id : "", id ? strlen(id) : 0) % INT64_MAX;
}

/* ---- counters ---- */

static void put_instances(struct ws_jsonw *w, const struct ws_process *process,
			  const struct ws_counter *counter)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d < counter->info->n_dims; d++)
		n *= WS_MAX(counter->dims[d].n, 1u);
	n = WS_MIN(n, 65536u); /* a damaged record must not fill the disk */
	ws_json_open(w, "instances", '[');
	for (uint64_t i = 0; i < n; i++) {
		uint64_t left = i, id = 0;

		for (uint32_t d = 0; d < counter->info->n_dims; d++) {
			uint32_t size = WS_MAX(counter->dims[d].n, 1u);

			id |= left % size << (counter->dims[d].shift & 31);
			left /= size;
		}
		ws_json_open(w, NULL, '{');
		ws_json_u64(w, "instance_id", (uint64_t)counter->id << 32 | id);
		ws_json_handle(w, "counter_id", counter->id);
		ws_json_open(w, "dimensions", '[');
		left = i;
		for (uint32_t d = 0; d < counter->info->n_dims; d++) {
			uint32_t size = WS_MAX(counter->dims[d].n, 1u);

			ws_json_open(w, NULL, '{');
			ws_json_str(w, "dimension_name",
				    ws_process_string(process, counter->dims[d].name_str));
			ws_json_u64(w, "index", left % size);
			ws_json_close(w, '}');
			left /= size;
		}
		ws_json_close(w, ']');
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

static void put_dimension(struct ws_jsonw *w, const struct ws_process *process,
			  const struct ws_counter_dim *dim)
{
	ws_json_open(w, NULL, '{');
	ws_json_u64(w, "id", dim->id);
	ws_json_u64(w, "instance_size", dim->n);
	ws_json_str(w, "name", ws_process_string(process, dim->name_str));
	ws_json_close(w, '}');
}

static void put_counters(struct ws_jsonw *w, const struct ws_process *process)
{
	ws_json_open(w, "counters", '[');
	for (size_t i = 0; i < process->counters.n; i++) {
		const struct ws_counter *counter = &process->counters.at[i];

		if (!counter->info)
			continue;
		ws_json_open(w, NULL, '{');
		ws_json_handle(w, "agent_id", counter->agent ? counter->agent->info->handle : 0);
		ws_json_handle(w, "id", counter->id);
		ws_json_u64(w, "is_constant", (counter->info->flags & WS_COUNTER_IS_CONSTANT) != 0);
		ws_json_u64(w, "is_derived", (counter->info->flags & WS_COUNTER_IS_DERIVED) != 0);
		ws_json_str(w, "name", counter->name);
		ws_json_str(w, "description", counter->description);
		ws_json_str(w, "block", counter->block);
		ws_json_str(w, "expression", counter->expression);
		ws_json_open(w, "dimensions", '[');
		for (uint32_t d = 0; d < counter->info->n_dims; d++)
			put_dimension(w, process, &counter->dims[d]);
		ws_json_close(w, ']');
		put_instances(w, process, counter);
		if (*counter->fidelity)
			ws_json_str(w, "fidelity", counter->fidelity);
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

/* Each dimension once, by its id. */
static void put_dimension_ids(struct ws_jsonw *w, const struct ws_process *process)
{
	uint64_t seen[4] = { 0 };

	ws_json_open(w, "counters", '{');
	ws_json_open(w, "dimension_ids", '[');
	for (size_t i = 0; i < process->counters.n; i++) {
		const struct ws_counter *counter = &process->counters.at[i];

		for (uint32_t d = 0; counter->info && d < counter->info->n_dims; d++) {
			uint32_t id = counter->dims[d].id & 255;

			if (seen[id / 64] >> id % 64 & 1)
				continue;
			seen[id / 64] |= 1ull << id % 64;
			put_dimension(w, process, &counter->dims[d]);
		}
	}
	ws_json_close(w, ']');
	ws_json_close(w, '}');
}

/* ---- strings ---- */

static void put_operations(struct ws_jsonw *w, const struct ws_process *process, enum ws_kind kind,
			   const char *kind_name)
{
	const char *name;
	size_t n = 0;

	ws_json_open(w, NULL, '{');
	ws_json_str(w, "kind", kind_name);
	ws_json_open(w, "operations", '[');
	if (ws_kind_op_name(kind, 0)) {
		for (uint32_t id = 0; (name = ws_kind_op_name(kind, id)); id++)
			ws_json_str(w, NULL, name);
	} else {
		/* position is AMD's id; functions that this system's runtime lacks are "" */
		for (size_t i = 0; i < process->operations.n; i++)
			if (process->operations.at[i].kind == kind && kind != WS_KIND_NONE)
				n = WS_MAX(n, (size_t)process->operations.at[i].id + 1);
		n = WS_MIN(n, 4096u);
		if (n) {
			const char **names = calloc(n, sizeof(*names));

			for (size_t i = 0; names && i < process->operations.n; i++) {
				const struct ws_operation *op = &process->operations.at[i];

				if (op->kind == kind && op->id < n)
					names[op->id] = op->name;
			}
			for (size_t i = 0; names && i < n; i++)
				ws_json_str(w, NULL, names[i]);
			free(names);
		}
	}
	ws_json_close(w, ']');
	ws_json_close(w, '}');
}

/* clang-format off */
static const struct {
	const char *name;
	enum ws_kind kind; /* of the buffer records, which has the operations */
} callback_kinds[] = {
	{ "NONE", WS_KIND_NONE }, { "HSA_CORE_API", WS_KIND_HSA_CORE_API },
	{ "HSA_AMD_EXT_API", WS_KIND_HSA_AMD_EXT_API },
	{ "HSA_IMAGE_EXT_API", WS_KIND_HSA_IMAGE_EXT_API },
	{ "HSA_FINALIZE_EXT_API", WS_KIND_HSA_FINALIZE_EXT_API },
	{ "HIP_RUNTIME_API", WS_KIND_HIP_RUNTIME_API_EXT },
	{ "HIP_COMPILER_API", WS_KIND_HIP_COMPILER_API_EXT },
	{ "MARKER_CORE_API", WS_KIND_MARKER_CORE_API },
	{ "MARKER_CONTROL_API", WS_KIND_MARKER_CONTROL_API },
	{ "MARKER_NAME_API", WS_KIND_MARKER_NAME_API }, { "CODE_OBJECT", WS_KIND_NONE },
	{ "SCRATCH_MEMORY", WS_KIND_SCRATCH_MEMORY },
	{ "KERNEL_DISPATCH", WS_KIND_KERNEL_DISPATCH }, { "MEMORY_COPY", WS_KIND_MEMORY_COPY },
	{ "RCCL_API", WS_KIND_RCCL_API }, { "OMPT", WS_KIND_OMPT },
	{ "MEMORY_ALLOCATION", WS_KIND_MEMORY_ALLOCATION },
	{ "RUNTIME_INITIALIZATION", WS_KIND_RUNTIME_INITIALIZATION },
	{ "ROCDECODE_API", WS_KIND_ROCDECODE_API_EXT }, { "ROCJPEG_API", WS_KIND_ROCJPEG_API },
	{ "HIP_STREAM", WS_KIND_HIP_STREAM },
	{ "MARKER_CORE_RANGE_API", WS_KIND_MARKER_CORE_RANGE_API },
};
/* clang-format on */

static enum ws_status put_marker_text(void *ctx, const struct ws_event *ev)
{
	struct ws_jsonw *w = ctx;

	if (!ev->marker.has_message)
		return WS_OK;
	ws_json_open(w, NULL, '{');
	ws_json_u64(w, "key", ev->corr_id);
	ws_json_str(w, "value", ev->name);
	ws_json_close(w, '}');
	return w->sink->err.status;
}

static enum ws_status put_strings(struct ws_jsonw *w, struct ws_output_run *run,
				  const struct ws_process *process, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	ws_json_open(w, "strings", '{');
	ws_json_open(w, "callback_records", '[');
	for (size_t i = 0; i < WS_ARRAY_LEN(callback_kinds); i++)
		put_operations(w, process, callback_kinds[i].kind, callback_kinds[i].name);
	ws_json_close(w, ']');
	ws_json_open(w, "buffer_records", '[');
	for (int kind = 0; kind < WS_KIND_COUNT; kind++)
		put_operations(w, process, kind, ws_kind_name(kind));
	ws_json_close(w, ']');
	ws_json_open(w, "marker_api", '[');
	if (run->result->n_events[WS_DOMAIN_MARKER_API])
		st = ws_run_each(run, process, WS_DOMAIN_BIT(MARKER_API), WS_ORDER_RECORDED,
				 put_marker_text, w, err);
	ws_json_close(w, ']');
	ws_json_open(w, "correlation_id", '{');
	ws_json_open(w, "external", '[');
	for (size_t i = 0; run->cfg->kernel_rename && i < ws_process_n_externals(process); i++) {
		uint64_t id;
		const char *text = ws_process_external_at(process, i, &id);

		ws_json_open(w, NULL, '{');
		ws_json_u64(w, "key", id);
		ws_json_str(w, "value", text);
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
	ws_json_close(w, '}');
	put_dimension_ids(w, process);
	return st; /* the caller goes on with the PC samples' texts and closes */
}

/* ---- metadata, summary ---- */

void ws_json_config(struct ws_jsonw *w, const char *key, const struct ws_output_config *cfg)
{
	static const char *const unit_words[] = { "nsec", "usec", "msec", "sec" };

	ws_json_open(w, key, '{');
	ws_json_str(w, "output_path", cfg->output_path);
	ws_json_str(w, "output_file", cfg->output_file);
	ws_json_str(w, "tmp_directory", cfg->tmp_directory);
	ws_json_str(w, "raw_output_path", cfg->raw_output_path);
	ws_json_str(w, "raw_output_file", cfg->raw_output_file);
	ws_json_str(w, "raw_tmp_directory", cfg->raw_tmp_directory);
	ws_json_u64(w, "perfetto_shmem_size_hint", cfg->perfetto_shmem_size_hint_kb);
	ws_json_u64(w, "perfetto_buffer_size", cfg->perfetto_buffer_size_kb);
	ws_json_str(w, "perfetto_buffer_fill_policy", cfg->perfetto_buffer_fill_policy);
	ws_json_str(w, "perfetto_backend", cfg->perfetto_backend);
	ws_json_bool(w, "summary", cfg->summary);
	ws_json_bool(w, "summary_per_domain", cfg->summary_per_domain);
	ws_json_open(w, "summary_groups", '[');
	for (size_t i = 0; i < cfg->n_summary_groups; i++)
		ws_json_str(w, NULL, cfg->summary_groups[i]);
	ws_json_close(w, ']');
	ws_json_str(w, "summary_unit", unit_words[cfg->summary_unit]);
	ws_json_str(w, "summary_file", cfg->summary_file ? cfg->summary_file : "stderr");
	ws_json_bool(w, "csv_output", cfg->formats & WS_OUTPUT_BIT(CSV));
	ws_json_bool(w, "json_output", cfg->formats & WS_OUTPUT_BIT(JSON));
	ws_json_bool(w, "pftrace_output", cfg->formats & WS_OUTPUT_BIT(PFTRACE));
	ws_json_bool(w, "otf2_output", cfg->formats & WS_OUTPUT_BIT(OTF2));
	ws_json_bool(w, "summary_output",
		     cfg->summary || cfg->summary_per_domain || cfg->n_summary_groups);
	ws_json_bool(w, "rocpd_output", cfg->formats & WS_OUTPUT_BIT(ROCPD));
	ws_json_bool(w, "kernel_rename", cfg->kernel_rename);
	ws_json_bool(w, "group_by_queue", cfg->group_by_queue);
	ws_json_close(w, '}');
}

void ws_json_ledger(struct ws_jsonw *w, const struct ws_process *process)
{
	ws_json_bool(w, "software_gpu", process->flags & WS_PROCESS_SOFTGPU);
	ws_json_str(w, "gpu_times", ws_gpu_times_word(ws_process_gpu_times(process)));
	ws_json_bool(w, "ended", process->ended);
	ws_json_open(w, "ledger", '[');
	for (int d = 0; d < WS_DOMAIN_COUNT; d++) {
		const struct ws_ledger_sum *sum = &process->ledger[d];

		if (!sum->asked && !sum->written && !sum->dropped && !sum->failed)
			continue;
		ws_json_open(w, NULL, '{');
		ws_json_str(w, "domain", ws_domain_name(d));
		ws_json_bool(w, "asked", sum->asked);
		ws_json_u64(w, "seen", sum->written + sum->dropped + sum->failed);
		ws_json_u64(w, "written", sum->written);
		ws_json_u64(w, "dropped", sum->dropped);
		ws_json_u64(w, "failed", sum->failed);
		ws_json_u64(w, "paused", sum->paused);
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

static void put_name(struct ws_jsonw *w, void (*put_id)(struct ws_jsonw *, const char *, uint64_t),
		     const char *key, uint64_t id, const char *name)
{
	if (!*name)
		return;
	ws_json_open(w, NULL, '{');
	put_id(w, key, id);
	ws_json_str(w, "name", name);
	ws_json_close(w, '}');
}

/* What the program calls things; AMD's file has no place for it. Threads also by what the system does. */
static void put_names(struct ws_jsonw *w, const struct ws_process *process)
{
	ws_json_open(w, "names", '{');
	ws_json_open(w, "agents", '[');
	for (size_t i = 0; i < process->agents.n; i++)
		put_name(w, ws_json_handle, "agent_id", process->agents.at[i]->info->handle,
			 process->agents.at[i]->given_name);
	ws_json_close(w, ']');
	ws_json_open(w, "streams", '[');
	for (size_t i = 0; i < process->streams.n; i++)
		put_name(w, ws_json_handle, "stream_id", i, process->streams.at[i].name);
	ws_json_close(w, ']');
	ws_json_open(w, "threads", '[');
	for (size_t i = 0; i < process->threads.n; i++)
		put_name(w, ws_json_u64, "thread_id", process->threads.at[i].tid,
			 process->threads.at[i].name);
	ws_json_close(w, ']');
	ws_json_close(w, '}');
}

static void put_metadata(struct ws_jsonw *w, const struct ws_output_run *run,
			 const struct ws_process *process)
{
	static const struct {
		const char *key;
		enum ws_fact fact;
	} node_facts[] = {
		{ "machine_id", WS_FACT_MACHINE_ID },   { "system_name", WS_FACT_SYSTEM_NAME },
		{ "hostname", WS_FACT_HOSTNAME },       { "release", WS_FACT_RELEASE },
		{ "version", WS_FACT_VERSION },         { "hardware_name", WS_FACT_HARDWARE_NAME },
		{ "domain_name", WS_FACT_DOMAIN_NAME },
	};

	ws_json_open(w, "metadata", '{');
	ws_json_open(w, "node", '{');
	ws_json_u64(w, "id", ws_node_hash(process) % UINT32_MAX);
	ws_json_u64(w, "hash", ws_node_hash(process));
	for (size_t i = 0; i < WS_ARRAY_LEN(node_facts); i++)
		ws_json_str(w, node_facts[i].key, process->facts[node_facts[i].fact]);
	ws_json_close(w, '}');
	ws_json_u64(w, "pid", process->pid);
	ws_json_u64(w, "init_time", process->init_ns);
	ws_json_u64(w, "fini_time", process->fini_ns);
	ws_json_open(w, "command", '[');
	for (size_t i = 0; i < process->n_argv; i++)
		ws_json_str(w, NULL, process->argv[i]);
	ws_json_close(w, ']');
	ws_json_config(w, "config", run->cfg);
	ws_json_ledger(w, process);
	put_names(w, process);
	ws_json_close(w, '}');
}

static void put_stat(struct ws_jsonw *w, const struct ws_stat *stat)
{
	double variance = ws_stat_variance(stat);

	ws_json_u64(w, "count", stat->count);
	ws_json_u128(w, "sum", stat->sum_ns);
	ws_json_u128(w, "sqr", stat->sqr_ns);
	ws_json_u64(w, "min", stat->min_ns);
	ws_json_u64(w, "max", stat->max_ns);
	ws_json_f64(w, "mean", ws_stat_mean(stat));
	ws_json_f64(w, "stddev", sqrt(variance));
	ws_json_f64(w, "variance", variance);
}

static void put_summary(struct ws_jsonw *w, const struct ws_output_run *run)
{
	static const enum ws_domain order[] = {
		WS_DOMAIN_KERNEL_DISPATCH, WS_DOMAIN_HSA_API,           WS_DOMAIN_HIP_API,
		WS_DOMAIN_MEMORY_COPY,     WS_DOMAIN_MEMORY_ALLOCATION, WS_DOMAIN_MARKER_API,
		WS_DOMAIN_RCCL_API,        WS_DOMAIN_SCRATCH_MEMORY,    WS_DOMAIN_ROCDECODE_API,
		WS_DOMAIN_ROCJPEG_API,
	};
	bool wanted = run->cfg->stats || ws_run_wants_summary(run);

	ws_json_open(w, "summary", '[');
	for (size_t i = 0; wanted && i < WS_ARRAY_LEN(order); i++) {
		const struct ws_stat_table *table = &run->stats.domains[order[i]];

		if (!table->n_sorted)
			continue;
		ws_json_open(w, NULL, '{');
		ws_json_str(w, "domain", ws_domain_name(order[i]));
		ws_json_open(w, "stats", '{');
		put_stat(w, &table->total);
		ws_json_open(w, "operations", '[');
		for (size_t k = 0; k < table->n_sorted; k++) {
			ws_json_open(w, NULL, '{');
			ws_json_str(w, "key", table->sorted[k]->name);
			ws_json_open(w, "value", '{');
			put_stat(w, table->sorted[k]);
			ws_json_close(w, '}');
			ws_json_close(w, '}');
		}
		ws_json_close(w, ']');
		ws_json_close(w, '}');
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

enum ws_status ws_json_facts(struct ws_jsonw *w, struct ws_output_run *run,
			     const struct ws_process *process, struct ws_map *pcs,
			     struct ws_err *err)
{
	enum ws_status st;

	put_metadata(w, run, process);
	ws_json_open(w, "agents", '[');
	for (size_t i = 0; i < process->agents.n; i++)
		ws_json_agent(w, NULL, process->agents.at[i]);
	ws_json_close(w, ']');
	put_counters(w, process);
	st = put_strings(w, run, process, err);
	if (!st)
		st = ws_json_sample_texts(w, run, process, pcs, err);
	ws_json_close(w, '}');
	ws_json_open(w, "code_objects", '[');
	for (size_t i = 0; i < process->code_objects.n; i++)
		ws_json_code_object(w, &process->code_objects.at[i]);
	ws_json_close(w, ']');
	ws_json_open(w, "kernel_symbols", '[');
	for (size_t i = 0; i < process->kernels.n; i++)
		ws_json_kernel(w, &process->kernels.at[i]);
	ws_json_close(w, ']');
	ws_json_open(w, "host_functions", '[');
	for (size_t i = 0; i < process->host_functions.n; i++)
		ws_json_host_function(w, &process->host_functions.at[i]);
	ws_json_close(w, ']');
	put_summary(w, run);
	return st;
}
