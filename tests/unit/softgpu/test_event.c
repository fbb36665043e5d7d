#include "tests/unit/softgpu/rig.h"

#include <pthread.h>
#include <stdlib.h>

static struct sg_vm *vm;
static struct sg_events *events;

static int setup(void **state)
{
	uint64_t capacities[2] = { 1ull << 30, 1ull << 30 };

	vm = sg_vm_create(capacities, 2);
	events = vm ? sg_events_create(vm) : NULL;
	return events ? 0 : -1;
}

static int teardown(void **state)
{
	sg_events_destroy(events);
	sg_vm_destroy(vm);
	return 0;
}

static uint32_t make(bool manual_reset, bool set)
{
	uint32_t id = 0;
	uint64_t mailbox = 0;

	assert_int_equal(sg_event_create(events, SG_EVENT_SIGNAL, manual_reset, set, &id, &mailbox),
			 SG_EVENT_OK);
	assert_int_not_equal(id, 0);
	assert_true(sg_vm_accessible(vm, mailbox, 8));
	return id;
}

static void a_set_event_is_remembered_once(void **state)
{
	uint32_t id = make(false, false);

	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_TIMEOUT);
	assert_int_equal(sg_event_set(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_set(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_TIMEOUT);
}

static void manual_reset_keeps_it_set(void **state)
{
	uint32_t id = make(true, true);

	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_OK);
	assert_int_equal(sg_event_reset(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_TIMEOUT);
}

static void a_timeout_takes_its_time(void **state)
{
	uint32_t id = make(false, false);
	uint64_t before = rig_now_ms(), took;

	assert_int_equal(sg_event_wait(events, &id, 1, true, 50), SG_EVENT_TIMEOUT);
	took = rig_now_ms() - before;
	assert_in_range(took, 49, 5000);
}

static void any_and_all_differ(void **state)
{
	uint32_t ids[3] = { make(false, false), make(false, true), make(false, false) };

	assert_int_equal(sg_event_wait(events, ids, 3, true, 0), SG_EVENT_TIMEOUT);
	/* the wait that failed did not use up the one that was set */
	assert_int_equal(sg_event_wait(events, ids, 3, false, 0), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, ids, 3, false, 0), SG_EVENT_TIMEOUT);
	for (int i = 0; i < 3; i++)
		sg_event_set(events, ids[i]);
	assert_int_equal(sg_event_wait(events, ids, 3, true, 0), SG_EVENT_OK);
}

static void unknown_events_are_refused(void **state)
{
	uint32_t id = make(false, false), bad[2] = { id, 999999 };

	assert_int_equal(sg_event_set(events, 0), SG_EVENT_GONE);
	assert_int_equal(sg_event_set(events, 0xffffffff), SG_EVENT_GONE);
	assert_int_equal(sg_event_wait(events, bad, 2, false, SG_EVENT_FOREVER), SG_EVENT_GONE);
	assert_int_equal(sg_event_destroy(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_destroy(events, id), SG_EVENT_GONE);
}

static void *wait_forever(void *arg)
{
	return (void *)(intptr_t)sg_event_wait(events, arg, 1, false, SG_EVENT_FOREVER - 1);
}

static void one_set_wakes_every_waiter(void **state)
{
	enum { N = 16 };
	uint32_t id = make(false, false);
	pthread_t threads[N];
	void *result;

	for (int i = 0; i < N; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_forever, &id), 0);
	/* Late ones find it set again: what matters is that nobody sleeps for ever. */
	for (int i = 0; i < N; i++) {
		struct timespec until;
		int error;

		do {
			sg_event_set(events, id);
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_nsec += 1000000;
			if (until.tv_nsec >= 1000000000) {
				until.tv_sec++;
				until.tv_nsec -= 1000000000;
			}
			error = pthread_timedjoin_np(threads[i], &result, &until);
		} while (error);
		assert_int_equal((intptr_t)result, SG_EVENT_OK);
	}
}

static void *wait_twice(void *arg)
{
	uintptr_t first = sg_event_wait(events, arg, 1, true, 0);

	return (void *)(first << 8 | sg_event_wait(events, arg, 1, true, 0));
}

/* It looked at the signal before it was set, and another thread's wait took the event meanwhile. */
static void a_thread_that_missed_it_sees_it_once(void **state)
{
	uint32_t id = make(false, false);
	pthread_t thread;
	void *result;

	assert_int_equal(sg_event_set(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_OK);
	assert_int_equal(pthread_create(&thread, NULL, wait_twice, &id), 0);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, SG_EVENT_OK << 8 | SG_EVENT_TIMEOUT);
	assert_int_equal(sg_event_wait(events, &id, 1, true, 0), SG_EVENT_TIMEOUT);
	/* one that was reset is over for everybody */
	assert_int_equal(sg_event_set(events, id), SG_EVENT_OK);
	assert_int_equal(sg_event_reset(events, id), SG_EVENT_OK);
	assert_int_equal(pthread_create(&thread, NULL, wait_twice, &id), 0);
	pthread_join(thread, &result);
	assert_int_equal((uintptr_t)result, SG_EVENT_TIMEOUT << 8 | SG_EVENT_TIMEOUT);
}

static void destroying_wakes_the_waiter(void **state)
{
	uint32_t id = make(false, false);
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, wait_forever, &id), 0);
	for (int i = 0; i < 50; i++)
		rig_pause();
	assert_int_equal(sg_event_destroy(events, id), SG_EVENT_OK);
	pthread_join(thread, &result);
	assert_int_equal((intptr_t)result, SG_EVENT_GONE);
}

static void thousands_of_events_are_distinct(void **state)
{
	enum { N = 10000 };
	uint32_t *ids = calloc(N, sizeof(*ids));

	for (int i = 0; i < N; i++)
		ids[i] = make(false, false);
	for (int i = 1; i < N; i++)
		assert_int_not_equal(ids[i], ids[i - 1]);
	sg_event_set(events, ids[N / 2]);
	assert_int_equal(sg_event_wait(events, ids, N / 2, false, 0), SG_EVENT_TIMEOUT);
	assert_int_equal(sg_event_wait(events, ids, N, false, SG_EVENT_FOREVER), SG_EVENT_OK);
	for (int i = 0; i < N; i++)
		assert_int_equal(sg_event_destroy(events, ids[i]), SG_EVENT_OK);
	free(ids);
}

static void *wait_for_either(void *arg)
{
	return (void *)(intptr_t)sg_event_wait(events, arg, 2, false, SG_EVENT_FOREVER);
}

/* The waiter has its first event but did not run yet when the second one comes. */
static void a_second_event_is_kept_for_the_next_wait(void **state)
{
	for (int round = 0; round < 200; round++) {
		uint32_t ids[2] = { make(false, false), make(false, false) };
		pthread_t thread;
		void *result;

		assert_int_equal(pthread_create(&thread, NULL, wait_for_either, ids), 0);
		rig_pause();
		sg_event_set(events, ids[0]);
		sg_event_set(events, ids[1]);
		pthread_join(thread, &result);
		assert_int_equal((intptr_t)result, SG_EVENT_OK);
		assert_int_equal(sg_event_wait(events, ids, 2, false, 0), SG_EVENT_OK);
	}
}

/* A pair of threads hands a token back and forth; one lost wake-up and it stops for ever. */
struct relay {
	uint32_t here, there;
	int n_rounds;
};

static void *run_relay(void *arg)
{
	struct relay *relay = arg;

	for (int i = 0; i < relay->n_rounds; i++) {
		if (sg_event_wait(events, &relay->here, 1, false, SG_EVENT_FOREVER))
			return (void *)1;
		sg_event_set(events, relay->there);
	}
	return NULL;
}

static void no_wake_up_is_lost(void **state)
{
	enum { PAIRS = 4, ROUNDS = 5000 };
	struct relay relays[PAIRS * 2];
	pthread_t threads[PAIRS * 2];

	for (int i = 0; i < PAIRS; i++) {
		uint32_t a = make(false, true), b = make(false, false);

		relays[2 * i] = (struct relay){ a, b, ROUNDS };
		relays[2 * i + 1] = (struct relay){ b, a, ROUNDS };
	}
	for (int i = 0; i < PAIRS * 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_relay, &relays[i]), 0);
	for (int i = 0; i < PAIRS * 2; i++) {
		void *result;

		pthread_join(threads[i], &result);
		assert_null(result);
	}
}

static void a_fault_reaches_the_memory_event(void **state)
{
	struct sg_memory_fault fault = { .node = 2, .address = 0x1000, .write = true }, seen;
	uint64_t mailbox;
	uint32_t id;

	assert_int_equal(sg_event_create(events, SG_EVENT_MEMORY_FAULT, true, false, &id, &mailbox),
			 SG_EVENT_OK);
	assert_false(sg_events_last_fault(events, &seen));
	sg_events_report_fault(events, &fault);
	assert_int_equal(sg_event_wait(events, &id, 1, false, 0), SG_EVENT_OK);
	assert_true(sg_events_last_fault(events, &seen));
	assert_int_equal(seen.node, 2);
	assert_int_equal(seen.address, 0x1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_event_is_remembered_once),
		cmocka_unit_test(manual_reset_keeps_it_set),
		cmocka_unit_test(a_timeout_takes_its_time),
		cmocka_unit_test(any_and_all_differ),
		cmocka_unit_test(unknown_events_are_refused),
		cmocka_unit_test(one_set_wakes_every_waiter),
		cmocka_unit_test(a_thread_that_missed_it_sees_it_once),
		cmocka_unit_test(destroying_wakes_the_waiter),
		cmocka_unit_test(thousands_of_events_are_distinct),
		cmocka_unit_test(a_second_event_is_kept_for_the_next_wait),
		cmocka_unit_test(no_wake_up_is_lost),
		cmocka_unit_test(a_fault_reaches_the_memory_event),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
