/*
 * program: something to collect from that needs no GPU. It is linked with the
 * collector's core and plays a provider: its calls are the provider interface.
 *
 *	program calls N               N calls with one nested call each, then exit
 *	program threads N CALLS       N threads at once, CALLS calls each
 *	program churn N               N threads one after the other, four at a time
 *	program fork                  calls, fork, calls in both; child leaves by _exit
 *	program exec                  calls, then itself again with "calls 5"
 *	program leave HOW             3 calls, then exit, _exit, quick_exit, abort, kill, segv,
 *	                              thread (exit called by another thread)
 *	program markers               marks, nested and crossing ranges, pause and resume
 *	program periods MS            calls for MS milliseconds
 *	program signals N             N calls with a timer's handler making calls on top
 *	program stress SECONDS        everything at once, from 64 threads, switching on and off
 *	program nothing               not one call
 *
 * "ok" on stdout and exit code 7 show that the program's own doings are its own.
 */
#include "collector/collector_priv.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OP_OUTER = WS_OP_RCCL, OP_INNER };

static const struct ws_op_def ops[] = {
	{ .name = "outer", .kind = WS_KIND_RCCL_API, .id = 0, .domain = WS_DOMAIN_RCCL_API },
	{ .name = "inner", .kind = WS_KIND_RCCL_API, .id = 1, .domain = WS_DOMAIN_RCCL_API },
};

static void state(struct ws_writer *writer)
{
	ws_ops_state(writer, WS_OP_RCCL, ops, WS_ARRAY_LEN(ops));
}

const struct ws_provider ws_provider_rccl = { .name = "test", .state = state };

static void inner(void)
{
	struct ws_call call;
	struct ws_thread *t;

	if (!ws_on(WS_SERVICE_RCCL))
		return;
	t = ws_call_begin(&call);
	ws_call_end(t, &call, OP_INNER, WS_DOMAIN_RCCL_API);
}

static void outer(void)
{
	uint64_t slots[2] = { 1, 2 };
	struct ws_call call;
	struct ws_thread *t;

	if (!ws_on(WS_SERVICE_RCCL))
		return;
	errno = 4242;
	t = ws_call_begin(&call);
	inner();
	ws_call_end_args(t, &call, OP_OUTER, WS_DOMAIN_RCCL_API, 0, slots, 2);
	if (errno != 4242)
		abort();
}

static void outers(long n)
{
	for (long i = 0; i < n; i++)
		outer();
}

static void *thread_calls(void *arg)
{
	char name[16];

	outers(1);
	snprintf(name, sizeof(name), "worker");
	pthread_setname_np(pthread_self(), name);
	outers((long)(intptr_t)arg - 1);
	return NULL;
}

static void threads(long n, long calls)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));

	for (long i = 0; i < n; i++)
		pthread_create(&all[i], NULL, thread_calls, (void *)(intptr_t)calls);
	for (long i = 0; i < n; i++)
		pthread_join(all[i], NULL);
	free(all);
}

static void churn(long n)
{
	for (long i = 0; i < n; i += 4)
		threads(4, 2);
}

static void fork_both(void)
{
	int status = 0;
	pid_t child;

	outers(3);
	child = fork();
	if (child == 0) {
		outers(5);
		_exit(3);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
		abort();
	/* A child that does nothing leaves nothing. */
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	/* A vfork child's _exit is not ours. */
	child = vfork();
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	outers(4);
}

static void *exit_here(void *arg)
{
	outers(1);
	exit(7);
}

static void leave(const char *how)
{
	pthread_t other;

	outers(3);
	printf("ok\n");
	fflush(stdout);
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "thread") && pthread_create(&other, NULL, exit_here, NULL) == 0)
		pthread_join(other, NULL);
	exit(1);
}

static void markers(void)
{
	char longer[1000];
	uint64_t a, b;

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	ws_marker_mark("a mark");
	if (ws_marker_push("outer range") != 0 || ws_marker_push("inner range") != 1)
		abort();
	a = ws_marker_start("first");
	b = ws_marker_start(longer);
	ws_marker_stop(a);
	ws_marker_stop(a); /* again: ignored */
	ws_marker_stop(b);
	ws_marker_stop(12345);
	if (ws_marker_pop() != 1 || ws_marker_pop() != 0 || ws_marker_pop() != -1)
		abort();
	outers(1);
	ws_marker_pause();
	outers(10);
	ws_marker_mark("not seen");
	ws_marker_resume();
	outers(2);
	ws_thread_name("a name of its own");
}

static uint64_t now_ms(void)
{
	return ws_now_ns() / 1000000;
}

static void periods(long ms)
{
	ws_marker_mark("opens the capture");
	for (uint64_t end = now_ms() + (uint64_t)ms; now_ms() < end;) {
		outer();
		usleep(1000);
	}
}

static void on_timer(int signo)
{
	int saved_errno = errno;

	outer();
	errno = saved_errno;
}

static void signals(long n)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	outers(n);
	setitimer(ITIMER_REAL, &never, NULL);
}

static int stop;

static void *stress_worker(void *arg)
{
	uint64_t range = 0;

	for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		outer();
		ws_marker_push("range");
		inner();
		ws_marker_pop();
		if (range)
			ws_marker_stop(range);
		range = ws_marker_start("started");
		if (i % 64 == 0)
			ws_marker_mark("mark");
	}
	return NULL;
}

static void *stress_spawner(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		threads(4, 3);
	return NULL;
}

static void *stress_switcher(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ws_marker_pause();
		ws_marker_resume();
		usleep(100);
	}
	return NULL;
}

static void stress(long seconds)
{
	pthread_t all[64];
	size_t n = 0;

	for (; n < 60; n++)
		pthread_create(&all[n], NULL, stress_worker, NULL);
	for (; n < 63; n++)
		pthread_create(&all[n], NULL, stress_spawner, NULL);
	pthread_create(&all[n++], NULL, stress_switcher, NULL);
	sleep((unsigned)seconds);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	while (n)
		pthread_join(all[--n], NULL);
	ws_marker_resume();
	outers(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0, m = argc > 3 ? atol(argv[3]) : 0;

	if (!strcmp(what, "calls"))
		outers(n);
	else if (!strcmp(what, "threads"))
		threads(n, m);
	else if (!strcmp(what, "churn"))
		churn(n);
	else if (!strcmp(what, "fork"))
		fork_both();
	else if (!strcmp(what, "exec")) {
		outers(3);
		execl("/proc/self/exe", argv[0], "calls", "5", NULL);
		return 1;
	} else if (!strcmp(what, "leave") && argc > 2)
		leave(argv[2]);
	else if (!strcmp(what, "markers"))
		markers();
	else if (!strcmp(what, "periods"))
		periods(n);
	else if (!strcmp(what, "signals"))
		signals(n);
	else if (!strcmp(what, "stress"))
		stress(n);
	else if (strcmp(what, "nothing"))
		return 2;
	printf("ok\n");
	return 7;
}
