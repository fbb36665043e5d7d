#include "base/vec.h"
#include "tests/unit/unit.h"

#include <string.h>

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void pushed_elements_are_there_in_order(void **state)
{
	WS_VEC(int) v;
	int i = 0;

	ws_vec_init(&v, 100000);
	for (int k = 0; k < 1000; k++)
		assert_int_equal(ws_vec_push(&v, k * 3, NULL), WS_OK);
	assert_int_equal(v.n, 1000);
	ws_vec_each(elem, &v)
		assert_int_equal(*elem, 3 * i++);
	assert_int_equal(i, 1000);
	ws_vec_clear(&v);
	ws_vec_each(elem, &v)
		fail();
	ws_vec_fini(&v);
	assert_null(v.at);
}

static void an_empty_vector_can_be_walked_and_sorted(void **state)
{
	WS_VEC(int) v;

	ws_vec_init(&v, 4);
	ws_vec_sort(&v, by_value);
	ws_vec_each(elem, &v)
		fail();
	ws_vec_fini(&v);
}

static void sort_orders_the_elements(void **state)
{
	WS_VEC(int) v;

	ws_vec_init(&v, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ws_vec_push(&v, (i * 3 + 2) % 4, NULL), WS_OK);
	ws_vec_sort(&v, by_value);
	for (int i = 0; i < 4; i++)
		assert_int_equal(v.at[i], i);
	ws_vec_fini(&v);
}

static void the_ceiling_is_exact(void **state)
{
	struct ws_err err;
	WS_VEC(char) v;

	ws_vec_init(&v, 13);
	for (int i = 0; i < 13; i++)
		assert_int_equal(ws_vec_push(&v, 'x', &err), WS_OK);
	assert_fails_with(ws_vec_push(&v, 'x', &err), WS_E_LIMIT, &err, "13 elements");
	assert_int_equal(v.n, 13);
	ws_vec_fini(&v);
}

static void sizes_that_overflow_are_refused(void **state)
{
	WS_VEC(uint64_t) v;

	ws_vec_init(&v, SIZE_MAX);
	assert_int_equal(ws_vec_reserve(&v, SIZE_MAX / 4, NULL), WS_E_NOMEM);
	ws_vec_fini(&v);
}

static void a_failed_push_leaves_the_vector_as_it_was(void **state)
{
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		WS_VEC(int) v;
		int pushed = 0;

		ws_vec_init(&v, 1000);
		for (int i = 0; i < 100; i++)
			pushed += ws_vec_push(&v, i, NULL) == WS_OK;
		assert_int_equal(v.n, pushed);
		assert_int_equal(pushed < 100, allocation_failed());
		ws_vec_fini(&v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_elements_are_there_in_order),
		cmocka_unit_test(an_empty_vector_can_be_walked_and_sorted),
		cmocka_unit_test(sort_orders_the_elements),
		cmocka_unit_test(the_ceiling_is_exact),
		cmocka_unit_test(sizes_that_overflow_are_refused),
		cmocka_unit_test(a_failed_push_leaves_the_vector_as_it_was),
	};

	return RUN(tests);
}
