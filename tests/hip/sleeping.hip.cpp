/*
 * s_sleep is time on the device: the host does not sleep along. And a kernel that polls, sleeping in between,
 * for something that the host does much later leaves the host's cores alone and still notices.
 */
#include "hiptest.h"

#include <chrono>
#include <thread>

__global__ void sleep_often(unsigned *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		__builtin_amdgcn_s_sleep(127);
	out[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

__global__ void poll_flag(volatile unsigned *flag, unsigned *out)
{
	while (!*flag)
		__builtin_amdgcn_s_sleep(8);
	out[blockIdx.x] = *flag;
}

/* All workgroups wait, sleeping, for the last one: it must not starve. */
__global__ void wait_for_last(unsigned *arrived, unsigned *out)
{
	if (threadIdx.x == 0) {
		__hip_atomic_fetch_add(arrived, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		while (__hip_atomic_load(arrived, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) <
		       gridDim.x)
			__builtin_amdgcn_s_sleep(2);
	}
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = 5;
}

struct host_use {
	double cpu_s;
	long n_switches;
};

static host_use used()
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return { r.ru_utime.tv_sec + r.ru_stime.tv_sec +
			 1e-6 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec),
		 r.ru_nvcsw };
}

/* A thread that sleeps for each s_sleep gives its core away each time; a busy machine changes nothing about that. */
static void many_sleeps(unsigned grid, unsigned n)
{
	device_buffer<unsigned> out(grid * 64);
	host_use before, after;

	out.clear();
	before = used();
	sleep_often<<<grid, 64>>>(out.ptr, n);
	LAUNCH_OK();
	after = used();
	check_equal("sleeps", out.download(), std::vector<unsigned>(grid * 64, n));
	CHECK(after.n_switches - before.n_switches < 4000,
	      "%u workgroups, %u sleeps: gave way %ld times", grid, n,
	      after.n_switches - before.n_switches);
}

static void long_poll()
{
	device_buffer<unsigned> out(8);
	unsigned *flag;
	host_use before, after;

	HIP_OK(hipHostMalloc(&flag, sizeof(*flag)));
	*flag = 0;
	poll_flag<<<8, 64>>>(flag, out.ptr);
	std::this_thread::sleep_for(std::chrono::milliseconds(300)); /* it may be eager at first */
	before = used();
	std::this_thread::sleep_for(std::chrono::milliseconds(1000));
	after = used();
	*(volatile unsigned *)flag = 9;
	LAUNCH_OK();
	check_equal("flag", out.download(), std::vector<unsigned>(8, 9));
	/* busy polling takes all of it */
	CHECK(after.cpu_s - before.cpu_s < 0.9, "%.3f s of host time for one second of polling",
	      after.cpu_s - before.cpu_s);
	HIP_OK(hipHostFree(flag));
}

static void last_arrives()
{
	enum { GRID = 200 };
	device_buffer<unsigned> arrived(1), out(GRID);

	arrived.clear();
	out.clear();
	wait_for_last<<<GRID, 128>>>(arrived.ptr, out.ptr);
	LAUNCH_OK();
	check_equal("all", out.download(), std::vector<unsigned>(GRID, 5));
}

int main()
{
	many_sleeps(1, 40000);
	many_sleeps(16, 10000);
	long_poll();
	last_arrives();
	return finish();
}
