/* What monitors, debuggers and checkpoints ask the driver for. */
#include "tests/kfd/kfd_rig.h"

#include <poll.h>

static int events_of(uint32_t gpu_id, uint64_t mask)
{
	struct kfd_ioctl_smi_events_args args = { .gpuid = gpu_id };

	assert_int_equal(CALL(0x1f, &args), 0);
	if (mask)
		assert_int_equal(write((int)args.anon_fd, &mask, sizeof(mask)), sizeof(mask));
	return (int)args.anon_fd;
}

static void fault_on(uint32_t node, bool hang)
{
	struct sg_machine *machine = sg_kfd_machine(kfd);
	struct sg_memory_fault fault = { .node = node, .address = 4096, .hang = hang };

	machine->faulted(machine, &fault);
}

static bool has_event(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, 0) == 1 && wait.revents == POLLIN;
}

static void a_memory_fault_is_a_line_for_those_who_asked(void **state)
{
	const uint64_t vm_fault = KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_VMFAULT);
	int asked = events_of(gpu_ids[0], vm_fault), silent = events_of(gpu_ids[0], 0),
	    other = events_of(gpu_ids[1], vm_fault),
	    resets = events_of(gpu_ids[0],
			       KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_GPU_PRE_RESET));
	char line[64] = "", expected[64];

	assert_int_equal(read(asked, line, sizeof(line)), -1);
	assert_int_equal(errno, EAGAIN);
	fault_on(1, true); /* not a fault of an address */
	assert_false(has_event(asked));
	fault_on(1, false);
	assert_true(has_event(asked));
	assert_false(has_event(silent));
	assert_false(has_event(other));
	assert_false(has_event(resets));
	snprintf(expected, sizeof(expected), "1 %x:test_softgpu_kf\n", getpid());
	assert_int_equal(read(asked, line, sizeof(line)), strlen(expected));
	assert_string_equal(line, expected);
	/* Another mask, and none. */
	assert_int_equal(write(silent, &vm_fault, sizeof(vm_fault)), sizeof(vm_fault));
	assert_int_equal(write(asked, &(uint64_t){ 0 }, sizeof(vm_fault)), sizeof(vm_fault));
	fault_on(1, false);
	assert_true(has_event(silent));
	assert_false(has_event(asked));
	/* Who has gone is forgotten: there is a place for the next one, however many there were. */
	close(asked);
	close(silent);
	close(other);
	close(resets);
	for (int i = 0; i < 100; i++)
		close(events_of(gpu_ids[0], vm_fault));
	fault_on(1, false);
}

static void wrong_requests_for_events_are_refused(void **state)
{
	struct kfd_ioctl_smi_events_args args = { .gpuid = 1 };

	assert_int_equal(CALL(0x1f, &args), EINVAL);
}

static void debuggers_and_checkpoints_are_refused_as_the_driver_does(void **state)
{
	struct sg_kfd_dbg_trap_args trap = { .pid = (uint32_t)getpid(),
					     .op = SG_KFD_DBG_TRAP_ENABLE };
	struct kfd_ioctl_get_queue_wave_state_args waves = { .queue_id = 1 };
	struct kfd_ioctl_criu_args criu = { 0 };

	assert_int_equal(CALL(SG_KFD_NR_DBG_TRAP, &trap), EPERM);
	trap.op = 1; /* before it was enabled */
	assert_int_equal(CALL(SG_KFD_NR_DBG_TRAP, &trap), EINVAL);
	trap.pid = 0x7ffffffe;
	assert_int_equal(CALL(SG_KFD_NR_DBG_TRAP, &trap), ESRCH);
	assert_int_equal(CALL(0x1b, &waves), EINVAL);
	assert_int_equal(CALL(0x22, &criu), geteuid() ? EACCES : EINVAL);
	for (unsigned nr = 0x0d; nr <= 0x10; nr++)
		assert_int_equal(CALL(nr, &trap), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_memory_fault_is_a_line_for_those_who_asked),
		cmocka_unit_test(wrong_requests_for_events_are_refused),
		cmocka_unit_test(debuggers_and_checkpoints_are_refused_as_the_driver_does),
	};

	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
