/*
 * model: the GPUs that can be simulated, as tables, and a machine put together from them.
 *
 * Nothing here allocates or starts anything: an interface library reads the description of the machine and
 * presents it to its runtime. Node 0 is the host, GPU g is node g + 1.
 */
#ifndef WS_SOFTGPU_DEVICE_MODEL_H
#define WS_SOFTGPU_DEVICE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/isa/isa.h"
#include "softgpu/mem/kind.h"

#define SG_MAX_GPUS 16

struct sg_cache_level {
	uint8_t level;
	bool instruction;
	uint32_t size_kib;
	uint32_t line_bytes;
};

struct sg_gpu_model {
	const char *name; /* as typed in WAVESCOPE_GPU */
	const char *marketing_name;
	enum sg_isa_target target;
	uint8_t n_dies; /* GPUs that the runtime sees per board */

	uint8_t gfx_major, gfx_minor, gfx_stepping;
	uint16_t device_id;
	uint8_t pci_revision; /* the name of a board depends on it, too */
	uint32_t n_cus;       /* active ones */
	uint32_t n_shader_engines;
	uint32_t n_cus_per_engine; /* physical ones */
	uint32_t n_simds_per_cu;
	uint32_t n_waves_per_simd;
	uint32_t n_scratch_slots_per_cu;
	uint32_t lds_kib;
	uint32_t vgpr_bytes_per_cu, sgpr_bytes_per_cu;

	uint64_t vram_bytes;
	uint32_t hbm_width_bits;
	uint32_t hbm_clock_mhz;
	uint32_t engine_clock_mhz;
	uint32_t gb_addr_config;        /* image tiling; any plausible value */
	uint32_t idle_watts, max_watts; /* of the board */

	uint16_t cp_ucode, sdma_ucode;
	uint8_t n_sdma_engines, n_sdma_xgmi_engines, n_sdma_queues_per_engine;
	uint8_t n_cp_queues;
	uint8_t asic_revision;

	struct sg_cache_level caches[3];
};

struct sg_gpu {
	const struct sg_gpu_model *model;
	uint64_t unique_id;
	uint64_t hive_id;  /* 0: alone */
	uint32_t board;    /* counted from 0; an mi250x has two GPUs on one */
	uint32_t location; /* PCI bus << 8 | device << 3 | function */
	int render_minor;
};

enum sg_link_type { SG_LINK_PCIE, SG_LINK_XGMI };

struct sg_link {
	enum sg_link_type type;
	uint32_t from, to; /* nodes */
	uint32_t n_links;  /* side by side */
	uint32_t weight;
	uint32_t min_bandwidth_mbs, max_bandwidth_mbs;
};

struct sg_topology {
	uint32_t n_gpus;
	struct sg_gpu gpus[SG_MAX_GPUS];
};

/*
 * Reads a list such as "mi210,mi210,mi100"; NULL or "" is the default machine. On failure `error` has a
 * message for the user.
 */
bool sg_topology_parse(struct sg_topology *topology, const char *list, char *error,
		       size_t error_bytes);

/* Links that start at `node`; at most n_gpus of them. */
uint32_t sg_topology_links(const struct sg_topology *topology, uint32_t node,
			   struct sg_link links[SG_MAX_GPUS]);

enum sg_grain {
	SG_GRAIN_COARSE,
	SG_GRAIN_FINE,
	SG_GRAIN_UNCACHED, /* fine-grained, and not cached by its owner either */
};

/* The kind of memory of node `owner` as seen by the GPU of node `gpu`. */
struct sg_memory_kind sg_topology_kind(const struct sg_topology *topology, uint32_t gpu,
				       uint32_t owner, enum sg_grain grain);

#endif
