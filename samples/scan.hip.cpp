/*
 * scan: exclusive prefix sum of a vector of any length.
 *
 * Each workgroup scans its part and leaves its total; the totals are scanned
 * the same way, level by level; then every part adds what lies before it.
 * Two workgroup scans are compared: doubling steps in LDS, and shuffles
 * inside a wave with one LDS exchange between the waves.
 */
#include "check.h"

enum { BLOCK = 256, WAVE = 64 };

__device__ unsigned inclusive_lds(unsigned x)
{
	__shared__ unsigned value[2][BLOCK];
	int t = threadIdx.x, from = 0;

	value[0][t] = x;
	__syncthreads();
	for (int step = 1; step < BLOCK; step *= 2, from ^= 1) {
		value[from ^ 1][t] = value[from][t] + (t >= step ? value[from][t - step] : 0);
		__syncthreads();
	}
	return value[from][t];
}

__device__ unsigned inclusive_shuffle(unsigned x)
{
	__shared__ unsigned wave_total[BLOCK / WAVE];
	int lane = threadIdx.x % WAVE, wave = threadIdx.x / WAVE;

	for (int step = 1; step < WAVE; step *= 2) {
		unsigned before = __shfl_up(x, step);

		if (lane >= step)
			x += before;
	}
	if (lane == WAVE - 1)
		wave_total[wave] = x;
	__syncthreads();
	for (int i = 0; i < wave; i++)
		x += wave_total[i];
	return x;
}

template <bool SHUFFLE>
__global__ void scan_part(const unsigned *in, unsigned *out, unsigned *total, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;
	unsigned x = i < n ? in[i] : 0;
	unsigned sum = SHUFFLE ? inclusive_shuffle(x) : inclusive_lds(x);

	if (i < n)
		out[i] = sum - x;
	if (threadIdx.x == BLOCK - 1)
		total[blockIdx.x] = sum;
}

__global__ void scan_add(unsigned *out, const unsigned *before, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] += before[blockIdx.x];
}

template <bool SHUFFLE> static void scan(const unsigned *in, unsigned *out, int n)
{
	int grid = (n + BLOCK - 1) / BLOCK;
	device_buffer<unsigned> total(grid), before(grid);

	scan_part<SHUFFLE><<<grid, BLOCK>>>(in, out, total.ptr, n);
	HIP_OK(hipGetLastError());
	if (grid == 1) {
		HIP_OK(hipDeviceSynchronize());
		return;
	}
	scan<SHUFFLE>(total.ptr, before.ptr, grid);
	scan_add<<<grid, BLOCK>>>(out, before.ptr, n);
	LAUNCH_OK();
}

template <bool SHUFFLE>
static bool run(const char *name, const device_buffer<unsigned> &in,
		const std::vector<unsigned> &want)
{
	device_buffer<unsigned> out(in.n);

	out.clear(0xff);
	scan<SHUFFLE>(in.ptr, out.ptr, (int)in.n);
	size_t n_wrong = count_wrong(name, out.download(), want, 0.0);
	printf("%-8s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

int main(int argc, char **argv)
{
	long n = 100003;
	const option_row rows[] = { { 'n', &n, 1, "elements" } };
	options(argc, argv, "exclusive prefix sum", rows);

	std::vector<unsigned> host(n), want(n);
	unsigned sum = 0;
	number_source numbers;
	for (long i = 0; i < n; i++) {
		host[i] = numbers.next() % 100;
		want[i] = sum;
		sum += host[i];
	}

	device_buffer<unsigned> in(host);
	bool pass = run<false>("lds", in, want);
	pass &= run<true>("shuffle", in, want);
	return verdict(pass);
}
