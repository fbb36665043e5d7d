/*
 * The device math library against the host's, by units in the last place. Both sides of the
 * comparison are independent: ROCm's ocml compiled to device code, and glibc, in a wider type for
 * f32. The limits are the ones that AMD documents for ocml (OpenCL full profile), or larger where
 * the function is ill-conditioned there, never tuned to what came out.
 */
#include "hiptest.h"

#include <cfloat>

enum { N = 640 };

/* Distance in representable values; equal NaNs and infinities are at 0. */
static double ulps(double got, long double want, bool single)
{
	int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG,
	    lowest = single ? FLT_MIN_EXP : DBL_MIN_EXP;
	long double largest = single ? (long double)FLT_MAX : (long double)DBL_MAX;

	if (std::isnan((double)want) || std::isnan(got))
		return std::isnan((double)want) && std::isnan(got) ? 0.0 : INFINITY;
	if (fabsl(want) > largest ||
	    std::isinf(got)) /* overflow has to overflow, to the same side */
		return (fabsl(want) > largest * (1 - 1e-6L)) && std::isinf(got) &&
				       (got > 0) == (want > 0)
			       ? 0.0
			       : INFINITY;
	int e;
	frexpl(want, &e);
	if (want == 0 || e < lowest)
		e = lowest; /* subnormal results share the spacing of the smallest normal ones */
	return (double)(fabsl((long double)got - want) / ldexpl(1.0L, e - digits));
}

template <class T> struct unary {
	const char *name;
	void (*kernel)(const T *, T *, int);
	long double (*reference)(long double);
	double lo, hi, limit;
};

template <class T> struct binary {
	const char *name;
	void (*kernel)(const T *, const T *, T *, int);
	long double (*reference)(long double, long double);
	double lo, hi, lo2, hi2, limit;
};

#define KERNEL1(name, expr_f, expr_d)                                                              \
	__global__ void name##_f(const float *in, float *out, int n)                               \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		float x = i < n ? in[i] : 0;                                                       \
		if (i < n)                                                                         \
			out[i] = expr_f;                                                           \
	}                                                                                          \
	__global__ void name##_d(const double *in, double *out, int n)                             \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		double x = i < n ? in[i] : 0;                                                      \
		if (i < n)                                                                         \
			out[i] = expr_d;                                                           \
	}

#define KERNEL2(name, expr_f, expr_d)                                                              \
	__global__ void name##_f(const float *a, const float *b, float *out, int n)                \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		if (i < n) {                                                                       \
			float x = a[i], y = b[i];                                                  \
			out[i] = expr_f;                                                           \
		}                                                                                  \
	}                                                                                          \
	__global__ void name##_d(const double *a, const double *b, double *out, int n)             \
	{                                                                                          \
		int i = blockIdx.x * blockDim.x + threadIdx.x;                                     \
		if (i < n) {                                                                       \
			double x = a[i], y = b[i];                                                 \
			out[i] = expr_d;                                                           \
		}                                                                                  \
	}

// clang-format off
KERNEL1(k_sin, sinf(x), sin(x))
KERNEL1(k_cos, cosf(x), cos(x))
KERNEL1(k_tan, tanf(x), tan(x))
KERNEL1(k_asin, asinf(x), asin(x))
KERNEL1(k_acos, acosf(x), acos(x))
KERNEL1(k_atan, atanf(x), atan(x))
KERNEL1(k_sinh, sinhf(x), sinh(x))
KERNEL1(k_cosh, coshf(x), cosh(x))
KERNEL1(k_tanh, tanhf(x), tanh(x))
KERNEL1(k_exp, expf(x), exp(x))
KERNEL1(k_exp2, exp2f(x), exp2(x))
KERNEL1(k_expm1, expm1f(x), expm1(x))
KERNEL1(k_log, logf(x), log(x))
KERNEL1(k_log2, log2f(x), log2(x))
KERNEL1(k_log10, log10f(x), log10(x))
KERNEL1(k_log1p, log1pf(x), log1p(x))
KERNEL1(k_sqrt, sqrtf(x), sqrt(x))
KERNEL1(k_rsqrt, rsqrtf(x), rsqrt(x))
KERNEL1(k_cbrt, cbrtf(x), cbrt(x))
KERNEL1(k_erf, erff(x), erf(x))
KERNEL1(k_erfc, erfcf(x), erfc(x))
KERNEL1(k_tgamma, tgammaf(x), tgamma(x))
KERNEL1(k_lgamma, lgammaf(x), lgamma(x))
KERNEL1(k_floor, floorf(x), floor(x))
KERNEL1(k_rint, rintf(x), rint(x))
KERNEL1(k_round, roundf(x), round(x))
KERNEL1(k_recip, 1.0f / x, 1.0 / x)
KERNEL2(k_pow, powf(x, y), pow(x, y))
KERNEL2(k_atan2, atan2f(x, y), atan2(x, y))
KERNEL2(k_hypot, hypotf(x, y), hypot(x, y))
KERNEL2(k_fmod, fmodf(x, y), fmod(x, y))
KERNEL2(k_div, x / y, x / y)
KERNEL2(k_fma, fmaf(x, y, x), fma(x, y, x))

static long double rsqrt_l(long double x) { return 1.0L / sqrtl(x); }
static long double recip_l(long double x) { return 1.0L / x; }
static long double div_l(long double x, long double y) { return x / y; }
static long double fma_l(long double x, long double y) { return fmal(x, y, x); }

/* limit in ulp */
#define TABLE1(T, s)                                                       \
	{ "sin",    k_sin_##s,    sinl,    -200,  200,    4 },             \
	{ "sin, far", k_sin_##s,  sinl,    1e5,   1e7,    4 },             \
	{ "cos",    k_cos_##s,    cosl,    -200,  200,    4 },             \
	{ "tan",    k_tan_##s,    tanl,    -20,   20,     5 },             \
	{ "asin",   k_asin_##s,   asinl,   -1,    1,      4 },             \
	{ "acos",   k_acos_##s,   acosl,   -1,    1,      4 },             \
	{ "atan",   k_atan_##s,   atanl,   -50,   50,     5 },             \
	{ "sinh",   k_sinh_##s,   sinhl,   -80,   80,     4 },             \
	{ "cosh",   k_cosh_##s,   coshl,   -80,   80,     4 },             \
	{ "tanh",   k_tanh_##s,   tanhl,   -10,   10,     5 },             \
	{ "exp",    k_exp_##s,    expl,    -110,  95,     3 },             \
	{ "exp2",   k_exp2_##s,   exp2l,   -155,  130,    3 },             \
	{ "expm1",  k_expm1_##s,  expm1l,  -5,    20,     3 },             \
	{ "log",    k_log_##s,    logl,    1e-30, 100,    3 },             \
	{ "log2",   k_log2_##s,   log2l,   1e-30, 100,    3 },             \
	{ "log10",  k_log10_##s,  log10l,  1e-30, 100,    3 },             \
	{ "log1p",  k_log1p_##s,  log1pl,  -0.99, 50,     2 },             \
	{ "sqrt",   k_sqrt_##s,   sqrtl,   0,     1e10,   0.5 },           \
	{ "rsqrt",  k_rsqrt_##s,  rsqrt_l, 1e-10, 1e10,   2 },             \
	{ "cbrt",   k_cbrt_##s,   cbrtl,   -1e6,  1e6,    2 },             \
	{ "erf",    k_erf_##s,    erfl,    -5,    5,      16 },            \
	{ "erfc",   k_erfc_##s,   erfcl,   -3,    8,      16 },            \
	{ "tgamma", k_tgamma_##s, tgammal, 0.1,   30,     16 },            \
	{ "lgamma", k_lgamma_##s, lgammal, 3,     1000,   16 },            \
	{ "floor",  k_floor_##s,  floorl,  -1e6,  1e6,    0 },             \
	{ "rint",   k_rint_##s,   rintl,   -1e6,  1e6,    0 },             \
	{ "round",  k_round_##s,  roundl,  -1e6,  1e6,    0 },             \
	{ "1 / x",  k_recip_##s,  recip_l, -1e6,  1e6,    0.5 },

#define TABLE2(T, s)                                                             \
	{ "pow",    k_pow_##s,   powl,   0.01, 20,  -10,   10,   16 },           \
	{ "atan2",  k_atan2_##s, atan2l, -10,  10,  -10,   10,   6 },            \
	{ "hypot",  k_hypot_##s, hypotl, -1e5, 1e5, -1e5,  1e5,  4 },            \
	{ "fmod",   k_fmod_##s,  fmodl,  -1e4, 1e4, 0.5,   30,   0 },            \
	{ "x / y",  k_div_##s,   div_l,  -1e6, 1e6, 1e-3,  1e6,  0.5 },          \
	{ "fma",    k_fma_##s,   fma_l,  -1e6, 1e6, -1e6,  1e6,  0.5 },

static const unary<float>   table1_f[] = { TABLE1(float, f) };
static const unary<double>  table1_d[] = { TABLE1(double, d) };
static const binary<float>  table2_f[] = { TABLE2(float, f) };
static const binary<double> table2_d[] = { TABLE2(double, d) };
// clang-format on

/* A reference rounded in long double may itself be off by a hair: correct rounding allows for it.
 */
#define HAIR 1e-3

template <class T> static std::vector<T> inputs(double lo, double hi, unsigned seed)
{
	std::vector<T> v(N);
	number_source numbers;

	numbers.state ^= seed * 2654435761u;
	for (int i = 0; i < N; i++)
		v[i] = (T)(lo + (hi - lo) * (numbers.next() / 4294967296.0));
	v[0] = (T)lo;
	v[1] = (T)hi;
	return v;
}

template <class T>
static void judge(const char *name, const std::vector<T> &got, const std::vector<long double> &want,
		  const std::vector<T> &x, double limit)
{
	double worst = 0;
	int at = 0;

	for (int i = 0; i < N; i++) {
		double u = ulps((double)got[i], want[i], sizeof(T) == 4);

		if (u > worst) {
			worst = u;
			at = i;
		}
	}
	CHECK(worst <= limit + HAIR, "%s %s: %.2f ulp at %.17g: %.17g, should be %.17Lg",
	      sizeof(T) == 4 ? "f32" : "f64", name, worst, (double)x[at], (double)got[at],
	      want[at]);
}

template <class T, size_t M> static void run1(const unary<T> (&table)[M])
{
	for (const unary<T> &f : table) {
		std::vector<T> x = inputs<T>(f.lo, f.hi, (unsigned)(&f - table));
		std::vector<long double> want(N);
		device_buffer<T> in(x), out(N);

		f.kernel<<<(N + 63) / 64, 64>>>(in.ptr, out.ptr, N);
		LAUNCH_OK();
		for (int i = 0; i < N; i++)
			want[i] = f.reference((long double)x[i]);
		judge(f.name, out.download(), want, x, f.limit);
	}
}

template <class T, size_t M> static void run2(const binary<T> (&table)[M])
{
	for (const binary<T> &f : table) {
		std::vector<T> x = inputs<T>(f.lo, f.hi, 100), y = inputs<T>(f.lo2, f.hi2, 200);
		std::vector<long double> want(N);
		device_buffer<T> dx(x), dy(y), out(N);

		f.kernel<<<(N + 63) / 64, 64>>>(dx.ptr, dy.ptr, out.ptr, N);
		LAUNCH_OK();
		for (int i = 0; i < N; i++)
			want[i] = f.reference((long double)x[i], (long double)y[i]);
		judge(f.name, out.download(), want, x, f.limit);
	}
}

/* Infinities, NaN, zeros of both signs, subnormals. */
static void special_values()
{
	std::vector<double> x = { 0.0,	-0.0,	  INFINITY, -INFINITY, NAN,
				  -1.0, 4.9e-324, 1e-310,   DBL_MAX };
	device_buffer<double> in(x), out(x.size());
	struct {
		const char *name;
		void (*kernel)(const double *, double *, int);
		double (*host)(double);
	} cases[] = {
		{ "sqrt", k_sqrt_d, sqrt }, { "exp", k_exp_d, exp },
		{ "log", k_log_d, log },    { "sin", k_sin_d, sin },
		{ "atan", k_atan_d, atan }, { "floor", k_floor_d, floor },
		{ "cbrt", k_cbrt_d, cbrt }, { "tgamma", k_tgamma_d, tgamma },
	};

	for (auto &c : cases) {
		c.kernel<<<1, 64>>>(in.ptr, out.ptr, (int)x.size());
		LAUNCH_OK();
		std::vector<double> got = out.download();
		for (size_t i = 0; i < x.size(); i++) {
			double want = c.host(x[i]);
			bool same = std::isnan(want) ? std::isnan(got[i])
				    : std::isinf(want) || want == 0
					    ? got[i] == want &&
						      std::signbit(got[i]) == std::signbit(want)
					    : fabs(got[i] - want) <= 1e-14 * fabs(want);

			CHECK(same, "%s(%g) is %.17g, should be %.17g", c.name, x[i], got[i], want);
		}
	}
}

/*
 * Complex numbers times one that all lanes share. For gfx90a this becomes packed instructions whose
 * scalar pair gives one half to both results, swapped or negated. Whole numbers: no rounding, so the
 * host's result is the same in every bit.
 */
typedef float pair_f __attribute__((ext_vector_type(2)));

__host__ __device__ static pair_f scaled(pair_f v, pair_f alpha, float beta, pair_f y)
{
	pair_f straight = { alpha.x, alpha.x }, crossed = { -alpha.y, alpha.y };

	return v * straight + pair_f{ v.y, v.x } * crossed - beta * y;
}

__global__ void scale_all(pair_f *y, const pair_f *x, pair_f alpha, float beta)
{
	y[threadIdx.x] = scaled(x[threadIdx.x], alpha, beta, y[threadIdx.x]);
}

static void packed_scalars()
{
	std::vector<pair_f> x(64), y(64);
	std::vector<float> got, want;
	pair_f alpha = { 3, -7 };
	float beta = 11;

	for (int i = 0; i < 64; i++) {
		x[i] = pair_f{ (float)(i - 20), (float)(5 * i + 1) };
		y[i] = pair_f{ (float)(i * i), (float)(100 - i) };
	}
	device_buffer<pair_f> dx(x), dy(y);

	scale_all<<<1, 64>>>(dy.ptr, dx.ptr, alpha, beta);
	LAUNCH_OK();
	std::vector<pair_f> out = dy.download();
	for (int i = 0; i < 64; i++) {
		pair_f w = scaled(x[i], alpha, beta, y[i]);

		got.insert(got.end(), { out[i].x, out[i].y });
		want.insert(want.end(), { w.x, w.y });
	}
	check_equal("complex times a scalar", got, want);
}

int main()
{
	packed_scalars();
	run1(table1_f);
	run1(table1_d);
	run2(table2_f);
	run2(table2_d);
	special_values();
	return finish();
}
