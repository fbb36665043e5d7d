/* Fills: bytes, 16 and 32 bits, 2-D and 3-D, synchronous or not, and nothing beside the range. */
#include "hiptest.h"

enum { MARGIN = 32 };

/* Fill n elements at a small offset and compare the whole block. */
template <class T, class... Args>
static void linear(size_t n, T value, hipError_t (*fill)(Args...), const char *what)
{
	/* HIP 5.2 fills up to the next 16 bytes first and does not notice when that is already past
	 * the end: its own kernel then runs over all memory. Short fills start aligned here. */
	const size_t at = n * sizeof(T) < 16 ? MARGIN : MARGIN + 1;
	device_buffer<T> x(n + 2 * MARGIN);
	std::vector<T> want(n + 2 * MARGIN, (T)0x1111111111111111ull);

	x.upload(want);
	if constexpr (sizeof...(Args) == 4) /* the asynchronous ones take a stream */
		HIP_OK(fill(x.ptr + at, value, n, nullptr));
	else
		HIP_OK(fill(x.ptr + at, value, n));
	HIP_OK(hipDeviceSynchronize());
	for (size_t i = 0; i < n; i++)
		want[at + i] = value;
	check_equal(what, x.download(), want);
}

static void two_d(size_t width, size_t height, bool async)
{
	const size_t at = width < 16 ? 0 : 3; /* as in linear() */
	size_t pitch;
	uint8_t *x;

	malloc_rows((void **)&x, &pitch, width + 10, height);
	HIP_OK(hipMemset(x, 0x33, pitch * height));
	if (async)
		HIP_OK(hipMemset2DAsync(x + at, pitch, 0x77, width, height, nullptr));
	else
		HIP_OK(hipMemset2D(x + at, pitch, 0x77, width, height));
	HIP_OK(hipDeviceSynchronize());

	std::vector<uint8_t> got(pitch * height), want(pitch * height, 0x33);
	HIP_OK(hipMemcpy(got.data(), x, got.size(), hipMemcpyDeviceToHost));
	for (size_t y = 0; y < height; y++)
		memset(&want[y * pitch + at], 0x77, width);
	check_equal("2-D", got, want);
	HIP_OK(hipFree(x));
}

static void three_d()
{
	hipPitchedPtr x;
	enum { W = 37, H = 9, D = 5 };

	x = malloc_box(W, H, D);
	HIP_OK(hipMemset(x.ptr, 0x44, x.pitch * H * D));
	HIP_OK(hipMemset3D(x, 0x99, make_hipExtent(W, H, D)));
	HIP_OK(hipDeviceSynchronize());
	std::vector<uint8_t> got(x.pitch * H * D), want(x.pitch * H * D, 0x44);
	HIP_OK(hipMemcpy(got.data(), x.ptr, got.size(), hipMemcpyDeviceToHost));
	for (size_t row = 0; row < H * D; row++)
		memset(&want[row * x.pitch], 0x99, W);
	check_equal("3-D", got, want);
	HIP_OK(hipFree(x.ptr));
}

int main()
{
	for (size_t n : { 1, 2, 3, 5, 15, 64, 1000, 4099, 1000003 }) {
		linear<uint8_t>(n, 0xab, hipMemset, "hipMemset");
		linear<uint8_t>(n, 0xcd, hipMemsetAsync, "hipMemsetAsync");
		linear<uint8_t>(n, 0x5c, hipMemsetD8, "hipMemsetD8");
		linear<uint16_t>(n, 0xbeef, hipMemsetD16, "hipMemsetD16");
		linear<uint16_t>(n, 0x1234, hipMemsetD16Async, "hipMemsetD16Async");
		linear<uint32_t>(n, 0xdeadbeef, hipMemsetD32, "hipMemsetD32");
		linear<uint32_t>(n, 0x01020304, hipMemsetD32Async, "hipMemsetD32Async");
	}
	for (bool async : { false, true }) {
		two_d(1, 1, async);
		two_d(100, 20, async);
		two_d(1023, 7, async);
	}
	three_d();
	return finish();
}
