/* The table of memory that kernels can write, and what keeps a kernel from being repeated. */
#include "collector/hsa/hsa_priv.h"
#include "collector/hsa/ranges.h"
#include "collector/hsa/turns.h"

#include <hsa/amd_hsa_signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KB 1024ull
#define SECOND_NS 1000000000ull
#define RANGES_MOST 65536u /* that the table holds */
#define COPIES_MOST 1024u

/* ---- the rest of the collector: agent 1 is the host, 2 and 3 are GPUs ---- */

enum { HOST = 1, GPU, OTHER_GPU };
/* Handles of pools: the agent, and what the memory is. */
enum { COARSE = 0x10, FINE = 0x20, KERNARG = 0x40 };

struct col_hsa_api col_hsa;
__thread struct col_thread col_thread_self_;
static uint64_t clock_ns, tick_ns;
static bool attached, pageable;
static uint64_t held_signal;

uint64_t col_now_ns(void)
{
	return clock_ns += tick_ns;
}

void *col_pages(size_t n_bytes)
{
	return calloc(1, n_bytes);
}

void col_lock(struct col_lock *lock)
{
	assert_int_equal(lock->word, 0); /* one thread: it would wait for ever */
	lock->word = 1;
}

void col_unlock(struct col_lock *lock)
{
	assert_int_equal(lock->word, 1);
	lock->word = 0;
}

bool col_count_replays(void)
{
	return true;
}

bool col_hsa_attached(void)
{
	return attached;
}

uint32_t col_agent_of_pool(uint64_t pool)
{
	return pool & 0xf;
}

bool col_agent_is_gpu(uint32_t id)
{
	return id == GPU || id == OTHER_GPU;
}

bool col_turns_hold(uint32_t agent, uint64_t signal)
{
	return agent == GPU && signal == held_signal;
}

static hsa_status_t pool_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what,
			      void *out)
{
	*(uint32_t *)out = pool.handle & COARSE ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED
			   : pool.handle & KERNARG
				   ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT |
					     HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
				   : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t system_info(hsa_system_info_t what, void *out)
{
	*(bool *)out = pageable;
	return HSA_STATUS_SUCCESS;
}

static int begin_runtime(void **state)
{
	col_hsa.hsa_amd_memory_pool_get_info = pool_info;
	col_hsa.hsa_system_get_info = system_info;
	attached = pageable = false;
	held_signal = 0;
	clock_ns = SECOND_NS;
	tick_ns = SECOND_NS / 100;
	col_ranges_load();
	assert_true(col_ranges_kept());
	col_ranges_queue(GPU);
	return 0;
}

static int end_runtime(void **state)
{
	col_ranges_unload();
	return 0;
}

/* The range that contains it; NULL: none. */
static const struct col_range *at(uint64_t address)
{
	const struct col_range *range;

	col_ranges_hold();
	range = col_ranges_at(address);
	col_ranges_release();
	return range;
}

static size_t n_ranges(void)
{
	size_t n;

	col_ranges_hold();
	col_ranges_all(&n);
	col_ranges_release();
	return n;
}

/* Whether a kernel of the GPU could be repeated now. */
static enum col_obstacle obstacle(void)
{
	enum col_obstacle found = col_ranges_begin(GPU);

	if (!found)
		col_ranges_end();
	return found;
}

/* ---- the table ---- */

static void an_address_belongs_to_the_range_that_contains_it(void **state)
{
	col_ranges_add(0x30000, 4 * KB, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x10000, 4 * KB, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x11000, 1, GPU, COL_RANGE_SAVED); /* behind it without a gap */
	assert_int_equal(n_ranges(), 3);
	assert_int_equal(at(0x10000)->address, 0x10000);
	assert_int_equal(at(0x10fff)->address, 0x10000);
	assert_int_equal(at(0x11000)->address, 0x11000);
	assert_int_equal(at(0x30001)->address, 0x30000);
	assert_null(at(0xffff));
	assert_null(at(0x11001));
	assert_null(at(0x31000));
	assert_null(at(UINT64_MAX));
	col_ranges_add(0, 4 * KB, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x50000, 0, GPU, COL_RANGE_SAVED);
	assert_int_equal(n_ranges(), 3);
}

static void an_address_that_comes_again_is_another_allocation(void **state)
{
	uint64_t number;

	col_ranges_add(0x10000, 4 * KB, GPU, COL_RANGE_SAVED);
	number = at(0x10000)->number;
	col_ranges_remove(0x10000);
	col_ranges_remove(0x10000); /* unknown by now */
	assert_null(at(0x10000));
	col_ranges_add(0x10000, 4 * KB, GPU, COL_RANGE_SAVED);
	assert_int_not_equal(at(0x10000)->number, number);
}

static void host_memory_that_is_locked_twice_is_unlocked_twice(void **state)
{
	col_ranges_add(0x10000, 4 * KB, 0, COL_RANGE_COMPARED);
	col_ranges_add(0x10000, 8 * KB, 0, COL_RANGE_COMPARED);
	assert_int_equal(n_ranges(), 1);
	assert_int_equal(at(0x10000)->n_bytes, 8 * KB);
	col_ranges_remove(0x10000);
	assert_non_null(at(0x11fff));
	col_ranges_remove(0x10000);
	assert_null(at(0x10000));
}

static void unloaded_code_takes_all_its_variables_along(void **state)
{
	col_ranges_add(0x0f000, 4 * KB, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x10000, 256, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x12000, 256, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x14000, 256, GPU, COL_RANGE_SAVED);
	col_ranges_remove_in(0x10000, 16 * KB);
	assert_int_equal(n_ranges(), 2);
	assert_non_null(at(0x0f000));
	assert_non_null(at(0x14000));
}

static void what_memory_is_follows_from_its_pool(void **state)
{
	col_ranges_allocated(0x10000, KB, GPU | COARSE);
	col_ranges_allocated(0x20000, KB, HOST | KERNARG);
	col_ranges_allocated(0x30000, KB, HOST | FINE);
	col_ranges_allocated(0x40000, KB, HOST | COARSE);
	assert_int_equal(at(0x10000)->kind, COL_RANGE_SAVED);
	assert_int_equal(at(0x10000)->agent, GPU);
	assert_int_equal(at(0x20000)->kind, COL_RANGE_CONSTANT);
	assert_int_equal(at(0x30000)->kind, COL_RANGE_COMPARED);
	assert_int_equal(at(0x40000)->kind, COL_RANGE_COMPARED);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	col_ranges_kernarg(0x30010);
	assert_int_equal(at(0x30000)->kind, COL_RANGE_CONSTANT);
	col_ranges_kernarg(0x90000); /* memory that is not known */
}

/* ---- obstacles ---- */

static void more_memory_than_the_table_holds_stops_repeating(void **state)
{
	for (uint64_t i = 1; i <= RANGES_MOST; i++)
		col_ranges_add(i * 4 * KB, KB, GPU, COL_RANGE_SAVED);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	assert_non_null(at(RANGES_MOST * 4 * KB));
	col_ranges_add(0x100, KB, GPU, COL_RANGE_SAVED);
	assert_int_equal(obstacle(), COL_OBSTACLE_TOO_MANY);
	col_ranges_remove(4 * KB); /* what was left out is still unknown */
	assert_int_equal(obstacle(), COL_OBSTACLE_TOO_MANY);
}

static void memory_that_others_can_write_stops_repeating(void **state)
{
	attached = true;
	assert_int_equal(obstacle(), COL_OBSTACLE_ATTACHED);
	attached = false;
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	col_ranges_allocated(0x10000, KB, GPU | FINE);
	assert_int_equal(obstacle(), COL_OBSTACLE_FINE_GRAINED);
	col_ranges_shared();
	assert_int_equal(obstacle(), COL_OBSTACLE_PROCESSES);
	pageable = true;
	col_ranges_load();
	assert_int_equal(obstacle(), COL_OBSTACLE_PAGEABLE);
}

static void memory_of_several_gpus_stops_repeating_when_they_are_in_use(void **state)
{
	col_ranges_allocated(0x10000, KB, GPU | COARSE);
	col_ranges_allowed(0x10000, GPU); /* its own */
	assert_false(at(0x10000)->peers);
	col_ranges_allowed(0x10000, OTHER_GPU);
	assert_true(at(0x10000)->peers);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE); /* nothing runs there */
	col_ranges_queue(OTHER_GPU);
	assert_int_equal(obstacle(), COL_OBSTACLE_PEERS);
	col_ranges_remove(0x10000);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
}

static void memory_of_another_gpu_is_not_saved_with_this_one(void **state)
{
	col_ranges_allocated(0x10000, KB, OTHER_GPU | COARSE);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE); /* out of reach */
	col_ranges_allowed(0x10000, GPU);
	assert_int_equal(obstacle(), COL_OBSTACLE_PEERS);
}

static void device_memory_that_the_host_can_write_is_compared(void **state)
{
	col_ranges_allocated(0x10000, KB, GPU | COARSE);
	col_ranges_allowed(0x10000, HOST);
	assert_int_equal(at(0x10000)->kind, COL_RANGE_COMPARED);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
}

/* ---- copies of the program ---- */

static uint64_t handle(const amd_signal_t *signal)
{
	return (uint64_t)(uintptr_t)signal;
}

static void copy(const amd_signal_t *completes, const amd_signal_t *waits_for)
{
	uint64_t signal = handle(waits_for);

	assert_true(col_ranges_write_begin(0x10000));
	col_ranges_write_end(handle(completes), 1, &signal, waits_for != NULL);
}

static void a_copy_that_runs_is_waited_for(void **state)
{
	amd_signal_t done = { .value = 1 };

	col_ranges_add(0x10000, KB, GPU, COL_RANGE_SAVED);
	assert_false(col_ranges_write_begin(0x20000)); /* not saved */
	copy(&done, NULL);
	assert_int_equal(obstacle(), COL_OBSTACLE_COPY_WAITS); /* two seconds later */
	assert_true(clock_ns > 3 * SECOND_NS);
	assert_true(clock_ns < 4 * SECOND_NS);
	done.value = 0;
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	done.value = 1; /* it means something else by now */
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
}

static void a_copy_that_waits_matters_unless_this_gpu_holds_it_back(void **state)
{
	amd_signal_t done = { .value = 1 }, before = { .value = 1 };

	col_ranges_add(0x10000, KB, GPU, COL_RANGE_SAVED);
	copy(&done, &before);
	assert_int_equal(obstacle(), COL_OBSTACLE_COPY_WAITS); /* may begin at any time */
	assert_true(clock_ns < 2 * SECOND_NS);
	held_signal = handle(&before);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	held_signal = 0;
	col_ranges_signal_reused(handle(&done));
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
}

static void a_copy_into_memory_that_is_replayed_interrupts_after_a_second(void **state)
{
	col_ranges_add(0x10000, KB, GPU, COL_RANGE_SAVED);
	col_ranges_add(0x20000, KB, OTHER_GPU, COL_RANGE_SAVED);
	assert_int_equal(col_ranges_begin(GPU), COL_OBSTACLE_NONE);
	assert_true(col_ranges_write_begin(0x20000)); /* the other GPU's: at once */
	col_ranges_write_end(0, 0, NULL, 0);
	assert_true(clock_ns < 2 * SECOND_NS);
	assert_false(col_ranges_interrupted());
	assert_true(col_ranges_write_begin(0x10000));
	assert_true(clock_ns > 2 * SECOND_NS);
	assert_true(clock_ns < 3 * SECOND_NS);
	assert_true(col_ranges_interrupted());
	col_ranges_write_end(0, 0, NULL, 0);
	col_ranges_end();
	assert_int_equal(col_ranges_begin(GPU),
			 COL_OBSTACLE_NONE); /* the next one is whole again */
	assert_false(col_ranges_interrupted());
	col_ranges_end();
}

static void a_call_that_is_about_to_write_is_waited_for(void **state)
{
	col_ranges_add(0x10000, KB, GPU, COL_RANGE_SAVED);
	assert_true(col_ranges_write_begin(0x10000));
	assert_int_equal(obstacle(), COL_OBSTACLE_COPY_WAITS);
	col_ranges_write_end(0, 0, NULL, 0);
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
}

static void more_copies_than_are_kept_stop_repeating(void **state)
{
	static amd_signal_t signals[COPIES_MOST + 1];

	col_ranges_add(0x10000, KB, GPU, COL_RANGE_SAVED);
	for (size_t i = 0; i < COPIES_MOST; i++) {
		signals[i].value = i > 0; /* the first has ended */
		copy(&signals[i], NULL);
	}
	signals[COPIES_MOST].value = 1;
	copy(&signals[COPIES_MOST], NULL); /* takes its place */
	for (size_t i = 0; i <= COPIES_MOST; i++)
		signals[i].value = 0;
	assert_int_equal(obstacle(), COL_OBSTACLE_NONE);
	for (size_t i = 0; i <= COPIES_MOST; i++) {
		signals[i].value = 1;
		copy(&signals[i], NULL);
	}
	assert_int_equal(obstacle(), COL_OBSTACLE_TOO_MANY);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, begin_runtime, end_runtime)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_address_belongs_to_the_range_that_contains_it),
		CASE(an_address_that_comes_again_is_another_allocation),
		CASE(host_memory_that_is_locked_twice_is_unlocked_twice),
		CASE(unloaded_code_takes_all_its_variables_along),
		CASE(what_memory_is_follows_from_its_pool),
		CASE(more_memory_than_the_table_holds_stops_repeating),
		CASE(memory_that_others_can_write_stops_repeating),
		CASE(memory_of_several_gpus_stops_repeating_when_they_are_in_use),
		CASE(memory_of_another_gpu_is_not_saved_with_this_one),
		CASE(device_memory_that_the_host_can_write_is_compared),
		CASE(a_copy_that_runs_is_waited_for),
		CASE(a_copy_that_waits_matters_unless_this_gpu_holds_it_back),
		CASE(a_copy_into_memory_that_is_replayed_interrupts_after_a_second),
		CASE(a_call_that_is_about_to_write_is_waited_for),
		CASE(more_copies_than_are_kept_stop_repeating),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
