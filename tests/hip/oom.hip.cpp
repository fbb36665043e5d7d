/* Out of device memory: a clear error, and the device is usable afterwards. */
#include "hiptest.h"

__global__ void put(unsigned *x, size_t at) { x[at] = 77; }

int main()
{
	size_t free_bytes, total_bytes, after_bytes;
	void *p = nullptr;

	/* the queue and the code exist before the memory is used up */
	HIP_OK(hipMalloc(&p, 64));
	put<<<1, 1>>>((unsigned *)p, 0);
	LAUNCH_OK();
	HIP_OK(hipFree(p));
	HIP_OK(hipMemGetInfo(&free_bytes, &total_bytes));
	CHECK(total_bytes > (1ull << 30) && free_bytes <= total_bytes, "%zu of %zu", free_bytes,
	      total_bytes);

	CHECK(hipMalloc(&p, total_bytes + (1ull << 30)) == hipErrorOutOfMemory,
	      "more than there is");
	CHECK(hipGetLastError() == hipErrorOutOfMemory, "the last error says so too");
	CHECK(hipMalloc(&p, ~0ull / 2) == hipErrorOutOfMemory, "absurdly much");
	(void)hipGetLastError();

	/* in pieces: at some point it is enough, and never more than the total */
	std::vector<void *> pieces;
	size_t piece = total_bytes / 8;
	hipError_t e = hipSuccess;
	while (pieces.size() < 16 && (e = hipMalloc(&p, piece)) == hipSuccess)
		pieces.push_back(p);
	CHECK(e == hipErrorOutOfMemory, "%s after %zu pieces", hipGetErrorName(e), pieces.size());
	CHECK(pieces.size() >= 6 && pieces.size() <= 8, "%zu eighths fitted", pieces.size());
	(void)hipGetLastError();
	if (!pieces.empty()) { /* the far end of such a piece is real memory */
		unsigned value = 0, *x = (unsigned *)pieces.back();
		size_t last = piece / sizeof(unsigned) - 1;

		put<<<1, 1>>>(x, last);
		LAUNCH_OK();
		HIP_OK(hipMemcpy(&value, x + last, sizeof(value), hipMemcpyDeviceToHost));
		CHECK(value == 77, "%u", value);
	}
	for (void *q : pieces)
		HIP_OK(hipFree(q));
	HIP_OK(hipMemGetInfo(&after_bytes, &total_bytes));
	CHECK(after_bytes + (64 << 20) >= free_bytes, "%zu free before, %zu after", free_bytes,
	      after_bytes);
	HIP_OK(hipMalloc(&p, piece)); /* it can be had again */
	HIP_OK(hipFree(p));
	return finish();
}
