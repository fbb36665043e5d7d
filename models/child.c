#include "models/child.h"

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SWEEP_GRACE_S 1.0

/* ---- the log ---- */

void mdl_log_bytes(struct mdl_log *log, const char *bytes, size_t n)
{
	if (!log)
		return;
	if (log->file)
		fwrite(bytes, 1, n, log->file);
	if (log->live) {
		fwrite(bytes, 1, n, stdout);
		fflush(stdout);
	}
	if (log->also)
		ws_buf_add_n(log->also, bytes, WS_MIN(n, log->also->max_n - log->also->n));
}

void mdl_log_line(struct mdl_log *log, const char *fmt, ...)
{
	struct ws_buf line;
	va_list args;

	ws_buf_init(&line, 1 << 20);
	va_start(args, fmt);
	ws_buf_vprintf(&line, fmt, args);
	va_end(args);
	ws_buf_add_c(&line, '\n', 1);
	mdl_log_bytes(log, line.at, line.n);
	ws_buf_fini(&line);
}

/* ---- one child ---- */

struct child {
	pid_t pid;
	int output;  /* of the child; -1: ended */
	int signals; /* signalfd */
	int wait_status;
	bool ended;
	double started_s, limit_s; /* 0: no limit */
	double killed_s;           /* when SIGTERM was sent; 0: it was not */
	bool killed_hard;
	struct mdl_child_end *end;
};

double mdl_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static _Noreturn void be_child(char *const *argv, char *const *envp, const char *dir, int output,
			       int failure, const sigset_t *mask)
{
	int nothing = open("/dev/null", O_RDONLY);
	struct ws_err err = { .status = WS_OK };

	setpgid(0, 0);
	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (dir && chdir(dir) != 0)
		ws_fail_errno(&err, errno, "%s", dir);
	else
		ws_proc_exec(argv[0], argv, envp, &err);
	if (write(failure, &err, sizeof(err)) < 0)
		_exit(WS_EXIT_NOT_EXECUTABLE);
	_exit(ws_proc_exit_code(err.status));
}

static enum ws_status start(struct child *child, char *const *argv, char *const *envp,
			    const char *dir, const sigset_t *mask, struct ws_err *err)
{
	int output[2] = { -1, -1 }, failure[2] = { -1, -1 };
	struct ws_err said;
	enum ws_status st = WS_OK;

	if (pipe2(output, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
		st = ws_fail_errno(err, errno, "cannot create a pipe");
		goto out;
	}
	child->pid = fork();
	if (child->pid < 0) {
		st = ws_fail_errno(err, errno, "cannot start '%s'", argv[0]);
		goto out;
	}
	if (child->pid == 0)
		be_child(argv, envp, dir, output[1], failure[1], mask);
	setpgid(child->pid, child->pid); /* by both: whoever comes first */
	close(failure[1]);
	failure[1] = -1;
	if (read(failure[0], &said, sizeof(said)) == sizeof(said)) {
		waitpid(child->pid, NULL, 0);
		st = ws_fail(err, said.status, "%s", said.text);
		goto out;
	}
	child->output = output[0];
	fcntl(child->output, F_SETFL, O_NONBLOCK);
	output[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (output[i] >= 0)
			close(output[i]);
		if (failure[i] >= 0)
			close(failure[i]);
	}
	return st;
}

/* What is there to read now. */
static void read_output(struct child *child, struct mdl_log *log)
{
	char block[1 << 14];
	ssize_t n;

	while (child->output >= 0) {
		n = read(child->output, block, sizeof(block));
		if (n > 0) {
			mdl_log_bytes(log, block, (size_t)n);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(child->output);
			child->output = -1;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

/* Ended by a signal that asks to end, itself or what it waited for. */
static bool was_asked_to_end(int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;

	return sig == SIGTERM || sig == SIGINT || sig == SIGHUP;
}

/* Orphans of the group are ours, too: an unreaped one would look as if it were running. */
static void reap(struct child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == child->pid) {
			child->ended = true;
			child->wait_status = status;
			/* A profiler of the group was asked, too, and has files to write. */
			if (!child->killed_s && was_asked_to_end(status))
				child->killed_s = mdl_now_s();
		}
}

static void terminate(struct child *child, int sig)
{
	kill(-child->pid, sig);
	if (!child->killed_s)
		child->killed_s = mdl_now_s();
	child->killed_hard |= sig == SIGKILL;
}

static void read_signals(struct child *child)
{
	struct signalfd_siginfo info;
	bool all_got_it = getenv("MAD_IN_SLURM_JOB"); /* SIGTERM goes to all processes of a job */

	while (read(child->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* Twice, it would stop a profiler that is writing its files. */
		if (all_got_it && info.ssi_signo == SIGTERM)
			child->killed_s = child->killed_s ? child->killed_s : mdl_now_s();
		else
			terminate(child, child->end->interrupted ? SIGKILL : (int)info.ssi_signo);
		child->end->interrupted = true;
	}
}

/* Over: it has ended, and if it was to end, its whole group has. */
static bool is_over(const struct child *child)
{
	return child->ended && (!child->killed_s || kill(-child->pid, 0) != 0);
}

static void wait_for(struct child *child, struct mdl_log *log)
{
	while (!is_over(child)) {
		struct pollfd fds[] = { { .fd = child->signals, .events = POLLIN },
					{ .fd = child->output, .events = POLLIN } };
		double now = mdl_now_s(), until;

		if (!child->killed_s && child->limit_s && now >= child->limit_s) {
			child->end->timed_out = true;
			terminate(child, SIGTERM);
		}
		if (child->killed_s && !child->killed_hard &&
		    now >= child->killed_s + MDL_CHILD_GRACE_S)
			terminate(child, SIGKILL);
		until = child->killed_s ? now + 0.02 : child->limit_s ? child->limit_s : now + 60;
		poll(fds, 2, (int)(WS_MIN(until - now, 60.0) * 1000) + 1);
		read_signals(child);
		read_output(child, log);
		reap(child);
	}
	read_output(child, log);
}

enum ws_status mdl_child_run(char *const *argv, char *const *envp, const char *dir,
			     double timeout_s, struct mdl_log *log, struct mdl_child_end *out_end,
			     struct ws_err *err)
{
	struct mdl_child_end end = { .exit_code = 0 };
	struct child child = { .output = -1, .end = &end };
	sigset_t mine, before;
	enum ws_status st;

	if (log && log->file)
		fflush(log->file);
	fflush(stdout);
	sigemptyset(&mine);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGHUP);
	sigprocmask(SIG_BLOCK, &mine, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child.signals = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
	child.started_s = mdl_now_s();
	child.limit_s = timeout_s > 0 ? child.started_s + timeout_s : 0;
	st = child.signals < 0 ? ws_fail_errno(err, errno, "cannot wait for signals")
			       : start(&child, argv, envp, dir, &before, err);
	if (!st) {
		wait_for(&child, log);
		end.group = child.pid;
		end.seconds = mdl_now_s() - child.started_s;
		end.exit_code = WIFSIGNALED(child.wait_status) ? 128 + WTERMSIG(child.wait_status)
							       : WEXITSTATUS(child.wait_status);
		*out_end = end;
	}
	if (child.output >= 0)
		close(child.output);
	if (child.signals >= 0)
		close(child.signals);
	if (log && log->file)
		fflush(log->file);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return st;
}

static size_t signal_groups(const pid_t *groups, size_t n, int sig)
{
	size_t n_left = 0;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	for (size_t i = 0; i < n; i++)
		n_left += groups[i] > 1 && kill(-groups[i], sig) == 0;
	return n_left;
}

size_t mdl_child_sweep(const pid_t *groups, size_t n)
{
	size_t n_left = signal_groups(groups, n, SIGTERM);
	double until = mdl_now_s() + SWEEP_GRACE_S;

	if (!n_left)
		return 0;
	while (signal_groups(groups, n, 0) && mdl_now_s() < until)
		poll(NULL, 0, 10);
	signal_groups(groups, n, SIGKILL);
	return n_left;
}
