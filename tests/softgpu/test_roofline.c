/*
 * The peaks that AMD's roofline benchmark measured on the recorded MI200, from small kernels of the same
 * kind on the model: within 10 %.
 */
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>

#include "tests/softgpu/synth.h"

#define N_WGS 832 /* every wave slot of 104 CUs */
#define N_WAVES 4
#define BODY 32

struct peak {
	const char *name;
	struct synth_inst inst;
	uint32_t n_insts, turns;
	double work;       /* bytes or operations of one instruction */
	double recorded;   /* in 1e9 per second */
	uint64_t per_inst; /* memory: from one instruction of the body to the next */
	uint16_t wait;     /* s_waitcnt at the end of the body; 0: none */
};

#define VM0 0x0f70
#define LGKM0 0xc07f
#define GRID (N_WGS * 4096ull)
static const struct peak peaks[] = {
	{ "HBM",
	  { "global_load_dwordx4", 2, .base = SYNTH_VRAM, .per_wg = 4096, .per_wave = 1024,
	    .per_lane = 16, .per_turn = 8 * GRID },
	  8,
	  4, /* the benchmark doubles them until that changes the rate by 2 % at most */
	  1024,
	  1389,
	  GRID,
	  VM0 },
	{ "L2",
	  { "global_load_dwordx4", 2, .base = SYNTH_VRAM, .per_wg = 4096, .per_wave = 1024,
	    .per_lane = 16 },
	  8,
	  8,
	  1024,
	  5018,
	  37 * 4096,
	  VM0 },
	{ "L1",
	  { "global_load_dwordx4", 2, .base = SYNTH_VRAM, .per_lane = 16 },
	  4,
	  16,
	  1024,
	  9227,
	  1024,
	  VM0 },
	{ "LDS", { "ds_read_b128", 2, .per_lane = 16 }, 8, 8, 1024, 17718, 1024, LGKM0 },
	{ "FP32", { "v_fma_f32", 2, .base = 0 }, BODY, 8, 128, 20900, 0, 0 },
	{ "FP64", { "v_fma_f64", 2, .base = 0 }, BODY, 8, 128, 20300, 0, 0 },
	{ "MFMA F16", { "v_mfma_f32_32x32x8f16", 2, .base = 0 }, BODY, 4, 16384, 165000, 0, 0 },
	{ "MFMA BF16",
	  { "v_mfma_f32_32x32x8bf16_1k", 2, .base = 0 },
	  BODY,
	  4,
	  16384,
	  170000,
	  0,
	  0 },
	{ "MFMA F32", { "v_mfma_f32_32x32x2f32", 2, .base = 0 }, BODY, 4, 4096, 41400, 0, 0 },
	{ "MFMA F64", { "v_mfma_f64_16x16x4f64", 2, .base = 0 }, BODY, 4, 2048, 41500, 0, 0 },
	{ "MFMA I8", { "v_mfma_i32_32x32x8i8", 2, .base = 0 }, BODY, 4, 16384, 166000, 0, 0 },
};

/* A run of so many turns, in nanoseconds. */
static double run_for(const struct peak *p, uint32_t turns)
{
	struct synth_inst insts[BODY + 6] = { { "s_nop", 1, .simm = 0 } };
	struct synth_kernel k = {
		.insts = insts, .loop_from = 1, .turns = turns, .code = SYNTH_CODE
	};
	struct sg_model *m = sg_model_create(&sg_hw_mi210);
	struct sg_model_result r;
	struct synth_run run;
	uint32_t n = 1;
	double ns;

	for (uint32_t i = 0; i < p->n_insts; i++) {
		insts[n] = p->inst;
		insts[n++].base += i * p->per_inst;
	}
	if (p->wait)
		insts[n++] = (struct synth_inst){ "s_waitcnt", 1, .simm = p->wait };
	insts[n++] = (struct synth_inst){ "s_add_u32", 1, .simm = 0 };
	insts[n++] = (struct synth_inst){ "s_cmp_lt_u32", 1, .simm = 0 };
	k.loop_to = n;
	insts[n++] = (struct synth_inst){ "s_cbranch_scc1", 1, .simm = 0 };
	insts[n++] = (struct synth_inst){ "s_endpgm", 1, .simm = 0 };
	k.n_insts = n;
	synth_prepare(&run, &k, N_WGS, N_WAVES);
	run.d.vgprs = 64;
	assert_true(sg_model_run(m, &run.d, &r));
	ns = (double)r.duration_ns;
	sg_model_result_free(&r);
	sg_model_destroy(m);
	return ns;
}

/* As the benchmark does (roofline/measure.h): launch and the last waves are not part of a peak. */
static double measure(const struct peak *p)
{
	return p->work * p->n_insts * p->turns * N_WGS * N_WAVES /
	       (run_for(p, 2 * p->turns) - run_for(p, p->turns));
}

static void peaks_are_those_of_the_recorded_mi200(void **state)
{
	for (size_t k = 0; k < sizeof(peaks) / sizeof(peaks[0]); k++) {
		double rate = measure(&peaks[k]);

		printf("%-10s %9.0f, recorded %9.0f G/s: %+.1f %%\n", peaks[k].name, rate,
		       peaks[k].recorded, 100 * (rate / peaks[k].recorded - 1));
		if (fabs(rate / peaks[k].recorded - 1) > 0.1)
			fail_msg("%s is %.0f, recorded %.0f G/s", peaks[k].name, rate,
				 peaks[k].recorded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		peaks_are_those_of_the_recorded_mi200) };

	return RUN(tests);
}
