/* Agents, code objects, kernels and host functions as JSON objects; keys as rocprofv3 has them. */
#include "output/json_sizes.h"
#include "output/jsonw.h"

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

static void put_bits(struct output_jsonw *w, const char *key, const struct bits *bits,
		     uint32_t word)
{
	output_json_open(w, key, '{');
	for (; bits->name; word >>= bits->n, bits++)
		output_json_u64(w, bits->name, word & ((1u << bits->n) - 1));
	output_json_close(w, '}');
}

#define NUMBER(field) output_json_u64(w, #field, info->field)
#define NUMBER_ROW(field) NUMBER(field);

static void put_banks(struct output_jsonw *w, const struct trc_agent *agent)
{
	output_json_open(w, "mem_banks", '[');
	for (size_t i = 0; i < agent->n_banks; i++) {
		const struct cap_rec_agent_bank *info = agent->banks[i];

		output_json_open(w, NULL, '{');
		NUMBER(heap_type);
		put_bits(w, "flags", bank_bits, info->flags);
		NUMBER(width);
		NUMBER(mem_clk_max);
		NUMBER(size_in_bytes);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

static void put_caches(struct output_jsonw *w, const struct trc_agent *agent)
{
	output_json_open(w, "caches", '[');
	for (size_t i = 0; i < agent->n_caches; i++) {
		const struct cap_rec_agent_cache *info = agent->caches[i];

		output_json_open(w, NULL, '{');
		NUMBER(processor_id_low);
		NUMBER(size);
		NUMBER(level);
		NUMBER(cache_line_size);
		NUMBER(cache_lines_per_tag);
		NUMBER(association);
		NUMBER(latency);
		put_bits(w, "type", cache_bits, info->type);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

static void put_links(struct output_jsonw *w, const struct trc_agent *agent)
{
	output_json_open(w, "io_links", '[');
	for (size_t i = 0; i < agent->n_links; i++) {
		const struct cap_rec_agent_link *info = agent->links[i];

		output_json_open(w, NULL, '{');
		NUMBER(type);
		NUMBER(version_major);
		NUMBER(version_minor);
		NUMBER(node_from);
		NUMBER(node_to);
		NUMBER(weight);
		NUMBER(min_latency);
		NUMBER(max_latency);
		NUMBER(min_bandwidth);
		NUMBER(max_bandwidth);
		NUMBER(recommended_transfer_size);
		put_bits(w, "flags", link_bits, info->flags);
		output_json_close(w, '}');
	}
	output_json_close(w, ']');
}

void output_json_agent(struct output_jsonw *w, const char *key, const struct trc_agent *agent)
{
	const struct cap_rec_agent *info = agent->info;

	output_json_open(w, key, '{');
	output_json_u64(w, "size", OUTPUT_JSON_SIZE_AGENT);
	output_json_handle(w, "id", info->handle);
	AGENT_NUMBERS_1(NUMBER_ROW)
	put_bits(w, "sdma_fw_version", sdma_fw_bits, info->sdma_fw_version);
	put_bits(w, "fw_version", fw_bits, info->fw_version);
	put_bits(w, "capability", capability_bits, info->capability);
	AGENT_NUMBERS_2(NUMBER_ROW)
	output_json_dim3(w, "workgroup_max_dim", info->workgroup_max_dim);
	output_json_dim3(w, "grid_max_dim", info->grid_max_dim);
	output_json_str(w, "name", agent->name);
	output_json_str(w, "vendor_name", agent->vendor_name);
	output_json_str(w, "product_name", agent->product_name);
	output_json_str(w, "model_name", agent->model_name);
	NUMBER(node_id);
	NUMBER(logical_node_id);
	NUMBER(logical_node_type_id);
	put_bits(w, "runtime_visibility", visibility_bits, info->visibility);
	output_json_open(w, "uuid", '{');
	output_json_open(w, "bytes", '[');
	for (int i = 0; i < 16; i++)
		output_json_u64(w, NULL, info->uuid[i]);
	output_json_close(w, ']');
	output_json_close(w, '}');
	put_banks(w, agent);
	put_caches(w, agent);
	put_links(w, agent);
	output_json_i64(w, "gpu_index", info->gpu_index);
	output_json_close(w, '}');
}

void output_json_code_object(struct output_jsonw *w, const struct trc_code_object *object)
{
	static const struct cap_rec_code_object none;
	const struct cap_rec_code_object *info = object->info ? object->info : &none;

	output_json_open(w, NULL, '{');
	output_json_u64(w, "size", object->info ? OUTPUT_JSON_SIZE_CODE_OBJECT : 0);
	output_json_u64(w, "code_object_id", object->id);
	output_json_handle(w, "agent_id", object->agent ? object->agent->info->handle : 0);
	output_json_str(w, "uri", object->uri);
	NUMBER(load_base);
	NUMBER(load_size);
	output_json_i64(w, "load_delta", info->load_delta);
	output_json_u64(w, "storage_type", info->storage);
	if (info->storage == CAP_CODE_STORAGE_FILE) {
		output_json_i64(w, "storage_file", -1);
	} else if (info->storage == CAP_CODE_STORAGE_MEMORY) {
		NUMBER(memory_base);
		NUMBER(memory_size);
	}
	output_json_close(w, '}');
}

void output_json_kernel(struct output_jsonw *w, const struct trc_kernel *kernel)
{
	static const struct cap_rec_kernel none;
	const struct cap_rec_kernel *info = kernel->info ? kernel->info : &none;

	output_json_open(w, NULL, '{');
	output_json_u64(w, "size", kernel->info ? OUTPUT_JSON_SIZE_KERNEL : 0);
	output_json_u64(w, "kernel_id", kernel->id);
	output_json_u64(w, "code_object_id", info->code_object);
	output_json_str(w, "kernel_name", kernel->symbol);
	NUMBER(kernel_object);
	output_json_u64(w, "kernarg_segment_size", info->kernarg_bytes);
	output_json_u64(w, "kernarg_segment_alignment", info->kernarg_alignment);
	output_json_u64(w, "group_segment_size", info->group_bytes);
	output_json_u64(w, "private_segment_size", info->private_bytes);
	NUMBER(sgpr_count);
	NUMBER(arch_vgpr_count);
	NUMBER(accum_vgpr_count);
	output_json_i64(w, "kernel_code_entry_byte_offset", info->entry_byte_offset);
	output_json_handle(w, "kernel_address", info->kernel_address);
	output_json_str(w, "formatted_kernel_name", kernel->formatted);
	output_json_str(w, "demangled_kernel_name", kernel->demangled);
	output_json_str(w, "truncated_kernel_name", kernel->truncated);
	output_json_close(w, '}');
}

void output_json_host_function(struct output_jsonw *w, const struct trc_host_function *function)
{
	static const struct cap_rec_host_function none;
	static const uint32_t nowhere[3];
	const struct cap_rec_host_function *info = function->info ? function->info : &none;

	output_json_open(w, NULL, '{');
	output_json_u64(w, "size", function->info ? OUTPUT_JSON_SIZE_HOST_FUNCTION : 0);
	output_json_u64(w, "host_function_id", function->id);
	output_json_u64(w, "kernel_id", function->kernel->id);
	output_json_u64(w, "code_object_id",
			info->code_object ? info->code_object : function->kernel->code_object->id);
	output_json_handle(w, "host_function", info->host_function);
	output_json_handle(w, "modules", info->modules);
	output_json_str(w, "device_function", function->name);
	NUMBER(thread_limit);
	/* What the program's pointers point at; compilers have passed none for years. */
	output_json_dim3(w, "thread_ids", nowhere);
	output_json_dim3(w, "block_ids", nowhere);
	output_json_dim3(w, "block_dims", nowhere);
	output_json_dim3(w, "grid_dims", nowhere);
	output_json_u64(w, "workgroup_size", 0);
	output_json_str(w, "formatted_host_function_name", function->formatted);
	output_json_str(w, "demangled_host_function_name", function->demangled);
	output_json_str(w, "truncated_host_function_name", function->truncated);
	output_json_close(w, '}');
}
