/* rocSPARSE: y = alpha A x + beta y for a CSR matrix, with and without analysis, f32 and f64; and a
 * complex triangular system, whose kernels multiply pairs of f32 with packed instructions. */
#include "hiptest.h"
#include <complex>
#include <rocsparse/rocsparse.h>

#define SPARSE_OK(call)                                                                            \
	do {                                                                                       \
		rocsparse_status sparse_status = (call);                                           \
		if (sparse_status != rocsparse_status_success) {                                   \
			fprintf(stderr, "%s: status %d\n", #call, (int)sparse_status);             \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* Rows of very different lengths, some empty: the kernels choose their way by length. */
template <class T> struct csr {
	int m, n;
	std::vector<int> start, column;
	std::vector<T> value;

	csr(int rows, int columns) : m(rows), n(columns), start(1, 0)
	{
		number_source numbers;

		for (int r = 0; r < m; r++) {
			int length = r % 7 == 3      ? 0
				     : r % 100 == 50 ? n / 2
						     : (int)(numbers.next() % 9);

			for (int k = 0; k < length; k++) {
				column.push_back((int)((long)k * n / length));
				value.push_back((T)numbers.unit());
			}
			start.push_back((int)column.size());
		}
	}
};

static rocsparse_status csrmv(rocsparse_handle h, int m, int n, int nnz, const float *alpha,
			      rocsparse_mat_descr d, const float *v, const int *s, const int *c,
			      rocsparse_mat_info i, const float *x, const float *beta, float *y)
{
	return rocsparse_scsrmv(h, rocsparse_operation_none, m, n, nnz, alpha, d, v, s, c, i, x,
				beta, y);
}

static rocsparse_status csrmv(rocsparse_handle h, int m, int n, int nnz, const double *alpha,
			      rocsparse_mat_descr d, const double *v, const int *s, const int *c,
			      rocsparse_mat_info i, const double *x, const double *beta, double *y)
{
	return rocsparse_dcsrmv(h, rocsparse_operation_none, m, n, nnz, alpha, d, v, s, c, i, x,
				beta, y);
}

static rocsparse_status analyse(rocsparse_handle h, int m, int n, int nnz, rocsparse_mat_descr d,
				const float *v, const int *s, const int *c, rocsparse_mat_info i)
{
	return rocsparse_scsrmv_analysis(h, rocsparse_operation_none, m, n, nnz, d, v, s, c, i);
}

static rocsparse_status analyse(rocsparse_handle h, int m, int n, int nnz, rocsparse_mat_descr d,
				const double *v, const int *s, const int *c, rocsparse_mat_info i)
{
	return rocsparse_dcsrmv_analysis(h, rocsparse_operation_none, m, n, nnz, d, v, s, c, i);
}

template <class T> static void run(rocsparse_handle handle, const char *what, double tolerance)
{
	csr<T> a(1200, 900);
	std::vector<T> x(a.n), y(a.m);
	std::vector<double> want(a.m);
	number_source numbers;
	T alpha = (T)1.5, beta = (T)-0.5;

	for (T &v : x)
		v = (T)numbers.unit();
	for (T &v : y)
		v = (T)numbers.unit();
	for (int r = 0; r < a.m; r++) {
		double sum = 0;

		for (int k = a.start[r]; k < a.start[r + 1]; k++)
			sum += (double)a.value[k] * (double)x[a.column[k]];
		want[r] = (double)alpha * sum + (double)beta * (double)y[r];
	}

	device_buffer<int> start(a.start), column(a.column);
	device_buffer<T> value(a.value), dx(x), dy(y);
	rocsparse_mat_descr descr;
	rocsparse_mat_info info;
	int nnz = (int)a.value.size();
	SPARSE_OK(rocsparse_create_mat_descr(&descr));
	SPARSE_OK(rocsparse_create_mat_info(&info));
	SPARSE_OK(csrmv(handle, a.m, a.n, nnz, &alpha, descr, value.ptr, start.ptr, column.ptr,
			nullptr, dx.ptr, &beta, dy.ptr));
	HIP_OK(hipDeviceSynchronize());
	n_failed_checks += count_wrong(what, dy.download(), want, tolerance) != 0;

	dy.upload(y);
	SPARSE_OK(analyse(handle, a.m, a.n, nnz, descr, value.ptr, start.ptr, column.ptr, info));
	SPARSE_OK(csrmv(handle, a.m, a.n, nnz, &alpha, descr, value.ptr, start.ptr, column.ptr,
			info, dx.ptr, &beta, dy.ptr));
	HIP_OK(hipDeviceSynchronize());
	n_failed_checks += count_wrong(what, dy.download(), want, tolerance) != 0;
	SPARSE_OK(rocsparse_destroy_mat_info(info));
	SPARSE_OK(rocsparse_destroy_mat_descr(descr));
}

/* L y = alpha x, forwards; L has a dominant diagonal, so that rounding stays small. */
static void solve(rocsparse_handle handle)
{
	enum { N = 200 };
	typedef std::complex<float> number;
	std::vector<int> start(1, 0), column;
	std::vector<number> value, x(N);
	std::vector<std::complex<double>> y(N);
	std::vector<double> want;
	std::vector<float> got;
	number alpha(1.5f, -0.5f);
	number_source numbers;
	auto any = [&] { return number((float)numbers.unit(), (float)numbers.unit()); };

	for (int r = 0; r < N; r++) {
		std::complex<double> sum;

		x[r] = any();
		sum = std::complex<double>(alpha) * std::complex<double>(x[r]);
		for (int c = 0; c < r; c++) {
			if (numbers.next() % 4)
				continue;
			column.push_back(c);
			value.push_back(any() * 0.2f);
			sum -= std::complex<double>(value.back()) * y[c];
		}
		column.push_back(r);
		value.push_back(any() + number(4, 1));
		y[r] = sum / std::complex<double>(value.back());
		start.push_back((int)column.size());
		want.insert(want.end(), { y[r].real(), y[r].imag() });
	}

	device_buffer<int> dstart(start), dcolumn(column);
	device_buffer<number> dvalue(value), dx(x), dy(N);
	auto *v = (rocsparse_float_complex *)dvalue.ptr;
	rocsparse_operation none = rocsparse_operation_none;
	int nnz = (int)value.size();
	size_t size_bytes;
	rocsparse_mat_descr descr;
	rocsparse_mat_info info;

	SPARSE_OK(rocsparse_create_mat_descr(&descr));
	SPARSE_OK(rocsparse_create_mat_info(&info));
	SPARSE_OK(rocsparse_set_mat_fill_mode(descr, rocsparse_fill_mode_lower));
	SPARSE_OK(rocsparse_ccsrsv_buffer_size(handle, none, N, nnz, descr, v, dstart.ptr,
					       dcolumn.ptr, info, &size_bytes));
	device_buffer<char> buffer(size_bytes);
	SPARSE_OK(rocsparse_ccsrsv_analysis(handle, none, N, nnz, descr, v, dstart.ptr, dcolumn.ptr,
					    info, rocsparse_analysis_policy_reuse,
					    rocsparse_solve_policy_auto, buffer.ptr));
	SPARSE_OK(rocsparse_ccsrsv_solve(
		handle, none, N, nnz, (rocsparse_float_complex *)&alpha, descr, v, dstart.ptr,
		dcolumn.ptr, info, (rocsparse_float_complex *)dx.ptr,
		(rocsparse_float_complex *)dy.ptr, rocsparse_solve_policy_auto, buffer.ptr));
	HIP_OK(hipDeviceSynchronize());
	for (number n : dy.download())
		got.insert(got.end(), { n.real(), n.imag() });
	n_failed_checks += count_wrong("csrsv complex f32", got, want, 1e-4) != 0;
	SPARSE_OK(rocsparse_destroy_mat_info(info));
	SPARSE_OK(rocsparse_destroy_mat_descr(descr));
}

int main()
{
	rocsparse_handle handle;

	SPARSE_OK(rocsparse_create_handle(&handle));
	run<float>(handle, "csrmv f32", 1e-4);
	run<double>(handle, "csrmv f64", 1e-12);
	solve(handle);
	SPARSE_OK(rocsparse_destroy_handle(handle));
	return finish();
}
