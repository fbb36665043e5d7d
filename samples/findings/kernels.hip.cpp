/*
 * kernels: for each rule of findings about a kernel, one that has the problem and one that has not.
 *
 * A pair is named after its rule: lds_bank_conflicts_slow has what the rule is about, and
 * lds_bank_conflicts_fast does the same work without it. Kernels are as small as the problem
 * allows, so that all of them can be counted on the software GPU in seconds:
 *
 *	rocprof-compute profile --no-roof --output-directory DIR -- kernels
 *	wavescope advise DIR --min-share 0 --min-gain 0
 *
 * Arguments are names of rules; without any, all pairs run.
 */
#include "../check.h"

enum { BLOCK = 256, WORKGROUPS = 208, N = BLOCK * WORKGROUPS, CUS = 104, WAVE = 64 };
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

struct buffers {
	float *in, *out;      /* MANY elements each */
	const float *host;    /* N elements in host memory */
	char *huge;           /* HUGE bytes, of which little is touched */
	unsigned *bins;
};
enum : size_t { MANY = (size_t)24 << 20 >> 2, HUGE_BYTES = (size_t)3 << 30 };

/* ---- occupancy ---- */

template <int LIVE> static __device__ float keep_alive(const float *in, int rounds)
{
	float x[LIVE], sum = 0;

#pragma unroll
	for (int k = 0; k < LIVE; k++)
		x[k] = in[INDEX + 64 * k];
	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int k = 0; k < LIVE; k++)
			x[k] = x[k] * 1.0001f + x[(k + 1) % LIVE];
	}
#pragma unroll
	for (int k = 0; k < LIVE; k++)
		sum += x[k];
	return sum;
}

__global__ void __launch_bounds__(BLOCK) occupancy_registers_slow(buffers b)
{
	b.out[INDEX] = keep_alive<128>(b.in, 1);
}
__global__ void __launch_bounds__(BLOCK) occupancy_registers_fast(buffers b)
{
	b.out[INDEX] = keep_alive<16>(b.in, 1);
}

template <int BYTES> static __device__ void stage(buffers b)
{
	__shared__ float room[BYTES / sizeof(float)];
	float sum = 0;

	for (int r = 0; r < 4; r++) {
		room[threadIdx.x] = b.in[(INDEX + r * 8192) % N];
		__syncthreads();
		sum += room[(threadIdx.x + 64) % BLOCK];
		__syncthreads();
	}
	b.out[INDEX] = sum;
}
__global__ void occupancy_lds_slow(buffers b)
{
	stage<60 * 1024>(b);
}
__global__ void occupancy_lds_fast(buffers b)
{
	stage<BLOCK * 4>(b);
}

/* ---- the launch ---- */

static __device__ float spin(float x, int rounds)
{
	for (int r = 0; r < rounds; r++)
		x = x * 1.0001f + 0.5f;
	return x;
}

__global__ void partial_waves_slow(buffers b) /* launched with 200 work-items */
{
	b.out[INDEX] = spin(b.in[INDEX], 256);
}
__global__ void partial_waves_fast(buffers b)
{
	b.out[INDEX] = spin(b.in[INDEX], 256);
}
__global__ void small_grid_slow(buffers b) /* launched with 16 workgroups */
{
	b.out[INDEX] = spin(b.in[INDEX], 256);
}
__global__ void small_grid_fast(buffers b)
{
	b.out[INDEX] = spin(b.in[INDEX], 256);
}
__global__ void uneven_workgroups_slow(buffers b)
{
	b.out[INDEX] = spin(b.in[INDEX], blockIdx.x == CUS - 1 ? 3000 : 30);
}
__global__ void uneven_workgroups_fast(buffers b)
{
	b.out[INDEX] = spin(b.in[INDEX], 3000);
}
__global__ void uneven_dispatches_slow(buffers b, int rounds)
{
	b.out[INDEX] = spin(b.in[INDEX], rounds);
}
__global__ void uneven_dispatches_fast(buffers b, int rounds)
{
	b.out[INDEX] = spin(b.in[INDEX], rounds);
}

/* ---- vector memory ---- */

__global__ void uncoalesced_access_slow(buffers b)
{
	float sum = 0;

	/* A matrix of 256 columns, read by rows of lanes: the lines stay in L1, the addresses cost. */
	for (int k = 0; k < 16; k++)
		sum += b.in[(threadIdx.x * 16 + k) % 4096];
	b.out[INDEX] = sum;
}
__global__ void uncoalesced_access_fast(buffers b)
{
	float sum = 0;

	for (int k = 0; k < 16; k++)
		sum += b.in[(threadIdx.x + k * BLOCK) % 4096];
	b.out[INDEX] = sum;
}
__global__ void strided_fetch_slow(buffers b)
{
	float sum = 0;

	for (int k = 0; k < 2; k++)
		sum += b.in[((size_t)(INDEX + k * N) * 32) % MANY];
	b.out[INDEX] = sum;
}
__global__ void strided_fetch_fast(buffers b)
{
	float sum = 0;

	for (int k = 0; k < 2; k++)
		sum += b.in[(INDEX + k * N) % MANY];
	b.out[INDEX] = sum;
}
template <int FLOATS> static __device__ float window(const float *in)
{
	float sum = 0;

	for (int round = 0; round < 2; round++)
		for (int k = 0; k < 65536 / 4; k += BLOCK)
			sum += in[(threadIdx.x + k) % FLOATS];
	return sum;
}
__global__ void l1_thrash_slow(buffers b)
{
	b.out[INDEX] = window<65536 / 4>(b.in);
}
__global__ void l1_thrash_fast(buffers b)
{
	b.out[INDEX] = window<8192 / 4>(b.in);
}

static __device__ unsigned scramble(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}
template <size_t BYTES> static __device__ float random_lines(buffers b)
{
	float sum = 0;

	for (unsigned k = 0; k < 12; k++)
		sum += b.in[(size_t)scramble((INDEX >> 6) * 16 + k) % (BYTES / 256) * 64 +
			    (threadIdx.x & 63)];
	return sum;
}
__global__ void l2_misses_slow(buffers b)
{
	b.out[INDEX] = random_lines<MANY * 4>(b);
}
__global__ void l2_misses_fast(buffers b)
{
	b.out[INDEX] = random_lines<64 * 1024>(b);
}

__global__ void latency_bound_slow(buffers b)
{
	unsigned at = INDEX;

	for (int k = 0; k < 24; k++) /* each load waits for the one before */
		at = (at + 4096 + __float_as_uint(b.in[at]) % 2) % N;
	b.out[INDEX] = (float)at;
}
__global__ void latency_bound_fast(buffers b)
{
	float sum = 0;

#pragma unroll
	for (int k = 0; k < 24; k++)
		sum += b.in[INDEX + 4096 * k];
	b.out[INDEX] = sum;
}
__global__ void bandwidth_bound_slow(buffers b)
{
	for (size_t i = INDEX; i < MANY / 4; i += N)
		((float4 *)b.out)[i] = ((const float4 *)b.in)[i];
}
__global__ void bandwidth_bound_fast(buffers b)
{
	for (size_t i = INDEX; i < N; i += N) {
		float x = b.in[i];

		b.out[i] = spin(x, 400);
	}
}
__global__ void partial_writes_slow(buffers b)
{
	for (size_t k = 0; k < 4; k++)
		((short *)b.out)[(INDEX + k * N) * 32] = (short)k;
}
__global__ void partial_writes_fast(buffers b)
{
	for (size_t k = 0; k < 4; k++)
		b.out[INDEX + k * N] = (float)k;
}
__global__ void remote_memory_slow(buffers b)
{
	b.out[INDEX] = b.host[INDEX] + 1;
}
__global__ void remote_memory_fast(buffers b)
{
	b.out[INDEX] = b.in[INDEX] + 1;
}
__global__ void tlb_misses_slow(buffers b)
{
	/* One line in each page of 2 MiB, by every wave. */
	float sum = 0;

	for (unsigned k = 0; k < 24; k++)
		sum += *(float *)(b.huge + (size_t)((INDEX >> 6) * 37 + k * 61) % 1500 *
						   ((size_t)2 << 20) +
				  (threadIdx.x & 63) * 4);
	b.out[INDEX] = sum;
}
__global__ void tlb_misses_fast(buffers b)
{
	float sum = 0;

	for (unsigned k = 0; k < 24; k++)
		sum += *(float *)(b.huge + (size_t)((INDEX >> 6) * 37 + k * 61) % 1500 * 256 +
				  (threadIdx.x & 63) * 4);
	b.out[INDEX] = sum;
}
__global__ void channel_imbalance_slow(buffers b)
{
	unsigned sum = 0;

	for (unsigned k = 0; k < 16; k++) /* all waves poll one line, past L1 */
		sum += __hip_atomic_load(&b.bins[128], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	b.out[INDEX] = (float)sum;
}
__global__ void channel_imbalance_fast(buffers b)
{
	const unsigned *own = (const unsigned *)b.in + (INDEX >> 6) * 64;
	unsigned sum = 0;

	for (unsigned k = 0; k < 16; k++)
		sum += __hip_atomic_load(own, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
	b.out[INDEX] = (float)sum;
}

/* ---- private memory ---- */

__global__ void scratch_arrays_slow(buffers b)
{
	float x[32];
	float sum = 0;

	for (int k = 0; k < 32; k++)
		x[(k * 7 + b.bins[0]) & 31] = b.in[INDEX] + k;
	for (int k = 0; k < 32; k++)
		sum += x[(k * 5 + b.bins[0]) & 31];
	b.out[INDEX] = sum;
}
__global__ void scratch_arrays_fast(buffers b)
{
	float sum = 0;

	for (int k = 0; k < 32; k++)
		sum += b.in[INDEX] + k;
	b.out[INDEX] = sum;
}
__global__ void __launch_bounds__(1024) register_spills_slow(buffers b)
{
	b.out[INDEX] = keep_alive<160>(b.in, 1);
}
__global__ void __launch_bounds__(1024) register_spills_fast(buffers b)
{
	b.out[INDEX] = keep_alive<32>(b.in, 4);
}

/* ---- lanes, LDS, atomics ---- */

__global__ void divergence_slow(buffers b)
{
	float x = b.in[INDEX];

	switch (threadIdx.x % 8) {
#define ARM(n)                                                                                     \
	case n:                                                                                    \
		for (int r = 0; r < 20; r++)                                                       \
			x = x * (1.0f + n) + 0.5f;                                                 \
		break;
		ARM(0) ARM(1) ARM(2) ARM(3) ARM(4) ARM(5) ARM(6) ARM(7)
	}
	b.out[INDEX] = x;
}
__global__ void divergence_fast(buffers b)
{
	float x = b.in[INDEX], n = threadIdx.x % 8;

	for (int r = 0; r < 20; r++)
		x = x * (1.0f + n) + 0.5f;
	b.out[INDEX] = x;
}
template <int PITCH> static __device__ float columns(const float *in)
{
	__shared__ float tile[64 * PITCH];
	float sum = 0;

	for (int k = threadIdx.x; k < 64 * 32; k += BLOCK)
		tile[k / 32 * PITCH + k % 32] = in[k];
	__syncthreads();
	for (int k = 0; k < 32; k++)
		sum += tile[(threadIdx.x & 63) * PITCH + k];
	return sum;
}
__global__ void lds_bank_conflicts_slow(buffers b)
{
	b.out[INDEX] = columns<32>(b.in);
}
__global__ void lds_bank_conflicts_fast(buffers b)
{
	b.out[INDEX] = columns<33>(b.in);
}
__global__ void lds_atomics_slow(buffers b)
{
	__shared__ unsigned bins[BLOCK];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (unsigned k = 0; k < 16; k++)
		atomicAdd(&bins[(threadIdx.x * k) & 3], k);
	__syncthreads();
	b.out[INDEX] = (float)bins[threadIdx.x];
}
__global__ void lds_atomics_fast(buffers b)
{
	__shared__ unsigned bins[BLOCK];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (unsigned k = 0; k < 16; k++)
		atomicAdd(&bins[(threadIdx.x + k) & (BLOCK - 1)], k);
	__syncthreads();
	b.out[INDEX] = (float)bins[threadIdx.x];
}
__global__ void atomics_contention_slow(buffers b)
{
	for (unsigned k = 0; k < 4; k++)
		atomicAdd(&b.bins[64 + (scramble(INDEX + k) & 7)], 1u);
}
__global__ void atomics_contention_fast(buffers b)
{
	__shared__ unsigned bins[8];

	if (threadIdx.x < 8)
		bins[threadIdx.x] = 0;
	__syncthreads();
	for (unsigned k = 0; k < 4; k++)
		atomicAdd(&bins[scramble(INDEX + k) & 7], 1u);
	__syncthreads();
	if (threadIdx.x < 8)
		atomicAdd(&b.bins[64 + threadIdx.x], bins[threadIdx.x]);
}

/* ---- arithmetic ---- */

__global__ void mfma_unused_slow(buffers b)
{
	__shared__ float x[16][BLOCK];
	float acc[8] = {};

	for (int k = 0; k < 16; k++)
		x[k][threadIdx.x] = b.in[k * BLOCK + threadIdx.x];
	__syncthreads();
	for (int k = 0; k < 32; k++) {
		float y = x[k & 15][threadIdx.x];
#pragma unroll
		for (int j = 0; j < 8; j++)
			for (int i = 0; i < 2; i++)
				acc[j] = __builtin_fmaf(x[k & 15][j * 2 + i], y, acc[j]);
	}
	b.out[INDEX] = acc[0] + acc[1] + acc[2] + acc[3] + acc[4] + acc[5] + acc[6] + acc[7];
}
typedef float float16v __attribute__((ext_vector_type(16)));
__global__ void mfma_unused_fast(buffers b)
{
	float16v acc = {};
	float x = b.in[INDEX], y = b.in[INDEX + N];

	for (int k = 0; k < 8; k++)
		acc = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, acc, 0, 0, 0);
	b.out[INDEX] = acc[0] + acc[15];
}
__global__ void double_by_accident_slow(buffers b)
{
	float x = b.in[INDEX];

	for (int k = 0; k < 64; k++)
		x = x * 1.0001 + 0.5;
	b.out[INDEX] = x;
}
__global__ void double_by_accident_fast(buffers b)
{
	float x = b.in[INDEX];

	for (int k = 0; k < 64; k++)
		x = x * 1.0001f + 0.5f;
	b.out[INDEX] = x;
}
__global__ void index_arithmetic_slow(buffers b, unsigned width)
{
	float sum = 0;

	for (unsigned k = 0; k < 16; k++)
		sum += b.in[((INDEX + k) / width * 3 + (INDEX + k) % width) % N] * 0.5f;
	b.out[INDEX] = sum;
}
__global__ void index_arithmetic_fast(buffers b, unsigned width)
{
	float sum = 0;
	const float *at = b.in + (INDEX / width * 3 + INDEX % width);

	for (unsigned k = 0; k < 8; k++)
		sum += spin(at[k], 16);
	b.out[INDEX] = sum;
}
__global__ void transcendentals_slow(buffers b)
{
	float x = b.in[INDEX];

	for (int k = 0; k < 96; k++)
		x = __builtin_amdgcn_rcpf(x + __builtin_amdgcn_sqrtf(x + (float)k));
	b.out[INDEX] = x;
}
__global__ void transcendentals_fast(buffers b)
{
	float x = __builtin_amdgcn_rcpf(b.in[INDEX] + 1);

	for (int k = 0; k < 32; k++)
		x = x * 1.0001f + (float)k * x;
	b.out[INDEX] = x;
}
__global__ void scalar_bound_slow(buffers b, unsigned seed)
{
	for (int k = 0; k < 64; k++) { /* the same for all lanes: on the scalar unit */
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	b.out[INDEX] = (float)seed;
}
__global__ void scalar_bound_fast(buffers b, unsigned seed)
{
	b.out[INDEX] = (float)seed;
}

/* ---- instruction and scalar caches ---- */

#define TIMES_10(x) x x x x x x x x x x
__global__ void icache_misses_slow(buffers b)
{
	float x = b.in[INDEX];

	for (int k = 0; k < 4; k++) { /* 40 KB of instructions, more than the cache holds */
		TIMES_10(TIMES_10(TIMES_10(
			asm volatile("v_fma_f32 %0, %0, %0, 1.0\n\tv_fma_f32 %0, %0, %0, 0.5\n\t"
				     "v_fma_f32 %0, %0, %0, 2.0\n\tv_fma_f32 %0, %0, %0, 4.0\n\t"
				     "v_fma_f32 %0, %0, %0, -1.0"
				     : "+v"(x));)))
	}
	b.out[INDEX] = x;
}
__global__ void icache_misses_fast(buffers b)
{
	float x = b.in[INDEX];

	for (int k = 0; k < 200; k++) {
		TIMES_10(asm volatile("v_fma_f32 %0, %0, %0, 1.0" : "+v"(x));)
	}
	b.out[INDEX] = x;
}
template <unsigned STEP, unsigned FLOATS> static __device__ float uniform_loads(buffers b)
{
	const float *in = b.in;
	float sum = 0;

	for (unsigned k = 0; k < 64; k++) /* uniform: by the scalar unit */
		sum += in[(blockIdx.x * 64 + k) * STEP % FLOATS];
	return sum;
}
__global__ void scalar_cache_misses_slow(buffers b)
{
	b.out[INDEX] = uniform_loads<16, 1 << 20>(b);
}
__global__ void scalar_cache_misses_fast(buffers b)
{
	b.out[INDEX] = uniform_loads<17, 256>(b);
}

/* ---- all pairs ---- */

struct launch {
	unsigned workgroups, block;
};
struct variant {
	const char *rule;
	void (*slow)(buffers), (*fast)(buffers);
	launch slow_launch, fast_launch;
};

static const launch usual = { WORKGROUPS, BLOCK }, /* two workgroups per compute unit */
		    many_waves = { 16 * CUS, WAVE }, /* more than fit with many registers */
		    four_waves = { CUS, BLOCK },     /* one per SIMD */
		    dense = { 4 * CUS, BLOCK },      /* keeps the VALU busy */
		    one_wave = { CUS, WAVE };        /* cheap to simulate */

#define PAIR_AS(rule, slow, fast) { #rule, rule##_slow, rule##_fast, slow, fast }
#define PAIR(rule) PAIR_AS(rule, usual, usual)
static const variant variants[] = {
	PAIR_AS(occupancy_registers, many_waves, many_waves),
	PAIR(occupancy_lds),
	PAIR_AS(partial_waves, (launch{ 4 * CUS, 200 }), dense),
	PAIR_AS(small_grid, (launch{ 16, WAVE }), one_wave),
	PAIR_AS(uneven_workgroups, one_wave, one_wave),
	PAIR(uncoalesced_access),
	PAIR(strided_fetch),
	PAIR(l1_thrash),
	PAIR(l2_misses),
	PAIR(latency_bound),
	PAIR(bandwidth_bound),
	PAIR(partial_writes),
	PAIR(remote_memory),
	PAIR(tlb_misses),
	PAIR(channel_imbalance),
	PAIR_AS(scratch_arrays, four_waves, four_waves),
	PAIR_AS(register_spills, one_wave, one_wave),
	PAIR_AS(divergence, dense, dense),
	PAIR(lds_bank_conflicts),
	PAIR(lds_atomics),
	PAIR(atomics_contention),
	PAIR_AS(mfma_unused, dense, dense),
	PAIR_AS(double_by_accident, dense, dense),
	PAIR_AS(transcendentals, dense, dense),
	PAIR_AS(icache_misses, one_wave, one_wave),
	PAIR_AS(scalar_cache_misses, one_wave, one_wave),
};

static bool wanted(int argc, char **argv, const char *rule)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], rule))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	device_buffer<float> in(MANY), out(MANY);
	device_buffer<unsigned> bins(256);
	device_buffer<char> huge(HUGE_BYTES);
	float *host;

	HIP_OK(hipHostMalloc((void **)&host, N * sizeof(*host), hipHostMallocDefault));
	memset(host, 0, N * sizeof(*host));
	bins.clear();
	buffers b = { in.ptr, out.ptr, host, huge.ptr, bins.ptr };

	for (const variant &v : variants) {
		if (!wanted(argc, argv, v.rule))
			continue;
		v.slow<<<v.slow_launch.workgroups, v.slow_launch.block>>>(b);
		v.fast<<<v.fast_launch.workgroups, v.fast_launch.block>>>(b);
	}
	if (wanted(argc, argv, "uneven_dispatches"))
		for (int i = 0; i < 5; i++) {
			uneven_dispatches_slow<<<CUS, WAVE>>>(b, i == 2 ? 3000 : 10);
			uneven_dispatches_fast<<<CUS, WAVE>>>(b, 20);
		}
	if (wanted(argc, argv, "index_arithmetic")) {
		index_arithmetic_slow<<<4 * CUS, BLOCK>>>(b, 100);
		index_arithmetic_fast<<<4 * CUS, BLOCK>>>(b, 100);
	}
	if (wanted(argc, argv, "scalar_bound")) {
		scalar_bound_slow<<<4 * CUS, BLOCK>>>(b, 1);
		scalar_bound_fast<<<4 * CUS, BLOCK>>>(b, 1);
	}
	LAUNCH_OK();
	HIP_OK(hipHostFree(host));
	return verdict(true);
}
