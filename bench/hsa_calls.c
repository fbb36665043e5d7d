/*
 * hsa_calls: what a traced call costs. Prints, one per line and in nanoseconds, the
 * smallest of several repetitions of
 *
 *	load      hsa_signal_load_relaxed(), about the cheapest call there is
 *	index     hsa_queue_load_write_index_relaxed()
 *	info      hsa_system_get_info() of the timestamp
 *	ticks     two reads of the counter register
 *	clock     two clock_gettime() calls
 *
 * bench/collector runs it bare, with the collector loaded and idle, and recording.
 */
#include "bench/clock.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 20000 /* short: on a busy machine most batches are interrupted, and the best is not */
#define REPEATS 200

static hsa_agent_t gpu;
static hsa_signal_t signal;
static hsa_queue_t *queue;
static volatile uint64_t sink;

static hsa_status_t find_gpu(hsa_agent_t agent, void *arg)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	gpu = agent;
	return HSA_STATUS_INFO_BREAK;
}

/* The thread's own time: what others do in between is not the call's. */
static double now_ns(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void load(void)
{
	sink += (uint64_t)hsa_signal_load_relaxed(signal);
}

static void index_(void)
{
	sink += hsa_queue_load_write_index_relaxed(queue);
}

static void info(void)
{
	uint64_t t;

	hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t);
	sink += t;
}

static void ticks(void)
{
#if defined(__x86_64__)
	sink += __builtin_ia32_rdtsc();
	sink += __builtin_ia32_rdtsc();
#endif
}

static void clocks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	clock_gettime(CLOCK_BOOTTIME, &t);
	sink += (uint64_t)t.tv_nsec;
}

static void measure(const char *name, void (*call)(void))
{
	double best = 1e9;

	for (int r = 0; r < REPEATS; r++) {
		double start = now_ns(), ns;

		for (int i = 0; i < CALLS; i++)
			call();
		ns = (now_ns() - start) / CALLS;
		if (ns < best)
			best = ns;
	}
	printf("%-8s %8.2f\n", name, best);
}

int main(void)
{
	if (hsa_init() != HSA_STATUS_SUCCESS || hsa_iterate_agents(find_gpu, NULL) == 0 ||
	    hsa_signal_create(1, 0, NULL, &signal) != HSA_STATUS_SUCCESS ||
	    hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			     &queue) != HSA_STATUS_SUCCESS) {
		fprintf(stderr, "hsa_calls: no GPU: run it under wavescope run\n");
		return 1;
	}
	measure("load", load);
	measure("index", index_);
	measure("info", info);
	measure("ticks", ticks);
	measure("clock", clocks);
	hsa_queue_destroy(queue);
	hsa_signal_destroy(signal);
	hsa_shut_down();
	return 0;
}
