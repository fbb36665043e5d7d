/* What the JSON file says before its records; keys and their order as rocprofv3 has them. */
#include "output/jsonw.h"

#include <stdlib.h>
#include <unistd.h>

uint64_t output_node_hash(const struct trc_process *process)
{
	const char *id = process->facts[CAP_FACT_MACHINE_ID];

	return ws_hash_bytes(id ? id : "", id ? strlen(id) : 0) % INT64_MAX;
}

/* ---- counters ---- */

static void put_instances(struct output_jsonw *w, const struct trc_process *process,
			  const struct trc_counter *counter)
{
	uint64_t n = 1;

	for (uint32_t d = 0; d < counter->info->n_dims; d++)
		n *= WS_MAX(counter->dims[d].n, 1u);
	n = WS_MIN(n, 65536u); /* a damaged record must not fill the disk */
	output_json_open(w, "instances", '[');
	for (uint64_t i = 0; i < n; i++) {
		uint64_t left = i, id = 0;

		for (uint32_t d = 0; d < counter->info->n_dims; d++) {
			uint32_t size = WS_MAX(counter->dims[d].n, 1u);

			id |= left % size << (counter->dims[d].shift & 31);
			left /= size;
		}
		output_json_open(w, NULL, '{');
		output_json_u64(w, "instance_id", (uint64_t)counter->id << 32 | id);
		output_json_handle(w, "counter_id", counter->id);
		output_json_open(w, "dimensions", '[');
		left = i;
		for (uint32_t d = 0; d < counter->info->n_dims; d++) {
			uint32_t size = WS_MAX(counter->dims[d].n, 1u);

			output_json_open(w, NULL, '{');
			output_json_str(w, "dimension_name",
					trc_process_string(process, counter->dims[d].name_str));
			output_json_u64(w, "index", left % size);
			output_json_close(w, '}');
			left /= size;
		}
		output_json_close(w, ']');
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

static void put_dimension(struct output_jsonw *w, const struct trc_process *process,
			  const struct cap_counter_dim *dim)
{
	output_json_open(w, NULL, '{');
	output_json_u64(w, "id", dim->id);
	output_json_u64(w, "instance_size", dim->n);
	output_json_str(w, "name", trc_process_string(process, dim->name_str));
	output_json_close(w, '}');
}

static void put_counters(struct output_jsonw *w, const struct trc_process *process)
{
	output_json_open(w, "counters", '[');
	for (size_t i = 0; i < process->counters.n; i++) {
		const struct trc_counter *counter = &process->counters.at[i];

		if (!counter->info)
			continue;
		output_json_open(w, NULL, '{');
		output_json_handle(w, "agent_id",
				   counter->agent ? counter->agent->info->handle : 0);
		output_json_handle(w, "id", counter->id);
		output_json_u64(w, "is_constant",
				(counter->info->flags & CAP_COUNTER_IS_CONSTANT) != 0);
		output_json_u64(w, "is_derived",
				(counter->info->flags & CAP_COUNTER_IS_DERIVED) != 0);
		output_json_str(w, "name", counter->name);
		output_json_str(w, "description", counter->description);
		output_json_str(w, "block", counter->block);
		output_json_str(w, "expression", counter->expression);
		output_json_open(w, "dimensions", '[');
		for (uint32_t d = 0; d < counter->info->n_dims; d++)
			put_dimension(w, process, &counter->dims[d]);
		output_json_close(w, ']');
		put_instances(w, process, counter);
		if (*counter->fidelity)
			output_json_str(w, "fidelity", counter->fidelity);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

/* Each dimension once, by its id. */
static void put_dimension_ids(struct output_jsonw *w, const struct trc_process *process)
{
	uint64_t seen[4] = { 0 };

	output_json_open(w, "counters", '{');
	output_json_open(w, "dimension_ids", '[');
	for (size_t i = 0; i < process->counters.n; i++) {
		const struct trc_counter *counter = &process->counters.at[i];

		for (uint32_t d = 0; counter->info && d < counter->info->n_dims; d++) {
			uint32_t id = counter->dims[d].id & 255;

			if (seen[id / 64] >> id % 64 & 1)
				continue;
			seen[id / 64] |= 1ull << id % 64;
			put_dimension(w, process, &counter->dims[d]);
		}
	}
	output_json_close(w, ']');
	output_json_close(w, '}');
}

/* ---- strings ---- */

static void put_operations(struct output_jsonw *w, const struct trc_process *process,
			   enum cap_kind kind, const char *kind_name)
{
	const char *name;
	size_t n = 0;

	output_json_open(w, NULL, '{');
	output_json_str(w, "kind", kind_name);
	output_json_open(w, "operations", '[');
	if (trc_kind_op_name(kind, 0)) {
		for (uint32_t id = 0; (name = trc_kind_op_name(kind, id)); id++)
			output_json_str(w, NULL, name);
	} else {
		/* position is AMD's id; functions that this system's runtime lacks are "" */
		for (size_t i = 0; i < process->operations.n; i++)
			if (process->operations.at[i].kind == kind && kind != CAP_KIND_NONE)
				n = WS_MAX(n, (size_t)process->operations.at[i].id + 1);
		n = WS_MIN(n, 4096u);
		if (n) {
			const char **names = calloc(n, sizeof(*names));

			for (size_t i = 0; names && i < process->operations.n; i++) {
				const struct trc_operation *op = &process->operations.at[i];

				if (op->kind == kind && op->id < n)
					names[op->id] = op->name;
			}
			for (size_t i = 0; names && i < n; i++)
				output_json_str(w, NULL, names[i]);
			free(names);
		}
	}
	output_json_close(w, ']');
	output_json_close(w, '}');
}

/* clang-format off */
static const struct {
	const char *name;
	enum cap_kind kind; /* of the buffer records, which has the operations */
} callback_kinds[] = {
	{ "NONE", CAP_KIND_NONE }, { "HSA_CORE_API", CAP_KIND_HSA_CORE_API },
	{ "HSA_AMD_EXT_API", CAP_KIND_HSA_AMD_EXT_API },
	{ "HSA_IMAGE_EXT_API", CAP_KIND_HSA_IMAGE_EXT_API },
	{ "HSA_FINALIZE_EXT_API", CAP_KIND_HSA_FINALIZE_EXT_API },
	{ "HIP_RUNTIME_API", CAP_KIND_HIP_RUNTIME_API_EXT },
	{ "HIP_COMPILER_API", CAP_KIND_HIP_COMPILER_API_EXT },
	{ "MARKER_CORE_API", CAP_KIND_MARKER_CORE_API },
	{ "MARKER_CONTROL_API", CAP_KIND_MARKER_CONTROL_API },
	{ "MARKER_NAME_API", CAP_KIND_MARKER_NAME_API }, { "CODE_OBJECT", CAP_KIND_NONE },
	{ "SCRATCH_MEMORY", CAP_KIND_SCRATCH_MEMORY },
	{ "KERNEL_DISPATCH", CAP_KIND_KERNEL_DISPATCH }, { "MEMORY_COPY", CAP_KIND_MEMORY_COPY },
	{ "RCCL_API", CAP_KIND_RCCL_API }, { "OMPT", CAP_KIND_OMPT },
	{ "MEMORY_ALLOCATION", CAP_KIND_MEMORY_ALLOCATION },
	{ "RUNTIME_INITIALIZATION", CAP_KIND_RUNTIME_INITIALIZATION },
	{ "ROCDECODE_API", CAP_KIND_ROCDECODE_API_EXT }, { "ROCJPEG_API", CAP_KIND_ROCJPEG_API },
	{ "HIP_STREAM", CAP_KIND_HIP_STREAM },
	{ "MARKER_CORE_RANGE_API", CAP_KIND_MARKER_CORE_RANGE_API },
};
/* clang-format on */

static enum ws_status put_marker_text(void *ctx, const struct trc_event *ev)
{
	struct output_jsonw *w = ctx;

	if (!ev->marker.has_message)
		return WS_OK;
	output_json_open(w, NULL, '{');
	output_json_u64(w, "key", ev->corr_id);
	output_json_str(w, "value", ev->name);
	output_json_close(w, '}');
	return w->sink->err.status;
}

static enum ws_status put_strings(struct output_jsonw *w, struct output_run *run,
				  const struct trc_process *process, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	output_json_open(w, "strings", '{');
	output_json_open(w, "callback_records", '[');
	for (size_t i = 0; i < WS_ARRAY_LEN(callback_kinds); i++)
		put_operations(w, process, callback_kinds[i].kind, callback_kinds[i].name);
	output_json_close(w, ']');
	output_json_open(w, "buffer_records", '[');
	for (int kind = 0; kind < CAP_KIND_COUNT; kind++)
		put_operations(w, process, kind, trc_kind_name(kind));
	output_json_close(w, ']');
	output_json_open(w, "marker_api", '[');
	if (run->result->n_events[CAP_DOMAIN_MARKER_API])
		st = output_run_each(run, process, TRC_DOMAIN_BIT(MARKER_API), TRC_ORDER_RECORDED,
				     put_marker_text, w, err);
	output_json_close(w, ']');
	output_json_open(w, "correlation_id", '{');
	output_json_open(w, "external", '[');
	for (size_t i = 0; run->cfg->kernel_rename && i < trc_process_n_externals(process); i++) {
		uint64_t id;
		const char *text = trc_process_external_at(process, i, &id);

		output_json_open(w, NULL, '{');
		output_json_u64(w, "key", id);
		output_json_str(w, "value", text);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
	output_json_close(w, '}');
	put_dimension_ids(w, process);
	return st; /* the caller goes on with the PC samples' texts and closes */
}

/* ---- metadata, summary ---- */

void output_json_config(struct output_jsonw *w, const char *key, const struct output_config *cfg)
{
	output_json_open(w, key, '{');
	output_json_str(w, "output_path", cfg->output_path);
	output_json_str(w, "output_file", cfg->output_file);
	output_json_str(w, "tmp_directory", cfg->tmp_directory);
	output_json_str(w, "raw_output_path", cfg->raw_output_path);
	output_json_str(w, "raw_output_file", cfg->raw_output_file);
	output_json_str(w, "raw_tmp_directory", cfg->raw_tmp_directory);
	output_json_u64(w, "perfetto_shmem_size_hint", cfg->perfetto_shmem_size_hint_kb);
	output_json_u64(w, "perfetto_buffer_size", cfg->perfetto_buffer_size_kb);
	output_json_str(w, "perfetto_buffer_fill_policy", cfg->perfetto_buffer_fill_policy);
	output_json_str(w, "perfetto_backend", cfg->perfetto_backend);
	output_json_bool(w, "summary", cfg->summary);
	output_json_bool(w, "summary_per_domain", cfg->summary_per_domain);
	output_json_open(w, "summary_groups", '[');
	for (size_t i = 0; i < cfg->n_summary_groups; i++)
		output_json_str(w, NULL, cfg->summary_groups[i]);
	output_json_close(w, ']');
	output_json_str(w, "summary_unit", ws_time_unit_words[cfg->summary_unit]);
	output_json_str(w, "summary_file",
			cfg->summary_file ? cfg->summary_file : ws_stream_word(STDERR_FILENO));
	output_json_bool(w, "csv_output", cfg->formats & OUTPUT_BIT(CSV));
	output_json_bool(w, "json_output", cfg->formats & OUTPUT_BIT(JSON));
	output_json_bool(w, "pftrace_output", cfg->formats & OUTPUT_BIT(PFTRACE));
	output_json_bool(w, "otf2_output", cfg->formats & OUTPUT_BIT(OTF2));
	output_json_bool(w, "summary_output",
			 cfg->summary || cfg->summary_per_domain || cfg->n_summary_groups);
	output_json_bool(w, "rocpd_output", cfg->formats & OUTPUT_BIT(ROCPD));
	output_json_bool(w, "kernel_rename", cfg->kernel_rename);
	output_json_bool(w, "group_by_queue", cfg->group_by_queue);
	output_json_close(w, '}');
}

void output_json_ledger(struct output_jsonw *w, const struct trc_process *process)
{
	output_json_bool(w, "software_gpu", process->flags & CAP_PROCESS_SOFTGPU);
	output_json_str(w, "gpu_times", trc_gpu_times_word(trc_process_gpu_times(process)));
	output_json_bool(w, "ended", process->ended);
	output_json_open(w, "ledger", '[');
	for (int d = 0; d < CAP_DOMAIN_COUNT; d++) {
		const struct trc_ledger_sum *sum = &process->ledger[d];

		if (!sum->asked && !sum->written && !sum->dropped && !sum->failed)
			continue;
		output_json_open(w, NULL, '{');
		output_json_str(w, "domain", trc_domain_name(d));
		output_json_bool(w, "asked", sum->asked);
		output_json_u64(w, "seen", sum->written + sum->dropped + sum->failed);
		output_json_u64(w, "written", sum->written);
		output_json_u64(w, "dropped", sum->dropped);
		output_json_u64(w, "failed", sum->failed);
		output_json_u64(w, "paused", sum->paused);
		output_json_u64(w, "left_out", sum->left_out);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

static void put_name(struct output_jsonw *w,
		     void (*put_id)(struct output_jsonw *, const char *, uint64_t), const char *key,
		     uint64_t id, const char *name)
{
	if (!*name)
		return;
	output_json_open(w, NULL, '{');
	put_id(w, key, id);
	output_json_str(w, "name", name);
	output_json_close(w, '}');
}

/* What the program calls things; AMD's file has no place for it. Threads also by what the system does. */
static void put_names(struct output_jsonw *w, const struct trc_process *process)
{
	output_json_open(w, "names", '{');
	output_json_open(w, "agents", '[');
	for (size_t i = 0; i < process->agents.n; i++)
		put_name(w, output_json_handle, "agent_id", process->agents.at[i]->info->handle,
			 process->agents.at[i]->given_name);
	output_json_close(w, ']');
	output_json_open(w, "streams", '[');
	for (size_t i = 0; i < process->streams.n; i++)
		put_name(w, output_json_handle, "stream_id", i, process->streams.at[i].name);
	output_json_close(w, ']');
	output_json_open(w, "threads", '[');
	for (size_t i = 0; i < process->threads.n; i++)
		put_name(w, output_json_u64, "thread_id", process->threads.at[i].tid,
			 process->threads.at[i].name);
	output_json_close(w, ']');
	output_json_close(w, '}');
}

static void put_metadata(struct output_jsonw *w, const struct output_run *run,
			 const struct trc_process *process)
{
	static const struct {
		const char *key;
		enum cap_fact fact;
	} node_facts[] = {
		{ "machine_id", CAP_FACT_MACHINE_ID },
		{ "system_name", CAP_FACT_SYSTEM_NAME },
		{ "hostname", CAP_FACT_HOSTNAME },
		{ "release", CAP_FACT_RELEASE },
		{ "version", CAP_FACT_VERSION },
		{ "hardware_name", CAP_FACT_HARDWARE_NAME },
		{ "domain_name", CAP_FACT_DOMAIN_NAME },
	};

	output_json_open(w, "metadata", '{');
	output_json_open(w, "node", '{');
	output_json_u64(w, "id", output_node_hash(process) % UINT32_MAX);
	output_json_u64(w, "hash", output_node_hash(process));
	for (size_t i = 0; i < WS_ARRAY_LEN(node_facts); i++)
		output_json_str(w, node_facts[i].key, process->facts[node_facts[i].fact]);
	output_json_close(w, '}');
	output_json_u64(w, "pid", process->pid);
	output_json_u64(w, "init_time", process->init_ns);
	output_json_u64(w, "fini_time", process->fini_ns);
	output_json_open(w, "command", '[');
	for (size_t i = 0; i < process->n_argv; i++)
		output_json_str(w, NULL, process->argv[i]);
	output_json_close(w, ']');
	output_json_config(w, "config", run->cfg);
	output_json_ledger(w, process);
	put_names(w, process);
	output_json_close(w, '}');
}

static void put_stat(struct output_jsonw *w, const struct output_stat *stat)
{
	double variance = output_stat_variance(stat);

	output_json_u64(w, "count", stat->count);
	output_json_u128(w, "sum", stat->sum_ns);
	output_json_u128(w, "sqr", stat->sqr_ns);
	output_json_u64(w, "min", stat->min_ns);
	output_json_u64(w, "max", stat->max_ns);
	output_json_f64(w, "mean", output_stat_mean(stat));
	output_json_f64(w, "stddev", sqrt(variance));
	output_json_f64(w, "variance", variance);
}

static void put_summary(struct output_jsonw *w, const struct output_run *run)
{
	static const enum cap_domain order[] = {
		CAP_DOMAIN_KERNEL_DISPATCH, CAP_DOMAIN_HSA_API,           CAP_DOMAIN_HIP_API,
		CAP_DOMAIN_MEMORY_COPY,     CAP_DOMAIN_MEMORY_ALLOCATION, CAP_DOMAIN_MARKER_API,
		CAP_DOMAIN_RCCL_API,        CAP_DOMAIN_SCRATCH_MEMORY,    CAP_DOMAIN_ROCDECODE_API,
		CAP_DOMAIN_ROCJPEG_API,
	};
	bool wanted = run->cfg->stats || output_run_wants_summary(run);

	output_json_open(w, "summary", '[');
	for (size_t i = 0; wanted && i < WS_ARRAY_LEN(order); i++) {
		const struct output_stat_table *table = &run->stats.domains[order[i]];

		if (!table->n_sorted)
			continue;
		output_json_open(w, NULL, '{');
		output_json_str(w, "domain", trc_domain_name(order[i]));
		output_json_open(w, "stats", '{');
		put_stat(w, &table->total);
		output_json_open(w, "operations", '[');
		for (size_t k = 0; k < table->n_sorted; k++) {
			output_json_open(w, NULL, '{');
			output_json_str(w, "key", table->sorted[k]->name);
			output_json_open(w, "value", '{');
			put_stat(w, table->sorted[k]);
			output_json_close(w, '}');
			output_json_close(w, '}');
		}
		output_json_close(w, ']');
		output_json_close(w, '}');
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

enum ws_status output_json_facts(struct output_jsonw *w, struct output_run *run,
				 const struct trc_process *process, struct ws_map *pcs,
				 struct ws_err *err)
{
	enum ws_status st;

	put_metadata(w, run, process);
	output_json_open(w, "agents", '[');
	for (size_t i = 0; i < process->agents.n; i++)
		output_json_agent(w, NULL, process->agents.at[i]);
	output_json_close(w, ']');
	put_counters(w, process);
	st = put_strings(w, run, process, err);
	if (!st)
		st = output_json_sample_texts(w, run, process, pcs, err);
	output_json_close(w, '}');
	output_json_open(w, "code_objects", '[');
	for (size_t i = 0; i < process->code_objects.n; i++)
		output_json_code_object(w, &process->code_objects.at[i]);
	output_json_close(w, ']');
	output_json_open(w, "kernel_symbols", '[');
	for (size_t i = 0; i < process->kernels.n; i++)
		output_json_kernel(w, &process->kernels.at[i]);
	output_json_close(w, ']');
	output_json_open(w, "host_functions", '[');
	for (size_t i = 0; i < process->host_functions.n; i++)
		output_json_host_function(w, &process->host_functions.at[i]);
	output_json_close(w, ']');
	put_summary(w, run);
	return st;
}
