/* Integer division and remainder, which the GPU does in software: all widths, all corners. */
#include "hiptest.h"

enum { OPS = 6 };

template <class T> __host__ __device__ static inline void all_ops(T a, T b, T *out)
{
	out[0] = (T)(a / b);
	out[1] = (T)(a % b);
	out[2] = (T)(a / 7);
	out[3] = (T)(a % 10);
	out[4] = (T)(a * b);
	out[5] = (T)(a / (T)64);
}

template <class T> __global__ void divide(const T *a, const T *b, T *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		all_ops<T>(a[i], b[i], out + OPS * i);
}

template <class T> static void run(const char *what)
{
	const bool is_signed = (T)-1 < 0;
	const T highest = is_signed ? (T) ~((uint64_t)1 << (8 * sizeof(T) - 1)) : (T) ~(uint64_t)0;
	const T lowest = is_signed ? (T)(-highest - 1) : (T)0;
	std::vector<T> corners = { 0,
				   1,
				   2,
				   3,
				   7,
				   10,
				   63,
				   64,
				   (T)-1,
				   (T)-2,
				   (T)-7,
				   highest,
				   lowest,
				   (T)(highest - 1),
				   (T)(lowest + 1),
				   (T)(highest / 2),
				   (T)(highest / 3) };
	std::vector<T> a, b;
	number_source numbers;

	for (T x : corners)
		for (T y : corners) {
			a.push_back(x);
			b.push_back(y);
		}
	for (int i = 0; i < 1500; i++) {
		uint64_t x = (uint64_t)numbers.next() << 32 | numbers.next();
		uint64_t y = (uint64_t)numbers.next() << 32 | numbers.next();

		a.push_back((T)(x >> (i % 64)));
		b.push_back((T)(y >> (i * 7 % 64)));
	}
	/* what C leaves undefined is not asked for; nor is signed overflow in the product */
	for (size_t i = 0; i < a.size(); i++) {
		T product;

		if (b[i] == 0 || (is_signed && a[i] == lowest && b[i] == (T)-1))
			b[i] = 5;
		if (is_signed && sizeof(T) >= 4 && __builtin_mul_overflow(a[i], b[i], &product))
			a[i] = (T)(a[i] % 1000), b[i] = (T)(b[i] % 1000 ? b[i] % 1000 : 1);
	}
	std::vector<T> want(OPS * a.size());
	for (size_t i = 0; i < a.size(); i++)
		all_ops<T>(a[i], b[i], &want[OPS * i]);

	device_buffer<T> da(a), db(b), out(want.size());
	divide<T><<<((int)a.size() + 63) / 64, 64>>>(da.ptr, db.ptr, out.ptr, (int)a.size());
	LAUNCH_OK();
	std::vector<T> got = out.download();
	int n_shown = 0;
	for (size_t i = 0; i < got.size(); i++) /* not through double: 64 bits count here */
		if (got[i] != want[i] && n_shown++ < 5)
			CHECK(false, "%s op %zu: %lld and %lld give %lld, should be %lld", what,
			      i % OPS, (long long)a[i / OPS], (long long)b[i / OPS],
			      (long long)got[i], (long long)want[i]);
}

int main()
{
	run<int8_t>("i8");
	run<uint8_t>("u8");
	run<int16_t>("i16");
	run<uint16_t>("u16");
	run<int32_t>("i32");
	run<uint32_t>("u32");
	run<int64_t>("i64");
	run<uint64_t>("u64");
	return finish();
}
