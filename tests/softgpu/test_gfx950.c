/*
 * The counters that only gfx950 has, on a kernel whose instructions are written down here.
 */
#include "tests/unit/unit.h"

#include "softgpu/counters/catalogue.h"
#include "tests/softgpu/synth.h"

#define WGS 16
#define WAVES (4 * WGS)

/* Nothing reads the matrices' registers; L1 is invalidated for the agent. */
/* clang-format off */
static const struct synth_inst insts[] = {
	{ "v_mfma_f32_32x32x16_fp8_fp8", 2, .vdst = 64 },
	{ "v_mfma_f32_32x32x16_fp8_fp8", 2, .vdst = 64 },
	{ "v_mfma_f32_32x32x16_f16", 2, .vdst = 64 },
	{ "v_mfma_f32_16x16x128_f8f6f4", 2, .vdst = 64 }, /* its formats are fp8 here */
	{ "ds_read_b64", 2, .per_lane = 8 },
	{ "ds_write_b32", 2, .per_lane = 4 },
	{ "ds_write_b32", 2, .per_lane = 4 },
	{ "ds_add_u32", 2, .per_lane = 4 },
	{ "global_load_dwordx2", 2, .base = SYNTH_VRAM, .per_wg = 2048, .per_wave = 512, .per_lane = 8 },
	{ "global_store_dword", 2, .base = SYNTH_VRAM + (1 << 20), .per_wg = 1024, .per_wave = 256, .per_lane = 4 },
	{ "global_atomic_add", 2, .base = SYNTH_VRAM + (2 << 20), .per_wg = 1024, .per_wave = 256, .per_lane = 4 },
	{ "buffer_inv", 2, .sc1 = true },
	{ "s_endpgm", 1 },
};
/* clang-format on */

/* Every lane of 32 has another dword of the same bank. */
static const struct synth_inst conflicts[] = {
	{ "ds_read_b32", 2, .per_lane = 128 },
	{ "ds_read_b32", 2, .per_lane = 128 },
	{ "ds_read_b32", 2, .per_lane = 128 },
	{ "s_endpgm", 1 },
};

static void run_insts(const struct synth_inst *list, uint32_t n, struct sg_model_result *r)
{
	struct synth_kernel k = { .insts = list, .n_insts = n, .loop_from = 1, .code = SYNTH_CODE };
	struct sg_model *m = sg_model_create(&sg_hw_mi350x);
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, &k, WGS, 4);
	run.d.lds_bytes = 8192;
	assert_true(sg_model_run(m, &run.d, r));
	sg_model_destroy(m);
}

static void run(struct sg_model_result *r)
{
	run_insts(insts, sizeof(insts) / sizeof(insts[0]), r);
}

#define SUM(block, name) SG_SUM(&r, block, name)

static void instructions_count_by_kind(void **state)
{
	struct sg_model_result r;

	run(&r);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_F8), 3 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_MOPS_F8),
			 WAVES * (2 * (32 * 32 * 16) + 16 * 16 * 128) * 2 / 512);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_F16), WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_MOPS_F16), WAVES * 32 * 32 * 16 * 2 / 512);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_F6F4), 0);
	assert_int_equal(SUM(SQ, SQ_INSTS_VALU_MFMA_XF32), 0);
	assert_int_equal(SUM(SQ, SQ_INSTS_MFMA), 4 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_LOAD), WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_STORE), 2 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_ATOMIC), WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS), 4 * WAVES);
	/* 64 lanes of 8 and of 4 bytes, in units of 64 bytes */
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_LOAD_BANDWIDTH), 8 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_STORE_BANDWIDTH), 2 * 4 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_LDS_ATOMIC_BANDWIDTH), 4 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_FLAT), 3 * WAVES);
	assert_int_equal(SUM(SQ, SQ_INSTS_FLAT_NO_LDS), 3 * WAVES);
	assert_int_equal(SUM(TD, TD_WRITE_ACKT_WAVEFRONT), 2 * WAVES);
	assert_int_equal(SUM(TCP, TCP_SQ_TCP_INVALIDATE_VOL), WAVES);
	assert_int_equal(SUM(TCP, TCP_CP_TCP_INVALIDATE_VOL), 256);
	assert_int_equal(SUM(CPC, CPC_TG_SEND), WGS);
	sg_model_result_free(&r);
}

static void requests_count_by_size_and_destination(void **state)
{
	struct sg_model_result r;
	uint64_t tags = 0;

	run(&r);
	for (uint32_t k = 0; k < 4; k++)
		tags += sg_model_sum(&r, SG_BLOCK_TCP, SG_C_TCP_TAGRAM0_REQ + k);
	assert_int_equal(tags, SUM(TCP, TCP_TCC_READ_REQ) + SUM(TCP, TCP_TCC_WRITE_REQ) +
				       SUM(TCP, TCP_TCC_ATOMIC_WITHOUT_RET_REQ));
	assert_int_equal(SUM(TCC, TCC_IB_REQ), SUM(TCC, TCC_REQ));
	assert_int_equal(SUM(TCC, TCC_BYPASS_REQ), 0);
	/* loads of 128 bytes, stores and atomics of 64; instructions are read in lines of 64 */
	assert_int_equal(SUM(TCC, TCC_READ_SECTORS),
			 2 * SUM(TCC, TCC_READ) + 2 * SUM(TCP, TCP_TCC_READ_REQ));
	assert_int_equal(SUM(TCC, TCC_WRITE_SECTORS), WAVES * 256 / 32);
	assert_int_equal(SUM(TCC, TCC_ATOMIC_SECTORS), WAVES * 256 / 32);
	assert_int_equal(SUM(TCC, TCC_EA_RDREQ_DRAM_32B),
			 2 * SUM(TCC, TCC_EA_RDREQ_64B) + 4 * SUM(TCC, TCC_EA_RDREQ_128B));
	assert_int_equal(SUM(TCC, TCC_EA_RDREQ_GMI_32B) + SUM(TCC, TCC_EA_RDREQ_IO_32B), 0);
	/* what was stored and what atomics changed is written back at the end */
	assert_int_equal(SUM(TCC, TCC_EA_WRREQ_WRITE_DRAM_32B), 2 * WAVES * 256 / 32);
	assert_int_equal(SUM(TCC, TCC_EA_WRREQ_WRITE_DRAM), SUM(TCC, TCC_EA_WRREQ));
	assert_int_equal(SUM(TCC, TCC_EA_WRREQ_ATOMIC_DRAM), 0);
	sg_model_result_free(&r);
}

static void times_agree_with_their_neighbours(void **state)
{
	struct sg_model_result r;

	run(&r);
	assert_int_equal(SUM(SPI, SPI_CSQ_P0_OCCUPANCY),
			 sg_model_accumulated(&r, SG_C_SQ_LEVEL_WAVES));
	assert_int_equal(SUM(SPI, SPI_CSC_WAVE_CNT_BUSY), SUM(SQ, SQ_BUSY_CYCLES));
	assert_int_equal(SUM(CPC, CPC_GD_BUSY), SUM(CPC, CPC_ME1_DC0_SPI_BUSY));
	assert_int_equal(SUM(CPC, CPC_ALWAYS_COUNT), SUM(GRBM, GRBM_COUNT));
	assert_int_equal(SUM(TCA, TCA_CYCLE), 2 * SUM(GRBM, GRBM_COUNT));
	/* each CU with a wave waits for two pages, the first one for a walk */
	assert_true(SUM(TCP, TCP_UTCL1_STALL_LFIFO_NO_RES) >
		    SUM(TCP, TCP_UTCL1_TRANSLATION_MISS) * 100);
	assert_int_equal(SUM(TCP, TCP_UTCL1_TRANSLATION_MISS), 2 * WGS);
	assert_int_equal(SUM(SQ, SQ_WAIT_INST_LDS), 0); /* a wave per SIMD, and LDS is fast */
	assert_int_equal(SUM(SQ, SQ_LDS_CMD_FIFO_FULL), 0);
	sg_model_result_free(&r);
}

static void waiting_for_lds_is_counted(void **state)
{
	struct sg_model_result r;

	run_insts(conflicts, sizeof(conflicts) / sizeof(conflicts[0]), &r);
	/* four waves of a CU, three times 40 cycles each, and 64 cycles of them may be in the queue */
	assert_in_range(SUM(SQ, SQ_LDS_CMD_FIFO_FULL), WGS * 300, WGS * 480);
	assert_int_equal(SUM(SQ, SQ_LDS_DATA_FIFO_FULL), SUM(SQ, SQ_LDS_CMD_FIFO_FULL));
	assert_in_range(SUM(SQ, SQ_WAIT_INST_LDS), WAVES * 64 / 4, SUM(SQ, SQ_WAIT_INST_ANY));
	sg_model_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_count_by_kind),
		cmocka_unit_test(requests_count_by_size_and_destination),
		cmocka_unit_test(times_agree_with_their_neighbours),
		cmocka_unit_test(waiting_for_lds_is_counted),
	};

	return RUN(tests);
}
