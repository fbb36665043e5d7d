#include "tests/unit/softgpu/rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softgpu/device/extent.h"
#include "softgpu/device/log.h"

#define PAGE 4096ull
#define MIB (1ull << 20)

static int open_vm(void **state)
{
	uint64_t capacities[3] = { 1ull << 40, 64ull << 30, 1ull << 30 };

	sg_gpu_log_set("none");
	*state = sg_vm_create(capacities, 3);
	return *state ? 0 : -1;
}

static int close_vm(void **state)
{
	sg_vm_destroy(*state);
	return 0;
}

static uint64_t alloc(struct sg_vm *vm, enum sg_vm_kind kind, uint32_t node, uint64_t size)
{
	uint64_t addr = 0;

	assert_int_equal(sg_vm_alloc(vm, kind, node, size, 0x40, false, &addr), SG_VM_OK);
	return addr;
}

static void blocks_are_aligned_apart_and_zero(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t small = alloc(vm, SG_VM_VRAM, 1, PAGE), large = alloc(vm, SG_VM_VRAM, 1, 2 * MIB);
	uint64_t host = alloc(vm, SG_VM_HOST, 0, PAGE);
	uint8_t *bytes = (uint8_t *)large;

	assert_int_equal(small % (64 << 10), 0);
	assert_int_equal(large % (2 * MIB), 0);
	assert_int_equal(host % PAGE, 0);
	for (uint64_t i = 0; i < 2 * MIB; i++)
		assert_int_equal(bytes[i], 0);
	/* the byte behind a block belongs to nobody */
	assert_false(sg_vm_accessible(vm, small + PAGE, 1));
	assert_false(sg_vm_accessible(vm, small + PAGE - 1, 2));
	assert_true(sg_vm_accessible(vm, small, PAGE));
	/* memory comes back zeroed after it was used */
	memset(bytes, 0xff, 2 * MIB);
	assert_int_equal(sg_vm_free(vm, large), SG_VM_OK);
	assert_false(sg_vm_accessible(vm, large, 1));
	assert_int_equal(alloc(vm, SG_VM_VRAM, 1, 2 * MIB), large);
	for (uint64_t i = 0; i < 2 * MIB; i++)
		assert_int_equal(bytes[i], 0);
}

/* Where an address was found last is remembered; blocks that come and go move everything. */
static void what_was_found_before_is_not_believed(void **state)
{
	enum { N = 200 };
	struct sg_vm *vm = *state;
	uint64_t addrs[N];

	for (uint32_t i = 0; i < N; i++)
		addrs[i] = alloc(vm, SG_VM_VRAM, 1, PAGE);
	for (uint32_t turn = 0; turn < 3; turn++) {
		for (uint32_t i = 0; i < N; i++) {
			assert_true(sg_vm_accessible(vm, addrs[i], PAGE));
			assert_false(sg_vm_accessible(vm, addrs[i] + 1, PAGE));
		}
		/* from the low end: every index behind it moves */
		for (uint32_t i = turn; i < N; i += 3) {
			assert_true(sg_vm_accessible(vm, addrs[i], 1));
			assert_int_equal(sg_vm_free(vm, addrs[i]), SG_VM_OK);
			assert_false(sg_vm_accessible(vm, addrs[i], 1));
			assert_true(sg_vm_accessible(vm, addrs[(i + 1) % N], 1));
		}
		for (uint32_t i = turn; i < N; i += 3)
			addrs[i] = alloc(vm, SG_VM_VRAM, 1, PAGE);
	}
}

static void ten_thousand_allocations_are_found_and_freed(void **state)
{
	enum { N = 10000 };
	struct sg_vm *vm = *state;
	uint64_t *addrs = calloc(N, sizeof(*addrs));
	uint64_t before = sg_vm_available(vm, 1);
	struct sg_vm_info info;

	for (uint32_t i = 0; i < N; i++) {
		addrs[i] = alloc(vm, i % 3 ? SG_VM_VRAM : SG_VM_HOST, i % 3 ? 1 : 0,
				 (i % 7 + 1) * PAGE);
		*(uint32_t *)addrs[i] = i;
	}
	for (uint32_t i = 0; i < N; i++) {
		uint64_t size = (i % 7 + 1) * PAGE;

		assert_int_equal(*(uint32_t *)addrs[i], i);
		assert_int_equal(sg_vm_query(vm, addrs[i] + size - 1, &info), SG_VM_OK);
		assert_int_equal(info.start, addrs[i]);
		assert_int_equal(info.size, size);
		assert_int_equal(info.node, i % 3 ? 1 : 0);
		assert_int_equal(sg_vm_query(vm, addrs[i] + size, &info), SG_VM_NOT_FOUND);
	}
	/* in an order that leaves holes everywhere first */
	for (uint32_t step = 0; step < 7; step++) {
		for (uint32_t i = step; i < N; i += 7)
			assert_int_equal(sg_vm_free(vm, addrs[i]), SG_VM_OK);
	}
	assert_int_equal(sg_vm_available(vm, 1), before);
	/* all holes have merged: the space can be used whole again */
	assert_int_equal(alloc(vm, SG_VM_HOST, 0,
			       sg_vm_end(vm) - sg_vm_start(vm) - 64 * MIB < (512ull << 30)
				       ? 16 * MIB
				       : 512ull << 30),
			 sg_vm_start(vm));
	free(addrs);
}

static void more_than_the_card_has_is_refused(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t first = alloc(vm, SG_VM_VRAM, 2, 768 * MIB), addr = 0;

	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 2, 512 * MIB, 0, false, &addr),
			 SG_VM_NO_MEMORY);
	assert_int_equal(sg_vm_available(vm, 2), 256 * MIB);
	/* another card is not concerned, and freeing makes room */
	alloc(vm, SG_VM_VRAM, 1, 512 * MIB);
	assert_int_equal(sg_vm_free(vm, first), SG_VM_OK);
	alloc(vm, SG_VM_VRAM, 2, 1024 * MIB);
	/* scratch is address space */
	alloc(vm, SG_VM_SCRATCH, 2, 4096 * MIB);
}

static void nonsense_is_refused(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t addr = alloc(vm, SG_VM_VRAM, 1, 4 * PAGE), other = 0;
	struct sg_vm_info info;

	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 1, 0, 0, false, &other), SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 1, 5, 0, false, &other), SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 9, PAGE, 0, false, &other),
			 SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 1, ~0ull << 12, 0, false, &other),
			 SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_vm_free(vm, addr + PAGE), SG_VM_NOT_FOUND);
	assert_int_equal(sg_vm_free(vm, 0), SG_VM_NOT_FOUND);
	assert_int_equal(sg_vm_free(vm, addr), SG_VM_OK);
	assert_int_equal(sg_vm_free(vm, addr), SG_VM_NOT_FOUND);
	assert_int_equal(sg_vm_query(vm, addr, &info), SG_VM_NOT_FOUND);
	/* an address that is taken cannot be had */
	addr = alloc(vm, SG_VM_HOST, 0, PAGE);
	other = addr;
	assert_int_equal(sg_vm_alloc(vm, SG_VM_HOST, 0, PAGE, 0, true, &other), SG_VM_NO_MEMORY);
	other = addr + 1024 * MIB;
	assert_int_equal(sg_vm_alloc(vm, SG_VM_HOST, 0, PAGE, 0, true, &other), SG_VM_OK);
	assert_int_equal(other, addr + 1024 * MIB);
}

static void pins_are_counted_and_may_overlap(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t mem = (uint64_t)mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sg_vm_info info;

	assert_false(sg_vm_reachable(vm, mem, 1));
	assert_int_equal(sg_vm_pin(vm, mem, 4 * PAGE, 0x2040), SG_VM_OK);
	assert_int_equal(sg_vm_pin(vm, mem, 4 * PAGE, 0x2040), SG_VM_OK);
	assert_int_equal(sg_vm_pin(vm, mem + 2 * PAGE, 4 * PAGE, 0), SG_VM_OK);
	assert_true(sg_vm_reachable(vm, mem, 6 * PAGE));
	assert_false(sg_vm_reachable(vm, mem, 6 * PAGE + 1));
	assert_int_equal(sg_vm_query(vm, mem + PAGE, &info), SG_VM_OK);
	assert_int_equal(info.kind, SG_VM_PINNED);
	assert_int_equal(info.size, 4 * PAGE);
	assert_int_equal(info.flags, 0x2040);

	assert_int_equal(sg_vm_unpin(vm, mem), SG_VM_OK);
	assert_true(sg_vm_reachable(vm, mem, 6 * PAGE));
	assert_int_equal(sg_vm_unpin(vm, mem), SG_VM_OK);
	assert_false(sg_vm_reachable(vm, mem, 1));
	assert_true(sg_vm_reachable(vm, mem + 2 * PAGE, 4 * PAGE));
	assert_int_equal(sg_vm_unpin(vm, mem), SG_VM_NOT_FOUND);
	assert_int_equal(sg_vm_unpin(vm, mem + 2 * PAGE), SG_VM_OK);
	assert_false(sg_vm_reachable(vm, mem + 2 * PAGE, 1));
	munmap((void *)mem, 8 * PAGE);
}

static void nodes_and_user_data_stay_with_the_block(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t addr = alloc(vm, SG_VM_VRAM, 1, 4 * MIB);
	uint32_t nodes[2] = { 1, 2 }, bad[1] = { 7 };
	struct sg_vm_info info;

	assert_int_equal(sg_vm_set_nodes(vm, addr + MIB, nodes, 2), SG_VM_OK);
	assert_int_equal(sg_vm_set_nodes(vm, addr, bad, 1), SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_vm_set_user_data(vm, addr, &info), SG_VM_OK);
	assert_int_equal(sg_vm_query(vm, addr + 3 * MIB, &info), SG_VM_OK);
	assert_int_equal(info.n_mapped_nodes, 2);
	assert_int_equal(info.mapped_nodes[1], 2);
	assert_ptr_equal(info.user_data, &info);
}

static void a_block_can_be_shared_with_another_process(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t addr = alloc(vm, SG_VM_VRAM, 1, 2 * MIB);
	struct sg_vm_handle handle;
	int status;
	pid_t pid;

	*(uint64_t *)(addr + MIB) = 0x1234;
	assert_int_equal(sg_vm_export(vm, addr, &handle), SG_VM_OK);
	assert_int_equal(sg_vm_export(vm, addr + PAGE, &handle), SG_VM_NOT_FOUND);
	pid = fork();
	if (!pid) {
		uint64_t capacities[2] = { 1ull << 30, 1ull << 30 }, there;
		struct sg_vm *child = sg_vm_create(capacities, 2);

		if (!child || sg_vm_import(child, &handle, &there) || there % (2 * MIB) ||
		    *(uint64_t *)(there + MIB) != 0x1234)
			_exit(1);
		*(uint64_t *)there = 0x5678;
		if (sg_vm_unpin(child, there) || sg_vm_accessible(child, there, 1))
			_exit(2);
		handle.fd = 0; /* not one of ours */
		_exit(sg_vm_import(child, &handle, &there) == SG_VM_NO_ACCESS ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(*(uint64_t *)addr, 0x5678);
	handle.pid = pid; /* gone */
	assert_int_equal(sg_vm_import(vm, &handle, &addr), SG_VM_NO_ACCESS);
}

struct freeing {
	struct sg_vm *vm;
	uint64_t addr;
};

static void *free_block(void *arg)
{
	struct freeing *f = arg;

	assert_int_equal(sg_vm_free(f->vm, f->addr), SG_VM_OK);
	return NULL;
}

static void who_is_inside_may_ask_while_another_frees(void **state)
{
	struct freeing f = { .vm = *state };
	uint64_t other = alloc(f.vm, SG_VM_VRAM, 1, PAGE);
	struct sg_vm_info info;
	pthread_t thread;

	f.addr = alloc(f.vm, SG_VM_VRAM, 1, PAGE);
	alarm(20); /* a lock each has that the other wants */
	sg_vm_enter(f.vm);
	assert_int_equal(pthread_create(&thread, NULL, free_block, &f), 0);
	while (sg_vm_accessible(f.vm, f.addr, 1))
		usleep(100);
	usleep(20000);
	assert_int_equal(sg_vm_query(f.vm, other, &info), SG_VM_OK);
	assert_int_equal(info.start, other);
	/* it is mapped as long as somebody is inside, and nobody frees it twice */
	*(volatile uint8_t *)f.addr = 1;
	assert_int_equal(sg_vm_free(f.vm, f.addr), SG_VM_NOT_FOUND);
	sg_vm_leave(f.vm);
	pthread_join(thread, NULL);
	assert_int_equal(sg_vm_query(f.vm, f.addr, &info), SG_VM_NOT_FOUND);
	alarm(0);
}

static void a_child_does_not_inherit_device_memory(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t addr = alloc(vm, SG_VM_VRAM, 1, PAGE);
	unsigned char resident;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(mincore((void *)addr, PAGE, &resident) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(blocks_are_aligned_apart_and_zero, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(what_was_found_before_is_not_believed, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(ten_thousand_allocations_are_found_and_freed,
						open_vm, close_vm),
		cmocka_unit_test_setup_teardown(more_than_the_card_has_is_refused, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(nonsense_is_refused, open_vm, close_vm),
		cmocka_unit_test_setup_teardown(pins_are_counted_and_may_overlap, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(nodes_and_user_data_stay_with_the_block, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(a_block_can_be_shared_with_another_process, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(who_is_inside_may_ask_while_another_frees, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(a_child_does_not_inherit_device_memory, open_vm,
						close_vm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
