/* The libhsakmt face: statuses, handles, limits. Kernels are C functions here as well. */
#include "tests/unit/softgpu/rig.h"

#include <errno.h>
#include <hsakmt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static HsaMemFlags flags_of(HSAuint32 value)
{
	HsaMemFlags flags;

	flags.Value = value;
	return flags;
}

static int setup(void **state)
{
	setenv("WAVESCOPE_GPU", "mi210,mi100", 1);
	setenv("WAVESCOPE_WORKERS", "2", 1);
	return hsaKmtOpenKFD() == HSAKMT_STATUS_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
	return hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS ? 0 : -1;
}

static void nothing_works_before_opening(void **state)
{
	HsaSystemProperties system;

	assert_int_equal(hsaKmtAcquireSystemProperties(&system),
			 HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
	assert_int_equal(hsaKmtCloseKFD(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
}

static void bad_environment_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "WAVESCOPE_GPU", "mi9000" },
		{ "WAVESCOPE_WORKERS", "0" },
		{ "WAVESCOPE_WORKERS", "two" },
		{ "WAVESCOPE_LOG", "loud" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv(bad[i][0], bad[i][1], 1);
		assert_int_equal(hsaKmtOpenKFD(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
		unsetenv(bad[i][0]);
	}
}

static void opening_twice_is_told(void **state)
{
	HsaVersionInfo version;

	assert_int_equal(hsaKmtOpenKFD(), HSAKMT_STATUS_KERNEL_ALREADY_OPENED);
	assert_int_equal(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtGetVersion(&version), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(version.KernelInterfaceMajorVersion, 1);
}

static void the_topology_is_consistent(void **state)
{
	HsaSystemProperties system;

	assert_int_equal(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(system.NumNodes, 3);
	for (HSAuint32 node = 0; node < system.NumNodes; node++) {
		HsaNodeProperties p;
		HsaMemoryProperties banks[8];
		HsaIoLinkProperties links[32];

		assert_int_equal(hsaKmtGetNodeProperties(node, &p), HSAKMT_STATUS_SUCCESS);
		assert_int_equal(hsaKmtGetNodeMemoryProperties(node, p.NumMemoryBanks, banks),
				 HSAKMT_STATUS_SUCCESS);
		assert_int_equal(hsaKmtGetNodeIoLinkProperties(node, p.NumIOLinks, links),
				 HSAKMT_STATUS_SUCCESS);
		for (HSAuint32 i = 0; i < p.NumIOLinks; i++) {
			assert_int_equal(links[i].NodeFrom, node);
			assert_int_not_equal(links[i].NodeTo, node);
			assert_true(links[i].NodeTo < system.NumNodes);
		}
		if (node) {
			assert_int_equal(banks[0].SizeInBytes, p.LocalMemSize);
			assert_int_equal(p.EngineId.ui32.Stepping, node == 1 ? 10 : 8);
		}
	}
	assert_int_equal(hsaKmtGetNodeProperties(3, &(HsaNodeProperties){ 0 }),
			 HSAKMT_STATUS_INVALID_NODE_UNIT);
}

static void pointers_are_known_or_not(void **state)
{
	HSAuint32 nodes[] = { 1, 2 };
	HsaPointerInfo info;
	HSAuint64 alternate;
	void *mem = NULL;

	assert_int_equal(hsaKmtAllocMemory(1, 2 << 20, flags_of(0x20c1), &mem),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtMapMemoryToGPUNodes(mem, 2 << 20, &alternate, (HsaMemMapFlags){ 0 },
						   2, nodes),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(alternate, (HSAuint64)mem);
	assert_int_equal(hsaKmtQueryPointerInfo((char *)mem + 12345, &info), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(info.Type, HSA_POINTER_ALLOCATED);
	assert_int_equal(info.Node, 1);
	assert_ptr_equal(info.CPUAddress, mem);
	assert_int_equal(info.SizeInBytes, 2 << 20);
	assert_int_equal(info.NMappedNodes, 2);
	assert_int_equal(info.MappedNodes[1], 2);
	assert_int_equal(hsaKmtUnmapMemoryToGPU(mem), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtFreeMemory(mem, 2 << 20), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtFreeMemory(mem, 2 << 20), HSAKMT_STATUS_INVALID_PARAMETER);
	assert_int_equal(hsaKmtQueryPointerInfo(mem, &info), HSAKMT_STATUS_ERROR);
	assert_int_equal(info.Type, HSA_POINTER_UNKNOWN);
}

static void pinned_memory_has_a_device_address_of_its_own(void **state)
{
	char *mem = malloc(1 << 20);
	HsaPointerInfo info;
	HSAuint64 device = 0;

	assert_int_equal(hsaKmtRegisterMemoryWithFlags(mem, 1 << 20, flags_of(0x2040)),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtMapMemoryToGPU(mem, 1 << 20, &device), HSAKMT_STATUS_SUCCESS);
	assert_int_not_equal(device, (HSAuint64)mem);
	assert_int_equal(hsaKmtQueryPointerInfo((void *)(device + 5), &info),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(info.Type, HSA_POINTER_REGISTERED_USER);
	assert_ptr_equal(info.CPUAddress, mem);
	assert_int_equal(info.GPUAddress, device);
	assert_int_equal(hsaKmtDeregisterMemory(mem), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtQueryPointerInfo((void *)device, &info), HSAKMT_STATUS_ERROR);
	free(mem);
}

static void the_card_can_be_full(void **state)
{
	void *mem = NULL, *more = NULL;

	assert_int_equal(hsaKmtAllocMemory(2, 31ull << 30, flags_of(0x20c1), &mem),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtAllocMemory(2, 2ull << 30, flags_of(0x20c1), &more),
			 HSAKMT_STATUS_NO_MEMORY);
	assert_int_equal(hsaKmtFreeMemory(mem, 31ull << 30), HSAKMT_STATUS_SUCCESS);
}

static void figures_follow_the_memory_in_use(void **state)
{
	struct softgpu_figures before, during, after;
	void *mem = NULL;

	assert_int_equal(softgpu_figures(0, &before), ENODEV); /* the host */
	assert_int_equal(softgpu_figures(3, &before), ENODEV);
	assert_int_equal(softgpu_figures(1, &before), 0);
	assert_int_equal(before.memory_bytes, 64ull << 30);
	assert_int_equal(hsaKmtAllocMemory(1, 6 << 20, flags_of(0x20c1), &mem),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(softgpu_figures(1, &during), 0);
	assert_int_equal(during.memory_used_bytes - before.memory_used_bytes, 6 << 20);
	assert_int_equal(hsaKmtFreeMemory(mem, 6 << 20), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(softgpu_figures(1, &after), 0);
	assert_int_equal(after.memory_used_bytes, before.memory_used_bytes);
}

static void queues_have_ids_and_doorbells_of_their_own(void **state)
{
	enum { N = 1000 };
	HsaQueueResource *resources = calloc(N, sizeof(*resources));
	void *mem = NULL;

	assert_int_equal(hsaKmtAllocMemory(0, 1 << 20, flags_of(0x21040), &mem),
			 HSAKMT_STATUS_SUCCESS);
	for (int i = 0; i < N; i++) {
		HSA_QUEUE_TYPE type = i % 2 ? HSA_QUEUE_SDMA : HSA_QUEUE_COMPUTE_AQL;

		resources[i].Queue_read_ptr_aql = (HSAuint64 *)((char *)mem + (1 << 19) + 128);
		resources[i].Queue_write_ptr_aql = (HSAuint64 *)((char *)mem + (1 << 19) + 56);
		assert_int_equal(hsaKmtCreateQueue(1, type, 100, HSA_QUEUE_PRIORITY_NORMAL, mem,
						   4096, NULL, &resources[i]),
				 HSAKMT_STATUS_SUCCESS);
		assert_int_not_equal(resources[i].QueueId, 0);
		for (int j = 0; j < i; j++)
			assert_int_not_equal(resources[i].QueueDoorBell >> 3 & 1023,
					     resources[j].QueueDoorBell >> 3 & 1023);
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(hsaKmtDestroyQueue(resources[i].QueueId), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtDestroyQueue(resources[0].QueueId), HSAKMT_STATUS_INVALID_HANDLE);
	assert_int_equal(hsaKmtDestroyQueue(12345), HSAKMT_STATUS_INVALID_HANDLE);
	assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE_AQL, 100, 0, mem, 4097, NULL,
					   &resources[0]),
			 HSAKMT_STATUS_INVALID_PARAMETER);
	assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, 0, (void *)0x1000, 4096, NULL,
					   &resources[0]),
			 HSAKMT_STATUS_INVALID_PARAMETER);
	assert_int_equal(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE, 100, 0, mem, 4096, NULL,
					   &resources[0]),
			 HSAKMT_STATUS_NOT_SUPPORTED);
	assert_int_equal(hsaKmtFreeMemory(mem, 1 << 20), HSAKMT_STATUS_SUCCESS);
	free(resources);
}

static void no_event_is_an_error_not_a_crash(void **state)
{
	HsaEventDescriptor desc = { .EventType = HSA_EVENTTYPE_SIGNAL };
	HsaEvent *event = NULL;

	assert_int_equal(hsaKmtDestroyEvent(NULL), HSAKMT_STATUS_INVALID_HANDLE);
	assert_int_equal(hsaKmtSetEvent(NULL), HSAKMT_STATUS_INVALID_HANDLE);
	assert_int_equal(hsaKmtWaitOnEvent(NULL, 0), HSAKMT_STATUS_INVALID_HANDLE);
	assert_int_equal(hsaKmtCreateEvent(&desc, false, false, &event), HSAKMT_STATUS_SUCCESS);
	assert_int_not_equal(event->EventId, 0);
	assert_int_not_equal(event->EventData.HWData2, 0);
	assert_int_equal(hsaKmtWaitOnEvent(event, 1), HSAKMT_STATUS_WAIT_TIMEOUT);
	assert_int_equal(hsaKmtSetEvent(event), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtQueryEventState(event), HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtWaitOnMultipleEvents(&event, 1, false, 0xfffffffe),
			 HSAKMT_STATUS_SUCCESS);
	assert_int_equal(hsaKmtDestroyEvent(event), HSAKMT_STATUS_SUCCESS);
}

static void clocks_advance(void **state)
{
	HsaClockCounters a, b;

	assert_int_equal(hsaKmtGetClockCounters(1, &a), HSAKMT_STATUS_SUCCESS);
	usleep(2000);
	assert_int_equal(hsaKmtGetClockCounters(1, &b), HSAKMT_STATUS_SUCCESS);
	assert_in_range(b.SystemClockCounter - a.SystemClockCounter, 2000000, 2000000000);
	/* the device counts at a tenth of the rate */
	assert_in_range((b.SystemClockCounter - a.SystemClockCounter) / 10 + 1 -
				(b.GPUClockCounter - a.GPUClockCounter),
			0, 2);
}

static void a_forked_child_gets_errors(void **state)
{
	HsaEventDescriptor desc = { .EventType = HSA_EVENTTYPE_SIGNAL };
	HsaEvent *event = NULL;
	HsaPointerInfo info;
	void *mem = NULL;
	int status;
	pid_t pid;

	assert_int_equal(hsaKmtCreateEvent(&desc, false, false, &event), HSAKMT_STATUS_SUCCESS);
	pid = fork();
	if (!pid) {
		const HSAKMT_STATUS closed = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;

		alarm(10);
		_exit(hsaKmtAllocMemory(1, 4096, flags_of(0), &mem) != closed ||
		      hsaKmtWaitOnEvent(event, 0xffffffff) != closed ||
		      hsaKmtSetEvent(event) != closed ||
		      hsaKmtQueryPointerInfo(&mem, &info) != closed ||
		      /* ROCr's exit handlers release things, and assert that it works */
		      hsaKmtFreeMemory(mem, 4096) || hsaKmtDestroyEvent(event) ||
		      hsaKmtDestroyQueue(1) || hsaKmtCloseKFD());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(hsaKmtDestroyEvent(event), HSAKMT_STATUS_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest closed[] = {
		cmocka_unit_test(nothing_works_before_opening),
		cmocka_unit_test(bad_environment_is_refused),
	};
	const struct CMUnitTest open[] = {
		cmocka_unit_test(opening_twice_is_told),
		cmocka_unit_test(the_topology_is_consistent),
		cmocka_unit_test(pointers_are_known_or_not),
		cmocka_unit_test(figures_follow_the_memory_in_use),
		cmocka_unit_test(pinned_memory_has_a_device_address_of_its_own),
		cmocka_unit_test(the_card_can_be_full),
		cmocka_unit_test(queues_have_ids_and_doorbells_of_their_own),
		cmocka_unit_test(no_event_is_an_error_not_a_crash),
		cmocka_unit_test(clocks_advance),
		cmocka_unit_test(a_forked_child_gets_errors),
	};
	int failed = cmocka_run_group_tests(closed, NULL, NULL);

	return failed + cmocka_run_group_tests(open, setup, teardown);
}
