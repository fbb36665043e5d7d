/*
 * Managed memory as on an MI210 under Linux, with and without XNACK: what the properties say, what the calls
 * answer, and that the host's and the GPU's writes are one memory.
 *
 * XNACK is chosen when the runtime starts, so each half runs in a child.
 */
#include "hiptest.h"

#include <sys/mman.h>

enum { N = 40000 };

__global__ void add(unsigned *p, unsigned n, unsigned v)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] += v;
}

__global__ void count(unsigned *p)
{
	atomicAdd_system(p, 1u);
}

static int attribute(hipDeviceAttribute_t what)
{
	int value = -1;

	HIP_OK(hipDeviceGetAttribute(&value, what, 0));
	return value;
}

static void properties(int xnack)
{
	hipDeviceProp_t p;

	HIP_OK(hipGetDeviceProperties(&p, 0));
	CHECK(p.managedMemory == 1, "%d", p.managedMemory);
	CHECK(p.concurrentManagedAccess == 1, "%d", p.concurrentManagedAccess);
	CHECK(p.directManagedMemAccessFromHost == 0, "%d", p.directManagedMemAccessFromHost);
	CHECK(p.pageableMemoryAccess == xnack, "%d", p.pageableMemoryAccess);
	CHECK(p.pageableMemoryAccessUsesHostPageTables == 0, "%d",
	      p.pageableMemoryAccessUsesHostPageTables);
	CHECK(attribute(hipDeviceAttributeManagedMemory) == 1, "no managed memory");
	CHECK(attribute(hipDeviceAttributeConcurrentManagedAccess) == 1, "not concurrent");
	CHECK(attribute(hipDeviceAttributePageableMemoryAccess) == xnack, "pageable access");
	CHECK(attribute(hipDeviceAttributePageableMemoryAccessUsesHostPageTables) == 0,
	      "host tables");
	CHECK(attribute(hipDeviceAttributeDirectManagedMemAccessFromHost) == 0, "direct access");
	CHECK(!strstr(p.gcnArchName, "xnack+") == !xnack, "%s", p.gcnArchName);
}

static int range_attribute(hipMemRangeAttribute what, const void *p, size_t bytes)
{
	int value = -77;

	HIP_OK(hipMemRangeGetAttribute(&value, sizeof(value), what, p, bytes));
	return value;
}

static void one_memory()
{
	unsigned *p, wrong = 0;

	HIP_OK(hipMallocManaged(&p, N * sizeof(*p)));
	for (unsigned i = 0; i < N; i++)
		p[i] = i;
	HIP_OK(hipMemPrefetchAsync(p, N * sizeof(*p), 0, nullptr));
	add<<<(N + 255) / 256, 256>>>(p, N, 7);
	HIP_OK(hipMemPrefetchAsync(p, N * sizeof(*p), hipCpuDeviceId, nullptr));
	LAUNCH_OK();
	for (unsigned i = 0; i < N; i++) {
		wrong += p[i] != i + 7;
		p[i] += 3;
	}
	add<<<(N + 255) / 256, 256>>>(p, N, 1);
	LAUNCH_OK();
	for (unsigned i = 0; i < N; i++)
		wrong += p[i] != i + 11;
	CHECK(wrong == 0, "%u values", wrong);

	/* copies by the GPU, and a fill */
	std::vector<unsigned> back(N);
	HIP_OK(hipMemcpy(back.data(), p, N * sizeof(*p), hipMemcpyDefault));
	CHECK(back[N - 1] == N - 1 + 11, "%u", back[N - 1]);
	HIP_OK(hipMemset(p, 1, N * sizeof(*p)));
	HIP_OK(hipDeviceSynchronize());
	CHECK(p[17] == 0x01010101u, "0x%x", p[17]);

	/* atomics of both sides meet */
	p[0] = 0;
	count<<<4, 64>>>(p);
	for (int i = 0; i < 1000; i++)
		__atomic_fetch_add(&p[0], 1u, __ATOMIC_SEQ_CST);
	LAUNCH_OK();
	CHECK(p[0] == 1256, "%u", p[0]);
	HIP_OK(hipFree(p));
}

static void advice()
{
	size_t bytes = 64 << 12, half = bytes / 2;
	int *by, device = 0;
	char *p;

	HIP_OK(hipMallocManaged(&p, bytes));
	CHECK(range_attribute(hipMemRangeAttributeReadMostly, p, bytes) == 0, "read mostly");
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p, bytes) ==
		      hipInvalidDeviceId,
	      "preferred location");
	CHECK(range_attribute(hipMemRangeAttributeLastPrefetchLocation, p, bytes) ==
		      hipInvalidDeviceId,
	      "prefetch location");
	CHECK(range_attribute(hipMemRangeAttributeCoherencyMode, p, bytes) ==
		      hipMemRangeCoherencyModeFineGrain,
	      "coherency");

	HIP_OK(hipMemAdvise(p, half, hipMemAdviseSetReadMostly, device));
	CHECK(range_attribute(hipMemRangeAttributeReadMostly, p, half) == 1, "read mostly");
	CHECK(range_attribute(hipMemRangeAttributeReadMostly, p, bytes) == 0, "only half of it");
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseUnsetReadMostly, device));
	CHECK(range_attribute(hipMemRangeAttributeReadMostly, p, half) == 0, "read mostly");

	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseSetPreferredLocation, device));
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p, bytes) == device,
	      "preferred");
	HIP_OK(hipMemAdvise(p + half, half, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p, half) == device,
	      "first half");
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p + half, half) ==
		      hipCpuDeviceId,
	      "second half");
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p, bytes) ==
		      hipInvalidDeviceId,
	      "both");
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseUnsetPreferredLocation, device));
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, p, bytes) ==
		      hipInvalidDeviceId,
	      "unset");

	HIP_OK(hipMemPrefetchAsync(p, half, device, nullptr));
	HIP_OK(hipStreamSynchronize(nullptr));
	CHECK(range_attribute(hipMemRangeAttributeLastPrefetchLocation, p, half) == device,
	      "prefetched");
	HIP_OK(hipMemPrefetchAsync(p, half, hipCpuDeviceId, nullptr));
	HIP_OK(hipStreamSynchronize(nullptr));
	CHECK(range_attribute(hipMemRangeAttributeLastPrefetchLocation, p, half) == hipCpuDeviceId,
	      "prefetched back");

	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseSetCoarseGrain, device));
	CHECK(range_attribute(hipMemRangeAttributeCoherencyMode, p, bytes) ==
		      hipMemRangeCoherencyModeCoarseGrain,
	      "coarse grain");
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseUnsetCoarseGrain, device));

	std::vector<int> list(2, -77);
	by = list.data();
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseSetAccessedBy, device));
	HIP_OK(hipMemRangeGetAttribute(by, 2 * sizeof(int), hipMemRangeAttributeAccessedBy, p,
				       bytes));
	CHECK(by[0] == device && by[1] == hipInvalidDeviceId, "accessed by %d %d", by[0], by[1]);
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseUnsetAccessedBy, device));
	HIP_OK(hipMemRangeGetAttribute(by, 2 * sizeof(int), hipMemRangeAttributeAccessedBy, p,
				       bytes));
	CHECK(by[0] == hipInvalidDeviceId, "accessed by %d", by[0]);

	int mostly = -1, where = -1;
	void *data[] = { &mostly, &where };
	size_t sizes[] = { sizeof(int), sizeof(int) };
	hipMemRangeAttribute both[] = { hipMemRangeAttributeReadMostly,
					hipMemRangeAttributeReadMostly };
	HIP_OK(hipMemAdvise(p, bytes, hipMemAdviseSetReadMostly, device));
	HIP_OK(hipMemRangeGetAttributes(data, sizes, both, 2, p, bytes));
	CHECK(mostly == 1 && where == 1, "%d %d", mostly, where);
	HIP_OK(hipFree(p));
}

/* The system gives the same addresses again: nothing of the earlier allocation may show. */
static void new_again()
{
	size_t bytes = 8 << 20;
	char *first, *again;

	HIP_OK(hipMallocManaged(&first, bytes));
	memset(first, 1, bytes);
	HIP_OK(hipMemAdvise(first, bytes, hipMemAdviseSetReadMostly, 0));
	HIP_OK(hipMemAdvise(first, bytes, hipMemAdviseSetPreferredLocation, 0));
	HIP_OK(hipFree(first));
	HIP_OK(hipMallocManaged(&again, bytes));
	CHECK(range_attribute(hipMemRangeAttributeReadMostly, again, bytes) == 0,
	      "of the one before");
	CHECK(range_attribute(hipMemRangeAttributePreferredLocation, again, bytes) ==
		      hipInvalidDeviceId,
	      "of the one before");
	CHECK(again[bytes / 2] == 0, "not zeroed");
	HIP_OK(hipFree(again));
}

static int without_xnack()
{
	unsetenv("HSA_XNACK");
	properties(0);
	one_memory();
	advice();
	new_again();
	return n_failed_checks != 0;
}

static int with_xnack()
{
	setenv("HSA_XNACK", "1", 1);
	properties(1);
	one_memory();
	advice();
	new_again();

	/* memory that nobody registered: heap, a variable, a mapping */
	std::vector<unsigned> heap(N, 5);
	unsigned local = 1;
	unsigned *map = (unsigned *)mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	add<<<(N + 255) / 256, 256>>>(heap.data(), N, 2);
	count<<<1, 64>>>(&local);
	add<<<1024, 256>>>(map, 1 << 18, 9);
	LAUNCH_OK();
	check_equal("heap", heap, std::vector<unsigned>(N, 7));
	CHECK(local == 65, "%u", local);
	CHECK(map[0] == 9 && map[(1 << 18) - 1] == 9, "%u %u", map[0], map[(1 << 18) - 1]);
	return n_failed_checks != 0;
}

static int xnack_refused()
{
	setenv("HSA_XNACK", "1", 1);
	properties(0);
	return n_failed_checks != 0;
}

static int pageable_without_xnack()
{
	unsetenv("HSA_XNACK");
	unsigned *heap = (unsigned *)malloc(1 << 22);

	memset(heap, 0, 1 << 22);
	count<<<1, 1>>>(heap + 5000);
	(void)hipDeviceSynchronize();
	free(heap);
	return 3;
}

/* What the GPU could reach a moment ago. Other threads might map something there: it is kept free. */
static int freed_managed()
{
	const size_t bytes = 64 << 20;
	unsigned *p;

	unsetenv("HSA_XNACK");
	do {
		HIP_OK(hipMallocManaged(&p, bytes));
		p[0] = 1;
		HIP_OK(hipFree(p));
	} while (mmap(p, bytes, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
		      0) != p);
	count<<<1, 1>>>(p);
	(void)hipDeviceSynchronize();
	return 3;
}

static void run(const char *name, int (*body)(), bool faults)
{
	child_result r = run_child(body);
	bool ok = faults ? r.aborted() && r.says("Memory access fault by GPU node") &&
				   r.says("count(unsigned int*) cannot ")
			 : r.exited(0);

	CHECK(ok, "%s: status 0x%x", name, r.status);
	if (!ok)
		show_child(name, r);
	else
		printf("%s: ok\n", name);
}

/* HIP does not survive a fork: which GPU it is, a child has to say. */
static int is_mi100()
{
	hipDeviceProp_t p;

	HIP_OK(hipGetDeviceProperties(&p, 0));
	return !strncmp(p.gcnArchName, "gfx908", 6);
}

int main()
{
	run("without XNACK", without_xnack, false);
	if (run_child(is_mi100).exited(1))
		run("XNACK is not the process's to choose", xnack_refused, false);
	else
		run("with XNACK", with_xnack, false);
	run("pageable memory without XNACK", pageable_without_xnack, true);
	run("managed memory that was freed", freed_managed, true);
	return finish();
}
