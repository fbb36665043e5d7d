// overlap: kernels of several streams that notice when another one runs. Prints how many did.
//
//	overlap ROUNDS TURNS
//
// A kernel waits for another one to come, for so many turns of a loop. Streams also wait for each other by events, in both directions, and one launches a cooperative
// kernel: none of that may keep a kernel from ending.
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static const int STREAMS = 3;

struct shared {
	int inside, n_met, n_done;
};

static __device__ void stay(shared *s, int turns)
{
	if (threadIdx.x == 0 && blockIdx.x == 0) {
		bool met = atomicAdd(&s->inside, 1) != 0;

		for (int i = 0; i < turns && !met; i++)
			met = *(volatile int *)&s->inside != 1;
		atomicSub(&s->inside, 1);
		if (met)
			atomicAdd(&s->n_met, 1);
		atomicAdd(&s->n_done, 1);
	}
}

__global__ void some(shared *s, int turns)
{
	stay(s, turns);
}

__global__ void together(shared *s, int turns)
{
	cooperative_groups::this_grid().sync();
	stay(s, turns);
}

static void must(hipError_t status, const char *what)
{
	if (status != hipSuccess) {
		fprintf(stderr, "overlap: %s: %s\n", what, hipGetErrorString(status));
		exit(1);
	}
}

static void launch(shared *s, hipStream_t stream, int n_rounds, int turns)
{
	for (int i = 0; i < n_rounds; i++)
		hipLaunchKernelGGL(some, dim3(1), dim3(64), 0, stream, s, turns);
	must(hipGetLastError(), "launch");
	must(hipStreamSynchronize(stream), "hipStreamSynchronize");
}

int main(int argc, char **argv)
{
	int n_rounds = argc == 3 ? atoi(argv[1]) : 1, turns = argc == 3 ? atoi(argv[2]) : 1000, n = 0;
	hipStream_t streams[STREAMS];
	std::vector<std::thread> threads;
	hipEvent_t events[2];
	shared *s;

	must(hipHostMalloc(&s, sizeof(*s), hipHostMallocCoherent), "hipHostMalloc");
	*s = {};
	for (auto &stream : streams)
		must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreate");
	for (auto &event : events)
		must(hipEventCreateWithFlags(&event, hipEventDisableTiming), "hipEventCreate");
	for (auto stream : streams)
		threads.emplace_back(launch, s, stream, n_rounds, turns);
	for (auto &thread : threads)
		thread.join();
	n += STREAMS * n_rounds;
	// to and fro: each stream's kernel waits for the other's
	for (int i = 0; i < n_rounds; i++) {
		for (int k = 0; k < 2; k++) {
			hipLaunchKernelGGL(some, dim3(1), dim3(64), 0, streams[k], s, 10);
			must(hipEventRecord(events[k], streams[k]), "hipEventRecord");
			must(hipStreamWaitEvent(streams[1 - k], events[k], 0), "hipStreamWaitEvent");
		}
	}
	n += 2 * n_rounds;
	void *arguments[] = { &s, &n_rounds };
	must(hipLaunchCooperativeKernel((void *)together, dim3(4), dim3(64), arguments, 0, streams[2]),
	     "hipLaunchCooperativeKernel");
	n++;
	must(hipDeviceSynchronize(), "hipDeviceSynchronize");
	printf("%d of %d kernels met another\n", s->n_met, s->n_done);
	return s->n_done == n ? 0 : 1;
}
