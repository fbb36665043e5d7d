/*
 * divergence: lanes of a wave that want to go different ways.
 *
 *   loop    every lane leaves the loop after its own number of turns (Collatz)
 *   switch  eight ways through a switch, by lane
 *   nested  branches in a loop in a branch, with early exits
 *   even    the same work as switch, but whole waves go one way: no divergence
 *
 * The arithmetic is integer and the same functions run on the host.
 */
#include "check.h"

enum { BLOCK = 256, WAVE = 64 };

__host__ __device__ static inline unsigned collatz(unsigned x)
{
	unsigned n = 0;

	for (uint64_t v = x; v > 1; n++)
		v = v & 1 ? 3 * v + 1 : v / 2;
	return n;
}

__host__ __device__ static inline unsigned eight_ways(unsigned way, unsigned x)
{
	switch (way & 7) {
	case 0:
		return x * 2654435761u;
	case 1:
		return (x << 7) ^ (x >> 3);
	case 2:
		return x / 7 + x % 11;
	case 3:
		for (int i = 0; i < 5; i++)
			x = x * x + 1;
		return x;
	case 4:
		return x & 1 ? ~x : x + 99;
	case 5:
		return x * x * x - x;
	case 6:
		return x > 1000 ? x - 1000 : 1000 - x;
	default:
		return x;
	}
}

__host__ __device__ static inline unsigned nested(unsigned x)
{
	unsigned sum = 0;

	if (x % 3 == 0)
		return x;
	for (unsigned i = 0; i < 24; i++) {
		if ((x >> (i % 16)) & 1) {
			if (i % 5 == x % 5)
				continue;
			for (unsigned j = 0; j < x % 4; j++)
				sum += i * j + 1;
		} else if (sum > 40) {
			break;
		} else {
			sum += eight_ways(i, x) & 15;
		}
	}
	return sum;
}

__global__ void divergent_loop(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = collatz(in[i]);
}

__global__ void divergent_switch(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = eight_ways(i, in[i]);
}

__global__ void divergent_nested(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = nested(in[i]);
}

__global__ void even_switch(const unsigned *in, unsigned *out, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		out[i] = eight_ways(i / WAVE, in[i]);
}

struct variant {
	const char *name;
	void (*kernel)(const unsigned *, unsigned *, int);
	unsigned (*want)(unsigned i, unsigned x);
};

static const variant variants[] = {
	{ "loop", divergent_loop, [](unsigned, unsigned x) { return collatz(x); } },
	{ "switch", divergent_switch, [](unsigned i, unsigned x) { return eight_ways(i, x); } },
	{ "nested", divergent_nested, [](unsigned, unsigned x) { return nested(x); } },
	{ "even", even_switch, [](unsigned i, unsigned x) { return eight_ways(i / WAVE, x); } },
};

int main(int argc, char **argv)
{
	long n = 20001;
	const option_row rows[] = { { 'n', &n, 1, "work-items" } };
	options(argc, argv, "divergent branches", rows);

	std::vector<unsigned> host(n), want(n);
	number_source numbers;
	for (unsigned &x : host)
		x = numbers.next() % 100000;

	device_buffer<unsigned> in(host), out(n);
	bool pass = true;
	for (const variant &v : variants) {
		out.clear(0xff);
		v.kernel<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in.ptr, out.ptr, (int)n);
		LAUNCH_OK();
		for (long i = 0; i < n; i++)
			want[i] = v.want((unsigned)i, host[i]);
		size_t n_wrong = count_wrong(v.name, out.download(), want, 0.0);
		printf("%-7s %s\n", v.name, n_wrong ? "wrong" : "ok");
		pass &= n_wrong == 0;
	}
	return verdict(pass);
}
