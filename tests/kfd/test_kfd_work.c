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

/* An AQL queue, and pages behind its ring: the queue's structure, a signal, and one to use freely. */
struct work_queue {
	uint64_t handle, va;
	union sg_aql_packet *ring;
	struct sg_amd_queue *amd;
	struct sg_amd_signal *signal;
	uint64_t free_page;
	uint32_t id;
	_Atomic uint64_t *doorbells, *doorbell;
};

static void work_queue_init(struct work_queue *q)
{
	*q = (struct work_queue){ 0 };
	q->va = system_memory(4 * PAGE, &q->handle);
	q->ring = (union sg_aql_packet *)q->va;
	q->amd = (struct sg_amd_queue *)(q->va + PAGE);
	q->signal = (struct sg_amd_signal *)(q->va + 2 * PAGE);
	q->free_page = q->va + 3 * PAGE;
	for (size_t i = 0; i < PAGE / sizeof(*q->ring); i++)
		q->ring[i].dispatch.header = SG_AQL_INVALID;
}

static void work_queue_create(struct work_queue *q, uint64_t save_area)
{
	struct kfd_ioctl_create_queue_args args = {
		.ring_base_address = q->va,
		.ring_size = PAGE,
		.write_pointer_address = (uint64_t)&q->amd->write_dispatch_id,
		.read_pointer_address = (uint64_t)&q->amd->read_dispatch_id,
		.gpu_id = gpu_ids[0],
		.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.queue_percentage = 100,
		.ctx_save_restore_address = save_area,
	};

	assert_int_equal(CALL(0x02, &args), 0);
	q->doorbells = mmap(
		NULL, SG_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, sg_kfd_file(kfd),
		(off_t)sg_kfd_file_offset(kfd, args.doorbell_offset & ~(SG_DOORBELL_BYTES - 1ull)));
	assert_ptr_not_equal(q->doorbells, MAP_FAILED);
	/* Below the GPU's id there is nothing but the place in the page. */
	assert_in_range(args.doorbell_offset & ((1ull << 46) - 1), 8, SG_DOORBELL_BYTES - 8);
	q->doorbell = &q->doorbells[args.doorbell_offset % SG_DOORBELL_BYTES / 8];
	q->id = args.queue_id;
}

static void work_queue_submit(struct work_queue *q, uint16_t header)
{
	atomic_store(&q->ring[0].dispatch.header, header);
	atomic_store(&q->amd->write_dispatch_id, 1);
	atomic_store(q->doorbell, 0);
}

static void work_queue_fini(struct work_queue *q)
{
	struct kfd_ioctl_destroy_queue_args destroy = { .queue_id = q->id };

	assert_int_equal(CALL(0x03, &destroy), 0);
	assert_int_equal(CALL(0x03, &destroy), EINVAL);
	munmap((void *)q->doorbells, SG_DOORBELL_BYTES);
	release(q->handle);
	sg_kfd_release(kfd, q->va, 4 * PAGE);
}

static void a_packet_ends_with_the_event_of_its_signal(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct work_queue q;
	uint32_t result;

	work_queue_init(&q);
	work_queue_create(&q, 0);
	*q.signal = (struct sg_amd_signal){
		.kind = 1, .value = 1, .event_mailbox = q.free_page, .event_id = data.event_id
	};
	q.ring[0].barrier.completion = (uint64_t)q.signal;
	work_queue_submit(&q, SG_AQL_BARRIER_AND);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&q.signal->value), 0);
	assert_int_equal(*(uint64_t *)q.free_page, data.event_id);
	work_queue_fini(&q);
}

/* --- exceptions --- */

static int enable_exceptions(bool on)
{
	struct sg_kfd_runtime_enable_args args = { .mode_mask = on ? SG_KFD_RUNTIME_ENABLE : 0,
						   .capabilities_mask = 1 };
	int error = CALL(SG_KFD_NR_RUNTIME_ENABLE, &args);

	assert_int_equal(args.capabilities_mask, 0); /* no core dumps */
	return error;
}

/* A packet of a type that does not exist; its queue has a save area whose header names a word. */
static void submit_nonsense(struct work_queue *q, uint64_t error_addr, uint32_t error_event)
{
	work_queue_init(q);
	*(struct sg_kfd_save_area *)q->free_page =
		(struct sg_kfd_save_area){ .error_addr = error_addr ? error_addr
								    : (uint64_t)&q->signal[1].value,
					   .error_event = error_event };
	*q->signal = (struct sg_amd_signal){ .kind = 1,
					     .event_mailbox = q->va,
					     .event_id = error_event };
	q->amd->inactive_signal = (uint64_t)q->signal;
	work_queue_create(q, q->free_page);
	work_queue_submit(q, 77);
}

static void an_enabled_runtime_gets_exceptions_in_the_word_of_the_queue(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct work_queue q;
	uint32_t result;

	assert_int_equal(enable_exceptions(true), 0);
	assert_int_equal(enable_exceptions(true), EBUSY);
	submit_nonsense(&q, 0, data.event_id);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&q.signal[1].value),
			 1u << 19); /* EC_QUEUE_PACKET_UNSUPPORTED */
	assert_int_equal(atomic_load(&q.signal->value), 0);
	assert_int_equal(enable_exceptions(false), 0);
	/* The queue keeps what it was created with, so there must be none. */
	assert_int_equal(enable_exceptions(true), EEXIST);
	work_queue_fini(&q);
	assert_int_equal(enable_exceptions(true), 0);
	assert_int_equal(enable_exceptions(false), 0);
}

static void without_them_errors_are_in_the_signal_of_the_queue(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct work_queue q;
	uint32_t result;

	submit_nonsense(&q, 0, data.event_id);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&q.signal->value), SG_QUEUE_BAD_PACKET);
	assert_int_equal(atomic_load(&q.signal[1].value), 0);
	work_queue_fini(&q);
}

static void a_word_that_is_not_mapped_is_not_written(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct work_queue q;
	uint32_t result;

	assert_int_equal(enable_exceptions(true), 0);
	submit_nonsense(&q, 64, data.event_id);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&q.signal->value), SG_QUEUE_BAD_PACKET);
	work_queue_fini(&q);
	assert_int_equal(enable_exceptions(false), 0);
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
		cmocka_unit_test(an_enabled_runtime_gets_exceptions_in_the_word_of_the_queue),
		cmocka_unit_test(without_them_errors_are_in_the_signal_of_the_queue),
		cmocka_unit_test(a_word_that_is_not_mapped_is_not_written),
		cmocka_unit_test(wrong_queues_are_refused_as_the_driver_does),
	};

	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
