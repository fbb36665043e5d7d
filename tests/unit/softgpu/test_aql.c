#include "tests/unit/softgpu/rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HEADER(type) ((uint16_t)((type) | 1 << 8))

static struct rig *rig;

static int setup(void **state)
{
	rig = rig_create(2);
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(rig);
	return 0;
}

static struct fake_kernel *kernel(enum sg_wg_state (*run)(struct fake_wg *, void *), void *arg)
{
	struct fake_kernel *k = (void *)rig_alloc(rig, sizeof(*k));

	k->run = run;
	k->arg = arg;
	return k;
}

static bool is_zero(struct sg_amd_signal *signal)
{
	return atomic_load(&signal->value) == 0;
}

static int64_t code_of(struct rig_aql *aql)
{
	return atomic_load(&aql->inactive->value);
}

static enum sg_wg_state count(struct fake_wg *wg, void *arg)
{
	_Atomic uint32_t *counts = arg;

	atomic_fetch_add(&counts[wg->index], 1);
	return SG_WG_DONE;
}

static void every_workgroup_runs_once(void **state)
{
	enum { N = 20000 };
	_Atomic uint32_t *counts = calloc(N, sizeof(*counts));
	struct sg_amd_signal *done = rig_signal(rig, 1);
	struct fake_kernel *k = kernel(count, counts);
	union sg_aql_packet packet = rig_kernel_packet(k, 1, done);
	struct rig_aql aql;

	packet.dispatch.grid_size[0] = 64 * 100 - 5;
	packet.dispatch.grid_size[1] = 20;
	packet.dispatch.grid_size[2] = 10;
	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(done));
	for (int i = 0; i < N; i++)
		assert_int_equal(atomic_load(&counts[i]), 1);
	assert_true(done->start_ts && done->end_ts >= done->start_ts);
	/* the slot is given back after the signal, so that a waiter never sees it too early */
	rig_eventually(atomic_load(&aql.amd->read_dispatch_id) == 1);
	assert_int_equal(atomic_load(&aql.ring[0].dispatch.header), SG_AQL_INVALID);
	rig_aql_close(rig, &aql);
	free(counts);
}

/* Each waits, computing, for the one before it: decoupled look-back. */
static enum sg_wg_state look_back(struct fake_wg *wg, void *arg)
{
	_Atomic uint32_t *flags = arg;

	if (wg->index && !atomic_load(&flags[wg->index - 1]))
		return SG_WG_RUNNABLE;
	atomic_store(&flags[wg->index], 1);
	return SG_WG_DONE;
}

/* All must have arrived before one may leave: grid sync. Sleeps while it waits. */
static enum sg_wg_state grid_sync(struct fake_wg *wg, void *arg)
{
	_Atomic uint32_t *arrived = arg;

	if (!wg->n_turns)
		atomic_fetch_add(arrived, 1);
	return atomic_load(arrived) == wg->launch->n_wgs ? SG_WG_DONE : SG_WG_WAITING;
}

static enum sg_wg_state grid_spin(struct fake_wg *wg, void *arg)
{
	enum sg_wg_state state = grid_sync(wg, arg);

	return state == SG_WG_WAITING ? SG_WG_RUNNABLE : state;
}

/* The first one spins until the last one, which is far beyond what starts at once, has run. */
static enum sg_wg_state wait_for_last(struct fake_wg *wg, void *arg)
{
	_Atomic uint32_t *flag = arg;

	if (wg->index == wg->launch->n_wgs - 1)
		atomic_store(flag, 1);
	return wg->index || atomic_load(flag) ? SG_WG_DONE : SG_WG_RUNNABLE;
}

static void run_to_end(enum sg_wg_state (*run)(struct fake_wg *, void *), uint32_t n_wgs)
{
	_Atomic uint32_t *flags = calloc(n_wgs, sizeof(*flags));
	struct sg_amd_signal *done = rig_signal(rig, 1);
	union sg_aql_packet packet = rig_kernel_packet(kernel(run, flags), n_wgs, done);
	struct rig_aql aql;

	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(done));
	rig_aql_close(rig, &aql);
	free(flags);
}

static void workgroups_that_wait_for_each_other_finish(void **state)
{
	run_to_end(look_back, 5000);
	run_to_end(grid_sync, 208); /* 104 CUs, two each */
	run_to_end(grid_spin, 208);
	run_to_end(wait_for_last, 5000);
}

/* No two workgroups that are alive share scratch. */
struct slots {
	_Atomic uint32_t owner[4096];
	_Atomic uint32_t n_clashes, highest;
};

static enum sg_wg_state check_slot(struct fake_wg *wg, void *arg)
{
	struct slots *slots = arg;
	uint32_t me = (uint32_t)wg->index + 1, seen = 0;

	if (wg->slot > atomic_load(&slots->highest))
		atomic_store(&slots->highest, wg->slot);
	if (!wg->n_turns && !atomic_compare_exchange_strong(&slots->owner[wg->slot], &seen, me))
		atomic_fetch_add(&slots->n_clashes, 1);
	if (wg->n_turns < wg->index % 5)
		return wg->index % 2 ? SG_WG_RUNNABLE : SG_WG_WAITING;
	atomic_store(&slots->owner[wg->slot], 0);
	return SG_WG_DONE;
}

static void scratch_slots_are_exclusive_and_limited(void **state)
{
	struct slots *slots = calloc(1, sizeof(*slots));
	struct sg_amd_signal *done = rig_signal(rig, 1);
	union sg_aql_packet packet = rig_kernel_packet(kernel(check_slot, slots), 3000, done);
	struct rig_aql aql;

	packet.dispatch.private_bytes = 16;
	rig_aql_open(rig, &aql, 64);
	aql.amd->scratch_lane_bytes = 16;
	aql.amd->tmpring_size = 7 | 1 << 12;
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(done));
	assert_int_equal(atomic_load(&slots->n_clashes), 0);
	assert_true(atomic_load(&slots->highest) < 7);
	rig_aql_close(rig, &aql);
	free(slots);
}

static void scratch_is_asked_for_and_given_back(void **state)
{
	_Atomic uint32_t counts[4] = { 0 };
	struct sg_amd_signal *done = rig_signal(rig, 1);
	union sg_aql_packet packet = rig_kernel_packet(kernel(count, counts), 4, done);
	struct rig_aql aql;

	packet.dispatch.private_bytes = 1024;
	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(code_of(&aql) == SG_QUEUE_NEED_SCRATCH);
	/* as the runtime answers: the packet is still there, nothing ran */
	assert_int_equal(atomic_load(&aql.amd->read_dispatch_id), 0);
	assert_int_equal(atomic_load(&counts[0]), 0);
	aql.amd->tmpring_size = 64 | 64 << 12;
	aql.amd->scratch_lane_bytes = 1024;
	aql.amd->properties = SG_AMD_QUEUE_SCRATCH_ONCE;
	atomic_store(&aql.inactive->value, 0);
	rig_eventually(is_zero(done));
	rig_eventually(code_of(&aql) == SG_QUEUE_SCRATCH_UNUSED);
	assert_int_equal(atomic_load(&counts[3]), 1);
	rig_aql_close(rig, &aql);
}

static void scratch_is_used_up_to_the_packet_that_the_runtime_allows(void **state)
{
	_Atomic uint32_t counts[4] = { 0 };
	struct sg_amd_signal *first = rig_signal(rig, 1), *second = rig_signal(rig, 1);
	struct sg_amd_signal *third = rig_signal(rig, 1);
	union sg_aql_packet packet = rig_kernel_packet(kernel(count, counts), 4, first);
	struct sg_amd_queue_v2 *v2;
	struct rig_aql aql;

	rig_aql_open(rig, &aql, 64);
	v2 = (struct sg_amd_queue_v2 *)aql.amd;
	atomic_store(&aql.amd->scratch_max_use, UINT64_MAX);
	atomic_fetch_or(&aql.amd->caps, SG_AMD_QUEUE_SW_RECLAIM);
	aql.amd->tmpring_size = 64 | 64 << 12;
	aql.amd->scratch_lane_bytes = 1024;
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(first));
	assert_false(atomic_load(&aql.amd->caps) & SG_AMD_QUEUE_CP_RECLAIM); /* needs no scratch */
	packet.dispatch.private_bytes = 1024;
	packet.dispatch.completion = (uint64_t)second;
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(second));
	assert_true(atomic_load(&aql.amd->caps) & SG_AMD_QUEUE_CP_RECLAIM);
	assert_int_equal(atomic_load(&v2->last_used[0].main), 1);
	/* as ROCr takes it back */
	sg_cp_queue_set_active(aql.queue, false);
	atomic_store(&aql.amd->scratch_max_use, atomic_load(&v2->last_used[0].main));
	sg_cp_queue_set_active(aql.queue, true);
	packet.dispatch.completion = (uint64_t)third;
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(code_of(&aql) == SG_QUEUE_NEED_SCRATCH);
	assert_int_equal(atomic_load(&counts[0]), 2);
	atomic_store(&aql.amd->scratch_max_use, UINT64_MAX);
	atomic_store(&aql.inactive->value, 0);
	rig_eventually(is_zero(third));
	assert_int_equal(atomic_load(&v2->last_used[0].main), 2);
	rig_aql_close(rig, &aql);
}

static void barriers_hold_their_queue_and_no_other(void **state)
{
	struct sg_amd_signal *a = rig_signal(rig, 1), *b = rig_signal(rig, 1);
	struct sg_amd_signal *all = rig_signal(rig, 1), *any = rig_signal(rig, 1);
	struct sg_amd_signal *value = rig_signal(rig, 1), *free_one = rig_signal(rig, 1);
	union sg_aql_packet packet = { .barrier = { .signals = { (uint64_t)a, 0, (uint64_t)b },
						    .completion = (uint64_t)all } };
	struct rig_aql one, two, three;

	rig_aql_open(rig, &one, 64);
	rig_aql_open(rig, &two, 64);
	rig_aql_open(rig, &three, 64);
	rig_aql_submit(&one, &packet, HEADER(SG_AQL_BARRIER_AND));
	packet.barrier.completion = (uint64_t)any;
	rig_aql_submit(&two, &packet, HEADER(SG_AQL_BARRIER_OR));
	packet = (union sg_aql_packet){ .vendor = { .format = 2,
						    .signal = (uint64_t)b,
						    .mask = 0xff,
						    .value = 0x42,
						    .condition = 0,
						    .completion = (uint64_t)value } };
	rig_aql_submit(&three, &packet, HEADER(SG_AQL_VENDOR));

	packet = (union sg_aql_packet){ .barrier.completion = (uint64_t)free_one };
	{
		struct rig_aql four;

		rig_aql_open(rig, &four, 64);
		rig_aql_submit(&four, &packet, HEADER(SG_AQL_BARRIER_AND));
		rig_eventually(is_zero(free_one));
		rig_aql_close(rig, &four);
	}
	assert_false(is_zero(all));
	assert_false(is_zero(any));
	atomic_store(&a->value, 0);
	rig_eventually(is_zero(any));
	assert_false(is_zero(all));
	atomic_store(&b->value, 0x742);
	rig_eventually(is_zero(value));
	assert_false(is_zero(all));
	atomic_store(&b->value, 0);
	rig_eventually(is_zero(all));
	rig_aql_close(rig, &one);
	rig_aql_close(rig, &two);
	rig_aql_close(rig, &three);
}

static void bad_packets_halt_the_queue_with_the_code(void **state)
{
	uint64_t good = (uint64_t)kernel(NULL, NULL);
	const union sg_aql_packet ok = rig_kernel_packet((void *)good, 1, NULL);
	struct {
		uint16_t header;
		union sg_aql_packet packet;
		int64_t code;
	} cases[] = {
		{ HEADER(SG_AQL_AGENT), ok, SG_QUEUE_BAD_PACKET },
		{ HEADER(77), ok, SG_QUEUE_BAD_PACKET },
		{ HEADER(SG_AQL_VENDOR), { .vendor.format = 9 }, SG_QUEUE_BAD_VENDOR_PACKET },
		{ HEADER(SG_AQL_VENDOR),
		  { .vendor = { .format = 2, .signal = 12345 } },
		  SG_QUEUE_BAD_VENDOR_PACKET },
		{ HEADER(SG_AQL_BARRIER_AND),
		  { .barrier.signals = { 0xdeadbeef } },
		  SG_QUEUE_BAD_PACKET },
		{ HEADER(SG_AQL_BARRIER_AND),
		  { .barrier.completion = ~0ull },
		  SG_QUEUE_BAD_PACKET },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_DIMENSIONS },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_DIMENSIONS },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_CODE },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_GROUP_SIZE },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_GROUP_MEMORY },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_PACKET },
		{ HEADER(SG_AQL_DISPATCH), ok, SG_QUEUE_BAD_DIMENSIONS },
	};

	cases[6].packet.dispatch.grid_size[1] = 0;
	cases[7].packet.dispatch.wg_size[0] = 0;
	cases[8].packet.dispatch.kernel_object = 0x1000;
	cases[9].packet.dispatch.wg_size[0] = 2048;
	cases[10].packet.dispatch.group_bytes = 65537;
	cases[11].packet.dispatch.completion = 3;
	cases[12].packet.dispatch.setup = 4; /* before the scratch that it asks for, too */
	cases[12].packet.dispatch.private_bytes = 1 << 20;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig_aql aql;

		rig_aql_open(rig, &aql, 64);
		rig_aql_submit(&aql, &cases[i].packet, cases[i].header);
		rig_aql_submit(&aql, &ok, HEADER(SG_AQL_DISPATCH));
		rig_eventually(code_of(&aql) == cases[i].code);
		assert_int_equal(atomic_load(&aql.amd->read_dispatch_id), 0);
		rig_aql_close(rig, &aql);
	}
}

static void garbage_never_hurts(void **state)
{
	srand(2);
	for (int round = 0; round < 300; round++) {
		union sg_aql_packet packet;
		struct rig_aql aql;

		for (size_t i = 0; i < sizeof(packet); i++)
			((uint8_t *)&packet)[i] = (uint8_t)rand();
		rig_aql_open(rig, &aql, 64);
		rig_aql_submit(&aql, &packet, (uint16_t)(rand() & 0xff07));
		rig_pause();
		rig_aql_close(rig, &aql);
	}
}

static enum sg_wg_state never(struct fake_wg *wg, void *arg)
{
	return wg->index % 2 ? SG_WG_RUNNABLE : SG_WG_WAITING;
}

static enum sg_wg_state until_stopped(struct fake_wg *wg, void *arg)
{
	while (!atomic_load(&wg->launch->stop))
		;
	return SG_WG_RUNNABLE;
}

static void a_busy_queue_can_be_destroyed(void **state)
{
	enum sg_wg_state (*const kernels[])(struct fake_wg *, void *) = { never, until_stopped };

	for (int i = 0; i < 10; i++) {
		struct sg_amd_signal *done = rig_signal(rig, 1);
		union sg_aql_packet packet =
			rig_kernel_packet(kernel(kernels[i % 2], NULL), 1000, done);
		struct rig_aql aql;

		rig_aql_open(rig, &aql, 64);
		rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
		rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
		for (int n = 0; n < i * 20; n++)
			rig_pause();
		rig_aql_close(rig, &aql);
		assert_int_equal(atomic_load(&done->value), 1);
	}
}

static enum sg_wg_state fault_at_7(struct fake_wg *wg, void *arg)
{
	if (wg->index != 7)
		return SG_WG_DONE;
	wg->fault = *(struct sg_fault *)arg;
	return SG_WG_FAULT;
}

static void faults_halt_the_queue(void **state)
{
	struct sg_fault fault = { .kind = SG_FAULT_MEMORY, .address = 0x123000, .write = true };
	union sg_aql_packet packet = rig_kernel_packet(kernel(fault_at_7, &fault), 100, NULL);
	uint32_t before = atomic_load(&rig->n_faults);
	struct rig_aql aql;

	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(atomic_load(&rig->n_faults) == before + 1);
	assert_int_equal(rig->fault.address, 0x123000);
	rig_aql_close(rig, &aql);

	fault.kind = SG_FAULT_TRAP;
	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(code_of(&aql) == 0x80000000);
	rig_aql_close(rig, &aql);

	fault.kind = SG_FAULT_ILLEGAL;
	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(code_of(&aql) == 0x40000000);
	rig_aql_close(rig, &aql);
}

static void a_thousand_queues_all_get_served(void **state)
{
	enum { N = 1000 };
	struct rig_aql *queues = calloc(N, sizeof(*queues));
	struct sg_amd_signal *done = rig_signal(rig, N * 3);
	struct fake_kernel *k = kernel(NULL, NULL);
	union sg_aql_packet packet = rig_kernel_packet(k, 3, done);

	for (int i = 0; i < N; i++)
		rig_aql_open(rig, &queues[i], 4);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < N; i++)
			rig_aql_submit(&queues[i], &packet, HEADER(SG_AQL_DISPATCH));
	}
	rig_eventually(is_zero(done));
	for (int i = 0; i < N; i++)
		rig_aql_close(rig, &queues[i]);
	free(queues);
}

static void a_suspended_queue_starts_nothing(void **state)
{
	struct sg_amd_signal *done = rig_signal(rig, 1);
	union sg_aql_packet packet = { .barrier.completion = (uint64_t)done };
	struct rig_aql aql;

	rig_aql_open(rig, &aql, 64);
	sg_cp_queue_set_active(aql.queue, false);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_BARRIER_AND));
	usleep(20000);
	assert_false(is_zero(done));
	sg_cp_queue_set_active(aql.queue, true);
	rig_eventually(is_zero(done));
	rig_aql_close(rig, &aql);
}

static void idling_costs_next_to_nothing(void **state)
{
	struct rusage before, after;
	struct rig_aql aql;
	double cpu_s;

	rig_aql_open(rig, &aql, 64);
	usleep(1500000); /* deep sleep begins after one second */
	getrusage(RUSAGE_SELF, &before);
	usleep(1000000);
	getrusage(RUSAGE_SELF, &after);
	cpu_s = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
		(double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
		1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
		1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
	print_message("idle: %.2f %% of a core\n", 100 * cpu_s);
	/* The aim is 1 %; sanitizers and a loaded machine get some room. */
	assert_true(cpu_s < 0.05);
	rig_aql_close(rig, &aql);
}

/* --- kernel arguments in registers --- */

struct seen_launch {
	uint64_t entry;
	uint32_t n_preloaded, preloaded[SG_LAUNCH_MAX_PRELOADED];
};

static enum sg_wg_state look_at_launch(struct fake_wg *wg, void *arg)
{
	struct seen_launch *seen = arg;

	seen->entry = wg->launch->entry - wg->launch->kernel_object;
	seen->n_preloaded = wg->launch->n_preloaded;
	memcpy(seen->preloaded, wg->launch->preloaded, sizeof(seen->preloaded));
	return SG_WG_DONE;
}

static struct seen_launch launch_with_preload(uint16_t preload)
{
	struct seen_launch seen = { 0 };
	struct sg_amd_signal *done = rig_signal(rig, 1);
	struct fake_kernel *k = kernel(look_at_launch, &seen);
	union sg_aql_packet packet = rig_kernel_packet(k, 1, done);
	uint32_t *arguments = (void *)rig_alloc(rig, 64);
	struct rig_aql aql;

	for (uint32_t i = 0; i < 16; i++)
		arguments[i] = 100 + i;
	k->entry_offset = 0x400;
	k->preload = preload;
	packet.dispatch.kernarg = (uintptr_t)arguments - rig->mem.host_base;
	rig_aql_open(rig, &aql, 64);
	rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(is_zero(done) || code_of(&aql));
	rig_aql_close(rig, &aql);
	return seen;
}

static void arguments_are_preloaded_from_gfx942_on(void **state)
{
	struct sg_device *mi210 = rig->device;
	struct sg_topology topology;
	struct seen_launch seen;
	char error[240];

	assert_true(sg_topology_parse(&topology, "mi300x", error, sizeof(error)));
	seen = launch_with_preload(3 | 2 << 7);
	assert_int_equal(seen.entry, 0x400); /* gfx90a runs the loads at its entry */
	assert_int_equal(seen.n_preloaded, 0);
	rig->device = sg_device_create(rig->cp, &rig->mem, &topology.gpus[0], 2);
	assert_non_null(rig->device);
	seen = launch_with_preload(3 | 2 << 7);
	assert_int_equal(seen.entry, 0x500);
	assert_int_equal(seen.n_preloaded, 3);
	assert_int_equal(seen.preloaded[0], 102);
	assert_int_equal(seen.preloaded[2], 104);
	seen = launch_with_preload(17); /* more than there are registers: not run */
	assert_int_equal(seen.entry, 0);
	sg_device_destroy(rig->device);
	rig->device = mi210;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_workgroup_runs_once),
		cmocka_unit_test(workgroups_that_wait_for_each_other_finish),
		cmocka_unit_test(scratch_slots_are_exclusive_and_limited),
		cmocka_unit_test(scratch_is_asked_for_and_given_back),
		cmocka_unit_test(scratch_is_used_up_to_the_packet_that_the_runtime_allows),
		cmocka_unit_test(barriers_hold_their_queue_and_no_other),
		cmocka_unit_test(bad_packets_halt_the_queue_with_the_code),
		cmocka_unit_test(garbage_never_hurts),
		cmocka_unit_test(a_busy_queue_can_be_destroyed),
		cmocka_unit_test(faults_halt_the_queue),
		cmocka_unit_test(a_thousand_queues_all_get_served),
		cmocka_unit_test(a_suspended_queue_starts_nothing),
		cmocka_unit_test(arguments_are_preloaded_from_gfx942_on),
		cmocka_unit_test(idling_costs_next_to_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
