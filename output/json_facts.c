/* What the JSON file says before its records; keys and their order as rocprofv3 has them. */
#include "output/jsonw.h"

#include <stdlib.h>

uint64_t ws_node_hash(const struct ws_process *process)
{
	const char *id = process->facts[WS_FACT_MACHINE_ID];

	return ws_hash_bytes(id ? id : "", id ? strlen(id) : 0) % INT64_MAX;
}

/* clang-format off */
#define AGENT_NUMBERS_1(X) /* before the firmware versions */                                      \
	X(type) X(cpu_cores_count) X(simd_count) X(mem_banks_count) X(caches_count)                \
	X(io_links_count) X(cpu_core_id_base) X(simd_id_base) X(max_waves_per_simd)                \
	X(lds_size_in_kb) X(gds_size_in_kb) X(num_gws) X(wave_front_size) X(num_xcc) X(cu_count)   \
	X(array_count) X(num_shader_banks) X(simd_arrays_per_engine) X(cu_per_simd_array)          \
	X(simd_per_cu) X(max_slots_scratch_cu) X(gfx_target_version) X(vendor_id) X(device_id)     \
	X(location_id) X(domain) X(drm_render_minor) X(num_sdma_engines) X(num_sdma_xgmi_engines)  \
	X(num_sdma_queues_per_engine) X(num_cp_queues) X(max_engine_clk_ccompute)                  \
	X(max_engine_clk_fcompute)
#define AGENT_NUMBERS_2(X) /* after them */                                                        \
	X(cu_per_engine) X(max_waves_per_cu) X(family_id) X(workgroup_max_size) X(grid_max_size)   \
	X(local_mem_size) X(hive_id) X(gpu_id)

/* name, number of bits; from the lowest bit up */
struct bits {
	const char *name;
	unsigned n;
};
static const struct bits capability_bits[] = {
	{ "HotPluggable", 1 }, { "HSAMMUPresent", 1 }, { "SharedWithGraphics", 1 },
	{ "QueueSizePowerOfTwo", 1 }, { "QueueSize32bit", 1 }, { "QueueIdleEvent", 1 },
	{ "VALimit", 1 }, { "WatchPointsSupported", 1 }, { "WatchPointsTotalBits", 4 },
	{ "DoorbellType", 2 }, { "AQLQueueDoubleMap", 1 }, { "DebugTrapSupported", 1 },
	{ "WaveLaunchTrapOverrideSupported", 1 }, { "WaveLaunchModeSupported", 1 },
	{ "PreciseMemoryOperationsSupported", 1 }, { "DEPRECATED_SRAM_EDCSupport", 1 },
	{ "Mem_EDCSupport", 1 }, { "RASEventNotify", 1 }, { "ASICRevision", 4 },
	{ "SRAM_EDCSupport", 1 }, { "SVMAPISupported", 1 }, { "CoherentHostAccess", 1 },
	{ "DebugSupportedFirmware", 1 }, { NULL, 0 },
};
static const struct bits sdma_fw_bits[] = { { "uCodeSDMA", 10 }, { "uCodeRes", 10 }, { NULL, 0 } };
static const struct bits fw_bits[] = {
	{ "uCode", 10 }, { "Major", 6 }, { "Minor", 8 }, { "Stepping", 8 }, { NULL, 0 },
};
static const struct bits bank_bits[] = { { "HotPluggable", 1 }, { "NonVolatile", 1 }, { NULL, 0 } };
static const struct bits cache_bits[] = {
	{ "Data", 1 }, { "Instruction", 1 }, { "CPU", 1 }, { "HSACU", 1 }, { NULL, 0 },
};
static const struct bits link_bits[] = {
	{ "Override", 1 }, { "NonCoherent", 1 }, { "NoAtomics32bit", 1 },
	{ "NoAtomics64bit", 1 }, { "NoPeerToPeerDMA", 1 }, { NULL, 0 },
};
static const struct bits visibility_bits[] = {
	{ "hsa", 1 }, { "hip", 1 }, { "rccl", 1 }, { "rocdecode", 1 }, { NULL, 0 },
};
/* clang-format on */

static void put_bits(struct ws_jsonw *w, const char *key, const struct bits *bits, uint32_t word)
{
	ws_json_open(w, key, '{');
	for (; bits->name; word >>= bits->n, bits++)
		ws_json_u64(w, bits->name, word & ((1u << bits->n) - 1));
	ws_json_close(w, '}');
}

#define NUMBER(field) ws_json_u64(w, #field, info->field);

static void put_banks(struct ws_jsonw *w, const struct ws_agent *agent)
{
	ws_json_open(w, "mem_banks", '[');
	for (size_t i = 0; i < agent->n_banks; i++) {
		const struct ws_rec_agent_bank *info = agent->banks[i];

		ws_json_open(w, NULL, '{');
		NUMBER(heap_type)
		put_bits(w, "flags", bank_bits, info->flags);
		NUMBER(width) NUMBER(mem_clk_max) NUMBER(size_in_bytes)
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

static void put_caches(struct ws_jsonw *w, const struct ws_agent *agent)
{
	ws_json_open(w, "caches", '[');
	for (size_t i = 0; i < agent->n_caches; i++) {
		const struct ws_rec_agent_cache *info = agent->caches[i];

		ws_json_open(w, NULL, '{');
		NUMBER(processor_id_low) NUMBER(size) NUMBER(level) NUMBER(cache_line_size)
		NUMBER(cache_lines_per_tag) NUMBER(association) NUMBER(latency)
		put_bits(w, "type", cache_bits, info->type);
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

static void put_links(struct ws_jsonw *w, const struct ws_agent *agent)
{
	ws_json_open(w, "io_links", '[');
	for (size_t i = 0; i < agent->n_links; i++) {
		const struct ws_rec_agent_link *info = agent->links[i];

		ws_json_open(w, NULL, '{');
		NUMBER(type) NUMBER(version_major) NUMBER(version_minor) NUMBER(node_from)
		NUMBER(node_to) NUMBER(weight) NUMBER(min_latency) NUMBER(max_latency)
		NUMBER(min_bandwidth) NUMBER(max_bandwidth) NUMBER(recommended_transfer_size)
		put_bits(w, "flags", link_bits, info->flags);
		ws_json_close(w, '}');
	}
	ws_json_close(w, ']');
}

void ws_json_agent(struct ws_jsonw *w, const char *key, const struct ws_agent *agent)
{
	const struct ws_rec_agent *info = agent->info;

	ws_json_open(w, key, '{');
	ws_json_u64(w, "size", sizeof(*info));
	ws_json_handle(w, "id", info->handle);
	AGENT_NUMBERS_1(NUMBER)
	put_bits(w, "sdma_fw_version", sdma_fw_bits, info->sdma_fw_version);
	put_bits(w, "fw_version", fw_bits, info->fw_version);
	put_bits(w, "capability", capability_bits, info->capability);
	AGENT_NUMBERS_2(NUMBER)
	ws_json_dim3(w, "workgroup_max_dim", info->workgroup_max_dim);
	ws_json_dim3(w, "grid_max_dim", info->grid_max_dim);
	ws_json_str(w, "name", agent->name);
	ws_json_str(w, "vendor_name", agent->vendor_name);
	ws_json_str(w, "product_name", agent->product_name);
	ws_json_str(w, "model_name", agent->model_name);
	NUMBER(node_id) NUMBER(logical_node_id) NUMBER(logical_node_type_id)
	put_bits(w, "runtime_visibility", visibility_bits, info->visibility);
	ws_json_open(w, "uuid", '{');
	ws_json_open(w, "bytes", '[');
	for (int i = 0; i < 16; i++)
		ws_json_u64(w, NULL, info->uuid[i]);
	ws_json_close(w, ']');
	ws_json_close(w, '}');
	put_banks(w, agent);
	put_caches(w, agent);
	put_links(w, agent);
	ws_json_i64(w, "gpu_index", info->gpu_index);
	ws_json_close(w, '}');
}

void ws_json_code_object(struct ws_jsonw *w, const struct ws_code_object *object)
{
	static const struct ws_rec_code_object none;
	const struct ws_rec_code_object *info = object->info ? object->info : &none;

	ws_json_open(w, NULL, '{');
	ws_json_u64(w, "size", sizeof(*info));
	ws_json_u64(w, "code_object_id", object->id);
	ws_json_handle(w, "agent_id", object->agent ? object->agent->info->handle : 0);
	ws_json_str(w, "uri", object->uri);
	NUMBER(load_base) NUMBER(load_size)
	ws_json_i64(w, "load_delta", info->load_delta);
	ws_json_u64(w, "storage_type", info->storage);
	if (info->storage == WS_CODE_STORAGE_FILE) {
		ws_json_i64(w, "storage_file", -1);
	} else if (info->storage == WS_CODE_STORAGE_MEMORY) {
		NUMBER(memory_base) NUMBER(memory_size)
	}
	ws_json_close(w, '}');
}

void ws_json_kernel(struct ws_jsonw *w, const struct ws_kernel *kernel)
{
	static const struct ws_rec_kernel none;
	const struct ws_rec_kernel *info = kernel->info ? kernel->info : &none;

	ws_json_open(w, NULL, '{');
	ws_json_u64(w, "size", sizeof(*info));
	ws_json_u64(w, "kernel_id", kernel->id);
	ws_json_u64(w, "code_object_id", info->code_object);
	ws_json_str(w, "kernel_name", kernel->symbol);
	NUMBER(kernel_object)
	ws_json_u64(w, "kernarg_segment_size", info->kernarg_bytes);
	ws_json_u64(w, "kernarg_segment_alignment", info->kernarg_alignment);
	ws_json_u64(w, "group_segment_size", info->group_bytes);
	ws_json_u64(w, "private_segment_size", info->private_bytes);
	NUMBER(sgpr_count) NUMBER(arch_vgpr_count) NUMBER(accum_vgpr_count)
	ws_json_i64(w, "kernel_code_entry_byte_offset", info->entry_byte_offset);
	ws_json_handle(w, "kernel_address", info->kernel_address);
	ws_json_str(w, "formatted_kernel_name", kernel->formatted);
	ws_json_str(w, "demangled_kernel_name", kernel->demangled);
	ws_json_str(w, "truncated_kernel_name", kernel->truncated);
	ws_json_close(w, '}');
}

static void put_host_function(struct ws_jsonw *w, const struct ws_host_function *function)
{
	static const struct ws_rec_host_function none;
	const struct ws_rec_host_function *info = function->info ? function->info : &none;

	ws_json_open(w, NULL, '{');
	ws_json_u64(w, "size", sizeof(*info));
	ws_json_u64(w, "host_function_id", function->id);
	ws_json_u64(w, "kernel_id", info->kernel);
	ws_json_u64(w, "code_object_id", info->code_object);
	ws_json_handle(w, "host_function", info->host_function);
	ws_json_handle(w, "modules", info->modules);
	ws_json_str(w, "device_function", function->name);
	NUMBER(thread_limit) NUMBER(thread_ids) NUMBER(block_ids) NUMBER(block_dims)
	NUMBER(grid_dims) NUMBER(workgroup_size)
	ws_json_str(w, "formatted_host_function_name", function->formatted);
	ws_json_str(w, "demangled_host_function_name", function->demangled);
	ws_json_str(w, "truncated_host_function_name", function->truncated);
	ws_json_close(w, '}');
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
		ws_json_u64(w, "is_constant", (counter->info->flags & WS_COUNTER_CONSTANT) != 0);
		ws_json_u64(w, "is_derived", (counter->info->flags & WS_COUNTER_DERIVED) != 0);
		ws_json_str(w, "name", counter->name);
		ws_json_str(w, "description", counter->description);
		ws_json_str(w, "block", counter->block);
		ws_json_str(w, "expression", counter->expression);
		ws_json_open(w, "dimensions", '[');
		for (uint32_t d = 0; d < counter->info->n_dims; d++)
			put_dimension(w, process, &counter->dims[d]);
		ws_json_close(w, ']');
		put_instances(w, process, counter);
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

static void put_operations(struct ws_jsonw *w, const struct ws_process *process,
			   enum ws_kind kind, const char *kind_name)
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

/* What was asked for, seen and lost, which AMD's file does not say: last in metadata. */
static void put_ledger(struct ws_jsonw *w, const struct ws_process *process)
{
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

static void put_metadata(struct ws_jsonw *w, const struct ws_output_run *run,
			 const struct ws_process *process)
{
	static const struct {
		const char *key;
		enum ws_fact fact;
	} node_facts[] = {
		{ "machine_id", WS_FACT_MACHINE_ID },	{ "system_name", WS_FACT_SYSTEM_NAME },
		{ "hostname", WS_FACT_HOSTNAME },	{ "release", WS_FACT_RELEASE },
		{ "version", WS_FACT_VERSION },		{ "hardware_name", WS_FACT_HARDWARE_NAME },
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
	put_ledger(w, process);
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
		WS_DOMAIN_KERNEL_DISPATCH,   WS_DOMAIN_HSA_API,	    WS_DOMAIN_HIP_API,
		WS_DOMAIN_MEMORY_COPY,	     WS_DOMAIN_MEMORY_ALLOCATION, WS_DOMAIN_MARKER_API,
		WS_DOMAIN_RCCL_API,	     WS_DOMAIN_SCRATCH_MEMORY, WS_DOMAIN_ROCDECODE_API,
		WS_DOMAIN_ROCJPEG_API,
	};
	const struct ws_output_config *cfg = run->cfg;
	bool wanted = cfg->stats || cfg->summary || cfg->summary_per_domain ||
		      cfg->n_summary_groups;

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
		put_host_function(w, &process->host_functions.at[i]);
	ws_json_close(w, ']');
	put_summary(w, run);
	return st;
}
