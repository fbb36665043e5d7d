/*
 * shared_code: a kernel whose code object does not depend on the stack's compiler.
 *
 *   shared_code FILE [LAUNCHES [SECONDS]]
 *
 * FILE has vecCopy of samples/vcopy, compiled once for all stacks, so that counters of it must be equal on all. Memory
 * is allocated in stream order. With SECONDS, the launches are repeated 20 times a second until that time has passed, for
 * a profiler that attaches.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#define OK(call)                                                                                   \
	do {                                                                                       \
		hipError_t e_ = (call);                                                            \
		if (e_ != hipSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(e_));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { N = 1 << 16, BLOCK = 256 };

int main(int argc, char **argv)
{
	int launches = argc > 2 ? atoi(argv[2]) : 1;
	int rounds = argc > 3 ? 20 * atoi(argv[3]) : 1;
	std::vector<double> in(N), out(N);
	double *from, *to, *unused = nullptr;
	int n = N, stride = 1;
	void *args[] = { &from, &unused, &to, &n, &stride };
	hipModule_t module;
	hipFunction_t copy;
	hipStream_t stream;

	if (argc < 2)
		return 2;
	for (int i = 0; i < N; i++)
		in[i] = i + 0.5;
	OK(hipModuleLoad(&module, argv[1]));
	OK(hipModuleGetFunction(&copy, module, "_Z7vecCopyPdS_S_ii"));
	OK(hipStreamCreate(&stream));
	OK(hipMallocAsync((void **)&from, N * sizeof(*from), stream));
	OK(hipMallocAsync((void **)&to, N * sizeof(*to), stream));
	OK(hipMemcpyAsync(from, in.data(), N * sizeof(*from), hipMemcpyHostToDevice, stream));
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < launches; i++)
			OK(hipModuleLaunchKernel(copy, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, args, nullptr));
		OK(hipStreamSynchronize(stream));
		if (rounds > 1 && round == 0) {
			puts("ready");
			fflush(stdout);
		}
		if (rounds > 1)
			usleep(50000);
	}
	OK(hipMemcpyAsync(out.data(), to, N * sizeof(*to), hipMemcpyDeviceToHost, stream));
	OK(hipStreamSynchronize(stream));
	OK(hipFreeAsync(from, stream));
	OK(hipFreeAsync(to, stream));
	OK(hipStreamSynchronize(stream));
	/* HIP 5.2 hangs in it once memory was allocated on the stream: docs/stacks.md */
	if (HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2)
		OK(hipStreamDestroy(stream));
	OK(hipModuleUnload(module));
	puts(in == out ? "PASS" : "FAIL");
	return in == out ? 0 : 1;
}
