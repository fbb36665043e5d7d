/*
 * HW_REG_XCC_ID: the die that a workgroup is on. Kernels that keep data of one die together compute with it.
 */
#include "tests/unit/unit.h"

#include "softgpu/exec/launch.h"
#include "softgpu/mem/guard.h"

#define LANES 64

/* clang-format off */
static const _Alignas(256) uint32_t words[64] = {
	0xb882f814,             /* s_getreg_b32 s2, hwreg(HW_REG_XCC_ID) */
	0x7e020202,             /* v_mov_b32 v1, s2 */
	0x7e040280,             /* v_mov_b32 v2, 0 */
	0xdc708000, 0x00000102, /* global_store_dword v2, v1, s[0:1] */
	0xbf810000,             /* s_endpgm */
};
/* clang-format on */

/* Workgroups of a grid of 5 x 3, in order: what each reads. */
static void read_all(uint32_t n_xccs, uint32_t first_xcc, uint32_t out[15])
{
	static const struct sg_mem_map everything = { .start = 0, .end = 1ull << 47 };
	static const struct sg_exec_hooks no_hooks;
	uint32_t memory[64];
	struct sg_launch launch = {
		.target = SG_ISA_GFX942,
		.mem = &everything,
		.hooks = &no_hooks,
		.n_xccs = n_xccs,
		.first_xcc = first_xcc,
		.entry = (uintptr_t)words,
		.rsrc2 = 2 << 1,      /* two user SGPRs */
		.properties = 1 << 3, /* the kernarg segment's address */
		.kernarg = (uintptr_t)memory,
		.grid_size = { 5 * LANES, 3, 1 },
		.wg_size = { LANES, 1, 1 },
	};
	struct sg_wg *wg;

	sg_guard_install();
	launch.code_cache = sg_code_cache_create(&everything, SG_ISA_GFX942);
	assert_int_equal(sg_launch_init(&launch), SG_LAUNCH_OK);
	wg = sg_wg_create(&launch, 0);
	assert_non_null(wg);
	for (uint32_t k = 0; k < 15; k++) {
		const uint32_t id[3] = { k % 5, k / 5, 0 };

		memory[0] = 77;
		sg_wg_start(wg, &launch, id);
		assert_int_equal(sg_wg_run(wg, 100000, 0), SG_WG_DONE);
		out[k] = memory[0];
	}
	sg_wg_destroy(wg);
	sg_launch_fini(&launch);
	sg_code_cache_destroy(launch.code_cache);
}

static void dies_take_turns(void **state)
{
	uint32_t xcc[15];

	read_all(8, 0, xcc);
	for (uint32_t k = 0; k < 15; k++)
		assert_int_equal(xcc[k], k % 8);
	read_all(6, 0, xcc); /* MI300A */
	for (uint32_t k = 0; k < 15; k++)
		assert_int_equal(xcc[k], k % 6);
}

static void a_partition_has_its_dies_of_the_board(void **state)
{
	uint32_t xcc[15];

	read_all(2, 4, xcc); /* the third of four partitions */
	for (uint32_t k = 0; k < 15; k++)
		assert_int_equal(xcc[k], 4 + k % 2);
	read_all(0, 0, xcc); /* a GPU without dies */
	for (uint32_t k = 0; k < 15; k++)
		assert_int_equal(xcc[k], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dies_take_turns),
		cmocka_unit_test(a_partition_has_its_dies_of_the_board),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
