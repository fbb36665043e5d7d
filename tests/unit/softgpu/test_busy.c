/* How long kernels run on a GPU: the time in which there is one, however many there are. */
#include "softgpu/cp/busy.h"
#include "softgpu/device/board.h"
#include "tests/unit/softgpu/rig.h"
#include "tests/unit/unit.h"

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

/* Half of the time: the mean is there, for both lengths of memory, whoever looks and when. */
static void load_is_a_mean_of_the_past(void **state)
{
	static struct sg_board_page page;
	uint64_t at_ns = 1000000000;

	for (int i = 0; i < 4000; i++, at_ns += 10000000)
		sg_board_set_running(&page, 0, at_ns, i % 2 == 0);
	assert_in_range(page.load[0].recent, SG_BOARD_WHOLE * 45 / 100, SG_BOARD_WHOLE * 55 / 100);
	assert_in_range(page.load[0].lasting, SG_BOARD_WHOLE * 45 / 100, SG_BOARD_WHOLE * 55 / 100);
	/* Idle for half a second: nothing recent is left, the board is still warm. */
	sg_board_set_running(&page, 0, at_ns + 500000000, false);
	assert_in_range(page.load[0].recent, 0, SG_BOARD_WHOLE / 100);
	assert_in_range(page.load[0].lasting, SG_BOARD_WHOLE * 40 / 100, SG_BOARD_WHOLE / 2);
	assert_int_equal(page.load[0].turn % 2, 0);
}

static void other_processes_see_what_this_one_uses(void **state)
{
	const uint64_t memory[2] = { 1 << 30, 1 << 30 };
	struct sg_board_use before[2], now[2];
	struct sg_board_page *page;

	sg_board_sum(before, 2); /* of others that may be running */
	page = sg_board_open(memory, 2);
	if (!page)
		unit_skip("no /dev/shm");
	atomic_store(&page->used_bytes[1], 4096);
	atomic_store(&page->n_queues[1], 3);
	sg_board_set_running(page, 1, now_ns() - 2000000000, true);
	sg_board_sum(now, 2);
	assert_int_equal(now[1].used_bytes - before[1].used_bytes, 4096);
	assert_int_equal(now[1].n_queues - before[1].n_queues, 3);
	assert_true(now[1].is_running);
	assert_true(now[1].recent > 0.99);
	assert_true(now[1].lasting > 0.15 && now[1].lasting <= 1);
	page->version++;
	sg_board_sum(now, 2);
	assert_int_equal(now[1].n_queues, before[1].n_queues);
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
		cmocka_unit_test(load_is_a_mean_of_the_past),
		cmocka_unit_test(other_processes_see_what_this_one_uses),
		cmocka_unit_test_setup_teardown(the_time_of_a_kernel_is_busy_time, setup, teardown),
	};

	return RUN(tests);
}
