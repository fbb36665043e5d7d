/*
 * The vector copy that AMD recorded on an MI200 and an MI100, in its recorded instruction mix: three
 * dispatches, of which the first is cold and ends with a write-back. Numbers are from the recordings.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "softgpu/counters/select.h"
#include "tests/softgpu/synth.h"

#define ANY (-1)

struct recorded {
	const char *name;
	double mi200[3], mi100[3];
	double within;                /* part of the recorded value; 0: equal */
};

#define SAME(n) { n, n, n }
static const struct recorded rows[] = {
	{ "SQ_WAVES", SAME(16384), SAME(16384), 0 },
	{ "SQ_WAVES_EQ_64", SAME(16384), SAME(16384), 0 },
	{ "SPI_CSN_NUM_THREADGROUPS", SAME(4096), SAME(4096), 0 },
	{ "SQ_ITEMS", SAME(1048576), SAME(1048576), 0 },
	{ "SQ_INSTS", SAME(393216), SAME(393216), 0 },
	{ "SQ_INSTS_VALU", SAME(163840), SAME(163840), 0 },
	{ "SQ_INSTS_VALU_INT32", SAME(114688), SAME(ANY), 0 },
	{ "SQ_INSTS_VALU_INT64", SAME(0), SAME(ANY), 0 },
	{ "SQ_INSTS_SALU", SAME(49152), SAME(49152), 0 },
	{ "SQ_INSTS_SMEM", SAME(65536), SAME(65536), 0 },
	{ "SQ_INSTS_SMEM_NORM", SAME(131072), SAME(131072), 0 },
	{ "SQ_INSTS_BRANCH", SAME(16384), SAME(16384), 0 },
	{ "SQ_INSTS_SENDMSG", SAME(16384), SAME(16384), 0 },
	{ "SQ_INSTS_VMEM", SAME(32768), SAME(32768), 0 },
	{ "SQ_INSTS_FLAT", SAME(32768), SAME(32768), 0 },
	{ "SQ_INSTS_VMEM_RD", SAME(16384), SAME(16384), 0 },
	{ "SQ_INSTS_VMEM_WR", SAME(16384), SAME(16384), 0 },
	{ "SQ_INSTS_LDS", SAME(0), SAME(0), 0 },
	{ "SQ_ACTIVE_INST_ANY", SAME(344064), SAME(360448), 0 },
	{ "SQ_ACTIVE_INST_VALU", SAME(163840), SAME(180224), 0 },
	{ "SQ_ACTIVE_INST_SCA", SAME(114688), SAME(114688), 0 },
	{ "SQ_ACTIVE_INST_FLAT", SAME(32768), SAME(32768), 0 },
	{ "SQ_ACTIVE_INST_MISC", SAME(32768), SAME(32768), 0 },
	{ "SQ_ACTIVE_INST_VMEM", SAME(0), SAME(0), 0 },
	{ "SQ_INST_CYCLES_SALU", SAME(49152), SAME(49152), 0 },
	{ "SQ_INST_CYCLES_SMEM", SAME(65536), SAME(65536), 0 },
	{ "SQ_INST_CYCLES_VMEM_RD", SAME(16384), SAME(16384), 0 },
	{ "SQ_THREAD_CYCLES_VALU", SAME(10485760), SAME(11534336), 0 },
	{ "SQ_IFETCH", SAME(65536), SAME(65536), 0 },
	{ "SQC_ICACHE_REQ", SAME(65536), SAME(65536), 0 },
	{ "SQC_ICACHE_MISSES", { 56, 0, 0 }, { 48, 0, 0 }, 0 },
	{ "SQC_TC_INST_REQ", { 168, 0, 0 }, { 144, 0, 0 }, 0 },
	{ "SQC_DCACHE_REQ", SAME(65536), SAME(65536), 0 },
	{ "SQC_DCACHE_REQ_READ_1", SAME(32768), SAME(32768), 0 },
	{ "SQC_DCACHE_REQ_READ_2", SAME(32768), SAME(32768), 0 },
	{ "SQC_DCACHE_MISSES", SAME(56), SAME(48), 0 },
	{ "SQC_DCACHE_MISSES_DUPLICATE", SAME(1680), SAME(1440), 0 },
	{ "SQC_DCACHE_HITS", SAME(63800), SAME(64048), 0 },
	{ "SQC_TC_DATA_READ_REQ", SAME(56), SAME(48), 0 },
	{ "TCC_NC_REQ_sum", SAME(56), SAME(48), 0 },
	{ "SPI_VWC_CSC_WR", SAME(16384), SAME(16384), 0 },
	{ "SPI_SWC_CSC_WR", SAME(32768), SAME(81920), 0 },
	{ "TA_TOTAL_WAVEFRONTS_sum", SAME(32768), SAME(32768), 0 },
	{ "TA_FLAT_READ_WAVEFRONTS_sum", SAME(16384), SAME(16384), 0 },
	{ "TA_FLAT_WRITE_WAVEFRONTS_sum", SAME(16384), SAME(16384), 0 },
	{ "TD_LOAD_WAVEFRONT_sum", SAME(32768), SAME(32768), 0 },
	{ "TD_STORE_WAVEFRONT_sum", SAME(16384), SAME(16384), 0 },
	{ "TCP_TA_TCP_STATE_READ_sum", SAME(32768), SAME(32768), 0 },
	{ "TCP_TOTAL_ACCESSES_sum", SAME(2097152), SAME(2097152), 0 },
	{ "TCP_TOTAL_READ_sum", SAME(1048576), SAME(1048576), 0 },
	{ "TCP_TOTAL_CACHE_ACCESSES_sum", SAME(524288), SAME(524288), 0 },
	{ "TCP_UTCL1_REQUEST_sum", SAME(524288), SAME(524288), 0 },
	{ "TCP_UTCL1_TRANSLATION_MISS_sum", SAME(832), SAME(960), 0 },
	{ "TCP_UTCL1_TRANSLATION_HIT_sum", SAME(515136), SAME(513911), 0.001 },
	{ "TCP_TOTAL_WRITEBACK_INVALIDATES_sum", SAME(0), SAME(120), 0 },
	{ "TCP_TCC_READ_REQ_sum", SAME(131072), SAME(131072), 0 },
	{ "TCP_TCC_WRITE_REQ_sum", SAME(131072), SAME(131072), 0 },
	{ "TCP_TCC_RW_READ_REQ_sum", SAME(131072), SAME(131072), 0 },
	{ "TCC_WRITE_sum", SAME(131072), SAME(131072), 0 },
	{ "TCC_WRITE[17]", SAME(4096), SAME(4096), 0 },
	{ "TCC_MISS_sum", { 131081, 131083, 131082 }, { 262415, 262430, 262415 }, 0.01 },
	{ "TCC_EA_RDREQ_sum", { 131086, 131086, 131087 }, { 131340, 131341, 131341 }, 0.01 },
	{ "TCC_NORMAL_EVICT_sum", { 65551, 65550, 65552 }, SAME(131112), 0.01 },
	{ "TCC_READ_sum", { 73251, 70312, 70013 }, { 131635, 131523, 131492 }, 0.15 },
	{ "TCC_REQ_sum", { 204016, 200735, 201111 }, { 262603, 262477, 262462 }, 0.15 },
	{ "TCC_HIT_sum", { 72935, 69652, 70029 }, SAME(ANY), 0.15 },
	{ "TCC_EA_WRREQ_sum", { 131072, 91072, 91113 }, { 131072, 86546, 86724 }, 0.1 },
	{ "TCC_NORMAL_WRITEBACK_sum", { 46047, 45484, 45511 }, { 87142, 86959, 86797 }, 0.1 },
	{ "TCC_ALL_TC_OP_WB_WRITEBACK_sum", { 19489, 0, 0 }, { 43930, 0, 0 }, 0.15 },
	{ "GRBM_GUI_ACTIVE", { 29465, 41616, 41603 }, { 49433, 43281, 43273 }, 0.3 },
	{ "SQ_WAVE_CYCLES", { 10620646, 19460332, 18674882 }, { 25459008, 24351024, 24251006 }, 0.3 },
	{ "SQ_BUSY_CYCLES", { 131018, 217335, 226984 }, { 244656, 235189, 231394 }, 0.3 },
	{ "SQ_BUSY_CU_CYCLES", { 1594430, 2808219, 2706223 }, { 3505482, 3376483, 3300937 }, 0.3 },
	{ "SQ_INST_LEVEL_VMEM_ACCUM", { 33259784, 66068516, 67508252 }, { 84583280, 85878140, 80916468 }, 0.3 },
	{ "SQ_INST_LEVEL_SMEM_ACCUM", { 19399360, 25260328, 26615144 }, { 27721752, 22439080, 25317408 }, 0.3 },
	{ "SQ_IFETCH_LEVEL_ACCUM", { 1540604, 1048652, 1048672 }, { 1679996, 1048592, 1048584 }, 0.3 },
	{ "TCP_TCP_LATENCY_sum", { 27530242, 57344038, 57372751 }, { 71296906, 62336305, 70715791 }, 0.3 },
	{ "TCP_TCC_READ_REQ_LATENCY_sum", { 84637584, 201189675, 203209514 },
	  { 198153096, 168537726, 202374168 }, 0.3 },
	{ "TCP_TCC_WRITE_REQ_LATENCY_sum", { 37276646, 49212604, 46896816 },
	  { 77211339, 81296325, 78271154 }, 0.3 },
	{ "TCC_EA_RDREQ_LEVEL_sum", { 39527436, 116463987, 119691070 }, { 130637271, 108882266, 124384310 },
	  0.3 },
	{ "TCC_EA_WRREQ_LEVEL_sum", { 35354785, 59127715, 60044646 }, { 62580356, 47254132, 48863827 }, 0.3 },
};

static const double duration_ns[2][3] = { { 20480, 16320, 15520 }, { 24800, 18880, 18880 } };

static double value(const struct ws_hw *hw, const struct ws_model_result *r, const char *name)
{
	uint64_t values[256], sum = 0;
	struct ws_selection s;
	char error[200];

	if (ws_selection_make(&s, hw, &name, 1, error, sizeof(error)))
		fail_msg("%s", error);
	ws_selected_values(&s.items[0], r, values);
	for (uint32_t k = 0; k < ws_selected_n_values(&s.items[0], hw); k++)
		sum += values[k];
	ws_selection_free(&s);
	return (double)sum;
}

static void compare(const char *name, int dispatch, double got, double want, double within)
{
	if (fabs(got - want) > within * want)
		fail_msg("%s of dispatch %d is %.0f, recorded %.0f, more than %.0f %% apart", name, dispatch,
			 got, want, 100 * within);
}

static void check(const struct ws_hw *hw, int chip)
{
	struct synth_kernel k = synth_vcopy(hw->gfx90a);
	struct ws_model *m = ws_model_create(hw);
	struct ws_model_result r;
	struct synth_run run;

	assert_non_null(m);
	for (int dispatch = 0; dispatch < 3; dispatch++) {
		synth_prepare(&run, &k, 4096, 4);
		run.d.cold = run.d.system_release = dispatch == 0;
		assert_true(ws_model_run(m, &run.d, &r));
		assert_int_equal(run.n_released, 4096);
		for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
			double want = chip ? rows[n].mi100[dispatch] : rows[n].mi200[dispatch];

			if (want != ANY)
				compare(rows[n].name, dispatch, value(hw, &r, rows[n].name), want, rows[n].within);
		}
		compare("duration", dispatch, (double)r.duration_ns, duration_ns[chip][dispatch], 0.3);
		/* equalities of the recordings */
		assert_true(value(hw, &r, "SQ_CYCLES") == 8 * value(hw, &r, "GRBM_COUNT"));
		assert_true(value(hw, &r, "TCC_CYCLE") == 32 * value(hw, &r, "GRBM_COUNT"));
		assert_true(value(hw, &r, "CPF_CPF_STAT_BUSY") == value(hw, &r, "GRBM_COUNT"));
		ws_model_result_free(&r);
	}
	ws_model_destroy(m);
}

static void vcopy_counts_as_recorded_on_mi200(void **state)
{
	check(&ws_hw_mi210, 0);
}

static void vcopy_counts_as_recorded_on_mi100(void **state)
{
	check(&ws_hw_mi100, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi200),
		cmocka_unit_test(vcopy_counts_as_recorded_on_mi100),
	};

	return RUN(tests);
}
