/* Traces are the same after they were packed, and their memory is used again. */
#include "tests/unit/unit.h"

#include <string.h>

#include "softgpu/counting/trace_store.h"

#define WAVES 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_trace_spares spares = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* n_accesses of wave k of workgroup wg, with addresses that tell them apart. */
static void write_wg(struct sg_wg_traces *t, uint64_t wg, unsigned n_accesses)
{
	for (uint32_t k = 0; k < t->n_waves; k++) {
		sg_trace_start(&t->waves[k], 0x1000 + wg, ~0ull >> k);
		for (unsigned n = 0; n < n_accesses; n++)
			sg_trace_scalar(&t->waves[k], wg << 32 | k << 24 | n);
		sg_trace_end(&t->waves[k]);
	}
}

static void check_wg(const struct sg_wg_traces *t, uint64_t wg, uint32_t n_waves,
		     unsigned n_accesses)
{
	assert_int_equal(t->n_waves, n_waves);
	for (uint32_t k = 0; k < n_waves; k++) {
		struct sg_trace_access a;
		struct sg_trace_reader r;

		assert_true(t->waves[k].entry == 0x1000 + wg && t->waves[k].exec == ~0ull >> k);
		sg_trace_read(&r, &t->waves[k]);
		assert_true(sg_trace_next(&r) && r.op == SG_TRACE_END);
		for (unsigned n = 0; n < n_accesses; n++) {
			assert_true(sg_trace_memory(&r.memory, ~0ull >> k, &a));
			assert_true(a.base == (wg << 32 | k << 24 | n));
		}
		assert_false(sg_trace_memory(&r.memory, ~0ull >> k, &a));
	}
}

static struct sg_wg_traces *pack(struct sg_trace_store *store, struct sg_wg_traces *t,
				 uint32_t n_waves)
{
	return sg_traces_pack(store, &lock, t, n_waves);
}

static void packed_traces_are_read_as_written(void **state)
{
	enum { N = 5000 };
	static struct sg_wg_traces *packed[N];
	struct sg_trace_store store = { .spares = &spares };
	struct sg_wg_traces *t = sg_traces_create(&spares, WAVES);

	for (unsigned wg = 0; wg < N; wg++) {
		write_wg(t, wg, wg % 50);
		packed[wg] = pack(&store, t, 1 + wg % WAVES);
		assert_non_null(packed[wg]);
		assert_true(sg_traces_are_packed(packed[wg]) && !sg_traces_are_packed(t));
	}
	for (unsigned wg = 0; wg < N; wg++)
		check_wg(packed[wg], wg, 1 + wg % WAVES, wg % 50);
	sg_trace_store_clear(&store);
	sg_traces_destroy(t);
}

static void chunks_that_were_read_are_filled_again(void **state)
{
	struct sg_trace_store store = { .spares = &spares };
	struct sg_wg_traces *t = sg_traces_create(&spares, WAVES), *ahead[100] = { 0 };
	uint64_t n_bytes, n_drops = 0;

	sg_trace_spares_free(&spares);
	spares.n_bytes = 0;
	for (unsigned wg = 0; wg < 100000; wg++) {
		struct sg_wg_traces **at = &ahead[wg % 100];

		if (*at) {
			check_wg(*at, wg - 100, WAVES, 20);
			n_drops += sg_trace_store_drop(&store, &lock, *at, WAVES);
			assert_true(store.n_bytes < 4 << 20);
		}
		write_wg(t, wg, 20);
		*at = pack(&store, t, WAVES);
		assert_non_null(*at);
	}
	sg_trace_store_clear(&store);
	assert_true(n_drops > 100 && !store.n_bytes);
	assert_true(spares.n_bytes && spares.n_bytes < 4 << 20); /* all of it was 100 times that */
	n_bytes = spares.n_bytes;
	sg_traces_destroy(t);

	/* by the next dispatch, too */
	t = sg_traces_create(&spares, WAVES);
	write_wg(t, 1, 1);
	check_wg(pack(&store, t, WAVES), 1, WAVES, 1);
	assert_true(spares.n_bytes < n_bytes);
	sg_trace_store_clear(&store);
	assert_int_equal(spares.n_bytes, n_bytes);
	sg_traces_destroy(t);
}

static void long_traces_are_not_packed(void **state)
{
	struct sg_trace_store store = { .spares = &spares };
	struct sg_wg_traces *t = sg_traces_create(&spares, WAVES), *again;

	write_wg(t, 7, 10000);
	assert_null(sg_traces_pack(&store, &lock, t, 3));
	assert_true(sg_traces_bytes(t) >= 4 * 130000);
	sg_trace_store_keep(&store, t, WAVES);
	assert_true(store.n_bytes >= 4 * 130000);
	check_wg(t, 7, WAVES, 10000);
	assert_true(sg_trace_store_drop(&store, &lock, t, WAVES));
	assert_int_equal(store.n_bytes, 0);
	again = sg_traces_create(&spares, WAVES);
	assert_ptr_equal(again, t);
	/* of a workgroup with fewer waves: useless for others */
	write_wg(t, 8, 10000);
	sg_trace_store_keep(&store, t, 3);
	check_wg(t, 8, 3, 10000);
	assert_true(sg_trace_store_drop(&store, &lock, t, WAVES));
	assert_null(spares.buffers);
}

static void digests_tell_waves_apart(void **state)
{
	struct sg_trace_store store = { .spares = &spares };
	struct sg_wg_traces *t = sg_traces_create(&spares, WAVES);
	uint64_t digest, n_accesses[] = { 3, 10000 };

	for (unsigned n = 0; n < 2; n++) {
		struct sg_wg_traces *kept;

		write_wg(t, 1, (unsigned)n_accesses[n]);
		kept = pack(&store, t, WAVES);
		assert_int_equal(kept != NULL, n == 0);
		digest = sg_traces_digest(kept ? kept : t);
		for (unsigned change = 0; change < 5; change++) {
			struct sg_wave_trace *w = &t->waves[3];

			write_wg(t, 1, (unsigned)n_accesses[n]);
			w->entry += change == 1;
			w->exec -= change == 2;
			w->memory.bytes[w->memory.size - 1] ^= change == 3;
			w->memory.size -= change == 4;
			kept = pack(&store, t, WAVES);
			assert_int_equal(sg_traces_digest(kept ? kept : t) == digest, change == 0);
		}
	}
	sg_trace_store_clear(&store);
	sg_traces_destroy(t);
}

static int free_spares(void **state)
{
	sg_trace_spares_free(&spares);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_traces_are_read_as_written),
		cmocka_unit_test(chunks_that_were_read_are_filled_again),
		cmocka_unit_test(long_traces_are_not_packed),
		cmocka_unit_test(digests_tell_waves_apart),
	};

	return RUN_WITH(tests, NULL, free_spares);
}
