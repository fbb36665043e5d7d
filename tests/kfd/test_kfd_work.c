/* Events, and queues that signal them. */
#include "tests/kfd/kfd_rig.h"

/* --- events and queues --- */

static uint32_t new_event(uint32_t type)
{
	struct kfd_ioctl_create_event_args args = { .event_type = type, .auto_reset = 1 };

	assert_int_equal(CALL(0x08, &args), 0);
	assert_in_range(args.event_id, 1, KFD_SIGNAL_EVENT_LIMIT - 1);
	return args.event_id;
}

static int wait_for(struct kfd_event_data *data, uint32_t n, uint32_t timeout_ms,
		    uint32_t *out_result)
{
	struct kfd_ioctl_wait_events_args args = { .events_ptr = (uint64_t)data,
						   .num_events = n,
						   .timeout = timeout_ms };
	int error = CALL(0x0c, &args);

	*out_result = args.wait_result;
	return error;
}

static void a_known_age_ends_a_wait_that_came_too_late(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct kfd_ioctl_set_event_args set = { .event_id = data.event_id };
	uint64_t *age = (uint64_t *)&data;
	uint32_t result;

	*age = 1;
	assert_int_equal(wait_for(&data, 1, 1, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
	assert_int_equal(CALL(0x0a, &set), 0);
	assert_int_equal(wait_for(&data, 1, 1000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(*age, 2);
	/* Somebody who has seen an older state does not sleep, though the event is not set any
	 * more. */
	*age = 1;
	assert_int_equal(wait_for(&data, 1, 1000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(wait_for(&data, 1, 1, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
	assert_int_equal(CALL(0x09, &set), 0);
}

static void events_that_do_not_exist_are_refused(void **state)
{
	struct kfd_event_data data = { .event_id = 4000 };
	struct kfd_ioctl_set_event_args event = { .event_id = 4000 };
	struct kfd_ioctl_create_event_args create = { .event_type = 77 };
	uint32_t result;

	assert_int_equal(CALL(0x0a, &event), EINVAL);
	assert_int_equal(CALL(0x0b, &event), EINVAL);
	assert_int_equal(CALL(0x09, &event), EINVAL);
	assert_int_equal(CALL(0x08, &create), EINVAL);
	assert_int_equal(wait_for(&data, 1, 1, &result), EINVAL);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_FAIL);
	assert_int_equal(wait_for((struct kfd_event_data *)8, 1, 1, &result), EFAULT);
}

/* Memory for a ring, its pointers and a signal, in one block of system memory that the runtime
 * has mapped. */
static uint64_t system_memory(uint64_t size, uint64_t *out_handle)
{
	uint64_t va = sg_kfd_reserve(kfd, size, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .va_addr = va,
							   .size = size,
							   .mmap_offset = va,
							   .gpu_id = gpu_ids[0],
							   .flags = USER_FLAGS };

	assert_ptr_not_equal(mmap((void *)va, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	assert_int_equal(CALL(0x16, &args), 0);
	*out_handle = args.handle;
	return va;
}

static void a_packet_ends_with_the_event_of_its_signal(void **state)
{
	uint64_t handle, va = system_memory(4 * PAGE, &handle);
	struct sg_amd_queue *amd = (struct sg_amd_queue *)(va + PAGE);
	struct sg_amd_signal *signal = (struct sg_amd_signal *)(va + 2 * PAGE);
	union sg_aql_packet *ring = (union sg_aql_packet *)va;
	struct kfd_ioctl_create_queue_args args = {
		.ring_base_address = va,
		.ring_size = PAGE,
		.write_pointer_address = (uint64_t)&amd->write_dispatch_id,
		.read_pointer_address = (uint64_t)&amd->read_dispatch_id,
		.gpu_id = gpu_ids[0],
		.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.queue_percentage = 100,
	};
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct kfd_ioctl_destroy_queue_args destroy = { 0 };
	_Atomic uint64_t *doorbells;
	uint32_t result;

	for (size_t i = 0; i < PAGE / sizeof(*ring); i++)
		ring[i].dispatch.header = SG_AQL_INVALID;
	assert_int_equal(CALL(0x02, &args), 0);
	doorbells = mmap(
		NULL, SG_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, sg_kfd_file(kfd),
		(off_t)sg_kfd_file_offset(kfd, args.doorbell_offset & ~(SG_DOORBELL_BYTES - 1ull)));
	assert_ptr_not_equal(doorbells, MAP_FAILED);
	/* Below the GPU's id there is nothing but the place in the page. */
	assert_in_range(args.doorbell_offset & ((1ull << 46) - 1), 8, SG_DOORBELL_BYTES - 8);
	*signal = (struct sg_amd_signal){
		.kind = 1, .value = 1, .event_mailbox = va + 3 * PAGE, .event_id = data.event_id
	};
	ring[0].barrier.completion = (uint64_t)signal;
	atomic_store(&ring[0].dispatch.header, SG_AQL_BARRIER_AND);
	atomic_store(&amd->write_dispatch_id, 1);
	atomic_store(&doorbells[args.doorbell_offset % SG_DOORBELL_BYTES / 8], 0);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&signal->value), 0);
	assert_int_equal(*(uint64_t *)(va + 3 * PAGE), data.event_id);
	destroy.queue_id = args.queue_id;
	assert_int_equal(CALL(0x03, &destroy), 0);
	assert_int_equal(CALL(0x03, &destroy), EINVAL);
	munmap((void *)doorbells, SG_DOORBELL_BYTES);
	release(handle);
	sg_kfd_release(kfd, va, 4 * PAGE);
}

static void wrong_queues_are_refused_as_the_driver_does(void **state)
{
	uint64_t handle, va = system_memory(2 * PAGE, &handle);
	const struct kfd_ioctl_create_queue_args good = {
		.ring_base_address = va,
		.ring_size = PAGE,
		.write_pointer_address = va + PAGE,
		.read_pointer_address = va + PAGE + 64,
		.gpu_id = gpu_ids[0],
		.queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
		.queue_percentage = 100,
	};
	struct kfd_ioctl_create_queue_args args;
	struct kfd_ioctl_update_queue_args update = { .queue_id = 999, .ring_size = PAGE };
	struct kfd_ioctl_set_cu_mask_args mask = { .queue_id = 999,
						   .num_cu_mask = 31,
						   .cu_mask_ptr = (uint64_t)&update };
	struct kfd_ioctl_alloc_queue_gws_args gws = { .queue_id = 999, .num_gws = 1 };

#define REFUSED(field, value, error)                                                               \
	do {                                                                                       \
		args = good;                                                                       \
		args.field = value;                                                                \
		assert_int_equal(CALL(0x02, &args), error);                                        \
	} while (0)
	REFUSED(queue_percentage, 101, EINVAL);
	REFUSED(queue_priority, 16, EINVAL);
	REFUSED(ring_size, 3000, EINVAL);
	REFUSED(ring_base_address, 8, EFAULT);
	REFUSED(read_pointer_address, 8, EFAULT);
	REFUSED(write_pointer_address, 0, EFAULT);
	REFUSED(gpu_id, 1, EINVAL);
	REFUSED(queue_type, KFD_IOC_QUEUE_TYPE_COMPUTE, SG_KFD_ENOTSUPP);
	REFUSED(queue_type, 9, SG_KFD_ENOTSUPP);
	assert_int_equal(CALL(0x07, &update), EFAULT);
	assert_int_equal(CALL(0x1a, &mask), EINVAL);
	mask.num_cu_mask = 32;
	assert_int_equal(CALL(0x1a, &mask), EFAULT);
	assert_int_equal(CALL(0x1e, &gws), EINVAL);
	release(handle);
	sg_kfd_release(kfd, va, 2 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_age_ends_a_wait_that_came_too_late),
		cmocka_unit_test(events_that_do_not_exist_are_refused),
		cmocka_unit_test(a_packet_ends_with_the_event_of_its_signal),
		cmocka_unit_test(wrong_queues_are_refused_as_the_driver_does),
	};

	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
