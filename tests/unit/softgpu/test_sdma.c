#include "tests/unit/softgpu/rig.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LO(p) (uint32_t)(uint64_t)(p)
#define HI(p) (uint32_t)((uint64_t)(p) >> 32)

static struct rig *rig;
static struct rig_sdma sdma;

static int setup(void **state)
{
	rig = rig_create(1);
	rig_sdma_open(rig, &sdma);
	return 0;
}

static int teardown(void **state)
{
	rig_sdma_close(rig, &sdma);
	rig_destroy(rig);
	return 0;
}

static bool caught_up(void)
{
	return atomic_load(&sdma.pointers[1]) == atomic_load(&sdma.pointers[0]);
}

#define SUBMIT(...)                                                                                \
	do {                                                                                       \
		const uint32_t submit_dw[] = { __VA_ARGS__ };                                      \
		rig_sdma_submit(&sdma, submit_dw, sizeof(submit_dw) / 4);                          \
	} while (0)
#define COPY(from, to, n) SUBMIT(1, (uint32_t)(n)-1, 0, LO(from), HI(from), LO(to), HI(to))

static void a_copy_ends_with_the_signal_and_the_event(void **state)
{
	enum { N = 12 << 20 };
	uint8_t *from = (void *)rig_alloc(rig, N), *to = (void *)rig_alloc(rig, N);
	uint64_t *stamps = (void *)rig_alloc(rig, 4096);
	struct sg_amd_signal *signal = rig_signal(rig, 1);
	uint64_t mailbox;
	uint32_t id;

	assert_int_equal(sg_event_create(rig->events, SG_EVENT_SIGNAL, false, false, &id, &mailbox),
			 SG_EVENT_OK);
	for (int i = 0; i < N; i++)
		from[i] = (uint8_t)(i * 7 + (i >> 12));
	SUBMIT(0); /* a NOP in front */
	SUBMIT(13 | 2 << 8, LO(&stamps[0]), HI(&stamps[0]));
	SUBMIT(8, 0, 0, 0, 0, 0); /* the flush of the host data path */
	COPY(from, to, N);
	SUBMIT(13 | 2 << 8, LO(&stamps[1]), HI(&stamps[1]));
	SUBMIT(10 | 47u << 25, LO(&signal->value), HI(&signal->value), 0xffffffff, 0xffffffff, 0, 0,
	       0);
	SUBMIT(5, LO(mailbox), HI(mailbox), id);
	SUBMIT(6, id);
	assert_int_equal(sg_event_wait(rig->events, &id, 1, false, 10000), SG_EVENT_OK);
	assert_int_equal(atomic_load(&signal->value), 0);
	assert_int_equal(*(uint32_t *)mailbox, id);
	assert_memory_equal(from, to, N);
	assert_true(stamps[0] && stamps[1] > stamps[0]);
}

static void a_rectangle_copies_rows_and_slices(void **state)
{
	enum {
		W = 50,
		H = 9,
		D = 3,
		SRC_PITCH = 64,
		DST_PITCH = 80,
		SRC_SLICE = 64 * 12,
		DST_SLICE = 80 * 10
	};
	uint32_t *from = (void *)rig_alloc(rig, 4 * SRC_SLICE * D + 4096);
	uint32_t *to = (void *)rig_alloc(rig, 4 * DST_SLICE * D + 4096);

	for (int i = 0; i < SRC_SLICE * D + 8; i++)
		from[i] = (uint32_t)i;
	SUBMIT(1 | 4 << 8 | 2u << 29, LO(from), HI(from), 3, (SRC_PITCH - 1) << 13, SRC_SLICE - 1,
	       LO(to), HI(to), 5, (DST_PITCH - 1) << 13, DST_SLICE - 1, (W - 1) | (H - 1) << 16,
	       D - 1);
	rig_eventually(caught_up());
	for (int z = 0; z < D; z++) {
		for (int y = 0; y < H; y++) {
			uint32_t *row = &to[z * DST_SLICE + y * DST_PITCH];

			for (int x = 0; x < W; x++)
				assert_int_equal(row[x + 5], z * SRC_SLICE + y * SRC_PITCH + x + 3);
			assert_int_equal(row[4], 0);
			assert_int_equal(row[W + 5], 0);
		}
	}
}

static void fill_and_write(void **state)
{
	uint32_t *to = (void *)rig_alloc(rig, 6 << 20);

	SUBMIT(11 | 2u << 30, LO(to), HI(to), 0xdeadbeef, (5u << 20) - 4);
	SUBMIT(2, LO(to), HI(to), 1, 11, 22);
	rig_eventually(caught_up());
	assert_int_equal(to[0], 11);
	assert_int_equal(to[1], 22);
	assert_int_equal(to[2], 0xdeadbeef);
	assert_int_equal(to[(5 << 18) - 1], 0xdeadbeef);
	assert_int_equal(to[5 << 18], 0);
}

static void a_poll_waits_without_holding_up_others(void **state)
{
	uint32_t *cell = (void *)rig_alloc(rig, 4096);
	struct rig_sdma other;
	uint32_t fence[] = { 5, LO(cell + 1), HI(cell + 1), 77 };

	SUBMIT(8 | 3u << 28 | 1u << 31, LO(cell), HI(cell), 5, 0xffff, 0);
	SUBMIT(5, LO(cell + 2), HI(cell + 2), 88);
	rig_sdma_open(rig, &other);
	rig_sdma_submit(&other, fence, 4);
	rig_eventually(atomic_load((_Atomic uint32_t *)&cell[1]) == 77);
	assert_int_equal(cell[2], 0);
	atomic_store((_Atomic uint32_t *)cell, 0xf0005);
	rig_eventually(atomic_load((_Atomic uint32_t *)&cell[2]) == 88);
	rig_sdma_close(rig, &other);
}

static void the_ring_wraps(void **state)
{
	uint32_t *cells = (void *)rig_alloc(rig, 4096);

	for (uint32_t i = 0; i < 20000; i++)
		SUBMIT(5, LO(cells), HI(cells), i);
	rig_eventually(caught_up());
	assert_int_equal(cells[0], 19999);
}

static void bad_packets_halt_the_queue_and_are_reported(void **state)
{
	static const uint32_t opcodes[] = { 3, 4, 7, 9, 12, 14, 99, 255, 1 | 9 << 8, 10 };
	uint32_t before = atomic_load(&rig->n_faults);
	uint64_t mem = rig_alloc(rig, 4096);

	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		uint32_t packet[16] = { opcodes[i], LO(mem), HI(mem) };
		struct rig_sdma bad;

		rig_sdma_open(rig, &bad);
		rig_sdma_submit(&bad, packet, 16);
		rig_eventually(atomic_load(&rig->n_faults) == before + i + 1);
		assert_true(rig->fault.hang);
		assert_int_equal(atomic_load(&bad.pointers[1]), 0);
		rig_sdma_close(rig, &bad);
	}
}

static void bad_addresses_are_memory_faults(void **state)
{
	uint64_t good = rig_alloc(rig, 8192),
		 bad[] = { 0, 8, good + 8000, ~0ull - 100, good + 8192 };
	uint32_t before = atomic_load(&rig->n_faults);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (int direction = 0; direction < 2; direction++) {
			uint64_t from = direction ? bad[i] : good, to = direction ? good : bad[i];
			uint32_t packet[] = { 1, 4095, 0, LO(from), HI(from), LO(to), HI(to) };
			struct rig_sdma queue;

			rig_sdma_open(rig, &queue);
			rig_sdma_submit(&queue, packet, 7);
			rig_eventually(atomic_load(&rig->n_faults) ==
				       before + 2 * i + direction + 1);
			assert_false(rig->fault.hang);
			assert_int_equal(rig->fault.address, bad[i]);
			rig_sdma_close(rig, &queue);
		}
	}
}

static void memory_that_vanishes_is_a_fault_too(void **state)
{
	uint8_t *host =
		mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t to = rig_alloc(rig, 65536);
	uint32_t packet[] = { 1, 65535, 0, LO(host), HI(host), LO(to), HI(to) };
	uint32_t before = atomic_load(&rig->n_faults);
	struct rig_sdma queue;

	/* pinned, and then taken away behind the device's back */
	assert_int_equal(sg_vm_pin(rig->vm, (uint64_t)host, 65536, 0), SG_VM_OK);
	mprotect(host + 32768, 32768, PROT_NONE);
	rig_sdma_open(rig, &queue);
	rig_sdma_submit(&queue, packet, 7);
	rig_eventually(atomic_load(&rig->n_faults) == before + 1);
	assert_in_range(rig->fault.address, (uint64_t)host + 32768, (uint64_t)host + 65535);
	rig_sdma_close(rig, &queue);
	assert_int_equal(sg_vm_unpin(rig->vm, (uint64_t)host), SG_VM_OK);
	munmap(host, 65536);
}

static void garbage_never_hurts(void **state)
{
	srand(1);
	for (int round = 0; round < 300; round++) {
		uint32_t packet[32];
		struct rig_sdma queue;

		for (int i = 0; i < 32; i++)
			packet[i] = (uint32_t)rand() << 16 ^ (uint32_t)rand();
		packet[0] &= 0xffffff0f; /* mostly opcodes that exist */
		rig_sdma_open(rig, &queue);
		rig_sdma_submit(&queue, packet, 32);
		rig_pause();
		rig_sdma_close(rig, &queue);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_ends_with_the_signal_and_the_event),
		cmocka_unit_test(a_rectangle_copies_rows_and_slices),
		cmocka_unit_test(fill_and_write),
		cmocka_unit_test(a_poll_waits_without_holding_up_others),
		cmocka_unit_test(the_ring_wraps),
		cmocka_unit_test(bad_packets_halt_the_queue_and_are_reported),
		cmocka_unit_test(bad_addresses_are_memory_faults),
		cmocka_unit_test(memory_that_vanishes_is_a_fault_too),
		cmocka_unit_test(garbage_never_hurts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
