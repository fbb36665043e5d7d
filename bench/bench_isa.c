/*
 * What one wave-instruction costs the interpreter, on each generation of GPUs: the same loop of the same instruction
 * as code of gfx90a, gfx942 and gfx950, and loops of matrix instructions that only the later ones have.
 *
 *	bench_isa [TURNS]
 *
 * CPU time of one thread, so that a loaded machine does not count. The targets take turns; the least and the median
 * of the turns, and the least against gfx90a's: the median is the neighbours' on a shared machine.
 */
#include "bench/clock.h"
#include "softgpu/exec/code.h"
#include "softgpu/exec/launch.h"
#include "softgpu/exec/levels.h"
#include "softgpu/mem/guard.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TURNS = 101, UNROLL = 16, N_TARGETS = 3 };

static const enum sg_isa_target targets[N_TARGETS] = { SG_ISA_GFX90A, SG_ISA_GFX942,
						       SG_ISA_GFX950 };

/* clang-format off */
static const struct loop {
	const char *name;
	uint32_t word[2]; /* of the instruction; the second is 0 where it has one */
	unsigned turns;   /* of UNROLL instructions each */
	unsigned targets;
} loops[] = {
	{ "s_add_u32",                    { 0x80098109 },             20000, ~0u },
	{ "v_add_u32",                    { 0x68020302 },             20000, ~0u },
	{ "v_fma_f32",                    { 0xd1cb0001, 0x04060702 }, 20000, ~0u },
	{ "v_pk_fma_f32",                 { 0xd3b04002, 0x1c120504 }, 10000, ~0u },
	{ "v_exp_f32",                    { 0x7e024102 },             2000,  ~0u },
	{ "ds_read_b32",                  { 0xd86c0000, 0x04000001 }, 5000,  ~0u },
	{ "global_load_dword",            { 0xdc508000, 0x04000006 }, 5000,  ~0u },
	{ "v_mfma_f32_32x32x8_f16",       { 0xd3cc0010, 0x04420500 }, 200,   ~0u },
	{ "v_mfma_f32_32x32x16_fp8_fp8",  { 0xd3f70010, 0x04420500 }, 100,   SG_ISA_GFX942 | SG_ISA_GFX950 },
	{ "v_mfma_f32_32x32x64_f8f6f4",   { 0xd3ae0010, 0x04421100 }, 20,    SG_ISA_GFX950 },
	{ "  with A and B of fp4",        { 0xd3ae0410, 0x84421100 }, 20,    SG_ISA_GFX950 },
};
/* clang-format on */

static const struct sg_mem_map everything = { .start = 0, .end = 1ull << 47 };
static const struct sg_exec_hooks no_hooks;

/* s8 counts down; the loop's instruction does not use it. */
static void write_loop(const struct loop *l, uint32_t *code)
{
	uint32_t n = 0, first;

	code[n++] = 0xb0080000 | l->turns; /* s_movk_i32 s8, turns */
	first = n;
	for (unsigned k = 0; k < UNROLL; k++) {
		code[n++] = l->word[0];
		if (l->word[1])
			code[n++] = l->word[1];
	}
	code[n++] = 0x80888108; /* s_sub_u32 s8, s8, 1 */
	code[n++] = 0xbf078008; /* s_cmp_lg_u32 s8, 0 */
	code[n] = 0xbf850000 | (uint16_t)(first - n - 1);
	code[n + 1] = 0xbf810000; /* s_endpgm */
}

/* Nanoseconds for one of the loop's instructions. */
static double run(const struct loop *l, enum sg_isa_target target)
{
	static uint32_t code[2 * UNROLL + 8], memory[64];
	static const uint32_t id[3];
	struct sg_launch launch = {
		.target = target,
		.entry = (uintptr_t)code,
		.rsrc1 = 7, /* 64 vector registers */
		.rsrc2 = 2 << 1,
		.properties = 1 << 3, /* s[0:1]: the kernel's arguments */
		.kernarg = (uintptr_t)memory,
		.lds_bytes = 1024,
		.mem = &everything,
		.hooks = &no_hooks,
		.grid_size = { 64, 1, 1 },
		.wg_size = { 64, 1, 1 },
	};
	struct sg_wg *wg;
	uint64_t from;
	double ns;

	write_loop(l, code);
	launch.code_cache = sg_code_cache_create(&everything, target);
	if (sg_launch_init(&launch) != SG_LAUNCH_OK || !(wg = sg_wg_create(&launch, 0))) {
		fprintf(stderr, "bench_isa: %s cannot be launched\n", l->name);
		exit(1);
	}
	sg_wg_start(wg, &launch, id);
	from = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (sg_wg_run(wg, UINT32_MAX, 0) != SG_WG_DONE) {
		fprintf(stderr, "bench_isa: %s did not end: its code is wrong for %s\n", l->name,
			sg_isa_target_name(target));
		exit(1);
	}
	ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - from);
	sg_wg_destroy(wg);
	sg_launch_fini(&launch);
	sg_code_cache_destroy(launch.code_cache);
	return ns / (l->turns * UNROLL);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct loop *l, unsigned n_turns)
{
	double ns[N_TARGETS][MAX_TURNS];

	for (unsigned turn = 0; turn < n_turns; turn++)
		for (unsigned n = 0; n < N_TARGETS; n++) {
			unsigned t = (turn + n) % N_TARGETS; /* nobody is always first */

			if (l->targets & targets[t])
				ns[t][turn] = run(l, targets[t]);
		}
	for (unsigned t = 0; t < N_TARGETS; t++) {
		if (!(l->targets & targets[t]))
			continue;
		qsort(ns[t], n_turns, sizeof(ns[t][0]), compare);
		printf("%-30s %-7s %10.1f %10.1f", l->name, sg_isa_target_name(targets[t]),
		       ns[t][0], ns[t][n_turns / 2]);
		if (l->targets & targets[0])
			printf(" %7.2fx", ns[t][0] / ns[0][0]);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	unsigned n_turns = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 11;

	if (!n_turns || n_turns > MAX_TURNS) {
		fprintf(stderr, "usage: bench_isa [TURNS], 1 to %d\n", MAX_TURNS);
		return 2;
	}
	sg_guard_install();
	printf("%-30s %-7s %10s %10s %8s\n", "ns per wave-instruction", sg_level_name(), "least",
	       "median", "gfx90a");
	for (size_t n = 0; n < sizeof(loops) / sizeof(loops[0]); n++)
		measure(&loops[n], n_turns);
	return 0;
}
