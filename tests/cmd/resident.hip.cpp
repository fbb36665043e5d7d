// resident: a program that was there before its profiler. Until SIGTERM it fills memory with
// a kernel, copies it back and checks it, with a mark around each turn; every tenth turn on a
// stream of its own. Ends with 0 when every turn was right, and prints how many there were.
//
//	resident [READY_FILE]     the file appears when the GPU has been used
#include <hip/hip_runtime.h>

#include "collector/roctx/include/roctx.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

static volatile sig_atomic_t stop;

__global__ void fill(int *to, int value)
{
	to[blockIdx.x * blockDim.x + threadIdx.x] = value + (int)threadIdx.x;
}

static void must(hipError_t status, const char *what)
{
	if (status != hipSuccess) {
		fprintf(stderr, "resident: %s: %s\n", what, hipGetErrorString(status));
		exit(1);
	}
}

static void turn(int *device, int value)
{
	const int n = 1024;
	std::vector<int> host(n);
	hipStream_t stream = nullptr;

	roctxRangePushA("turn");
	if (value % 10 == 0)
		must(hipStreamCreate(&stream), "hipStreamCreate");
	hipLaunchKernelGGL(fill, dim3(n / 64), dim3(64), 0, stream, device, value);
	must(hipGetLastError(), "launch");
	must(hipMemcpyAsync(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost, stream),
	     "hipMemcpyAsync");
	must(hipStreamSynchronize(stream), "hipStreamSynchronize");
	if (stream)
		must(hipStreamDestroy(stream), "hipStreamDestroy");
	roctxRangePop();
	for (int i = 0; i < n; i++)
		if (host[i] != value + i % 64) {
			fprintf(stderr, "resident: turn %d: %d at %d\n", value, host[i], i);
			exit(1);
		}
}

int main(int argc, char **argv)
{
	int *device, n = 0;

	signal(SIGTERM, [](int) { stop = 1; });
	must(hipMalloc(&device, 1024 * sizeof(int)), "hipMalloc");
	while (!stop) {
		turn(device, ++n);
		if (n == 3 && argc > 1)
			fclose(fopen(argv[1], "w"));
		usleep(2000);
	}
	printf("%d turns\n", n);
	return n > 3 ? 0 : 1;
}
