/*
 * Half precision and bfloat16: all 65536 conversions, and arithmetic rounded once.
 *
 * The expected values come from double arithmetic rounded to half by the compiler's soft-float
 * routine on the host; for +, -, *, / and sqrt of halves that is the correctly rounded result.
 */
#include "hiptest.h"
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>

enum { N = 4096, OPS = 7 };

static uint16_t bits_of(_Float16 h) { return __builtin_bit_cast(uint16_t, h); }
static _Float16 from_bits(uint16_t b) { return __builtin_bit_cast(_Float16, b); }

__global__ void to_float(const uint16_t *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = (float)__builtin_bit_cast(_Float16, in[i]);
}

__global__ void to_half(const float *in, uint16_t *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = __builtin_bit_cast(uint16_t, (_Float16)in[i]);
}

__global__ void arithmetic(const uint16_t *a, const uint16_t *b, uint16_t *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	__half x = __builtin_bit_cast(_Float16, a[i]), y = __builtin_bit_cast(_Float16, b[i]);
	__half r[OPS] = { __hadd(x, y), __hsub(x, y),	 __hmul(x, y), __hdiv(x, y),
			  hsqrt(x),	__hfma(x, y, x), hfloor(x) };

	for (int k = 0; k < OPS; k++)
		out[OPS * i + k] = __builtin_bit_cast(uint16_t, r[k]);
}

/* Two at a time: the packed instructions. */
__global__ void packed(const __half2 *a, const __half2 *b, __half2 *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = __hfma2(a[i], b[i], __hadd2(a[i], __hmul2(b[i], b[i])));
}

__global__ void bf16(const float *in, uint16_t *out, float *back)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	hip_bfloat16 x(in[i]);

	out[i] = x.data;
	back[i] = (float)(x + x);
}

/* Same number, or both not a number. */
static bool same(uint16_t got, uint16_t want)
{
	bool got_nan = (got & 0x7fff) > 0x7c00, want_nan = (want & 0x7fff) > 0x7c00;

	return got_nan || want_nan ? got_nan && want_nan : got == want;
}

static void conversions()
{
	std::vector<uint16_t> all(65536);
	for (int i = 0; i < 65536; i++)
		all[i] = (uint16_t)i;
	device_buffer<uint16_t> in(all), round(65536);
	device_buffer<float> wide(65536);

	to_float<<<1024, 64>>>(in.ptr, wide.ptr);
	LAUNCH_OK();
	std::vector<float> floats = wide.download();
	int n_wrong = 0;
	for (int i = 0; i < 65536; i++) {
		float want = (float)from_bits((uint16_t)i);

		n_wrong += std::isnan(want) ? !std::isnan(floats[i])
					    : floats[i] != want ||
						      std::signbit(floats[i]) != std::signbit(want);
	}
	CHECK(n_wrong == 0, "%d halves became a wrong float", n_wrong);

	/* between the halves, on the half-way points, and just beside them */
	std::vector<float> between(65536);
	for (int i = 0; i < 65536; i++) {
		float lo = (float)from_bits((uint16_t)(i & 0xfbff)),
		      hi = (float)from_bits((uint16_t)((i & 0xfbff) + 1));
		float middle = std::isinf(hi) ? lo * 1.001f : (lo + hi) / 2;

		between[i] = i % 3 == 0 ? middle : nextafterf(middle, i % 3 == 1 ? lo : hi);
	}
	wide.upload(between);
	to_half<<<1024, 64>>>(wide.ptr, round.ptr);
	LAUNCH_OK();
	std::vector<uint16_t> rounded = round.download();
	n_wrong = 0;
	for (int i = 0; i < 65536; i++)
		n_wrong += !same(rounded[i], bits_of((_Float16)between[i]));
	CHECK(n_wrong == 0, "%d floats were rounded to a wrong half", n_wrong);
}

static void operations()
{
	std::vector<uint16_t> a(N), b(N);
	number_source numbers;
	for (int i = 0; i < N; i++) {
		a[i] = (uint16_t)(numbers.next() >> 9);
		b[i] = (uint16_t)(numbers.next() >> 9);
	}
	device_buffer<uint16_t> da(a), db(b), out(N * OPS);
	arithmetic<<<N / 64, 64>>>(da.ptr, db.ptr, out.ptr);
	LAUNCH_OK();
	std::vector<uint16_t> got = out.download();
	/* hdiv and hsqrt of this HIP go through f32 reciprocals: one unit is allowed there */
	static const int slack[OPS] = { 0, 0, 0, 1, 1, 0, 0 };
	static const char *const names[OPS] = {
		"add", "sub", "mul", "div", "sqrt", "fma", "floor"
	};
	for (int i = 0; i < N; i++) {
		double x = (double)from_bits(a[i]), y = (double)from_bits(b[i]);
		double want[OPS] = { x + y, x - y, x * y, x / y, sqrt(x), fma(x, y, x), floor(x) };

		for (int k = 0; k < OPS; k++) {
			uint16_t g = got[OPS * i + k], w = bits_of((_Float16)want[k]);
			bool close = same(g, w) || (slack[k] && abs((int)g - (int)w) <= slack[k]);

			CHECK(close, "%s of %04x and %04x is %04x, should be %04x", names[k], a[i],
			      b[i], g, w);
		}
	}
}

static void packed_operations()
{
	std::vector<__half2> a(N), b(N);
	std::vector<float> want, got;
	for (int i = 0; i < N; i++) { /* small whole numbers: exact in half */
		a[i] = __half2{ (_Float16)(i % 16), (_Float16)(i % 13) };
		b[i] = __half2{ (_Float16)(i % 7 - 3), (_Float16)(i % 5 - 2) };
		float x0 = (float)(i % 16), x1 = (float)(i % 13), y0 = (float)(i % 7 - 3),
		      y1 = (float)(i % 5 - 2);
		want.push_back(x0 * y0 + x0 + y0 * y0);
		want.push_back(x1 * y1 + x1 + y1 * y1);
	}
	device_buffer<__half2> da(a), db(b), out(N);
	packed<<<N / 64, 64>>>(da.ptr, db.ptr, out.ptr);
	LAUNCH_OK();
	for (const __half2 &h : out.download()) {
		uint16_t two[2];

		memcpy(two, &h, sizeof(two));
		got.push_back((float)from_bits(two[0]));
		got.push_back((float)from_bits(two[1]));
	}
	check_equal("half2", got, want);
}

static void bfloat()
{
	std::vector<float> in(N), want_back(N);
	std::vector<uint16_t> want(N);
	number_source numbers;
	for (int i = 0; i < N; i++) {
		uint32_t bits = (numbers.next() & 0x8fffffffu) | 0x38000000u; /* ordinary sizes */

		if (i % 4 == 0)
			bits = (bits & 0xffff0000u) | 0x8000u; /* half way: to even */
		memcpy(&in[i], &bits, 4);
		uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
		float value;
		memcpy(&value, &rounded, 4);
		want[i] = (uint16_t)(rounded >> 16);
		want_back[i] = value + value;
	}
	device_buffer<float> din(in), back(N);
	device_buffer<uint16_t> out(N);
	bf16<<<N / 64, 64>>>(din.ptr, out.ptr, back.ptr);
	LAUNCH_OK();
	check_equal("bfloat16", out.download(), want);
	check_equal("bfloat16 sum", back.download(), want_back);
}

/*
 * Two halves loaded on their own and put together with OR, as rocBLAS's kernels do: with ECC a load
 * of 16 bits clears the other half of its register, whatever was in it.
 */
__global__ void merge_loads(const unsigned short *in, unsigned *out)
{
	__shared__ unsigned short shared[128];
	unsigned low = ~0u, high = ~0u, i = threadIdx.x;

	shared[i] = in[i];
	shared[i + 64] = in[i + 64];
	__syncthreads();
	asm volatile("ds_read_u16_d16 %0, %2\n"
		     "ds_read_u16_d16_hi %1, %2 offset:128\n"
		     "s_waitcnt lgkmcnt(0)"
		     : "+&v"(low), "+&v"(high)
		     : "v"((unsigned)(uintptr_t)&shared[i])); /* the offset in LDS */
	out[i] = low | high;
	low = high = ~0u;
	asm volatile("global_load_short_d16 %0, %2, off\n"
		     "global_load_short_d16_hi %1, %2, off offset:128\n"
		     "s_waitcnt vmcnt(0)"
		     : "+&v"(low), "+&v"(high)
		     : "v"(in + i));
	out[i + 64] = low | high;
}

static void merged_loads()
{
	std::vector<unsigned short> in(128);
	std::vector<unsigned> want(128);

	for (unsigned i = 0; i < 128; i++)
		in[i] = (unsigned short)(i * 509 + 1);
	for (unsigned i = 0; i < 64; i++)
		want[i] = want[i + 64] = in[i] | (unsigned)in[i + 64] << 16;
	device_buffer<unsigned short> din(in);
	device_buffer<unsigned> out(128);

	merge_loads<<<1, 64>>>(din.ptr, out.ptr);
	LAUNCH_OK();
	check_equal("merged d16 loads", out.download(), want);
}

int main()
{
	merged_loads();
	conversions();
	operations();
	packed_operations();
	bfloat();
	return finish();
}
