/*
 * The kernels of 'wavescope fidelity', built beside the software GPU: no compiler is needed to run them.
 *
 *	fidelity-kernels vcopy   the vector copy that AMD recorded: every counter, three dispatches
 *	fidelity-kernels known   kernels whose counts follow from how they are made
 *
 * One line per value: kernel, dispatch, counter, class, expected (or -), value; separated by tabs.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "softgpu/counters/service.h"
}

#define HIP_OK(call)                                                                               \
	do {                                                                                       \
		hipError_t e_ = (call);                                                            \
		if (e_ != hipSuccess) {                                                            \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(e_));                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static decltype(&ws_softgpu_counters) list_counters;
static decltype(&ws_softgpu_count) choose;
static decltype(&ws_softgpu_next_result) next_result;
static decltype(&ws_softgpu_drop) drop;

template <class F> static void find(F &f, const char *name)
{
	f = (F)dlsym(RTLD_DEFAULT, name);
	if (!f) {
		fprintf(stderr, "this is not the software GPU: it has no '%s'\n", name);
		exit(1);
	}
}

static void find_service()
{
	HIP_OK(hipSetDevice(0));
	find(list_counters, "ws_softgpu_counters");
	find(choose, "ws_softgpu_count");
	find(next_result, "ws_softgpu_next_result");
	find(drop, "ws_softgpu_drop");
}

static void count(const std::vector<const char *> &names)
{
	char error[200] = "";

	HIP_OK(hipDeviceSynchronize());
	if (choose(1, names.data(), names.size(), error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
}

static const char *const classes[] = { "exact", "modelled", "unsupported" };
static uint64_t last;

/* ---- vcopy ---- */

/*
 * Arguments are placed so that the compiler loads them as the recorded binary did: two pointers and two
 * numbers by four instructions, all from one line of 64 bytes.
 */
__global__ void vecCopy(double *a, double *b, double *c, int n, double *d, int block)
{
	int id = blockIdx.x * (block & 0xffff) + threadIdx.x;

	if (id < n)
		c[id] = a[id];
}

static void print_results(const char *kernel)
{
	struct ws_softgpu_result r;

	for (int dispatch = 0; !next_result(1, last, &r); dispatch++) {
		last = r.sequence;
		printf("%s\t%d\tduration_ns\tmodelled\t-\t%lu\n", kernel, dispatch, (unsigned long)r.duration_ns);
		for (uint32_t k = 0; k < r.n_values; k++) {
			unsigned long sum = 0;

			for (uint32_t i = 0; i < r.values[k].n_values; i++)
				sum += r.values[k].values[i];
			printf("%s\t%d\t%s\t%s\t-\t%lu\n", kernel, dispatch, r.values[k].name,
			       classes[r.values[k].fidelity], sum);
		}
	}
	drop(1, last);
}

static void run_vcopy(const std::vector<const char *> &names)
{
	const int n = 1048576;
	double *in, *out;

	HIP_OK(hipMalloc(&in, n * sizeof(double)));
	HIP_OK(hipMalloc(&out, n * sizeof(double)));
	HIP_OK(hipMemset(in, 0, n * sizeof(double)));
	/* the code has to be on the device before counting starts: loading it is a kernel, too */
	hipFuncAttributes attributes;
	HIP_OK(hipFuncGetAttributes(&attributes, (const void *)vecCopy));
	count(names);
	for (int dispatch = 0; dispatch < 3; dispatch++) {
		vecCopy<<<n / 256, 256>>>(in, in, out, n, in, 256);
		HIP_OK(hipDeviceSynchronize());
	}
	count({});
	print_results("vcopy");
}

/* A pass is what the blocks can count at once; each is a process, because its first dispatch is cold. */
static int all_of_vcopy()
{
	for (size_t pass = 0, n_passes = 1; pass < n_passes; pass++) {
		int ends[2], status;
		pid_t child;

		fflush(stdout);
		if (pipe(ends) || (child = fork()) < 0) {
			perror("fidelity-kernels");
			return 1;
		}
		if (!child) {
			std::vector<struct ws_softgpu_counter> all(1024);
			std::vector<const char *> names;
			std::vector<std::string> kept;

			find_service();
			all.resize(list_counters(1, all.data(), all.size()));
			/* block by block, `limit` at a time; a level counter takes its accumulation along */
			size_t used = 0, group = 0, most = 0;
			const char *block = "";
			for (auto &c : all) {
				size_t places = c.is_level ? 2 : 1;

				if (c.fidelity == WS_SOFTGPU_UNSUPPORTED)
					continue;
				if (strcmp(block, c.block)) {
					block = c.block;
					used = group = 0;
				}
				if (used + places > c.block_limit) {
					group++;
					used = 0;
				}
				used += places;
				most = group > most ? group : most;
				if (group != pass)
					continue;
				kept.push_back(c.name);
				if (c.is_level)
					kept.push_back(std::string(c.name) + "_ACCUM");
			}
			for (auto &name : kept)
				names.push_back(name.c_str());
			run_vcopy(names);
			fflush(stdout);
			dprintf(ends[1], "%zu", most + 1);
			_exit(0);
		}
		char text[32] = "";
		close(ends[1]);
		if (waitpid(child, &status, 0) != child || status || read(ends[0], text, sizeof(text) - 1) <= 0) {
			fprintf(stderr, "pass %zu of vcopy failed\n", pass);
			return 1;
		}
		close(ends[0]);
		n_passes = strtoul(text, NULL, 10);
	}
	return 0;
}

/* ---- kernels whose counts are known ---- */

struct known {
	const char *counter;
	uint64_t value;
};

template <class L> static void check(const std::string &kernel, const std::vector<known> &expected, L launch)
{
	std::vector<const char *> names;
	struct ws_softgpu_result r;

	for (auto &k : expected)
		names.push_back(k.counter);
	count(names);
	launch();
	count({});
	while (!next_result(1, last, &r)) {
		last = r.sequence;
		for (uint32_t k = 0; k < r.n_values && k < expected.size(); k++) {
			unsigned long sum = 0;

			for (uint32_t i = 0; i < r.values[k].n_values; i++)
				sum += r.values[k].values[i];
			printf("%s\t0\t%s\t%s\t%lu\t%lu\n", kernel.c_str(), r.values[k].name,
			       classes[r.values[k].fidelity], (unsigned long)expected[k].value, sum);
		}
	}
	drop(1, last);
}

__global__ void strided_read(const int *in, int *out, int stride)
{
	int id = blockIdx.x * 64 + threadIdx.x;

	if (in[(size_t)id * stride] == 12345)
		out[0] = 1;
}

__global__ void lds_stride(int *out, int stride)
{
	extern __shared__ int s[];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = s[(threadIdx.x * stride) & 4095];
}

__global__ void atomic_adds(int *out)
{
	atomicAdd(&out[threadIdx.x], 1);
}

__global__ void atomic_with_return(int *out)
{
	out[64 + threadIdx.x] = atomicAdd(&out[threadIdx.x], 1);
}

__global__ void fma_f32(float *out, float x)
{
	float v = threadIdx.x;
#pragma unroll
	for (int i = 0; i < 64; i++)
		v = __builtin_fmaf(v, x, x);
	out[threadIdx.x] = v;
}

__global__ void fma_f64(double *out, double x)
{
	double v = threadIdx.x;
#pragma unroll
	for (int i = 0; i < 64; i++)
		v = __builtin_fma(v, x, x);
	out[threadIdx.x] = v;
}

typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));

__global__ void mfma_f16(float *out)
{
	f32x16 c = {};
	f16x4 a = { (_Float16)1, (_Float16)1, (_Float16)1, (_Float16)1 };

#pragma unroll
	for (int i = 0; i < 16; i++)
		c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, a, c, 0, 0, 0);
	out[threadIdx.x] = c[0];
}

__global__ void part_of_a_wave(int *out)
{
	out[threadIdx.x] = 1;
}

static int all_known()
{
	hipDeviceProp_t properties;
	int *in, *out;

	find_service();
	HIP_OK(hipGetDeviceProperties(&properties, 0));
	bool gfx90a = strstr(properties.gcnArchName, "gfx90a");
	HIP_OK(hipMalloc(&in, 64 << 20));
	HIP_OK(hipMalloc(&out, 1 << 20));
	HIP_OK(hipMemset(in, 0, 64 << 20));
	part_of_a_wave<<<1, 1>>>(out); /* loads the code */
	HIP_OK(hipDeviceSynchronize());

	for (int stride : { 1, 2, 4, 16, 64 }) {
		/* 1024 waves; a wave's 64 dwords are spread over this many lines of 64 bytes */
		uint64_t lines = stride >= 16 ? 64 : 4 * stride;
		uint64_t requests = stride <= 4 ? 16 : 64; /* four lanes share one if one line has them */

		check("read stride " + std::to_string(stride),
		      { { "TCP_TCC_READ_REQ_sum", 1024 * lines }, { "TCP_TOTAL_READ_sum", 1024 * requests },
			{ "TA_FLAT_READ_WAVEFRONTS_sum", 1024 }, { "SQ_WAVES", 1024 } },
		      [&] { strided_read<<<1024, 64>>>(in, out, stride); });
	}
	for (int stride : { 1, 2, 4, 8, 16, 32 })
		check("lds stride " + std::to_string(stride),
		      { { "SQ_LDS_BANK_CONFLICT", 2ull * (stride - 1) }, { "SQ_INSTS_LDS", 2 },
			{ "SQ_LDS_IDX_ACTIVE", 2ull + 2 * stride } },
		      [&] { lds_stride<<<1, 64, 16384>>>(out, stride); });
	check("atomics", { { "TCC_ATOMIC_sum", 40 }, { "TA_FLAT_ATOMIC_WAVEFRONTS_sum", 10 },
			   { "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 40 } },
	      [&] { atomic_adds<<<10, 64>>>(out); });
	check("atomics with return", { { "TCC_ATOMIC_sum", 40 }, { "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 40 } },
	      [&] { atomic_with_return<<<10, 64>>>(out); });
	check("partial waves", { { "SQ_WAVES", 30 }, { "SQ_ITEMS", 10 * 150 }, { "SQ_WAVES_EQ_64", 20 },
				 { "SQ_WAVES_LT_32", 10 }, { "SQ_WAVES_LT_16", 0 } },
	      [&] { part_of_a_wave<<<10, 150>>>(out); });
	if (!gfx90a)
		return 0;
	check("fma f32", { { "SQ_INSTS_VALU_FMA_F32", 640 }, { "SQ_INSTS_VALU_FMA_F64", 0 } },
	      [&] { fma_f32<<<10, 64>>>((float *)out, 0.5f); });
	check("fma f64", { { "SQ_INSTS_VALU_FMA_F64", 640 }, { "SQ_INSTS_VALU_FMA_F32", 0 } },
	      [&] { fma_f64<<<10, 64>>>((double *)out, 0.5); });
	check("mfma f16", { { "SQ_INSTS_VALU_MFMA_F16", 160 }, { "SQ_INSTS_VALU_MFMA_MOPS_F16", 160 * 32 },
			    { "SQ_VALU_MFMA_BUSY_CYCLES", 160 * 64 }, { "SQ_INSTS_MFMA", 160 } },
	      [&] { mfma_f16<<<10, 64>>>((float *)out); });
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "vcopy"))
		return all_of_vcopy();
	if (argc == 2 && !strcmp(argv[1], "known"))
		return all_known();
	fprintf(stderr, "usage: fidelity-kernels vcopy|known\n");
	return 2;
}
