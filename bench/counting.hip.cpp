/*
 * counting: what counting costs, in processor time of all threads. Each kernel is run plain, counted on
 * addresses that it never had before, and counted on those of the run before, in turn and in one process;
 * printed are the medians and their ratios. The model has to run for the first kind only: a dispatch that
 * is like an earlier one has its counters. The aim is a ratio under 3, which streams, arithmetic and tiles keep. The kernels
 * behind these show what borders, reductions and scattered accesses cost.
 *
 *	counting [REPEATS [PART OF A NAME]]
 */
#include "bench/clock.h"
#include "samples/check.h"

#include <algorithm>
#include <dlfcn.h>

extern "C" {
#include "softgpu/counters/service.h"
}

__global__ void copy(const double *a, double *c, int n)
{
	int id = blockIdx.x * 256 + threadIdx.x;

	if (id < n)
		c[id] = a[id];
}

__global__ void arithmetic(float *c, int n)
{
	float v = threadIdx.x;

	for (int i = 0; i < n; i++) {
		v = __builtin_fmaf(v, 1.1f, 0.5f);
		v = __builtin_fmaf(v, 0.3f, 0.5f);
		v = __builtin_fmaf(v, 1.2f, 0.5f);
		v = __builtin_fmaf(v, 0.4f, 0.5f);
	}
	c[blockIdx.x * 256 + threadIdx.x] = v;
}

__global__ void gemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[16][16], tb[16][16];
	int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
	float sum = 0;

	for (int k = 0; k < n; k += 16) {
		ta[ty][tx] = a[row * n + k + tx];
		tb[ty][tx] = b[(k + ty) * n + col];
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum += ta[ty][i] * tb[i][tx];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

__global__ void reduce(const float *a, float *c, int n)
{
	__shared__ float sums[256];
	int t = threadIdx.x;
	float sum = 0;

	for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256)
		sum += a[i];
	sums[t] = sum;
	__syncthreads();
	for (int k = 128; k; k /= 2) {
		if (t < k)
			sums[t] += sums[t + k];
		__syncthreads();
	}
	if (!t)
		c[blockIdx.x] = sums[0];
}

__global__ void stencil(const float *a, float *c, int n)
{
	int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
	const float *at = a + y * n + x;

	if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
		c[y * n + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
}

__global__ void histogram(const int *a, int *c, int n)
{
	__shared__ int bins[256];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
		atomicAdd(&bins[a[i] & 255], 1);
	__syncthreads();
	atomicAdd(&c[threadIdx.x], bins[threadIdx.x]);
}

__global__ void transpose(const float *a, float *c, int n)
{
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

	c[x * n + y] = a[y * n + x];
}

__global__ void gather(const int *at, const float *a, float *c, int n)
{
	int id = blockIdx.x * 256 + threadIdx.x;

	c[id] = a[at[id] & (n - 1)];
}

struct cost {
	double wall, cpu; /* s; of all threads together */
};

static decltype(&softgpu_count) choose;

template <class L> static cost timed(bool counting, int shift, L launch)
{
	const char *names[] = { "SQ_INSTS", "TCC_HIT_sum", "GRBM_COUNT" };
	char error[200];

	if (choose(1, names, counting ? 3 : 0, error, sizeof(error))) {
		fprintf(stderr, "bench: %s\n", error);
		exit(1);
	}
	cost from = { clock_s(CLOCK_MONOTONIC), clock_s(CLOCK_PROCESS_CPUTIME_ID) };

	launch(shift);
	HIP_OK(hipGetLastError()); /* there may be no code for the GPU */
	HIP_OK(hipDeviceSynchronize());
	return { clock_s(CLOCK_MONOTONIC) - from.wall, clock_s(CLOCK_PROCESS_CPUTIME_ID) - from.cpu };
}

static double median(std::vector<cost> &all, double cost::*what)
{
	std::sort(all.begin(), all.end(), [&](const cost &a, const cost &b) { return a.*what < b.*what; });
	return all[all.size() / 2].*what;
}

static const char *only; /* part of a name, or NULL */

template <class L> static void measure(const char *name, int repeats, L launch)
{
	if (only && !strstr(name, only))
		return;
	std::vector<cost> plain, first, again;

	for (int warm = 0; warm < 2; warm++) /* the first run loads code, the first counted one is a cold one */
		timed(warm, 0, launch);
	for (int k = 1; k <= repeats; k++) {
		plain.push_back(timed(false, k, launch));
		first.push_back(timed(true, k, launch));
		again.push_back(timed(true, k, launch));
	}
	double cpu = median(plain, &cost::cpu), wall = median(plain, &cost::wall);

	printf("%-24s plain %7.2f ms", name, 1e3 * cpu);
	for (auto *counted : { &first, &again })
		printf("   %s %7.2f ms %6.2fx (elapsed %6.2fx)", counted == &first ? "counted" : "again",
		       1e3 * median(*counted, &cost::cpu), median(*counted, &cost::cpu) / cpu,
		       median(*counted, &cost::wall) / wall);
	printf("\n");
}

int main(int argc, char **argv)
{
	int repeats = argc > 1 ? atoi(argv[1]) : 7;
	std::vector<int> random(1 << 21);
	unsigned seed = 1;
	double *a, *c;
	int *at;

	if (repeats < 1) {
		fprintf(stderr, "counting: '%s' is not a number of repeats: counting [REPEATS [PART OF A NAME]]\n", argv[1]);
		return 2;
	}
	only = argc > 2 ? argv[2] : NULL;
	HIP_OK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync)); /* a spinning host takes a core from the GPU */
	size_t room = (8 << 20) + 4096 * ((size_t)repeats + 1);

	for (int &number : random)
		number = (int)((seed = seed * 1664525 + 1013904223) >> 10);
	HIP_OK(hipMalloc(&a, room));
	HIP_OK(hipMalloc(&c, room));
	HIP_OK(hipMalloc(&at, room));
	HIP_OK(hipMemcpy(at, random.data(), random.size() * sizeof(random[0]), hipMemcpyHostToDevice));
	choose = (decltype(choose))dlsym(RTLD_DEFAULT, "softgpu_count");
	if (!choose) {
		fprintf(stderr, "bench: not the software GPU: it cannot be asked to count\n");
		return 1;
	}
	measure("copy 8 MiB", repeats,
		[&](int shift) { copy<<<4096, 256>>>(a + 512 * shift, c + 512 * shift, 1 << 20); });
	measure("fma chains", repeats,
		[&](int shift) { arithmetic<<<256, 256>>>((float *)c + 1024 * shift, 500); });
	measure("gemm 256, tiles in LDS", repeats, [&](int shift) {
		float *x = (float *)a + 1024 * shift, *y = (float *)c + 1024 * shift;

		gemm<<<dim3(16, 16), dim3(16, 16)>>>(x, x, y, 256);
	});
	measure("sum of 2M", repeats, [&](int shift) {
		reduce<<<512, 256>>>((float *)a + 1024 * shift, (float *)c + 1024 * shift, 1 << 21);
	});
	measure("stencil of 1024 x 1024", repeats, [&](int shift) {
		stencil<<<dim3(16, 256), dim3(64, 4)>>>((float *)a + 1024 * shift, (float *)c + 1024 * shift, 1024);
	});
	measure("histogram of 1M, in LDS", repeats, [&](int shift) {
		histogram<<<256, 256>>>(at + 1024 * shift, (int *)c + 1024 * shift, 1 << 20);
	});
	measure("transpose of 1024", repeats, [&](int shift) {
		transpose<<<dim3(64, 64), dim3(16, 16)>>>((float *)a + 1024 * shift, (float *)c + 1024 * shift, 1024);
	});
	measure("gather of 256k", repeats, [&](int shift) {
		gather<<<1024, 256>>>(at + 1024 * shift, (float *)a + 1024 * shift, (float *)c + 1024 * shift, 1 << 18);
	});
	return 0;
}
