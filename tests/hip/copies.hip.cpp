/*
 * Copies of every shape and direction: linear at odd sizes and offsets, 2-D with pitches, 3-D,
 * symbols, asynchronous, and between devices where there are two.
 */
#include "hiptest.h"

__device__ unsigned symbol[100];

static std::vector<uint8_t> pattern(size_t n, unsigned seed)
{
	std::vector<uint8_t> v(n);
	number_source numbers;

	numbers.state ^= seed * 2654435761u;
	for (uint8_t &b : v)
		b = (uint8_t)(numbers.next() >> 11);
	return v;
}

/* Host -> device -> device -> host, with offsets that no alignment helps. */
static void linear(size_t n, size_t offset, bool async, bool pinned)
{
	std::vector<uint8_t> want = pattern(n, (unsigned)(n + offset));
	device_buffer<uint8_t> a(n + 64), b(n + 64);
	uint8_t *in = want.data(), *out, *pinned_in = nullptr;
	std::vector<uint8_t> pageable(n);
	hipStream_t s = nullptr;

	a.clear(0xaa);
	b.clear(0xbb);
	out = pageable.data();
	if (async)
		HIP_OK(hipStreamCreate(&s));
	if (pinned) {
		HIP_OK(hipHostMalloc((void **)&pinned_in, n, 0));
		HIP_OK(hipHostMalloc((void **)&out, n, 0));
		memcpy(pinned_in, in, n);
		in = pinned_in;
	}
	if (async) {
		HIP_OK(hipMemcpyAsync(a.ptr + offset, in, n, hipMemcpyHostToDevice, s));
		HIP_OK(hipMemcpyAsync(b.ptr + 64 - offset, a.ptr + offset, n,
				      hipMemcpyDeviceToDevice, s));
		HIP_OK(hipMemcpyAsync(out, b.ptr + 64 - offset, n, hipMemcpyDeviceToHost, s));
		HIP_OK(hipStreamSynchronize(s));
	} else {
		HIP_OK(hipMemcpy(a.ptr + offset, in, n, hipMemcpyDefault));
		HIP_OK(hipMemcpy(b.ptr + 64 - offset, a.ptr + offset, n, hipMemcpyDefault));
		HIP_OK(hipMemcpy(out, b.ptr + 64 - offset, n, hipMemcpyDefault));
	}
	CHECK(!memcmp(out, want.data(), n), "%zu bytes at %zu, async %d pinned %d", n, offset,
	      async, pinned);

	/* nothing beside the range was touched */
	std::vector<uint8_t> whole = b.download();
	for (size_t i = 0; i < whole.size(); i++)
		if ((i < 64 - offset || i >= 64 - offset + n) && whole[i] != 0xbb) {
			CHECK(false, "%zu bytes at %zu: byte %zu beside them changed", n, offset,
			      i);
			break;
		}
	if (pinned) {
		HIP_OK(hipHostFree(pinned_in));
		HIP_OK(hipHostFree(out));
	}
	if (s)
		HIP_OK(hipStreamDestroy(s));
}

static void two_d(size_t width, size_t height, size_t host_pitch, bool async)
{
	std::vector<uint8_t> in = pattern(host_pitch * height, 7), out(host_pitch * height, 0xcc);
	uint8_t *a, *b;
	size_t pa, pb = width + 13; /* b has an odd pitch of our own */
	hipStream_t s;

	HIP_OK(hipStreamCreate(&s));
	malloc_rows((void **)&a, &pa, width, height);
	HIP_OK(hipMalloc((void **)&b, pb * height));
	CHECK(pa >= width, "pitch %zu for width %zu", pa, width);
	if (async) {
		HIP_OK(hipMemcpy2DAsync(a, pa, in.data(), host_pitch, width, height,
					hipMemcpyHostToDevice, s));
		HIP_OK(hipMemcpy2DAsync(b, pb, a, pa, width, height, hipMemcpyDeviceToDevice, s));
		HIP_OK(hipMemcpy2DAsync(out.data(), host_pitch, b, pb, width, height,
					hipMemcpyDeviceToHost, s));
		HIP_OK(hipStreamSynchronize(s));
	} else {
		HIP_OK(hipMemcpy2D(a, pa, in.data(), host_pitch, width, height,
				   hipMemcpyHostToDevice));
		HIP_OK(hipMemcpy2D(b, pb, a, pa, width, height, hipMemcpyDeviceToDevice));
		HIP_OK(hipMemcpy2D(out.data(), host_pitch, b, pb, width, height,
				   hipMemcpyDeviceToHost));
	}
	std::vector<uint8_t> want(host_pitch * height, 0xcc);
	for (size_t y = 0; y < height; y++)
		memcpy(&want[y * host_pitch], &in[y * host_pitch], width);
	check_equal("2-D", out, want);
	HIP_OK(hipFree(a));
	HIP_OK(hipFree(b));
	HIP_OK(hipStreamDestroy(s));
}

/* A box out of the middle of a larger volume, up, across and down again. */
static void three_d(size_t w, size_t h, size_t d, bool async)
{
	size_t fw = w + 9, fh = h + 3, fd = d + 2;
	std::vector<uint8_t> in = pattern(fw * fh * fd, 9), out(fw * fh * fd, 0xdd);
	hipPitchedPtr a, b;
	hipStream_t s;

	HIP_OK(hipStreamCreate(&s));
	a = malloc_box(fw, fh, fd);
	b = malloc_box(w, h, d);

	hipMemcpy3DParms up = {}, across = {}, down = {};
	up.srcPtr = make_hipPitchedPtr(in.data(), fw, fw, fh);
	up.dstPtr = a;
	up.extent = make_hipExtent(fw, fh, fd);
	up.kind = hipMemcpyHostToDevice;
	across.srcPtr = a;
	across.srcPos = make_hipPos(5, 2, 1);
	across.dstPtr = b;
	across.extent = make_hipExtent(w, h, d);
	across.kind = hipMemcpyDeviceToDevice;
	down.srcPtr = b;
	down.dstPtr = make_hipPitchedPtr(out.data(), fw, fw, fh);
	down.dstPos = make_hipPos(3, 1, 2);
	down.extent = make_hipExtent(w, h, d);
	down.kind = hipMemcpyDeviceToHost;
	for (hipMemcpy3DParms *p : { &up, &across, &down }) {
		if (async)
			HIP_OK(hipMemcpy3DAsync(p, s));
		else
			HIP_OK(hipMemcpy3D(p));
	}
	HIP_OK(hipStreamSynchronize(s));
	HIP_OK(hipDeviceSynchronize());

	std::vector<uint8_t> want(fw * fh * fd, 0xdd);
	for (size_t z = 0; z < d; z++)
		for (size_t y = 0; y < h; y++)
			memcpy(&want[((z + 2) * fh + y + 1) * fw + 3],
			       &in[((z + 1) * fh + y + 2) * fw + 5], w);
	check_equal("3-D", out, want);
	HIP_OK(hipFree(a.ptr));
	HIP_OK(hipFree(b.ptr));
	HIP_OK(hipStreamDestroy(s));
}

static void symbols()
{
	std::vector<unsigned> in(100), out(50);

	for (unsigned i = 0; i < 100; i++)
		in[i] = i * i;
	HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(symbol), in.data(), 100 * sizeof(unsigned)));
	HIP_OK(hipMemcpyFromSymbol(out.data(), HIP_SYMBOL(symbol), 50 * sizeof(unsigned),
				   25 * sizeof(unsigned)));
	check_equal("symbol", out, std::vector<unsigned>(in.begin() + 25, in.begin() + 75));
}

static void between_devices(int n_devices)
{
	enum { N = 300001 };

	for (int from = 0; from < n_devices; from++)
		for (int to = 0; to < n_devices; to++) {
			std::vector<uint8_t> want = pattern(N, from * 16 + to), got(N);
			uint8_t *a, *b;
			hipStream_t s;

			HIP_OK(hipSetDevice(from));
			HIP_OK(hipMalloc((void **)&a, N));
			HIP_OK(hipMemcpy(a, want.data(), N, hipMemcpyHostToDevice));
			HIP_OK(hipSetDevice(to));
			HIP_OK(hipMalloc((void **)&b, N));
			HIP_OK(hipStreamCreate(&s));
			HIP_OK(hipMemcpyPeerAsync(b, to, a, from, N, s));
			HIP_OK(hipStreamSynchronize(s));
			HIP_OK(hipMemcpy(got.data(), b, N, hipMemcpyDeviceToHost));
			check_equal("peer, asynchronous", got, want);
			HIP_OK(hipMemset(b, 0, N));
			HIP_OK(hipDeviceSynchronize());
			HIP_OK(hipMemcpyPeer(b, to, a, from, N));
			HIP_OK(hipMemcpy(got.data(), b, N, hipMemcpyDeviceToHost));
			check_equal("peer", got, want);
			HIP_OK(hipStreamDestroy(s));
			HIP_OK(hipFree(a));
			HIP_OK(hipFree(b));
		}
	HIP_OK(hipSetDevice(0));
}

int main()
{
	static const size_t sizes[] = { 1,    3,     4,	      63,      64,     1000,
					4096, 65537, 1 << 20, 5000011, 9 << 20 };
	int n_devices;

	for (size_t n : sizes)
		for (int how = 0; how < 4; how++)
			linear(n, (n + how) % 61, how & 1, how & 2);
	for (int async = 0; async < 2; async++) {
		two_d(100, 50, 100, async);
		two_d(1, 7, 5, async);
		two_d(1001, 33, 1024, async);
		two_d(4096, 16, 4096, async);
		three_d(17, 11, 5, async);
		three_d(256, 16, 4, async);
	}
	symbols();
	HIP_OK(hipGetDeviceCount(&n_devices));
	between_devices(n_devices);
	printf("%d device%s\n", n_devices, n_devices == 1 ? "" : "s");
	return finish();
}
