/*
 * compare_engines: random kernels whose engines are simulated together (softgpu/timing/lockstep.c), and apart. What
 * follows from instructions has to be equal in each dispatch, and the requests of the CUs are those that L2 has; times
 * differ, because small differences of memory decide who is first at a barrier, but not in one direction. Prints the mean
 * differences; docs/fidelity.md has those of 600 dispatches of each kind. Exit code 1: an exact counter differs, or the mean of the cycles is out of its bound.
 *
 *	compare_engines [DISPATCHES OF EACH KIND [FIRST SEED]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/counters/catalogue.h"
#include "tests/softgpu/synth.h"

#define LGKM0 0xc07f
#define VM0 0x0f70
#define MAX_INSTS 48

static const struct sg_hw *const gpus[] = { &sg_hw_mi210,  &sg_hw_mi100,  &sg_hw_mi250x,
					    &sg_hw_mi300x, &sg_hw_mi300a, &sg_hw_mi350x };
#define N_GPUS (sizeof(gpus) / sizeof(gpus[0]))

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((random_state >> 33) % n);
}

/* ---- kernels ---- */

static const char *const operations[] = { "v_fma_f32", "v_fma_f64", "v_rcp_f32", "v_and_b32",
					  "s_add_u32", "s_mul_i32", "v_mul_f64", "s_nop" };
static const struct access {
	const char *mnemonic;
	int64_t bytes;
	enum { LOAD, STORE, LDS, SCALAR } kind;
} accesses[] = {
	{ "global_load_dword", 4, LOAD },
	{ "global_load_dwordx2", 8, LOAD },
	{ "global_load_dwordx4", 16, LOAD },
	{ "global_load_ubyte", 1, LOAD },
	{ "global_store_dword", 4, STORE },
	{ "global_store_dwordx2", 8, STORE },
	{ "global_store_dwordx4", 16, STORE },
	{ "ds_read_b32", 4, LDS },
	{ "ds_read_b64", 8, LDS },
	{ "ds_write_b32", 4, LDS },
	{ "s_load_dwordx4", 16, SCALAR },
};

struct shape {
	uint32_t waves; /* of a workgroup */
	bool in_order;  /* lanes are, and all that they access is whole chunks apart: see joint.c */
	bool in_tiles;  /* lanes are rows of 16 instead, or apart */
};

/* Some of the lines are those of other accesses, waves or turns. */
static void put_in_order(struct synth_inst *i, int64_t bytes, uint32_t waves)
{
	i->base = SYNTH_VRAM + ((uint64_t)below(2) << 26) + 256 * below(4);
	i->per_lane = bytes;
	i->per_wave = below(4) ? 64 * bytes : 0;
	i->per_wg = below(4) ? 64 * bytes * waves : 256 * below(3);
	i->per_turn = (256ll * below(3)) << 8 * below(2);
}

/* The same for rows of 16 lanes, and for lanes that are apart by as many bytes as a row; they may begin anywhere in a line. */
static void put_in_tiles(struct synth_inst *i, int64_t bytes, uint32_t waves)
{
	int64_t row = (16 * bytes) << below(8);

	put_in_order(i, bytes, waves);
	i->base += (uint64_t)(bytes * below(64));
	i->per_row = below(4) ? row : 0;
	if (!i->per_row)
		i->per_lane = row;
}

/* An array that all waves walk through: lane by lane, wave by wave, turn by turn. */
static struct synth_inst random_access(uint32_t n_before, const struct shape *shape)
{
	const struct access *a = &accesses[below(sizeof(accesses) / sizeof(accesses[0]))];
	struct synth_inst i = { .mnemonic = a->mnemonic, .dwords = 2 };

	if (a->kind == LDS) {
		i.per_lane = a->bytes << (below(3) ? 0 : below(6));
		i.per_wave = below(2) ? 256 : 0;
		return i;
	}
	i.base = SYNTH_VRAM + ((uint64_t)n_before << 26);
	if (a->kind == SCALAR) {
		i.per_wg = 64 * below(3);
		return i;
	}
	if ((shape->in_order || shape->in_tiles) && below(8)) {
		if (a->bytes < 4)
			i.mnemonic = accesses[0].mnemonic;
		(shape->in_tiles ? put_in_tiles : put_in_order)(
			&i, a->bytes < 4 ? accesses[0].bytes : a->bytes, shape->waves);
		return i;
	}
	i.per_lane = a->bytes * (below(4) ? 1 : 1 + below(16));
	i.per_wave = below(4) ? 64 * i.per_lane : 0;
	i.per_wg = below(4) ? shape->waves * i.per_wave : 0;
	i.per_turn = below(3) ? 1 << 18 : 0;
	return i;
}

static struct synth_inst random_inst(uint32_t n_before, const struct shape *shape)
{
	uint32_t what = below(16);

	if (what < 6)
		return random_access(n_before, shape);
	if (what < 7)
		return (struct synth_inst){ .mnemonic = "s_waitcnt", .dwords = 1, .simm = VM0 };
	if (what < 8)
		return (struct synth_inst){ .mnemonic = "s_waitcnt", .dwords = 1, .simm = LGKM0 };
	if (what < 9 && shape->waves > 1)
		return (struct synth_inst){ .mnemonic = "s_barrier", .dwords = 1 };
	what = below(sizeof(operations) / sizeof(operations[0]));
	return (struct synth_inst){ .mnemonic = operations[what],
				    .dwords = operations[what][0] == 'v' ? 2 : 1 };
}

/* Two to twelve instructions, one to ten times. */
static struct synth_kernel random_kernel(struct synth_inst insts[MAX_INSTS],
					 const struct shape *shape)
{
	struct synth_kernel k = { .insts = insts, .loop_from = 1, .code = SYNTH_CODE };
	uint32_t n = 0;

	insts[n++] = (struct synth_inst){ .mnemonic = "s_nop", .dwords = 1 };
	for (uint32_t left = 2 + below(11); left; left--, n++)
		insts[n] = random_inst(n, shape);
	insts[n++] = (struct synth_inst){ .mnemonic = "s_waitcnt", .dwords = 1, .simm = 0 };
	k.loop_to = n;
	k.turns = 1 + below(10);
	insts[n++] = (struct synth_inst){ .mnemonic = "s_cbranch_scc1", .dwords = 1 };
	insts[n++] = (struct synth_inst){ .mnemonic = "s_endpgm", .dwords = 1 };
	k.n_insts = n;
	return k;
}

/* ---- workgroups of other paths: waves with fewer lanes ---- */

static uint32_t other_wg, other_lanes;

static uint32_t one_is_other(uint64_t wg)
{
	return wg == other_wg ? other_lanes : 64;
}

static uint32_t every_26th_is_other(uint64_t wg)
{
	return wg % 26 == 25 ? other_lanes : 64;
}

static uint32_t many_are_others(uint64_t wg)
{
	return wg < other_wg ? 64 : 1 + (uint32_t)(wg * 7 % 61);
}

static uint32_t all_alike(uint64_t wg)
{
	return 64;
}

static const struct kind {
	const char *name;
	uint32_t n_paths;
	uint32_t (*paths[4])(uint64_t wg);
	double max_mean, max_bias; /* of the differences of cycles: without their sign, with it */
	bool in_order, in_tiles;
} kinds[] = {
	{ "random kernels on six GPUs, some with workgroups of other paths",
	  4,
	  { all_alike, one_is_other, every_26th_is_other, many_are_others },
	  0.03,
	  0.0125 },
	{ "random kernels, at most one workgroup of another path",
	  2,
	  { all_alike, one_is_other },
	  0.03,
	  0.0125 },
	{ "random kernels with lanes in order, some with workgroups of other paths",
	  4,
	  { all_alike, one_is_other, every_26th_is_other, many_are_others },
	  0.03,
	  0.0125,
	  .in_order = true },
	/* the same where each CU has a pipeline of its own: 3.1 % and +1.5 % for 50 of them */
	{ "random kernels with lanes in tiles, some with workgroups of other paths",
	  4,
	  { all_alike, one_is_other, every_26th_is_other, many_are_others },
	  0.04,
	  0.02,
	  .in_tiles = true },
};

/* ---- comparison ---- */

struct difference {
	double sum, sum_abs;
	uint32_t n;
};

static void add_difference(struct difference *d, uint64_t together, uint64_t apart)
{
	double by = apart ? (double)together / (double)apart - 1 : 0;

	d->sum += by;
	d->sum_abs += fabs(by);
	d->n++;
}

struct tally {
	struct difference cycles, waits;
	uint32_t n_exact, n_different;
};

static void simulate(const struct sg_hw *hw, struct synth_run *run, bool apart,
		     struct sg_model_result *r)
{
	struct sg_model *m = sg_model_create(hw);

	run->d.apart = apart;
	if (!m || !sg_model_run(m, &run->d, r)) {
		fprintf(stderr, "compare_engines: a dispatch could not be simulated\n");
		exit(1);
	}
	sg_model_destroy(m);
}

static void check_balance(struct tally *t, const struct sg_hw *hw, uint64_t seed, const char *how,
			  const struct sg_model_result *r)
{
	if (synth_requests_balance(hw, r))
		return;
	t->n_different++;
	fprintf(stderr, "compare_engines: seed %lu, %s, %s: CUs count other requests than L2\n",
		(unsigned long)seed, hw->name, how);
}

static void compare_exact(struct tally *t, const struct sg_hw *hw, uint64_t seed,
			  const struct sg_model_result *a, const struct sg_model_result *b)
{
	uint32_t n = 0;
	const struct sg_counter_info *c = synth_first_different(hw, a, b, &n);

	t->n_exact += n;
	if (!c)
		return;
	t->n_different++;
	fprintf(stderr, "compare_engines: seed %lu, %s: %s is %lu, apart %lu\n",
		(unsigned long)seed, hw->name, c->name,
		(unsigned long)sg_model_sum(a, c->block, c->place),
		(unsigned long)sg_model_sum(b, c->block, c->place));
}

static void compare_one(struct tally *t, const struct kind *kind, uint64_t seed)
{
	struct synth_inst insts[MAX_INSTS];
	struct sg_model_result together, apart;
	const struct sg_hw *hw = gpus[seed % N_GPUS];
	struct synth_kernel k;
	struct synth_run run;
	struct shape shape = { .in_order = kind->in_order, .in_tiles = kind->in_tiles };
	uint32_t n_wgs;

	random_state = seed * 0x9e3779b97f4a7c15ull;
	shape.waves = 1 + below(8);
	n_wgs = 8 * sg_hw_n_engines(hw) + below(1200);
	other_wg = below(n_wgs);
	other_lanes = 1 + below(63);
	k = random_kernel(insts, &shape);
	synth_prepare(&run, &k, n_wgs, shape.waves);
	run.d.vgprs = 8 * (1 + below(16));
	run.d.lds_bytes = 8192;
	run.d.cold = below(2);
	run.lanes = kind->paths[below(kind->n_paths)];
	simulate(hw, &run, false, &together);
	simulate(hw, &run, true, &apart);
	compare_exact(t, hw, seed, &together, &apart);
	check_balance(t, hw, seed, "together", &together);
	check_balance(t, hw, seed, "apart", &apart);
	add_difference(&t->cycles, together.cycles, apart.cycles);
	add_difference(&t->waits, SG_SUM(&together, SQ, SQ_WAIT_INST_ANY),
		       SG_SUM(&apart, SQ, SQ_WAIT_INST_ANY));
	sg_model_result_free(&together);
	sg_model_result_free(&apart);
}

static void print_difference(const struct difference *d)
{
	printf(" | %.1f %% (%+.1f %%)", 100 * d->sum_abs / d->n, 100 * d->sum / d->n);
}

/* A row of docs/fidelity.md. False: the differences are too great. */
static bool compare_kind(const struct kind *kind, uint32_t n, uint64_t first_seed)
{
	struct tally t = { 0 };

	for (uint32_t k = 0; k < n; k++)
		compare_one(&t, kind, first_seed + k);
	printf("| %s | %u | %s", kind->name, n, t.n_different ? "DIFFERENT" : "equal");
	print_difference(&t.cycles);
	print_difference(&t.waits);
	printf(" |\n");
	return !t.n_different && t.n_exact > 20 * n && t.cycles.sum_abs <= kind->max_mean * n &&
	       fabs(t.cycles.sum) <= kind->max_bias * n;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60;
	uint64_t first_seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	bool ok = n != 0;

	for (size_t k = 0; n && k < sizeof(kinds) / sizeof(kinds[0]); k++)
		ok &= compare_kind(&kinds[k], n, first_seed);
	return !ok;
}
