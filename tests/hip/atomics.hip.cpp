/* Atomics on memory and LDS: every operation HIP has, on 32 and 64 bits, float and double. */
#include "hiptest.h"

#include <algorithm>

enum { N = 1000, BLOCK = 128, GRID = (N + BLOCK - 1) / BLOCK };

/* The operand of work-item i. It must be cheap and the same on both sides. */
template <class T> __host__ __device__ static inline T operand(unsigned i)
{
	return (T)((i * 2654435761u >> 12) % 1000) - (T)300;
}

#define OPERATION(name, on_device, on_host)                                                        \
	struct name {                                                                              \
		template <class T> static __device__ T device(T *p, [[maybe_unused]] T x)          \
		{                                                                                  \
			return on_device;                                                          \
		}                                                                                  \
		template <class T> static T host(T p, [[maybe_unused]] T x) { return on_host; }    \
	};

// clang-format off
OPERATION(op_add,  atomicAdd(p, x),  (T)(p + x))
OPERATION(op_sub,  atomicSub(p, x),  (T)(p - x))
OPERATION(op_min,  atomicMin(p, x),  (x < p ? x : p))
OPERATION(op_max,  atomicMax(p, x),  (x > p ? x : p))
OPERATION(op_and,  atomicAnd(p, (T)(x | 0x100)), (T)(p & (x | 0x100)))
OPERATION(op_or,   atomicOr(p, x),   (T)(p | x))
OPERATION(op_xor,  atomicXor(p, x),  (T)(p ^ x))
OPERATION(op_inc,  atomicInc(p, (T)700), (T)(p >= 700 ? 0 : p + 1))
OPERATION(op_dec,  atomicDec(p, (T)700), (T)(p == 0 || p > 700 ? 700 : p - 1))
// clang-format on

template <class Op, class T> __global__ void in_memory(T *cell)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < N)
		Op::template device<T>(cell, operand<T>(i));
}

/* One workgroup, so that LDS alone gives the whole result. */
template <class Op, class T> __global__ void in_lds(T *cell)
{
	__shared__ T shared;

	if (threadIdx.x == 0)
		shared = *cell;
	__syncthreads();
	for (unsigned i = threadIdx.x; i < N; i += BLOCK)
		Op::template device<T>(&shared, operand<T>(i));
	__syncthreads();
	if (threadIdx.x == 0)
		*cell = shared;
}

/* Integer operations commute, so any order gives the host's result. */
template <class Op, class T> static void run(const char *what, T start)
{
	T want = start;

	for (unsigned i = 0; i < N; i++)
		want = Op::host(want, operand<T>(i));
	for (bool lds : { false, true }) {
		device_buffer<T> cell(std::vector<T>{ start });

		if (lds)
			in_lds<Op, T><<<1, BLOCK>>>(cell.ptr);
		else
			in_memory<Op, T><<<GRID, BLOCK>>>(cell.ptr);
		LAUNCH_OK();
		T got = cell.download()[0];
		CHECK(got == want, "%s in %s: %.17g, should be %.17g", what, lds ? "LDS" : "memory",
		      (double)got, (double)want);
	}
}

/* Exchange and compare-and-swap: what was taken out and what is left make up what was put in. */
template <class T> __global__ void exchange(T *cell, T *taken)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < N)
		taken[i] = atomicExch(cell, (T)(i + 1));
}

template <class T> static void exchange_loses_nothing(const char *what)
{
	device_buffer<T> cell(1), taken(N);

	cell.clear();
	exchange<T><<<GRID, BLOCK>>>(cell.ptr, taken.ptr);
	LAUNCH_OK();
	std::vector<T> all = taken.download(), want(N + 1);
	all.push_back(cell.download()[0]);
	std::sort(all.begin(), all.end());
	for (unsigned i = 0; i <= N; i++)
		want[i] = (T)i;
	check_equal(what, all, want);
}

template <class T> __global__ void cas_increment(T *cell)
{
	T old = *cell, seen;

	for (;;) {
		seen = atomicCAS(cell, old, (T)(old + 3));
		if (seen == old)
			break;
		old = seen;
	}
}

template <class T> static void cas_counts(const char *what)
{
	device_buffer<T> cell(1);

	cell.clear();
	cas_increment<T><<<6, 64>>>(cell.ptr);
	LAUNCH_OK();
	CHECK(cell.download()[0] == (T)(6 * 64 * 3), "%s: %.17g", what, (double)cell.download()[0]);
}

/* Old values of an add are all different: each work-item gets its own ticket. */
__global__ void tickets(unsigned long long *counter, unsigned *seen)
{
	atomicAdd(&seen[atomicAdd(counter, 1ull)], 1u);
}

int main()
{
	run<op_add, int>("add i32", 5);
	run<op_add, unsigned>("add u32", 5);
	run<op_add, unsigned long long>("add u64", 0xfffffff0ull);
	run<op_add, float>("add f32", 5.0f); /* whole numbers below 2^24: any order is exact */
	run<op_add, double>("add f64", 0.5);
	run<op_sub, int>("sub i32", 5);
	run<op_sub, unsigned>("sub u32", 5);
	run<op_min, int>("min i32", 1 << 20);
	run<op_min, unsigned>("min u32", ~0u);
	run<op_min, unsigned long long>("min u64", ~0ull);
	run<op_max, int>("max i32", -(1 << 20));
	run<op_max, unsigned>("max u32", 0);
	run<op_max, unsigned long long>("max u64", 0);
	run<op_and, int>("and i32", -1);
	run<op_and, unsigned>("and u32", ~0u);
	run<op_and, unsigned long long>("and u64", ~0ull);
	run<op_or, int>("or i32", 0);
	run<op_or, unsigned long long>("or u64", 1ull << 40);
	run<op_xor, int>("xor i32", 0x55);
	run<op_xor, unsigned long long>("xor u64", 1ull << 40);
	run<op_inc, unsigned>("inc u32", 3);
	run<op_dec, unsigned>("dec u32", 3);
	exchange_loses_nothing<int>("exch i32");
	exchange_loses_nothing<unsigned long long>("exch u64");
	exchange_loses_nothing<float>("exch f32");
	cas_counts<int>("cas i32");
	cas_counts<unsigned long long>("cas u64");

	device_buffer<unsigned long long> counter(1);
	device_buffer<unsigned> seen(GRID * BLOCK);
	counter.clear();
	seen.clear();
	tickets<<<GRID, BLOCK>>>(counter.ptr, seen.ptr);
	LAUNCH_OK();
	check_equal("tickets", seen.download(), std::vector<unsigned>(GRID * BLOCK, 1));
	return finish();
}
