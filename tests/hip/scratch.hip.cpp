/* Scratch: deep recursion, large frames, sizes that grow from launch to launch, function pointers,
 * arrays that are read backwards.
 */
#include "hiptest.h"

__host__ __device__ __attribute__((noinline)) static unsigned depth_sum(unsigned n, unsigned x)
{
	volatile unsigned local[4] = { n, x, n ^ x,
				       n + x }; /* volatile: a frame that is really used */

	if (n == 0)
		return x;
	/* not of a form that the compiler could turn into a loop */
	return (depth_sum(n - 1, x * 5 + 1) * 3) ^ local[x % 4];
}

/* Two functions that call each other, and lanes that stop at different depths. */
__host__ __device__ static unsigned odd_steps(unsigned n);
__host__ __device__ __attribute__((noinline)) static unsigned even_steps(unsigned n)
{
	return n == 0 ? 1 : odd_steps(n - 1) * 3 + n;
}
__host__ __device__ __attribute__((noinline)) static unsigned odd_steps(unsigned n)
{
	return n == 0 ? 2 : even_steps(n - 1) ^ (n << 4);
}

template <int WORDS> __host__ __device__ static inline unsigned frame(unsigned seed)
{
	unsigned a[WORDS], sum = 0;

	for (int i = 0; i < WORDS; i++)
		a[i] = seed + i * i;
	for (int i = 0; i < 40; i++) {
		seed = seed * 1664525u + 1013904223u;
		a[(seed >> 8) % WORDS] += i;
		sum += a[(seed >> 4) % WORDS];
	}
	return sum;
}

/*
 * array[constant - i]: the compiler puts the constant into the instruction's offset and leaves a
 * negative number in the register. Indices are the same for all lanes or not; elements have 1, 4 and
 * 8 bytes.
 */
__host__ __device__ static inline int opaque(int index)
{
#ifdef __HIP_DEVICE_COMPILE__
	asm volatile("" : "+v"(index)); /* nothing is known of it, so nothing is folded into it */
#endif
	return index;
}

template <class T> __host__ __device__ static inline T backwards(unsigned seed, unsigned steps)
{
	T a[64], sum = 0;

	for (unsigned i = 0; i < 64; i++)
		a[i] = (T)(seed * 77 + i * 3);
	for (unsigned i = 0; i < steps; i++) {
		int same = opaque(-(int)i), own = opaque(-(int)((seed + i) % 50));

		a[same + 60] = (T)(a[same + 60] + a[own + 61]);
		a[own + 50] = (T)(a[own + 50] * 3);
		sum = (T)(sum * 5 + a[same + 63] - a[own + 52]);
	}
	return sum;
}

__host__ __device__ static unsigned all_backwards(unsigned i, unsigned steps)
{
	return backwards<unsigned>(i, steps) ^ backwards<unsigned char>(i, steps) << 4 ^
	       (unsigned)(backwards<unsigned long long>(i, steps) >> 3);
}

__host__ __device__ static unsigned add_one(unsigned x) { return x + 1; }
__host__ __device__ static unsigned times_three(unsigned x) { return x * 3; }

__global__ void recurse(unsigned *out, unsigned depth)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = depth_sum(depth + i % 7, i);
}

__global__ void mutual(unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = even_steps(i % 50);
}

template <int WORDS> __global__ void large(unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = frame<WORDS>(i);
}

__global__ void indirect(unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned (*f)(unsigned) = i % 3 ? add_one : times_three; /* differs within a wave */

	out[i] = f(i);
}

__global__ void reversed(unsigned *out, unsigned steps)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = all_backwards(i, steps);
}

template <class Kernel, class Want>
static void run(const char *what, int grid, Kernel launch, Want want_of)
{
	device_buffer<unsigned> out(grid * 64);
	std::vector<unsigned> want(grid * 64);

	out.clear(0xff);
	launch(grid, out.ptr);
	LAUNCH_OK();
	for (unsigned i = 0; i < want.size(); i++)
		want[i] = want_of(i);
	check_equal(what, out.download(), want);
}

int main()
{
	run(
		"small frame", 20, [](int g, unsigned *o) { large<48><<<g, 64>>>(o); }, frame<48>);
	run(
		"1 KiB frame", 20, [](int g, unsigned *o) { large<256><<<g, 64>>>(o); },
		frame<256>);
	run(
		"16 KiB frame", 20, [](int g, unsigned *o) { large<4096><<<g, 64>>>(o); },
		frame<4096>);
	run(
		"small frame again", 200, [](int g, unsigned *o) { large<48><<<g, 64>>>(o); },
		frame<48>);
	run(
		"recursion", 10, [](int g, unsigned *o) { recurse<<<g, 64>>>(o, 100); },
		[](unsigned i) { return depth_sum(100 + i % 7, i); });
	run(
		"mutual", 10, [](int g, unsigned *o) { mutual<<<g, 64>>>(o); },
		[](unsigned i) { return even_steps(i % 50); });
	run(
		"function pointers", 4, [](int g, unsigned *o) { indirect<<<g, 64>>>(o); },
		[](unsigned i) { return i % 3 ? i + 1 : i * 3; });
	run(
		"backwards", 4, [](int g, unsigned *o) { reversed<<<g, 64>>>(o, 20); },
		[](unsigned i) { return all_backwards(i, 20); });
	return finish();
}
