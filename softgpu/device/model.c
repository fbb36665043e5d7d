#include "softgpu/device/model.h"

#define GIB(n) ((uint64_t)(n) << 30)
/* What the driver shows of HBM on a board with partitions: it keeps 16 MiB. */
#define HBM(gib, n_gpus) ((GIB(gib) - (16ull << 20)) / (n_gpus) / 4096 * 4096)

#define NPS(n) (1u << ((n)-1))

/* clang-format off */
/* The die that an MI210 has one of and an MI250X two, but for the CUs that are switched on. */
#define MI200_DIE                                                                                 \
	.target = SG_ISA_GFX90A, .gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 10,                  \
	.n_xccs = 1, .n_shader_engines = 8, .n_cus_per_engine = 14,                               \
	.n_simds_per_cu = 4, .n_waves_per_simd = 8, .n_scratch_slots_per_cu = 32,                 \
	.lds_kib = 64, .vgpr_bytes_per_cu = 512 << 10, .sgpr_bytes_per_cu = 12800,                \
	.vram_bytes = GIB(64), .hbm_width_bits = 4096, .hbm_clock_mhz = 1600,                     \
	.engine_clock_mhz = 1700, .gb_addr_config = 0x2a114042,                                   \
	.cp_ucode = 70, .sdma_ucode = 8,                                                          \
	.n_sdma_engines = 2, .n_sdma_xgmi_engines = 3, .n_sdma_queues_per_engine = 8,             \
	.n_cp_queues = 24, .asic_revision = 1, .pcie_gts = 16,                                    \
	.xgmi_mbs = 50000, .n_links_package = 4, .n_links_pair = 3, .n_links_mesh = 1,            \
	.caches = { { 1, false, 16, 64 }, { 1, true, 32, 64 }, { 2, false, 8192, 128 } }

/*
 * A GPU of `xccs` dies, from MI300 on. A die has four engines; 16 copy engines of a board are divided among its
 * partitions, and of each share two are for the host. Links between the partitions of a board count as one.
 */
#define XCCS(xccs, n_dies, cus_per_die, name_of_mode, modes)                                      \
	.partition = name_of_mode, .n_gpus = (n_dies) / (xccs), .nps_modes = (modes),             \
	.n_xccs = (xccs), .n_cus = (xccs) * (cus_per_die), .n_shader_engines = 4 * (xccs),        \
	.n_sdma_engines = 2, .n_sdma_xgmi_engines = 16 * (xccs) / (n_dies) - 2
#define MI300_COMMON                                                                              \
	.n_simds_per_cu = 4, .n_waves_per_simd = 8, .n_scratch_slots_per_cu = 32,                 \
	.vgpr_bytes_per_cu = 512 << 10, .sgpr_bytes_per_cu = 12800,                               \
	.hbm_width_bits = 8192, .gb_addr_config = 0x2a114042,                                     \
	.n_sdma_queues_per_engine = 8, .n_cp_queues = 24, .pcie_gts = 32,                         \
	.xgmi_mbs = 64000, .n_links_package = 1
#define CACHES(l2_kib)                                                                            \
	.caches = { { 1, false, 32, 128 }, { 1, true, 64, 128 }, { 2, false, l2_kib, 128 },       \
		    { 3, false, 262144, 128 } }

#define GFX942                                                                                    \
	.target = SG_ISA_GFX942, .gfx_major = 9, .gfx_minor = 4, .gfx_stepping = 2,               \
	.n_cus_per_engine = 10, .lds_kib = 64, .engine_clock_mhz = 2100,                          \
	.cp_ucode = 150, .sdma_ucode = 21, .asic_revision = 1, MI300_COMMON
#define GFX950                                                                                    \
	.target = SG_ISA_GFX950, .gfx_major = 9, .gfx_minor = 5, .gfx_stepping = 0,               \
	.n_cus_per_engine = 9, .lds_kib = 160, .hbm_clock_mhz = 1900,                             \
	.cp_ucode = 32, .sdma_ucode = 15, .asic_revision = 0,                                     \
	.n_links_pair = 1, .n_links_mesh = 1, CACHES(4096), MI300_COMMON

#define MI300X(xccs)                                                                              \
	.marketing_name = "AMD Instinct MI300X", .device_id = 0x74a1,                             \
	.idle_watts = 134, .max_watts = 750, .vram_bytes = HBM(192, 8 / (xccs)),                  \
	.hbm_clock_mhz = 1300, .n_links_pair = 1, .n_links_mesh = 1, CACHES(4096), GFX942
#define MI325X(xccs)                                                                              \
	.marketing_name = "AMD Instinct MI325X", .device_id = 0x74a5,                             \
	.idle_watts = 134, .max_watts = 1000, .vram_bytes = HBM(256, 8 / (xccs)),                 \
	.hbm_clock_mhz = 1500, .n_links_pair = 1, .n_links_mesh = 1, CACHES(4096), GFX942
/* Here the driver shows the L2 of all dies as one (recorded). */
#define MI300A(xccs)                                                                              \
	.marketing_name = "AMD Instinct MI300A", .device_id = 0x74a0, .is_apu = true,             \
	.idle_watts = 134, .max_watts = 550, .vram_bytes = GIB(128) * (xccs) / 6 / 4096 * 4096,   \
	.hbm_clock_mhz = 1300, .n_links_pair = 2, .n_links_mesh = 2, CACHES(4096 * (xccs)), GFX942
#define MI350X(xccs)                                                                              \
	.marketing_name = "AMD Instinct MI350X", .device_id = 0x75a0, .engine_clock_mhz = 2200,   \
	.idle_watts = 238, .max_watts = 1000, .vram_bytes = HBM(288, 8 / (xccs)), GFX950
#define MI355X(xccs)                                                                              \
	.marketing_name = "AMD Instinct MI355X", .device_id = 0x75a3, .engine_clock_mhz = 2400,   \
	.idle_watts = 238, .max_watts = 1400, .vram_bytes = HBM(288, 8 / (xccs)), GFX950

/* The modes of a board of eight dies, and which memory partitions the driver allows with each. */
#define IN_EIGHT(name_of_model, model, cus_per_die, halves_or_quarters)                                             \
	{ .name = name_of_model,        model(8), XCCS(8, 8, cus_per_die, "SPX", NPS(1)) },                         \
	{ .name = name_of_model ":dpx", model(4), XCCS(4, 8, cus_per_die, "DPX", NPS(1) | ((halves_or_quarters) & NPS(2))) }, \
	{ .name = name_of_model ":qpx", model(2), XCCS(2, 8, cus_per_die, "QPX", NPS(1) | ((halves_or_quarters) & NPS(4))) }, \
	{ .name = name_of_model ":cpx", model(1), XCCS(1, 8, cus_per_die, "CPX", NPS(1) | (halves_or_quarters)) }

/*
 * What real boards report through the kernel's topology. A die of the MI250X has 110 of 112 CUs in
 * eight engines; scratch is dealt out by wave slots, of which 110 * 32 divide evenly.
 *
 * From MI300 on: published captures of topology files and rocminfo for dies, engines, CUs, caches, memory sizes and
 * clocks (MI300X, MI300A, MI350X), AMD's product pages for the memory and power of MI325X and MI355X, the driver's
 * source for partition modes and copy engines. Idle power is what such boards reported; that of MI300A, MI325X and
 * MI350X is taken from the nearest one. Firmware versions: of one board each, gfx950's are plausible ones.
 */
const struct sg_gpu_model sg_gpu_models[] = {
	{
		.name = "mi210", .marketing_name = "AMD Instinct MI210",
		.n_gpus = 1, .device_id = 0x740f, .pci_revision = 2, .n_cus = 104,
		.idle_watts = 42, .max_watts = 300,
		MI200_DIE,
	},
	{
		.name = "mi250x", .marketing_name = "AMD Instinct MI250X",
		.n_gpus = 2, .device_id = 0x7408, .pci_revision = 0, .n_cus = 110,
		.idle_watts = 90, .max_watts = 560,
		MI200_DIE,
	},
	{
		.name = "mi100", .marketing_name = "AMD Instinct MI100",
		.target = SG_ISA_GFX908, .n_gpus = 1, .n_xccs = 1,
		.gfx_major = 9, .gfx_minor = 0, .gfx_stepping = 8, .device_id = 0x738c, .pci_revision = 1,
		.idle_watts = 34, .max_watts = 300,
		.n_cus = 120, .n_shader_engines = 8, .n_cus_per_engine = 16,
		.n_simds_per_cu = 4, .n_waves_per_simd = 10, .n_scratch_slots_per_cu = 32,
		.lds_kib = 64, .vgpr_bytes_per_cu = 512 << 10, .sgpr_bytes_per_cu = 12800,
		.vram_bytes = GIB(32), .hbm_width_bits = 4096, .hbm_clock_mhz = 1200,
		.engine_clock_mhz = 1502, .gb_addr_config = 0x2a114042,
		.cp_ucode = 65, .sdma_ucode = 18,
		.n_sdma_engines = 2, .n_sdma_xgmi_engines = 6, .n_sdma_queues_per_engine = 8,
		.n_cp_queues = 24, .asic_revision = 2, .pcie_gts = 16,
		.xgmi_mbs = 50000, .n_links_pair = 3, .n_links_mesh = 1,
		.caches = { { 1, false, 16, 64 }, { 1, true, 32, 64 }, { 2, false, 8192, 64 } },
	},
	IN_EIGHT("mi300x", MI300X, 38, NPS(4)),
	IN_EIGHT("mi325x", MI325X, 38, NPS(4)),
	{ .name = "mi300a",     MI300A(6), XCCS(6, 6, 38, "SPX", NPS(1)) },
	{ .name = "mi300a:tpx", MI300A(2), XCCS(2, 6, 38, "TPX", NPS(1)) },
	{ .name = "mi300a:cpx", MI300A(1), XCCS(1, 6, 38, "CPX", NPS(1)) },
	IN_EIGHT("mi350x", MI350X, 32, NPS(2)),
	IN_EIGHT("mi355x", MI355X, 32, NPS(2)),
};
/* clang-format on */
const size_t sg_gpu_n_models = sizeof(sg_gpu_models) / sizeof(sg_gpu_models[0]);
