/*
 * sample_program: a program to take call-stack samples of.
 *
 *	sample_program split SECONDS      CPU time in fifty(), thirty() and twenty(), as named
 *	sample_program recursion DEPTH    CPU time at the end of recurse(), DEPTH calls deep
 *	sample_program threads SECONDS    CPU time in first() and in second(), of two threads
 *	sample_program chosen SECONDS     the same with a third thread in third()
 *	sample_program handler SECONDS    CPU time in a handler, on top of interrupted()
 *	sample_program own SECONDS        SIGPROF is the program's, too: an interval timer
 *	sample_program fatal              SIGPROF without a handler ends it
 *	sample_program masks SECONDS      blocks all signals, waits for some, reads its mask
 *	sample_program waits              each way to wait takes its time, and is ended by a
 *	                                  signal of the program
 *	sample_program malloc SECONDS     four threads that allocate
 *	sample_program storm N            N threads, most at the same time
 *	sample_program cancel             threads that are cancelled and that leave early
 *	sample_program clone SECONDS      CPU time in raw(), of a thread unknown to libc
 *	sample_program fork SECONDS       CPU time in both
 *	sample_program exec SECONDS       "split SECONDS", after an exec
 *	sample_program unload N LIBRARY   loads, calls and unloads it N times
 *	sample_program coroutine SECONDS  CPU time on a stack of its own making
 *	sample_program jump SECONDS       calls through a null pointer, and recovers
 *	sample_program sandbox SECONDS    CPU time after it has forbidden itself some system calls
 *	sample_program strict             a thread that may neither ask for the time nor call the system
 *	sample_program strict-main        the same of its only thread
 *	sample_program raw-exit           its only thread ends by the system call
 *	sample_program leave              the main thread leaves before another; exit code 0
 *	sample_program counts             touches 3,000 pages, and 5,000 of another thread
 *	sample_program reuse              closes all descriptors, and uses their numbers
 *	sample_program spin               until it is killed
 *
 * "ok" on stdout and exit code 7 show that nothing went wrong.
 */
#include "tests/collector/sample_program.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile uint64_t sink;

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* CPU time in a function of its own. Each differs, or the compiler would make them one. */
#define BUSY(name)                                                                                 \
	__attribute__((noinline)) void name(double s);                                             \
	void name(double s)                                                                        \
	{                                                                                          \
		double end = seconds(CLOCK_THREAD_CPUTIME_ID) + s;                                 \
                                                                                                   \
		while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)                                     \
			for (int i = 0; i < 50000; i++)                                            \
				sink += (uint64_t)i + __COUNTER__;                                 \
	}

BUSY(fifty)
BUSY(thirty)
BUSY(twenty)
BUSY(first)
BUSY(second)
BUSY(third)
BUSY(in_handler)
BUSY(raw)
BUSY(parent)
BUSY(child)
BUSY(routine)
BUSY(other)

static void split(double s)
{
	for (int i = 0; i < 5; i++) {
		fifty(0.5 * s / 5);
		thirty(0.3 * s / 5);
		twenty(0.2 * s / 5);
	}
}

__attribute__((noinline)) int recurse(int depth);
int recurse(int depth)
{
	if (depth == 1)
		other(0.5);
	else
		recurse(depth - 1);
	sink++; /* so that it is not a jump */
	return depth;
}

/* ---- threads ---- */

static double duration;

static void *run_first(void *arg)
{
	first(duration);
	return arg;
}

static void *run_second(void *arg)
{
	second(duration);
	return arg;
}

static void *run_third(void *arg)
{
	third(duration);
	return arg;
}

static void threads(bool three)
{
	void *(*const mains[])(void *) = { run_first, run_second, run_third };
	int n = three ? 3 : 2, args[3];
	pthread_t all[3];
	void *result;

	for (int i = 0; i < n; i++)
		if (pthread_create(&all[i], NULL, mains[i], &args[i]) != 0)
			fail("pthread_create");
	for (int i = 0; i < n; i++)
		if (pthread_join(all[i], &result) != 0 || result != &args[i])
			fail("a thread's result is lost");
}

static void *allocate(void *arg)
{
	double end = seconds(CLOCK_MONOTONIC) + duration;
	void *kept[256] = { 0 };
	unsigned at = (unsigned)(uintptr_t)arg;

	while (seconds(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 1000; i++) {
			at = at * 1103515245 + 12345;
			free(kept[at >> 8 & 255]);
			kept[at >> 8 & 255] = malloc(at >> 16 & 0x3fff);
		}
	}
	for (int i = 0; i < 256; i++)
		free(kept[i]);
	return NULL;
}

static void allocate_all(void)
{
	pthread_t all[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, allocate, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

static void *short_life(void *arg)
{
	errno = 4242;
	for (int i = 0; i < 20000; i++)
		sink += (uint64_t)i;
	usleep(20000);
	if ((uintptr_t)arg % 3 == 0)
		pthread_exit(arg);
	return arg;
}

static void storm(int n)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));
	pthread_attr_t attr;
	int n_made = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (; n_made < n; n_made++)
		if (pthread_create(&all[n_made], n_made % 2 ? &attr : NULL, short_life,
				   (void *)(uintptr_t)n_made) != 0)
			fail("thread %d of %d", n_made, n);
	for (int i = 0; i < n; i++) {
		void *result;

		if (pthread_join(all[i], &result) != 0 || result != (void *)(uintptr_t)i)
			fail("thread %d has a wrong result", i);
	}
	free(all);
}

static int n_cleaned;

static void clean(void *arg)
{
	__atomic_add_fetch(&n_cleaned, 1, __ATOMIC_RELAXED);
}

static void *wait_for_cancel(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		poll(NULL, 0, 1000);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, wait_for_cancel, NULL);
		if (i % 2)
			usleep(2000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED)
			fail("a cancelled thread was not");
	}
	if (n_cleaned < 20)
		fail("%d clean-up handlers ran", n_cleaned);
}

static int raw_main(void *arg)
{
	double end = *(double *)arg + seconds(CLOCK_MONOTONIC);

	while (seconds(CLOCK_MONOTONIC) < end)
		raw(0.05);
	syscall(SYS_exit, 0);
	return 0;
}

/* Shares all, even thread-local variables. */
static void clone_raw(double s)
{
	size_t n_stack = 256 << 10;
	char *stack =
		mmap(NULL, n_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int tid = clone(raw_main, stack + n_stack,
			CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				CLONE_SYSVSEM,
			&s);

	if (tid < 0)
		fail("clone: %s", strerror(errno));
	while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
		usleep(10000);
}

/* ---- signals ---- */

volatile sig_atomic_t n_signals;

static void on_alarm(int number)
{
	in_handler(0.01);
	n_signals++; /* after it, so that it is not a jump */
}

__attribute__((noinline)) void interrupted(double s);
void interrupted(double s)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + s;

	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		sink++;
}

static void handler(double s)
{
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } };

	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &every, NULL); /* of CPU time: the machine may be busy */
	interrupted(s);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_VIRTUAL, &every, NULL);
}

static void on_prof(int number, siginfo_t *info, void *context)
{
	if (number != SIGPROF || info->si_code == SI_TIMER)
		fail("the program's handler got a signal of the profiler");
	n_signals++;
}

/*
 * The clock of ITIMER_PROF: the kernel counts ticks, so that beside other programs it is not the CPU time of
 * CLOCK_PROCESS_CPUTIME_ID.
 */
#define CLOCK_PROFILING ((clockid_t)(~0u << 3))

/* Its own profiler: nothing is lost of it, and nothing added. */
static void own(double s)
{
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction action = { .sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction was;
	double start, cpu_start, n_due;

	if (sigaction(SIGPROF, NULL, &was) != 0 || was.sa_handler != SIG_DFL)
		fail("SIGPROF has a handler that the program did not install");
	sigaction(SIGPROF, &action, NULL);
	if (sigaction(SIGPROF, NULL, &was) != 0 || was.sa_sigaction != on_prof)
		fail("the program's handler is not there");
	start = seconds(CLOCK_PROFILING);
	cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
	setitimer(ITIMER_PROF, &every, NULL);
	/* Of both clocks: samples are due by the other one, and beside other programs it may be much slower. */
	while (seconds(CLOCK_PROFILING) - start < s ||
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start < s)
		other(0.05);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_PROF, &every, NULL);
	n_due = (seconds(CLOCK_PROFILING) - start) / 0.02;
	if (n_signals < n_due * 0.9 - 2 || n_signals > n_due * 1.1 + 2)
		fail("%d signals of the program's own timer instead of %.0f", (int)n_signals,
		     n_due);
}

static void *send_signal(void *arg)
{
	usleep(50000);
	pthread_kill(*(pthread_t *)arg, SIGRTMIN);
	return NULL;
}

static void masks(double s)
{
	sigset_t all, was, named;
	struct timespec limit = { 0, 100000000 };
	pthread_t me = pthread_self(), sender;
	struct signalfd_siginfo info;
	double start;
	int number, fd;

	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &was) != 0 || sigismember(&was, SIGPROF))
		fail("the first mask");
	if (pthread_sigmask(SIG_BLOCK, NULL, &was) != 0 || !sigismember(&was, SIGPROF) ||
	    !sigismember(&was, SIGRTMIN) || !sigismember(&was, SIGUSR1))
		fail("what was blocked is not");
	other(s); /* samples are taken all the same */
	start = seconds(CLOCK_MONOTONIC);
	if (sigtimedwait(&all, NULL, &limit) != -1 || errno != EAGAIN)
		fail("a signal of the profiler was returned");
	if (seconds(CLOCK_MONOTONIC) - start < 0.099)
		fail("the wait for a signal was too short");
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	other(0.05);
	if (fd < 0 || read(fd, &info, sizeof(info)) != -1 || errno != EAGAIN)
		fail("a signal of the profiler can be read");
	sigemptyset(&named);
	sigaddset(&named, SIGRTMIN);
	pthread_create(&sender, NULL, send_signal, &me);
	if (sigwait(&named, &number) != 0 || number != SIGRTMIN)
		fail("the program's own signal did not come");
	pthread_join(sender, NULL);
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (!sigismember(&was, SIGPROF))
		fail("the mask was forgotten");
}

/* ---- processes ---- */

static void forks(double s)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		child(s);
		_exit(3);
	}
	parent(s);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
		fail("the child ended with %#x", status);
}

static void unload(int n, const char *library)
{
	for (int i = 0; i < n; i++) {
		void *handle = dlopen(library, RTLD_NOW);
		void (*work)(void);

		if (!handle)
			fail("%s", dlerror());
		*(void **)&work = dlsym(handle, "library_work");
		work();
		dlclose(handle);
	}
}

/* ---- stacks that are not the thread's ---- */

static ucontext_t here, there;

static void routine_main(void)
{
	routine(duration);
	sink++;
}

static void coroutine(void)
{
	size_t n_stack = 128 << 10;

	getcontext(&there);
	there.uc_stack.ss_sp = malloc(n_stack);
	there.uc_stack.ss_size = n_stack;
	there.uc_link = &here;
	makecontext(&there, routine_main, 0);
	swapcontext(&here, &there);
	free(there.uc_stack.ss_sp);
}

static sigjmp_buf recovery;

static void on_segv(int number)
{
	siglongjmp(recovery, 1);
}

static void jump(double s)
{
	double end = seconds(CLOCK_MONOTONIC) + s;
	void (*volatile nowhere)(void) = NULL;

	signal(SIGSEGV, on_segv);
	while (seconds(CLOCK_MONOTONIC) < end) {
		if (sigsetjmp(recovery, 1) == 0)
			nowhere();
	}
}

/* Calls that kill from now on, in all threads. */
#define KILL(call)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1),                                    \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void sandbox(double s)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(process_vm_readv),
		KILL(getrusage),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		fail("seccomp: %s", strerror(errno));
	other(s);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	duration = argc > 2 ? atof(argv[2]) : 1;
	if (!strcmp(what, "split"))
		split(duration);
	else if (!strcmp(what, "recursion"))
		recurse((int)duration);
	else if (!strcmp(what, "threads"))
		threads(false);
	else if (!strcmp(what, "chosen"))
		threads(true);
	else if (!strcmp(what, "handler"))
		handler(duration);
	else if (!strcmp(what, "own"))
		own(duration);
	else if (!strcmp(what, "fatal"))
		raise(SIGPROF);
	else if (!strcmp(what, "masks"))
		masks(duration);
	else if (!strcmp(what, "waits"))
		waits();
	else if (!strcmp(what, "counts"))
		counts();
	else if (!strcmp(what, "reuse"))
		reuse();
	else if (!strcmp(what, "malloc"))
		allocate_all();
	else if (!strcmp(what, "storm"))
		storm((int)duration);
	else if (!strcmp(what, "cancel"))
		cancel();
	else if (!strcmp(what, "leave"))
		leave();
	else if (!strcmp(what, "strict"))
		strict();
	else if (!strcmp(what, "strict-main") || !strcmp(what, "raw-exit"))
		end_raw(!strcmp(what, "strict-main"));
	else if (!strcmp(what, "clone"))
		clone_raw(duration);
	else if (!strcmp(what, "fork"))
		forks(duration);
	else if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], "split", argv[2], NULL);
	else if (!strcmp(what, "unload"))
		unload((int)duration, argv[3]);
	else if (!strcmp(what, "coroutine"))
		coroutine();
	else if (!strcmp(what, "jump"))
		jump(duration);
	else if (!strcmp(what, "sandbox"))
		sandbox(duration);
	else if (!strcmp(what, "spin"))
		other(1000);
	else
		fail("no such behaviour: %s", what);
	puts("ok");
	return 7;
}
