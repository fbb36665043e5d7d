// deadly: kernels on two streams until it dies, in a way and at a moment that are given.
//
//	deadly FILE HOW MICROSECONDS
//
// FILE gets two counters, one per thread: how many kernels the thread has seen complete. HOW is
// kill, term, segv or exit (the system call); the moment counts from the first kernel of both.
#include <hip/hip_runtime.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static const int THREADS = 2;
static std::atomic<uint64_t> *seen;

__global__ void often(int *to)
{
	to[threadIdx.x] += (int)blockIdx.x;
}

__global__ void seldom(int *to)
{
	to[threadIdx.x] -= (int)blockIdx.x;
}

static void must(hipError_t status, const char *what)
{
	if (status != hipSuccess) {
		fprintf(stderr, "deadly: %s: %s\n", what, hipGetErrorString(status));
		exit(2);
	}
}

static void launch(int thread)
{
	hipStream_t stream;
	int *device;

	must(hipStreamCreate(&stream), "hipStreamCreate");
	must(hipMalloc(&device, 64 * sizeof(int)), "hipMalloc");
	for (int i = 0;; i++) {
		int n = 1 + i % 3;

		for (int k = 0; k < n; k++)
			hipLaunchKernelGGL(i % 4 ? often : seldom, dim3(2), dim3(64), 0, stream, device);
		must(hipGetLastError(), "launch");
		must(hipStreamSynchronize(stream), "hipStreamSynchronize");
		seen[thread].fetch_add(n, std::memory_order_release);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(*seen)))
		return 2;
	seen = (std::atomic<uint64_t> *)mmap(nullptr, THREADS * sizeof(*seen), PROT_READ | PROT_WRITE,
					     MAP_SHARED, fd, 0);
	for (int i = 0; i < THREADS; i++)
		std::thread(launch, i).detach();
	while (!seen[0] || !seen[1])
		usleep(100);
	usleep((useconds_t)atoi(argv[3]));
	if (!strcmp(argv[2], "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(argv[2], "term"))
		kill(getpid(), SIGTERM);
	else if (!strcmp(argv[2], "segv"))
		*(volatile int *)8 = 0;
	else
		syscall(SYS_exit_group, 7);
	for (;;)
		pause();
}
