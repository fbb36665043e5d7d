/* How long kernels run on a GPU: the time in which there is one, however many there are. */
#include "softgpu/cp/busy.h"
#include "tests/unit/softgpu/rig.h"

#include <time.h>

static void sleep_ms(long ms)
{
	struct timespec time = { 0, ms * 1000000 };

	nanosleep(&time, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void nothing_is_measured_before_somebody_asks(void **state)
{
	struct sg_busy_time *load = sg_busy_time_create();

	assert_false(sg_busy_time_begin(NULL));
	assert_false(sg_busy_time_begin(load));
	assert_int_equal(sg_busy_time_ns(load), 0);
	assert_true(sg_busy_time_begin(load));
	sg_busy_time_end(load);
	sg_busy_time_destroy(load);
}

static void kernels_that_overlap_count_once(void **state)
{
	struct sg_busy_time *load = sg_busy_time_create();
	uint64_t start, running, busy;

	sg_busy_time_ns(load);
	sleep_ms(5); /* idle */
	start = now_ns();
	assert_true(sg_busy_time_begin(load));
	sleep_ms(5);
	assert_true(sg_busy_time_begin(load));
	sleep_ms(5);
	sg_busy_time_end(load);
	running = sg_busy_time_ns(load);
	sleep_ms(5);
	sg_busy_time_end(load);
	busy = sg_busy_time_ns(load);
	assert_true(running >= 10000000);
	assert_true(busy >= running + 5000000);
	assert_true(busy <= now_ns() - start);
	sleep_ms(5);
	assert_int_equal(sg_busy_time_ns(load), busy);
	sg_busy_time_destroy(load);
}

/* ---- of a GPU ---- */

static struct rig *rig;

static int setup(void **state)
{
	rig = rig_create(2);
	return rig ? 0 : -1;
}

static int teardown(void **state)
{
	rig_destroy(rig);
	return 0;
}

static enum sg_wg_state take_a_while(struct fake_wg *wg, void *arg)
{
	sleep_ms(20);
	return SG_WG_DONE;
}

static void the_time_of_a_kernel_is_busy_time(void **state)
{
	struct fake_kernel *kernel = (void *)rig_alloc(rig, 4096);
	struct sg_amd_signal *done = rig_signal(rig, 1);
	struct softgpu_figures before, after;
	union sg_aql_packet packet;
	struct rig_aql aql;
	uint64_t start;

	*kernel = (struct fake_kernel){ .run = take_a_while };
	sg_device_figures(rig->device, &before);
	assert_int_equal(before.busy_ns, 0);
	assert_true(before.memory_bytes > 0 && before.clock_mhz > 0 && before.memory_clock_mhz > 0);
	rig_aql_open(rig, &aql, 64);
	start = now_ns();
	packet = rig_kernel_packet(kernel, 1, done);
	rig_aql_submit(&aql, &packet, (uint16_t)(SG_AQL_DISPATCH | 1 << 8));
	rig_eventually(atomic_load(&done->value) == 0);
	rig_aql_close(rig, &aql); /* the signal comes just before the end is counted */
	sg_device_figures(rig->device, &after);
	assert_true(after.busy_ns >= 20000000);
	assert_true(after.busy_ns <= now_ns() - start);
	sleep_ms(5);
	sg_device_figures(rig->device, &before);
	assert_int_equal(before.busy_ns, after.busy_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_measured_before_somebody_asks),
		cmocka_unit_test(kernels_that_overlap_count_once),
		cmocka_unit_test_setup_teardown(the_time_of_a_kernel_is_busy_time, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
