#include "softgpu/device/svm.h"

#include <string.h>
#include <sys/mman.h>

#include "softgpu/device/log.h"
#include "tests/unit/softgpu/rig.h"

#define PAGE 4096ull
#define N_PAGES 16

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

static uint64_t map_pages(void)
{
	void *p = mmap(NULL, N_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return (uint64_t)p;
}

static enum sg_vm_status set(struct sg_vm *vm, uint64_t at, uint64_t n_pages, uint32_t what,
			     uint32_t value)
{
	return sg_svm_set(vm, at, n_pages * PAGE, &(struct sg_svm_attr){ what, value }, 1);
}

static uint32_t get(struct sg_vm *vm, uint64_t at, uint64_t n_pages, uint32_t what)
{
	struct sg_svm_attr a = { what, 0 };

	assert_int_equal(sg_svm_get(vm, at, n_pages * PAGE, &a, 1), SG_VM_OK);
	return a.value;
}

static uint32_t access_of(struct sg_vm *vm, uint64_t at, uint64_t n_pages, uint32_t node)
{
	struct sg_svm_attr a = { SG_SVM_ACCESS, node };

	assert_int_equal(sg_svm_get(vm, at, n_pages * PAGE, &a, 1), SG_VM_OK);
	assert_int_equal(a.value, node);
	return a.what;
}

static void memory_that_nobody_spoke_of_has_defaults(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t p = map_pages();

	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFERRED), SG_SVM_NOWHERE);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFETCH), SG_SVM_NOWHERE);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_SET_FLAGS), 3);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_CLEAR_FLAGS), ~3u);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_GRANULARITY), 9);
	assert_int_equal(access_of(vm, p, N_PAGES, 1), SG_SVM_NO_ACCESS);
	assert_false(sg_vm_reachable(vm, p, 4));
	sg_svm_set_xnack(vm, true);
	assert_int_equal(access_of(vm, p, N_PAGES, 1), SG_SVM_ACCESS);
	assert_true(sg_vm_reachable(vm, p, N_PAGES * PAGE));
	assert_false(sg_vm_reachable(vm, 1ull << 47, 4));
	assert_false(sg_vm_accessible(vm, p, 4)); /* not for what must not fail */
	munmap((void *)p, N_PAGES * PAGE);
}

static void access_is_by_page_and_ends_with_it(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t p = map_pages();

	assert_int_equal(set(vm, p + 4 * PAGE, 8, SG_SVM_ACCESS, 1), SG_VM_OK);
	assert_false(sg_vm_reachable(vm, p + 4 * PAGE - 1, 1));
	assert_true(sg_vm_reachable(vm, p + 4 * PAGE, 8 * PAGE));
	assert_false(sg_vm_reachable(vm, p + 12 * PAGE - 2, 4));
	assert_int_equal(access_of(vm, p + 4 * PAGE, 8, 1), SG_SVM_ACCESS);
	assert_int_equal(access_of(vm, p + 4 * PAGE, 8, 2), SG_SVM_NO_ACCESS);
	/* a hole in the middle */
	assert_int_equal(set(vm, p + 6 * PAGE, 1, SG_SVM_NO_ACCESS, 1), SG_VM_OK);
	assert_false(sg_vm_reachable(vm, p + 6 * PAGE, 1));
	assert_true(sg_vm_reachable(vm, p + 7 * PAGE, 5 * PAGE));
	assert_int_equal(access_of(vm, p + 4 * PAGE, 8, 1), SG_SVM_NO_ACCESS); /* not all of it */
	assert_int_equal(set(vm, p + 6 * PAGE, 1, SG_SVM_IN_PLACE, 1), SG_VM_OK);
	assert_true(sg_vm_reachable(vm, p + 4 * PAGE, 8 * PAGE));
	assert_int_equal(access_of(vm, p + 6 * PAGE, 1, 1), SG_SVM_IN_PLACE);
	munmap((void *)p, N_PAGES * PAGE);
}

static void ranges_that_differ_have_no_common_place(void **state)
{
	struct sg_vm *vm = *state;
	uint64_t p = map_pages();

	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_PREFERRED, 1), SG_VM_OK);
	assert_int_equal(set(vm, p + 5 * PAGE, 2, SG_SVM_PREFERRED, 0), SG_VM_OK);
	assert_int_equal(set(vm, p + 5 * PAGE, 2, SG_SVM_SET_FLAGS, 0x20), SG_VM_OK);
	assert_int_equal(set(vm, p + 6 * PAGE, 1, SG_SVM_GRANULARITY, 4), SG_VM_OK);
	assert_int_equal(set(vm, p + 6 * PAGE, 1, SG_SVM_CLEAR_FLAGS, 2), SG_VM_OK);
	assert_int_equal(get(vm, p, 5, SG_SVM_PREFERRED), 1);
	assert_int_equal(get(vm, p + 5 * PAGE, 2, SG_SVM_PREFERRED), 0);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFERRED), SG_SVM_NOWHERE);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_SET_FLAGS), 1);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_CLEAR_FLAGS), ~0x23u);
	assert_int_equal(get(vm, p + 5 * PAGE, 1, SG_SVM_SET_FLAGS), 0x23);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_GRANULARITY), 4);
	/* all alike again */
	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_PREFERRED, 2), SG_VM_OK);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFERRED), 2);
	munmap((void *)p, N_PAGES * PAGE);
}

static void a_prefetch_says_where_the_pages_are(void **state)
{
	struct sg_vm *vm = *state;
	struct sg_vm_info info;
	uint64_t p = map_pages();

	assert_int_equal(sg_svm_query(vm, p, &info), SG_VM_NOT_FOUND);
	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_ACCESS, 1), SG_VM_OK);
	assert_int_equal(sg_svm_query(vm, p + 5000, &info), SG_VM_OK);
	assert_int_equal(info.node, 0);
	assert_int_equal(info.start, p);
	assert_int_equal(info.size, N_PAGES * PAGE);
	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_PREFETCH, 2), SG_VM_OK);
	assert_int_equal(sg_svm_query(vm, p, &info), SG_VM_OK);
	assert_int_equal(info.node, 2);
	/* an allocation of its own for nobody who asks for allocations */
	assert_int_equal(sg_vm_query(vm, p, &info), SG_VM_NOT_FOUND);
	munmap((void *)p, N_PAGES * PAGE);
}

static void pages_that_are_new_know_nothing_of_the_old_ones(void **state)
{
	const struct sg_svm_attr all[] = { { SG_SVM_ACCESS, 1 }, { SG_SVM_ACCESS, 2 } };
	struct sg_vm *vm = *state;
	uint64_t p = map_pages();

	memset((void *)p, 1, N_PAGES * PAGE);
	assert_int_equal(sg_svm_set(vm, p, N_PAGES * PAGE, all, 2), SG_VM_OK);
	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_PREFERRED, 1), SG_VM_OK);
	/* the same memory: it keeps what was said */
	assert_int_equal(sg_svm_set(vm, p, N_PAGES * PAGE, all, 2), SG_VM_OK);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFERRED), 1);
	/* unmapped and mapped again, as hipFree() and hipMallocManaged() do */
	assert_ptr_equal(mmap((void *)p, N_PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 (void *)p);
	assert_int_equal(sg_svm_set(vm, p, N_PAGES * PAGE, all, 2), SG_VM_OK);
	assert_int_equal(get(vm, p, N_PAGES, SG_SVM_PREFERRED), SG_SVM_NOWHERE);
	munmap((void *)p, N_PAGES * PAGE);
}

static void nonsense_is_refused(void **state)
{
	struct sg_vm *vm = *state;
	struct sg_svm_attr bad = { SG_SVM_GRANULARITY + 1, 0 };
	uint64_t p = map_pages(), block = 0;

	assert_int_equal(set(vm, p + 1, 1, SG_SVM_ACCESS, 1), SG_VM_BAD_ARGUMENT);
	assert_int_equal(set(vm, p, 0, SG_SVM_ACCESS, 1), SG_VM_BAD_ARGUMENT);
	assert_int_equal(set(vm, p, 1, SG_SVM_ACCESS, 0), SG_VM_BAD_ARGUMENT);
	assert_int_equal(set(vm, p, 1, SG_SVM_ACCESS, 3), SG_VM_BAD_ARGUMENT);
	assert_int_equal(set(vm, p, 1, SG_SVM_PREFERRED, 3), SG_VM_BAD_ARGUMENT);
	assert_int_equal(set(vm, p, 1, SG_SVM_PREFETCH, SG_SVM_NOWHERE), SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_svm_set(vm, p, PAGE, &bad, 1), SG_VM_BAD_ARGUMENT);
	assert_int_equal(sg_svm_get(vm, p, PAGE, &bad, 1), SG_VM_BAD_ARGUMENT);
	/* device memory has no such attributes */
	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 1, PAGE, 0, false, &block), SG_VM_OK);
	assert_int_equal(set(vm, block, 1, SG_SVM_ACCESS, 1), SG_VM_BAD_ARGUMENT);
	munmap((void *)p, N_PAGES * PAGE);
	assert_int_equal(set(vm, p, 1, SG_SVM_ACCESS, 1), SG_VM_NOT_FOUND);
}

static void the_nearest_allocation_is_found_on_either_side(void **state)
{
	struct sg_vm *vm = *state;
	struct sg_vm_info info;
	uint64_t block = 0, p = map_pages();

	assert_false(sg_vm_nearest(vm, 0x1000, &info));
	assert_int_equal(sg_vm_alloc(vm, SG_VM_VRAM, 1, 4 * PAGE, 0, false, &block), SG_VM_OK);
	assert_true(sg_vm_nearest(vm, block + 5 * PAGE, &info));
	assert_int_equal(info.start, block);
	assert_int_equal(info.size, 4 * PAGE);
	assert_int_equal(info.kind, SG_VM_VRAM);
	assert_int_equal(set(vm, p, N_PAGES, SG_SVM_ACCESS, 1), SG_VM_OK);
	assert_true(sg_vm_nearest(vm, p - 1, &info));
	assert_int_equal(info.start, p);
	assert_int_equal(info.kind, SG_VM_SVM);
	munmap((void *)p, N_PAGES * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(memory_that_nobody_spoke_of_has_defaults, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(access_is_by_page_and_ends_with_it, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(ranges_that_differ_have_no_common_place, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(a_prefetch_says_where_the_pages_are, open_vm,
						close_vm),
		cmocka_unit_test_setup_teardown(pages_that_are_new_know_nothing_of_the_old_ones,
						open_vm, close_vm),
		cmocka_unit_test_setup_teardown(nonsense_is_refused, open_vm, close_vm),
		cmocka_unit_test_setup_teardown(the_nearest_allocation_is_found_on_either_side,
						open_vm, close_vm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
