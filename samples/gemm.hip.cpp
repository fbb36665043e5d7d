/*
 * gemm: C = A * B for square row-major matrices, three ways.
 *
 *   plain   one work-item per element, operands straight from memory
 *   tiled   16 x 16 tiles of A and B staged in LDS
 *   mfma    one wave per 16 x 16 tile, matrix instructions, in six types
 *
 * f64 matrix instructions and the wide bf16 form came with gfx90a; on gfx908
 * those two variants are reported as skipped.
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
#if defined(__gfx908__) || defined(__gfx90a__)
#define MFMA(name, a, b, c) __builtin_amdgcn_mfma_##name(a, b, c, 0, 0, 0)
#else
#define MFMA(name, a, b, c) (c)
#endif
#if defined(__gfx90a__)
#define MFMA_90A(name, a, b, c) MFMA(name, a, b, c)
#else
#define MFMA_90A(name, a, b, c) (c)
#endif

#define MATRIX_TYPE(type, element_t, sum_t, per_lane, row_expr, call)                              \
	struct type {                                                                              \
		using element = element_t;                                                         \
		using sum = sum_t;                                                                 \
		enum { PER_LANE = per_lane };                                                      \
		using fragment = vec<element, PER_LANE>;                                           \
		static __device__ int row(int lane, int reg) { return row_expr; }                  \
		static __device__ vec<sum, 4> mac(fragment a, fragment b, vec<sum, 4> c)           \
		{                                                                                  \
			(void)a, (void)b;                                                          \
			return call;                                                               \
		}                                                                                  \
	};

#define ROW_BLOCKED (4 * (lane / 16) + reg)
#define ROW_STRIDED (4 * reg + lane / 16) /* f64 spreads its registers over the tile */
#define AS_INT(v) __builtin_bit_cast(int, v)

// clang-format off
MATRIX_TYPE(f32,     float,    float,  1, ROW_BLOCKED, MFMA(f32_16x16x4f32, a[0], b[0], c))
MATRIX_TYPE(f16,     _Float16, float,  4, ROW_BLOCKED, MFMA(f32_16x16x16f16, a, b, c))
MATRIX_TYPE(bf16,    short,    float,  2, ROW_BLOCKED, MFMA(f32_16x16x8bf16, a, b, c))
MATRIX_TYPE(bf16_1k, short,    float,  4, ROW_BLOCKED, MFMA_90A(f32_16x16x16bf16_1k, a, b, c))
MATRIX_TYPE(f64,     double,   double, 1, ROW_STRIDED, MFMA_90A(f64_16x16x4f64, a[0], b[0], c))
MATRIX_TYPE(i8,      int8_t,   int,    4, ROW_BLOCKED, MFMA(i32_16x16x16i8, AS_INT(a), AS_INT(b), c))
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
			fa[e] = a[(row0 + along) * n + k0 + k_lane + e];
			fb[e] = b[(k0 + k_lane + e) * n + col0 + along];
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

/* Entries are k / 64 with |k| <= 64: exact in every type but i8, which takes k itself. */
static problem make_problem(int n)
{
	problem p = { n, std::vector<double>(n * n), std::vector<double>(n * n),
		      std::vector<double>(n * n, 0.0) };
	number_source numbers;

	for (int i = 0; i < n * n; i++) {
		p.a[i] = (int)(numbers.next() % 129) / 64.0 - 1.0;
		p.b[i] = (int)(numbers.next() % 129) / 64.0 - 1.0;
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			for (int j = 0; j < n; j++)
				p.want[i * n + j] += p.a[i * n + k] * p.b[k * n + j];
	return p;
}

/* bf16 is the upper half of a float; nothing is lost for these entries. */
template <class M> static typename M::element encode(double x) { return (typename M::element)x; }
static short bf16_bits(double x) { return (short)(__builtin_bit_cast(uint32_t, (float)x) >> 16); }
template <> short encode<bf16>(double x) { return bf16_bits(x); }
template <> short encode<bf16_1k>(double x) { return bf16_bits(x); }
template <> int8_t encode<i8>(double x) { return (int8_t)(x * 64); }

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

template <class M> static bool run_mfma(const char *name, const problem &p, bool available)
{
	if (!available) {
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
	if (std::is_same<M, i8>::value)
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
	bool gfx90a = !strncmp(prop.gcnArchName, "gfx90a", 6);
	bool gfx908 = !strncmp(prop.gcnArchName, "gfx908", 6);
	bool any = gfx90a || gfx908;

	problem p = make_problem((int)n);
	bool pass = true;
	pass &= run_vector("plain f32", gemm_plain, p);
	pass &= run_vector("tiled f32", gemm_tiled, p);
	pass &= run_mfma<f32>("mfma f32", p, any);
	pass &= run_mfma<f16>("mfma f16", p, any);
	pass &= run_mfma<bf16>("mfma bf16", p, any);
	pass &= run_mfma<bf16_1k>("mfma bf16_1k", p, gfx90a);
	pass &= run_mfma<f64>("mfma f64", p, gfx90a);
	pass &= run_mfma<i8>("mfma i8", p, any);
	return verdict(pass);
}
