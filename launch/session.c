#include "launch/session.h"

#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "base/util.h"
#include "launch/attach.h"
#include "launch/count_events.h"
#include "launch/inject.h"
#include "launch/softgpu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TARGETS_MAX 256u
#define ANSWER_MS 30000 /* the process sets up wrappers; a stopped one never does */

struct target {
	pid_t pid;
	int pipe;  /* its control pipe, or -1 */
	int pidfd; /* readable when it has ended */
	char control[PATH_MAX + 64];
};

struct attach {
	struct target all[TARGETS_MAX];
	size_t n;
};

static volatile sig_atomic_t told_to_stop;

static void on_stop(int signo)
{
	told_to_stop = signo;
}

/* ---- who ---- */

static enum ws_status add_target(struct attach *a, pid_t pid, struct ws_err *err)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->all[i].pid == pid)
			return WS_OK;
	if (a->n == TARGETS_MAX)
		return ws_fail(err, WS_E_LIMIT, "more than %u processes: attach to fewer at a time",
			       TARGETS_MAX);
	a->all[a->n++] = (struct target){ .pid = pid, .pipe = -1, .pidfd = -1 };
	return WS_OK;
}

/* What it started; the list grows while it is walked, so theirs come, too. */
static enum ws_status add_children(struct attach *a, pid_t pid, struct ws_err *err)
{
	enum ws_status st = WS_OK;
	char path[96];
	FILE *file;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	while (file && !st && fscanf(file, "%d", &child) == 1)
		if (child != getpid())
			st = add_target(a, child, err);
	if (file)
		fclose(file);
	return st;
}

static enum ws_status list_targets(const struct launch_session *session, struct attach *a,
				   size_t *n_named, struct ws_err *err)
{
	enum ws_status st = WS_OK;

	for (size_t i = 0; i < session->n_pids && !st; i++)
		st = add_target(a, session->pids[i], err);
	*n_named = a->n;
	for (size_t i = 0; i < a->n && !st && session->children; i++)
		st = add_children(a, a->all[i].pid, err);
	return st;
}

static enum ws_status adopt(const struct ws_buf *environ_text, struct ws_err *err)
{
	static const char name[] = "WAVESCOPE_GPU=";
	struct ws_str rest = ws_buf_view(environ_text), word;

	unsetenv("WAVESCOPE_GPU");
	while (ws_str_next(&rest, '\0', &word))
		if (word.n >= sizeof(name) && memcmp(word.at, name, sizeof(name) - 1) == 0) {
			char value[256];

			snprintf(value, sizeof(value), "%.*s", (int)(word.n - sizeof(name) + 1),
				 word.at + sizeof(name) - 1);
			if (setenv("WAVESCOPE_GPU", value, 1))
				return ws_fail_errno(err, errno, "setenv");
		}
	return WS_OK;
}

enum ws_status launch_session_adopt_gpu(pid_t pid, struct ws_err *err)
{
	char library[PATH_MAX], path[64];
	bool by_packets = false;
	struct ws_buf text;
	enum ws_status st = launch_inject_library(library, err);

	if (!st)
		st = launch_attach_check(pid, library, err);
	if (!st)
		st = launch_counts_by_packets(true, &by_packets, err);
	if (!st &&
	    by_packets) /* they go into queues that are intercepted, which the process has not */
		st = ws_fail(err, WS_E_UNSUPPORTED,
			     "attaching to count is not supported with " LAUNCH_COUNTERS_ENV
			     "=%s, as on hardware: unset it",
			     getenv(LAUNCH_COUNTERS_ENV));
	if (!st && !launch_softgpu_in_process(pid))
		st = ws_fail(
			err, WS_E_UNSUPPORTED,
			"process %d does not use the software GPU: attaching to count is supported "
			"there only: start the program under the profiler, after '--'",
			(int)pid);
	if (st)
		return st;
	ws_buf_init(&text, 16 << 20);
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = adopt(&text, err);
	ws_buf_fini(&text);
	return st;
}

/* ---- attaching ---- */

/* Wait for "CONTROL.answer" to say @wanted; anything else is why not. */
static enum ws_status wait_answer(const struct target *t, const char *wanted, struct ws_err *err)
{
	char path[PATH_MAX + 80], text[256];

	snprintf(path, sizeof(path), "%s.answer", t->control);
	for (int ms = 0; ms < ANSWER_MS; ms += 5) {
		FILE *file = fopen(path, "re");
		size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

		if (file)
			fclose(file);
		text[n] = '\0';
		if (strcmp(text, wanted) == 0)
			return WS_OK;
		if (n && strcmp(text, "attached") != 0)
			return ws_fail(err, WS_E_STATE, "cannot attach to process %d: %s",
				       (int)t->pid, text);
		if (kill(t->pid, 0) && errno == ESRCH)
			return ws_fail(err, WS_E_STATE, "process %d has ended", (int)t->pid);
		nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
	}
	return ws_fail(err, WS_E_TIMEOUT, "process %d does not respond: is it stopped?",
		       (int)t->pid);
}

static enum ws_status attach_one(struct target *t, const struct launch_rundir *dir,
				 struct col_collect_config *config, struct ws_err *err)
{
	static char request[PATH_MAX + 64 + COL_COLLECT_TEXT_MAX];
	char library[PATH_MAX];
	size_t n;
	enum ws_status st = launch_inject_library(library, err);

	if (!st)
		st = launch_attach_check(t->pid, library, err);
	if (st)
		return st;
	/* The process decides which times the software GPU reports. */
	config->flags &= ~COL_COLLECT_FLAG(SOFTGPU);
	if (launch_softgpu_in_process(t->pid))
		config->flags |= COL_COLLECT_FLAG(SOFTGPU);
	snprintf(t->control, sizeof(t->control), "%s/attach-%d", dir->path, (int)t->pid);
	n = (size_t)snprintf(request, sizeof(request), "%s\n", t->control);
	if (!col_collect_print(config, request + n, sizeof(request) - n))
		return ws_fail(err, WS_E_LIMIT, "'%s': the path is too long", config->dir);
	if (mkfifo(t->control, 0600))
		return ws_fail_errno(err, errno, "cannot make '%s'", t->control);
	/* Both ends: opening only one waits for the other. */
	t->pipe = open(t->control, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	st = launch_attach_call(t->pid, library, "col_attach", request, err);
	if (!st)
		st = wait_answer(t, "attached", err);
	return st;
}

static void close_target(struct target *t)
{
	if (t->pipe >= 0)
		close(t->pipe);
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pipe = t->pidfd = -1;
}

/* ---- meanwhile ---- */

static bool has_ended(const struct target *t)
{
	struct pollfd end = { .fd = t->pidfd, .events = POLLIN };

	return t->pidfd >= 0 ? poll(&end, 1, 0) > 0 : kill(t->pid, 0) != 0;
}

/* Until Enter, the time is over, a signal, or no process is left. */
static void wait_for_end(const struct attach *a, const struct launch_session *session)
{
	bool keys = !session->has_duration && isatty(STDIN_FILENO);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t left_ms = session->has_duration ? session->duration_ms : UINT64_MAX;
	bool pipe = !session->has_duration && !keys;

	while (!told_to_stop && left_ms) {
		int turn_ms = left_ms < 100 ? (int)left_ms : 100;
		bool all = true;
		char byte;

		if ((keys || pipe) && poll(&in, 1, turn_ms) > 0) {
			ssize_t n = read(STDIN_FILENO, &byte, 1);

			if (n > 0 && byte == '\n')
				return;
			/* No input at all, as under nohup: only signals and the end are left. */
			if (n <= 0)
				keys = pipe = false;
		} else if (!keys && !pipe) {
			nanosleep(&(struct timespec){ 0, turn_ms * 1000000L }, NULL);
		}
		if (session->has_duration)
			left_ms -= (uint64_t)turn_ms;
		for (size_t i = 0; i < a->n; i++)
			all &= a->all[i].pipe < 0 || has_ended(&a->all[i]);
		if (all)
			return;
	}
}

static void listen_to_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_stop }, old;

	for (size_t i = 0; i < WS_ARRAY_LEN(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static void detach_all(struct attach *a)
{
	struct ws_err err;

	for (size_t i = 0; i < a->n; i++) {
		struct target *t = &a->all[i];
		bool was = t->pipe >= 0;

		close_target(t);
		if (was && kill(t->pid, 0) == 0 && wait_answer(t, "detached", &err))
			ws_log_warn("%s: its records so far are written", err.text);
	}
}

static void remove_controls(const struct attach *a)
{
	char path[PATH_MAX + 80];

	for (size_t i = 0; i < a->n; i++) {
		if (!a->all[i].control[0])
			continue;
		unlink(a->all[i].control);
		snprintf(path, sizeof(path), "%s.answer", a->all[i].control);
		unlink(path);
	}
}

enum ws_status launch_session_run(const struct launch_session *session,
				  const struct launch_rundir *dir, int *out_signal,
				  struct ws_err *err)
{
	static struct col_collect_config config;
	static struct attach a;
	size_t n_named = 0, n_attached = 0;
	enum ws_status st;

	config = *session->config;
	strcpy(config.dir, dir->path);
	a.n = 0;
	told_to_stop = 0;
	st = list_targets(session, &a, &n_named, err);
	if (st)
		return st;
	listen_to_signals();
	for (size_t i = 0; i < a.n; i++) {
		struct ws_err why;

		if (!attach_one(&a.all[i], dir, &config, &why)) {
			n_attached++;
			continue;
		}
		close_target(&a.all[i]);
		/* A child may end, or be a shell of another user: the rest is still worth it. */
		if (i < n_named) {
			st = ws_fail(err, why.status, "%s", why.text);
			break;
		}
		ws_log_info("%s", why.text);
	}
	if (!st) {
		fprintf(stderr, "%s: attached to %zu %s%s\n", session->tool, n_attached,
			n_attached == 1 ? "process" : "processes",
			session->has_duration  ? ""
			: isatty(STDIN_FILENO) ? ": Enter detaches"
					       : ": Ctrl-C detaches");
		wait_for_end(&a, session);
	}
	detach_all(&a);
	remove_controls(&a);
	*out_signal = told_to_stop;
	return st;
}
