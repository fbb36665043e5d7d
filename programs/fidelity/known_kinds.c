/*
 * known_kinds: what SQ and its neighbours count of each kind of instruction, and of waves of each size. With
 * the other known kernels this makes every counter that is called exact differ from 0, and from its neighbours.
 */
#include "programs/fidelity/known_priv.h"

#define WAVES 4

static void check_control(struct fid_known *k)
{
	FID_KNOWN_CHECK(k, "branches", FID_CALL("branches", WAVES * 64, 64),
			{ "SQ_INSTS", WAVES * 16 }, { "SQ_INSTS_BRANCH", WAVES * 8 },
			{ "SQ_INSTS_SALU", WAVES * 6 }, { "SQ_INST_CYCLES_SALU", WAVES * 6 },
			{ "SQ_INSTS_VALU", WAVES }, { "SQ_THREAD_CYCLES_VALU", 0 },
			{ "SQ_ACTIVE_INST_MISC", WAVES * 9 }, { "SQ_ACTIVE_INST_ANY", WAVES * 16 });
	FID_KNOWN_CHECK(k, "few lanes", FID_CALL("few_lanes", WAVES * 64, 64),
			{ "SQ_INSTS_VALU", WAVES * 20 },
			{ "SQ_ACTIVE_INST_VALU", WAVES * (8 * 4 + 8 + 4 * 4) },
			{ "SQ_THREAD_CYCLES_VALU", WAVES * 16 * (8 * 4 + 8) },
			{ "SQ_INSTS_SALU", WAVES * 3 });
	FID_KNOWN_CHECK(k, "skipped", FID_CALL("skipped", WAVES * 64, 64),
			{ "SQ_INSTS_VSKIPPED", WAVES * 6 }, { "SQ_INSTS_VALU", WAVES * 3 },
			{ "SQ_INSTS_VMEM", 0 }, { "SQ_INSTS_SALU", WAVES * 2 },
			{ "TA_TOTAL_WAVEFRONTS_sum", 0 });
	/* two waves meet at each barrier */
	FID_KNOWN_CHECK(k, "messages", FID_CALL("messages", WAVES * 64, 128),
			{ "SQ_INSTS", WAVES * 8 }, { "SQ_INSTS_SENDMSG", WAVES * 3 },
			{ "SQ_ACTIVE_INST_MISC", WAVES * 5 }, { "SQ_ACTIVE_INST_ANY", WAVES * 5 },
			{ "SQ_INSTS_SALU", 0 }, { "SQ_INSTS_BRANCH", 0 });
}

static void check_data(struct fid_known *k)
{
	/* two loads of arguments, 3 clocks, 2 invalidations, 2 stores, 4 atomics */
	FID_KNOWN_CHECK(k, "scalar memory", FID_CALL("scalar_memory", WAVES * 64, 64),
			{ "SQ_INSTS_SMEM", WAVES * 13 }, { "SQ_INSTS_SMEM_NORM", WAVES * 26 },
			{ "SQ_INST_CYCLES_SMEM", WAVES * 13 }, { "SQ_INSTS_SALU", 0 },
			{ "SQ_ACTIVE_INST_SCA", WAVES * 13 }, { "SQC_DCACHE_REQ", WAVES * 8 },
			{ "SQC_DCACHE_ATOMIC", WAVES * 4 }, { "SQC_DCACHE_REQ_READ_2", WAVES },
			{ "SQC_DCACHE_REQ_READ_4", WAVES }, { "SQC_TC_DATA_WRITE_REQ", WAVES * 2 },
			{ "SQC_TC_DATA_ATOMIC_REQ", WAVES * 4 });
	FID_KNOWN_CHECK(
		k, "buffers", FID_CALL("buffers", WAVES * 64, 64), { "SQ_INSTS_VMEM", WAVES * 8 },
		{ "SQ_INSTS_VMEM_RD", WAVES * 3 }, { "SQ_INSTS_VMEM_WR", WAVES * 5 },
		{ "SQ_INST_CYCLES_VMEM_RD", WAVES * 3 }, { "SQ_INST_CYCLES_VMEM_WR", WAVES * 5 },
		{ "SQ_ACTIVE_INST_VMEM", WAVES * 8 }, { "SQ_ACTIVE_INST_FLAT", 0 },
		{ "TA_TOTAL_WAVEFRONTS_sum", WAVES * 8 }, { "TA_FLAT_WAVEFRONTS_sum", 0 },
		{ "TA_BUFFER_WAVEFRONTS_sum", WAVES * 8 },
		{ "TA_BUFFER_READ_WAVEFRONTS_sum", WAVES * 2 },
		{ "TA_BUFFER_WRITE_WAVEFRONTS_sum", WAVES * 3 },
		{ "TA_BUFFER_ATOMIC_WAVEFRONTS_sum", WAVES * 3 },
		{ "TD_STORE_WAVEFRONT_sum", WAVES * 3 }, { "TD_ATOMIC_WAVEFRONT_sum", WAVES * 3 },
		{ "TD_COALESCABLE_WAVEFRONT_sum", WAVES * 2 },
		{ "TCP_TA_TCP_STATE_READ_sum", WAVES * 8 },
		{ "TCP_TOTAL_ACCESSES_sum", WAVES * 8 * 16 },
		{ "TCP_VOLATILE_sum", WAVES * 8 * 16 }, { "TCP_TOTAL_READ_sum", WAVES * 2 * 16 },
		{ "TCP_TOTAL_WRITE_sum", WAVES * 3 * 16 },
		{ "TCP_TOTAL_ATOMIC_WITHOUT_RET_sum", WAVES * 2 * 16 },
		{ "TCP_TOTAL_ATOMIC_WITH_RET_sum", WAVES * 16 },
		{ "TCP_TOTAL_CACHE_ACCESSES_sum", WAVES * 8 * 4 },
		{ "TCP_UTCL1_REQUEST_sum", WAVES * 8 * 4 });
	/* arguments: two loads; v_mul_lo_u32 takes four slots; the atomic; the end */
	FID_KNOWN_CHECK(k, "global slots", FID_CALL("atomic_add_return", 640, 64, .a = 4),
			{ "SQ_ACTIVE_INST_FLAT", 10 }, { "SQ_ACTIVE_INST_VMEM", 0 },
			{ "SQ_INST_CYCLES_VMEM_RD", 10 },
			{ "SQ_ACTIVE_INST_ANY", 10 * (2 + 4 + 1 + 1) },
			{ "TA_FLAT_WAVEFRONTS_sum", 10 }, { "TA_BUFFER_WAVEFRONTS_sum", 0 });
	if (k->target >= FID_GFX942) /* has none */
		return;
	FID_KNOWN_CHECK(k, "global data share", FID_CALL("global_share", WAVES * 64, 64),
			{ "SQ_INSTS_GDS", WAVES * 4 }, { "SQ_INSTS_EXP_GDS", WAVES * 4 },
			{ "SQ_ACTIVE_INST_EXP_GDS", WAVES * 4 }, { "SQ_INSTS_LDS", 0 },
			{ "SQ_LDS_IDX_ACTIVE", 0 }, { "SQ_INSTS_VALU", WAVES });
}

static void check_waves(struct fid_known *k)
{
	/*
	 * 25 x 12 lanes in workgroups of 10 x 10: of 100 lanes (64 and 36) twice, then one of 50, and those of
	 * the last two rows: 20, 20, 10.
	 */
	FID_KNOWN_CHECK(k, "waves of two dimensions",
			FID_CALL("mov_b32", 25, 10, .grid_y = 12, .workgroup_y = 10),
			{ "SQ_WAVES", 8 }, { "SQ_ITEMS", 300 }, { "SQ_WAVES_EQ_64", 2 },
			{ "SQ_WAVES_LT_64", 6 }, { "SQ_WAVES_LT_48", 5 }, { "SQ_WAVES_LT_32", 3 },
			{ "SQ_WAVES_LT_16", 1 }, { "SPI_CSN_NUM_THREADGROUPS", 6 },
			{ "SPI_CSN_WAVE", 8 }, { "SPI_VWC_CSC_WR", 8 },
			{ "SPI_SWC_CSC_WR", k->target == FID_GFX908 ? 40 : 16 },
			{ "SQ_WAVES_SAVED", 0 }, { "SQ_WAVES_RESTORED", 0 },
			{ "SQ_THREAD_CYCLES_VALU", 300 * 64 });
}

/* What gfx942 has and earlier ones do not. */
static void check_gfx942(struct fid_known *k)
{
	FID_KNOWN_CHECK(k, "loads to LDS", FID_CALL("load_to_lds", WAVES * 64, 64),
			{ "SQ_INSTS_VMEM", WAVES * 5 }, { "SQ_INSTS_VMEM_RD", WAVES * 5 },
			{ "SQ_INSTS_FLAT", WAVES * 3 }, { "SQ_INSTS_LDS", WAVES * 2 },
			{ "SQ_ACTIVE_INST_VMEM", WAVES * 2 }, { "SQ_ACTIVE_INST_FLAT", WAVES * 3 },
			{ "TA_FLAT_READ_WAVEFRONTS_sum", WAVES * 3 },
			{ "TA_BUFFER_READ_WAVEFRONTS_sum", WAVES * 2 },
			{ "TD_LOAD_WAVEFRONT_sum", WAVES * 5 },
			{ "SQ_LDS_IDX_ACTIVE", WAVES * 2 * fid_lds_read_cycles(k->target) });
	FID_KNOWN_CHECK(k, "invalidations", FID_CALL("invalidate", WAVES * 64, 64),
			{ "SQ_INSTS_VMEM", WAVES * 3 }, { "SQ_INSTS_SMEM", 0 },
			{ "TCP_TOTAL_WRITEBACK_INVALIDATES_sum",
			  WAVES * 3 + (double)gpu_agent_n_cus(k->counted.agent) });
}

static void check_gfx950(struct fid_known *k)
{
	FID_KNOWN_CHECK(k, "loads to LDS, gfx950", FID_CALL("load_to_lds", WAVES * 64, 64),
			{ "TA_FLAT_READ_LDS_WAVEFRONTS_sum", WAVES * 3 },
			{ "TA_BUFFER_READ_LDS_WAVEFRONTS_sum", WAVES * 2 },
			{ "SQ_INSTS_LDS_LOAD", WAVES * 2 }, { "SQ_INSTS_LDS_STORE", 0 },
			{ "SQ_INSTS_LDS_LOAD_BANDWIDTH", WAVES * 2 * 4 },
			{ "SQ_INSTS_FLAT_FLATSEG", 0 }, { "SQ_INSTS_FLAT_NO_LDS", WAVES * 3 },
			{ "CPC_TG_SEND", WAVES }, { "SPI_CS0_NUM_THREADGROUPS", WAVES },
			{ "SPI_CS0_WAVE", WAVES }, { "SPI_CS1_WAVE", 0 });
	FID_KNOWN_CHECK(k, "16 bytes to LDS", FID_CALL("load_x4_to_lds", WAVES * 64, 64),
			{ "SQ_INSTS_VMEM_RD", WAVES * 3 },
			{ "TA_FLAT_READ_LDS_WAVEFRONTS_sum", WAVES * 3 }, { "SQ_INSTS_LDS", 0 },
			{ "TCP_TOTAL_READ_sum", WAVES * 3 * 64 });
	FID_KNOWN_CHECK(k, "flat in LDS, gfx950", FID_CALL("flat_add", WAVES * 64, 64),
			{ "SQ_INSTS_FLAT_FLATSEG", WAVES }, { "SQ_INSTS_FLAT_NO_LDS", 0 },
			{ "SQ_INSTS_LDS_ATOMIC", WAVES }, { "SQ_INSTS_LDS_LOAD", 0 },
			{ "SQ_INSTS_LDS_ATOMIC_BANDWIDTH", WAVES * 4 });
	FID_KNOWN_CHECK(k, "flat stores, gfx950", FID_CALL("flat_store", WAVES * 64, 64, .b = 1),
			{ "SQ_INSTS_FLAT_FLATSEG", WAVES }, { "SQ_INSTS_FLAT_NO_LDS", WAVES },
			{ "SQ_INSTS_LDS_STORE", 0 }, { "TD_WRITE_ACKT_WAVEFRONT_sum", WAVES });
}

void fid_known_kinds(struct fid_known *k)
{
	if (k->target >= FID_GFX942)
		check_gfx942(k);
	if (k->target == FID_GFX950)
		check_gfx950(k);
	check_control(k);
	check_data(k);
	check_waves(k);
}
