/*
 * Kernels that take their time and queues that get stuck, for the tests of what the software GPU says of them.
 *
 *   stalls heavy SECONDS   computes, at least that long, in 400 workgroups
 *   stalls poll SECONDS    waits for the host, which sets the flag only then
 *   stalls half SECONDS    the same, and the workgroup's other waves wait at a barrier
 *   stalls event SECONDS   the same, and a second stream waits for the first
 *   stalls barrier SECONDS a barrier packet waits for a signal, which the host sets only then
 *   stalls unwritten SECONDS  a packet was reserved, and is written only then
 *   stalls packet          a packet that is none
 *   stalls leave           exits while a kernel runs
 *
 * With a number after SECONDS the host goes on as soon as so many lines in the file that is its stderr say "no
 * progress": on a busy machine they may come late.
 */
#include "samples/check.h"

#include <cstring>
#include <ctime>
#include <hsa/hsa.h>
#include <unistd.h>

/* The first workgroups are quick, so that some are done whenever somebody looks. */
__global__ void heavy_kernel(unsigned *out, unsigned n)
{
	unsigned x = threadIdx.x;

	if (gridDim.x > 4 && blockIdx.x < 4)
		n /= 64;
	for (unsigned i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	out[blockIdx.x] = x;
}

__global__ void poll_flag(volatile unsigned *flag, unsigned *out)
{
	while (!*flag)
		__builtin_amdgcn_s_sleep(8);
	out[0] = *flag;
}

__global__ void poll_and_barrier(volatile unsigned *flag, unsigned *out)
{
	if (threadIdx.x < 64)
		while (!*flag)
			__builtin_amdgcn_s_sleep(8);
	__syncthreads();
	out[threadIdx.x] = *flag;
}

static double cpu_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPU time of the threads that are the GPU: all but this one, which may poll. */
static double gpu_cpu_s()
{
	return cpu_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s(CLOCK_THREAD_CPUTIME_ID);
}

static unsigned n_said()
{
	FILE *file = fopen("/proc/self/fd/2", "r");
	char line[2048];
	unsigned n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, "no progress") != nullptr;
	if (file)
		fclose(file);
	return n;
}

/* For @seconds; with @n_lines until stderr has them. */
static void wait_s(double seconds, unsigned n_lines)
{
	for (double done = 0; done < seconds && (!n_lines || n_said() < n_lines); done += 0.02)
		usleep(20000);
}

static int heavy(double seconds)
{
	device_buffer<unsigned> out(400);
	double start, took = 0;
	unsigned n = 10000;

	heavy_kernel<<<4, 64>>>(out.ptr, 1); /* everything is loaded now */
	LAUNCH_OK();
	while (took < 0.05) { /* how fast this machine is, however busy it may be */
		n *= 2;
		start = gpu_cpu_s();
		heavy_kernel<<<4, 64>>>(out.ptr, n);
		LAUNCH_OK();
		took = gpu_cpu_s() - start;
	}
	n = (unsigned)(n * seconds * (double)sysconf(_SC_NPROCESSORS_ONLN) / (100 * took)) + 1;
	printf("begins\n");
	fflush(stdout);
	heavy_kernel<<<400, 64>>>(out.ptr, n);
	LAUNCH_OK();
	printf("ends\n");
	return 0;
}

static int poll(double seconds, unsigned n_lines, const char *how)
{
	device_buffer<unsigned> out(256);
	hipStream_t first, second;
	hipEvent_t event;
	unsigned *flag;

	HIP_OK(hipHostMalloc(&flag, sizeof(*flag)));
	HIP_OK(hipStreamCreate(&first));
	HIP_OK(hipStreamCreate(&second));
	HIP_OK(hipEventCreate(&event));
	*flag = 0;
	if (!strcmp(how, "half"))
		poll_and_barrier<<<1, 256, 0, first>>>(flag, out.ptr);
	else
		poll_flag<<<1, 64, 0, first>>>(flag, out.ptr);
	if (!strcmp(how, "event")) {
		HIP_OK(hipEventRecord(event, first));
		HIP_OK(hipStreamWaitEvent(second, event, 0));
		heavy_kernel<<<1, 64, 0, second>>>(out.ptr + 64, 10);
	}
	wait_s(seconds, n_lines);
	*(volatile unsigned *)flag = 9;
	LAUNCH_OK();
	printf("got %u\n", out.download()[0]);
	return 0;
}

/* --- queues without HIP --- */

#define HSA(call)                                                                                  \
	do {                                                                                       \
		if ((call) != HSA_STATUS_SUCCESS) {                                                \
			fprintf(stderr, "%s:%d: " #call "\n", __FILE__, __LINE__);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static hsa_status_t find_gpu(hsa_agent_t agent, void *out)
{
	hsa_device_type_t type;

	HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	*(hsa_agent_t *)out = agent;
	return HSA_STATUS_INFO_BREAK;
}

static void on_error(hsa_status_t status, hsa_queue_t *, void *)
{
	printf("queue error 0x%x\n", status);
	fflush(stdout);
	_exit(5);
}

static int raw_queue(double seconds, unsigned n_lines, const char *how)
{
	hsa_barrier_and_packet_t packet = {};
	uint16_t header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
	hsa_signal_t awaited, done;
	hsa_queue_t *queue;
	hsa_agent_t gpu;

	HSA(hsa_init());
	if (hsa_iterate_agents(find_gpu, &gpu) != HSA_STATUS_INFO_BREAK)
		return 77;
	HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, on_error, nullptr, 0, 0, &queue));
	HSA(hsa_signal_create(3, 0, nullptr, &awaited));
	HSA(hsa_signal_create(1, 0, nullptr, &done));
	packet.header = HSA_PACKET_TYPE_INVALID;
	packet.completion_signal = done;
	if (!strcmp(how, "barrier"))
		packet.dep_signal[1] = awaited;
	if (!strcmp(how, "packet"))
		header = 9;
	auto *slot = (hsa_barrier_and_packet_t *)queue->base_address +
		     hsa_queue_add_write_index_relaxed(queue, 1);
	memcpy((void *)slot, &packet, sizeof(packet));
	if (!strcmp(how, "unwritten"))
		wait_s(seconds, n_lines);
	__atomic_store_n(&slot->header, header, __ATOMIC_RELEASE);
	hsa_signal_store_relaxed(queue->doorbell_signal, 0);
	if (!strcmp(how, "barrier")) {
		printf("signal 0x%llx\n", (unsigned long long)awaited.handle);
		fflush(stdout);
		wait_s(seconds, n_lines);
		hsa_signal_store_relaxed(awaited, 0);
	}
	hsa_signal_wait_relaxed(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
				HSA_WAIT_STATE_BLOCKED);
	printf("went on\n");
	return 0;
}

static int leave()
{
	device_buffer<unsigned> out(400);

	heavy_kernel<<<400, 64>>>(out.ptr, 1u << 30);
	sleep(1);
	printf("leaves\n");
	exit(4);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double number = argc > 2 ? atof(argv[2]) : 1;
	unsigned n_lines = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

	if (!strcmp(what, "heavy"))
		return heavy(number);
	if (!strcmp(what, "poll") || !strcmp(what, "half") || !strcmp(what, "event"))
		return poll(number, n_lines, what);
	if (!strcmp(what, "barrier") || !strcmp(what, "unwritten") || !strcmp(what, "packet"))
		return raw_queue(number, n_lines, what);
	if (!strcmp(what, "leave"))
		return leave();
	return 2;
}
