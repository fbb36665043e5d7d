/* Memory that is not the GPU's own: what L2 keeps of it, what requests count as, how fast links are. */
#include "tests/unit/unit.h"

#include <string.h>

#include "tests/softgpu/synth.h"

#define FAR SYNTH_HOST
#define N_WGS 1024u
#define N_LINES (N_WGS * 4 * 4 * 4) /* of waves, turns and lines of a wave's 256 bytes */
#define BYTES (64.0 * N_LINES)
#define CODE 4 /* reads of HBM for instructions: three lines of 64 bytes, in two of L2 */

static const struct sg_memory_kind host_fine = { SG_MTYPE_UC, SG_ROUTE_IO, 1 };
static const struct sg_memory_kind host_coarse = { SG_MTYPE_NC, SG_ROUTE_IO, 1 };
static const struct sg_memory_kind peer_fine = { SG_MTYPE_UC, SG_ROUTE_GMI, 4 };

/* Every wave moves 1 KiB of its own, in four turns; outside: of memory that is the program's, not a GPU's block. */
static struct sg_model_result stream_of(const char *mnemonic, struct sg_memory_kind kind,
					bool outside)
{
	struct synth_inst insts[] = {
		{ mnemonic, 2, .base = FAR, .per_wg = 1024, .per_wave = 256,
		  .per_turn = 1024 * N_WGS, .per_lane = 4 },
		{ "s_cbranch_scc1", 1 },
		{ "s_waitcnt", 1, .simm = 0x0f70 }, /* vmcnt(0) */
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 4,
				  .loop_to = 1,
				  .turns = 4,
				  .code = SYNTH_CODE,
				  .host_from = FAR,
				  .host_kind = kind };
	struct sg_model *m = sg_model_create(&sg_hw_mi250x);
	struct sg_model_result r;
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, &k, N_WGS, 4);
	if (outside)
		run.d.extent = FAR;
	assert_true(sg_model_run(m, &run.d, &r));
	sg_model_destroy(m);
	return r;
}

static struct sg_model_result stream(const char *mnemonic, struct sg_memory_kind kind)
{
	return stream_of(mnemonic, kind, false);
}

/* Of the data, without heads of packets: GB/s. */
static double rate(const struct sg_model_result *r)
{
	return BYTES / (double)r->duration_ns;
}

static void check_rate(const struct sg_model_result *r, double want)
{
	if (rate(r) < 0.9 * want || rate(r) > 1.001 * want)
		fail_msg("%.1f GB/s, of %.1f", rate(r), want);
}

static void reads_of_the_host_are_as_fast_as_pcie(void **state)
{
	struct sg_model_result r = stream("global_load_dword", host_fine);
	uint64_t busy = SG_SUM(&r, TCC, TCC_BUSY);

	check_rate(&r, 31.508 * 64 / 84);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ), N_LINES + CODE);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), CODE);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RD_UNCACHED_32B), 2 * N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_GMI_CREDIT_STALL), 0);
	assert_in_range(SG_SUM(&r, TCC, TCC_EA_RDREQ_IO_CREDIT_STALL), busy * 8 / 10,
			busy * 95 / 100);
	sg_model_result_free(&r);
}

static void reads_of_a_peer_are_as_fast_as_its_links(void **state)
{
	struct sg_model_result r = stream("global_load_dword", peer_fine);
	uint64_t busy = SG_SUM(&r, TCC, TCC_BUSY);

	check_rate(&r, 4 * 50.0 * 64 / 84);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ), N_LINES + CODE);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), CODE);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_IO_CREDIT_STALL), 0);
	assert_in_range(SG_SUM(&r, TCC, TCC_EA_RDREQ_GMI_CREDIT_STALL), busy / 10, busy * 3 / 10);
	sg_model_result_free(&r);
}

static void writes_to_the_host_are_posted(void **state)
{
	struct sg_model_result r = stream("global_store_dword", host_fine);

	check_rate(&r, 31.508 * 64 / 88);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ), N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ_64B), N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WR_UNCACHED_32B), N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ_STALL), 0);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ_IO_CREDIT_STALL), 0);
	sg_model_result_free(&r);
}

static void writes_to_a_peer_need_credits(void **state)
{
	struct sg_model_result r = stream("global_store_dword", peer_fine);

	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ), N_LINES);
	assert_true(SG_SUM(&r, TCC, TCC_EA_WRREQ_GMI_CREDIT_STALL) > 0);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ_STALL),
			 SG_SUM(&r, TCC, TCC_EA_WRREQ_GMI_CREDIT_STALL));
	sg_model_result_free(&r);
}

static void atomics_of_the_host_go_by_32_bytes(void **state)
{
	struct sg_model_result r = stream("global_atomic_add", host_fine);

	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_ATOMIC), 2 * N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ), 2 * N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_WRREQ_64B), 0);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ), CODE);
	/* of a latency that is not that of posted writes */
	assert_true(SG_SUM(&r, TCC, TCC_EA_ATOMIC_LEVEL) / (2 * N_LINES) > 1.5 * 1700);
	sg_model_result_free(&r);
}

/* 64 waves, one after the other on a CU, read the same 256 bytes. */
static uint64_t reads_of_the_same(struct sg_memory_kind kind, uint64_t per_lane)
{
	struct synth_inst insts[] = {
		{ "global_load_dword", 2, .base = FAR, .per_lane = (int64_t)per_lane },
		{ "s_waitcnt", 1, .simm = 0x0f70 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 3,
				  .loop_from = 1,
				  .code = SYNTH_CODE,
				  .host_from = FAR,
				  .host_kind = kind };
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;
	uint64_t n;

	assert_non_null(m);
	synth_prepare(&run, &k, 64, 1);
	assert_true(sg_model_run(m, &run.d, &r));
	n = SG_SUM(&r, TCC, TCC_EA_RDREQ) - CODE;
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), CODE);
	sg_model_result_free(&r);
	sg_model_destroy(m);
	return n;
}

static void coarse_grained_memory_of_the_host_is_cached(void **state)
{
	assert_int_equal(reads_of_the_same(host_coarse, 4), 4);
	assert_int_equal(reads_of_the_same(host_fine, 4), 64 * 4);
}

/* Lanes below FAR are in HBM, the others on the host. */
static void lanes_of_one_load_have_each_their_own_memory(void **state)
{
	struct synth_inst insts[] = {
		{ "global_load_dword", 2, .base = FAR - 48 * 64, .per_lane = 64 },
		{ "s_waitcnt", 1, .simm = 0x0f70 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 3,
				  .loop_from = 1,
				  .code = SYNTH_CODE,
				  .host_from = FAR,
				  .host_kind = host_fine };
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, &k, 1, 1);
	assert_true(sg_model_run(m, &run.d, &r));
	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_RW_READ_REQ), 48);
	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_UC_READ_REQ), 16);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RD_UNCACHED_32B), 2 * 16);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), 48 + CODE);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

/* What is pinned is the host's; managed memory is where it was sent. */
static void memory_of_the_program_is_where_it_was_sent(void **state)
{
	struct sg_model_result r = stream_of("global_load_dword", host_coarse, true);

	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_NC_READ_REQ), N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), CODE);
	sg_model_result_free(&r);
	r = stream_of("global_load_dword", (struct sg_memory_kind){ .mtype = SG_MTYPE_RW }, true);
	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_RW_READ_REQ), N_LINES);
	assert_int_equal(SG_SUM(&r, TCC, TCC_EA_RDREQ_DRAM), N_LINES + CODE);
	sg_model_result_free(&r);
	r = stream_of("global_load_dword", peer_fine, true);
	assert_int_equal(SG_SUM(&r, TCP, TCP_TCC_UC_READ_REQ), N_LINES);
	assert_true(SG_SUM(&r, TCC, TCC_EA_RDREQ_GMI_CREDIT_STALL) > 0);
	sg_model_result_free(&r);
}

/* Stores that need milliseconds to get through PCIe: nothing is issued meanwhile, and it ends all the same. */
static void a_link_that_takes_long_is_waited_for(void **state)
{
	struct synth_inst insts[] = {
		{ "global_store_dwordx4", 2, .base = FAR, .per_wg = 4096, .per_wave = 1024,
		  .per_turn = 4 << 20, .per_lane = 16 },
		{ "s_cbranch_scc1", 1 },
		{ "s_endpgm", 1 },
	};
	struct synth_kernel k = { .insts = insts,
				  .n_insts = 3,
				  .loop_to = 1,
				  .turns = 16,
				  .code = SYNTH_CODE,
				  .host_from = FAR,
				  .host_kind = host_fine };
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;

	assert_non_null(m);
	synth_prepare(&run, &k, 832, 4); /* as many as fit */
	assert_true(sg_model_run(m, &run.d, &r));
	assert_true(r.duration_ns > 2000000);
	sg_model_result_free(&r);
	sg_model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_of_the_host_are_as_fast_as_pcie),
		cmocka_unit_test(reads_of_a_peer_are_as_fast_as_its_links),
		cmocka_unit_test(writes_to_the_host_are_posted),
		cmocka_unit_test(writes_to_a_peer_need_credits),
		cmocka_unit_test(atomics_of_the_host_go_by_32_bytes),
		cmocka_unit_test(coarse_grained_memory_of_the_host_is_cached),
		cmocka_unit_test(lanes_of_one_load_have_each_their_own_memory),
		cmocka_unit_test(memory_of_the_program_is_where_it_was_sent),
		cmocka_unit_test(a_link_that_takes_long_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
