#include "collector/hip/streams.h"
#include "collector/provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- the core, as far as streams use it ---- */

static struct col_collect_config config;
static size_t n_mapped_bytes;
enum cap_tick_kind cap_tick_kind = CAP_TICKS_NS;

uint64_t cap_ticks_slow(void)
{
	return 1;
}

const struct col_collect_config *col_config(void)
{
	return &config;
}

struct cap_writer *col_capture(void)
{
	return NULL;
}

void *col_pages(size_t n_bytes)
{
	n_mapped_bytes += n_bytes;
	return calloc(1, n_bytes);
}

bool cap_writer_meta(struct cap_writer *writer, const struct cap_rec *rec)
{
	return true;
}

uint32_t cap_writer_intern(struct cap_writer *writer, const char *text, size_t n_bytes)
{
	return 1;
}

/* ---- tests: one process, so numbers go on ---- */

static const void *handle(uintptr_t i)
{
	return (const void *)(0x10000 + i * 64);
}

static void default_streams_are_zero(void **state)
{
	assert_int_equal(col_hip_stream(NULL), 0);
	assert_int_equal(col_hip_stream((void *)1), 0);
}

static void thousands_live_at_once_and_keep_their_numbers(void **state)
{
	enum { N = 3000 };
	uint32_t first;

	col_hip_stream_add(handle(0), 0, 0);
	first = col_hip_stream(handle(0));
	assert_true(first > 0);
	for (uintptr_t i = 1; i < N; i++)
		col_hip_stream_add(handle(i), 0, 0);
	for (uintptr_t i = 0; i < N; i++)
		assert_int_equal(col_hip_stream(handle(i)), first + i);
	for (uintptr_t i = 0; i < N; i++)
		assert_int_equal(col_hip_stream_remove(handle(i)), first + i);
	for (uintptr_t i = 0; i < N; i++)
		assert_int_equal(col_hip_stream_remove(handle(i)), 0);
}

static void a_handle_that_comes_back_is_another_stream(void **state)
{
	uint32_t before;

	col_hip_stream_add(handle(1), 0, 0);
	before = col_hip_stream(handle(1));
	assert_int_equal(col_hip_stream_remove(handle(1)), before);
	col_hip_stream_add(handle(1), 0, 0);
	assert_int_equal(col_hip_stream(handle(1)), before + 1);
	assert_int_equal(col_hip_stream_remove(handle(1)), before + 1);
}

static void a_refused_destruction_changes_nothing(void **state)
{
	uint32_t id;

	col_hip_stream_add(handle(2), 0, 0);
	id = col_hip_stream_remove(handle(2));
	col_hip_stream_restore(handle(2), id);
	assert_int_equal(col_hip_stream(handle(2)), id);
	col_hip_stream_remove(handle(2));
}

static void streams_come_and_go_for_ever_in_bounded_memory(void **state)
{
	enum { N_LIVE = 50 };
	uint32_t ids[N_LIVE];
	size_t before;

	for (uintptr_t i = 0; i < N_LIVE; i++) {
		col_hip_stream_add(handle(2000000 + i), 0, 0);
		ids[i] = col_hip_stream(handle(2000000 + i));
	}
	for (uintptr_t i = 0; i < 20000; i++) { /* settle */
		col_hip_stream_add(handle(i), 0, 0);
		col_hip_stream_remove(handle(i));
	}
	before = n_mapped_bytes;
	for (uintptr_t i = 0; i < 1000000; i++) {
		col_hip_stream_add(handle(i), 0, 0);
		col_hip_stream_remove(handle(i));
	}
	assert_int_equal(n_mapped_bytes, before);
	for (uintptr_t i = 0; i < N_LIVE; i++)
		assert_int_equal(col_hip_stream(handle(2000000 + i)), ids[i]);
}

static void grouped_by_queue_all_are_zero(void **state)
{
	config.flags = COL_COLLECT_FLAG(GROUP_BY_QUEUE);
	col_hip_stream_add(handle(5), 0, 0);
	assert_int_equal(col_hip_stream(handle(5)), 0);
	config.flags = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_streams_are_zero),
		cmocka_unit_test(thousands_live_at_once_and_keep_their_numbers),
		cmocka_unit_test(a_handle_that_comes_back_is_another_stream),
		cmocka_unit_test(a_refused_destruction_changes_nothing),
		cmocka_unit_test(streams_come_and_go_for_ever_in_bounded_memory),
		cmocka_unit_test(grouped_by_queue_all_are_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
