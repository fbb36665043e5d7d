/* Traces are read as they were written. */
#include "tests/unit/unit.h"

#include <string.h>

#include "softgpu/timing/wave_trace.h"

static void straight_code_needs_no_records(void **state)
{
	struct ws_wave_trace t;
	struct ws_trace_reader r;

	ws_trace_init(&t);
	ws_trace_start(&t, 0x1000, ~0ull);
	for (int k = 0; k < 1000; k++)
		ws_trace_step(&t, 0, ~0ull);
	ws_trace_end(&t);
	assert_true(t.control.size <= 3);
	ws_trace_read(&r, &t);
	assert_true(ws_trace_next(&r));
	assert_int_equal(r.run, 1000);
	assert_int_equal(r.op, WS_TRACE_END);
	assert_false(ws_trace_next(&r));
	ws_trace_free(&t);
}

static void a_loop_is_one_record_and_a_count(void **state)
{
	struct ws_wave_trace t;
	struct ws_trace_reader r;
	uint32_t turns = 0;

	ws_trace_init(&t);
	ws_trace_start(&t, 0, 1);
	for (int turn = 0; turn < 100000; turn++)
		for (int k = 0; k < 10; k++)
			ws_trace_step(&t, k == 9 ? -12 : 0, 1);
	ws_trace_step(&t, 0, 1);
	ws_trace_end(&t);
	assert_true(t.control.size < 16);
	ws_trace_read(&r, &t);
	while (ws_trace_next(&r) && r.op == WS_TRACE_JUMP) {
		assert_int_equal(r.run, 10);
		assert_int_equal(r.jump, -12);
		turns++;
	}
	assert_int_equal(turns, 100000);
	assert_int_equal(r.op, WS_TRACE_END);
	assert_int_equal(r.run, 1);
	ws_trace_free(&t);
}

static void changes_of_exec_are_where_they_happened(void **state)
{
	struct ws_wave_trace t;
	struct ws_trace_reader r;

	ws_trace_init(&t);
	ws_trace_start(&t, 0, ~0ull);
	ws_trace_step(&t, 0, ~0ull);
	ws_trace_step(&t, 5, 0xff); /* a jump and a change at once */
	ws_trace_step(&t, 0, 0xff);
	ws_trace_end(&t);
	ws_trace_read(&r, &t);
	assert_true(ws_trace_next(&r) && r.op == WS_TRACE_JUMP && r.run == 2 && r.jump == 5);
	assert_true(ws_trace_next(&r) && r.op == WS_TRACE_EXEC && r.run == 0 && r.exec == 0xff);
	assert_true(ws_trace_next(&r) && r.op == WS_TRACE_END && r.run == 1);
	ws_trace_free(&t);
}

static void check_access(uint64_t exec, uint64_t mask, const uint64_t *addr, size_t most_bytes)
{
	struct ws_trace_access a;
	struct ws_trace_reader r;
	struct ws_wave_trace t;

	ws_trace_init(&t);
	ws_trace_start(&t, 0, exec);
	ws_trace_lanes(&t, WS_SPACE_GLOBAL, mask, addr);
	assert_true(t.memory.size <= most_bytes);
	ws_trace_read(&r, &t);
	assert_true(ws_trace_memory(&r, exec, &a));
	ws_trace_expand(&a);
	assert_true(a.mask == mask);
	for (unsigned l = 0; l < 64; l++)
		if (mask >> l & 1)
			assert_true(a.addr[l] == addr[l]);
	assert_false(ws_trace_memory(&r, exec, &a));
	ws_trace_free(&t);
}

static void addresses_survive_in_every_form(void **state)
{
	uint64_t addr[64];

	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull + 8 * l;
	check_access(~0ull, ~0ull, addr, 13);
	check_access(~0ull, 0x8001000000000100ull, addr, 21);
	check_access(0, 0, addr, 21);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull - 16 * l; /* downwards is affine too */
	check_access(~0ull, ~0ull, addr, 13);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = 0x7f0000000000ull + l * l * 64;
	check_access(~0ull, ~0ull, addr, 9 + 256);
	check_access(0xff, 0x55, addr, 17 + 16);
	for (unsigned l = 0; l < 64; l++)
		addr[l] = (uint64_t)l * l << 40;
	check_access(~0ull, ~0ull, addr, 1 + 512);
}

static void damaged_traces_are_refused(void **state)
{
	uint64_t addr[64] = { 1, 5, 2 };
	struct ws_trace_access a;
	struct ws_trace_reader r;
	struct ws_wave_trace t;

	ws_trace_init(&t);
	ws_trace_start(&t, 0, 7);
	ws_trace_lanes(&t, WS_SPACE_GLOBAL, 7, addr);
	for (size_t size = 0; size < 9 + 12; size++) {
		t.memory.size = size;
		ws_trace_read(&r, &t);
		assert_false(ws_trace_memory(&r, 7, &a));
		assert_false(ws_trace_next(&r));
	}
	ws_trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_code_needs_no_records),
		cmocka_unit_test(a_loop_is_one_record_and_a_count),
		cmocka_unit_test(changes_of_exec_are_where_they_happened),
		cmocka_unit_test(addresses_survive_in_every_form),
		cmocka_unit_test(damaged_traces_are_refused),
	};

	return RUN(tests);
}
