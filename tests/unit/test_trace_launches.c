/* Numbers of dispatches where the records only say which came before which. */
#include "tests/unit/trace_rig.h"

#include <stdlib.h>
#include <string.h>

static void put_ordered(struct cap_lane *lane, uint64_t begin, uint64_t order)
{
	struct cap_rec_dispatch rec = { .h = { CAP_REC_FIXED_TAG(DISPATCH, struct cap_rec_dispatch),
					       4, begin },
					.end_ns = begin + 5,
					.corr_id = order, /* so that a reader can tell them apart */
					.dispatch_id = order,
					.tid = 100,
					.agent = 2,
					.queue = 1,
					.flags = CAP_DISPATCH_ORDERED };

	assert_true(cap_lane_append(lane, &rec.h));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Every dispatch has the rank of its order among @orders, in both orders of reading. */
static void check_ranks(const uint64_t *orders, size_t n)
{
	uint64_t *sorted = test_calloc(n, sizeof(*sorted));
	enum trc_event_order ways[] = { TRC_ORDER_RECORDED, TRC_ORDER_START };
	struct trc_trace *trace = open_trace(NULL);

	memcpy(sorted, orders, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t way = 0; way < 2; way++) {
		struct trc_events *events =
			open_events(trace, (struct trc_event_query){ .order = ways[way] });
		const struct trc_event *ev;
		size_t n_seen = 0;

		while ((ev = trc_events_next(events))) {
			uint64_t id = ev->dispatch.info->dispatch_id;

			assert_in_range(id, 1, n);
			assert_int_equal(sorted[id - 1], ev->corr_id);
			n_seen++;
		}
		assert_int_equal(trc_events_close(events, NULL), WS_OK);
		assert_int_equal(n_seen, n);
	}
	trc_close(trace);
	test_free(sorted);
}

/* As several queues leave them: not in order, and with holes where packets were no kernels. */
static void dispatches_are_numbered_by_submission(void **state)
{
	enum { N = 30000 };
	uint64_t *orders = test_calloc(N, sizeof(*orders));
	struct cap_writer *w = start(path);
	struct cap_lane *lane[2] = { cap_lane_get(w, 100), cap_lane_get(w, 101) };
	unsigned seed = 7;
	uint64_t order = 0;

	put_facts(w, 100);
	for (size_t i = 0; i < N; i++)
		orders[i] = order +=
			1 + (uint64_t)(rand_r(&seed) % 5 == 0) * (uint64_t)(rand_r(&seed) % 9000);
	for (size_t i = 0; i + 1 < N; i++) { /* no further than a queue's neighbours are apart */
		size_t other = i + (size_t)rand_r(&seed) % (N - i < 50 ? N - i : 50);
		uint64_t kept = orders[i];

		orders[i] = orders[other];
		orders[other] = kept;
	}
	for (size_t i = 0; i < N; i++)
		put_ordered(lane[rand_r(&seed) % 2], 1000000 + i, orders[i]);
	cap_writer_close(w);
	check_ranks(orders, N);
	test_free(orders);
}

/* A damaged capture may have any number; it costs little, and the others stay right. */
static void wild_numbers_are_numbers(void **state)
{
	static const uint64_t orders[] = {
		3, UINT64_MAX, 1, 1ull << 63, 4095, 4096, 4097, 1ull << 40, 0, UINT64_MAX - 1
	};
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);

	put_facts(w, 100);
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		put_ordered(lane, 1000 + i, orders[i]);
	cap_writer_close(w);
	check_ranks(orders, sizeof(orders) / sizeof(orders[0]));
}

static void no_memory_is_an_error_every_time(void **state)
{
	const char *paths[] = { path };
	struct cap_writer *w = start(path);
	struct cap_lane *lane = cap_lane_get(w, 100);

	put_facts(w, 100);
	for (uint64_t i = 1; i < 20; i++)
		put_ordered(lane, 1000 + i, i * 5000);
	cap_writer_close(w);
	FOR_EACH_FAILING_ALLOCATION(n)
	{
		struct trc_trace *trace = NULL;
		struct ws_err err = { 0 };
		enum ws_status st = trc_open(paths, 1, NULL, &trace, &err);

		assert_int_equal(st, allocation_failed() ? WS_E_NOMEM : WS_OK);
		trc_close(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dispatches_are_numbered_by_submission),
		cmocka_unit_test(wild_numbers_are_numbers),
		cmocka_unit_test(no_memory_is_an_error_every_time),
	};

	return RUN_WITH(tests, make_dir, drop_dir);
}
