/*
 * named: a program that gives names to all that roctx can name, the GPU before HIP has started,
 * and copies and fills on each of two threads.
 */
#include "collector/roctx/include/roctx.h"
#include "samples/check.h"

#include <hsa/hsa.h>
#include <thread>

__global__ void fill(int *to)
{
	to[threadIdx.x] = (int)threadIdx.x;
}

static void use(hipStream_t stream)
{
	device_buffer<int> buffer(64);
	int host[64];

	fill<<<1, 64, 0, stream>>>(buffer.ptr);
	HIP_OK(hipMemcpyAsync(host, buffer.ptr, sizeof(host), hipMemcpyDeviceToHost, stream));
	HIP_OK(hipStreamSynchronize(stream));
}

/* The CPU, through HSA itself. */
static hsa_status_t name_cpu(hsa_agent_t agent, void *)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type == HSA_DEVICE_TYPE_CPU)
		roctxNameHsaAgent("the host", &agent);
	return HSA_STATUS_SUCCESS;
}

int main()
{
	hipStream_t stream;

	roctxNameHipDevice("not this", 0);
	roctxNameHipDevice("train \"1\"", 0); /* the last one counts */
	HIP_OK(hipStreamCreate(&stream));
	roctxNameHipStream("uploads", stream);
	if (hsa_iterate_agents(name_cpu, nullptr) != HSA_STATUS_SUCCESS)
		return 1;
	std::thread([] {
		roctxNameOsThread("loader");
		roctxMark("from the loader");
		use(nullptr);
	}).join();
	use(stream);
	return 0;
}
