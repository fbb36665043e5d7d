/*
 * gemm: C = A * B for square row-major matrices, three ways.
 *
 *   plain   one work-item per element, operands straight from memory
 *   tiled   16 x 16 tiles of A and B staged in LDS
 *   mfma    one wave per 16 x 16 tile, matrix instructions, in the types that the GPU has
 *
 * Each generation added types and wider forms, and MI300 dropped the first bf16 and i8 forms.
 * What a GPU does not have is reported as skipped.
 */
#include "check.h"

enum { TILE = 16 };

__global__ void gemm_plain(const float *a, const float *b, float *c, int n)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y;
	int col = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0.0f;

	for (int k = 0; k < n; k++)
		sum += a[row * n + k] * b[k * n + col];
	c[row * n + col] = sum;
}

__global__ void gemm_tiled(const float *a, const float *b, float *c, int n)
{
	__shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y;
	int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
	float sum = 0.0f;

	for (int k0 = 0; k0 < n; k0 += TILE) {
		tile_a[y][x] = a[row * n + k0 + x];
		tile_b[y][x] = b[(k0 + y) * n + col];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += tile_a[y][k] * tile_b[k][x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));

/*
 * One row per matrix type. All are 16 x 16 shapes: lane l holds row (of A) or
 * column (of B) l % 16, for the PER_LANE consecutive k that start at
 * PER_LANE * (l / 16); so one instruction covers 4 * PER_LANE of k. The result
 * has four registers per lane, column l % 16, and row() says which row.
 * The bodies are empty for the host and for targets without the instruction.
 */
enum { GFX908 = 1, GFX90A = 2, GFX942 = 4, GFX950 = 8 };
enum {
	CDNA1_2 = GFX908 | GFX90A,
	CDNA2_ON = GFX90A | GFX942 | GFX950,
	CDNA3 = GFX942,
	CDNA3_ON = GFX942 | GFX950,
	CDNA4 = GFX950,
	CDNA = GFX908 | CDNA2_ON
};

#define MFMA(name, a, b, c) __builtin_amdgcn_mfma_##name(a, b, c, 0, 0, 0)
#define NO_MFMA(name, a, b, c) (c)
#if defined(__gfx908__)
#define IN_CDNA MFMA
#define IN_CDNA1_2 MFMA
#elif defined(__gfx90a__)
#define IN_CDNA MFMA
#define IN_CDNA1_2 MFMA
#define IN_CDNA2_ON MFMA
#elif defined(__gfx942__)
#define IN_CDNA MFMA
#define IN_CDNA2_ON MFMA
#define IN_CDNA3 MFMA
#define IN_CDNA3_ON MFMA
#elif defined(__gfx950__)
#define IN_CDNA MFMA
#define IN_CDNA2_ON MFMA
#define IN_CDNA3_ON MFMA
#define IN_CDNA4 MFMA
using bf16x8 = vec<__bf16, 8>;
/* 8-bit floats with a scale per row and column: here a half and two, whose product is one. */
#define SCALED(a, b, c)                                                                            \
	__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, 126, 0, 128)
#endif
#ifndef IN_CDNA
#define IN_CDNA NO_MFMA
#endif
#ifndef IN_CDNA1_2
#define IN_CDNA1_2 NO_MFMA
#endif
#ifndef IN_CDNA2_ON
#define IN_CDNA2_ON NO_MFMA
#endif
#ifndef IN_CDNA3
#define IN_CDNA3 NO_MFMA
#endif
#ifndef IN_CDNA3_ON
#define IN_CDNA3_ON NO_MFMA
#endif
#ifndef IN_CDNA4
#define IN_CDNA4 NO_MFMA
#define SCALED(a, b, c) (c)
#endif

#define MATRIX_TYPE(type, archs, element_t, sum_t, per_lane, row_expr, call)                       \
	struct type {                                                                              \
		using element = element_t;                                                         \
		using sum = sum_t;                                                                 \
		enum { ARCHS = archs, PER_LANE = per_lane };                                       \
		using fragment = vec<element, PER_LANE>;                                           \
		static __device__ int row(int lane, int reg)                                       \
		{                                                                                  \
			return row_expr;                                                           \
		}                                                                                  \
		static __device__ vec<sum, 4> mac(fragment a, fragment b, vec<sum, 4> c)           \
		{                                                                                  \
			(void)a, (void)b;                                                          \
			return call;                                                               \
		}                                                                                  \
	};

#define ROW_BLOCKED (4 * (lane / 16) + reg)
#define ROW_STRIDED (4 * reg + lane / 16) /* f64 spreads its registers over the tile */
#define AS(type, v) __builtin_bit_cast(type, v)
using i32x4 = vec<int, 4>;
using i32x8 = vec<int, 8>;

// clang-format off
MATRIX_TYPE(f32,     CDNA,     float,    float,  1, ROW_BLOCKED, IN_CDNA(f32_16x16x4f32, a[0], b[0], c))
MATRIX_TYPE(f16,     CDNA,     _Float16, float,  4, ROW_BLOCKED, IN_CDNA(f32_16x16x16f16, a, b, c))
MATRIX_TYPE(bf16,    CDNA1_2,  short,    float,  2, ROW_BLOCKED, IN_CDNA1_2(f32_16x16x8bf16, a, b, c))
MATRIX_TYPE(bf16_1k, CDNA2_ON, short,    float,  4, ROW_BLOCKED, IN_CDNA2_ON(f32_16x16x16bf16_1k, a, b, c))
MATRIX_TYPE(f64,     CDNA2_ON, double,   double, 1, ROW_STRIDED, IN_CDNA2_ON(f64_16x16x4f64, a[0], b[0], c))
MATRIX_TYPE(i8,      CDNA1_2,  int8_t,   int,    4, ROW_BLOCKED, IN_CDNA1_2(i32_16x16x16i8, AS(int, a), AS(int, b), c))
MATRIX_TYPE(i8_x32,  CDNA3_ON, int8_t,   int,    8, ROW_BLOCKED, IN_CDNA3_ON(i32_16x16x32_i8, AS(long, a), AS(long, b), c))
MATRIX_TYPE(xf32,    CDNA3,    float,    float,  2, ROW_BLOCKED, IN_CDNA3(f32_16x16x8_xf32, a, b, c))
MATRIX_TYPE(fp8,     CDNA3_ON, uint8_t,  float,  8, ROW_BLOCKED, IN_CDNA3_ON(f32_16x16x32_fp8_fp8, AS(long, a), AS(long, b), c))
MATRIX_TYPE(bf8,     CDNA3_ON, uint8_t,  float,  8, ROW_BLOCKED, IN_CDNA3_ON(f32_16x16x32_bf8_bf8, AS(long, a), AS(long, b), c))
MATRIX_TYPE(f16_x32, CDNA4,    _Float16, float,  8, ROW_BLOCKED, IN_CDNA4(f32_16x16x32_f16, a, b, c))
MATRIX_TYPE(bf16_x32, CDNA4,   short,    float,  8, ROW_BLOCKED, IN_CDNA4(f32_16x16x32_bf16, AS(bf16x8, a), AS(bf16x8, b), c))
MATRIX_TYPE(i8_x64,  CDNA4,    int8_t,   int,   16, ROW_BLOCKED, IN_CDNA4(i32_16x16x64_i8, AS(i32x4, a), AS(i32x4, b), c))
MATRIX_TYPE(mxfp8,   CDNA4,    uint8_t,  float, 32, ROW_BLOCKED, SCALED(AS(i32x8, a), AS(i32x8, b), c))
// clang-format on

template <class M>
__global__ void gemm_mfma(const typename M::element *a, const typename M::element *b,
			  typename M::sum *c, int n)
{
	int lane = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
	int along = lane % 16, k_lane = M::PER_LANE * (lane / 16);
	vec<typename M::sum, 4> sum = { 0, 0, 0, 0 };

	for (int k0 = 0; k0 < n; k0 += 4 * M::PER_LANE) {
		typename M::fragment fa, fb;

		for (int e = 0; e < M::PER_LANE; e++) {
			int k = k0 + k_lane + e;

			/* n is a multiple of 16 and may be none of the wider shapes' k */
			bool inside = 4 * M::PER_LANE <= TILE || k < n;
			fa[e] = inside ? a[(row0 + along) * n + k] : 0;
			fb[e] = inside ? b[k * n + col0 + along] : 0;
		}
		sum = M::mac(fa, fb, sum);
	}
	for (int reg = 0; reg < 4; reg++)
		c[(row0 + M::row(lane, reg)) * n + col0 + along] = sum[reg];
}

struct problem {
	int n;
	std::vector<double> a, b, want; /* want belongs to a and b as they are */
};

/* Entries are k / steps with |k| <= steps. 64 steps are exact in every type of 16 bits and more, and i8 takes k
 * itself; 8 steps are exact in 8-bit floats. */
static problem make_problem(int n, int steps)
{
	problem p = { n, std::vector<double>(n * n), std::vector<double>(n * n),
		      std::vector<double>(n * n, 0.0) };
	number_source numbers;

	for (int i = 0; i < n * n; i++) {
		p.a[i] = (int)(numbers.next() % (2 * steps + 1)) / (double)steps - 1.0;
		p.b[i] = (int)(numbers.next() % (2 * steps + 1)) / (double)steps - 1.0;
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				p.want[i * n + j] += p.a[i * n + k] * p.b[k * n + j];
	return p;
}

static bool fnuz; /* the device's 8-bit floats are MI300's, whose exponents are greater by one */

/* An 8-bit float with that many bits of mantissa; the entries are exact, and none is as small as a denormal. */
static uint8_t float8_bits(double x, int mantissa_bits)
{
	int exponent, bias = (1 << (6 - mantissa_bits)) - (fnuz ? 0 : 1);
	double fraction = 2 * frexp(fabs(x), &exponent) - 1;

	if (x == 0)
		return 0;
	return (uint8_t)((x < 0) << 7 | (exponent - 1 + bias) << mantissa_bits |
			 (int)(fraction * (1 << mantissa_bits)));
}

/* bf16 is the upper half of a float; nothing is lost for these entries. */
static short bf16_bits(double x)
{
	return (short)(__builtin_bit_cast(uint32_t, (float)x) >> 16);
}

template <class M> static typename M::element encode(double x)
{
	return (typename M::element)x;
}
template <> short encode<bf16>(double x)
{
	return bf16_bits(x);
}
template <> short encode<bf16_1k>(double x)
{
	return bf16_bits(x);
}
template <> short encode<bf16_x32>(double x)
{
	return bf16_bits(x);
}
template <> int8_t encode<i8>(double x)
{
	return (int8_t)(x * 64);
}
template <> int8_t encode<i8_x32>(double x)
{
	return (int8_t)(x * 64);
}
template <> int8_t encode<i8_x64>(double x)
{
	return (int8_t)(x * 64);
}
template <> uint8_t encode<fp8>(double x)
{
	return float8_bits(x, 3);
}
template <> uint8_t encode<mxfp8>(double x)
{
	return float8_bits(x, 3);
}
template <> uint8_t encode<bf8>(double x)
{
	return float8_bits(x, 2);
}

/* Products are multiples of 2^-12 below 1, so f32 sums are exact up to k = 4096. */
template <class T>
static bool judge(const char *name, const std::vector<T> &got, const std::vector<double> &want)
{
	size_t n_wrong = count_wrong(name, got, want, 1e-6);

	printf("%-14s %s\n", name, n_wrong ? "wrong" : "ok");
	return n_wrong == 0;
}

static bool run_vector(const char *name, void (*kernel)(const float *, const float *, float *, int),
		       const problem &p)
{
	std::vector<float> a(p.a.begin(), p.a.end()), b(p.b.begin(), p.b.end());
	device_buffer<float> da(a), db(b), dc(a.size());
	dim3 grid(p.n / TILE, p.n / TILE), block(TILE, TILE);

	dc.clear(0xff);
	kernel<<<grid, block>>>(da.ptr, db.ptr, dc.ptr, p.n);
	LAUNCH_OK();
	return judge(name, dc.download(), p.want);
}

template <class M> static bool run_mfma(const char *name, const problem &p, int arch)
{
	if (!(M::ARCHS & arch)) {
		printf("%-14s skipped: this device has no such matrix instruction\n", name);
		return true;
	}
	std::vector<typename M::element> a(p.a.size()), b(p.b.size());
	for (size_t i = 0; i < a.size(); i++) {
		a[i] = encode<M>(p.a[i]);
		b[i] = encode<M>(p.b[i]);
	}
	device_buffer<typename M::element> da(a), db(b);
	device_buffer<typename M::sum> dc(a.size());
	dim3 grid(p.n / TILE, p.n / TILE);

	dc.clear(0xff);
	gemm_mfma<M><<<grid, 64>>>(da.ptr, db.ptr, dc.ptr, p.n);
	LAUNCH_OK();

	std::vector<double> want = p.want;
	if (std::is_same<typename M::element, int8_t>::value)
		for (double &w : want)
			w *= 64.0 * 64.0;
	return judge(name, dc.download(), want);
}

int main(int argc, char **argv)
{
	long n = 96, device = 0;
	const option_row rows[] = {
		{ 'n', &n, TILE, "rows and columns, a multiple of 16" },
		{ 'd', &device, 0, "device to run on" },
	};
	options(argc, argv, "matrix product: plain, tiled in LDS, and by matrix instructions",
		rows);
	if (n % TILE) {
		fprintf(stderr, "gemm: -n must be a multiple of %d\n", TILE);
		return 2;
	}

	hipDeviceProp_t prop;
	HIP_OK(hipSetDevice((int)device));
	HIP_OK(hipGetDeviceProperties(&prop, (int)device));
	static const struct {
		const char *name;
		int arch;
	} archs[] = { { "gfx908", GFX908 },
		      { "gfx90a", GFX90A },
		      { "gfx942", GFX942 },
		      { "gfx950", GFX950 } };
	int arch = 0;
	for (const auto &known : archs)
		if (!strncmp(prop.gcnArchName, known.name, strlen(known.name)))
			arch = known.arch;
	fnuz = arch == GFX942;

	problem p = make_problem((int)n, 64), coarse = make_problem((int)n, 8);
	bool pass = true;
	pass &= run_vector("plain f32", gemm_plain, p);
	pass &= run_vector("tiled f32", gemm_tiled, p);
	pass &= run_mfma<f32>("mfma f32", p, arch);
	pass &= run_mfma<f16>("mfma f16", p, arch);
	pass &= run_mfma<bf16>("mfma bf16", p, arch);
	pass &= run_mfma<bf16_1k>("mfma bf16_1k", p, arch);
	pass &= run_mfma<f64>("mfma f64", p, arch);
	pass &= run_mfma<i8>("mfma i8", p, arch);
	pass &= run_mfma<i8_x32>("mfma i8_x32", p, arch);
	pass &= run_mfma<xf32>("mfma xf32", p, arch);
	pass &= run_mfma<fp8>("mfma fp8", coarse, arch);
	pass &= run_mfma<bf8>("mfma bf8", coarse, arch);
	pass &= run_mfma<f16_x32>("mfma f16_x32", p, arch);
	pass &= run_mfma<bf16_x32>("mfma bf16_x32", p, arch);
	pass &= run_mfma<i8_x64>("mfma i8_x64", p, arch);
	pass &= run_mfma<mxfp8>("mfma mxfp8", coarse, arch);
	return verdict(pass);
}
