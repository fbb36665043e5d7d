/*
 * Workgroups that wait for each other without a grid sync. Hardware runs them side by side and
 * nobody starves; a device that ran one workgroup to its end before the next would hang here.
 */
#include "hiptest.h"

/* Agent-scope acquire and release, spelled once. */
__device__ static inline unsigned load_acquire(unsigned *p)
{
	return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ static inline void store_release(unsigned *p, unsigned v)
{
	__hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

/* A spin lock around a plain read-modify-write of two words that must stay in step. */
__global__ void locked_count(unsigned *lock, unsigned *pair, int turns)
{
	if (threadIdx.x)
		return;
	for (int i = 0; i < turns; i++) {
		unsigned expected = 0;

		while (!__hip_atomic_compare_exchange_strong(lock, &expected, 1u, __ATOMIC_ACQUIRE,
							     __ATOMIC_RELAXED,
							     __HIP_MEMORY_SCOPE_AGENT)) {
			expected = 0;
			__builtin_amdgcn_s_sleep(1);
		}
		unsigned a =
			__hip_atomic_load(&pair[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		unsigned b =
			__hip_atomic_load(&pair[1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		__hip_atomic_store(&pair[0], a + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		__hip_atomic_store(&pair[1], b + a + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
		store_release(lock, 0);
	}
}

/* Chained scan: each workgroup waits for the total of the one before it (look-back by one). */
__global__ void chained_scan(const unsigned *in, unsigned *out, unsigned *ticket, unsigned *flag,
			     unsigned *total)
{
	__shared__ unsigned me, before, value[256];
	unsigned t = threadIdx.x;

	if (t == 0)
		me = atomicAdd(ticket, 1u);
	__syncthreads();
	value[t] = in[me * 256 + t];
	__syncthreads();
	for (unsigned step = 1; step < 256; step *= 2) {
		unsigned add = t >= step ? value[t - step] : 0;

		__syncthreads();
		value[t] += add;
		__syncthreads();
	}
	if (t == 0) {
		if (me) {
			while (!load_acquire(&flag[me - 1]))
				;
			before = total[me - 1];
		} else {
			before = 0;
		}
		total[me] = before + value[255];
		store_release(&flag[me], 1);
	}
	__syncthreads();
	out[me * 256 + t] = before + value[t];
}

/*
 * The first half of the grid consumes what the second half produces: workgroups started first
 * depend on ones started last. All of them fit on the device at once.
 */
__global__ void pipe(unsigned *slot, unsigned *ready, unsigned *taken, unsigned *out, int rounds)
{
	unsigned pairs = gridDim.x / 2;
	bool consumer = blockIdx.x < pairs;
	unsigned p = blockIdx.x % pairs;

	for (int r = 1; r <= rounds; r++) {
		if (consumer) {
			if (threadIdx.x == 0)
				while (load_acquire(&ready[p]) != (unsigned)r)
					;
			__syncthreads();
			__threadfence();
			out[p * 64 + threadIdx.x] +=
				__hip_atomic_load(&slot[p * 64 + threadIdx.x], __ATOMIC_RELAXED,
						  __HIP_MEMORY_SCOPE_AGENT);
			__syncthreads();
			if (threadIdx.x == 0)
				store_release(&taken[p], r);
		} else {
			if (threadIdx.x == 0)
				while (load_acquire(&taken[p]) != (unsigned)(r - 1))
					;
			__syncthreads();
			__hip_atomic_store(&slot[p * 64 + threadIdx.x], r * 100 + threadIdx.x + p,
					   __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
			__threadfence();
			__syncthreads();
			if (threadIdx.x == 0)
				store_release(&ready[p], r);
		}
	}
}

static void spin_lock()
{
	enum { GRID = 40, TURNS = 25, N = GRID * TURNS };
	device_buffer<unsigned> lock(1), pair(2);

	lock.clear();
	pair.clear();
	locked_count<<<GRID, 64>>>(lock.ptr, pair.ptr, TURNS);
	LAUNCH_OK();
	check_equal("lock", pair.download(), { N, N * (N + 1) / 2 });
}

static void look_back()
{
	enum { GRID = 120 };
	std::vector<unsigned> in(GRID * 256), want(GRID * 256);
	device_buffer<unsigned> ticket(1), flag(GRID), total(GRID), out(GRID * 256);
	unsigned sum = 0;

	for (size_t i = 0; i < in.size(); i++) {
		in[i] = i * 7 % 13;
		want[i] = sum += in[i];
	}
	device_buffer<unsigned> din(in);
	ticket.clear();
	flag.clear();
	chained_scan<<<GRID, 256>>>(din.ptr, out.ptr, ticket.ptr, flag.ptr, total.ptr);
	LAUNCH_OK();
	check_equal("look-back", out.download(), want);
}

static void producers_and_consumers()
{
	enum { PAIRS = 24, ROUNDS = 8 };
	device_buffer<unsigned> slot(PAIRS * 64), ready(PAIRS), taken(PAIRS), out(PAIRS * 64);
	std::vector<unsigned> want(PAIRS * 64, 0);

	ready.clear();
	taken.clear();
	out.clear();
	pipe<<<2 * PAIRS, 64>>>(slot.ptr, ready.ptr, taken.ptr, out.ptr, ROUNDS);
	LAUNCH_OK();
	for (unsigned p = 0; p < PAIRS; p++)
		for (unsigned t = 0; t < 64; t++)
			for (unsigned r = 1; r <= ROUNDS; r++)
				want[p * 64 + t] += r * 100 + t + p;
	check_equal("pipe", out.download(), want);
}

int main()
{
	spin_lock();
	look_back();
	producers_and_consumers();
	return finish();
}
