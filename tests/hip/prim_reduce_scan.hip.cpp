/* rocPRIM reduce and scans (decoupled look-back across workgroups). */
#include "prim.h"

#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_scan.hpp>

template <class T> static void run(size_t n)
{
	std::vector<T> host = prim_input<T>(n, 16), want(n);
	device_buffer<T> in(host), out(n);
	T sum = 0, largest = 0;

	for (size_t i = 0; i < n; i++) {
		want[i] = sum += host[i];
		largest = std::max(largest, host[i]);
	}
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::reduce(tmp, bytes, in.ptr, out.ptr, (T)0, n, rocprim::plus<T>());
	});
	CHECK(out.download()[0] == sum, "sum of %zu: %.17g, should be %.17g", n,
	      (double)out.download()[0], (double)sum);
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::reduce(tmp, bytes, in.ptr, out.ptr, (T)0, n, rocprim::maximum<T>());
	});
	CHECK(out.download()[0] == largest, "maximum of %zu", n);

	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::inclusive_scan(tmp, bytes, in.ptr, out.ptr, n, rocprim::plus<T>());
	});
	prim_equal("inclusive scan", n, out.download(), want);
	for (size_t i = 0; i < n; i++)
		want[i] = want[i] - host[i] + 3;
	prim_run([&](void *tmp, size_t &bytes) {
		return rocprim::exclusive_scan(tmp, bytes, in.ptr, out.ptr, (T)3, n,
					       rocprim::plus<T>());
	});
	prim_equal("exclusive scan", n, out.download(), want);
}

int main()
{
	for (size_t n : prim_sizes) {
		run<int>(n);
		run<float>(n);
		run<double>(n);
		run<uint64_t>(n);
	}
	return finish();
}
