/* The code object that the module test loads at run time. */
#include <hip/hip_runtime.h>

__device__ unsigned counter = 40;
__constant__ unsigned factor[4] = { 1, 2, 3, 4 };

extern "C" __global__ void weigh(const unsigned *in, unsigned *out, char add, short shift,
				 double half, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = ((in[i] * factor[i % 4] + add) << shift) + (unsigned)(half * 2.0);
	if (i == 0)
		counter += 2;
}

extern "C" __global__ void reverse(unsigned *x)
{
	extern __shared__ unsigned copy[];

	copy[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	x[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}
