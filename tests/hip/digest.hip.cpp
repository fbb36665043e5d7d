/*
 * Prints a digest of what a range of kernels computes. tests/cmd/softgpu/same_results.sh compares it
 * between numbers of workers and SIMD levels: a bit that differs anywhere shows. Only results count
 * that the order of workgroups cannot change: integer atomics, but no sums of floats across groups.
 */
#include "hiptest.h"

#include <cstdint>

enum { N = 1 << 16, BLOCK = 256 };

__device__ static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

__device__ static float any_float(uint32_t i)
{
	return __uint_as_float(mix(i)); /* all bit patterns: denormals, infinities, NaN */
}

/* A NaN's bits are nobody's promise. */
__device__ static uint32_t bits(float x)
{
	return x != x ? 0x7fc00000u : __float_as_uint(x);
}

__device__ static uint64_t bits(double x)
{
	return x != x ? 0x7ff8000000000000ull : (uint64_t)__double_as_longlong(x);
}

__global__ void floats(uint64_t *out)
{
	uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
	float a = any_float(i), b = any_float(i + N), c = (float)(mix(i) % 10000) * 1e-3f;

	out[i] = bits(a + b) * 3ull + bits(a * b) * 5ull + bits(fmaf(a, b, c)) * 7ull + bits(a / b) * 11ull +
		 bits(sqrtf(c)) * 13ull + bits(sinf(c)) * 17ull + bits(expf(c - 5)) * 19ull +
		 bits(logf(c + 0.1f)) * 23ull + bits(powf(c, 1.7f)) * 29ull + (uint32_t)(int)c +
		 bits((float)(_Float16)c) * 31ull + bits(fminf(a, b)) + bits(floorf(a));
}

__global__ void doubles(uint64_t *out)
{
	uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
	double a = __longlong_as_double((long long)(((uint64_t)mix(i) << 32) | mix(i + 77)));
	double c = (double)(mix(i) % 100000) * 1e-4;

	out[i] = bits(a * 3.0 + c) + bits(fma(a, c, 1.0)) * 3 + bits(c / 7.0) * 5 + bits(sin(c)) * 7 +
		 bits(exp(-c)) * 11 + bits(sqrt(c)) * 13 + (uint64_t)(long long)(c * 1e6) * 17;
}

__global__ void integers(uint64_t *out)
{
	uint32_t i = blockIdx.x * BLOCK + threadIdx.x, x = mix(i), y = mix(i + 3) | 1;
	uint64_t w = (uint64_t)x << 32 | y;

	for (uint32_t n = 0; n < x % 50; n++) /* lanes leave one by one */
		w = w * 6364136223846793005ull + (w >> 33) + __popcll(w);
	out[i] = w + x / y + x % y + (uint64_t)((int)x / (int)(y >> 3 | 1)) + __clz(x) + __brev(y) + w / y;
}

__global__ void lds(uint64_t *out)
{
	__shared__ uint32_t tile[BLOCK];
	uint32_t i = blockIdx.x * BLOCK + threadIdx.x;

	tile[threadIdx.x] = mix(i);
	__syncthreads();
	for (unsigned step = 1; step < BLOCK; step *= 2) {
		uint32_t v = tile[threadIdx.x ^ step];
		__syncthreads();
		tile[threadIdx.x] = mix(tile[threadIdx.x] + v);
		atomicXor(&tile[(threadIdx.x * 7) % BLOCK], v);
		__syncthreads();
	}
	out[i] = tile[threadIdx.x] + (uint64_t)__shfl_xor((int)tile[threadIdx.x], 5);
}

__global__ void counts(uint64_t *out)
{
	uint32_t x = mix(blockIdx.x * BLOCK + threadIdx.x);

	atomicAdd((unsigned long long *)&out[x % 1000], (unsigned long long)x);
	atomicMax((unsigned *)&out[1000 + x % 100], x);
	atomicXor((unsigned *)&out[2000 + x % 10], x * 3);
}

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));

__global__ void matrices(uint64_t *out)
{
	uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
	half4 a, b;
	float4v c = { 0, 1, 2, 3 };

	for (int k = 0; k < 4; k++) {
		a[k] = (_Float16)((float)(mix(i + k) % 2000) * 0.01f - 10);
		b[k] = (_Float16)((float)(mix(i * 4 + k) % 2000) * 0.003f);
	}
	for (int n = 0; n < 4; n++)
		c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
	out[i] = bits(c[0]) + 3ull * bits(c[1]) + 5ull * bits(c[2]) + 7ull * bits(c[3]);
}

int main()
{
	static const struct { const char *name; void (*kernel)(uint64_t *); } kernels[] = {
		{ "floats", floats }, { "doubles", doubles }, { "integers", integers },
		{ "lds", lds },	      { "counts", counts },   { "matrices", matrices },
	};

	for (auto &k : kernels) {
		device_buffer<uint64_t> out(N);
		out.clear();
		k.kernel<<<N / BLOCK, BLOCK>>>(out.ptr);
		LAUNCH_OK();
		uint64_t digest = 0xcbf29ce484222325ull;
		for (uint64_t v : out.download())
			digest = (digest ^ v) * 0x100000001b3ull;
		printf("%-10s %016llx\n", k.name, (unsigned long long)digest);
	}
	return finish();
}
