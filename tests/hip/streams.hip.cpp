/*
 * Streams, events and timing: order within a stream, waits between streams, queries, priorities,
 * the blocking rules of the default stream, times that make sense, waits that leave the cores to the GPU.
 */
#include "hiptest.h"

__global__ void append(unsigned *log, unsigned *cursor, unsigned what)
{
	log[atomicAdd(cursor, 1u)] = what;
}

/* Busy for a while: a chain of dependent integer operations that cannot be folded. */
__global__ void spin(unsigned *out, unsigned turns)
{
	unsigned x = threadIdx.x;

	for (unsigned i = 0; i < turns; i++)
		x = x * 1664525u + 1013904223u;
	out[threadIdx.x] = x;
}

static void order_within_a_stream()
{
	device_buffer<unsigned> log(64), cursor(1);
	hipStream_t s;

	cursor.clear();
	HIP_OK(hipStreamCreate(&s));
	for (unsigned i = 0; i < 64; i++)
		append<<<1, 1, 0, s>>>(log.ptr, cursor.ptr, i);
	HIP_OK(hipStreamSynchronize(s));
	std::vector<unsigned> want(64);
	for (unsigned i = 0; i < 64; i++)
		want[i] = i;
	check_equal("order", log.download(), want);
	HIP_OK(hipStreamDestroy(s));
}

static void waits_between_streams()
{
	enum { N = 4, ROUNDS = 6 };
	device_buffer<unsigned> log(N * ROUNDS), cursor(1), sink(64);
	hipStream_t s[N];
	hipEvent_t e[N];
	std::vector<unsigned> want;

	cursor.clear();
	for (int i = 0; i < N; i++) {
		HIP_OK(hipStreamCreateWithFlags(&s[i], hipStreamNonBlocking));
		HIP_OK(hipEventCreateWithFlags(&e[i], hipEventDisableTiming));
	}
	HIP_OK(hipDeviceSynchronize());
	/* a token goes round the streams; the slow kernel makes a missing wait visible */
	for (int r = 0; r < ROUNDS; r++)
		for (int i = 0; i < N; i++) {
			if (r || i)
				HIP_OK(hipStreamWaitEvent(s[i], e[(i + N - 1) % N], 0));
			spin<<<1, 64, 0, s[i]>>>(sink.ptr, 2000 * (N - i));
			append<<<1, 1, 0, s[i]>>>(log.ptr, cursor.ptr, r * N + i);
			HIP_OK(hipEventRecord(e[i], s[i]));
			want.push_back(r * N + i);
		}
	HIP_OK(hipEventSynchronize(e[N - 1]));
	check_equal("token", log.download(), want);
	for (int i = 0; i < N; i++) {
		HIP_OK(hipEventDestroy(e[i]));
		HIP_OK(hipStreamDestroy(s[i]));
	}
}

static void times_make_sense()
{
	device_buffer<unsigned> sink(64);
	hipEvent_t a, b, c;
	float ab, bc, ac, ba;

	HIP_OK(hipEventCreate(&a));
	HIP_OK(hipEventCreate(&b));
	HIP_OK(hipEventCreate(&c));
	CHECK(hipEventElapsedTime(&ab, a, b) == hipErrorInvalidHandle, "events not recorded yet");

	hipStream_t s;
	HIP_OK(hipStreamCreate(&s));
	HIP_OK(hipEventRecord(a, s));
	spin<<<1, 64, 0, s>>>(sink.ptr, 20000);
	HIP_OK(hipEventRecord(b, s));
	spin<<<1, 64, 0, s>>>(sink.ptr, 20000);
	HIP_OK(hipEventRecord(c, s));
	HIP_OK(hipEventSynchronize(c));
	CHECK(hipEventQuery(a) == hipSuccess, "a is done when c is");
	CHECK(hipStreamQuery(s) == hipSuccess, "nothing is left");
	HIP_OK(hipEventElapsedTime(&ab, a, b));
	HIP_OK(hipEventElapsedTime(&bc, b, c));
	HIP_OK(hipEventElapsedTime(&ac, a, c));
	HIP_OK(hipEventElapsedTime(&ba, b, a));
	CHECK(ab > 0 && bc > 0, "a kernel takes time: %g %g ms", (double)ab, (double)bc);
	CHECK(fabsf(ac - (ab + bc)) <= 1e-3f * ac + 1e-4f, "%g + %g is not %g ms", (double)ab,
	      (double)bc, (double)ac);
	CHECK(fabsf(ab + ba) <= 1e-4f, "backwards is the negative: %g %g", (double)ab, (double)ba);
	CHECK(ac < 60000.0f, "%g ms is not a plausible time", (double)ac);
	HIP_OK(hipEventDestroy(a));
	HIP_OK(hipEventDestroy(b));
	HIP_OK(hipEventDestroy(c));
	HIP_OK(hipStreamDestroy(s));
}

static void unfinished_work_is_not_ready()
{
	volatile unsigned *gate;
	unsigned *gate_device;
	hipStream_t s;
	hipEvent_t e;

	/* hold the stream at a gate in pinned memory that the host opens later */
	HIP_OK(hipHostMalloc((void **)&gate, sizeof(unsigned), hipHostMallocCoherent));
	*gate = 0;
	HIP_OK(hipHostGetDevicePointer((void **)&gate_device, (void *)gate, 0));
	HIP_OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	HIP_OK(hipEventCreate(&e));
	HIP_OK(hipStreamWaitValue32(s, gate_device, 1, hipStreamWaitValueEq, 0xffffffff));
	HIP_OK(hipEventRecord(e, s));
	CHECK(hipStreamQuery(s) == hipErrorNotReady, "the gate is closed");
	CHECK(hipEventQuery(e) == hipErrorNotReady, "the gate is closed");
	(void)hipGetLastError();
	*gate = 1;
	HIP_OK(hipEventSynchronize(e));
	CHECK(hipEventQuery(e) == hipSuccess, "the gate is open");
	HIP_OK(hipEventDestroy(e));
	HIP_OK(hipStreamDestroy(s));
	HIP_OK(hipHostFree((void *)gate));
}

static void default_stream_waits_for_blocking_streams()
{
	device_buffer<unsigned> log(3), cursor(1), sink(64);
	hipStream_t s;

	cursor.clear();
	HIP_OK(hipStreamCreate(&s));
	spin<<<1, 64, 0, s>>>(sink.ptr, 20000);
	append<<<1, 1, 0, s>>>(log.ptr, cursor.ptr, 1);
	append<<<1, 1>>>(log.ptr, cursor.ptr, 2);
	append<<<1, 1, 0, s>>>(log.ptr, cursor.ptr, 3);
	HIP_OK(hipDeviceSynchronize());
	check_equal("default stream", log.download(), { 1, 2, 3 });
	HIP_OK(hipStreamDestroy(s));
}

static void priorities_and_flags()
{
	int least, greatest, priority;
	unsigned flags;
	hipStream_t s;

	HIP_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(greatest <= least, "%d .. %d", least, greatest);
	HIP_OK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, greatest));
	HIP_OK(hipStreamGetPriority(s, &priority));
	HIP_OK(hipStreamGetFlags(s, &flags));
	CHECK(priority == greatest, "%d", priority);
	CHECK(flags == hipStreamNonBlocking, "%u", flags);
	device_buffer<unsigned> sink(64);
	spin<<<1, 64, 0, s>>>(sink.ptr, 10);
	HIP_OK(hipStreamSynchronize(s));
	HIP_OK(hipStreamDestroy(s));
}

static void many_streams()
{
	enum { N = 40 };
	device_buffer<unsigned> sum(1);
	std::vector<hipStream_t> s(N);
	device_buffer<unsigned> logs(N * 2);

	sum.clear();
	for (int i = 0; i < N; i++)
		HIP_OK(hipStreamCreateWithFlags(&s[i], hipStreamNonBlocking));
	HIP_OK(hipDeviceSynchronize());
	for (int i = 0; i < N; i++)
		append<<<1, 2, 0, s[i]>>>(logs.ptr, sum.ptr, 1);
	HIP_OK(hipDeviceSynchronize());
	CHECK(sum.download()[0] == N * 2, "%u", sum.download()[0]);
	for (int i = 0; i < N; i++)
		HIP_OK(hipStreamDestroy(s[i]));
}

static double seconds(clockid_t clock)
{
	timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* A spinning thread takes a core from the kernel it waits for; HIP would do that. The first wait shows that it is long. */
static void waiting_thread_sleeps()
{
	device_buffer<unsigned> sink(64);
	double waited, used;

	spin<<<1, 64>>>(sink.ptr, 1000000);
	HIP_OK(hipDeviceSynchronize());
	waited = -seconds(CLOCK_MONOTONIC);
	used = -seconds(CLOCK_THREAD_CPUTIME_ID);
	spin<<<1, 64>>>(sink.ptr, 1000000);
	HIP_OK(hipDeviceSynchronize());
	waited += seconds(CLOCK_MONOTONIC);
	used += seconds(CLOCK_THREAD_CPUTIME_ID);
	CHECK(waited > 0.01, "the kernel takes only %f s", waited);
	CHECK(used < 0.1 * waited, "%f s of CPU time in %f s", used, waited);
}

int main()
{
	order_within_a_stream();
	waits_between_streams();
	times_make_sense();
	unfinished_work_is_not_ready();
	default_stream_waits_for_blocking_streams();
	priorities_and_flags();
	many_streams();
	waiting_thread_sleeps();
	return finish();
}
