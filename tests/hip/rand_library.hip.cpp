/*
 * librocrand's generators, number by number. rocRAND 5.3 has no host generator to compare with, so
 * its engines are compiled for the host from its own header, and the order is the documented
 * default one: Philox gives the plain sequence; XORWOW and MRG32k3a give number i to sub-sequence
 * i modulo the number of generating threads, which is more than is drawn here.
 */
#define FQUALIFIERS inline __host__ __device__
#include "hiptest.h"
#include <rocrand/rocrand.h>
#include <rocrand/rocrand_kernel.h>

enum { N = 20000 };

#define RAND_OK(call)                                                                              \
	do {                                                                                       \
		rocrand_status rand_status = (call);                                               \
		if (rand_status != ROCRAND_STATUS_SUCCESS) {                                       \
			fprintf(stderr, "%s: status %d\n", #call, (int)rand_status);               \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static rocrand_generator generator_of(rocrand_rng_type type, unsigned long long seed)
{
	rocrand_generator g;

	RAND_OK(rocrand_create_generator(&g, type));
	RAND_OK(rocrand_set_seed(g, seed));
	return g;
}

/* Number i is the first draw of sub-sequence i. */
template <class State>
static void by_subsequence(const char *what, rocrand_rng_type type, unsigned long long seed)
{
	rocrand_generator g = generator_of(type, seed);
	device_buffer<unsigned> out(N);
	device_buffer<float> uniform(N);
	std::vector<unsigned> want(N);

	RAND_OK(rocrand_generate(g, out.ptr, N));
	HIP_OK(hipDeviceSynchronize());
	for (unsigned i = 0; i < N; i++) {
		State state;

		rocrand_init(seed, i, 0, &state);
		want[i] = rocrand(&state);
	}
	check_equal(what, out.download(), want);

	RAND_OK(rocrand_generate_uniform(g, uniform.ptr, N));
	HIP_OK(hipDeviceSynchronize());
	double sum = 0;
	for (float u : uniform.download()) {
		sum += (double)u;
		if (!(u > 0.0f && u <= 1.0f)) {
			CHECK(false, "%s: %g is not in (0, 1]", what, (double)u);
			break;
		}
	}
	CHECK(fabs(sum / N - 0.5) < 0.02, "%s: mean %g", what, sum / N);
	RAND_OK(rocrand_destroy_generator(g));
}

static void philox()
{
	const unsigned long long seed = 0xfeedfacecafebeefull;
	rocrand_generator g = generator_of(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, seed);
	device_buffer<unsigned> out(N);
	device_buffer<float> normal(N);
	std::vector<unsigned> want(N);
	rocrand_state_philox4x32_10 state;

	RAND_OK(rocrand_generate(g, out.ptr, N));
	HIP_OK(hipDeviceSynchronize());
	rocrand_init(seed, 0, 0, &state);
	for (unsigned &w : want)
		w = rocrand(&state);
	check_equal("philox", out.download(), want);

	RAND_OK(rocrand_generate_normal(g, normal.ptr, N, 3.0f, 2.0f));
	HIP_OK(hipDeviceSynchronize());
	double sum = 0, squares = 0;
	for (float x : normal.download()) {
		sum += (double)x;
		squares += (double)x * (double)x;
	}
	double mean = sum / N, deviation = sqrt(squares / N - mean * mean);
	CHECK(fabs(mean - 3) < 0.1 && fabs(deviation - 2) < 0.1, "normal: %g, %g", mean, deviation);
	RAND_OK(rocrand_destroy_generator(g));
}

int main()
{
	philox();
	by_subsequence<rocrand_state_xorwow>("xorwow", ROCRAND_RNG_PSEUDO_XORWOW,
					     0x1122334455667788ull);
	by_subsequence<rocrand_state_mrg32k3a>("mrg32k3a", ROCRAND_RNG_PSEUDO_MRG32K3A, 12345);
	return finish();
}
