/*
 * agent: the one description of an agent, a GPU or a CPU as AMD's runtime lists them.
 *
 * Whatever knows an agent is converted to it by one function: AMD's runtime (gpu/hsa_agents.h),
 * the kernel driver (gpu/present.h), a row of the table of models (below) and a recording
 * (trace/agent.h). A number that the source does not report is 0; a text is "".
 */
#ifndef WS_GPU_AGENT_H
#define WS_GPU_AGENT_H

#include "gpu/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Properties in the spelling of the driver's topology files and of AMD's profilers, where they
 * are constants that a derived counter may use. The order is that of AMD's counter ids.
 */
/* clang-format off */
#define GPU_AGENT_PROPERTY_TABLE(X)                                                                \
	X(cpu_cores_count) X(simd_count) X(mem_banks_count) X(caches_count) X(io_links_count)      \
	X(cpu_core_id_base) X(simd_id_base) X(max_waves_per_simd) X(lds_size_in_kb)                \
	X(gds_size_in_kb) X(num_gws) X(wave_front_size) X(array_count) X(simd_arrays_per_engine)   \
	X(cu_per_simd_array) X(simd_per_cu) X(max_slots_scratch_cu) X(gfx_target_version)          \
	X(vendor_id) X(device_id) X(location_id) X(domain) X(drm_render_minor) X(hive_id)          \
	X(num_sdma_engines) X(num_sdma_xgmi_engines) X(num_sdma_queues_per_engine)                 \
	X(num_cp_queues) X(max_engine_clk_ccompute) X(num_xcc)
/* clang-format on */

struct gpu_agent {
	bool is_gpu;   /* else a CPU */
	bool soft;     /* the software GPU: its times are simulated, some counters have no value */
	char arch[64]; /* "gfx90a"; of a CPU, its name */
	char product[64];  /* "AMD Instinct MI210" */
	uint32_t node;     /* of the driver's topology */
	uint32_t freq_mhz; /* highest engine clock */
	uint32_t workgroup_max;
	uint64_t l1_kib, l2_kib, l3_kib;
	uint64_t mem_kib;
	const struct gpu_model *model; /* NULL: not in our table */
#define GPU_AGENT_PROPERTY_FIELD(name) uint64_t name;
	GPU_AGENT_PROPERTY_TABLE(GPU_AGENT_PROPERTY_FIELD)
#undef GPU_AGENT_PROPERTY_FIELD
};

/* The properties by name, for readers and writers of all of them. */
struct gpu_agent_property {
	const char *name;
	size_t offset; /* of a uint64_t in struct gpu_agent */
};
#define GPU_AGENT_N_PROPERTIES 30
extern const struct gpu_agent_property gpu_agent_properties[GPU_AGENT_N_PROPERTIES];
uint64_t gpu_agent_property(const struct gpu_agent *agent, size_t i);
void gpu_agent_set_property(struct gpu_agent *agent, size_t i, uint64_t value);

#define GPU_AGENTS_MAX 64

/* The GPUs that a program sees. */
struct gpu_agents {
	struct gpu_agent at[GPU_AGENTS_MAX]; /* in the runtime's order: GPU number i is at[i] */
	size_t n;
	bool soft;         /* software GPUs, not hardware */
	char runtime[512]; /* the runtime's library: path, size and time tell builds apart */
};

/* Compute units, or cores of a CPU. */
uint64_t gpu_agent_n_cus(const struct gpu_agent *agent);
uint64_t gpu_agent_n_ses(const struct gpu_agent *agent);        /* shader engines */
uint64_t gpu_agent_waves_per_cu(const struct gpu_agent *agent); /* that a CU can hold */
/* Dies: as the source says, else by the compute units of the model; a partition has some of them. */
uint64_t gpu_agent_n_xccs(const struct gpu_agent *agent);

/* What a row of the table says of a GPU; a software GPU (@soft) is exactly that. */
void gpu_agent_of_model(const struct gpu_model *model, bool soft, struct gpu_agent *out_agent);
/* One agent of a software GPU: all of it, or a partition. */
void gpu_agent_of_soft(const struct gpu_soft *soft, struct gpu_agent *out_agent);

/* For people: "agent 2   GPU  gfx90a   AMD Instinct MI210, 104 CUs, 1700 MHz, 64 GiB". */
void gpu_agent_line(const struct gpu_agent *agent, size_t number, char *out_text, size_t n_bytes);

#endif
