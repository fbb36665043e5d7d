#include "softgpu/hw/hw_priv.h"

/*
 * D documented (AMD's CDNA papers and ISA manuals, the driver's topology, PCIe), R recorded (AMD's profiler
 * recordings of vcopy and of the roofline benchmark), F fitted to R.
 */
/* clang-format off */
#define GFX90A_COMMON \
	.target = SG_ISA_GFX90A, .n_xcc = 1, \
	.n_se = 8, .n_groups = 7,             /* D; R: 56 scalar caches */ \
	.simd_waves = 8,                      /* D */ \
	.simd_vgprs = 512, .vgpr_granule = 8, /* D */ \
	.simd_sgprs = 800, .sgpr_granule = 16,/* D */ \
	.trap_sgprs = 16,                     /* D: LLVM; R: 8 waves of 80 fill a SIMD in AMD's tutorial */ \
	.lds_bytes = 65536, .lds_granule = 512, .lds_banks = 32, .barriers = 16, /* D */ \
	.level_slots = 112,                   /* R: accumulation / level */ \
	.sclk_mhz = 1700,                     /* D */ \
	.cold_sclk_mhz = 850,                 /* F: first dispatch, cycles against its time stamps */ \
	.busy_mhz = 1600,                     /* F: FP32, FP64 and MFMA peaks, 89 to 94 % of D */ \
	.cp_overhead = 11400,                 /* R: GRBM_COUNT - GRBM_SPI_BUSY, 11387 11663 10989 */ \
	.cp_decode = 12790, .cp_stall = 9197, .cpc_tciu = 319, .cpf_tciu = 2055, /* R: mean of three */ \
	.cp_utcl1_stall = { 2422, 545 }, .cpc_utcl2 = { 2796, 816 },   /* R */ \
	.release_ns = 1650,                   /* R: GRBM_SPI_BUSY - SQ_BUSY_CYCLES / 8 */ \
	.wave_launch = 5,                     /* F: at most 8.8, dispatch 0 */ \
	.ra_check = 4,                        /* F: SPI_RA_RES_STALL_CSN; at most 25 % of the cycles in AMD's tutorial */ \
	.wave_request = { 7, 5 },             /* F: SPI_RA_REQ_NO_ALLOC_CSN, 1.7 and 1.2 checks per wave */ \
	.sgpr_init = 2, .l1_invalidates = 0,  /* R */ \
	.fetch = 16, .branch = 8,             /* R: SQ_IFETCH_LEVEL; F */ \
	.fetch_16ths = 18,                    /* F: 6.79 s_nop per cycle and CU in AMD's tutorial */ \
	.icache_bytes = 32768, .dcache_bytes = 16384, .scalar_ways = 4, /* D */ \
	.icache_ahead = 2,                    /* R: SQC_TC_INST_REQ / SQC_ICACHE_MISSES = 3 */ \
	.scalar_hit = 110,                    /* F: SQ_INST_LEVEL_SMEM */ \
	.scalar_waiting = 30,                 /* R: SQC_DCACHE_MISSES_DUPLICATE */ \
	.scalar_queue = 32,                   /* F: SQ_WAIT_INST_ANY */ \
	.waits = { .matrix = 4, .matrix_accumulator = 1, .sgpr_memory = 5, /* D: wait states of the ISA manuals, in LLVM */ \
		   .sgpr_scalar = 4 },        /* a guess: D for lane selectors and v_div_fmas */ \
	.lds_latency = 64, .lds_16ths = 20,   /* F: LDS peak, 78 % of D */ \
	.ta_queue = 24,                       /* F */ \
	.ta_ahead = 6,                        /* F: TA_ADDR_STALLED_BY_TC_CYCLES */ \
	.l1_bytes = 16384, .l1_ways = 4, .l1_line = 64, /* D */ \
	.l1_hit = 110, .l1_16ths = 19,        /* F: L1 peak, 81 % of D */ \
	.td_latency = 140,                    /* F: SQ_INST_LEVEL_VMEM */ \
	.l1_misses = 128,                     /* F: HBM and L2 peaks; R: 64 on average */ \
	.utcl1_pages = 512, .page_shift = 21, /* F: HBM peak over hundreds of MiB; R: 8 misses per CU for 16 MiB */ \
	.utcl1_under_miss = 10,               /* R: REQUEST - HIT - MISS = 10 per miss */ \
	.utcl2_ns = 250, .walk_ns = 1000,     /* F */ \
	.request = 100, .response = 80,       /* F: write latency of 284 to 375 cycles */ \
	.merge_wait = 24,                     /* F: TCC_READ */ \
	.n_channels = 32, .channel_shift = 8, /* D */ \
	.l2_bytes = 8u << 20, .l2_ways = 16, .l2_line = 128, /* D; R: TCC_MISS */ \
	.l2_latency = 100, .l2_fill = 200,    /* F */ \
	.l2_read_16ths = 19, .l2_write_16ths = 16, .l2_atomic_16ths = 64, /* F: L2 peak, 72 % of D */ \
	.write_age = 13,                      /* F: 19489 of 65536 lines dirty at the end */ \
	.scalar_cached = true,                /* R: TCC_MISS */ \
	.read_ns = 180, .write_ns = 150,      /* F */ \
	.tcr_ps = 3100, .tcw_ps = 2200,       /* F: TCP_TCR_TCP_STALL_CYCLES, TA_DATA_STALLED_BY_TC_CYCLES */ \
	.read_credit = 2500, .write_credit = 2500, /* F: the stalls of L2 */ \
	.read_ps = 1400, .write_ps = 1440,    /* F: HBM peak, 85 % of D */ \
	PCIE(31508, 1100),                    /* F: SQC_DCACHE_INPUT_VALID_READYB */ \
	.xgmi = { .mb_s = 50000, XGMI },      /* D: 16 lanes of 25 Gbit/s */ \
	.credit_ns = 11                       /* F: published stalls of reads: xGMI 17.85 %, PCIe 91.29 % */

const struct sg_hw sg_hw_mi210 = {
	.name = "MI210", .cus_per_se = 13, .group_cus = { 2, 2, 2, 2, 2, 2, 1 }, GFX90A_COMMON
};

const struct sg_hw sg_hw_mi250x = { /* one of its two dies; 110 CUs are 14 of each engine less two */
	.name = "MI250X", .cus_per_se = 14, .n_missing = 2, .group_cus = { 2, 2, 2, 2, 2, 2, 2 }, GFX90A_COMMON
};

const struct sg_hw sg_hw_mi100 = {
	.name = "MI100",
	.target = SG_ISA_GFX908, .n_xcc = 1,
	.n_se = 8, .cus_per_se = 15, .n_groups = 6, .group_cus = { 3, 3, 3, 2, 2, 2 }, /* D; R: 48 caches */
	.simd_waves = 10, .simd_vgprs = 256, .vgpr_granule = 4, .simd_sgprs = 800, .sgpr_granule = 16, /* D */
	.trap_sgprs = 16,                     /* D: LLVM */
	.lds_bytes = 65536, .lds_granule = 512, .lds_banks = 32, .barriers = 16, /* D */
	.level_slots = 128,                   /* R */
	.sclk_mhz = 1502, .cold_sclk_mhz = 1502, /* D; R: no difference in cycles */
	.busy_mhz = 1414,                     /* F: as MI210 */
	.cp_overhead = 14155,                 /* R: 17466 12496 12501 */
	.cp_decode = 15244, .cp_stall = 12472, .cpc_tciu = 484, .cpf_tciu = 1751, /* R: mean of three */
	.cp_utcl1_stall = { 4670, 588 }, .cpc_utcl2 = { 3613, 913 },   /* R: mean of two; one */
	.release_ns = 1000,                   /* R */
	.wave_launch = 11,                    /* F: 6.7 of 10 wave slots in use, without a limit of resources */
	.ra_check = 4,                        /* as MI210 */
	.wave_request = { 7, 7 },             /* F: SPI_RA_REQ_NO_ALLOC_CSN, 1.7 to 1.9 checks per wave */
	.sgpr_init = 5, .l1_invalidates = 1,  /* R */
	.fetch = 16, .branch = 8, .fetch_16ths = 18, /* R; F; F: as MI210 */
	.icache_bytes = 32768, .dcache_bytes = 16384, .scalar_ways = 4, /* D */
	.icache_ahead = 2, .scalar_hit = 110, .scalar_waiting = 30, .scalar_queue = 32, /* R; F; R; F: as MI210 */
	.waits = { .matrix = 4, .matrix_accumulator = 1, .sgpr_scalar = 4, .sgpr_memory = 5 }, /* as MI210 */
	.lds_latency = 64, .lds_16ths = 20,   /* F: as MI210 */
	.ta_queue = 22, .ta_ahead = 13,       /* F: SQ_WAIT_INST_ANY; as MI210 */
	.l1_bytes = 16384, .l1_ways = 4, .l1_line = 64, /* D */
	.l1_hit = 110, .l1_16ths = 19, .td_latency = 100, /* F */
	.l1_misses = 64,                      /* F */
	.utcl1_pages = 512, .page_shift = 21, .utcl1_under_miss = 10, /* F: as MI210; R; R: 9.8 */
	.utcl2_ns = 250, .walk_ns = 1000,     /* F */
	.request = 100, .response = 260,      /* F: write latency of 590 cycles */
	.merge_wait = 0,                      /* R: TCC_READ = TCP_TCC_READ_REQ */
	.n_channels = 32, .channel_shift = 8, /* D */
	.l2_bytes = 8u << 20, .l2_ways = 16, .l2_line = 64, /* D; R: TCC_MISS */
	.l2_latency = 100, .l2_fill = 200,    /* F */
	.l2_read_16ths = 16, .l2_write_16ths = 16, .l2_atomic_16ths = 64, /* D: 64 bytes per cycle */
	.write_age = 11,                      /* F: 43930 of 131072 lines dirty at the end */
	.scalar_cached = true,                /* R: TCC_MISS */
	.read_ns = 380, .write_ns = 180,      /* F */
	.tcr_ps = 4500, .tcw_ps = 3300,       /* F: as MI210 */
	.read_credit = 830, .write_credit = 745, /* F: the stalls of L2 */
	.read_ps = 1960, .write_ps = 1960,    /* F: as MI210, 85 % of D */
	PCIE(31508, 1400),                    /* F: as MI210 */
	.xgmi = { .mb_s = 46000, XGMI },      /* D: 16 lanes of 23 Gbit/s */
	.credit_ns = 11                       /* as MI210 */
};
/* clang-format on */
