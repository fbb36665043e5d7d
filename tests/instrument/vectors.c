/*
 * Vectors as arguments and results, in threads, while a timer interrupts everything and its
 * handler calls instrumented functions, and sometimes leaves by siglongjmp().
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define KEPT __attribute__((noinline, noclone))
#define CALLS 20000
#define THREADS 3

#if defined(__AVX512F__)
#define LANES 8
#else
#define LANES 4
#endif
typedef double lanes __attribute__((vector_size(LANES * 8)));

static unsigned long n_mix, n_slow_mix;

KEPT static lanes mix(lanes a, double b, lanes c, float d)
{
	__atomic_add_fetch(&n_mix, 1, __ATOMIC_RELAXED);
	return a * b + c - (double)d;
}

KEPT static long double slow_mix(lanes a, long double b)
{
	long double sum = b;

	__atomic_add_fetch(&n_slow_mix, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < LANES; i++)
		sum += a[i];
	return sum;
}

static void *work(void *arg)
{
	lanes a = { 1, 2, 3, 4 }, one = a * 0 + 1;
	long double sum = 0;

	for (int i = 0; i < CALLS; i++) {
		a = mix(a, 0.5, one, 0.25f);
		sum = slow_mix(a, sum * 0.5L);
	}
	*(long double *)arg = sum;
	return arg;
}

static sigjmp_buf back;
static volatile int armed, n_ticks;

KEPT static void tick(int signal)
{
	n_ticks++;
	if (armed && n_ticks % 2)
		siglongjmp(back, 1);
}

KEPT static int spin(int n)
{
	volatile int rounds = n;

	while (rounds > 0)
		rounds = rounds - 1;
	return rounds;
}

/* The timer's handler leaves from anywhere in here, also from where calls are recorded. */
KEPT static void jump_around(void)
{
	for (volatile int jumps = 0; jumps < 50;) {
		if (sigsetjmp(back, 1)) {
			armed = 0;
			jumps++;
			continue;
		}
		armed = 1;
		for (;;)
			spin(3);
	}
	armed = 0;
}

int main(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = tick };
	pthread_t threads[THREADS];
	long double sums[THREADS];
	sigset_t set;

	/* the timer is for the main thread */
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	jump_around();
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("%.12Lf\n", sums[i]);
	}
	printf("count mix %lu\ncount slow_mix %lu\n", n_mix, n_slow_mix);
	return 0;
}
