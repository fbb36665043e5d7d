#include "base/arena.h"
#include "base/map.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define N 5000

static void *number(uintptr_t n)
{
	return (void *)n;
}

static void string_keys_find_their_values_in_order(void **state)
{
	struct ws_arena arena;
	struct ws_map map;
	uintptr_t i = 0;

	ws_arena_init(&arena, 16 << 20);
	ws_map_init(&map, WS_MAP_STR, N);
	for (i = 1; i <= N; i++) {
		const char *key = ws_arena_printf(&arena, "key%lu", i);

		assert_int_equal(ws_map_put(&map, ws_str_from(key), number(i), NULL), WS_OK);
	}
	assert_int_equal(map.n, N);
	assert_ptr_equal(ws_map_get(&map, "key1"), number(1));
	assert_ptr_equal(ws_map_get(&map, "key5000"), number(5000));
	assert_null(ws_map_get(&map, "key5001"));
	assert_null(ws_map_get(&map, ""));
	i = 0;
	ws_map_each(entry, &map)
		assert_ptr_equal(entry->value, number(++i));
	assert_int_equal(i, N);
	ws_map_fini(&map);
	ws_arena_fini(&arena);
}

static void putting_again_replaces(void **state)
{
	struct ws_map map;

	ws_map_init(&map, WS_MAP_STR, 10);
	assert_int_equal(ws_map_put(&map, WS_STR("a"), number(1), NULL), WS_OK);
	assert_int_equal(ws_map_put(&map, WS_STR("a"), number(2), NULL), WS_OK);
	assert_int_equal(map.n, 1);
	assert_ptr_equal(ws_map_get(&map, "a"), number(2));
	ws_map_clear(&map);
	assert_null(ws_map_get(&map, "a"));
	ws_map_fini(&map);
}

/* Against the plainest model there is, with a fixed sequence of puts and removes. */
static void number_keys_behave_like_an_array(void **state)
{
	static uintptr_t model[512];
	uint64_t seed = 12345;
	struct ws_map map;
	size_t n_live = 0;

	memset(model, 0, sizeof(model));
	ws_map_init(&map, WS_MAP_U64, 512);
	for (int step = 0; step < 200000; step++) {
		uint64_t key;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		key = seed >> 33 & 511;
		if (seed >> 60 & 1) {
			assert_int_equal(ws_map_put_u64(&map, key << 40, number(step + 1), NULL),
					 WS_OK);
			n_live += !model[key];
			model[key] = (uintptr_t)step + 1;
		} else {
			assert_int_equal(ws_map_remove_u64(&map, key << 40), model[key] != 0);
			n_live -= model[key] != 0;
			model[key] = 0;
		}
		assert_int_equal(map.n, n_live);
	}
	for (uint64_t key = 0; key < 512; key++)
		assert_ptr_equal(ws_map_get_u64(&map, key << 40), number(model[key]));
	/* Holes are closed rather than the table doubled without end. */
	assert_true(map.n_slots <= 4096);
	ws_map_fini(&map);
}

static void removing_while_walking_is_fine(void **state)
{
	struct ws_map map;
	int seen = 0;

	ws_map_init(&map, WS_MAP_U64, 100);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(ws_map_put_u64(&map, i, number(i + 1), NULL), WS_OK);
	ws_map_each(entry, &map) {
		seen++;
		if (entry->num % 2)
			assert_true(ws_map_remove_u64(&map, entry->num));
	}
	assert_int_equal(seen, 100);
	assert_int_equal(map.n, 50);
	assert_false(ws_map_remove_u64(&map, 1));
	ws_map_fini(&map);
}

static void the_ceiling_holds(void **state)
{
	struct ws_err err;
	struct ws_map map;

	ws_map_init(&map, WS_MAP_U64, 2);
	assert_int_equal(ws_map_put_u64(&map, 1, NULL, &err), WS_OK);
	assert_int_equal(ws_map_put_u64(&map, 2, NULL, &err), WS_OK);
	assert_fails_with(ws_map_put_u64(&map, 3, NULL, &err), WS_E_LIMIT, &err, "2 entries");
	assert_int_equal(ws_map_put_u64(&map, 2, number(7), &err), WS_OK);
	ws_map_fini(&map);
	ws_map_fini(NULL);
}

static void a_failed_put_leaves_the_map_as_it_was(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct ws_map map;
		size_t n_put = 0;

		ws_map_init(&map, WS_MAP_U64, 100);
		for (uint64_t i = 0; i < 40; i++)
			n_put += ws_map_put_u64(&map, i, number(i + 1), NULL) == WS_OK;
		assert_int_equal(map.n, n_put);
		assert_int_equal(n_put < 40, allocation_failed());
		ws_map_each(entry, &map)
			assert_ptr_equal(entry->value, number(entry->num + 1));
		ws_map_fini(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(string_keys_find_their_values_in_order),
		cmocka_unit_test(putting_again_replaces),
		cmocka_unit_test(number_keys_behave_like_an_array),
		cmocka_unit_test(removing_while_walking_is_fine),
		cmocka_unit_test(the_ceiling_holds),
		cmocka_unit_test(a_failed_put_leaves_the_map_as_it_was),
	};

	return RUN(tests);
}
