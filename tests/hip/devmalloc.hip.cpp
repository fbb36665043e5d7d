/* malloc() and free() in a kernel: blocks that survive the kernel, many sizes, no overlap. */
#include "hiptest.h"

enum { N = 512 };

__host__ __device__ static inline unsigned size_of(unsigned i) { return 4 * (1 + i * 37 % 200); }

__global__ void take(unsigned **blocks)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned *p = (unsigned *)malloc(size_of(i));

	blocks[i] = p;
	if (p)
		for (unsigned k = 0; k < size_of(i) / 4; k++)
			p[k] = i * 1000 + k;
}

__global__ void look_and_free(unsigned **blocks, unsigned *n_wrong)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (!blocks[i]) {
		atomicAdd(n_wrong, 1u);
		return;
	}
	for (unsigned k = 0; k < size_of(i) / 4; k++)
		if (blocks[i][k] != i * 1000 + k)
			atomicAdd(n_wrong, 1u);
	free(blocks[i]);
}

int main()
{
	device_buffer<unsigned *> blocks(N);
	device_buffer<unsigned> n_wrong(1);

	n_wrong.clear();
	for (int round = 0; round < 3; round++) { /* freed blocks come back */
		blocks.clear();
		take<<<N / 64, 64>>>(blocks.ptr);
		LAUNCH_OK();
		look_and_free<<<N / 64, 64>>>(blocks.ptr, n_wrong.ptr);
		LAUNCH_OK();
	}
	CHECK(n_wrong.download()[0] == 0, "%u words wrong", n_wrong.download()[0]);
	return finish();
}
