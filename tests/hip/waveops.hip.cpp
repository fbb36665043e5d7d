/* What lanes of a wave tell each other: shuffles of all widths, ballot, any, all, also half asleep.
 */
#include "hiptest.h"

enum { WAVE = 64 };

template <class T> __global__ void shuffles(const T *in, T *out, int width)
{
	int lane = threadIdx.x;
	T x = in[lane];

	/* HIP 5.2 does not reduce a lane number beyond the width, as later ones do */
	out[0 * WAVE + lane] = __shfl(x, (lane * 7 + 3) % width, width);
	out[1 * WAVE + lane] = __shfl_up(x, 5, width);
	out[2 * WAVE + lane] = __shfl_down(x, 3, width);
	out[3 * WAVE + lane] = __shfl_xor(x, width / 2, width);
}

template <class T> static void run_shuffles(const char *what, int width)
{
	std::vector<T> in(WAVE), want(4 * WAVE);

	for (int i = 0; i < WAVE; i++)
		in[i] = (T)(i * i + 1) * (T)(sizeof(T) == 8 ? 65537 * 3 : 1);
	for (int i = 0; i < WAVE; i++) {
		int base = i / width * width, at = i - base;

		want[0 * WAVE + i] = in[base + (i * 7 + 3) % width];
		want[1 * WAVE + i] = in[at >= 5 ? i - 5 : i];
		want[2 * WAVE + i] = in[at + 3 < width ? i + 3 : i];
		want[3 * WAVE + i] = in[base + (at ^ (width / 2))];
	}
	device_buffer<T> din(in), dout(4 * WAVE);
	shuffles<T><<<1, WAVE>>>(din.ptr, dout.ptr, width);
	LAUNCH_OK();
	char name[64];
	snprintf(name, sizeof(name), "%s, width %d", what, width);
	check_equal(name, dout.download(), want);
}

__global__ void votes(const int *in, unsigned long long *out)
{
	int x = in[threadIdx.x];

	out[0 * WAVE + threadIdx.x] = __ballot(x & 1);
	out[1 * WAVE + threadIdx.x] = __any(x == 77);
	out[2 * WAVE + threadIdx.x] = __all(x >= 0);
	out[3 * WAVE + threadIdx.x] = __any(x == 5000);
	out[4 * WAVE + threadIdx.x] = __all(x != 77);
	if (threadIdx.x % 3 == 0) { /* only the lanes that are awake have a vote */
		out[5 * WAVE + threadIdx.x] = __ballot(1);
		out[6 * WAVE + threadIdx.x] = __all(threadIdx.x % 3 == 0);
		/* not the condition of the first vote: the compiler would reuse that one */
		out[7 * WAVE + threadIdx.x] = __popcll(__ballot(x & 2));
	}
}

static void run_votes()
{
	std::vector<int> in(WAVE);
	std::vector<unsigned long long> want(8 * WAVE, 0);
	unsigned long long odd = 0, twos = 0, thirds = 0;

	for (int i = 0; i < WAVE; i++)
		in[i] = i * 11 % 97;
	in[20] = 77;
	for (int i = 0; i < WAVE; i++) {
		odd |= (unsigned long long)(in[i] & 1) << i;
		twos |= (unsigned long long)(in[i] >> 1 & 1) << i;
		thirds |= (unsigned long long)(i % 3 == 0) << i;
	}
	for (int i = 0; i < WAVE; i++) {
		want[0 * WAVE + i] = odd;
		want[1 * WAVE + i] = 1;
		want[2 * WAVE + i] = 1;
		want[3 * WAVE + i] = 0;
		want[4 * WAVE + i] = 0;
		if (i % 3 == 0) {
			want[5 * WAVE + i] = thirds;
			want[6 * WAVE + i] = 1;
			want[7 * WAVE + i] = __builtin_popcountll(twos & thirds);
		}
	}
	device_buffer<int> din(in);
	device_buffer<unsigned long long> dout(8 * WAVE);
	dout.clear();
	votes<<<1, WAVE>>>(din.ptr, dout.ptr);
	LAUNCH_OK();
	std::vector<unsigned long long> got = dout.download();
	for (size_t i = 0; i < got.size(); i++)
		CHECK(got[i] == want[i], "vote %zu lane %zu: %llx, should be %llx", i / WAVE,
		      i % WAVE, got[i], want[i]);
}

/* Bit functions that compile to single instructions. */
__global__ void bits(const unsigned long long *in, unsigned *out)
{
	unsigned long long x = in[threadIdx.x];
	unsigned lo = (unsigned)x, *o = out + threadIdx.x * 12;

	o[0] = __popc(lo);
	o[1] = __popcll(x);
	o[2] = __clz((int)lo);
	o[3] = __clzll((long long)x);
	o[4] = __ffs(lo);
	o[5] = __ffsll(x);
	o[6] = __brev(lo);
	o[7] = (unsigned)(__brevll(x) >> 32);
	o[8] = __mul24((int)lo & 0x7fffff, 12345);
	o[9] = __umulhi(lo, 0x9e3779b9u);
	o[10] = (unsigned)__mulhi((int)lo, -123456789);
	o[11] = __byte_perm(lo, (unsigned)(x >> 32), 0x6241);
}

static unsigned reverse(unsigned x)
{
	unsigned r = 0;

	for (int i = 0; i < 32; i++)
		r |= (x >> i & 1) << (31 - i);
	return r;
}

static void run_bits()
{
	std::vector<unsigned long long> in(WAVE);
	std::vector<unsigned> want;
	number_source numbers;

	for (int i = 0; i < WAVE; i++)
		in[i] = ((unsigned long long)numbers.next() << 32 | numbers.next()) >> i;
	in[0] = 0;
	in[1] = ~0ull;
	for (unsigned long long x : in) {
		unsigned lo = (unsigned)x, hi = (unsigned)(x >> 32);

		want.push_back(__builtin_popcount(lo));
		want.push_back(__builtin_popcountll(x));
		want.push_back(lo ? __builtin_clz(lo) : 32);
		want.push_back(x ? __builtin_clzll(x) : 64);
		want.push_back(__builtin_ffs((int)lo));
		want.push_back(__builtin_ffsll((long long)x));
		want.push_back(reverse(lo));
		want.push_back(reverse(lo));
		want.push_back((lo & 0x7fffff) * 12345u);
		want.push_back((unsigned)((unsigned long long)lo * 0x9e3779b9u >> 32));
		want.push_back((unsigned)((long long)(int)lo * -123456789ll >> 32));
		/* selector digits, lowest first: 1, 4, 2, 6 */
		want.push_back((lo >> 8 & 255) | (hi & 255) << 8 | (lo >> 16 & 255) << 16 |
			       (hi >> 16 & 255) << 24);
	}
	device_buffer<unsigned long long> din(in);
	device_buffer<unsigned> dout(WAVE * 12);
	bits<<<1, WAVE>>>(din.ptr, dout.ptr);
	LAUNCH_OK();
	check_equal("bits", dout.download(), want);
}

int main()
{
	for (int width = 2; width <= WAVE; width *= 2) {
		run_shuffles<int>("int", width);
		run_shuffles<float>("float", width);
		run_shuffles<double>("double", width);
		run_shuffles<unsigned long long>("u64", width);
	}
	run_votes();
	run_bits();
	return finish();
}
