/* HIP's virtual memory calls: memory without an address, shown at reserved ones, used by a
 * kernel. HIP 6 and later. */
#include "samples/check.h"

#if HIP_VERSION_MAJOR < 6
int main()
{
	printf("virtual memory management is not in this HIP\n");
	return 77;
}
#else

__global__ void fill(unsigned *p, unsigned n, unsigned first)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = first + i;
}

int main()
{
	hipMemAllocationProp prop = {};
	hipMemAccessDesc access = {};
	hipMemGenericAllocationHandle_t handles[2];
	size_t granule, free_before, free_after, total;
	void *base, *second;
	int supported = 0;

	HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported,
				     0));
	if (!supported) {
		printf("virtual memory management is not supported\n");
		return 77;
	}
	prop.type = hipMemAllocationTypePinned;
	prop.location.type = hipMemLocationTypeDevice;
	HIP_OK(hipMemGetAllocationGranularity(&granule, &prop, hipMemAllocationGranularityMinimum));
	/* The runtime allocates for itself when a first kernel runs. */
	HIP_OK(hipMalloc(&base, 4));
	fill<<<1, 1>>>((unsigned *)base, 1, 0);
	HIP_OK(hipDeviceSynchronize());
	HIP_OK(hipFree(base));
	HIP_OK(hipMemGetInfo(&free_before, &total));
	HIP_OK(hipMemAddressReserve(&base, 2 * granule, 0, nullptr, 0));
	for (int i = 0; i < 2; i++) {
		HIP_OK(hipMemCreate(&handles[i], granule, &prop, 0));
		HIP_OK(hipMemMap((char *)base + i * granule, granule, 0, handles[i], 0));
	}
	access.location = prop.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP_OK(hipMemSetAccess(base, 2 * granule, &access, 1));
	/* One range of two objects. */
	unsigned n = (unsigned)(2 * granule / 4);

	fill<<<(n + 255) / 256, 256>>>((unsigned *)base, n, 5);
	HIP_OK(hipGetLastError());
	std::vector<unsigned> back(n);

	HIP_OK(hipMemcpy(back.data(), base, 4ull * n, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < n; i++)
		if (back[i] != 5 + i) {
			printf("wrong at %u: %u\n", i, back[i]);
			return 1;
		}
	/* The second object's memory at another address. */
	HIP_OK(hipMemUnmap((char *)base + granule, granule));
	HIP_OK(hipMemAddressReserve(&second, granule, 0, nullptr, 0));
	HIP_OK(hipMemMap(second, granule, 0, handles[1], 0));
	HIP_OK(hipMemSetAccess(second, granule, &access, 1));
	HIP_OK(hipMemcpy(back.data(), second, granule, hipMemcpyDeviceToHost));
	if (back[0] != 5 + granule / 4) {
		printf("moved wrong: %u\n", back[0]);
		return 1;
	}
	HIP_OK(hipMemUnmap(base, granule));
	HIP_OK(hipMemUnmap(second, granule));
	HIP_OK(hipMemRelease(handles[0]));
	HIP_OK(hipMemRelease(handles[1]));
	HIP_OK(hipMemAddressFree(base, 2 * granule));
	HIP_OK(hipMemAddressFree(second, granule));
	HIP_OK(hipMemGetInfo(&free_after, &total));
	if (free_after + (1 << 20) < free_before) {
		printf("memory lost: %zu of %zu\n", free_before - free_after, free_before);
		return 1;
	}
	printf("PASS\n");
	return 0;
}
#endif
