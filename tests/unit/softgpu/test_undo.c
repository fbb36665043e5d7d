/* What a kernel overwrote, and putting it back. */
#include "softgpu/exec/undo.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define N (3 * 4096)

static uint8_t *page_aligned(void)
{
	uint8_t *m = aligned_alloc(4096, N);

	assert_non_null(m);
	for (size_t k = 0; k < N; k++)
		m[k] = (uint8_t)(k * 7);
	return m;
}

static void bytes_come_back_and_others_stay(void **state)
{
	uint8_t *m = page_aligned();
	struct sg_undo *u = sg_undo_create(1 << 20);

	assert_non_null(u);
	sg_undo_save(u, m + 60, 8); /* across a line */
	memset(m + 60, 0xaa, 8);
	sg_undo_save(u, m + 4090, 100); /* across a page */
	memset(m + 4090, 0xbb, 100);
	m[59] = 1; /* somebody else's */
	m[68] = 2;
	assert_int_equal(sg_undo_n_bytes(u), 108);
	sg_undo_restore(u);
	assert_int_equal(m[59], 1);
	assert_int_equal(m[68], 2);
	m[59] = (uint8_t)(59 * 7);
	m[68] = (uint8_t)(68 * 7);
	for (size_t k = 0; k < N; k++)
		assert_int_equal(m[k], (uint8_t)(k * 7));
	sg_undo_destroy(u);
	free(m);
}

static void only_the_first_write_counts(void **state)
{
	uint8_t *m = page_aligned();
	struct sg_undo *u = sg_undo_create(1 << 20);

	sg_undo_save(u, m + 8, 4);
	memset(m + 8, 0xaa, 4);
	sg_undo_save(u, m + 6, 8); /* four of them are not what they were */
	memset(m + 6, 0xbb, 8);
	assert_int_equal(sg_undo_n_bytes(u), 8);
	sg_undo_restore(u);
	for (size_t k = 0; k < N; k++)
		assert_int_equal(m[k], (uint8_t)(k * 7));
	sg_undo_destroy(u);
	free(m);
}

static void redo_brings_back_the_first_run(void **state)
{
	uint8_t *m = page_aligned();
	struct sg_undo *u = sg_undo_create(1 << 20);

	sg_undo_save(u, m + 100, 4);
	memset(m + 100, 0xaa, 4);
	assert_true(sg_undo_keep(u));
	sg_undo_restore(u);
	sg_undo_save(u, m + 102, 4); /* the second run goes elsewhere, too */
	memset(m + 102, 0xbb, 4);
	sg_undo_redo(u);
	for (size_t k = 0; k < N; k++)
		assert_int_equal(m[k], k >= 100 && k < 104 ? 0xaa : (uint8_t)(k * 7));
	sg_undo_destroy(u);
	free(m);
}

static void a_ceiling_is_said(void **state)
{
	uint8_t *m = page_aligned();
	struct sg_undo *u = sg_undo_create(12000); /* one page, and what a run leaves on it */

	sg_undo_save(u, m, 4096);
	assert_false(sg_undo_lost(u));
	sg_undo_save(u, m + 4096, 1);
	assert_true(sg_undo_lost(u));
	sg_undo_destroy(u);
	free(m);
}

struct writer {
	struct sg_undo *undo;
	uint8_t *m;
	unsigned seed;
};

static void *write_all_over(void *arg)
{
	struct writer *w = arg;
	unsigned x = w->seed;

	for (int n = 0; n < 20000; n++) {
		x = x * 1664525 + 1013904223;
		size_t at = x >> 8 & 8191, size = 1 + (x >> 3 & 15);

		sg_undo_save(w->undo, w->m + at, size);
		for (size_t k = 0; k < size; k++)
			__atomic_store_n(&w->m[at + k], (uint8_t)x, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void threads_save_the_same_bytes(void **state)
{
	uint8_t *m = page_aligned();
	struct sg_undo *u = sg_undo_create(1 << 20);
	struct writer writers[4];
	pthread_t threads[4];

	for (unsigned t = 0; t < 4; t++) {
		writers[t] = (struct writer){ u, m, t };
		assert_int_equal(pthread_create(&threads[t], NULL, write_all_over, &writers[t]), 0);
	}
	for (unsigned t = 0; t < 4; t++)
		pthread_join(threads[t], NULL);
	sg_undo_restore(u);
	for (size_t k = 0; k < N; k++)
		assert_int_equal(m[k], (uint8_t)(k * 7));
	sg_undo_destroy(u);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_back_and_others_stay),
		cmocka_unit_test(only_the_first_write_counts),
		cmocka_unit_test(redo_brings_back_the_first_run),
		cmocka_unit_test(a_ceiling_is_said),
		cmocka_unit_test(threads_save_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
