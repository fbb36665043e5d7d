/* What a wave finds in its registers when it starts on gfx942, and the larger LDS of gfx950. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/launch.h"
#include "softgpu/mem/guard.h"

#define KERNARG_PTR (1 << 3) /* kernel code property */
#define USER_SGPRS(n) ((n) << 1)
#define PRIVATE_SEGMENT 1
#define WORKGROUP_ID_X (1 << 7)

static const struct sg_mem_map everything = { .start = 0, .end = 1ull << 47 };
static const struct sg_exec_hooks no_hooks;

static void run(struct sg_launch *launch, enum sg_wg_state expected)
{
	static const uint32_t id[3] = { 0 };
	struct sg_wg *wg;

	sg_guard_install();
	launch->mem = &everything;
	launch->hooks = &no_hooks;
	launch->grid_size[0] = launch->wg_size[0] = 64;
	for (unsigned d = 1; d < 3; d++)
		launch->grid_size[d] = launch->wg_size[d] = 1;
	launch->code_cache = sg_code_cache_create(&everything, launch->target);
	assert_int_equal(sg_launch_init(launch), SG_LAUNCH_OK);
	wg = sg_wg_create(launch, 3); /* not the first slot: its scratch is behind others' */
	assert_non_null(wg);
	sg_wg_start(wg, launch, id);
	assert_int_equal(sg_wg_run(wg, 100000, 0), expected);
	sg_wg_destroy(wg);
	sg_launch_fini(launch);
	sg_code_cache_destroy(launch->code_cache);
}

/* clang-format off */
static const uint32_t show_registers[] = {
	0x7e040280,                         /* v_mov_b32 v2, 0 */
	0x7e020202, 0xdc708000, 0x00000102, /* v_mov_b32 v1, s2; global_store_dword v2, v1, s[0:1] */
	0x7e020203, 0xdc708004, 0x00000102, /* ... s3, offset:4 */
	0x7e020204, 0xdc708008, 0x00000102,
	0x7e020205, 0xdc70800c, 0x00000102,
	0x7e020266, 0xdc708010, 0x00000102, /* ... flat_scratch_lo, offset:16 */
	0x7e020267, 0xdc708014, 0x00000102,
	0xbf810000,                         /* s_endpgm */
};
/* clang-format on */

static void show(enum sg_isa_target target, uint32_t n_preloaded, uint32_t *memory)
{
	struct sg_launch launch = {
		.target = target,
		.entry = (uintptr_t)show_registers,
		.rsrc2 = USER_SGPRS(2 + n_preloaded) | PRIVATE_SEGMENT | WORKGROUP_ID_X,
		.properties = KERNARG_PTR,
		.kernarg = (uintptr_t)memory,
		.preloaded = { 0x11111111, 0x22222222 },
		.n_preloaded = n_preloaded,
		.scratch_base = 0x123456780000,
		.scratch_wave_bytes = 0x1000,
		.n_scratch_waves = 16,
	};

	run(&launch, SG_WG_DONE);
}

static void arguments_and_flat_scratch_are_set_up(void **state)
{
	uint32_t memory[6] = { 0 };

	(void)state;
	show(SG_ISA_GFX942, 2, memory);
	assert_int_equal(memory[0], 0x11111111);
	assert_int_equal(memory[1], 0x22222222);
	assert_int_equal(memory[2], 0);          /* the workgroup's number */
	assert_int_equal(memory[3], 0);          /* no scratch offset behind it */
	assert_int_equal(memory[4], 0x56783000); /* the fourth slot */
	assert_int_equal(memory[5], 0x1234);
}

static void gfx90a_gets_a_scratch_offset_instead(void **state)
{
	uint32_t memory[6] = { 0 };

	(void)state;
	show(SG_ISA_GFX90A, 0, memory);
	assert_int_equal(memory[0], 0);      /* the workgroup's number */
	assert_int_equal(memory[1], 0x3000); /* the wave's offset */
	assert_int_equal(memory[4], 0);
	assert_int_equal(memory[5], 0);
}

static void lds_of_gfx950_has_160_kib(void **state)
{
	/* clang-format off */
	static const uint32_t words[] = {
		0x7e0202ff, 0x00027ffc, /* v_mov_b32 v1, 163836 */
		0x7e0602ff, 0x12345678, /* v_mov_b32 v3, 0x12345678 */
		0xd81a0000, 0x00000301, /* ds_write_b32 v1, v3 */
		0xd86c0000, 0x04000001, /* ds_read_b32 v4, v1 */
		0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
		0x7e040280,             /* v_mov_b32 v2, 0 */
		0xdc708000, 0x00000402, /* global_store_dword v2, v4, s[0:1] */
		0xbf810000,             /* s_endpgm */
	};
	/* clang-format on */
	uint32_t memory = 0;
	struct sg_launch launch = {
		.target = SG_ISA_GFX950,
		.entry = (uintptr_t)words,
		.rsrc2 = USER_SGPRS(2),
		.properties = KERNARG_PTR,
		.kernarg = (uintptr_t)&memory,
		.lds_bytes = 160 * 1024,
	};

	(void)state;
	run(&launch, SG_WG_DONE);
	assert_int_equal(memory, 0x12345678);
	assert_int_equal(sg_launch_wgs_per_cu(&launch), 1);
	launch.target = SG_ISA_GFX942;
	assert_int_equal(sg_launch_init(&launch), SG_LAUNCH_BAD_GROUP_MEMORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_flat_scratch_are_set_up),
		cmocka_unit_test(gfx90a_gets_a_scratch_offset_instead),
		cmocka_unit_test(lds_of_gfx950_has_160_kib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
