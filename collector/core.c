/*
 * core: the life cycle of the collector inside the profiled process.
 *
 * The constructor reads the configuration and does nothing else, so that a shell
 * or a `timeout` which inherits the environment pays a getenv(). The capture is
 * opened by the first thread that has something to record. A forked child does
 * the same with a file of its own. At exit there is nothing to flush: records are
 * in the file when they are committed. What is left to do is to wait a moment for
 * GPU work in flight, and to mark a regular end.
 */
#include "collector/collector_priv.h"
#include "collector/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FINISH_NS 2000000000u  /* limit of the wait for work in flight at exit */
#define OPENING_NS 1000000000u /* of the wait for a capture that is being opened */
#define CAPTURES_MAX 4096u     /* files of one pid: execs, containers */
#define REOPEN_NS 1000000000u  /* after a failure to open: not before this */

static struct {
	/* acquire/release; never changed once it is here */
	const struct col_collect_config *config;
	bool active;  /* something was requested and can be recorded; changed by attaching only */
	bool started; /* what is set up once is */
	uint64_t load_ns;
	uint64_t begin_ns; /* the same, or the fork that made this process */
	struct col_lock opening;
	struct cap_writer *capture; /* acquire/release */
	uint64_t retry_ns;
	bool forked, complained;
	uint32_t pid;
	uint32_t ended;    /* the capture was closed properly */
	uint32_t leaving;  /* exit() was called, and libraries that we watch are going */
	uint32_t runtimes; /* bit per enum cap_runtime that the capture knows of */
	uint64_t lost[CAP_DOMAIN_COUNT]; /* before there was a capture to count it in */
} core;

uint32_t col_epoch_ = 1;

static const struct col_collect_config none;

static bool is_active(void)
{
	return __atomic_load_n(&core.active, __ATOMIC_ACQUIRE);
}

/* ---- small things ---- */

uint64_t col_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- configuration ---- */

bool col_asked(enum col_service service)
{
	return is_active() && (col_config()->services >> service & 1);
}

bool col_asked_any(uint32_t services)
{
	return is_active() && (col_config()->services & services) != 0;
}

const struct col_collect_config *col_config(void)
{
	const struct col_collect_config *config = __atomic_load_n(&core.config, __ATOMIC_ACQUIRE);

	return config ? config : &none;
}

uint64_t col_load_ns(void)
{
	return core.load_ns;
}

uint64_t col_begin_ns(void)
{
	return core.begin_ns;
}

uint64_t col_asked_domains(void)
{
	uint64_t domains = 0;

	for (unsigned i = 0; i < COL_SERVICE_COUNT; i++) {
		if (col_config()->services >> i & 1)
			domains |= 1ull << col_service_domain(i);
	}
	return domains;
}

/* The only words the collector ever says to the program's stderr. */
static void complain(const char *what, const char *why)
{
	char text[512];
	size_t n = 0;
	const char *parts[] = { "wavescope: ", what, why ? ": " : "", why ? why : "", "\n" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i]);

		if (len > sizeof(text) - 1 - n)
			len = sizeof(text) - 1 - n;
		memcpy(text + n, parts[i], len);
		n += len;
	}
	text[n - 1] = '\n';
	if (write(STDERR_FILENO, text, n) < 0)
		return; /* stderr is closed: the message is lost */
}

void col_note(const char *text)
{
	int saved_errno = errno;
	struct cap_writer *writer = col_capture();

	if (writer)
		cap_writer_fact(writer, CAP_FACT_NOTE, text);
	if (is_active() && col_config()->log >= COL_COLLECT_LOG_INFO)
		complain(text, NULL);
	errno = saved_errno;
}

/* ---- the capture ---- */

/* With "no-children": is an ancestor of this process being recorded? */
static bool ancestor_recorded(void)
{
	char path[PATH_MAX + 64], stat[512], number[16];
	size_t n_dir = strlen(col_config()->dir);
	pid_t pid = getppid();

	memcpy(path, col_config()->dir, n_dir);
	path[n_dir] = '/';
	for (int level = 0; level < 32 && pid > 1; level++) {
		char *at;
		ssize_t n;
		int fd;

		col_capture_name((uint32_t)pid, 0, path + n_dir + 1);
		if (access(path, F_OK) == 0)
			return true;
		/* /proc/PID/stat: "pid (comm) state ppid"; comm may hold anything, ')' included. */
		n = (ssize_t)col_capture_name((uint32_t)pid, 0, number);
		at = memchr(number, '-', (size_t)n);
		*at = 0;
		memcpy(stat, "/proc/", 6);
		memcpy(stat + 6, number, (size_t)(at - number));
		memcpy(stat + 6 + (at - number), "/stat", 6);
		fd = open(stat, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return false;
		n = read(fd, stat, sizeof(stat) - 1);
		close(fd);
		if (n <= 0)
			return false;
		stat[n] = 0;
		at = strrchr(stat, ')');
		if (!at || strlen(at) < 5)
			return false;
		pid = 0;
		for (at += 4; *at >= '0' && *at <= '9'; at++)
			pid = pid * 10 + (*at - '0');
	}
	return false;
}

/* An empty file; false: there is one already. */
static bool create_empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0)
		return errno != EEXIST;
	close(fd);
	return true;
}

/*
 * For the front end, which would take us for a program that does nothing with GPUs. A shell script
 * may run thousands of programs: only the first says it to the user.
 */
static void report_unrecorded(char path[PATH_MAX + 64], const char *why)
{
	strcpy(path + strlen(path) - strlen(COL_CAPTURE_SUFFIX), COL_UNRECORDED_SUFFIX);
	create_empty(path);
	strcpy(strrchr(path, '/') + 1, COL_COMPLAINED_NAME);
	if (create_empty(path))
		complain("nothing is recorded", why);
}

static struct cap_writer *open_capture(void)
{
	struct cap_writer_opts opts = {
		.max_bytes = col_config()->max_bytes,
		.domains = col_asked_domains(),
	};
	char path[PATH_MAX + 64];
	size_t n_dir = strlen(col_config()->dir);
	struct cap_writer *writer = NULL;
	struct ws_err err = { 0 };
	enum ws_status st = WS_E_EXISTS;

	memcpy(path, col_config()->dir, n_dir);
	path[n_dir] = '/';
	for (uint32_t n = 0; st == WS_E_EXISTS && n < CAPTURES_MAX; n++) {
		col_capture_name((uint32_t)getpid(), n, path + n_dir + 1);
		st = cap_writer_open(path, &opts, &writer, &err);
	}
	if (st && !core.complained) {
		core.complained = true; /* once: it is tried again, and may fail again */
		report_unrecorded(path, err.text);
	}
	return st ? NULL : writer;
}

/*
 * Everything a fresh capture has to know before events refer to it. Nobody else has the
 * writer yet: a process that is killed here has lost nothing. Providers take their locks
 * in state(), so they never ask for the capture while they hold one.
 */
static void tell_capture(struct cap_writer *writer)
{
	col_facts_process(writer, core.forked);
	for (unsigned i = 0; i < CAP_DOMAIN_COUNT; i++) {
		uint64_t lost = __atomic_exchange_n(&core.lost[i], 0, __ATOMIC_RELAXED);

		if (lost)
			cap_writer_count(writer, i, CAP_LEDGER_DROPPED, lost);
	}
	col_operations_state(writer);
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->state)
			col_providers[i]->state(writer);
	}
}

struct cap_writer *col_capture_now(void)
{
	return __atomic_load_n(&core.capture, __ATOMIC_ACQUIRE);
}

struct cap_writer *col_capture(void)
{
	struct cap_writer *writer = col_capture_now();
	int saved_errno = errno;
	bool fresh = false;

	if (writer || !is_active())
		return writer;
	col_lock(&core.opening);
	writer = core.capture;
	if (!writer && is_active() && col_now_ns() >= core.retry_ns) {
		if (col_config()->flags & COL_COLLECT_FLAG(NO_CHILDREN) &&
		    (core.forked || ancestor_recorded())) {
			core.retry_ns = UINT64_MAX;
			__atomic_store_n(&col_switches, 0, __ATOMIC_RELAXED);
		} else {
			writer = open_capture();
			if (writer)
				col_faults_start();
			core.retry_ns = col_now_ns() + REOPEN_NS;
			fresh = writer != NULL;
			if (fresh)
				tell_capture(writer);
			__atomic_store_n(&core.capture, writer, __ATOMIC_RELEASE);
		}
	}
	col_unlock(&core.opening);
	if (fresh)
		col_control_opened(writer);
	errno = saved_errno;
	return writer;
}

void col_early_lost(enum cap_domain domain)
{
	__atomic_fetch_add(&core.lost[domain], 1, __ATOMIC_RELAXED);
}

void col_runtime_used(enum cap_runtime runtime, uint32_t version)
{
	struct cap_writer *writer;
	struct cap_rec_runtime rec = {
		.h = { CAP_REC_FIXED_TAG(RUNTIME, struct cap_rec_runtime), runtime, 0 },
		.version = version,
	};

	if (__atomic_load_n(&core.runtimes, __ATOMIC_RELAXED) >> runtime & 1 || !is_active())
		return;
	writer = col_capture();
	if (!writer ||
	    __atomic_fetch_or(&core.runtimes, 1u << runtime, __ATOMIC_ACQ_REL) >> runtime & 1)
		return;
	rec.h.time = cap_ticks();
	cap_writer_meta(writer, &rec.h);
}

/* ---- fork ---- */

static void before_fork(void)
{
	col_loader_before_fork();
	col_lock(&core.opening);
}

static void after_fork_parent(void)
{
	static uint32_t noted;
	char text[] = "fork() called on PID 4294967295: its child is not recorded";

	col_unlock(&core.opening);
	col_loader_after_fork();
	if (!(col_config()->flags & COL_COLLECT_FLAG(NO_CHILDREN)) || !col_capture_now() ||
	    __atomic_exchange_n(&noted, 1, __ATOMIC_RELAXED))
		return;
	snprintf(text, sizeof(text), "fork() called on PID %u: its child is not recorded",
		 core.pid);
	col_note(text);
}

static void after_fork_child(void)
{
	core.opening = (struct col_lock){ 0 };
	col_helpers_forked();
	col_threads_forked();
	col_markers_forked();
	col_control_forked();
	col_signals_forked();
	col_last_forked();
	cap_writer_forked(core.capture);
	core.capture = NULL;
	core.pid = (uint32_t)getpid();
	core.begin_ns = col_now_ns();
	core.ended = core.leaving = 0;
	core.forked = true;
	core.retry_ns = 0;
	core.runtimes = 0;
	memset(core.lost, 0, sizeof(core.lost));
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->forked)
			col_providers[i]->forked();
	}
	col_loader_after_fork();
}

/* ---- the end ---- */

/* Waits for work in flight. Providers that need their library loaded call it from their exit hook. */
void col_settle(void)
{
	uint64_t deadline_ns = col_now_ns() + FINISH_NS;

	if (!col_capture_now())
		return;
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->finish)
			col_providers[i]->finish(deadline_ns);
	}
}

void col_leaving(void)
{
	col_settle();
	__atomic_store_n(&core.leaving, 1, __ATOMIC_RELEASE);
	col_faults_leaving();
}

/* A thread of ours may be opening the capture: its file would be left without a head. */
static struct cap_writer *capture_at_end(void)
{
	uint64_t deadline_ns = col_now_ns() + OPENING_NS;
	struct timespec step = { 0, 100000 };

	while (!col_capture_now() && __atomic_load_n(&core.opening.word, __ATOMIC_ACQUIRE) &&
	       col_now_ns() < deadline_ns)
		nanosleep(&step, NULL);
	return col_capture_now();
}

void col_end(enum cap_end_cause cause)
{
	int saved_errno = errno;
	struct cap_writer *writer = capture_at_end();

	/*
	 * A vfork() child lives in its parent's memory: its _exit() is not the end.
	 * Only the first close counts; later records are still written.
	 */
	if (!writer || (uint32_t)syscall(SYS_getpid) != core.pid ||
	    __atomic_exchange_n(&core.ended, 1, __ATOMIC_ACQ_REL))
		return;
	/* In exit() the runtime is gone by now, and other threads may be using it still: be quick. */
	if (!__atomic_load_n(&core.leaving, __ATOMIC_ACQUIRE))
		col_settle();
	if (cause == CAP_END_DETACH) {
		col_threads_names(writer);
	} else {
		col_threads_ranges(writer);
		col_markers_end_started();
	}
	col_threads_usage(writer);
	cap_writer_end(writer, cause);
	errno = saved_errno;
}

__attribute__((destructor)) static void unload(void)
{
	col_end(CAP_END_EXIT);
}

/*
 * Programs that leave without exit handlers, where they call through the dynamic
 * linker. Everything is recorded already; this is for GPU work in flight and for
 * the word that the end was meant.
 */
WS_PUBLIC void _exit(int status)
{
	col_end(CAP_END_EXIT);
	for (;;)
		syscall(SYS_exit_group, status);
}

WS_PUBLIC void _Exit(int status)
{
	_exit(status);
}

static void (*real_abort)(void); /* looked up early: it is no time to look things up */

/*
 * Kernels that have just ended are not written yet, and are needed to find the
 * reason. The capture is not marked as closed: it shows how the process ended.
 */
WS_PUBLIC _Noreturn void abort(void)
{
	static uint32_t once;

	if (col_capture_now() && (uint32_t)syscall(SYS_getpid) == core.pid &&
	    !__atomic_exchange_n(&once, 1, __ATOMIC_ACQ_REL)) {
		for (unsigned i = 0; i < COL_PROVIDERS; i++) {
			if (col_providers[i] && col_providers[i]->dying)
				col_providers[i]->dying();
		}
	}
	if (real_abort)
		real_abort();
	for (;;) {
		signal(SIGABRT, SIG_DFL);
		raise(SIGABRT);
	}
}

/* ---- the beginning ---- */

static void start_once(void)
{
	if (core.started)
		return;
	core.started = true;
	col_threads_start();
	col_last_start();
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	at_quick_exit(unload);
}

__attribute__((constructor(101))) static void load(void)
{
	int saved_errno = errno;
	static struct col_collect_config config;
	const char *text = getenv(COL_COLLECT_VARIABLE);

	core.pid = (uint32_t)getpid();
	core.load_ns = core.begin_ns = col_now_ns();
	if (!text || !text[0])
		return;
	core.config = &config;
	if (!col_collect_parse(text, &config)) {
		complain("nothing is recorded: " COL_COLLECT_VARIABLE, config.wrong);
		errno = saved_errno;
		return;
	}
	if (config.services || config.flags & COL_COLLECT_FLAG(KERNEL_RENAME)) {
		start_once();
		*(void **)&real_abort = dlsym(RTLD_NEXT, "abort");
		col_operations_start();
		core.active = true;
		col_control_start(&config);
	}
	errno = saved_errno;
}

/* ---- attaching ---- */

bool col_core_busy(void)
{
	return is_active();
}

/*
 * A thread of the program may be looking at the last one still, with a marker in its hand;
 * at the one of four attaches ago nobody does.
 */
static void keep_config(const struct col_collect_config *config)
{
	static struct col_collect_config *kept[4];
	struct col_collect_config **place = &kept[col_epoch() % 4];

	col_pages_free(*place, sizeof(**place));
	*place = col_pages(sizeof(**place));
	if (*place)
		**place = *config;
	__atomic_store_n(&core.config, *place, __ATOMIC_RELEASE);
}

void col_core_attach(const struct col_collect_config *config)
{
	start_once();
	col_lock(&core.opening);
	keep_config(config);
	col_operations_start();
	core.retry_ns = 0;
	core.runtimes = 0;
	core.complained = false;
	memset(core.lost, 0, sizeof(core.lost));
	__atomic_store_n(&core.ended, 0, __ATOMIC_RELEASE);
	__atomic_add_fetch(&col_epoch_, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&core.active, true, __ATOMIC_RELEASE);
	col_unlock(&core.opening);
}

struct cap_writer *col_core_detach(void)
{
	struct cap_writer *writer;

	col_control_detach();
	for (unsigned i = 0; i < COL_PROVIDERS; i++) {
		if (col_providers[i] && col_providers[i]->detach)
			col_providers[i]->detach();
	}
	col_end(CAP_END_DETACH);
	col_lock(&core.opening);
	__atomic_store_n(&core.active, false, __ATOMIC_RELEASE);
	writer = core.capture;
	__atomic_store_n(&core.capture, NULL, __ATOMIC_RELEASE);
	col_unlock(&core.opening);
	col_threads_detach();
	col_markers_detach();
	col_faults_stop();
	return writer;
}
