/*
 * occupancy: the same work by kernels that differ in how many waves a compute unit holds.
 *
 * One kernel takes few registers and no LDS; one reserves so much LDS that only two
 * workgroups fit; one keeps many values alive, so registers are the limit. A profile shows
 * the waves in flight going down and the time going up.
 */
#include "check.h"

enum { ROUNDS = 8, HEAVY = 96, LDS_BYTES = 32 * 1024 };

static __host__ __device__ float mix(float x, int round)
{
	return x * 1.0001f + 0.5f * (float)round;
}

__global__ void full(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = i < n ? in[i] : 0;

	for (int r = 0; r < ROUNDS; r++)
		x = mix(x, r);
	if (i < n)
		out[i] = x;
}

__global__ void limited_by_lds(const float *in, float *out, int n)
{
	__shared__ float room[LDS_BYTES / sizeof(float)];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	room[threadIdx.x] = i < n ? in[i] : 0;
	__syncthreads();
	for (int r = 0; r < ROUNDS; r++)
		room[threadIdx.x] = mix(room[threadIdx.x], r);
	if (i < n)
		out[i] = room[threadIdx.x];
}

/* All values are needed until the end, so none can share a register. */
__global__ void limited_by_registers(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x[HEAVY], sum = 0;

#pragma unroll
	for (int k = 0; k < HEAVY; k++)
		x[k] = in[(i + k) % n];
	for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
		for (int k = 0; k < HEAVY; k++)
			x[k] = mix(x[k], r);
	}
#pragma unroll
	for (int k = 0; k < HEAVY; k++)
		sum += k ? 0.0f * x[k] : x[0];
	if (i < n)
		out[i] = sum;
}

int main(int argc, char **argv)
{
	long n = 65536, block = 256, iterations = 1;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements" },
		{ 'b', &block, 1, "work-items per workgroup" },
		{ 'i', &iterations, 1, "launches of each kernel" },
	};
	options(argc, argv, "kernels of different occupancy", rows);

	std::vector<float> host(n);
	for (long i = 0; i < n; i++)
		host[i] = (float)(i % 1000);
	device_buffer<float> in(host), out(n);
	void (*const kernels[])(const float *, float *, int) = { full, limited_by_lds,
								 limited_by_registers };
	long n_wrong = 0;

	for (auto kernel : kernels) {
		for (long i = 0; i < iterations; i++)
			kernel<<<(n + block - 1) / block, block>>>(in.ptr, out.ptr, (int)n);
		LAUNCH_OK();
		std::vector<float> got = out.download();
		for (long i = 0; i < n; i++) {
			float x = host[i];

			for (int r = 0; r < ROUNDS; r++)
				x = mix(x, r);
			n_wrong += std::fabs(got[i] - x) > 1e-4f * std::fabs(x) + 1e-3f;
		}
	}
	return verdict(n_wrong == 0);
}
