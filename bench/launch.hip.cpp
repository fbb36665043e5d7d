// A launch-bound loop: empty kernels, as fast as the program can launch them.
//
//	launch [KERNELS] [SYNC_EVERY] [block]      prints launches per second; HIP spins while it
//	                                           waits, unless told to block
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void nothing() {}

static void launch(long n, long sync_every)
{
	for (long i = 0; i < n; i++) {
		hipLaunchKernelGGL(nothing, dim3(1), dim3(64), 0, nullptr);
		if (sync_every && i % sync_every == sync_every - 1)
			(void)hipDeviceSynchronize();
	}
	if (hipDeviceSynchronize() != hipSuccess) {
		fprintf(stderr, "launch: %s\n", hipGetErrorString(hipGetLastError()));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000, sync_every = argc > 2 ? atol(argv[2]) : 0;

	if (argc > 3 && hipSetDeviceFlags(hipDeviceScheduleBlockingSync) != hipSuccess)
		return 1;
	launch(1000, sync_every); // queues, code, caches
	auto start = std::chrono::steady_clock::now();
	launch(n, sync_every);
	std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
	printf("%.0f\n", n / t.count());
}
