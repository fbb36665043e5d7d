/* A dispatch is known again when everything that its counters follow from is the same, and only then. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "softgpu/counting/result_cache.h"
#include "softgpu/trace/trace_digest.h"
#include "tests/softgpu/synth.h"

#define N_WGS 64
#define WAVES 4

struct rig {
	struct sg_result_cache *store;
	struct sg_model *model;
	struct synth_kernel kernel;
	struct synth_run run;
	struct sg_model_result r;
	struct sg_modelled_dispatch facts;
	struct sg_mem_block block;
	uint64_t digests[N_WGS];
	/* the world as it is now */
	uint64_t odd_pc; /* something else stands here */
	struct sg_mem_block block_now;
};

static bool instruction(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	struct rig *rig = ctx;

	if (!rig->run.d.instruction(&rig->run, pc, out))
		return false;
	out->simm += pc == rig->odd_pc;
	return true;
}

static void find_block(void *ctx, uint64_t addr, struct sg_mem_block *out)
{
	*out = ((struct rig *)ctx)->block_now;
}

static uint64_t digest_of(struct rig *rig, uint64_t wg)
{
	struct sg_wg_traces *t = rig->run.d.next(&rig->run, wg);
	uint64_t digest = 0;

	for (uint32_t k = 0; k < t->n_waves; k++)
		digest = sg_trace_digest(digest, &t->waves[k]);
	rig->run.d.release(&rig->run, wg, t);
	return digest;
}

static struct sg_dispatch_key key_of(const struct rig *rig, bool cold)
{
	struct sg_dispatch_key key;

	memset(&key, 0, sizeof(key));
	key.kernel = 1;
	key.n_wgs = N_WGS;
	key.stride = 1;
	key.waves_per_wg = WAVES;
	key.cold = cold;
	key.caches = cold ? 0 : sg_model_state(rig->model);
	return key;
}

static int setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	rig->store = sg_result_cache_create();
	rig->model = sg_model_create(&sg_hw_mi210);
	rig->kernel = synth_vcopy();
	synth_prepare(&rig->run, &rig->kernel, N_WGS, WAVES);
	rig->block = rig->block_now = (struct sg_mem_block){ SYNTH_VRAM, 16 << 20, 0, { 0 } };
	rig->facts = (struct sg_modelled_dispatch){ .key = key_of(rig, true),
						    .model = rig->model,
						    .result = &rig->r,
						    .world = { instruction, find_block, rig },
						    .digests = rig->digests,
						    .blocks = &rig->block,
						    .n_blocks = 1 };
	rig->run.d.cold = true;
	assert_true(sg_model_run(rig->model, &rig->run.d, &rig->r));
	for (uint64_t wg = 0; wg < N_WGS; wg++)
		rig->digests[wg] = digest_of(rig, wg);
	sg_result_cache_add(rig->store, &rig->facts);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	sg_model_result_free(&rig->r);
	sg_model_destroy(rig->model);
	sg_result_cache_destroy(rig->store);
	free(rig);
	return 0;
}

/* How many known dispatches are still possible after all workgroups? If there are some, the caller ends the lookup. */
static uint32_t guess(struct rig *rig, const struct sg_dispatch_key *key, struct sg_cache_lookup *g)
{
	uint32_t n;

	sg_cache_lookup_begin(g, rig->store, key, &rig->facts.world);
	for (uint64_t wg = 0; wg < N_WGS; wg++)
		sg_cache_lookup_wg(g, wg, digest_of(rig, wg));
	n = g->n;
	if (!n)
		sg_cache_lookup_end(g, rig->store);
	return n;
}

static void assert_same(const struct sg_model_result *a, const struct sg_model_result *b)
{
	assert_int_equal(a->cycles, b->cycles);
	assert_int_equal(a->duration_ns, b->duration_ns);
	for (unsigned k = 0; k < SG_N_BLOCKS; k++)
		assert_memory_equal(a->values[k], b->values[k],
				    a->n_instances[k] * sg_blocks[k].n * sizeof(uint64_t));
	assert_memory_equal(a->accumulated, b->accumulated,
			    a->n_instances[SG_BLOCK_SQ] * SG_N_SQ * sizeof(uint64_t));
}

static void the_same_again_is_known(void **state)
{
	struct rig *rig = *state;
	struct sg_model *fresh = sg_model_create(&sg_hw_mi210);
	struct sg_model_result again;
	struct sg_cache_lookup g;

	assert_int_equal(guess(rig, &rig->facts.key, &g), 1);
	assert_int_not_equal(sg_model_state(fresh), sg_model_state(rig->model));
	assert_true(sg_cache_lookup_take(&g, fresh, &again));
	assert_same(&again, &rig->r);
	/* what comes next finds the instruction caches as if it had been modelled */
	assert_int_equal(sg_model_state(fresh), sg_model_state(rig->model));
	sg_cache_lookup_end(&g, rig->store);
	sg_model_result_free(&again);
	sg_model_destroy(fresh);
}

static void other_addresses_are_not_known(void **state)
{
	struct rig *rig = *state;
	struct synth_inst insts[24];
	struct sg_cache_lookup g;

	memcpy(insts, synth_vcopy_insts, sizeof(insts));
	insts[17].base += 64; /* the load */
	rig->kernel.insts = insts;
	assert_int_equal(guess(rig, &rig->facts.key, &g), 0);
}

static void one_other_workgroup_is_enough(void **state)
{
	struct rig *rig = *state;
	struct sg_cache_lookup g;

	sg_cache_lookup_begin(&g, rig->store, &rig->facts.key, &rig->facts.world);
	assert_int_equal(g.n, 1);
	for (uint64_t wg = 0; wg + 1 < N_WGS; wg++)
		sg_cache_lookup_wg(&g, wg, rig->digests[wg]);
	assert_int_equal(g.n, 1);
	assert_false(sg_cache_lookup_wg(&g, N_WGS - 1, rig->digests[N_WGS - 1] ^ 1));
	assert_int_equal(g.n, 0);
	assert_false(
		sg_cache_lookup_wg(&g, N_WGS - 1, rig->digests[N_WGS - 1])); /* once is enough */
	sg_cache_lookup_end(&g, rig->store);
}

static void other_shapes_and_caches_are_not_known(void **state)
{
	struct rig *rig = *state;
	struct sg_dispatch_key key = key_of(rig, false); /* warm */
	struct sg_cache_lookup g;

	assert_int_equal(guess(rig, &key, &g), 0);
	key = rig->facts.key;
	key.lds_bytes = 1024;
	assert_int_equal(guess(rig, &key, &g), 0);
}

static void other_code_at_the_same_address_is_not_known(void **state)
{
	struct rig *rig = *state;
	struct sg_cache_lookup g;

	rig->odd_pc = SYNTH_CODE + 4 * 4; /* the first s_waitcnt, behind two loads of two dwords */
	assert_int_equal(guess(rig, &rig->facts.key, &g), 0);
}

static void other_memory_at_the_same_address_is_not_known(void **state)
{
	struct rig *rig = *state;
	struct sg_cache_lookup g;

	rig->block_now.kind.mtype = SG_MTYPE_NC;
	assert_int_equal(guess(rig, &rig->facts.key, &g), 0);
	rig->block_now = rig->block;
	rig->block_now.size /= 2;
	assert_int_equal(guess(rig, &rig->facts.key, &g), 0);
	rig->block_now = rig->block;
	rig->block_now.pin_place += 4096;
	assert_int_equal(guess(rig, &rig->facts.key, &g), 0);
}

static void old_ones_are_forgotten(void **state)
{
	struct rig *rig = *state;
	struct sg_dispatch_key first = rig->facts.key;
	struct sg_cache_lookup g;

	for (unsigned k = 0; k < 1000; k++) {
		rig->facts.key.kernel++;
		sg_result_cache_add(rig->store, &rig->facts);
	}
	assert_int_equal(guess(rig, &first, &g), 0);
	assert_int_equal(guess(rig, &rig->facts.key, &g), 1);
	sg_cache_lookup_end(&g, rig->store);
}

/* Whatever byte of whatever length changes, so does the digest. */
static void digests_see_every_byte(void **state)
{
	uint8_t bytes[100] = { 0 };

	for (size_t size = 1; size <= sizeof(bytes); size++) {
		uint64_t before = sg_digest(0, bytes, size);

		assert_int_not_equal(before, sg_digest(0, bytes, size - 1));
		assert_int_not_equal(before, sg_digest(1, bytes, size));
		for (size_t k = 0; k < size; k++) {
			bytes[k] ^= 0x80;
			assert_int_not_equal(before, sg_digest(0, bytes, size));
			bytes[k] ^= 0x80;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_same_again_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(other_addresses_are_not_known, setup, teardown),
		cmocka_unit_test_setup_teardown(one_other_workgroup_is_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(other_shapes_and_caches_are_not_known, setup,
						teardown),
		cmocka_unit_test_setup_teardown(other_code_at_the_same_address_is_not_known, setup,
						teardown),
		cmocka_unit_test_setup_teardown(other_memory_at_the_same_address_is_not_known,
						setup, teardown),
		cmocka_unit_test_setup_teardown(old_ones_are_forgotten, setup, teardown),
		cmocka_unit_test(digests_see_every_byte),
	};

	return RUN(tests);
}
