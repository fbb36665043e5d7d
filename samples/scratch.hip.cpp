/*
 * scratch: private memory, the stack of a work-item.
 *
 *   array      an array indexed by run-time values cannot live in registers
 *   recursion  each lane walks its own call tree to its own depth
 *   pointer    a pointer into the array is passed to a function that is not
 *              inlined, so it arrives as a generic address
 */
#include "check.h"

enum { BLOCK = 64, LENGTH = 24 };

__host__ __device__ static inline unsigned mix(unsigned x)
{
	x = (x ^ (x >> 15)) * 0x2c1b3c6du;
	x = (x ^ (x >> 12)) * 0x297a2d39u;
	return x ^ (x >> 15);
}

/* The median of LENGTH numbers by insertion sort. */
__host__ __device__ static inline unsigned median(unsigned seed)
{
	unsigned a[LENGTH];

	for (int i = 0; i < LENGTH; i++)
		a[i] = mix(seed + i);
	for (int i = 1; i < LENGTH; i++) {
		unsigned x = a[i];
		int k = i;

		for (; k > 0 && a[k - 1] > x; k--)
			a[k] = a[k - 1];
		a[k] = x;
	}
	return a[LENGTH / 2];
}

/* Ways to climb n stairs by steps of 1, 2 or 3: three calls per level. */
__host__ __device__ __attribute__((noinline)) static unsigned climb(int n)
{
	if (n < 2)
		return n == 0 || n == 1;
	return climb(n - 1) + climb(n - 2) + (n >= 3 ? climb(n - 3) : 0);
}

__host__ __device__ __attribute__((noinline)) static unsigned fold(const unsigned *a, int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum * 31 + a[i];
	return sum;
}

__host__ __device__ static inline unsigned through_pointer(unsigned seed)
{
	unsigned a[LENGTH];

	for (int i = 0; i < LENGTH; i++)
		a[(i * 7) % LENGTH] = mix(seed ^ i);
	return fold(a + seed % 5, LENGTH - 5);
}

__global__ void scratch_array(unsigned *out)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	out[i] = median(i * LENGTH);
}

__global__ void scratch_recursion(unsigned *out)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	out[i] = climb(i % 10);
}

__global__ void scratch_pointer(unsigned *out)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	out[i] = through_pointer(i);
}

struct variant {
	const char *name;
	void (*kernel)(unsigned *);
	unsigned (*want)(unsigned i);
};

static const variant variants[] = {
	{ "array", scratch_array, [](unsigned i) { return median(i * LENGTH); } },
	{ "recursion", scratch_recursion, [](unsigned i) { return climb(i % 10); } },
	{ "pointer", scratch_pointer, [](unsigned i) { return through_pointer(i); } },
};

int main(int argc, char **argv)
{
	long grid = 32;
	const option_row rows[] = { { 'g', &grid, 1, "workgroups of 64" } };
	options(argc, argv, "arrays on the stack, recursion, generic pointers", rows);

	device_buffer<unsigned> out(grid * BLOCK);
	std::vector<unsigned> want(out.n);
	bool pass = true;
	for (const variant &v : variants) {
		out.clear(0xff);
		v.kernel<<<grid, BLOCK>>>(out.ptr);
		LAUNCH_OK();
		for (size_t i = 0; i < want.size(); i++)
			want[i] = v.want((unsigned)i);
		size_t n_wrong = count_wrong(v.name, out.download(), want, 0.0);
		printf("%-10s %s\n", v.name, n_wrong ? "wrong" : "ok");
		pass &= n_wrong == 0;
	}
	return verdict(pass);
}
