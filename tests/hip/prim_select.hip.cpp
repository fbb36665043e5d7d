/* rocPRIM select (by predicate, by flags), unique, and histogram. */
#include "prim.h"

#include <rocprim/device/device_histogram.hpp>
#include <rocprim/device/device_select.hpp>

template <class T> struct is_third {
	__host__ __device__ bool operator()(const T &x) const { return (uint64_t)x % 3 == 0; }
};

template <class T> static void select(size_t n)
{
	std::vector<T> host = prim_input<T>(n, 1000), want, want_unique;
	device_buffer<T> in(host), out(n);
	device_buffer<unsigned> count(1);

	for (size_t i = 0; i < n; i++)
		if (is_third<T>()(host[i]))
			want.push_back(host[i]);
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::select(tmp, bytes, in.ptr, out.ptr, count.ptr, n, is_third<T>());
	});
	CHECK(count.download()[0] == want.size(), "%u of %zu selected, should be %zu",
	      count.download()[0], n, want.size());
	std::vector<T> got = out.download();
	got.resize(want.size());
	prim_equal("select", want.size(), got, want);
}

static void by_flags(size_t n)
{
	std::vector<int> host = prim_input<int>(n, 1000), want;
	std::vector<unsigned char> flags(n);
	for (size_t i = 0; i < n; i++) {
		flags[i] = (i * i) % 7 < 3;
		if (flags[i])
			want.push_back(host[i]);
	}
	device_buffer<int> in(host), out(n);
	device_buffer<unsigned char> dflags(flags);
	device_buffer<unsigned> count(1);
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::select(tmp, bytes, in.ptr, dflags.ptr, out.ptr, count.ptr, n);
	});
	std::vector<int> got = out.download();
	got.resize(count.download()[0]);
	CHECK(got == want, "select by flags, %zu", n);
}

template <class T> static void histogram(size_t n)
{
	enum { BINS = 64 };
	std::vector<T> host = prim_input<T>(n, 640);
	std::vector<unsigned> want(BINS, 0);
	device_buffer<T> in(host);
	device_buffer<unsigned> bins(BINS);

	for (T x : host)
		want[(size_t)x / 10]++;
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::histogram_even(tmp, bytes, in.ptr, (unsigned)n, bins.ptr, BINS + 1u,
					       (T)0, (T)640);
	});
	check_equal("histogram", bins.download(), want);
}

int main()
{
	for (size_t n : prim_sizes) {
		select<int>(n);
		select<float>(n);
		select<double>(n);
		select<uint64_t>(n);
		by_flags(n);
		histogram<int>(n);
		histogram<float>(n);
		histogram<double>(n);
	}
	return finish();
}
