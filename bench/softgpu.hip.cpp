/*
 * Speed of the software GPU, measured as a user meets it: HIP kernels through AMD's own runtime.
 *
 * Each row is run several times; the median and the extremes are printed, and beside them the time
 * that the same work takes as host code of the same source (clang -O2, one thread). Wave-instructions
 * are counted by the device itself. bench/run starts this program once per number of workers.
 */
#include "bench/clock.h"
#include "samples/check.h"

#include <algorithm>
#include <dlfcn.h>

/* ---- the work, once for both processors ---- */

/* Eight independent chains of what VALU code is made of: multiply-add, add, xor, shift. */
__host__ __device__ static inline uint32_t valu_item(uint32_t seed, int n)
{
	float f0 = seed & 255, f1 = f0 + 1, f2 = f0 + 2, f3 = f0 + 3;
	uint32_t i0 = seed, i1 = seed + 1, i2 = seed + 2, i3 = seed + 3;

	for (int k = 0; k < n; k++) {
		f0 = f0 * 0.5f + f1;
		f1 = f1 * 0.25f + f2;
		f2 = f2 * 0.5f + f3;
		f3 = f3 * 0.25f + f0;
		i0 = (i0 ^ i1) + 0x9e37;
		i1 = (i1 ^ i2) << 1;
		i2 = (i2 + i3) ^ 0x7f4a;
		i3 = (i3 ^ i0) + i1;
	}
	return (uint32_t)(int)(f0 + f1 + f2 + f3) + i0 + i1 + i2 + i3;
}

__global__ void valu_kernel(uint32_t *out, int n)
{
	uint32_t id = blockIdx.x * 256 + threadIdx.x;
	out[id] = valu_item(id, n);
}

__global__ void copy_kernel(const double *from, double *to, int n)
{
	int id = blockIdx.x * 256 + threadIdx.x;
	if (id < n)
		to[id] = from[id];
}

constexpr int TILE = 16;

__global__ void gemm_kernel(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[TILE][TILE], bs[TILE][TILE + 1];
	int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
	float sum = 0;

	for (int t = 0; t < n; t += TILE) {
		as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
		__syncthreads();
#pragma unroll
		for (int k = 0; k < TILE; k++)
			sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));

__global__ void mfma_kernel(float *out, int n)
{
	half4 a = { (_Float16)(threadIdx.x & 3), 1, 2, 3 }, b = { 1, (_Float16)0.5, 1, 2 };
	float16v c0 = {}, c1 = {};

	for (int k = 0; k < n; k++) {
		c0 = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c0, 0, 0, 0);
		c1 = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, c1, 0, 0, 0);
	}
	out[blockIdx.x * 64 + threadIdx.x] = c0[0] + c1[5];
}

/* what one such matrix instruction does, as a compiler sees it */
static void mfma_host(float *c, const float *a, const float *b)
{
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 32; i++)
			for (int j = 0; j < 32; j++)
				c[i * 32 + j] += a[i * 8 + k] * b[k * 32 + j];
}

static void gemm_host(const float *a, const float *b, float *c, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			c[i * n + j] = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* ---- measuring ---- */

static uint64_t (*count_instructions)(void);

struct series {
	std::vector<double> values;
	double at(double q)
	{
		std::sort(values.begin(), values.end());
		return values[(size_t)(q * (values.size() - 1) + 0.5)];
	}
};

static int repeats = 7;

/* Runs `work` and returns, per run, what `of` makes of its seconds and wave-instructions. */
template <class Work, class Of> static series measure(Work work, Of of)
{
	series s;

	work();
	for (int r = 0; r < repeats; r++) {
		uint64_t before = count_instructions ? count_instructions() : 0;
		double start = clock_s(CLOCK_MONOTONIC);

		work();
		double took = clock_s(CLOCK_MONOTONIC) - start;
		s.values.push_back(of(took, count_instructions ? count_instructions() - before : 0));
	}
	return s;
}

static void print_row(const char *name, const char *unit, series s, double device_s, double host_s)
{
	printf("%-24s %9.2f %9.2f %9.2f  %-14s", name, s.at(0.5), s.at(0), s.at(1), unit);
	if (host_s > 0)
		printf(" %8.1fx host time\n", device_s / host_s);
	else
		printf(" %s\n", "-");
}

template <class Work> static double host_seconds(Work work)
{
	std::vector<double> t;

	for (int r = 0; r < 3; r++) {
		double start = clock_s(CLOCK_MONOTONIC);
		work();
		t.push_back(clock_s(CLOCK_MONOTONIC) - start);
	}
	std::sort(t.begin(), t.end());
	return t[1];
}

template <class Work> static void row(const char *name, const char *unit, double per_run, Work work,
				      double host_s)
{
	double took = 0;
	/* per_run 0: wave-instructions; else so many units a run */
	series s = measure(work, [&](double t, uint64_t n) {
		took = t;
		return (per_run ? per_run : (double)n) / t * 1e-6;
	});

	print_row(name, unit, s, took, host_s);
}

static volatile uint32_t sink;

int main(int argc, char **argv)
{
	double cpu0 = clock_s(CLOCK_PROCESS_CPUTIME_ID), cpu1;
	int n_devices = 0;

	if (argc > 1)
		repeats = std::max(1, atoi(argv[1]));
	HIP_OK(hipGetDeviceCount(&n_devices));
	/* HIP spins while it waits; here that would take a core from the workers */
	HIP_OK(hipSetDeviceFlags(hipDeviceScheduleBlockingSync));
	cpu1 = clock_s(CLOCK_PROCESS_CPUTIME_ID);
	count_instructions = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "softgpu_wave_instructions");

	const int n = 1 << 20, n_gemm = 256, n_valu = 1 << 14, loops = 1000, n_mfma = 64;
	double *x, *y;
	uint32_t *out;
	float *a, *b, *c;

	HIP_OK(hipMalloc(&x, n * sizeof(*x)));
	HIP_OK(hipMalloc(&y, n * sizeof(*y)));
	HIP_OK(hipMalloc(&out, n * sizeof(*out)));
	HIP_OK(hipMalloc(&a, n_gemm * n_gemm * sizeof(*a)));
	HIP_OK(hipMalloc(&b, n_gemm * n_gemm * sizeof(*b)));
	HIP_OK(hipMalloc(&c, n_gemm * n_gemm * sizeof(*c)));
	HIP_OK(hipMemset(a, 0x3c, n_gemm * n_gemm * sizeof(*a)));
	HIP_OK(hipMemset(b, 0x3c, n_gemm * n_gemm * sizeof(*b)));
	HIP_OK(hipMemset(x, 1, n * sizeof(*x)));
	HIP_OK(hipDeviceSynchronize());
	double cpu2 = clock_s(CLOCK_PROCESS_CPUTIME_ID);

	printf("%-24s %9s %9s %9s  %-14s %s\n", "what", "median", "min", "max", "unit", "against host");
	printf("%-24s %9.2f %29s %s\n", "start: device list", 1e3 * (cpu1 - cpu0), "ms CPU", "-");
	printf("%-24s %9.2f %29s %s\n", "start: first kernel", 1e3 * (cpu2 - cpu0), "ms CPU", "-");

	std::vector<double> hx(n), hy(n);
	std::vector<float> ha(n_gemm * n_gemm, 1), hb(n_gemm * n_gemm, 1), hc(n_gemm * n_gemm);
	std::vector<float> ma(256, 1), mb(256, 1), mc(1024);

	double host = host_seconds([&] {
		uint32_t sum = 0;
		for (int k = 0; k < n_valu; k++)
			sum += valu_item(k, loops);
		sink = sum;
	});
	row("VALU loop", "M wave-inst/s", 0, [&] {
		valu_kernel<<<n_valu / 256, 256>>>(out, loops);
		HIP_OK(hipDeviceSynchronize());
	}, host);

	host = host_seconds([&] {
		for (int k = 0; k < n; k++)
			hy[k] = hx[k];
		sink = (uint32_t)hy[n / 2];
	});
	row("vcopy, 1 M doubles", "M wave-inst/s", 0, [&] {
		copy_kernel<<<n / 256, 256>>>(x, y, n);
		HIP_OK(hipDeviceSynchronize());
	}, host);
	row("vcopy, 1 M doubles", "MB/s moved", 16.0 * n, [&] {
		copy_kernel<<<n / 256, 256>>>(x, y, n);
		HIP_OK(hipDeviceSynchronize());
	}, host);

	host = host_seconds([&] { gemm_host(ha.data(), hb.data(), hc.data(), n_gemm); sink = (uint32_t)hc[5]; });
	dim3 grid(n_gemm / TILE, n_gemm / TILE), block(TILE, TILE);
	row("tiled gemm, n=256", "M wave-inst/s", 0, [&] {
		gemm_kernel<<<grid, block>>>(a, b, c, n_gemm);
		HIP_OK(hipDeviceSynchronize());
	}, host);
	row("tiled gemm, n=256", "Mflop/s", 2.0 * n_gemm * n_gemm * n_gemm, [&] {
		gemm_kernel<<<grid, block>>>(a, b, c, n_gemm);
		HIP_OK(hipDeviceSynchronize());
	}, host);

	const int mfma_waves = 64;
	host = host_seconds([&] {
		for (int k = 0; k < 2 * n_mfma * mfma_waves; k++)
			mfma_host(mc.data(), ma.data(), mb.data());
		sink = (uint32_t)mc[7];
	});
	row("MFMA f32_32x32x8f16", "Mflop/s", 2.0 * n_mfma * mfma_waves * 2 * 32 * 32 * 8, [&] {
		mfma_kernel<<<mfma_waves, 64>>>((float *)out, n_mfma);
		HIP_OK(hipDeviceSynchronize());
	}, host);

	const size_t bytes = 64 << 20;
	void *dev;
	std::vector<char> h1(bytes, 1), h2(bytes, 2);
	HIP_OK(hipMalloc(&dev, bytes));
	host = host_seconds([&] { memcpy(h2.data(), h1.data(), bytes); });
	row("copy host to device", "MB/s", bytes, [&] { HIP_OK(hipMemcpy(dev, h1.data(), bytes, hipMemcpyHostToDevice)); },
	    host);
	row("copy device to host", "MB/s", bytes, [&] { HIP_OK(hipMemcpy(h2.data(), dev, bytes, hipMemcpyDeviceToHost)); },
	    host);
	row("empty kernel launches", "M launches/s", 200, [&] {
		for (int k = 0; k < 200; k++)
			valu_kernel<<<1, 64>>>(out, 0);
		HIP_OK(hipDeviceSynchronize());
	}, 0);
	return 0;
}
