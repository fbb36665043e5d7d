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
 *	program open HOW              ranges that are open when it ends by exit, _exit or quick_exit:
 *	                              in a thread that ends, in one that does not, in main
 *	program markers               marks, nested and crossing ranges, pause and resume
 *	program periods MS            calls for MS milliseconds
 *	program signals N             N calls with a timer's handler making calls on top
 *	program stress SECONDS        everything at once, from 64 threads, switching on and off
 *	program cycles N              recording is begun and ended N times, and each time switched
 *	                              off and on ten times, with a thread and markers; fails
 *	                              when anything is left over
 *	program attach SECONDS        the same while 64 threads make calls all the time
 *	program cut BYTES HANDLER     its capture is truncated to BYTES while it makes calls, in two
 *	                              threads; HANDLER: none, own (it has a handler for SIGBUS,
 *	                              which sees just the fault that is the program's)
 *	program resend                a fault of its own, which its handler sends again with the same
 *	                              facts, as LLVM's does to end the process
 *	program sandbox HOW           after some calls a filter that kills for all that opens, maps
 *	                              or starts something; then calls, threads' names, and HOW it
 *	                              ends: exit, _exit
 *	program nothing               not one call
 *
 * "ok" on stdout and exit code 7 show that the program's own doings are its own.
 */
#include "tests/collector/program.h"

#include <dirent.h>
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

enum { OP_OUTER = COL_OP_RCCL, OP_INNER };

static const struct col_op_def ops[] = {
	{ .name = "outer", .kind = CAP_KIND_RCCL_API, .id = 0, .domain = CAP_DOMAIN_RCCL_API },
	{ .name = "inner", .kind = CAP_KIND_RCCL_API, .id = 1, .domain = CAP_DOMAIN_RCCL_API },
};

static void state(struct cap_writer *writer)
{
	col_ops_state(writer, COL_OP_RCCL, ops, WS_ARRAY_LEN(ops));
}

const struct col_provider col_provider_rccl = { .name = "test", .state = state };

static void inner(void)
{
	struct col_call call;
	struct col_thread *t;

	if (!col_on(COL_SERVICE_RCCL))
		return;
	t = col_call_begin(&call);
	col_call_end(t, &call, OP_INNER, CAP_DOMAIN_RCCL_API);
}

void outer(void)
{
	uint64_t slots[2] = { 1, 2 };
	struct col_call call;
	struct col_thread *t;

	if (!col_on(COL_SERVICE_RCCL))
		return;
	errno = 4242;
	t = col_call_begin(&call);
	inner();
	col_call_end_args(t, &call, OP_OUTER, CAP_DOMAIN_RCCL_API, 0, slots, 2);
	if (errno != 4242)
		abort();
}

void outers(long n)
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

void threads(long n, long calls)
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

static void *leave_open(void *arg)
{
	col_marker_push("ended 1");
	col_marker_push("ended 2");
	return NULL;
}

static int pushed;

static void *stay_open(void *arg)
{
	col_marker_push("alive 1");
	col_marker_push("alive 2");
	col_marker_push("closed");
	col_marker_pop();
	__atomic_store_n(&pushed, 1, __ATOMIC_RELEASE);
	for (;;) { /* these may be open or not: at the end there is each of them once */
		col_marker_push("again");
		col_marker_pop();
	}
	return NULL;
}

static void open_ranges(const char *how)
{
	pthread_t other;

	col_marker_start("started");
	if (pthread_create(&other, NULL, leave_open, NULL) == 0)
		pthread_join(other, NULL);
	col_marker_push("main 1");
	col_marker_push("main 2");
	col_marker_push("main 3");
	pthread_create(&other, NULL, stay_open, NULL);
	while (!__atomic_load_n(&pushed, __ATOMIC_ACQUIRE))
		usleep(100);
	printf("ok\n");
	fflush(stdout);
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	exit(7);
}

static void markers(void)
{
	char longer[1000];
	uint64_t a, b;

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	col_marker_mark("a mark");
	if (col_marker_push("outer range") != 0 || col_marker_push("inner range") != 1)
		abort();
	a = col_marker_start("first");
	b = col_marker_start(longer);
	col_marker_stop(a);
	col_marker_stop(a); /* again: ignored */
	col_marker_stop(b);
	col_marker_stop(12345);
	if (col_marker_pop() != 1 || col_marker_pop() != 0 || col_marker_pop() != -1)
		abort();
	outers(1);
	col_marker_pause();
	outers(10);
	col_marker_mark("not seen");
	col_marker_resume();
	outers(2);
	col_thread_name("a name of its own");
}

static uint64_t now_ms(void)
{
	return col_now_ns() / 1000000;
}

static void periods(long ms)
{
	col_marker_mark("opens the capture");
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
		col_marker_push("range");
		inner();
		col_marker_pop();
		if (range)
			col_marker_stop(range);
		range = col_marker_start("started");
		if (i % 64 == 0)
			col_marker_mark("mark");
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
		col_marker_pause();
		col_marker_resume();
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
	col_marker_resume();
	outers(1);
}

/* ---- starting and ending, as attaching does ---- */

static char capture_dir[256];

static void begin_recording(void)
{
	static struct col_collect_config config;

	memset(&config, 0, sizeof(config));
	strcpy(config.dir, capture_dir);
	config.services = COL_SERVICE_BIT(RCCL) | COL_SERVICE_BIT(MARKER);
	config.max_bytes = 2 << 20; /* there will be many */
	col_core_attach(&config);
	if (!col_capture())
		abort();
	col_control_attach(&config);
}

struct use {
	long resident_kib, n_maps, n_fds, n_threads;
};

static long count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	long n = 0;
	int c;

	while (file && (c = fgetc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

static long count_entries(const char *path)
{
	DIR *dir = opendir(path);
	long n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static struct use in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long total = 0, resident = 0;

	if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
		abort();
	fclose(file);
	return (struct use){ resident * 4, count_lines("/proc/self/maps"),
			     count_entries("/proc/self/fd"), count_entries("/proc/self/task") };
}

/* The capture's own clock thread ends a moment after it was told to. */
static void check_use(const struct use *before)
{
	struct use after = in_use();

	for (int i = 0; i < 100 && after.n_threads > before->n_threads; i++) {
		usleep(10000);
		after = in_use();
	}
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* A sanitizer holds freed memory back, which looks like growth. */
	after.n_maps = after.resident_kib = 0;
#endif
	if (after.n_maps > before->n_maps + 8 || after.n_fds > before->n_fds ||
	    after.n_threads > before->n_threads ||
	    after.resident_kib > before->resident_kib + 2048) {
		printf("before: %ld KiB, %ld maps, %ld fds, %ld threads; after: %ld, %ld, %ld, "
		       "%ld\n",
		       before->resident_kib, before->n_maps, before->n_fds, before->n_threads,
		       after.resident_kib, after.n_maps, after.n_fds, after.n_threads);
		exit(1);
	}
}

static void cycles(long n)
{
	struct use before = { 0 };

	for (long i = 0; i < n; i++) {
		begin_recording();
		for (int k = 0; k < 10; k++) {
			col_marker_pause();
			outers(1);
			col_marker_resume();
			threads(1, 2);
		}
		col_marker_push("a range that outlives its recording");
		cap_writer_close(col_core_detach()); /* nobody else is inside: no need to wait */
		outers(3);
		col_marker_pop();
		if (i == 9)
			before = in_use();
	}
	if (n > 10)
		check_use(&before);
}

static void *attach_worker(void *arg)
{
	for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		outer();
		col_marker_push("range");
		inner();
		col_marker_pop();
		col_marker_stop(col_marker_start("started"));
		if (i % 512 == 0)
			usleep(500); /* 64 of them on two cores: let the one that ends it run, too */
	}
	return NULL;
}

static void attach(long seconds)
{
	struct cap_writer *ended[256] = { NULL };
	uint64_t until = now_ms() + (uint64_t)seconds * 1000;
	pthread_t all[64];
	size_t n = 0, n_ended = 0;

	for (; n < 60; n++)
		pthread_create(&all[n], NULL, attach_worker, NULL);
	for (; n < 64; n++)
		pthread_create(&all[n], NULL, stress_spawner, NULL);
	while ((now_ms() < until || n_ended < 12) && n_ended < WS_ARRAY_LEN(ended)) {
		begin_recording();
		usleep(20000);
		ended[n_ended++] = col_core_detach();
		usleep(5000);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	while (n)
		pthread_join(all[--n], NULL);
	while (n_ended)
		cap_writer_close(ended[--n_ended]);
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
	else if (!strcmp(what, "cut") && argc > 3)
		cut(n, argv[3]);
	else if (!strcmp(what, "resend"))
		resend();
	else if (!strcmp(what, "sandbox") && argc > 2)
		sandbox(argv[2]);
	else if (!strcmp(what, "open") && argc > 2)
		open_ranges(argv[2]);
	else if (!strcmp(what, "markers"))
		markers();
	else if (!strcmp(what, "periods"))
		periods(n);
	else if (!strcmp(what, "signals"))
		signals(n);
	else if (!strcmp(what, "stress"))
		stress(n);
	else if (!strcmp(what, "cycles") && argc > 3) {
		snprintf(capture_dir, sizeof(capture_dir), "%s", argv[3]);
		cycles(n);
	} else if (!strcmp(what, "attach") && argc > 3) {
		snprintf(capture_dir, sizeof(capture_dir), "%s", argv[3]);
		attach(n);
	} else if (strcmp(what, "nothing"))
		return 2;
	printf("ok\n");
	return 7;
}
