/* Packets told of as they end: all of them, in order, before anybody else can know. */
#include "tests/unit/softgpu/rig.h"

#include <string.h>

#define HEADER(type) ((uint16_t)((type) | 1 << 8))
#define N_PACKETS 300u

static struct rig *rig;

static int setup(void **state)
{
	rig = rig_create(2);
	return rig ? 0 : -1;
}

static int teardown(void **state)
{
	sg_cp_watch(rig->cp, NULL);
	rig_destroy(rig);
	return 0;
}

static enum sg_wg_state end_at_once(struct fake_wg *wg, void *arg)
{
	return SG_WG_DONE;
}

static struct fake_kernel *kernel(void)
{
	struct fake_kernel *k = (void *)rig_alloc(rig, 4096);

	*k = (struct fake_kernel){ .run = end_at_once };
	return k;
}

static int64_t value_of(const struct sg_amd_signal *signal)
{
	return atomic_load(&((struct sg_amd_signal *)signal)->value);
}

/* ---- all of them ---- */

static struct {
	_Atomic uint32_t n_kernels, n_others, n_wrong;
	uint64_t next; /* packet that has to come next */
	const struct sg_amd_queue *queue;
	const struct sg_amd_signal *done; /* counted down by each kernel */
	int keep;
} seen;

static void watch_all(const struct softgpu_done *told)
{
	const union sg_aql_packet *packet = told->aql;
	bool kernel = (packet->dispatch.header & 0xff) == SG_AQL_DISPATCH, ok;
	uint32_t n = atomic_load(&seen.n_kernels);

	ok = told->queue == seen.queue && told->packet == seen.next++ && told->node == 1;
	/* the word is the queue's own, from the first packet on */
	ok &= told->packet ? *told->keep == &seen.keep : *told->keep == NULL;
	*told->keep = &seen.keep;
	if (kernel) {
		ok &= told->start_ns && told->end_ns >= told->start_ns;
		ok &= packet->dispatch.grid_size[0] == 64 * (1 + told->packet % 3);
		ok &= value_of(seen.done) ==
		      (int64_t)(N_PACKETS - n); /* before its own completion */
		atomic_fetch_add(&seen.n_kernels, 1);
	} else {
		atomic_fetch_add(&seen.n_others, 1);
	}
	atomic_fetch_add(&seen.n_wrong, !ok);
}

static void every_packet_is_told_of_in_order(void **state)
{
	const union sg_aql_packet barrier = { 0 };
	struct sg_amd_signal *done = rig_signal(rig, N_PACKETS);
	struct fake_kernel *k = kernel();
	uint32_t n_barriers = 0;
	struct rig_aql aql;

	rig_aql_open(rig, &aql, 64); /* several laps */
	memset(&seen, 0, sizeof(seen));
	seen.queue = aql.amd;
	seen.done = done;
	sg_cp_watch(rig->cp, watch_all);
	for (uint64_t i = 0; i < N_PACKETS; i++) {
		union sg_aql_packet packet;

		if (i % 7 == 3) {
			rig_aql_submit(&aql, &barrier, HEADER(SG_AQL_BARRIER_AND));
			n_barriers++;
		}
		packet = rig_kernel_packet(
			k, (uint32_t)(1 + atomic_load(&aql.amd->write_dispatch_id) % 3), done);
		rig_aql_submit(&aql, &packet, HEADER(SG_AQL_DISPATCH));
	}
	rig_eventually(value_of(done) == 0);
	assert_int_equal(atomic_load(&seen.n_wrong), 0);
	assert_int_equal(atomic_load(&seen.n_kernels), N_PACKETS);
	assert_int_equal(atomic_load(&seen.n_others), n_barriers);
	/* nobody: nothing more is told of */
	sg_cp_watch(rig->cp, NULL);
	rig_aql_submit(&aql, &barrier, HEADER(SG_AQL_BARRIER_AND));
	rig_eventually(atomic_load(&aql.amd->read_dispatch_id) == N_PACKETS + n_barriers + 1);
	assert_int_equal(atomic_load(&seen.n_others), n_barriers);
	rig_aql_close(rig, &aql);
}

/* ---- one that takes long ---- */

static struct {
	const struct sg_amd_queue *slow;
	const struct sg_amd_signal *other; /* what another queue's kernels count down */
	_Atomic bool is_in, came;
} holding;

static void hold_up(const struct softgpu_done *told)
{
	uint64_t until = rig_now_ms() + 10000;

	if (told->queue != holding.slow)
		return;
	atomic_store(&holding.is_in, true);
	while (value_of(holding.other) && rig_now_ms() < until)
		rig_pause();
	atomic_store(&holding.came, value_of(holding.other) == 0);
}

/* The thread that ends one queue's kernel is busy for long: the others' kernels need no turn of it. */
static void one_queue_does_not_hold_up_another(void **state)
{
	struct sg_amd_signal *slow_done = rig_signal(rig, 1), *done = rig_signal(rig, 20);
	union sg_aql_packet packet = rig_kernel_packet(kernel(), 1, slow_done);
	struct rig_aql slow, other;

	rig_aql_open(rig, &slow, 64);
	rig_aql_open(rig, &other, 64);
	memset(&holding, 0, sizeof(holding));
	holding.slow = slow.amd;
	holding.other = done;
	sg_cp_watch(rig->cp, hold_up);
	rig_aql_submit(&slow, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(atomic_load(&holding.is_in));
	packet = rig_kernel_packet(kernel(), 1, done);
	for (int i = 0; i < 20; i++)
		rig_aql_submit(&other, &packet, HEADER(SG_AQL_DISPATCH));
	rig_eventually(value_of(slow_done) == 0);
	assert_true(atomic_load(&holding.came));
	rig_aql_close(rig, &slow);
	rig_aql_close(rig, &other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_packet_is_told_of_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(one_queue_does_not_hold_up_another, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
