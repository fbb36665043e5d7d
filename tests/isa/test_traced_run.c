/* What a wave's trace says is what the wave did: jumps, EXEC, and the addresses of all kinds of memory. */
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/code.h"
#include "softgpu/exec/launch.h"
#include "softgpu/exec/levels.h"
#include "softgpu/exec/traced_run.h"
#include "softgpu/mem/guard.h"

#define BOUNDARY 0x700000000000ull /* of 4 GiB: the upper halves of addresses change here */
#define HALF_BYTES (1u << 20)
#define TURNS 3
#define STEP 0x1000

/* s[0:1]: the arguments, a mask and the address of 64 offsets. */
/* clang-format off */
static const uint32_t code[] = {
	0xc0060100, 0,          /* s_load_dwordx2 s[4:5], s[0:1], 0x0 */
	0xc0060080, 8,          /* s_load_dwordx2 s[2:3], s[0:1], 0x8 */
	0xbf8cc07f,             /* s_waitcnt lgkmcnt(0) */
	0x24000082,             /* v_lshlrev_b32 v0, 2, v0 */
	0xdc508000, 0x01020000, /* global_load_dword v1, v0, s[2:3] */
	0xbf8c0f70,             /* s_waitcnt vmcnt(0) */
	0xbefe0104,             /* s_mov_b64 exec, s[4:5] */
	0xb0080000 | TURNS,     /* s_movk_i32 s8, TURNS */
	0xdc508010, 0x02020001, /* loop: global_load_dword v2, v1, s[2:3] offset:16 */
	0x7e080202,             /* v_mov_b32 v4, s2 */
	0x7e0a0203,             /* v_mov_b32 v5, s3 */
	0x32080304,             /* v_add_co_u32 v4, vcc, v4, v1 */
	0x380a0a80,             /* v_addc_co_u32 v5, vcc, 0, v5, vcc */
	0xdc508000, 0x027f0004, /* global_load_dword v2, v[4:5], off */
	0xdc500000, 0x02000004, /* flat_load_dword v2, v[4:5] */
	0xd86c0040, 0x03000001, /* ds_read_b32 v3, v1 offset:64 */
	0x8002ff02, STEP,       /* s_add_u32 s2, s2, STEP */
	0x82038003,             /* s_addc_u32 s3, s3, 0 */
	0x80888108,             /* s_sub_u32 s8, s8, 1 */
	0xbf078008,             /* s_cmp_lg_u32 s8, 0 */
	0xbf850000 | (uint16_t)-18, /* s_cbranch_scc1 loop */
	0xbf810000,             /* s_endpgm */
};
/* clang-format on */
#define N_BEFORE 8 /* instructions: before the loop, and of it */
#define N_LOOP 13

static const uint64_t masks[] = {
	~0ull, 1ull << 5, 0xff00ff, 1ull << 63 | 1, 0xaaaaaaaaaaaaaaaaull, 0x7fffffffffffffffull, 0
};

static uint32_t noise(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Number k of the ways in which offsets differ between lanes. */
static uint32_t offset_of(unsigned k, unsigned l, uint32_t *state)
{
	switch (k) {
	case 0:
		return 256 + 4 * l;
	case 1:
		return 4096 - 8 * l;
	case 2:
		return 640;
	case 3:
		return 256 + 4 * l * l;
	case 4:
		return l / 16 * 1024 + l % 16 * 4;
	case 5:
		return l == 63 ? 12 : 4 * l; /* all but the last one */
	default:
		return noise(state) % 0xfff0;
	}
}
#define N_WAYS 7

struct args {
	uint64_t mask, base;
};

static void run(const struct args *args, struct sg_wave_trace *trace)
{
	static const struct sg_mem_map everything = { .start = 0, .end = 1ull << 47 };
	static const struct sg_exec_hooks no_hooks;
	static const uint32_t id[3];
	struct sg_launch launch = {
		.target = SG_ISA_GFX90A,
		.entry = (uintptr_t)code,
		.rsrc1 = 3 | 0xf0 << 12, /* 32 registers; denormals */
		.rsrc2 = 2 << 1,
		.properties = 1 << 3,
		.kernarg = (uintptr_t)args,
		.lds_bytes = 1024,
		.mem = &everything,
		.hooks = &no_hooks,
		.shared_aperture_hi = 1,
		.private_aperture_hi = 2,
		.grid_size = { 64, 1, 1 },
		.wg_size = { 64, 1, 1 },
	};
	struct sg_wg *wg;

	launch.code_cache = sg_code_cache_create(&everything, launch.target);
	assert_int_equal(sg_launch_init(&launch), SG_LAUNCH_OK);
	wg = sg_wg_create(&launch, 0);
	assert_non_null(wg);
	sg_wg_set_traces(wg, trace);
	sg_wg_start(wg, &launch, id);
	assert_int_equal(sg_wg_run(wg, UINT32_MAX, 0), SG_WG_DONE);
	assert_int_equal(sg_wg_n_waves(wg), 1);
	sg_wg_destroy(wg);
	sg_launch_fini(&launch);
	sg_code_cache_destroy(launch.code_cache);
}

static void check_lanes(struct sg_trace_reader *r, uint64_t exec, enum sg_trace_space space,
			uint64_t base, const uint32_t *offset)
{
	struct sg_trace_access a;

	assert_int_equal(sg_trace_space(&r->memory), space);
	assert_true(sg_trace_memory(&r->memory, exec, &a));
	assert_int_equal(a.space, space);
	assert_true(a.mask == exec);
	sg_trace_expand(&a);
	for (uint64_t m = exec; m; m &= m - 1) {
		unsigned l = (unsigned)__builtin_ctzll(m);

		assert_true(a.addr[l] == base + offset[l]);
	}
}

static void check_scalar(struct sg_trace_reader *r, const void *at)
{
	struct sg_trace_access a;

	assert_true(sg_trace_memory(&r->memory, ~0ull, &a));
	assert_int_equal(a.space, SG_SPACE_SCALAR);
	assert_true(a.base == (uintptr_t)at);
}

static void check_path(struct sg_trace_reader *r, uint64_t mask)
{
	uint32_t before = N_BEFORE;

	if (mask != ~0ull) {
		assert_true(sg_trace_next(r) && r->op == SG_TRACE_EXEC && r->exec == mask);
		assert_int_equal(r->run, N_BEFORE - 1);
		before = 1;
	}
	for (unsigned n = 1; n < TURNS; n++, before = 0) {
		assert_true(sg_trace_next(r) && r->op == SG_TRACE_JUMP && r->jump == -18);
		assert_int_equal(r->run, before + N_LOOP);
	}
	assert_true(sg_trace_next(r) && r->op == SG_TRACE_END);
	assert_int_equal(r->run, N_LOOP + 1);
	assert_false(sg_trace_next(r));
}

static void check(uint64_t mask, unsigned way, uint64_t base)
{
	struct args args = { mask, base };
	uint32_t offset[64], lane_times_4[64], state = way + 1;
	struct sg_wave_trace trace;
	struct sg_trace_reader r;

	for (unsigned l = 0; l < 64; l++) { /* lanes that are off point anywhere */
		offset[l] = offset_of(mask >> l & 1 ? way : N_WAYS, l, &state);
		lane_times_4[l] = 4 * l;
	}
	memcpy((void *)(uintptr_t)base, offset, sizeof(offset));
	sg_trace_init(&trace);
	run(&args, &trace);
	assert_false(trace.lost);
	sg_trace_read(&r, &trace);
	check_path(&r, mask);
	check_scalar(&r, &args);
	check_scalar(&r, &args.base);
	check_lanes(&r, ~0ull, SG_SPACE_GLOBAL, base, lane_times_4);
	for (unsigned n = 0; n < TURNS; n++) {
		check_lanes(&r, mask, SG_SPACE_GLOBAL, base + n * STEP + 16, offset);
		check_lanes(&r, mask, SG_SPACE_GLOBAL, base + n * STEP, offset);
		check_lanes(&r, mask, SG_SPACE_GLOBAL, base + n * STEP, offset);
		check_lanes(&r, mask, SG_SPACE_LDS, 64, offset);
	}
	assert_int_equal(r.memory.at, trace.memory.size);
	sg_trace_free(&trace);
}

static void traces_tell_what_waves_did(void **state)
{
	for (unsigned way = 0; way <= N_WAYS; way++)
		for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++) {
			check(masks[m], way, BOUNDARY - HALF_BYTES);
			check(masks[m], way, BOUNDARY - 512);
			check(masks[m], way, BOUNDARY - 2048); /* crossed in one of the turns */
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(traces_tell_what_waves_did) };
	void *at = (void *)(uintptr_t)(BOUNDARY - HALF_BYTES);

	sg_guard_install();
	if (mmap(at, 2 * HALF_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) {
		print_message("SKIP: the memory around a boundary of 4 GiB is in use\n");
		return 77;
	}
	return RUN(tests);
}
