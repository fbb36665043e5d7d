// leaves: threads that launch kernels while main calls exit(). Ends with 7.
//
//	leaves FILE [MICROSECONDS]
//
// FILE gets one counter per thread: kernels that it has seen complete.
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

static const int THREADS = 4;
static std::atomic<uint64_t> *seen;

__global__ void add(int *to)
{
	to[threadIdx.x] += (int)blockIdx.x;
}

static void launch(int thread)
{
	hipStream_t stream;
	int *device;

	if (hipStreamCreate(&stream) != hipSuccess || hipMalloc(&device, 64 * sizeof(int)) != hipSuccess)
		_Exit(1);
	for (;;) {
		hipLaunchKernelGGL(add, dim3(2), dim3(64), 0, stream, device);
		// once the process is ending, HIP may refuse: that is no kernel
		if (hipGetLastError() != hipSuccess || hipStreamSynchronize(stream) != hipSuccess)
			continue;
		seen[thread].fetch_add(1, std::memory_order_release);
	}
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(*seen)))
		return 2;
	seen = (std::atomic<uint64_t> *)mmap(nullptr, THREADS * sizeof(*seen), PROT_READ | PROT_WRITE,
					     MAP_SHARED, fd, 0);
	for (int i = 0; i < THREADS; i++)
		std::thread(launch, i).detach();
	for (int i = 0; i < THREADS; i++)
		while (!seen[i])
			usleep(100);
	usleep(argc > 2 ? (useconds_t)atoi(argv[2]) : 0);
	exit(7);
}
