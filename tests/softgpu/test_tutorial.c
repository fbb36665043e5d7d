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
static void run(struct synth_run *run, struct ws_model_result *r)
{
	struct ws_hw hw = ws_hw_mi210;
	struct ws_model *m;

	hw.n_se = 1;
	m = ws_model_create(&hw);
	assert_non_null(m);
	assert_true(ws_model_run(m, &run->d, r));
	ws_model_destroy(m);
}

static void near(const char *what, double got, double want, double within)
{
	printf("%-40s %10.4f, published %10.4f\n", what, got, want);
	if (fabs(got - want) > within)
		fail_msg("%s is %g, published %g", what, got, want);
}

/* ---- instructions per cycle, and how busy the units are ---- */

static void repeat(const char *mnemonic, uint8_t dwords, uint32_t n_wgs, struct ws_model_result *r)
{
	static struct synth_inst insts[REPEATED + 1];
	struct synth_kernel k = { .insts = insts, .n_insts = REPEATED + 1, .loop_from = 1,
				  .code = SYNTH_CODE, .gfx90a = true };
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
	struct ws_model_result once, twice;
	double counted, cycles;

	repeat(mnemonic, dwords, 2 * N_CUS * 2, &once);
	repeat(mnemonic, dwords, 4 * N_CUS * 2, &twice);
	counted = (double)(ws_model_sum(&twice, WS_BLOCK_SQ, sq_counter) -
			   ws_model_sum(&once, WS_BLOCK_SQ, sq_counter));
	cycles = (double)(WS_SUM(&twice, SQ, SQ_BUSY_CU_CYCLES) - WS_SUM(&once, SQ, SQ_BUSY_CU_CYCLES));
	ws_model_result_free(&once);
	ws_model_result_free(&twice);
	return counted / cycles;
}

static void vector_units_are_used_in_every_cycle(void **state)
{
	near("VALU utilisation of v_mov_b32, %", 100 * rate("v_mov_b32", 1, WS_C_SQ_ACTIVE_INST_VALU), 99.98,
	     0.15);
	near("MFMA utilisation, %",
	     25 * rate("v_mfma_f32_32x32x8bf16_1k", 2, WS_C_SQ_VALU_MFMA_BUSY_CYCLES), 99.99, 0.15);
	near("SALU utilisation of s_mov_b32, %", 100 * rate("s_mov_b32", 1, WS_C_SQ_INST_CYCLES_SALU), 99.98,
	     0.15);
}

static void internal_instructions_are_limited_by_fetches(void **state)
{
	near("s_nop per cycle and CU", rate("s_nop", 1, WS_C_SQ_INSTS), 6.79, 0.2);
}

/* Published: 99.317 ms of v_mov_b32 and 1623.2 ms of MFMA for 1024 x 1024 workgroups of 16 waves. */
static void the_clock_is_lower_while_all_units_work(void **state)
{
	struct ws_model_result r;

	repeat("v_mov_b32", 1, 4 * N_CUS * 2, &r);
	near("MHz of v_mov_b32", r.mhz, 1624, 0.03 * 1624);
	assert_true(fabs((double)r.duration_ns * r.mhz / (double)r.cycles / 1000 - 1) < 0.001);
	ws_model_result_free(&r);
	repeat("v_mfma_f32_32x32x8bf16_1k", 2, 2 * N_CUS * 2, &r);
	near("MHz of MFMA", r.mhz, 1590, 0.03 * 1590);
	ws_model_result_free(&r);
	repeat("s_mov_b32", 1, 2 * N_CUS * 2, &r);
	near("MHz of s_mov_b32", r.mhz, 1676, 0.03 * 1676);
	ws_model_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_units_are_used_in_every_cycle),
		cmocka_unit_test(internal_instructions_are_limited_by_fetches),
		cmocka_unit_test(the_clock_is_lower_while_all_units_work),
	};

	return RUN(tests);
}
