/*
 * What a wave sees of memory that others write at the same time, and others of what it writes.
 *
 * Libraries send messages between GPUs by stores alone, the flag in the last bytes of the data. The
 * rule is: who sees the last bytes of what one instruction stored sees all of it.
 */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/util.h"
#include "softgpu/exec/step.h"
#include "softgpu/mem/guard.h"

enum { LANES = 64, N_TURNS = 40000 };

/* A row of 16 bytes per lane. Each turn writes its number to all of it, from the first byte on. */
struct shared {
	_Alignas(64) _Atomic uint64_t half[LANES][2];
	_Atomic bool end;
	uint64_t n_wrong;
};

static uint64_t number(uint32_t turn)
{
	return turn | (uint64_t)turn << 32;
}

static void put_row(struct sg_step *step, struct shared *shared)
{
	sg_step_init(step);
	step->sgpr[0] = (uint32_t)(uintptr_t)shared->half;
	step->sgpr[1] = (uint32_t)((uintptr_t)shared->half >> 32);
	step->sgpr[3] = N_TURNS;
	for (uint32_t l = 0; l < LANES; l++)
		step->vgpr[0][l] = 16 * l;
}

/* Reads from the last byte to the first: each number is at least as new as the one before. */
static void *read_rows(void *arg)
{
	struct shared *shared = arg;

	while (!atomic_load(&shared->end)) {
		uint64_t newest = 0;

		for (int h = 2 * LANES - 1; h >= 0; h--) {
			uint64_t v = atomic_load(&shared->half[h / 2][h % 2]);

			shared->n_wrong += v < newest || v != number((uint32_t)v);
			newest = v;
		}
	}
	return NULL;
}

static void *write_rows(void *arg)
{
	struct shared *shared = arg;

	for (uint32_t turn = 1; !atomic_load(&shared->end); turn++)
		for (int h = 0; h < 2 * LANES; h++)
			atomic_store_explicit(&shared->half[h / 2][h % 2], number(turn),
					      memory_order_release);
	return NULL;
}

/* clang-format off */
static const uint32_t store_rows[] = {
	0x7e080202,             /* loop: v_mov_b32 v4, s2 */
	0x7e0a0202,             /* v_mov_b32 v5, s2 */
	0x7e0c0202,             /* v_mov_b32 v6, s2 */
	0x7e0e0202,             /* v_mov_b32 v7, s2 */
	0xdc7c8000, 0x00000400, /* global_store_dwordx4 v0, v[4:7], s[0:1] */
	0x80028102,             /* s_add_u32 s2, s2, 1 */
	0xbf070302,             /* s_cmp_lg_u32 s2, s3 */
	0xbf85fff7,             /* s_cbranch_scc1 loop */
};
static const uint32_t load_rows[] = {
	0xdc5c8000, 0x04000000, /* loop: global_load_dwordx4 v[4:7], v0, s[0:1] */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0x7d9a0b04,             /* v_cmp_ne_u32 vcc, v4, v5 */
	0x87846a04,             /* s_or_b64 s[4:5], s[4:5], vcc */
	0x7d920d05,             /* v_cmp_lt_u32 vcc, v5, v6 */
	0x87846a04,             /* s_or_b64 s[4:5], s[4:5], vcc */
	0x7d9a0f06,             /* v_cmp_ne_u32 vcc, v6, v7 */
	0x87846a04,             /* s_or_b64 s[4:5], s[4:5], vcc */
	0x7e0c0507,             /* v_readfirstlane_b32 s6, v7 */
	0xd2890007, 0x00017f04, /* v_readlane_b32 s7, v4, 63 */
	0xbf0a0706,             /* s_cmp_lt_u32 s6, s7 */
	0x82088008,             /* s_addc_u32 s8, s8, 0 */
	0x80028102,             /* s_add_u32 s2, s2, 1 */
	0xbf070302,             /* s_cmp_lg_u32 s2, s3 */
	0xbf85ffef,             /* s_cbranch_scc1 loop */
};
/* clang-format on */

static void run_beside(struct sg_step *step, const uint32_t *words, size_t n_words,
		       void *(*other)(void *), struct shared *shared)
{
	pthread_t thread;

	atomic_store(&shared->end, false);
	assert_int_equal(pthread_create(&thread, NULL, other, shared), 0);
	assert_int_equal(sg_step_run(SG_ISA_GFX90A, words, n_words, step), SG_FAULT_NONE);
	atomic_store(&shared->end, true);
	pthread_join(thread, NULL);
}

static void stored_messages_are_seen_whole(void **state)
{
	static struct sg_step step;
	static struct shared shared;

	put_row(&step, &shared);
	run_beside(&step, store_rows, WS_ARRAY_LEN(store_rows), read_rows, &shared);
	assert_int_equal(step.sgpr[2], N_TURNS); /* it ran to the end */
	assert_int_equal(shared.n_wrong, 0);
}

static void loaded_messages_are_whole(void **state)
{
	static struct sg_step step;
	static struct shared shared;

	put_row(&step, &shared);
	run_beside(&step, load_rows, WS_ARRAY_LEN(load_rows), write_rows, &shared);
	assert_int_equal(step.sgpr[2], N_TURNS);
	assert_int_equal(step.sgpr[4] | step.sgpr[5], 0); /* within a lane */
	assert_int_equal(step.sgpr[8], 0);                /* from the first lane to the last */
}

/*
 * Two waves read a word of LDS behind a barrier; then the first replaces it by what it loads from
 * memory. On the device the load takes longer than the other wave's read.
 */
static void waves_go_on_from_a_barrier_together(void **state)
{
	/* clang-format off */
	static const _Alignas(256) uint32_t words[64] = {
		0x7e040500,             /* v_readfirstlane_b32 s2, v0 */
		0x7e040280,             /* v_mov_b32 v2, 0 */
		0x7e060280,             /* v_mov_b32 v3, 0 */
		0xd81a0000, 0x00000302, /* ds_write_b32 v2, v3 */
		0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
		0xbf8a0000,             /* s_barrier */
		0xd86c0000, 0x01000002, /* ds_read_b32 v1, v2 */
		0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
		0x7e0a0202,             /* v_mov_b32 v5, s2 */
		0xdc708040, 0x00000105, /* global_store_dword v5, v1, s[0:1] offset:64 */
		0xbf078002,             /* s_cmp_lg_u32 s2, 0 */
		0xbf850005,             /* s_cbranch_scc1 done */
		0xdc508000, 0x03000002, /* global_load_dword v3, v2, s[0:1] */
		0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
		0xd81a0000, 0x00000302, /* ds_write_b32 v2, v3 */
		0xbf810000,             /* done: s_endpgm */
	};
	/* clang-format on */
	static const struct sg_mem_map everything = { .start = 0, .end = 1ull << 47 };
	static const struct sg_exec_hooks no_hooks;
	static const uint32_t id[3];
	uint32_t memory[64] = { [0] = 1, [16] = 77, [32] = 77 };
	struct sg_launch launch = {
		.target = SG_ISA_GFX90A,
		.mem = &everything,
		.hooks = &no_hooks,
		.entry = (uintptr_t)words,
		.rsrc2 = 2 << 1,      /* two user SGPRs */
		.properties = 1 << 3, /* the kernarg segment's address */
		.kernarg = (uintptr_t)memory,
		.grid_size = { 2 * LANES, 1, 1 },
		.wg_size = { 2 * LANES, 1, 1 },
		.lds_bytes = 512,
	};
	struct sg_wg *wg;

	sg_guard_install();
	launch.code_cache = sg_code_cache_create(&everything, SG_ISA_GFX90A);
	assert_int_equal(sg_launch_init(&launch), SG_LAUNCH_OK);
	wg = sg_wg_create(&launch, 0);
	sg_wg_start(wg, &launch, id);
	assert_int_equal(sg_wg_run(wg, 100000, 0), SG_WG_DONE);
	assert_int_equal(memory[16], 0); /* of the first wave, at its first lane's number */
	assert_int_equal(memory[32], 0);
	sg_wg_destroy(wg);
	sg_launch_fini(&launch);
	sg_code_cache_destroy(launch.code_cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_messages_are_seen_whole),
		cmocka_unit_test(loaded_messages_are_whole),
		cmocka_unit_test(waves_go_on_from_a_barrier_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
