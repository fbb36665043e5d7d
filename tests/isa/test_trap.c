/* A trap handler on a sampled wave: which registers it finds, what it reaches, and when it is over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/exec/trap.h"
#include "softgpu/mem/guard.h"

#define ROOM (1u << 20)
#define TMA 0x800
#define BUFFER 0x1000

/*
 * LLVM's words of a handler that stores to the address at TMA: ttmp[0:1], s_memrealtime, ttmp[8:11], ttmp6, HW_ID,
 * TRAPSTS, the doorbell, EXEC; on gfx942 also XCC_ID and the snapshot. Then it sends interrupt 77 and returns.
 */
#define COMMON                                                                                     \
	0xc0061bbd, 0x00000000, 0xc0941c00, 0x00000000, 0xbf8cc07f, 0xc0461b37, 0x00000000,        \
		0xc0461c37, 0x00000008, 0xc0461d37, 0x00000010, 0xc0421db7, 0x00000018,            \
		0xc0421df7, 0x0000001c, 0xc0421cb7, 0x00000020, 0xb8f3f804, 0xc0421cf7,            \
		0x00000024, 0xb8f3f803, 0xc0421cf7, 0x00000028, 0xbef0017e, 0xc0461c37,            \
		0x00000030, 0xbefe00ff, 0x80000000, 0xbf90000a, 0xbf800007, 0xbf0c9f7e,            \
		0xbf84fffd, 0x8673ff7e, 0x000003ff, 0xc0421cf7, 0x0000002c
#define LATER                                                                                      \
	0xb8f3f814, 0xc0421cf7, 0x00000038, 0xb8f0f815, 0xb8f1f816, 0xc0461c37, 0x00000040,        \
		0xb8f0f817, 0xb8f1f818, 0xc0461c37, 0x00000048, 0xba000683, 0x00000000,            \
		0xb8f3f803, 0xc0421cf7, 0x00000050
#define RETURN 0xbefc00ff, 0x0000004d, 0xbf800000, 0xbf900001, 0xbe801f6c

static const uint32_t gfx90a[] = { COMMON, RETURN };
static const uint32_t gfx942[] = { COMMON, LATER, RETURN };
static const uint32_t endless[] = { 0xbf82ffff }; /* s_branch to itself */
static const uint32_t astray[] = { 0xc0421cb7,
				   0x00000020 }; /* stores through ttmp[2:3], which is 0 */

struct bench {
	uint8_t *room;
	struct sg_mem_map mem;
	struct sg_exec_hooks hooks;
	uint32_t event;
	struct sg_fault fault;
};

static bool nothing_more(void *ctx, uint64_t addr, uint64_t size)
{
	return false;
}

static void interrupt(void *ctx, uint32_t event_id)
{
	((struct bench *)ctx)->event = event_id;
}

static const struct sg_trap_wave sampled = {
	.pc = 0x7f1234567890,
	.exec = 0xfedcba9876543210,
	.clock = 0x1122334455667788,
	.workgroup = { 11, 22, 33 },
	.wave = 5,
	.packet = 0x1abcdef,
	.doorbell = 0x155,
	.hw_id = 0x2345,
	.xcc_id = 6,
	.snapshot = 0xabcdef,
	.snapshot1 = 31,
};

static bool run(struct bench *b, enum sg_isa_target target, const uint32_t *words, size_t n_bytes,
		const struct sg_trap_wave *wave)
{
	uint64_t start = (uintptr_t)b->room;
	struct sg_code_cache *cache;
	struct sg_trap_unit *unit;
	bool interrupted, returned;

	memset(b->room, 0, ROOM);
	memcpy(b->room, words, n_bytes);
	*(uint64_t *)(b->room + TMA) = start + BUFFER;
	b->event = 0;
	cache = sg_code_cache_create(&b->mem, target);
	unit = sg_trap_unit_create(target, &b->mem, &b->hooks, cache);
	returned = sg_trap_unit_run(unit, start, start + TMA, wave, &interrupted, &b->fault);
	assert_int_equal(interrupted, b->event != 0);
	sg_trap_unit_destroy(unit);
	sg_code_cache_destroy(cache);
	return returned;
}

static uint32_t word(const struct bench *b, uint32_t offset)
{
	return *(const uint32_t *)(b->room + BUFFER + offset);
}

static uint64_t words(const struct bench *b, uint32_t offset)
{
	return word(b, offset) | (uint64_t)word(b, offset + 4) << 32;
}

static int set_up(void **state)
{
	static struct bench b;

	b.room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	b.mem = (struct sg_mem_map){ .start = (uintptr_t)b.room,
				     .end = (uintptr_t)b.room + ROOM,
				     .reachable = nothing_more };
	b.hooks = (struct sg_exec_hooks){ interrupt, &b };
	sg_guard_install();
	*state = &b;
	return b.room == MAP_FAILED;
}

static int tear_down(void **state)
{
	return munmap(((struct bench *)*state)->room, ROOM);
}

/* What both generations have in the same registers. */
static void check_common(const struct bench *b)
{
	assert_int_equal(words(b, 8), sampled.clock);
	assert_int_equal(word(b, 0x10), 11);
	assert_int_equal(word(b, 0x14), 22);
	assert_int_equal(word(b, 0x18), 33);
	assert_int_equal(word(b, 0x24), sampled.hw_id);
	assert_int_equal(word(b, 0x2c), sampled.doorbell);
	assert_int_equal(words(b, 0x30), sampled.exec);
	assert_int_equal(b->event, 77);
}

static void host_trap_of_gfx90a(void **state)
{
	struct bench *b = *state;

	assert_true(run(b, SG_ISA_GFX90A, gfx90a, sizeof(gfx90a), &sampled));
	check_common(b);
	/* a host trap, with a number: the handler takes 0 for none */
	assert_int_equal(words(b, 0) & 0xffffffffffff, sampled.pc);
	assert_int_equal(words(b, 0) >> 56 & 1, 1);
	assert_int_not_equal(words(b, 0) >> 48 & 0xff, 0);
	assert_int_equal(word(b, 0x1c), sampled.wave);
	assert_int_equal(word(b, 0x20), sampled.packet);
}

static void stochastic_trap_of_gfx942(void **state)
{
	struct bench *b = *state;
	struct sg_trap_wave wave = sampled;

	wave.stochastic = true;
	assert_true(run(b, SG_ISA_GFX942, gfx942, sizeof(gfx942), &wave));
	check_common(b);
	assert_int_equal(words(b, 0), sampled.pc);
	assert_int_equal(word(b, 0x1c), sampled.packet << 6 | sampled.wave);
	assert_int_equal(word(b, 0x28), 1u << 26); /* TRAPSTS: a snapshot was taken */
	assert_int_equal(word(b, 0x38), sampled.xcc_id);
	assert_int_equal(word(b, 0x40), sampled.snapshot);
	assert_int_equal(word(b, 0x44), sampled.snapshot1);
	assert_int_equal(words(b, 0x48), sampled.pc);
	assert_int_equal(word(b, 0x50), 0); /* and a handler may say that it has seen it */
}

static void handler_that_fails_is_a_fault(void **state)
{
	struct bench *b = *state;

	assert_false(run(b, SG_ISA_GFX942, astray, sizeof(astray), &sampled));
	assert_int_equal(b->fault.kind, SG_FAULT_MEMORY);
	assert_int_equal(b->fault.address, 0x20);
	assert_int_equal(b->fault.pc, (uintptr_t)b->room);
	/* one that does not end is stopped */
	assert_false(run(b, SG_ISA_GFX942, endless, sizeof(endless), &sampled));
	assert_int_equal(b->fault.kind, SG_FAULT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_trap_of_gfx90a),
		cmocka_unit_test(stochastic_trap_of_gfx942),
		cmocka_unit_test(handler_that_fails_is_a_fault),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
