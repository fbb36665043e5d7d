/*
 * What AMD's profiler tutorials print for an MI250 (a die of it is an MI210 to the model): kernels that do
 * one thing a thousand times, and kernels that are short of one resource.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>

#include "tests/softgpu/synth.h"

#define REPEATED 1000
#define N_CUS 13

/* One shader engine of eight is enough: nothing here depends on memory, which they share. */
static void run(struct synth_run *run, struct sg_model_result *r)
{
	struct sg_hw hw = sg_hw_mi210;
	struct sg_model *m;

	hw.n_se = 1;
	m = sg_model_create(&hw);
	assert_non_null(m);
	assert_true(sg_model_run(m, &run->d, r));
	sg_model_destroy(m);
}

static void near(const char *what, double got, double want, double within)
{
	printf("%-40s %10.4f, published %10.4f\n", what, got, want);
	if (fabs(got - want) > within)
		fail_msg("%s is %g, published %g", what, got, want);
}

/* ---- instructions per cycle, and how busy the units are ---- */

static void repeat(const char *mnemonic, uint8_t dwords, uint32_t n_wgs, struct sg_model_result *r)
{
	static struct synth_inst insts[REPEATED + 1];
	struct synth_kernel k = {
		.insts = insts, .n_insts = REPEATED + 1, .loop_from = 1, .code = SYNTH_CODE
	};
	struct synth_run s;

	for (uint32_t n = 0; n < REPEATED; n++)
		insts[n] = (struct synth_inst){ mnemonic, dwords };
	insts[REPEATED] = (struct synth_inst){ "s_endpgm", 1 };
	synth_prepare(&s, &k, n_wgs, 16);
	s.d.vgprs = 32;
	run(&s, r);
}

/* Of the time that CUs have waves, without the launch and the last waves: from n to 2 n workgroups. */
static double rate(const char *mnemonic, uint8_t dwords, uint32_t sq_counter)
{
	struct sg_model_result once, twice;
	double counted, cycles;

	repeat(mnemonic, dwords, 2 * N_CUS * 2, &once);
	repeat(mnemonic, dwords, 4 * N_CUS * 2, &twice);
	counted = (double)(sg_model_sum(&twice, SG_BLOCK_SQ, sq_counter) -
			   sg_model_sum(&once, SG_BLOCK_SQ, sq_counter));
	cycles = (double)(SG_SUM(&twice, SQ, SQ_BUSY_CU_CYCLES) -
			  SG_SUM(&once, SQ, SQ_BUSY_CU_CYCLES));
	sg_model_result_free(&once);
	sg_model_result_free(&twice);
	return counted / cycles;
}

static void vector_units_are_used_in_every_cycle(void **state)
{
	near("VALU utilisation of v_mov_b32, %",
	     100 * rate("v_mov_b32", 1, SG_C_SQ_ACTIVE_INST_VALU), 99.98, 0.15);
	near("MFMA utilisation, %",
	     25 * rate("v_mfma_f32_32x32x8bf16_1k", 2, SG_C_SQ_VALU_MFMA_BUSY_CYCLES), 99.99, 0.15);
	near("SALU utilisation of s_mov_b32, %",
	     100 * rate("s_mov_b32", 1, SG_C_SQ_INST_CYCLES_SALU), 99.98, 0.15);
}

static void internal_instructions_are_limited_by_fetches(void **state)
{
	near("s_nop per cycle and CU", rate("s_nop", 1, SG_C_SQ_INSTS), 6.79, 0.2);
}

/* Published: 99.317 ms of v_mov_b32 and 1623.2 ms of MFMA for 1024 x 1024 workgroups of 16 waves. */
static void the_clock_is_lower_while_all_units_work(void **state)
{
	struct sg_model_result r;

	repeat("v_mov_b32", 1, 4 * N_CUS * 2, &r);
	near("MHz of v_mov_b32", r.mhz, 1624, 0.03 * 1624);
	assert_true(fabs((double)r.duration_ns * r.mhz / (double)r.cycles / 1000 - 1) < 0.001);
	sg_model_result_free(&r);
	repeat("v_mfma_f32_32x32x8bf16_1k", 2, 2 * N_CUS * 2, &r);
	near("MHz of MFMA", r.mhz, 1590, 0.03 * 1590);
	sg_model_result_free(&r);
	repeat("s_mov_b32", 1, 2 * N_CUS * 2, &r);
	near("MHz of s_mov_b32", r.mhz, 1676, 0.03 * 1676);
	sg_model_result_free(&r);
}

/* ---- what workgroups wait for: table 6.2, in percent ---- */

struct limits {
	uint32_t waves, vgprs, sgprs, lds_bytes, scratch_waves;
};

/* Additions of one row for the workgroups of several rounds, by the tutorial's formulas. */
struct allocation {
	double not_scheduled_manager, not_scheduled_pipe, stalled, scratch, slots, vgpr, sgpr, lds,
		barriers;
	double waves; /* of a CU */
};

static void wait_a_while(const struct limits *limits, uint32_t n_wgs, struct sg_model_result *r)
{
	static struct synth_inst insts[21];
	struct synth_kernel k = {
		.insts = insts, .n_insts = 21, .loop_from = 1, .code = SYNTH_CODE
	};
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct synth_run s;

	for (uint32_t n = 0; n < 20; n++)
		insts[n] = (struct synth_inst){ "s_sleep", 1, .simm = 127 };
	insts[20] = (struct synth_inst){ "s_endpgm", 1 };
	synth_prepare(&s, &k, n_wgs, limits->waves);
	s.d.vgprs = limits->vgprs;
	s.d.sgprs = limits->sgprs;
	s.d.lds_bytes = limits->lds_bytes;
	s.d.scratch_waves = limits->scratch_waves;
	assert_true(sg_model_run(m, &s.d, r));
	sg_model_destroy(m);
}

static double more(const struct sg_model_result *a, const struct sg_model_result *b,
		   enum sg_block block, uint32_t place)
{
	return (double)(sg_model_sum(b, block, place) - sg_model_sum(a, block, place));
}

#define SPI_MORE(name) more(&a, &b, SG_BLOCK_SPI, SG_C_##name)
static struct allocation allocate(const struct limits *limits, uint32_t n_wgs)
{
	struct sg_model_result a, b;
	struct allocation out;
	double engines, cus;

	wait_a_while(limits, 3 * n_wgs, &a);
	wait_a_while(limits, 6 * n_wgs, &b);
	engines = 8 * more(&a, &b, SG_BLOCK_GRBM, SG_C_GRBM_SPI_BUSY);
	cus = 104 * more(&a, &b, SG_BLOCK_GRBM, SG_C_GRBM_GUI_ACTIVE);
	out = (struct allocation){
		.not_scheduled_manager = 100 * SPI_MORE(SPI_RA_REQ_NO_ALLOC_CSN) / engines,
		.not_scheduled_pipe = 100 * SPI_MORE(SPI_RA_REQ_NO_ALLOC) / engines,
		.stalled = 100 * SPI_MORE(SPI_RA_RES_STALL_CSN) / engines,
		.scratch = 100 * SPI_MORE(SPI_RA_TMP_STALL_CSN) / engines,
		.slots = 100 * SPI_MORE(SPI_RA_WAVE_SIMD_FULL_CSN) / cus,
		.vgpr = 100 * SPI_MORE(SPI_RA_VGPR_SIMD_FULL_CSN) / cus,
		.sgpr = 100 * SPI_MORE(SPI_RA_SGPR_SIMD_FULL_CSN) / cus,
		.lds = 400 * SPI_MORE(SPI_RA_LDS_CU_FULL_CSN) / cus,
		.barriers = 400 * SPI_MORE(SPI_RA_BAR_CU_FULL_CSN) / cus,
		.waves = 4 * more(&a, &b, SG_BLOCK_SQ, SG_C_SQ_WAVE_CYCLES) / cus,
	};
	sg_model_result_free(&a);
	sg_model_result_free(&b);
	return out;
}

static void vgprs_are_short_on_every_simd_all_the_time(void **state)
{
	struct allocation a = allocate(&(struct limits){ 4, 128, 80, 0, 0 }, 416);

	near("6.2.0 not scheduled, manager", a.not_scheduled_manager, 0.64, 0.6);
	near("6.2.1 not scheduled, pipe", a.not_scheduled_pipe, 24.94, 1);
	near("6.2.2 stalled", a.stalled, 24.49, 1);
	near("6.2.5 VGPRs", a.vgpr, 94.90, 5);
	near("other limits", a.scratch + a.slots + a.sgpr + a.lds + a.barriers, 0, 0);
	near("waves of a CU", a.waves, 1661.24 / 104, 0.5);
}

static void lds_is_short_in_every_cu_all_the_time(void **state)
{
	struct allocation a = allocate(&(struct limits){ 4, 96, 80, 65536, 0 }, 104);

	near("6.2.0 not scheduled, manager", a.not_scheduled_manager, 0.13, 0.1);
	near("6.2.1 not scheduled, pipe", a.not_scheduled_pipe, 24.87, 1);
	near("6.2.2 stalled", a.stalled, 24.84, 1);
	near("6.2.7 LDS", a.lds, 96.47, 5);
	near("other limits", a.scratch + a.slots + a.vgpr + a.sgpr + a.barriers, 0, 0);
	near("waves of a CU", a.waves, 415.52 / 104, 0.2);
}

/* 8 waves of 64 VGPRs, or of 80 SGPRs and those of the trap handler, fill a SIMD as its wave slots do. */
static void limits_that_are_reached_together_all_count(void **state)
{
	struct allocation a = allocate(&(struct limits){ 4, 64, 80, 0, 0 }, 832);

	near("6.2.5 VGPRs, against 6.2.4", a.vgpr / a.slots, 26.32 / 26.32, 0.01);
	near("6.2.6 SGPRs, against 6.2.4", a.sgpr / a.slots, 25.52 / 26.32, 0.05);
	near("6.2.4 wave slots, against 6.2.2", a.slots / a.stalled / 4, 26.32 / 7.38 / 4, 0.15);
	near("LDS, barriers, scratch", a.lds + a.barriers + a.scratch, 0, 0);
	/* the same with scratch for each wave slot: all of it is used as long as all slots are */
	a = allocate(&(struct limits){ 4, 64, 80, 0, 3328 }, 832);
	near("scratch or resources", a.scratch / 4 + a.not_scheduled_pipe, 39.76 / 4 + 15.17, 1);
	assert_true(a.scratch > 0);
	near("waves of a CU", a.waves, 3291.76 / 104, 0.5);
}

/* Scratch for 16 waves of each engine. */
static void waves_wait_for_scratch(void **state)
{
	struct allocation a = allocate(&(struct limits){ 4, 8, 16, 0, 128 }, 32);

	near("waves of an engine", 13 * a.waves, 16, 0.2);
	assert_true(a.scratch > 95 && a.scratch < 100.5);
	near("other limits", a.stalled + a.slots + a.vgpr + a.sgpr + a.lds + a.barriers, 0, 0);
}

/* Workgroups of 16 waves, of which each SIMD could take six: the second one lacks two. */
static void a_stall_has_a_reason(void **state)
{
	struct allocation a = allocate(&(struct limits){ 16, 80, 16, 0, 0 }, 104);

	assert_true(a.stalled > 20);
	near("6.2.5 VGPRs, against 6.2.2", a.vgpr / a.stalled / 4, 1, 0.05);
	near("6.2.4 wave slots", a.slots, 0, 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_units_are_used_in_every_cycle),
		cmocka_unit_test(internal_instructions_are_limited_by_fetches),
		cmocka_unit_test(the_clock_is_lower_while_all_units_work),
		cmocka_unit_test(vgprs_are_short_on_every_simd_all_the_time),
		cmocka_unit_test(lds_is_short_in_every_cu_all_the_time),
		cmocka_unit_test(limits_that_are_reached_together_all_count),
		cmocka_unit_test(waves_wait_for_scratch),
		cmocka_unit_test(a_stall_has_a_reason),
	};

	return RUN(tests);
}
