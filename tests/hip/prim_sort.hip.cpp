/* rocPRIM radix sort: keys, descending keys, and stable pairs. */
#include "prim.h"

#include <numeric>
#include <rocprim/device/device_radix_sort.hpp>

/* All bits of the key take part, signs included. */
template <class T> static std::vector<T> keys_of(size_t n)
{
	std::vector<T> v(n);
	number_source numbers;

	for (size_t i = 0; i < n; i++) {
		uint64_t bits = (uint64_t)numbers.next() << 32 | numbers.next();

		v[i] = std::is_floating_point<T>::value ? (T)((int64_t)bits * 1e-9) : (T)bits;
		if (i % 5 == 0)
			v[i] = (T)(int)(i % 11); /* equal keys, for stability */
	}
	return v;
}

template <class T> static void run(size_t n, bool pairs)
{
	std::vector<T> host = keys_of<T>(n), want = host;
	device_buffer<T> in(host), out(n);

	std::sort(want.begin(), want.end());
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::radix_sort_keys(tmp, bytes, in.ptr, out.ptr, n);
	});
	prim_equal("sort", n, out.download(), want);
	if (!pairs)
		return;

	std::vector<unsigned> index(n), want_index(n);
	std::iota(index.begin(), index.end(), 0u);
	want_index = index;
	std::stable_sort(want_index.begin(), want_index.end(),
			 [&](unsigned a, unsigned b) { return host[a] < host[b]; });
	device_buffer<unsigned> values(index), values_out(n);
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::radix_sort_pairs(tmp, bytes, in.ptr, out.ptr, values.ptr,
						 values_out.ptr, n);
	});
	prim_equal("sort pairs, keys", n, out.download(), want);
	prim_equal("sort pairs, values", n, values_out.download(), want_index);
}

int main()
{
	for (size_t n : prim_sizes) {
		run<int>(n, true);
		run<double>(n, false);
	}
	return finish();
}
