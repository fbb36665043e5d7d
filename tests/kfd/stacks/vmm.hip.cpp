/* HIP's virtual memory calls: memory without an address, shown at reserved ones, used by a
 * kernel. HIP 6 and later. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#if HIP_VERSION_MAJOR < 6
int main()
{
	printf("virtual memory management is not in this HIP\n");
	return 77;
}
#else

#define OK(call)                                                                                   \
	do {                                                                                       \
		hipError_t e_ = (call);                                                            \
		if (e_ != hipSuccess) {                                                            \
			printf("%s: %s\n", #call, hipGetErrorString(e_));                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

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

	OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
	if (!supported) {
		printf("virtual memory management is not supported\n");
		return 77;
	}
	prop.type = hipMemAllocationTypePinned;
	prop.location.type = hipMemLocationTypeDevice;
	OK(hipMemGetAllocationGranularity(&granule, &prop, hipMemAllocationGranularityMinimum));
	/* The runtime allocates for itself when a first kernel runs. */
	OK(hipMalloc(&base, 4));
	fill<<<1, 1>>>((unsigned *)base, 1, 0);
	OK(hipDeviceSynchronize());
	OK(hipFree(base));
	OK(hipMemGetInfo(&free_before, &total));
	OK(hipMemAddressReserve(&base, 2 * granule, 0, nullptr, 0));
	for (int i = 0; i < 2; i++) {
		OK(hipMemCreate(&handles[i], granule, &prop, 0));
		OK(hipMemMap((char *)base + i * granule, granule, 0, handles[i], 0));
	}
	access.location = prop.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	OK(hipMemSetAccess(base, 2 * granule, &access, 1));
	/* One range of two objects. */
	unsigned n = (unsigned)(2 * granule / 4);

	fill<<<(n + 255) / 256, 256>>>((unsigned *)base, n, 5);
	OK(hipGetLastError());
	std::vector<unsigned> back(n);

	OK(hipMemcpy(back.data(), base, 4ull * n, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < n; i++)
		if (back[i] != 5 + i) {
			printf("wrong at %u: %u\n", i, back[i]);
			return 1;
		}
	/* The second object's memory at another address. */
	OK(hipMemUnmap((char *)base + granule, granule));
	OK(hipMemAddressReserve(&second, granule, 0, nullptr, 0));
	OK(hipMemMap(second, granule, 0, handles[1], 0));
	OK(hipMemSetAccess(second, granule, &access, 1));
	OK(hipMemcpy(back.data(), second, granule, hipMemcpyDeviceToHost));
	if (back[0] != 5 + granule / 4) {
		printf("moved wrong: %u\n", back[0]);
		return 1;
	}
	OK(hipMemUnmap(base, granule));
	OK(hipMemUnmap(second, granule));
	OK(hipMemRelease(handles[0]));
	OK(hipMemRelease(handles[1]));
	OK(hipMemAddressFree(base, 2 * granule));
	OK(hipMemAddressFree(second, granule));
	OK(hipMemGetInfo(&free_after, &total));
	if (free_after + (1 << 20) < free_before) {
		printf("memory lost: %zu of %zu\n", free_before - free_after, free_before);
		return 1;
	}
	printf("PASS\n");
	return 0;
}
#endif
