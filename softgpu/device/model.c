#include "softgpu/device/model.h"

#include <stdio.h>
#include <string.h>

#define GIB(n) ((uint64_t)(n) << 30)

/* clang-format off */
/* The die that an MI210 has one of and an MI250X two, but for the CUs that are switched on. */
#define MI200_DIE                                                                                 \
	.target = SG_ISA_GFX90A, .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 10,                  \
	.n_shader_engines = 8, .n_cus_per_engine = 14,                                            \
	.n_simds_per_cu = 4, .n_waves_per_simd = 8, .n_scratch_slots_per_cu = 32,                 \
	.lds_kib = 64, .vgpr_bytes_per_cu = 512 << 10, .sgpr_bytes_per_cu = 12800,                \
	.vram_bytes = GIB(64), .hbm_width_bits = 4096, .hbm_clock_mhz = 1600,                     \
	.engine_clock_mhz = 1700, .gb_addr_config = 0x2a114042,                                   \
	.cp_ucode = 70, .sdma_ucode = 8,                                                          \
	.n_sdma_engines = 2, .n_sdma_xgmi_engines = 3, .n_sdma_queues_per_engine = 8,             \
	.n_cp_queues = 24, .asic_revision = 1,                                                    \
	.caches = { { 1, false, 16, 64 }, { 1, true, 32, 64 }, { 2, false, 8192, 128 } }

/*
 * What real boards report through the kernel's topology. A die of the MI250X has 110 of 112 CUs in
 * eight engines; scratch is dealt out by wave slots, of which 110 * 32 divide evenly.
 */
static const struct sg_gpu_model models[] = {
	{
		.name = "mi210", .marketing_name = "AMD Instinct MI210",
		.n_dies = 1, .device_id = 0x740f, .pci_revision = 2, .n_cus = 104,
		.idle_watts = 42, .max_watts = 300,
		MI200_DIE,
	},
	{
		.name = "mi250x", .marketing_name = "AMD Instinct MI250X",
		.n_dies = 2, .device_id = 0x7408, .pci_revision = 0, .n_cus = 110,
		.idle_watts = 90, .max_watts = 560,
		MI200_DIE,
	},
	{
		.name = "mi100", .marketing_name = "AMD Instinct MI100",
		.target = SG_ISA_GFX908, .n_dies = 1,
		.gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 8, .device_id = 0x738c, .pci_revision = 1,
		.idle_watts = 34, .max_watts = 300,
		.n_cus = 120, .n_shader_engines = 8, .n_cus_per_engine = 16,
		.n_simds_per_cu = 4, .n_waves_per_simd = 10, .n_scratch_slots_per_cu = 32,
		.lds_kib = 64, .vgpr_bytes_per_cu = 512 << 10, .sgpr_bytes_per_cu = 12800,
		.vram_bytes = GIB(32), .hbm_width_bits = 4096, .hbm_clock_mhz = 1200,
		.engine_clock_mhz = 1502, .gb_addr_config = 0x2a114042,
		.cp_ucode = 65, .sdma_ucode = 18,
		.n_sdma_engines = 2, .n_sdma_xgmi_engines = 6, .n_sdma_queues_per_engine = 8,
		.n_cp_queues = 24, .asic_revision = 2,
		.caches = { { 1, false, 16, 64 }, { 1, true, 32, 64 }, { 2, false, 8192, 64 } },
	},
};
/* clang-format on */

#define N_MODELS (sizeof(models) / sizeof(models[0]))

static const struct {
	uint32_t weight, min_bandwidth_mbs, max_bandwidth_mbs; /* of one */
} link_kinds[] = {
	[SG_LINK_PCIE] = { 20, 312, 32000 },
	[SG_LINK_XGMI] = { 15, 50000, 50000 },
};

#define LINKS_OF_PACKAGE 4 /* xGMI, between the two dies of an MI250X */
#define LINKS_OF_BOARD                                                                             \
	3 /* ... to other boards, of an MI100 or MI210: bridges join two of them or four */

static const struct sg_gpu_model *find_model(const char *name, size_t length)
{
	for (size_t i = 0; i < N_MODELS; i++) {
		if (strlen(models[i].name) == length && !strncmp(models[i].name, name, length))
			return &models[i];
	}
	return NULL;
}

static void say_unknown(const char *name, size_t length, char *error, size_t error_bytes)
{
	int n = snprintf(error, error_bytes, "WAVESCOPE_GPU: no GPU model '%.*s'; there are",
			 length > 60 ? 60 : (int)length, name);

	for (size_t i = 0; i < N_MODELS && n >= 0 && (size_t)n < error_bytes; i++)
		n += snprintf(error + n, error_bytes - n, "%s %s", i ? "," : "", models[i].name);
}

static void add_gpu(struct sg_topology *topology, const struct sg_gpu_model *model, uint32_t board)
{
	uint32_t index = topology->n_gpus++;

	topology->gpus[index] = (struct sg_gpu){
		.model = model,
		.board = board,
		/* The same in every run, different per place: what a serial number is. */
		.unique_id = (0x9e3779b97f4a7c15ull * (index + 1)) ^ model->device_id,
		.location = (index * 3 + 3) << 8,
		.render_minor = 128 + (int)index,
	};
}

/* Boards of one model are bridged with each other; a board that is alone has no hive. */
static void form_hives(struct sg_topology *topology)
{
	for (uint32_t i = 0; i < topology->n_gpus; i++) {
		struct sg_gpu *gpu = &topology->gpus[i];
		uint32_t n_same = 0;

		for (uint32_t j = 0; j < topology->n_gpus; j++)
			n_same += topology->gpus[j].model == gpu->model;
		gpu->hive_id = n_same > 1 ? 0x5753000000000000ull | gpu->model->device_id : 0;
	}
}

bool sg_topology_parse(struct sg_topology *topology, const char *list, char *error,
		       size_t error_bytes)
{
	const char *at = list && *list ? list : models[0].name;

	topology->n_gpus = 0;
	for (uint32_t board = 0;; board++) {
		size_t length = strcspn(at, ",");
		const struct sg_gpu_model *model = find_model(at, length);

		if (!model) {
			say_unknown(at, length, error, error_bytes);
			return false;
		}
		if (topology->n_gpus + model->n_dies > SG_MAX_GPUS) {
			snprintf(error, error_bytes,
				 "WAVESCOPE_GPU: more than %d GPUs (a mi250x counts as two)",
				 SG_MAX_GPUS);
			return false;
		}
		for (int die = 0; die < model->n_dies; die++)
			add_gpu(topology, model, board);
		if (!at[length])
			break;
		at += length + 1;
	}
	form_hives(topology);
	return true;
}

static void fill_link(struct sg_link *link, enum sg_link_type type, uint32_t from, uint32_t to,
		      uint32_t n_hops, uint32_t n_links)
{
	*link = (struct sg_link){
		.type = type,
		.from = from,
		.to = to,
		.n_links = n_links,
		.weight = link_kinds[type].weight * n_hops,
		.min_bandwidth_mbs = link_kinds[type].min_bandwidth_mbs,
		.max_bandwidth_mbs = link_kinds[type].max_bandwidth_mbs * n_links,
	};
}

/* xGMI links between two GPUs, by index; 0: there is no bridge. */
static uint32_t n_xgmi_links(const struct sg_topology *topology, uint32_t a, uint32_t b)
{
	const struct sg_gpu *from = &topology->gpus[a], *to = &topology->gpus[b];
	uint32_t n_same = 0;

	if (!from->hive_id || from->hive_id != to->hive_id)
		return 0;
	if (from->board == to->board)
		return LINKS_OF_PACKAGE;
	for (uint32_t g = 0; g < topology->n_gpus; g++)
		n_same += topology->gpus[g].hive_id == from->hive_id;
	return n_same == 2 ? LINKS_OF_BOARD : 1;
}

uint32_t sg_topology_links(const struct sg_topology *topology, uint32_t node,
			   struct sg_link links[SG_MAX_GPUS])
{
	uint32_t n = 0;

	if (node == 0) {
		for (uint32_t g = 0; g < topology->n_gpus; g++)
			fill_link(&links[n++], SG_LINK_PCIE, 0, g + 1, 1, 1);
		return n;
	}
	fill_link(&links[n++], SG_LINK_PCIE, node, 0, 1, 1);
	for (uint32_t g = 0; g < topology->n_gpus; g++) {
		uint32_t n_xgmi = n_xgmi_links(topology, node - 1, g);

		if (g + 1 == node)
			continue;
		/* Without a bridge the way leads through the host: two hops of PCIe. */
		fill_link(&links[n++], n_xgmi ? SG_LINK_XGMI : SG_LINK_PCIE, node, g + 1,
			  n_xgmi ? 1 : 2, n_xgmi ? n_xgmi : 1);
	}
	return n;
}

struct sg_memory_kind sg_topology_kind(const struct sg_topology *topology, uint32_t gpu,
				       uint32_t owner, enum sg_grain grain)
{
	uint32_t n_xgmi;

	if (gpu == owner)
		return (struct sg_memory_kind){
			.route = SG_ROUTE_OWN,
			.mtype = grain == SG_GRAIN_COARSE ? SG_MTYPE_RW
				 : grain == SG_GRAIN_FINE ? SG_MTYPE_CC
							  : SG_MTYPE_UC,
		};
	n_xgmi = owner ? n_xgmi_links(topology, gpu - 1, owner - 1) : 0;
	return (struct sg_memory_kind){
		.route = (uint8_t)(n_xgmi ? SG_ROUTE_GMI + owner - 1 : SG_ROUTE_IO),
		.mtype = grain == SG_GRAIN_COARSE ? SG_MTYPE_NC : SG_MTYPE_UC,
		.n_links = (uint8_t)(n_xgmi ? n_xgmi : 1),
	};
}
