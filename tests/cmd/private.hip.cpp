/*
 * private: kernels whose variables need scratch memory, for the test of its trace.
 *
 *	private DEVICE REPEATS
 *
 * A small one (scratch is kept by its queue), a large one REPEATS times without waiting in
 * between (scratch is for one use), the small one again; then both on a stream of their own.
 */
#include "samples/check.h"

enum { BLOCK = 192, GROUPS = 5 };

/* An array that is indexed by what only the device knows cannot live in registers. */
template <int WORDS> __global__ void through_array(unsigned *out, unsigned step)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	volatile unsigned a[WORDS];

	for (unsigned k = 0; k < WORDS; k++)
		a[(k * step) % WORDS] = i + k;
	out[i] = a[(i * step) % WORDS];
}

static unsigned want(unsigned n_words, unsigned i, unsigned step)
{
	unsigned at = (i * step) % n_words, value = 0;

	for (unsigned k = 0; k < n_words; k++)
		if ((k * step) % n_words == at)
			value = i + k;
	return value;
}

template <int WORDS> static void launch(unsigned *out, hipStream_t stream)
{
	through_array<WORDS><<<GROUPS, BLOCK, 0, stream>>>(out, 5);
	HIP_OK(hipGetLastError());
}

int main(int argc, char **argv)
{
	int device = argc > 1 ? atoi(argv[1]) : 0, n_repeats = argc > 2 ? atoi(argv[2]) : 1;
	std::vector<unsigned> got(GROUPS * BLOCK);
	hipStream_t stream;
	unsigned *out;

	HIP_OK(hipSetDevice(device));
	HIP_OK(hipStreamCreate(&stream));
	HIP_OK(hipMalloc(&out, got.size() * sizeof(unsigned)));
	launch<64>(out, nullptr);
	for (int i = 0; i < n_repeats; i++)
		launch<1024>(out, nullptr);
	launch<64>(out, nullptr);
	HIP_OK(hipDeviceSynchronize());
	launch<64>(out, stream);
	launch<1024>(out, stream);
	HIP_OK(hipStreamSynchronize(stream));
	HIP_OK(hipMemcpy(got.data(), out, got.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < got.size(); i++)
		if (got[i] != want(1024, i, 5)) {
			fprintf(stderr, "out[%u] is %u, not %u\n", i, got[i], want(1024, i, 5));
			return 1;
		}
	return 0;
}
