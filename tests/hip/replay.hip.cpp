/*
 * replay: sets of counters chosen dispatch by dispatch, and kernels that are run once for each set.
 * Memory must hold what one run leaves, and every value must be the one that a run of its own gives.
 */
#include "tests/hip/hiptest.h"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <set>
#include <sstream>
#include <thread>
extern "C" {
#include "softgpu/counters/service.h"
}

static decltype(&softgpu_count_sets) count_sets;
static decltype(&softgpu_next_result) next_result;
static decltype(&softgpu_drop) drop;

template <class F> static void find(F &f, const char *name)
{
	f = (F)dlsym(RTLD_DEFAULT, name);
	if (!f)
		skip("not the software GPU: no counting service");
}

static void find_service()
{
	find(count_sets, "softgpu_count_sets");
	find(next_result, "softgpu_next_result");
	find(drop, "softgpu_drop");
}

/* ---- kernels that would give themselves away if memory were not put back ---- */

static const int n = 16384;

__global__ void in_place(unsigned *data, unsigned *)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;

	data[id] = data[id] * 3 + 1;
}

/* bytes beside each other from different waves, and every third one only */
__global__ void bytes(unsigned *data, unsigned *)
{
	unsigned char *p = (unsigned char *)data;
	int id = blockIdx.x * blockDim.x + threadIdx.x;

	p[3 * (n - 1 - id)] += 7;
}

__global__ void histogram(unsigned *data, unsigned *bins)
{
	__shared__ unsigned local[64];
	int id = blockIdx.x * blockDim.x + threadIdx.x;

	if (threadIdx.x < 64)
		local[threadIdx.x] = 0;
	__syncthreads();
	atomicAdd(&local[data[id] & 63], 1u);
	__syncthreads();
	if (threadIdx.x < 64)
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
	atomicMax(&bins[64 + (id & 7)], data[id]);
	data[id] ^= atomicCAS(&bins[100 + blockIdx.x], 0u, 0u) + 1;
}

/* 16 bytes per lane with a gap, some lanes switched off, and 64-bit atomics */
__global__ void wide(unsigned *data, unsigned *bins)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	uint4 *p = (uint4 *)data;

	if (id % 3 == 0 && id < n / 4) {
		uint4 v = p[id];

		v.x += 1, v.y += 2, v.z += v.w;
		p[id] = v;
	}
	atomicAdd((unsigned long long *)(bins + 2 * (id & 31)), 1ull << 33 | 5);
}

/* the stack is the wave's own, and needs no saving */
__global__ void stack(unsigned *data, unsigned *bins)
{
	int id = blockIdx.x * blockDim.x + threadIdx.x;
	volatile unsigned a[24];

	for (int i = 0; i < 24; i++)
		a[i] = data[id] + i;
	data[id] = a[data[id] % 24] + a[id % 24] + bins[7];
}

typedef void (*kernel)(unsigned *, unsigned *);
static const struct {
	const char *name;
	kernel run;
} kernels[] = {
	{ "in_place", in_place }, { "bytes", bytes }, { "histogram", histogram }, { "wide", wide },
	{ "stack", stack },
};

/* ---- sets ---- */

static const char *set0[] = { "SQ_WAVES", "SQ_INSTS_VALU", "SQ_BUSY_CYCLES" };
static const char *set1[] = { "TCC_HIT", "TCC_MISS_sum", "SQ_WAIT_ANY", "GRBM_COUNT" };
static const char *set2[] = { "TCP_TCC_WRITE_REQ_sum", "SQC_ICACHE_MISSES", "SQ_INSTS_LDS" };
static const softgpu_set sets[] = { { set0, 3 }, { set1, 4 }, { set2, 3 } };
static const size_t n_sets = 3;

struct chooser {
	uint32_t answer;              /* of all dispatches; or, if script is not empty, one by one */
	std::vector<uint32_t> script;
	std::atomic<unsigned> n_calls{0};
	softgpu_dispatch last;
};

static uint32_t choose(void *user, const softgpu_dispatch *dispatch)
{
	chooser *c = (chooser *)user;
	unsigned k = c->n_calls++;

	c->last = *dispatch;
	return k < c->script.size() ? c->script[k] : c->answer;
}

static void begin(chooser &c)
{
	char error[200] = "";
	int status = count_sets(1, sets, n_sets, choose, &c, error, sizeof(error));

	CHECK(!status, "%s", error);
}

static void end()
{
	char error[200] = "";

	CHECK(!count_sets(1, NULL, 0, NULL, NULL, error, sizeof(error)), "%s", error);
}

struct result {
	struct softgpu_result head;
	std::vector<std::pair<std::string, std::vector<uint64_t>>> values;
};

static uint64_t last_sequence;

static std::vector<result> take_results()
{
	std::vector<result> all;
	struct softgpu_result r;

	while (!next_result(1, last_sequence, &r)) {
		result one = { r, {} };

		last_sequence = r.sequence;
		for (uint32_t k = 0; k < r.n_values; k++)
			one.values.push_back({ r.values[k].name,
					       std::vector<uint64_t>(r.values[k].values,
								     r.values[k].values + r.values[k].n_values) });
		all.push_back(one);
	}
	drop(1, last_sequence);
	return all;
}

/* ---- the tests ---- */

struct buffers {
	unsigned *data, *bins;
	hipStream_t stream;

	explicit buffers(bool host = false)
	{
		if (host) {
			HIP_OK(hipHostMalloc((void **)&data, n * 4, 0));
			HIP_OK(hipHostMalloc((void **)&bins, 1024 * 4, 0));
		} else {
			HIP_OK(hipMalloc(&data, n * 4));
			HIP_OK(hipMalloc(&bins, 1024 * 4));
		}
		HIP_OK(hipStreamCreate(&stream));
	}
	void fill()
	{
		std::vector<unsigned> v(n);

		for (int k = 0; k < n; k++)
			v[k] = 2654435761u * k;
		HIP_OK(hipMemcpy(data, v.data(), n * 4, hipMemcpyDefault));
		HIP_OK(hipMemset(bins, 0, 1024 * 4));
		HIP_OK(hipDeviceSynchronize());
	}
	std::vector<unsigned> read()
	{
		std::vector<unsigned> v(n + 1024);

		HIP_OK(hipStreamSynchronize(stream));
		HIP_OK(hipMemcpy(v.data(), data, n * 4, hipMemcpyDefault));
		HIP_OK(hipMemcpy(v.data() + n, bins, 1024 * 4, hipMemcpyDefault));
		return v;
	}
};

/* The first launch loads code, with kernels of the runtime's own. */
static void warm_up()
{
	buffers b;

	b.fill();
	in_place<<<1, 64, 0, b.stream>>>(b.data, b.bins);
	b.read();
}

static uint32_t mode; /* of a child: a set, or replay, or plain */

/* Every kernel twice, cold and warm, in device and in host memory: one line for each value and what it left. */
static int print_all()
{
	chooser c;

	find_service();
	c.answer = mode;
	warm_up();
	for (bool host : { false, true }) {
		buffers b(host);

		for (auto &k : kernels) {
			b.fill();
			begin(c);
			for (int turn = 0; turn < 2; turn++)
				k.run<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
			std::vector<unsigned> left = b.read();
			end();
			uint64_t digest = 14695981039346656037ull, turn = 0;
			for (unsigned v : left)
				digest = (digest ^ v) * 1099511628211ull;
			printf("memory %d %s %lx\n", host, k.name, (unsigned long)digest);
			for (const result &r : take_results()) {
				bool replay = mode == SOFTGPU_REPLAY;

				CHECK(r.head.set == mode && r.head.n_runs == (replay ? n_sets : 1), "set %u, %u runs",
				      r.head.set, r.head.n_runs);
				CHECK(replay == (r.head.saved_bytes != 0) && replay == (r.head.replay_host_ns != 0),
				      "%lu bytes", (unsigned long)r.head.saved_bytes);
				printf("value %d %s %lu duration %lu\n", host, k.name, (unsigned long)turn,
				       (unsigned long)r.head.duration_ns);
				for (auto &v : r.values) {
					printf("value %d %s %lu %s", host, k.name, (unsigned long)turn, v.first.c_str());
					for (uint64_t x : v.second)
						printf(" %lu", (unsigned long)x);
					printf("\n");
				}
				turn++;
			}
			CHECK(turn == (mode == SOFTGPU_PLAIN ? 0 : 2), "%lu results", (unsigned long)turn);
		}
	}
	fflush(stdout);
	return n_failed_checks != 0;
}

/* The lines that begin with `what`, each once. */
static std::set<std::string> lines(const std::string &text, const char *what)
{
	std::set<std::string> all;
	std::istringstream in(text);

	for (std::string line; std::getline(in, line);)
		if (!line.compare(0, strlen(what), what))
			all.insert(line);
	return all;
}

static std::set<std::string> run_mode(uint32_t how, const char *workers, const std::set<std::string> *memory,
				      std::set<std::string> *out_memory)
{
	mode = how;
	setenv("WAVESCOPE_WORKERS", workers, 1);
	child_result r = run_child(print_all);
	unsetenv("WAVESCOPE_WORKERS");
	std::set<std::string> left = lines(r.text, "memory ");

	CHECK(r.status == 0, "%s", r.text.c_str());
	CHECK(left.size() == 10 && (!memory || left == *memory), "memory differs:\n%s", r.text.c_str());
	if (out_memory)
		*out_memory = left;
	return lines(r.text, "value ");
}

/* Application replay and kernel replay, with different numbers of workers: the same values and memory. */
static void replayed_equals_separate_runs()
{
	std::set<std::string> memory, separate, replayed;

	run_mode(SOFTGPU_PLAIN, "2", NULL, &memory);
	for (uint32_t s = 0; s < n_sets; s++)
		separate.merge(run_mode(s, s & 1 ? "3" : "1", &memory, NULL));
	replayed = run_mode(SOFTGPU_REPLAY, "2", &memory, NULL);
	CHECK(replayed.size() == 20 * 11, "%zu values", replayed.size());
	CHECK(replayed == separate, "%zu and %zu lines", replayed.size(), separate.size());
	for (auto &line : replayed)
		if (!separate.count(line))
			fprintf(stderr, "  only replayed: %s\n", line.c_str());
	for (auto &line : separate)
		if (!replayed.count(line))
			fprintf(stderr, "  only separate: %s\n", line.c_str());
}

/* What is saved is what is written, to the byte. */
static void saved_bytes_are_the_write_set()
{
	static const uint64_t want[] = { n * 4, n };
	buffers b;
	chooser c;

	c.answer = SOFTGPU_REPLAY;
	for (int k = 0; k < 2; k++) {
		b.fill();
		begin(c);
		kernels[k].run<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
		HIP_OK(hipStreamSynchronize(b.stream));
		end();
		std::vector<result> r = take_results();
		CHECK(r.size() == 1 && r[0].head.saved_bytes == want[k], "%s: %lu bytes", kernels[k].name,
		      r.empty() ? 0ul : (unsigned long)r[0].head.saved_bytes);
	}
}

static void several_queues_replay_at_the_same_time()
{
	std::vector<buffers> queues(3);
	std::vector<std::vector<unsigned>> want;
	chooser c;

	c.answer = SOFTGPU_REPLAY;
	for (buffers &b : queues) {
		b.fill();
		for (auto &k : kernels)
			k.run<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
		want.push_back(b.read());
		b.fill();
	}
	begin(c);
	for (auto &k : kernels)
		for (buffers &b : queues)
			k.run<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
	HIP_OK(hipDeviceSynchronize());
	end();
	for (size_t q = 0; q < queues.size(); q++)
		check_equal("a queue of several", queues[q].read(), want[q]);
	size_t n_results = 0;
	for (auto &r : take_results()) {
		n_results++;
		CHECK(r.head.n_runs == n_sets && r.values.size() == 10, "%u runs, %zu values", r.head.n_runs,
		      r.values.size());
	}
	CHECK(n_results == 3 * 5, "%zu results", n_results);
}

/* As many as a GPU with many counters needs, and more: each run may take as long as the first one. */
static void a_kernel_is_run_for_each_of_many_sets()
{
	std::vector<softgpu_set> many(100, sets[0]);
	char error[200] = "";
	buffers b;
	chooser c;

	many.back() = sets[2];
	c.answer = SOFTGPU_REPLAY;
	b.fill();
	in_place<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
	std::vector<unsigned> want = b.read();
	b.fill();
	CHECK(!count_sets(1, many.data(), many.size(), choose, &c, error, sizeof(error)), "%s", error);
	in_place<<<n / 256, 256, 0, b.stream>>>(b.data, b.bins);
	HIP_OK(hipStreamSynchronize(b.stream));
	end();
	check_equal("many runs", b.read(), want);
	std::vector<result> r = take_results();
	CHECK(r.size() == 1 && r[0].head.n_runs == many.size(), "%zu results, %u runs", r.size(),
	      r.empty() ? 0 : r[0].head.n_runs);
}

static void chooser_decides_each_dispatch()
{
	buffers b;
	chooser c;

	c.script = { 0, SOFTGPU_PLAIN, 2, 77, SOFTGPU_REPLAY };
	c.answer = SOFTGPU_PLAIN;
	b.fill();
	begin(c);
	for (int k = 0; k < 7; k++)
		in_place<<<n / 128, 128, 0, b.stream>>>(b.data, b.bins);
	HIP_OK(hipStreamSynchronize(b.stream));
	end();
	CHECK(c.n_calls == 7, "the chooser was asked %u times", c.n_calls.load());
	CHECK(c.last.grid[0] == (uint32_t)n && c.last.workgroup[0] == 128 && c.last.grid[1] == 1,
	      "grid %u, workgroup %u", c.last.grid[0], c.last.workgroup[0]);
	std::vector<result> r = take_results();
	CHECK(r.size() == 3, "%zu results", r.size());
	CHECK(r[0].head.set == 0 && r[1].head.set == 2 && r[2].head.set == SOFTGPU_REPLAY, "other sets");
	CHECK(r[0].head.packet + 2 == r[1].head.packet && r[1].head.packet + 2 == r[2].head.packet,
	      "other dispatches");
	CHECK(r[0].values.size() == 3 && r[0].values[0].second.size() > 0 &&
	      r[0].values[0].first == "SQ_WAVES", "other values");
}

/* ---- kernels that cannot be run again ---- */

__global__ void speak(unsigned *data)
{
	if (threadIdx.x == 0)
		printf("said once\n");
	data[threadIdx.x]++;
}

__global__ void converse(volatile unsigned *mail, unsigned *data)
{
	data[0] += 5;
	for (unsigned turn = 1; turn <= 2; turn++) {
		__hip_atomic_store((unsigned *)&mail[0], turn, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
		while (__hip_atomic_load((unsigned *)&mail[1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) !=
		       turn)
			__builtin_amdgcn_s_sleep(1);
	}
	data[1] += 7;
}

static int say()
{
	chooser c;
	unsigned *data, got[64];

	find_service();
	HIP_OK(hipMalloc(&data, 256));
	HIP_OK(hipMemset(data, 0, 256));
	warm_up();
	c.answer = SOFTGPU_REPLAY;
	begin(c);
	speak<<<1, 64>>>(data);
	HIP_OK(hipDeviceSynchronize());
	end();
	HIP_OK(hipMemcpy(got, data, 256, hipMemcpyDefault));
	std::vector<result> r = take_results();
	const result &last = r.back();
	CHECK(got[63] == 1, "it ran %u times", got[63]);
	CHECK(last.head.n_runs == 1 && last.head.set == SOFTGPU_REPLAY && last.values.size() == 10,
	      "%u runs, %zu values", last.head.n_runs, last.values.size());
	fflush(stdout);
	return n_failed_checks != 0;
}

static void what_speaks_runs_once()
{
	child_result r = run_child(say);
	size_t first = r.text.find("said once");

	CHECK(r.status == 0, "%s", r.text.c_str());
	CHECK(first != std::string::npos && r.text.find("said once", first + 1) == std::string::npos, "%s",
	      r.text.c_str());
}

/* The host answers each turn once: a second run waits in vain, and is given up. */
static void what_waits_for_the_host_keeps_its_first_run()
{
	unsigned *mail, *data, got[2];
	chooser c;

	HIP_OK(hipHostMalloc((void **)&mail, 64, 0));
	HIP_OK(hipMalloc(&data, 64));
	HIP_OK(hipMemset(data, 0, 64));
	HIP_OK(hipDeviceSynchronize()); /* HIP 5.7 does not wait for the kernel that sets memory */
	mail[0] = mail[1] = 0;
	c.answer = SOFTGPU_REPLAY;
	std::thread host([&] {
		for (unsigned turn = 1; turn <= 2; turn++) {
			while (__atomic_load_n(&mail[0], __ATOMIC_ACQUIRE) != turn)
				std::this_thread::yield();
			__atomic_store_n(&mail[1], turn, __ATOMIC_RELEASE);
		}
	});
	begin(c);
	converse<<<1, 1>>>(mail, data);
	HIP_OK(hipDeviceSynchronize());
	end();
	host.join();
	HIP_OK(hipMemcpy(got, data, 8, hipMemcpyDefault));
	CHECK(got[0] == 5 && got[1] == 7 && mail[0] == 2 && mail[1] == 2, "%u %u, mail %u %u", got[0], got[1],
	      mail[0], mail[1]);
	std::vector<result> r = take_results();
	CHECK(r.size() == 1 && r[0].head.n_runs == 1 && r[0].values.size() == 10, "%zu results", r.size());
}

static void bad_sets_are_refused()
{
	static const char *bad[] = { "SQ_WAVES", "SQ_NOTHING" };
	softgpu_set with_bad[] = { { set0, 3 }, { bad, 2 } };
	char error[200] = "";

	CHECK(count_sets(1, with_bad, 2, NULL, NULL, error, sizeof(error)) == EINVAL, "accepted");
	CHECK(strstr(error, "set 1") && strstr(error, "SQ_NOTHING"), "%s", error);
	CHECK(count_sets(9, sets, 1, NULL, NULL, error, sizeof(error)) == ENODEV, "%s", error);
}

int main()
{
	what_speaks_runs_once(); /* these fork: before HIP is there */
	replayed_equals_separate_runs();
	find_service();
	warm_up();
	bad_sets_are_refused();
	saved_bytes_are_the_write_set();
	several_queues_replay_at_the_same_time();
	a_kernel_is_run_for_each_of_many_sets();
	chooser_decides_each_dispatch();
	what_waits_for_the_host_keeps_its_first_run();
	return finish();
}
