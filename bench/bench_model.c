/*
 * bench_model: what the timing model takes per wave-instruction, on traces made up here. Processor time
 * of the one thread it runs on, so that a busy machine disturbs it little; the least of some turns.
 *
 *	bench_model [TURNS [PART OF A NAME [GPU]]]		default: MI210
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "bench/clock.h"
#include "tests/softgpu/synth.h"

#define VM0 0x0f70
#define LGKM0 0xc07f

static double cpu_s(void)
{
	return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

/* The traces are made beforehand and used in every turn. */
struct made {
	struct synth_run run;
	struct sg_wg_traces **wgs;
};

static struct sg_wg_traces *next(void *ctx, uint64_t wg)
{
	return ((struct made *)ctx)->wgs[wg];
}

static void release(void *ctx, uint64_t wg, struct sg_wg_traces *traces)
{
}

static bool instruction(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	struct synth_run *run = &((struct made *)ctx)->run;

	return run->d.instruction(run, pc, out);
}

static void make(struct made *made, const struct synth_kernel *k, uint64_t n_wgs, uint32_t waves)
{
	synth_prepare(&made->run, k, n_wgs, waves);
	made->wgs = calloc(n_wgs, sizeof(struct sg_wg_traces *));
	for (uint64_t n = 0; made->wgs && n < n_wgs; n++)
		made->wgs[n] = made->run.d.next(&made->run, n);
}

static void unmake(struct made *made)
{
	for (uint64_t n = 0; n < made->run.d.n_wgs; n++)
		made->run.d.release(&made->run, n, made->wgs[n]);
	free(made->wgs);
}

/* Of every counter of every instance: a change for speed must not change it. */
static uint32_t digest(const struct sg_model_result *r)
{
	uint64_t h = 14695981039346656037ull;

	for (unsigned b = 0; b < SG_N_BLOCKS; b++)
		for (size_t k = 0; k < (size_t)r->n_instances[b] * sg_blocks[b].n; k++)
			h = (h ^ r->values[b][k]) * 1099511628211ull;
	for (size_t k = 0; k < (size_t)r->n_instances[SG_BLOCK_SQ] * SG_N_SQ; k++)
		h = (h ^ r->accumulated[k]) * 1099511628211ull;
	return (uint32_t)(h ^ h >> 32);
}

static const char *only; /* part of a name, or NULL */
static const struct sg_hw *gpu = &sg_hw_mi210;

static void measure(const char *name, const struct synth_kernel *k, uint64_t n_wgs, uint32_t waves,
		    uint32_t lds_bytes, int turns)
{
	struct sg_model *m;
	double best = 1e9;
	uint64_t n = 0, cycles = 0;
	uint32_t values = 0;
	struct made made;

	if (only && !strstr(name, only))
		return;
	m = sg_model_create(gpu);
	make(&made, k, n_wgs, waves);
	for (int turn = 0; turn < turns; turn++) {
		struct sg_model_result r;
		struct sg_model_dispatch d = made.run.d;
		double from;

		d.vgprs = 32;
		d.lds_bytes = lds_bytes;
		d.next = next;
		d.release = release;
		d.instruction = instruction;
		d.memory = NULL;
		d.ctx = &made;
		from = cpu_s();
		if (!sg_model_run(m, &d, &r))
			abort();
		best = cpu_s() - from < best ? cpu_s() - from : best;
		n = SG_SUM(&r, SQ, SQ_INSTS);
		cycles = r.cycles;
		values = digest(&r);
		sg_model_result_free(&r);
	}
	printf("%-24s %9lu wave-instructions %8lu cycles %8.2f ms %7.1f ns each  values %08x\n",
	       name, (unsigned long)n, (unsigned long)cycles, 1e3 * best, 1e9 * best / (double)n,
	       values);
	sg_model_destroy(m);
	unmake(&made);
}

/* A loop around n copies of an instruction. */
static void loop(const char *name, struct synth_inst inst, uint32_t n, uint64_t apart,
		 uint16_t wait, uint32_t turns_of_loop, uint32_t wgs, int turns)
{
	struct synth_inst insts[64] = { { .mnemonic = "s_nop", .dwords = 1 } };
	struct synth_kernel k = {
		.insts = insts, .loop_from = 1, .turns = turns_of_loop, .code = SYNTH_CODE
	};
	uint32_t at = 1;

	for (uint32_t i = 0; i < n; i++) {
		insts[at] = inst;
		insts[at++].base += i * apart;
	}
	if (wait)
		insts[at++] =
			(struct synth_inst){ .mnemonic = "s_waitcnt", .dwords = 1, .simm = wait };
	insts[at++] = (struct synth_inst){ .mnemonic = "s_add_u32", .dwords = 1 };
	insts[at++] = (struct synth_inst){ .mnemonic = "s_cmp_lt_u32", .dwords = 1 };
	k.loop_to = at;
	insts[at++] = (struct synth_inst){ .mnemonic = "s_cbranch_scc1", .dwords = 1 };
	insts[at++] = (struct synth_inst){ .mnemonic = "s_endpgm", .dwords = 1 };
	k.n_insts = at;
	measure(name, &k, wgs, 4, 8192, turns);
}

/* What a matrix product does with a tile: two loads, into LDS, a barrier, and many reads for few operations. */
static void tiles(int turns)
{
	static const struct synth_inst load = { .mnemonic = "global_load_dword",
						.dwords = 2,
						.base = SYNTH_VRAM,
						.per_wg = 4096,
						.per_wave = 1024,
						.per_turn = 1 << 16,
						.per_lane = 4 };
	static const struct synth_inst write = {
		.mnemonic = "ds_write_b32", .dwords = 2, .per_wave = 256, .per_lane = 4
	};
	static const struct synth_inst read = { .mnemonic = "ds_read_b64",
						.dwords = 2,
						.per_lane = 8 };
	static const struct synth_inst fma = { .mnemonic = "v_fma_f32", .dwords = 2 };
	static const struct synth_inst barrier = { .mnemonic = "s_barrier", .dwords = 1 };
	static const struct synth_inst vm = { .mnemonic = "s_waitcnt", .dwords = 1, .simm = VM0 };
	static const struct synth_inst lgkm = { .mnemonic = "s_waitcnt",
						.dwords = 1,
						.simm = LGKM0 };
	struct synth_inst insts[64] = {
		{ .mnemonic = "s_nop", .dwords = 1 }, load, load, vm, write, write, lgkm, barrier
	};
	struct synth_kernel k = { .insts = insts, .loop_from = 1, .turns = 16, .code = SYNTH_CODE };
	uint32_t at = 8;

	insts[2].base += 64 << 20;
	insts[5].base += 1024;
	for (uint32_t n = 0; n < 4; n++) {
		for (uint32_t r = 0; r < 4; r++)
			insts[at++] = read;
		insts[at++] = lgkm;
		for (uint32_t f = 0; f < 6; f++)
			insts[at++] = fma;
	}
	insts[at++] = barrier;
	k.loop_to = at;
	insts[at++] = (struct synth_inst){ .mnemonic = "s_cbranch_scc1", .dwords = 1 };
	insts[at++] = (struct synth_inst){ .mnemonic = "s_endpgm", .dwords = 1 };
	k.n_insts = at;
	measure("tiles in LDS", &k, 416, 4, 2048, turns);
}

static const struct sg_hw *find_gpu(const char *name)
{
	static const struct sg_hw *const all[] = { &sg_hw_mi100,  &sg_hw_mi210,  &sg_hw_mi250x,
						   &sg_hw_mi300x, &sg_hw_mi300a, &sg_hw_mi350x };

	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if (!strcasecmp(all[k]->name, name))
			return all[k];
	fprintf(stderr, "bench_model: no GPU '%s': try MI300X\n", name);
	exit(1);
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 5;
	struct synth_kernel vcopy;

	if (turns < 1) {
		fprintf(stderr,
			"bench_model: '%s' is not a number of turns: bench_model [TURNS [PART OF A "
			"NAME [GPU]]]\n",
			argv[1]);
		return 2;
	}
	only = argc > 2 && *argv[2] ? argv[2] : NULL;
	gpu = argc > 3 ? find_gpu(argv[3]) : gpu;
	vcopy = gpu->n_xcc > 1 ? synth_vcopy_mi300(false) : synth_vcopy();
	measure("copy 8 MiB", &vcopy, 4096, 4, 0, turns);
	loop("fma, one wave a SIMD", (struct synth_inst){ .mnemonic = "v_fma_f32", .dwords = 2 }, 8,
	     0, 0, 400, 104, turns);
	loop("fma, eight waves a SIMD", (struct synth_inst){ .mnemonic = "v_fma_f32", .dwords = 2 },
	     8, 0, 0, 50, 832, turns);
	loop("LDS reads",
	     (struct synth_inst){ .mnemonic = "ds_read_b32", .dwords = 2, .per_lane = 4 }, 8, 256,
	     LGKM0, 50, 832, turns);
	if (!only || strstr("tiles in LDS", only))
		tiles(turns);
	loop("loads of dwords",
	     (struct synth_inst){ .mnemonic = "global_load_dword",
				  .dwords = 2,
				  .base = SYNTH_VRAM,
				  .per_wg = 1024,
				  .per_wave = 256,
				  .per_lane = 4 },
	     4, 832 * 1024, VM0, 10, 832, turns);
	loop("loads, stride 128",
	     (struct synth_inst){ .mnemonic = "global_load_dword",
				  .dwords = 2,
				  .base = SYNTH_VRAM,
				  .per_wg = 32768,
				  .per_wave = 8192,
				  .per_lane = 128 },
	     2, 4, VM0, 2, 416, turns);
	return 0;
}
