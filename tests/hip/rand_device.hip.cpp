/*
 * rocRAND's device generators against generators of our own on the host, written from the
 * published algorithms: Philox 4x32-10 (Salmon et al. 2011), XORWOW (Marsaglia 2003) and MRG32k3a
 * (L'Ecuyer 1999). How a seed becomes a state is rocRAND's own choice and taken from its header.
 */
#include "hiptest.h"
#include <rocrand/rocrand_kernel.h>

enum { DRAWS = 24 };
static const unsigned long long seed = 0x123456789abcdef7ull;

/* rocRAND's seeding of MRG32k3a overflows 64 bits for large seeds and is then no modular product.
 */
static const unsigned long long mrg_seed = 12345;

template <class State>
__global__ void draw(unsigned *out, unsigned long long from, unsigned long long first)
{
	State state;

	rocrand_init(from, first, 0, &state);
	for (int i = 0; i < DRAWS; i++)
		out[i] = rocrand(&state);
}

/* Philox: sub-sequence s, numbers 4 c .. 4 c + 3 are the rounds of the counter (c, s). */
static std::vector<unsigned> philox(unsigned long long sequence)
{
	std::vector<unsigned> v;

	for (unsigned c = 0; c < DRAWS / 4; c++) {
		uint32_t x[4] = { c, 0, (uint32_t)sequence, (uint32_t)(sequence >> 32) };
		uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);

		for (int round = 0; round < 10; round++) {
			uint64_t p = (uint64_t)0xd2511f53u * x[0], q = (uint64_t)0xcd9e8d57u * x[2];
			uint32_t next[4] = { (uint32_t)(q >> 32) ^ x[1] ^ k0, (uint32_t)q,
					     (uint32_t)(p >> 32) ^ x[3] ^ k1, (uint32_t)p };

			memcpy(x, next, sizeof(x));
			k0 += 0x9e3779b9u;
			k1 += 0xbb67ae85u;
		}
		v.insert(v.end(), x, x + 4);
	}
	return v;
}

static std::vector<unsigned> xorwow()
{
	uint32_t t0 = 1228688033u * ((uint32_t)seed ^ 0x2c7f967fu);
	uint32_t t1 = 2073658381u * ((uint32_t)(seed >> 32) ^ 0xa03697cbu);
	uint32_t x[5] = { 123456789u + t0, 362436069u ^ t0, 521288629u + t1, 88675123u ^ t1,
			  5783321u + t0 };
	uint32_t d = 6615241u + t1 + t0;
	std::vector<unsigned> out;

	for (int i = 0; i < DRAWS; i++) {
		uint32_t t = x[0] ^ (x[0] >> 2);

		memmove(x, x + 1, 4 * sizeof(uint32_t));
		x[4] = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1));
		d += 362437u;
		out.push_back(d + x[4]);
	}
	return out;
}

/* The combined recurrence gives 1 .. m1 (0 stands for m1); rocrand() stretches it to 32 bits. */
static std::vector<unsigned> mrg32k3a()
{
	const uint64_t m1 = 4294967087ull, m2 = 4294944443ull;
	uint32_t x = (uint32_t)mrg_seed ^ 0x55555555u,
		 y = (uint32_t)((mrg_seed >> 32) ^ 0xaaaaaaaau);
	auto mul = [](uint64_t a, uint64_t b, uint64_t m) {
		return (uint64_t)((__uint128_t)a * b % m);
	};
	uint64_t g1[3] = { mul(x, mrg_seed, m1), mul(y, mrg_seed, m1), mul(x, mrg_seed, m1) };
	uint64_t g2[3] = { mul(y, mrg_seed, m2), mul(x, mrg_seed, m2), mul(y, mrg_seed, m2) };
	std::vector<unsigned> out;

	for (int i = 0; i < DRAWS; i++) {
		uint64_t p1 = (mul(1403580, g1[1], m1) + m1 - mul(810728, g1[0], m1)) % m1;
		uint64_t p2 = (mul(527612, g2[2], m2) + m2 - mul(1370589, g2[0], m2)) % m2;

		g1[0] = g1[1], g1[1] = g1[2], g1[2] = p1;
		g2[0] = g2[1], g2[1] = g2[2], g2[2] = p2;
		uint64_t drawn = p1 > p2 ? p1 - p2 : p1 + m1 - p2;
		out.push_back((unsigned)((double)(drawn - 1) * ROCRAND_MRG32K3A_UINT_NORM));
	}
	return out;
}

template <class State>
static std::vector<unsigned> on_device(unsigned long long sequence, unsigned long long from = seed)
{
	device_buffer<unsigned> out(DRAWS);

	draw<State><<<1, 1>>>(out.ptr, from, sequence);
	LAUNCH_OK();
	return out.download();
}

int main()
{
	check_equal("philox, first", on_device<rocrand_state_philox4x32_10>(0), philox(0));
	check_equal("philox, far", on_device<rocrand_state_philox4x32_10>(0x1234567890ull),
		    philox(0x1234567890ull));
	check_equal("xorwow", on_device<rocrand_state_xorwow>(0), xorwow());
	check_equal("mrg32k3a", on_device<rocrand_state_mrg32k3a>(0, mrg_seed), mrg32k3a());
	return finish();
}
