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
#define SG_MAX_CACHES 4
#define SG_PCIE_LANES 16u

struct sg_cache_level {
	uint8_t level; /* 0: none, the list ends */
	bool instruction;
	uint32_t size_kib;
	uint32_t line_bytes;
};

struct sg_gpu_model {
	const char *name; /* as typed in WAVESCOPE_GPU */
	const char *marketing_name;
	enum sg_isa_target target;
	const char *partition; /* compute partition mode, "SPX"; NULL: this GPU has none */
	uint8_t n_gpus;    /* that the runtime sees per board: dies of an MI250X, or partitions */
	uint8_t n_xccs;    /* compute dies of one of them */
	uint8_t nps_modes; /* memory partitions that go with it: bit n - 1 is NPSn */
	bool is_apu;       /* its memory is the host's */

	uint8_t gfx_major, gfx_minor, gfx_stepping;
	uint16_t device_id;
	uint8_t pci_revision;      /* the name of a board depends on it, too */
	uint32_t n_cus;            /* active ones */
	uint32_t n_shader_engines; /* of all dies together, as n_cus */
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

	uint8_t pcie_gts; /* to the host, on each of SG_PCIE_LANES */
	/* xGMI: one link; how many join two dies of a package, two boards, more than two boards */
	uint32_t xgmi_mbs;
	uint8_t n_links_package, n_links_pair, n_links_mesh;

	struct sg_cache_level caches[SG_MAX_CACHES];
};

/* All of them; the first is the default. */
extern const struct sg_gpu_model sg_gpu_models[];
extern const size_t sg_gpu_n_models;

static inline uint32_t sg_gpu_n_caches(const struct sg_gpu_model *model)
{
	uint32_t n = 0;

	while (n < SG_MAX_CACHES && model->caches[n].level)
		n++;
	return n;
}

struct sg_gpu {
	const struct sg_gpu_model *model;
	uint64_t unique_id;
	uint64_t hive_id;   /* 0: alone */
	uint32_t board;     /* counted from 0; an mi250x has two GPUs on one */
	uint32_t partition; /* of the board, from 0; 0: undivided, too */
	uint8_t nps;        /* memory partitions of the board */
	/* PCI bus << 8 | device << 3 | function; partitions share a device, and the function is their number */
	uint32_t location;
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
 * Reads a list such as "mi210,mi210,mi100"; NULL or "" is the default machine. "mi300x:cpx" is an MI300X in
 * partitions of one die, "mi300x:cpx/nps4" one with four memory partitions. On failure `error` has a message
 * for the user.
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
