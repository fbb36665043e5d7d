/* Host memory that the device can use: pinned, mapped, registered, managed; what HIP says of it. */
#include "hiptest.h"

static hipMemoryType type_of(const hipPointerAttribute_t &a)
{
#if HIP_VERSION_MAJOR >= 6
	return a.type;
#else
	return a.memoryType;
#endif
}

enum { N = 3000 };

__global__ void twice(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = in[i] * 2;
}

static void fill(unsigned *x)
{
	for (unsigned i = 0; i < N; i++)
		x[i] = i + 1;
}

static void check_doubled(const char *what, const unsigned *x)
{
	std::vector<unsigned> want(N);

	for (unsigned i = 0; i < N; i++)
		want[i] = 2 * (i + 1);
	check_equal(what, std::vector<unsigned>(x, x + N), want);
}

static void run_on(const char *what, unsigned *host, unsigned *device)
{
	fill(host);
	twice<<<(N + 255) / 256, 256>>>(device, device, N);
	LAUNCH_OK();
	check_doubled(what, host);
}

static void pinned(const char *what, unsigned flags)
{
	unsigned *host, *device;
	hipPointerAttribute_t a;

	HIP_OK(hipHostMalloc((void **)&host, N * sizeof(unsigned), flags));
	HIP_OK(hipHostGetDevicePointer((void **)&device, host, 0));
	run_on(what, host, device);
	HIP_OK(hipPointerGetAttributes(&a, host));
	CHECK(type_of(a) == hipMemoryTypeHost, "%s: type %d", what, (int)type_of(a));
	HIP_OK(hipHostFree(host));
}

static void registered()
{
	/* in the middle of a malloc block, so neither end lies on a page */
	std::vector<unsigned> block(N + 5000);
	unsigned *host = block.data() + 777, *device;

	HIP_OK(hipHostRegister(host, N * sizeof(unsigned), hipHostRegisterDefault));
	HIP_OK(hipHostGetDevicePointer((void **)&device, host, 0));
	run_on("registered", host, device);
	HIP_OK(hipHostUnregister(host));
	CHECK(hipHostUnregister(host) != hipSuccess, "unregistered twice");
	(void)hipGetLastError();

	/* and once more after it was given back */
	HIP_OK(hipHostRegister(host, N * sizeof(unsigned), hipHostRegisterDefault));
	HIP_OK(hipHostGetDevicePointer((void **)&device, host, 0));
	run_on("registered again", host, device);
	HIP_OK(hipHostUnregister(host));
}

static void managed()
{
	unsigned *x;
	int is_managed = 0;
	hipPointerAttribute_t a;

	HIP_OK(hipMallocManaged(&x, N * sizeof(unsigned)));
	run_on("managed", x, x);
	HIP_OK(hipPointerGetAttributes(&a, x));
	is_managed = a.isManaged;
	CHECK(is_managed, "attributes say it is not managed");
	HIP_OK(hipMemAdvise(x, N * sizeof(unsigned), hipMemAdviseSetReadMostly, 0));
	hipError_t prefetch = hipMemPrefetchAsync(x, N * sizeof(unsigned), 0, 0);
	CHECK(prefetch == hipSuccess || prefetch == hipErrorInvalidValue, "%s",
	      hipGetErrorName(prefetch));
	(void)hipGetLastError();
	HIP_OK(hipDeviceSynchronize());
	run_on("managed after advice", x, x);
	HIP_OK(hipFree(x));
}

static void device_pointer_attributes()
{
	device_buffer<unsigned> x(N);
	hipPointerAttribute_t a;
	hipDeviceptr_t base;
	size_t size;
	unsigned local = 0;

	HIP_OK(hipPointerGetAttributes(&a, x.ptr + 5));
	CHECK(type_of(a) == hipMemoryTypeDevice && a.device == 0, "type %d device %d",
	      (int)type_of(a), a.device);
	HIP_OK(hipMemGetAddressRange(&base, &size, x.ptr + 5));
	CHECK(base == x.ptr && size >= N * sizeof(unsigned), "%p %zu", base, size);
	/* an error up to HIP 5, as in CUDA since */
	hipError_t status = hipPointerGetAttributes(&a, &local);
#if HIP_VERSION_MAJOR >= 6
	CHECK(status == hipSuccess && type_of(a) == hipMemoryTypeUnregistered, "a stack address");
#else
	CHECK(status == hipErrorInvalidValue, "a stack address");
#endif
	(void)hipGetLastError();
}

int main()
{
	pinned("pinned", hipHostMallocDefault);
	pinned("mapped", hipHostMallocMapped);
	pinned("portable", hipHostMallocPortable);
	pinned("coherent", hipHostMallocCoherent);
	pinned("non-coherent", hipHostMallocNonCoherent);
	pinned("write-combined", hipHostMallocWriteCombined);
	registered();
	managed();
	device_pointer_attributes();
	return finish();
}
