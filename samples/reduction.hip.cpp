/*
 * reduction: the sum of a vector, three ways.
 *
 *   lds      a tree in LDS, one partial sum per workgroup, added on the host
 *   shuffle  lanes exchange values inside a wave, LDS only between waves
 *   atomic   as shuffle, then one atomic add per workgroup
 *
 * Integers make every order of addition give the same answer, so the result
 * has to match exactly; a float sum is checked beside it with a tolerance.
 */
#include "check.h"

enum { BLOCK = 256, WAVE = 64 };

template <class T> __device__ T wave_sum(T x)
{
	for (int step = WAVE / 2; step; step /= 2)
		x += __shfl_down(x, step);
	return x; /* complete in lane 0 */
}

template <class T> __device__ T block_sum(T x)
{
	__shared__ T part[BLOCK / WAVE];

	x = wave_sum(x);
	if (threadIdx.x % WAVE == 0)
		part[threadIdx.x / WAVE] = x;
	__syncthreads();
	x = 0;
	for (int i = 0; i < BLOCK / WAVE; i++)
		x += part[i];
	return x;
}

template <class T> __device__ T gather(const T *in, int n)
{
	T sum = 0;

	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
		sum += in[i];
	return sum;
}

template <class T> __global__ void reduce_lds(const T *in, T *out, int n)
{
	__shared__ T part[BLOCK];
	int t = threadIdx.x;

	part[t] = gather(in, n);
	__syncthreads();
	for (int half = BLOCK / 2; half; half /= 2) {
		if (t < half)
			part[t] += part[t + half];
		__syncthreads();
	}
	if (t == 0)
		out[blockIdx.x] = part[0];
}

template <class T> __global__ void reduce_shuffle(const T *in, T *out, int n)
{
	T sum = block_sum(gather(in, n));

	if (threadIdx.x == 0)
		out[blockIdx.x] = sum;
}

template <class T> __global__ void reduce_atomic(const T *in, T *out, int n)
{
	T sum = block_sum(gather(in, n));

	if (threadIdx.x == 0)
		atomicAdd(out, sum);
}

template <class T>
static bool run(const char *name, void (*kernel)(const T *, T *, int), const device_buffer<T> &in,
		int grid, double want, double tolerance)
{
	device_buffer<T> out(grid);
	double got = 0.0;

	out.clear();
	kernel<<<grid, BLOCK>>>(in.ptr, out.ptr, (int)in.n);
	LAUNCH_OK();
	for (T x : out.download())
		got += (double)x;

	bool ok = fabs(got - want) <= tolerance;
	printf("%-15s %.9g, expected %.9g\n", name, got, want);
	return ok;
}

int main(int argc, char **argv)
{
	long n = 250000, grid = 64;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements" },
		{ 'g', &grid, 1, "workgroups of 256" },
	};
	options(argc, argv, "sum of a vector", rows);

	std::vector<unsigned> ints(n);
	std::vector<float> floats(n);
	double int_sum = 0.0, float_sum = 0.0;
	number_source numbers;
	for (long i = 0; i < n; i++) {
		ints[i] = numbers.next() % 1000; /* the sum stays below 2^32 up to n = 4 million */
		floats[i] = numbers.unit();
		int_sum += ints[i];
		float_sum += floats[i];
	}
	if (int_sum >= 0x1p32) {
		fprintf(stderr, "reduction: the integer sum does not fit; use a smaller -n\n");
		return 2;
	}

	device_buffer<unsigned> di(ints);
	device_buffer<float> df(floats);
	double tolerance = 1e-6 * n; /* n roundings of sums that stay small */
	bool pass = true;
	pass &= run<unsigned>("lds u32", reduce_lds, di, grid, int_sum, 0.0);
	pass &= run<unsigned>("shuffle u32", reduce_shuffle, di, grid, int_sum, 0.0);
	pass &= run<unsigned>("atomic u32", reduce_atomic, di, grid, int_sum, 0.0);
	pass &= run<float>("lds f32", reduce_lds, df, grid, float_sum, tolerance);
	pass &= run<float>("shuffle f32", reduce_shuffle, df, grid, float_sum, tolerance);
	pass &= run<float>("atomic f32", reduce_atomic, df, grid, float_sum, tolerance);
	return verdict(pass);
}
