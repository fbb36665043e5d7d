/*
 * histogram: counts of byte values, with atomics in memory and in LDS.
 *
 * The input is skewed (a quarter of it is one value), which is where the two
 * part ways: many lanes then add to one address at once.
 */
#include "check.h"

enum { BINS = 256, BLOCK = 256 };

__global__ void histogram_global(const uint8_t *in, unsigned *bins, int n)
{
	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
		atomicAdd(&bins[in[i]], 1u);
}

__global__ void histogram_lds(const uint8_t *in, unsigned *bins, int n)
{
	__shared__ unsigned local[BINS];

	local[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
		atomicAdd(&local[in[i]], 1u);
	__syncthreads();
	if (local[threadIdx.x])
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static bool run(const char *name, void (*kernel)(const uint8_t *, unsigned *, int),
		const device_buffer<uint8_t> &in, int grid, const std::vector<unsigned> &want)
{
	device_buffer<unsigned> bins(BINS);

	bins.clear();
	kernel<<<grid, BLOCK>>>(in.ptr, bins.ptr, (int)in.n);
	LAUNCH_OK();
	size_t n_wrong = count_wrong(name, bins.download(), want, 0.0);
	printf("%-8s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

int main(int argc, char **argv)
{
	long n = 200001, grid = 64;
	const option_row rows[] = {
		{ 'n', &n, 1, "bytes of input" },
		{ 'g', &grid, 1, "workgroups of 256" },
	};
	options(argc, argv, "histogram of bytes with atomics", rows);

	std::vector<uint8_t> host(n);
	std::vector<unsigned> want(BINS, 0);
	number_source numbers;
	for (long i = 0; i < n; i++) {
		uint32_t x = numbers.next();

		host[i] = x % 4 ? (uint8_t)(x >> 8) : 42;
		want[host[i]]++;
	}

	device_buffer<uint8_t> in(host);
	bool pass = run("global", histogram_global, in, grid, want);
	pass &= run("lds", histogram_lds, in, grid, want);
	return verdict(pass);
}
