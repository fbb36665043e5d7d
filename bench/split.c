/*
 * split: a program whose CPU time is known; what bench/truth compares profiles with.
 *
 *	split SECONDS [THREADS]     each thread spends 50 % of SECONDS of CPU time in half(), 30 % in third()
 *	                            and 20 % in fifth(), in turns of some milliseconds
 *	split SECONDS deep          the same, at the end of a recursion of 40 calls
 *
 * The shares are those of the thread's CPU clock. They are printed as they turned out.
 */
#include "bench/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_S 0.004
#define THREADS_MAX 64

static double seconds;
static bool deep;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static double total[3];

/* Three functions that differ in their names only, and are not merged for it. Returns the CPU time that it took. */
#define SPENDER(name)                                                                              \
	__attribute__((noipa)) static double name(double s)                                        \
	{                                                                                          \
		double start = clock_s(CLOCK_THREAD_CPUTIME_ID), now = start;                      \
                                                                                                   \
		while (now < start + s) {                                                          \
			for (volatile int i = 0; i < 20000; i++)                                   \
				;                                                                  \
			now = clock_s(CLOCK_THREAD_CPUTIME_ID);                                    \
		}                                                                                  \
		return now - start;                                                                \
	}

SPENDER(half)
SPENDER(third)
SPENDER(fifth)

/* Turns differ in length, so that no timer keeps pace with them. */
__attribute__((noinline)) static void spend(double *took)
{
	static __thread uint64_t random = 1;
	double turn_s;

	random = random * 6364136223846793005u + 1442695040888963407u;
	turn_s = TURN_S * (0.5 + (double)(random >> 40) / (1 << 24));
	took[0] += half(0.5 * turn_s);
	took[1] += third(0.3 * turn_s);
	took[2] += fifth(0.2 * turn_s);
}

__attribute__((noinline)) static int descend(int depth, double *took)
{
	if (!depth) {
		spend(took);
		return 0;
	}
	return descend(depth - 1, took) + 1; /* no tail call */
}

static void *work(void *arg)
{
	double took[3] = { 0 };

	while (took[0] + took[1] + took[2] < seconds)
		descend(deep ? 40 : 0, took);
	pthread_mutex_lock(&total_lock);
	for (int i = 0; i < 3; i++)
		total[i] += took[i];
	pthread_mutex_unlock(&total_lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	long n_threads = 1;
	double all;

	seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	deep = argc > 2 && !strcmp(argv[2], "deep");
	if (argc > 2 && !deep)
		n_threads = atol(argv[2]);
	if (n_threads < 1 || n_threads > THREADS_MAX) {
		fprintf(stderr, "split: '%s' threads: give 1 to %d\n", argv[2], THREADS_MAX);
		return 2;
	}
	for (long i = 1; i < n_threads; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (long i = 1; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	all = total[0] + total[1] + total[2];
	printf("half %.2f third %.2f fifth %.2f\n", 100 * total[0] / all, 100 * total[1] / all,
	       100 * total[2] / all);
	return 0;
}
