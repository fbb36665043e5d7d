#include "base/arena.h"
#include "tests/unit/unit.h"

#include <string.h>

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
	unsigned char *pieces[1000];
	struct ws_arena arena;

	ws_arena_init(&arena, 64 << 20);
	for (size_t i = 0; i < WS_ARRAY_LEN(pieces); i++) {
		size_t n = i * 7 % 300;

		pieces[i] = ws_arena_alloc(&arena, n);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		for (size_t j = 0; j < n; j++)
			assert_int_equal(pieces[i][j], 0);
		memset(pieces[i], (int)i, n);
	}
	for (size_t i = 0; i < WS_ARRAY_LEN(pieces); i++)
		for (size_t j = 0; j < i * 7 % 300; j++)
			assert_int_equal(pieces[i][j], i & 0xff);
	ws_arena_fini(&arena);
	assert_int_equal(arena.held_bytes, 0);
}

static void the_ceiling_holds_and_the_arena_stays_usable(void **state)
{
	struct ws_arena arena;
	size_t given = 0;

	ws_arena_init(&arena, 100000);
	while (ws_arena_alloc(&arena, 1000))
		given++;
	assert_in_range(given, 90, 100);
	assert_true(arena.held_bytes <= 100000);
	assert_null(ws_arena_alloc(&arena, SIZE_MAX));
	assert_null(ws_arena_alloc(&arena, 200000));
	assert_null(ws_arena_array(&arena, SIZE_MAX / 2, 3));
	ws_arena_reset(&arena);
	assert_non_null(ws_arena_alloc(&arena, 1000));
	ws_arena_fini(&arena);
}

static void a_large_piece_does_not_waste_the_open_chunk(void **state)
{
	struct ws_arena arena;
	size_t held;

	ws_arena_init(&arena, 64 << 20);
	assert_non_null(ws_arena_alloc(&arena, 16));
	assert_non_null(ws_arena_alloc(&arena, 1 << 20));
	held = arena.held_bytes;
	assert_non_null(ws_arena_alloc(&arena, 16));
	assert_int_equal(arena.held_bytes, held);
	ws_arena_fini(&arena);
}

static void reset_keeps_memory_for_the_next_turn(void **state)
{
	struct ws_arena arena;
	size_t held = 0;

	ws_arena_init(&arena, 64 << 20);
	for (int turn = 0; turn < 10; turn++) {
		char *a = ws_arena_alloc(&arena, 200000);

		assert_non_null(a);
		assert_int_equal(a[0], 0);
		a[0] = 1;
		if (turn)
			assert_int_equal(arena.held_bytes, held);
		held = arena.held_bytes;
		ws_arena_reset(&arena);
	}
	ws_arena_fini(&arena);
	ws_arena_reset(&arena);
	ws_arena_fini(&arena);
	ws_arena_fini(NULL);
}

static void strings_are_copied_and_printed(void **state)
{
	struct ws_arena arena;

	ws_arena_init(&arena, 1 << 20);
	assert_string_equal(ws_arena_strdup(&arena, "wave"), "wave");
	assert_string_equal(ws_arena_strndup(&arena, "wavescope", 4), "wave");
	assert_string_equal(ws_arena_printf(&arena, "%s-%d", "gfx", 90), "gfx-90");
	ws_arena_fini(&arena);
}

static void failed_allocations_give_null_and_leak_nothing(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_arena arena;
		char *small, *large;

		ws_arena_init(&arena, 64 << 20);
		small = ws_arena_alloc(&arena, 10);
		large = ws_arena_alloc(&arena, 100000);
		assert_int_equal(allocation_failed(), !small || !large);
		if (n == 0)
			assert_null(small);
		ws_arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(the_ceiling_holds_and_the_arena_stays_usable),
		cmocka_unit_test(a_large_piece_does_not_waste_the_open_chunk),
		cmocka_unit_test(reset_keeps_memory_for_the_next_turn),
		cmocka_unit_test(strings_are_copied_and_printed),
		cmocka_unit_test(failed_allocations_give_null_and_leak_nothing),
	};

	return RUN(tests);
}
