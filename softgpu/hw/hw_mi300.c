#include "softgpu/hw/hw_priv.h"

/*
 * D documented (AMD's CDNA 3 and CDNA 4 papers and ISA manuals, the driver's topology), R recorded (AMD's profiler
 * recordings of vcopy on MI300X, MI300A and an early MI350: half of its dies at 440 MHz), F fitted to R, M as MI210 where
 * nothing else is known.
 *
 * Shapes and sizes are those of one die.
 */
/* clang-format off */
#define GFX94X_COMMON \
	.n_se = 4,                            /* D */ \
	.simd_waves = 8,                      /* D */ \
	.simd_vgprs = 512, .vgpr_granule = 8, /* D */ \
	.simd_sgprs = 800, .sgpr_granule = 16, .trap_sgprs = 16, /* D */ \
	.barriers = 16,                       /* D */ \
	.level_slots = 80,                    /* R: accumulation / level */ \
	.wave_launch = 5,                     /* M */ \
	.sgpr_init = 2, .l1_invalidates = 1,  /* R: 32768 for 16384 waves; one for each CU */ \
	.fetch = 16, .branch = 8,             /* R: SQ_IFETCH_LEVEL; M */ \
	.fetch_16ths = 18,                    /* M */ \
	.icache_bytes = 65536, .dcache_bytes = 16384, .scalar_ways = 4, /* D; D; M */ \
	.scalar_hit = 80, .scalar_waiting = 30, /* F: SQ_INST_LEVEL_SMEM; R: SQC_DCACHE_MISSES_DUPLICATE */ \
	.scalar_queue = 37,                   /* F: SQ_WAIT_INST_ANY, between MI300X and MI300A */ \
	.waits = { .matrix = 4, .matrix_accumulator = 1, .sgpr_memory = 5, /* D: wait states of the ISA manuals, in LLVM */ \
		   .trans = 1, .sgpr_vector = 2, /* D */ \
		   .sgpr_scalar = 4 },        /* M */ \
	.lds_latency = 64,                    /* M */ \
	.ta_queue = 24,                       /* M */ \
	.ta_ahead = 14,                       /* F: between MI300X and MI300A */ \
	.l1_bytes = 32768, .l1_ways = 4, .l1_line = 128, /* D; M; D, R: TCP_TCC_READ_REQ */ \
	.l1_hit = 110, .l1_16ths = 19, .td_latency = 160, /* M; M; F: SQ_INST_LEVEL_VMEM */ \
	.l1_misses = 128,                     /* M; here a miss is 128 bytes */ \
	.utcl1_pages = 512, .page_shift = 21, /* M; R: 7 to 8 misses per CU for 16 MiB */ \
	.utcl1_under_miss = 33,               /* R: REQUEST - HIT - MISS = 33 (MI300X), 38 (MI300A), 39 (MI350) per miss */ \
	.utcl2_ns = 30,                       /* F: TA_TA_BUSY, TD_TD_BUSY */ \
	.request = 100, .response = 0,        /* M; F: TCP_TCP_LATENCY of MI350 */ \
	.merge_wait = 0,                      /* R: TCC_READ = TCP_TCC_READ_REQ and what scalar caches read */ \
	.n_channels = 16, .channel_shift = 8, /* D */ \
	.l2_bytes = 4u << 20, .l2_ways = 16, .l2_line = 128, /* D */ \
	.l2_hash = true,                      /* R: TCC_NORMAL_EVICT = 0 for 2 MiB in each die of MI300X */ \
	.l2_latency = 40, .l2_fill = 0,       /* F: TCP_TCP_LATENCY of MI350 */ \
	.l2_read_16ths = 19, .l2_write_16ths = 16, .l2_atomic_16ths = 64, /* M: 128 and 64 bytes per cycle (D) */ \
	.write_age = 13,                      /* M */ \
	.l2_clean_ways = 9,                   /* F: TCC_NORMAL_WRITEBACK: 0, 25 and 46 % where a copy fills 8, 10.7 and 16 ways */ \
	.release_stalls = true,               /* R: TCC_EA0_WRREQ_STALL, 1000 to 2600 cycles of a channel */ \
	.scalar_cached = false,               /* R: TCC_MISS and TCC_UC_REQ count each scalar miss */ \
	.n_memory = 8,                        /* D: 128 channels */ \
	.read_128 = true,                     /* R: TCC_EA0_RDREQ, TCC_BUBBLE */ \
	.mall_bytes = 256ull << 20,           /* D */ \
	.mall_scalar_ns = 310,                /* F: SQ_IFETCH_LEVEL of the first dispatch, SQC_DCACHE_INPUT_VALID_READYB */ \
	.mall_ns = 390, .read_ns = 580, .write_ns = 220, /* F: TCC_EA0_RDREQ_LEVEL, WRREQ_LEVEL, SQ_INST_LEVEL_VMEM */ \
	.tcr_ps = 0,                          /* R: TCP_TCR_TCP_STALL_CYCLES = 0 */ \
	.read_credit = 2500, .write_credit = 2500, /* M */ \
	.xgmi = { .mb_s = 64000, XGMI },      /* D: 16 lanes of 32 Gbit/s */ \
	.credit_ns = 11                       /* M */

#define GFX942 \
	.target = SG_ISA_GFX942, \
	.cus_per_se = 10, .n_missing = 2,     /* D: 38 of 40 */ \
	.n_groups = 5, .group_cus = { 2, 2, 2, 2, 2 }, /* D; R: 160 scalar caches of 32 engines */ \
	.lds_bytes = 65536, .lds_granule = 512, .lds_banks = 32, .lds_16ths = 20, /* D; D; D; M: 128 bytes per cycle (D) */ \
	.sclk_mhz = 2100, .cold_sclk_mhz = 2100, /* D; nothing is known of the first dispatch */ \
	.busy_mhz = 1975,                     /* M: 94 % */ \
	.ra_check = 11,                       /* F: SPI_RA_RES_STALL_CSN */ \
	.cp_utcl1_stall = { 1220, 87 }, .cpc_utcl2 = { 1100, 85 }, /* R: MI300X, of one die */ \
	.cpc_tciu = 198, .cpf_tciu = 264,     /* R: MI300X; a guess, MI300X's grow with its overhead */ \
	.port_ps = 690,                       /* D: 64 bytes per cycle of each L2 channel, 17.2 TB/s in all; published: 11.9 measured */ \
	GFX94X_COMMON

#define GFX950 \
	.target = SG_ISA_GFX950, \
	.cus_per_se = 8, .n_groups = 4, .group_cus = { 2, 2, 2, 2 }, /* D: 32 of 36; two share scalar caches */ \
	.lds_bytes = 163840, .lds_granule = 1280, .lds_banks = 64, .lds_16ths = 20, /* D; D; D; M: 256 bytes per cycle (D) */ \
	.icache_ahead = 2,                    /* M */ \
	.cp_overhead = 9150, .cp_decode = 9220, .cp_stall = 3500, /* R: of one die */ \
	.cp_utcl1_stall = { 0, 100 }, .cpc_utcl2 = { 0, 97 }, .cpf_stall = { 480, 860 }, /* R: of one die */ \
	.cpc_tciu = 157, .cpf_tciu = 528,     /* R: of one die */ \
	.cpc_cane = 158, .cpc_sync = 2,       /* R: of one die */ \
	.ra_check = 2,                        /* F: SPI_RA_RES_STALL_CSN */ \
	.walk_ns = 540,                       /* as MI300A */ \
	.tcw_ps = 2200,                       /* F: TA_DATA_STALLED_BY_TC_CYCLES */ \
	.wave_request = { 4, 5 },             /* R: SPI_RA_REQ_NO_ALLOC_CSN, 1.0 to 1.1 checks per wave */ \
	.release_ns = 250,                    /* as MI300X */ \
	.read_ps = 1264, .write_ps = 1264,    /* D: 8 TB/s, of which 81 % */ \
	GFX94X_COMMON

/*
 * The front end of MI300X and MI300A: of the recorded passes those that it delayed least. In others it is busy for up
 * to 300000 cycles more, with a kernel that takes the same time.
 */
#define MI300X_FRONT \
	.icache_ahead = 3,                    /* R: SQC_TC_INST_REQ / SQC_ICACHE_MISSES = 4 */ \
	.cp_l2_busy = 7000,                   /* F: TCC_BUSY / TCC_CYCLE */ \
	.cp_overhead = 35450, .cp_decode = 30000, .cp_stall = 25000, /* R: GRBM_COUNT - GRBM_SPI_BUSY; F: shares of that */ \
	.walk_ns = 250,                       /* F: TA_TA_BUSY */ \
	.tcw_ps = 670,                        /* F: TA_DATA_STALLED_BY_TC_CYCLES */ \
	.wave_request = { 7, 7 },             /* R: SPI_RA_REQ_NO_ALLOC_CSN, 1.7 to 1.9 checks per wave */ \
	.release_ns = 250                     /* F: GRBM_SPI_BUSY - SQ_BUSY_CYCLES / 4, the write-back taken away */

const struct sg_hw sg_hw_mi300x = {
	.name = "MI300X", .n_xcc = 8, MI300X_FRONT,
	PCIE(63015, 4500),                    /* D: generation 5; F: SQ_BUSY_CYCLES, whose kernel arguments are on the host */
	.read_ps = 1900, .write_ps = 1900,    /* D: 5.3 TB/s, of which 81 % */
	GFX942
};

const struct sg_hw sg_hw_mi325x = {
	.name = "MI325X", .n_xcc = 8, PCIE(63015, 1500), MI300X_FRONT, /* D: generation 5; M */
	.read_ps = 1680, .write_ps = 1680,    /* D: 6 TB/s, of which 81 % */
	GFX942
};

const struct sg_hw sg_hw_mi300a = {
	.name = "MI300A", .n_xcc = 6, PCIE(63015, 1500), /* D: generation 5; M */
	.icache_ahead = 2,                    /* R: SQC_TC_INST_REQ / SQC_ICACHE_MISSES = 3 */
	.cp_l2_busy = 3800,                   /* F: TCC_BUSY / TCC_CYCLE */
	.cp_overhead = 19120, .cp_decode = 15000, .cp_stall = 11000, /* as MI300X */
	.walk_ns = 540,                       /* F: SQ_WAIT_INST_ANY */
	.tcw_ps = 1650,                       /* F: TA_DATA_STALLED_BY_TC_CYCLES */
	.wave_request = { 5, 5 },             /* R: SPI_RA_REQ_NO_ALLOC_CSN, 1.2 checks per wave */
	.release_ns = 250,                    /* as MI300X */
	.read_ps = 1900, .write_ps = 1900,    /* D: 5.3 TB/s, of which 81 % */
	GFX942
};

const struct sg_hw sg_hw_mi350x = {
	.name = "MI350X", .n_xcc = 8, PCIE(63015, 1500), /* D: generation 5; M */
	.sclk_mhz = 2200, .cold_sclk_mhz = 2200, .busy_mhz = 2070, /* D; M: 94 % */
	.port_ps = 659,                       /* as MI300X */
	GFX950
};

const struct sg_hw sg_hw_mi355x = {
	.name = "MI355X", .n_xcc = 8, PCIE(63015, 1500), /* D: generation 5; M */
	.sclk_mhz = 2400, .cold_sclk_mhz = 2400, .busy_mhz = 2260, /* D; M: 94 % */
	.port_ps = 604,                       /* as MI300X */
	GFX950
};
/* clang-format on */
