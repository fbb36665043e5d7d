/*
 * Functions of all kinds, called a known number of times. Each counts its own calls; at the end
 * the counts are printed, to be compared with what was recorded. Compiled by instrument.sh in
 * several ways, as C and without inlining.
 *
 *	program [LIBRARY]       a library to open, made of library.c
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone, used))
#define THREADS 20
#define LOOPS 250
#define STACK_BYTES (256u << 10)

#if defined(__clang__)
#undef KEPT
#define KEPT __attribute__((noinline, used))
#endif

/* clang-format off */
#define FUNCTIONS(X)                                                                               \
	X(factorial)                                                                               \
	X(sum_doubles)                                                                             \
	X(big_struct)                                                                              \
	X(pass_struct) X(wide) X(long_double) X(large_frame) X(leaf) X(jumper) X(tail_first)       \
		X(tail_last) X(even) X(odd) X(handler) X(in_thread) X(cancelled) X(coroutine)      \
			X(vector) X(callback) X(deep) X(many_args) X(with_cleanup) X(exits_thread)
/* clang-format on */

enum {
#define ROW(name) N_##name,
	FUNCTIONS(ROW)
#undef ROW
		N_FUNCTIONS
};
static const char *const names[] = {
#define ROW(name) #name,
	FUNCTIONS(ROW)
#undef ROW
};
static unsigned long counts[N_FUNCTIONS];
/* A macro: in an ordinary function it would be a call that is recorded, too. */
#define COUNT(name) __atomic_add_fetch(&counts[N_##name], 1, __ATOMIC_RELAXED)

static volatile int zero;
static int constant_table[4] = { 2, 3, 5, 7 };

struct big {
	double d[9];
	int i;
};
struct pair {
	double x;
	long y;
};
typedef float four __attribute__((vector_size(16)));

KEPT static unsigned long factorial(int n)
{
	volatile unsigned long rest; /* or it becomes a loop */

	COUNT(factorial);
	rest = n < 2 ? 1 : factorial(n - 1);
	return n < 2 ? 1 : (unsigned long)n * rest;
}

KEPT double sum_doubles(int n, ...)
{
	double sum = 0;
	va_list list;

	COUNT(sum_doubles);
	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
	va_end(list);
	return sum;
}

KEPT static struct big big_struct(int seed)
{
	struct big big;

	COUNT(big_struct);
	for (int i = 0; i < 9; i++)
		big.d[i] = seed * 1.25 + i;
	big.i = seed;
	return big;
}

KEPT static struct pair pass_struct(struct big big, struct pair pair)
{
	COUNT(pass_struct);
	return (struct pair){ big.d[8] + pair.x, big.i + pair.y };
}

KEPT static unsigned __int128 wide(unsigned __int128 a, unsigned long b)
{
	COUNT(wide);
	return a * b + 7;
}

KEPT static long double long_double(long double x, double y)
{
	COUNT(long_double);
	return sqrtl(x) * y;
}

KEPT static int large_frame(int n)
{
	volatile char frame[100000];

	COUNT(large_frame);
	for (size_t i = 0; i < sizeof(frame); i += 997)
		frame[i] = (char)(n + (int)i);
	return frame[997 * 3];
}

KEPT static int leaf(int n)
{
	COUNT(leaf);
	return constant_table[n & 3] + zero;
}

KEPT static four vector(four a, four b, double c)
{
	COUNT(vector);
	return a * b + (float)c;
}

KEPT static long many_args(long a, long b, long c, long d, long e, long f, long g, double h, long i,
			   float j)
{
	COUNT(many_args);
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + (long)h + 9 * i + (long)j;
}

static jmp_buf back;

KEPT static void jumper(int depth)
{
	COUNT(jumper);
	if (depth > 0)
		jumper(depth - 1);
	else
		longjmp(back, 1);
	zero = 0; /* no tail call */
}

KEPT static int tail_last(int n)
{
	COUNT(tail_last);
	return n * 3 + zero;
}

KEPT static int tail_first(int n)
{
	COUNT(tail_first);
	return tail_last(n + 1);
}

KEPT static int odd(int n);

KEPT static int even(int n)
{
	COUNT(even);
	return n == 0 ? 1 : odd(n - 1);
}

KEPT static int odd(int n)
{
	COUNT(odd);
	return n == 0 ? 0 : even(n - 1);
}

KEPT static void handler(int signal)
{
	COUNT(handler);
	leaf(signal);
}

KEPT static void *in_thread(void *arg)
{
	unsigned long sum = 0;

	COUNT(in_thread);
	for (int i = 0; i < LOOPS; i++)
		sum += (unsigned long)leaf(i) + factorial(3);
	*(unsigned long *)arg = sum;
	return arg;
}

static volatile int n_cleanups;

KEPT static void with_cleanup(void *arg)
{
	COUNT(with_cleanup);
	n_cleanups += *(int *)arg;
}

KEPT static void *cancelled(void *arg)
{
	COUNT(cancelled);
	pthread_cleanup_push(with_cleanup, arg);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

KEPT static void *exits_thread(void *arg)
{
	COUNT(exits_thread);
	pthread_cleanup_push(with_cleanup, arg);
	pthread_exit(arg);
	pthread_cleanup_pop(0);
	return NULL;
}

KEPT static int callback(const void *a, const void *b)
{
	COUNT(callback);
	return *(const int *)a - *(const int *)b;
}

KEPT static unsigned deep(unsigned n)
{
	volatile unsigned more;

	COUNT(deep);
	more = n ? deep(n - 1) : 0;
	return more + 1;
}

static ucontext_t main_context, other_context;

KEPT static void coroutine(void)
{
	COUNT(coroutine);
	for (int i = 0; i < 3; i++) {
		leaf(i);
		swapcontext(&other_context, &main_context);
	}
}

static void *new_stack(void)
{
	return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run_coroutine(void)
{
	for (int k = 0; k < 2; k++) {
		getcontext(&other_context);
		other_context.uc_stack.ss_sp = new_stack();
		other_context.uc_stack.ss_size = STACK_BYTES;
		other_context.uc_link = &main_context;
		makecontext(&other_context, coroutine, 0);
		for (int i = 0; i < 4; i++) {
			swapcontext(&main_context, &other_context);
			leaf(i);
		}
		munmap(other_context.uc_stack.ss_sp, STACK_BYTES);
	}
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	unsigned long sums[THREADS], sum = 0;
	int one = 1;
	void *result;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, in_thread, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += sums[i];
	}
	printf("threads %lu\n", sum);
	pthread_create(&threads[0], NULL, cancelled, &one);
	usleep(20000);
	pthread_cancel(threads[0]);
	pthread_join(threads[0], &result);
	printf("cancelled %d %d\n", result == PTHREAD_CANCELED, n_cleanups);
	pthread_create(&threads[0], NULL, exits_thread, &one);
	pthread_join(threads[0], &result);
	printf("exited %d %d\n", result == &one, n_cleanups);
}

static void run_jumps(void)
{
	for (volatile int i = 0; i < 10; i++)
		if (setjmp(back) == 0)
			jumper(i);
	printf("jumps done\n");
}

static void run_signals(void)
{
	stack_t other = { .ss_sp = new_stack(), .ss_size = STACK_BYTES };
	struct sigaction action = { .sa_handler = handler };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&other, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

/* Its calls are in another process: not among the counts. */
KEPT static int in_child(int n)
{
	return constant_table[n] - 2 + zero;
}

static void run_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_child(3));
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	leaf(0);
}

static int run_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*call)(int) = library ? (int (*)(int))dlsym(library, "library_call") : NULL;

	if (!call) {
		printf("%s\n", dlerror());
		return 1;
	}
	for (int i = 0; i < 5; i++)
		printf("library %d\n", call(i));
	dlclose(library);
	library = dlopen(path, RTLD_NOW);
	call = (int (*)(int))dlsym(library, "library_call");
	printf("again %d\n", call(1));
	return 0;
}

static void run_values(void)
{
	int numbers[] = { 5, 3, 9, 1, 7 };
	struct pair pair = pass_struct(big_struct(4), (struct pair){ 0.5, 100 });
	unsigned __int128 product = wide((unsigned __int128)1 << 70, 12345);
	four v = vector((four){ 1, 2, 3, 4 }, (four){ 5, 6, 7, 8 }, 0.25);

	printf("factorial %lu\n", factorial(20));
	printf("doubles %.3f\n", sum_doubles(6, 1, 2.5, 3, 4.5, 5, 6.5));
	printf("structs %.3f %ld\n", pair.x, pair.y);
	printf("wide %lx %lx\n", (unsigned long)(product >> 64), (unsigned long)product);
	printf("long double %.6Lf\n", long_double(2.0L, 3.0));
	printf("frame %d leaf %d\n", large_frame(4), leaf(2));
	printf("vector %.2f %.2f %.2f %.2f\n", v[0], v[1], v[2], v[3]);
	printf("many %ld\n", many_args(1, 2, 3, 4, 5, 6, 7, 8.5, 9, 10.5f));
	printf("tails %d %d %d\n", tail_first(5), even(1000), odd(7));
	qsort(numbers, 5, sizeof(*numbers), callback);
	printf("sorted %d %d\n", numbers[0], numbers[4]);
	printf("deep %u\n", deep(2000));
}

int main(int argc, char **argv)
{
	run_values();
	run_jumps();
	run_signals();
	run_threads();
	run_coroutine();
	run_fork();
	if (argc > 1 && run_library(argv[1]))
		return 1;
	/* What is recorded is compared with these lines. */
	for (int i = 0; i < N_FUNCTIONS; i++)
		printf("count %s %lu\n", names[i], counts[i]);
	return 42;
}
