/* LDS: static and dynamic together, up to the limit, isolation between workgroups, too much of it,
 * accesses behind its end.
 */
#include "hiptest.h"

__global__ void rotate(const unsigned *in, unsigned *out, int n_words)
{
	extern __shared__ unsigned dynamic[];
	__shared__ unsigned fixed[64];

	for (int i = threadIdx.x; i < n_words; i += blockDim.x)
		dynamic[i] = in[blockIdx.x * n_words + i];
	if (threadIdx.x < 64)
		fixed[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
	__syncthreads();
	for (int i = threadIdx.x; i < n_words; i += blockDim.x)
		out[blockIdx.x * n_words + i] = dynamic[(i + 17) % n_words] + fixed[(i + 5) % 64];
}

/* The same address seen as LDS and as a generic pointer. */
__device__ __attribute__((noinline)) void bump(unsigned *p, unsigned by) { *p += by; }

__global__ void generic(unsigned *out)
{
	__shared__ unsigned shared[256];
	unsigned *p = threadIdx.x % 2 ? &shared[threadIdx.x] : &out[threadIdx.x];

	shared[threadIdx.x] = 1000 + threadIdx.x;
	out[threadIdx.x] = 2000 + threadIdx.x;
	bump(p, 7); /* half of the lanes go to LDS, half to memory, in one instruction */
	if (threadIdx.x % 2)
		out[threadIdx.x] = shared[threadIdx.x];
}

/* More than was asked for: up to the end of the granule it is there, then it is not. */
__global__ void beyond(unsigned *out)
{
	extern __shared__ unsigned dynamic[];

	dynamic[threadIdx.x] = 3000 + threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = dynamic[threadIdx.x ^ 1];
}

static void run(int n_words, int grid)
{
	std::vector<unsigned> in(n_words * grid), want(n_words * grid);

	for (size_t i = 0; i < in.size(); i++)
		in[i] = (unsigned)(i * 7);
	for (int b = 0; b < grid; b++)
		for (int i = 0; i < n_words; i++)
			want[b * n_words + i] =
				in[b * n_words + (i + 17) % n_words] + b * 1000 + (i + 5) % 64;
	device_buffer<unsigned> din(in), dout(in.size());
	dout.clear();
	rotate<<<grid, 256, n_words * sizeof(unsigned)>>>(din.ptr, dout.ptr, n_words);
	LAUNCH_OK();
	check_equal("rotate", dout.download(), want);
}

int main()
{
	hipDeviceProp_t prop;

	HIP_OK(hipGetDeviceProperties(&prop, 0));
	int lds_bytes = (int)prop.sharedMemPerBlock, granule = lds_bytes > 65536 ? 1280 : 512;
	run(1, 1);
	run(64, 33);
	run(1000, 20);
	run((lds_bytes - 256) / 4, 5); /* with the static part: all of it */

	device_buffer<unsigned> out(256);
	std::vector<unsigned> want(256);
	generic<<<1, 256>>>(out.ptr);
	LAUNCH_OK();
	for (unsigned i = 0; i < 256; i++)
		want[i] = (i % 2 ? 1000 : 2000) + i + 7;
	check_equal("generic", out.download(), want);

	beyond<<<1, 256, 300>>>(out.ptr);
	LAUNCH_OK();
	for (unsigned i = 0; i < 256; i++)
		want[i] = (int)i < granule / 4 ? 3000 + (i ^ 1) : 0;
	check_equal("beyond", out.download(), want);

	rotate<<<1, 256, lds_bytes + 4096>>>(out.ptr, out.ptr, 1);
	CHECK(hipGetLastError() != hipSuccess, "%d bytes of LDS were accepted", lds_bytes + 4096);
	run(64, 2); /* and the device still works */
	return finish();
}
