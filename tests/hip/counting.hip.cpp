/*
 * counting: the counting service under real HIP programs. The vector copy of the hardware recordings
 * must give the recorded instruction counts, on every GPU; what follows from a kernel by construction
 * must come out; results must not depend on the number of workers.
 */
#include "tests/hip/hiptest.h"

#include <cerrno>
#include <dlfcn.h>
#include <algorithm>
#include <map>
#include <thread>
extern "C" {
#include "softgpu/counters/service.h"
}

static decltype(&softgpu_counters) list_counters;
static decltype(&softgpu_count) choose;
static decltype(&softgpu_next_result) next_result;
static decltype(&softgpu_drop) drop;
static decltype(&softgpu_pc_sampling) pc_sampling;
static decltype(&softgpu_pc_samples) pc_samples;

template <class F> static void find(F &f, const char *name)
{
	f = (F)dlsym(RTLD_DEFAULT, name);
	if (!f)
		skip("not the software GPU: no counting service");
}

__global__ void vecCopy(double *a, double *b, double *c, int n, int stride)
{
	int id = blockIdx.x * __builtin_amdgcn_workgroup_size_x() + threadIdx.x;

	(void)b;
	(void)stride;
	if (id < n)
		c[id] = a[id];
}

/* 64 lanes, each reads LDS at its number times `stride` dwords */
__global__ void lds_stride(int *out, int stride)
{
	extern __shared__ int s[];

	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = s[(threadIdx.x * stride) & 4095];
}

__global__ void atomics(int *out)
{
	atomicAdd(&out[threadIdx.x], 1);
}

__global__ void fma_chain(float *out, float x)
{
	float v = threadIdx.x;
#pragma unroll
	for (int i = 0; i < 100; i++)
		v = __builtin_fmaf(v, x, x);
	out[threadIdx.x] = v;
}

typedef std::map<std::string, uint64_t> values_t;
static uint64_t last_sequence;

static void choose_or_die(const std::vector<const char *> &names)
{
	char error[200] = "";
	int status = choose(1, names.data(), names.size(), error, sizeof(error));

	if (status) {
		fprintf(stderr, "choosing failed: %s\n", error);
		_exit(1);
	}
}

/* Sums of all values of the one dispatch that `launch` makes. */
template <class L> static values_t count(const std::vector<const char *> &names, L launch)
{
	struct softgpu_result r;
	values_t out;
	int n = 0;

	choose_or_die(names);
	launch();
	HIP_OK(hipDeviceSynchronize());
	choose_or_die({});
	for (; !next_result(1, last_sequence, &r); n++) {
		last_sequence = r.sequence;
		for (uint32_t k = 0; k < r.n_values; k++) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < r.values[k].n_values; i++)
				sum += r.values[k].values[i];
			out[r.values[k].name] = sum;
		}
		out["duration"] = r.duration_ns;
	}
	drop(1, last_sequence);
	CHECK(n == 1, "%d results of one dispatch", n);
	return out;
}

static void expect(const values_t &got, const char *name, uint64_t want)
{
	auto it = got.find(name);

	CHECK(it != got.end() && it->second == want, "%s is %lu, not %lu", name,
	      it == got.end() ? 0ul : (unsigned long)it->second, (unsigned long)want);
}

enum { GFX90A, GFX908, GFX94X, N_GENERATIONS }; /* the last: MI300 and MI350 */

struct known {
	const char *name;
	uint64_t values[N_GENERATIONS]; /* ~0: not a counter of that GPU, or not the same on all of them */
};

/* vcopy of 1048576 doubles in workgroups of 256, as recorded on MI200, MI100, and MI300X, MI300A and MI350 */
static const known recorded[] = {
	{ "SQ_WAVES", { 16384, 16384, 16384 } },
	{ "SQ_WAVES_EQ_64", { 16384, 16384, 16384 } },
	{ "SQ_ITEMS", { 1048576, 1048576, 1048576 } },
	{ "SQ_INSTS", { 393216, 393216, 327680 } },
	{ "SQ_INSTS_VALU", { 163840, 163840, 98304 } },
	{ "SQ_INSTS_VALU_INT32", { 114688, ~0ull, 49152 } },
	{ "SQ_INSTS_SALU", { 49152, 49152, 49152 } },
	{ "SQ_INSTS_SMEM", { 65536, 65536, 65536 } },
	{ "SQ_INSTS_BRANCH", { 16384, 16384, 16384 } },
	{ "SQ_INSTS_SENDMSG", { 16384, 16384, 16384 } },
	{ "SQ_INSTS_VMEM", { 32768, 32768, 32768 } },
	{ "SQ_INSTS_FLAT", { 32768, 32768, 32768 } },
	{ "SQ_ACTIVE_INST_ANY", { 344064, 360448, 278528 } },
	{ "SQ_ACTIVE_INST_VALU", { 163840, 180224, 98304 } },
	{ "SQ_ACTIVE_INST_SCA", { 114688, 114688, 114688 } },
	{ "SQ_THREAD_CYCLES_VALU", { 10485760, 11534336, 6291456 } },
	{ "SQ_IFETCH", { 65536, 65536, 65536 } },
	{ "SQC_DCACHE_REQ", { 65536, 65536, 65536 } },
	{ "SQC_DCACHE_REQ_READ_1", { 32768, 32768, 32768 } },
	{ "SQC_DCACHE_REQ_READ_2", { 32768, 32768, 32768 } },
	{ "SPI_CSN_WAVE", { 16384, 16384, 16384 } },
	{ "SPI_CSN_NUM_THREADGROUPS", { 4096, 4096, 4096 } },
	{ "SPI_SWC_CSC_WR", { 32768, 81920, 32768 } },
	{ "TA_FLAT_READ_WAVEFRONTS_sum", { 16384, 16384, 16384 } },
	{ "TD_LOAD_WAVEFRONT_sum", { 32768, 32768, 32768 } },
	{ "TCP_TOTAL_ACCESSES_sum", { 2097152, 2097152, 2097152 } },
	{ "TCP_TOTAL_CACHE_ACCESSES_sum", { 524288, 524288, 524288 } },
	{ "TCP_TCC_READ_REQ_sum", { 131072, 131072, 65536 } },
	{ "TCP_TCC_WRITE_REQ_sum", { 131072, 131072, 131072 } },
	{ "TCP_UTCL1_TRANSLATION_MISS_sum", { 832, 960, ~0ull } },
	{ "TCC_WRITE_sum", { 131072, 131072, 131072 } },
	{ "TCC_WRITE[31]", { 4096, 4096, ~0ull } },
	{ "TCC_EA0_RDREQ_32B_sum", { 0, 0, 0 } },
};

static const int n = 1048576;
static double *in, *out;

static void vcopy()
{
	vecCopy<<<n / 256, 256>>>(in, in, out, n, 1);
}

static void prepare()
{
	find(list_counters, "softgpu_counters");
	find(choose, "softgpu_count");
	find(next_result, "softgpu_next_result");
	find(drop, "softgpu_drop");
	find(pc_sampling, "softgpu_pc_sampling");
	find(pc_samples, "softgpu_pc_samples");
	HIP_OK(hipMalloc(&in, n * sizeof(double)));
	HIP_OK(hipMalloc(&out, n * sizeof(double)));
	HIP_OK(hipMemset(in, 0, n * sizeof(double)));
	vecCopy<<<1, 64>>>(in, in, out, 1, 1); /* the runtime loads code with kernels of its own */
	HIP_OK(hipDeviceSynchronize());
}

static void recorded_counters_come_out(int generation)
{
	for (const known &k : recorded) {
		uint64_t want = k.values[generation];

		if (want != ~0ull)
			expect(count({ k.name }, vcopy), k.name, want);
	}
}

static void times_are_the_models(int generation)
{
	/* the recordings of MI300 have no times, and that of MI350 is of an early part */
	static const double recorded_times_ns[N_GENERATIONS] = { 16320, 18880, 0 };
	double recorded_ns = recorded_times_ns[generation];

	if (!recorded_ns)
		return;
	uint64_t ns = count({ "GRBM_COUNT" }, vcopy)["duration"];

	CHECK(ns > 0.7 * recorded_ns && ns < 1.3 * recorded_ns, "vcopy takes %lu ns", (unsigned long)ns);
}

/* Times and caches too: everything of a program's n-th dispatch is the same in every run. */
static int print_vcopy()
{
	hipDeviceProp_t properties;

	HIP_OK(hipGetDeviceProperties(&properties, 0));
	prepare();
	for (int pass = 0; pass < 2; pass++)
		for (auto &v : count({ "TCC_HIT", "TCC_MISS", "TCC_READ", "TCC_EA_RDREQ_LEVEL", "SQ_WAIT_ANY",
				       "SQ_INST_LEVEL_VMEM", "SQ_ACCUM_PREV_HIRES", "GRBM_COUNT" }, vcopy))
			printf("%s %lu\n", v.first.c_str(), (unsigned long)v.second);
	fflush(stdout);
	return n_failed_checks != 0;
}

static void counts_do_not_depend_on_the_workers()
{
	child_result first, second;

	setenv("WAVESCOPE_WORKERS", "1", 1);
	first = run_child(print_vcopy);
	setenv("WAVESCOPE_WORKERS", "3", 1);
	second = run_child(print_vcopy);
	unsetenv("WAVESCOPE_WORKERS");
	CHECK(first.status == 0 && second.status == 0, "%s%s", first.text.c_str(), second.text.c_str());
	CHECK(first.text == second.text, "one worker:\n%sthree:\n%s", first.text.c_str(),
	      second.text.c_str());
}

__global__ void stacked(float *out, int n)
{
	volatile float a[16];

	for (int i = 0; i < 16; i++)
		a[i] = out[threadIdx.x] + i;
	out[threadIdx.x] = a[(threadIdx.x + n) % 16];
}

/* One history per queue; which of them was the first is chance, so they are sorted. */
static int print_queues()
{
	const char *names[] = { "SQ_BUSY_CYCLES", "SQ_WAIT_ANY", "TCC_HIT", "TCC_EA_WRREQ", "TCP_PENDING_STALL_CYCLES_sum",
				"SQ_LDS_BANK_CONFLICT", "SQC_ICACHE_MISSES", "GRBM_COUNT" };
	std::map<uint64_t, std::map<uint64_t, std::string>> by_queue;
	std::vector<std::thread> hosts;
	std::vector<std::string> histories;
	struct softgpu_result r;
	hipStream_t streams[3];
	float *buffers[3];

	prepare();
	for (int s = 0; s < 3; s++) {
		HIP_OK(hipStreamCreate(&streams[s]));
		HIP_OK(hipMalloc(&buffers[s], 65536));
		HIP_OK(hipMemset(buffers[s], 0, 65536));
		fma_chain<<<1, 64, 0, streams[s]>>>(buffers[s], 1); /* queues are made when they are used */
	}
	HIP_OK(hipDeviceSynchronize());
	choose_or_die(std::vector<const char *>(names, names + 8));
	for (int s = 0; s < 3; s++)
		hosts.emplace_back([&, s] {
			for (int turn = 0; turn < 4; turn++) {
				vecCopy<<<256 + 64 * s, 256, 0, streams[s]>>>(in, in, out + 262144 * s, 1 << 18, 1);
				lds_stride<<<4, 64, 16384, streams[s]>>>((int *)buffers[s], 3 + s);
				stacked<<<64, 256, 0, streams[s]>>>(buffers[s], s);
				atomics<<<32 + s, 64, 0, streams[s]>>>((int *)buffers[s]);
			}
		});
	for (auto &host : hosts)
		host.join();
	HIP_OK(hipDeviceSynchronize());
	choose_or_die({});
	for (uint64_t last = 0; !next_result(1, last, &r); last = r.sequence) {
		std::string line = std::to_string(r.duration_ns);

		for (uint32_t k = 0; k < r.n_values; k++)
			for (uint32_t i = 0; i < r.values[k].n_values; i++)
				line += " " + std::to_string(r.values[k].values[i]);
		by_queue[r.queue][r.packet] = line + "\n";
	}
	for (auto &queue : by_queue) {
		histories.emplace_back();
		for (auto &line : queue.second)
			histories.back() += line.second;
		CHECK(queue.second.size() == 16, "%zu dispatches", queue.second.size());
	}
	CHECK(histories.size() == 3, "%zu queues", histories.size());
	std::sort(histories.begin(), histories.end());
	for (auto &history : histories)
		printf("queue\n%s", history.c_str());
	fflush(stdout);
	return n_failed_checks != 0;
}

static void counts_of_several_queues_do_not_depend_on_the_workers()
{
	std::string first;

	for (const char *workers : { "1", "2", "5" }) {
		setenv("WAVESCOPE_WORKERS", workers, 1);
		child_result r = run_child(print_queues);
		unsetenv("WAVESCOPE_WORKERS");
		CHECK(r.status == 0 && r.text.find("queue") != std::string::npos, "%s", r.text.c_str());
		if (first.empty())
			first = r.text;
		CHECK(r.text == first, "%s workers count differently", workers);
	}
}

static void bank_conflicts_follow_the_stride(bool gfx950)
{
	int *result;
	int together = gfx950 ? 1 : 2; /* groups of lanes that are served together: 64 banks, or 32 */

	HIP_OK(hipMalloc(&result, 4096));
	for (int stride : { 1, 2, 4, 8, 16, 32 }) {
		values_t v = count({ "SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE", "SQ_INSTS_LDS" },
				   [&] { lds_stride<<<1, 64, 16384>>>(result, stride); });

		/* each group takes `stride` turns */
		expect(v, "SQ_LDS_BANK_CONFLICT", together * (stride - 1));
		expect(v, "SQ_INSTS_LDS", 2);
	}
	HIP_OK(hipFree(result));
}

static void classes_are_counted(int generation)
{
	float *result;
	values_t v;

	HIP_OK(hipMalloc(&result, 4096));
	if (generation != GFX908) {
		v = count({ "SQ_INSTS_VALU_FMA_F32", "SQ_INSTS_VALU_FMA_F64", "SQ_INSTS_MFMA" },
			  [&] { fma_chain<<<3, 128>>>(result, 0.5f); });
		expect(v, "SQ_INSTS_VALU_FMA_F32", 3 * 2 * 100);
		expect(v, "SQ_INSTS_VALU_FMA_F64", 0);
	}
	v = count({ "TCP_TOTAL_ATOMIC_WITHOUT_RET_sum", "TCC_ATOMIC_sum", "TA_FLAT_ATOMIC_WAVEFRONTS_sum" },
		  [&] { atomics<<<2, 64>>>((int *)result); });
	expect(v, "TA_FLAT_ATOMIC_WAVEFRONTS_sum", 2);
	expect(v, "TCC_ATOMIC_sum", 2 * 4); /* 256 bytes by lines of 64 */
	HIP_OK(hipFree(result));
}

static void bad_choices_are_refused()
{
	const char *unknown[] = { "SQ_WAVESS" }, *none[] = { "TD_SPI_STALL" }, *accumulator[] = { "SQ_ACCUM_PREV_HIRES" };
	const char *many[] = { "TA_TA_BUSY", "TA_TOTAL_WAVEFRONTS_sum", "TA_FLAT_WAVEFRONTS[3]" };
	const char *beyond[] = { "TCC_HIT[128]" }; /* no GPU has more channels */
	char error[200];

	CHECK(choose(1, unknown, 1, error, sizeof(error)) == EINVAL, "%s", error);
	CHECK(choose(1, none, 1, error, sizeof(error)) == EINVAL, "%s", error);
	CHECK(choose(1, accumulator, 1, error, sizeof(error)) == EINVAL, "%s", error);
	CHECK(choose(1, beyond, 1, error, sizeof(error)) == EINVAL, "%s", error);
	CHECK(choose(1, many, 3, error, sizeof(error)) == E2BIG, "%s", error);
	CHECK(choose(9, unknown, 1, error, sizeof(error)) == ENODEV, "%s", error);
}

static void samples_say_where_waves_are()
{
	static struct softgpu_pc_sample samples[65536];
	struct softgpu_result r;
	uint64_t n_waiting = 0, n_got;

	CHECK(pc_sampling(1, 1) == EINVAL, "an interval of one cycle");
	HIP_OK(hipDeviceSynchronize());
	CHECK(!pc_sampling(1, 1024), "sampling is refused");
	vcopy();
	HIP_OK(hipDeviceSynchronize());
	pc_sampling(1, 0);
	CHECK(!next_result(1, last_sequence, &r), "no result");
	last_sequence = r.sequence;
	n_got = pc_samples(1, r.sequence, 0, samples, 65536);
	CHECK(n_got && n_got == r.n_pc_samples, "%lu of %lu samples", (unsigned long)n_got,
	      (unsigned long)r.n_pc_samples);
	for (uint64_t k = 0; k < n_got; k++) {
		/* not issued (bit 1), and the reason in bits 7 to 9 is s_waitcnt's */
		n_waiting += (samples[k].snapshot & 0x382) == 0x100;
		CHECK(samples[k].pc - samples[0].pc + 128 < 256, "pc 0x%lx", (unsigned long)samples[k].pc);
	}
	CHECK(n_waiting * 2 > n_got, "%lu of %lu samples wait for memory", (unsigned long)n_waiting,
	      (unsigned long)n_got);
	drop(1, last_sequence);
}

int main()
{
	hipDeviceProp_t properties;
	int generation;

	counts_do_not_depend_on_the_workers(); /* these fork: before HIP is there */
	counts_of_several_queues_do_not_depend_on_the_workers();
	HIP_OK(hipGetDeviceProperties(&properties, 0));
	generation = strstr(properties.gcnArchName, "gfx90a")	? GFX90A
		     : strstr(properties.gcnArchName, "gfx908") ? GFX908
								: GFX94X;
	prepare();
	CHECK(list_counters(1, NULL, 0) > 150, "%zu counters", list_counters(1, NULL, 0));

	bad_choices_are_refused();
	recorded_counters_come_out(generation);
	times_are_the_models(generation);
	bank_conflicts_follow_the_stride(strstr(properties.gcnArchName, "gfx950") != NULL);
	classes_are_counted(generation);
	samples_say_where_waves_are();
	return finish();
}
