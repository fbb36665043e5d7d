/* What is done to the program, or what it does to itself; see program.c for what that is. */
#include "tests/collector/program.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int n_own, stop, named;
static sigjmp_buf after_own;

static void on_own_bus(int signo)
{
	n_own++;
	siglongjmp(after_own, 1);
}

static void *calls_until_stopped(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		outer();
	return NULL;
}

/* A file that is shorter than its mapping: the program's own fault, and its own handler's. */
static void fault(void)
{
	FILE *file = tmpfile();
	char *at = file ? mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0) : MAP_FAILED;

	if (at == MAP_FAILED)
		abort();
	if (!sigsetjmp(after_own, 1))
		at[0] == 1 ? abort() : (void)*(volatile char *)at;
	munmap(at, 4096);
	fclose(file);
}

void cut(long n_bytes, const char *handler)
{
	struct sigaction own = { .sa_handler = on_own_bus }, was;
	pthread_t other;

	outers(1000);
	if (!strcmp(handler, "own") && (sigaction(SIGBUS, &own, &was) || was.sa_handler != SIG_DFL))
		abort();
	pthread_create(&other, NULL, calls_until_stopped, NULL);
	usleep(20000);
	if (truncate(cap_writer_path(col_capture_now()), n_bytes))
		abort();
	outers(200000);
	threads(4, 1000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	if (strcmp(handler, "own"))
		return;
	fault();
	if (n_own != 1 || sigaction(SIGBUS, NULL, &was) || was.sa_handler != on_own_bus)
		abort();
}

static void on_bus_again(int signo, siginfo_t *info, void *context)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signo, info);
}

void resend(void)
{
	struct sigaction own = { .sa_sigaction = on_bus_again, .sa_flags = SA_SIGINFO };

	outers(10);
	if (sigaction(SIGBUS, &own, NULL))
		abort();
	fault();
}

#define KILL(call)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1),                                    \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void *wait_to_stop(void *arg)
{
	outers(10);
	pthread_setname_np(pthread_self(), "late name");
	__atomic_store_n(&named, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		usleep(100);
	outers(10);
	__atomic_store_n(&stop, 2, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

void sandbox(const char *how)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(open),
		KILL(openat),
		KILL(openat2),
		KILL(creat),
		KILL(clone),
		KILL(clone3),
		KILL(fork),
		KILL(execve),
		KILL(prctl),
		KILL(readlink),
		KILL(readlinkat),
		KILL(stat),
		KILL(newfstatat),
		KILL(access),
		KILL(faccessat),
		KILL(unlink),
		KILL(ftruncate),
		KILL(tgkill),
		KILL(kill),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { WS_ARRAY_LEN(filter), filter };
	pthread_t other;

	outers(10);
	pthread_create(&other, NULL, wait_to_stop, NULL);
	while (!__atomic_load_n(&named, __ATOMIC_ACQUIRE))
		usleep(100);
	pthread_setname_np(pthread_self(), "main's name");
	printf("ok\n");
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		abort();
	outers(10);
	col_marker_push("inside");
	col_marker_pop();
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&stop, __ATOMIC_ACQUIRE) != 2)
		usleep(100);
	if (!strcmp(how, "_exit"))
		_exit(7);
	exit(7);
}
