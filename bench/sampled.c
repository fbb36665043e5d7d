/*
 * sampled: two threads that compute for as long as it takes; what bench/sample measures with and
 * without samples.
 *
 *	sampled ROUNDS [HZ]     prints the seconds of CPU time that it took
 *
 * With HZ each thread has a timer of real time whose handler does nothing. No sampler of that
 * frequency can cost less.
 */
#include "bench/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile uint64_t sink;

/* Some depth, as real programs have. */
__attribute__((noinline)) static uint64_t compute(int depth, uint64_t seed)
{
	if (depth)
		return compute(depth - 1, seed) + 1;
	for (int i = 0; i < 1000000; i++)
		seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed;
}

static void nothing(int number)
{
}

static void start_timer(long hz)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 2 };
	struct itimerspec every = { { 0, 1000000000 / hz }, { 0, 1000000000 / hz } };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &every, NULL);
}

static long hz;

static void *work(void *arg)
{
	long rounds = *(long *)arg;
	uint64_t sum = 0;

	if (hz)
		start_timer(hz);
	for (long i = 0; i < rounds; i++)
		sum += compute(20, (uint64_t)i);
	sink += sum;
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	pthread_t other;

	hz = argc > 2 ? atol(argv[2]) : 0;
	signal(SIGRTMIN + 2, nothing);
	pthread_create(&other, NULL, work, &rounds);
	work(&rounds);
	pthread_join(other, NULL);
	printf("%.6f\n", clock_s(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
