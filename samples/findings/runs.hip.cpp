/*
 * runs: for each rule of findings about a trace, a run that has the problem and one that has not.
 *
 *	rocprofv3 --sys-trace --keep-captures -d DIR -- runs launch_bound slow
 *	wavescope advise DIR
 *
 * `fast` does the same work without the problem. gpu_imbalance and collective_waits need two GPUs.
 */
#include "../check.h"

#include <hip/hiprtc.h>

#include <chrono>
#include <thread>

enum { BLOCK = 256, WIDE = 208, STEPS = 24, N = 1 << 20 };

__global__ void work(float *data, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = data[i % N];

	for (int r = 0; r < rounds; r++)
		x = x * 1.0001f + 0.5f;
	data[i % N] = x;
}

/* As RCCL names it. Done when all ranks are in it: until then those that are there spin. */
__global__ void ncclDevKernel_AllReduce_Sum_f32(int *entered, int n_ranks, int step)
{
	if (threadIdx.x)
		return;
	__hip_atomic_fetch_add(&entered[step], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
	while (__hip_atomic_load(&entered[step], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < n_ranks)
		__builtin_amdgcn_s_sleep(1);
}

struct resources {
	float *data, *other, *pinned;
	hipStream_t compute, copy;
};

/* As the host prepares data, reads a file, or waits for the network. */
static void host_work(int ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static void launch_bound(const resources &r, bool slow)
{
	for (int i = 0; i < (slow ? 200 : 1); i++) {
		work<<<slow ? 1 : WIDE, 64, 0, r.compute>>>(r.data, slow ? 1 : 200);
		if (slow) /* what a framework does before the next launch: longer than the kernel */
			std::this_thread::sleep_for(std::chrono::microseconds(20));
	}
	HIP_OK(hipStreamSynchronize(r.compute));
}

static void host_gaps(const resources &r, bool slow)
{
	for (int i = 0; i < STEPS; i++) {
		work<<<WIDE, BLOCK, 0, r.compute>>>(r.data, 10);
		if (slow) {
			HIP_OK(hipStreamSynchronize(r.compute));
			host_work(4);
		}
	}
	HIP_OK(hipStreamSynchronize(r.compute));
}

static void sync_per_kernel(const resources &r, bool slow)
{
	for (int i = 0; i < 100; i++) {
		work<<<WIDE, 64, 0, r.compute>>>(r.data, slow ? 1 : 50);
		if (slow)
			HIP_OK(hipDeviceSynchronize());
	}
	HIP_OK(hipDeviceSynchronize());
}

static void copies_not_overlapped(const resources &r, bool slow)
{
	for (int i = 0; i < STEPS; i++) {
		if (slow || i == 0)
			HIP_OK(hipMemcpyAsync(r.other, r.pinned, N * 4, hipMemcpyHostToDevice,
					      r.compute));
		work<<<WIDE, BLOCK, 0, r.compute>>>(r.data, slow ? 20 : 400);
		if (!slow) /* the next block, while the kernel runs */
			HIP_OK(hipMemcpyAsync(r.other, r.pinned, N / 4, hipMemcpyHostToDevice,
					      r.copy));
	}
	HIP_OK(hipDeviceSynchronize());
}

static void small_copies(const resources &r, bool slow)
{
	for (int i = 0; i < (slow ? 300 : 3); i++)
		HIP_OK(hipMemcpy(r.data + (i * 64) % N, r.pinned, slow ? 256 : N,
				 hipMemcpyHostToDevice));
	work<<<WIDE, BLOCK, 0, r.compute>>>(r.data, 200);
	HIP_OK(hipDeviceSynchronize());
}

static void alloc_in_loop(const resources &r, bool slow)
{
	for (int i = 0; i < STEPS * 2; i++) {
		float *scratch = r.other;

		if (slow)
			HIP_OK(hipMalloc((void **)&scratch, 64 << 20));
		work<<<8, 64, 0, r.compute>>>(r.data, 10);
		if (slow)
			HIP_OK(hipFree(scratch));
	}
	HIP_OK(hipDeviceSynchronize());
}

static void serial_small_kernels(const resources &r, bool slow)
{
	for (int i = 0; i < (slow ? 48 : 2); i++)
		work<<<slow ? 8 : 8 * 24, 64, 0, r.compute>>>(r.data, 20000);
	HIP_OK(hipDeviceSynchronize());
}

static void gpu_imbalance(const resources &r, bool slow)
{
	float *data;

	for (int i = 0; i < STEPS / 3; i++)
		work<<<WIDE, 64, 0, r.compute>>>(r.data, 100);
	HIP_OK(hipSetDevice(1));
	HIP_OK(hipMalloc((void **)&data, N * sizeof(float)));
	for (int i = 0; i < (slow ? 1 : STEPS / 3); i++)
		work<<<WIDE, 64>>>(data, 100);
	HIP_OK(hipDeviceSynchronize());
	HIP_OK(hipSetDevice(0));
	HIP_OK(hipDeviceSynchronize());
}

/* Two processes are started by who runs this: in the slow pair, one does 20 times the work. */
static void rank_imbalance(const resources &r, bool slow)
{
	for (int i = 0; i < STEPS / 3; i++)
		work<<<WIDE, 64, 0, r.compute>>>(r.data, slow ? 2000 : 100);
	HIP_OK(hipDeviceSynchronize());
}

/* Two ranks are two GPUs here. In the slow run, rank 1 has more to do before each collective. */
static void collective_waits(const resources &r, bool slow)
{
	float *data[2] = { r.data, NULL };
	hipStream_t streams[2] = { r.compute, NULL };
	int *entered;

	HIP_OK(hipHostMalloc((void **)&entered, STEPS * sizeof(*entered), hipHostMallocPortable));
	memset(entered, 0, STEPS * sizeof(*entered));
	HIP_OK(hipSetDevice(1));
	HIP_OK(hipMalloc((void **)&data[1], N * sizeof(float)));
	HIP_OK(hipStreamCreateWithFlags(&streams[1], hipStreamNonBlocking));
	for (int step = 0; step < STEPS; step++)
		for (int rank = 0; rank < 2; rank++) {
			HIP_OK(hipSetDevice(rank));
			work<<<WIDE, 64, 0, streams[rank]>>>(data[rank], slow && rank ? 4000 : 400);
			ncclDevKernel_AllReduce_Sum_f32<<<1, 64, 0, streams[rank]>>>(entered, 2, step);
		}
	for (int rank = 0; rank < 2; rank++) {
		HIP_OK(hipSetDevice(rank));
		HIP_OK(hipDeviceSynchronize());
	}
}

/* A kernel that was compiled while the program runs, as a framework does for a new shape. */
static std::vector<char> compiled_kernel()
{
	const char *source = "extern \"C\" __global__ void add_one(float *x) { x[threadIdx.x] += 1; }";
	hiprtcProgram program;
	size_t n_bytes = 0;

	if (hiprtcCreateProgram(&program, source, "add_one", 0, NULL, NULL) ||
	    hiprtcCompileProgram(program, 0, NULL) || hiprtcGetCodeSize(program, &n_bytes)) {
		fprintf(stderr, "hipRTC does not compile\n");
		exit(1);
	}
	std::vector<char> code(n_bytes);
	if (hiprtcGetCode(program, code.data()))
		exit(1);
	return code;
}

static void code_loaded_late(const resources &r, bool slow)
{
	std::vector<char> code = compiled_kernel();
	float *data = r.data;
	void *arguments[] = { &data };
	hipFunction_t add_one;
	hipModule_t module = NULL;

	for (int i = 0; i < STEPS * 2; i++) {
		work<<<8, 64, 0, r.compute>>>(r.data, 10);
		if (slow || !module) {
			HIP_OK(hipModuleLoadData(&module, code.data()));
			HIP_OK(hipModuleGetFunction(&add_one, module, "add_one"));
		}
		HIP_OK(hipModuleLaunchKernel(add_one, 1, 1, 1, 64, 1, 1, 0, r.compute, arguments, NULL));
	}
	HIP_OK(hipDeviceSynchronize());
}

static const struct {
	const char *rule;
	void (*run)(const resources &, bool slow);
} runs[] = {
	{ "launch_bound", launch_bound },
	{ "host_gaps", host_gaps },
	{ "sync_per_kernel", sync_per_kernel },
	{ "copies_not_overlapped", copies_not_overlapped },
	{ "small_copies", small_copies },
	{ "alloc_in_loop", alloc_in_loop },
	{ "serial_small_kernels", serial_small_kernels },
	{ "gpu_imbalance", gpu_imbalance },
	{ "rank_imbalance", rank_imbalance },
	{ "collective_waits", collective_waits },
	{ "code_loaded_late", code_loaded_late },
};

int main(int argc, char **argv)
{
	bool slow = argc > 2 && !strcmp(argv[2], "slow");
	resources r;

	if (argc != 3 || (!slow && strcmp(argv[2], "fast") != 0)) {
		fprintf(stderr, "usage: %s RULE slow|fast, where RULE is one of\n", argv[0]);
		for (const auto &run : runs)
			fprintf(stderr, "  %s\n", run.rule);
		return 2;
	}
	HIP_OK(hipMalloc((void **)&r.data, N * sizeof(float)));
	HIP_OK(hipMalloc((void **)&r.other, N * sizeof(float)));
	HIP_OK(hipHostMalloc((void **)&r.pinned, N * sizeof(float), hipHostMallocDefault));
	HIP_OK(hipStreamCreateWithFlags(&r.compute, hipStreamNonBlocking));
	HIP_OK(hipStreamCreateWithFlags(&r.copy, hipStreamNonBlocking));
	for (const auto &run : runs)
		if (!strcmp(run.rule, argv[1])) {
			run.run(r, slow);
			return verdict(true);
		}
	fprintf(stderr, "%s: there is no run '%s'\n", argv[0], argv[1]);
	return 2;
}
