/*
 * A program built for other GPUs only (gfx803, gfx1030). HIP 5.2.3 finds no code for the device
 * when it loads the program and says so by name; memory calls before that work.
 */
#include "hiptest.h"

__global__ void never(unsigned *x) { *x = 1; }

static int launch()
{
	unsigned *x, value = 5;

	HIP_OK(hipMalloc(&x, sizeof(unsigned)));
	HIP_OK(hipMemcpy(x, &value, sizeof(value), hipMemcpyHostToDevice));
	never<<<1, 1>>>(x);
	hipError_t e = hipGetLastError();
	printf("launch: %s\n", hipGetErrorName(e));
	if (e == hipSuccess)
		e = hipDeviceSynchronize();
	return e == hipSuccess ? 0 : 3;
}

int main()
{
	child_result r = run_child(launch);

	/* either HIP's abort at start, or the launch error: both name the cause */
	CHECK(!r.exited(0), "the kernel seemed to run");
	CHECK(r.says("hipErrorNoBinaryForGpu") || r.says("hipErrorInvalidDeviceFunction"),
	      "HIP's own error");
	CHECK(r.aborted() || r.exited(1) || r.exited(3), "status 0x%x", r.status);
	if (n_failed_checks)
		show_child("launch", r);
	return finish();
}
