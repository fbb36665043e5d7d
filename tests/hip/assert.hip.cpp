/* Device assert(): the message names the place, and the process aborts. */
#undef NDEBUG
#include "hiptest.h"
#include <cassert>

__global__ void bounded(const int *x, int limit) { assert(x[threadIdx.x] < limit); }

static int run_with(int limit)
{
	std::vector<int> host(64);

	for (int i = 0; i < 64; i++)
		host[i] = i;
	device_buffer<int> x(host);
	bounded<<<1, 64>>>(x.ptr, limit);
	HIP_OK(hipGetLastError());
	hipError_t e = hipDeviceSynchronize();
	printf("synchronize: %s\n", hipGetErrorName(e));
	return e == hipSuccess ? 0 : 3;
}

int main()
{
	child_result r = run_child([] { return run_with(64); });
	CHECK(r.exited(0), "an assertion that holds: status 0x%x", r.status);
	if (n_failed_checks)
		show_child("holds", r);

	r = run_child([] { return run_with(63); });
	CHECK(r.aborted(), "an assertion that fails: status 0x%x", r.status);
	CHECK(r.says("assert.hip.cpp"), "the file is named");
	CHECK(r.says("x[threadIdx.x] < limit"), "the condition is shown");
	CHECK(r.says("failed"), "Assertion ... failed");
	if (n_failed_checks)
		show_child("fails", r);
	return finish();
}
