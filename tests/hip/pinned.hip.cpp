/*
 * pinned [PAGES]: a kernel that reads the program's own memory, which lies PAGES further on than
 * without. What it counts must not depend on that.
 */
#include "tests/hip/hiptest.h"

#include <cstdlib>
#include <sys/mman.h>

static const int n = 65536;

/* every second line of 64 bytes, so that channels are not all alike, and a list of addresses */
__global__ void gather(const unsigned *in, const unsigned *more, unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = in[i * 32 % n] + more[i * i % n] + in[blockIdx.x];
}

/* Somewhere the host likes, and `further` on from there: nothing lies between. */
static unsigned *memory(uint64_t further)
{
	const uint64_t reserved = 4ull << 30;
	void *at = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED || further > reserved - n * sizeof(unsigned))
		skip("no address space, or not so much");
	return (unsigned *)((char *)at + further);
}

int main(int argc, char **argv)
{
	uint64_t further = (argc > 1 ? strtoull(argv[1], nullptr, 0) : 0) * 4096;
	unsigned *host[2] = { memory(further), memory(3 * further) };
	unsigned *there[2], *out;

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < n; i++)
			host[k][i] = (unsigned)(i * (k + 1));
		HIP_OK(hipHostRegister(host[k], n * sizeof(unsigned), hipHostRegisterMapped));
		HIP_OK(hipHostGetDevicePointer((void **)&there[k], host[k], 0));
	}
	HIP_OK(hipMalloc(&out, n * sizeof(unsigned)));
	gather<<<n / 256, 256>>>(there[0], there[1], out);
	std::vector<unsigned> got(n), want(n);
	HIP_OK(hipMemcpy(got.data(), out, n * sizeof(unsigned), hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < n; i++)
		want[i] = host[0][i * 32 % n] + host[1][i * i % n] + host[0][i / 256];
	check_equal("gather", got, want);
	return finish();
}
