#include "base/proc.h"

#include "base/path.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHELL "/bin/sh"

/* Ignored by us but not by our parent: restored for programs that we start. */
static const int write_signals[] = { SIGPIPE, SIGXFSZ };
static bool was_default[WS_ARRAY_LEN(write_signals)];

void ws_proc_ignore_write_signals(void)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(write_signals); i++)
		was_default[i] |= signal(write_signals[i], SIG_IGN) == SIG_DFL;
}

static void set_write_signals(void (*how)(int))
{
	for (size_t i = 0; i < WS_ARRAY_LEN(write_signals); i++)
		if (was_default[i])
			signal(write_signals[i], how);
}

void ws_proc_restore_write_signals(void)
{
	set_write_signals(SIG_DFL);
}

static void set_spawn_defaults(posix_spawnattr_t *attr)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < WS_ARRAY_LEN(write_signals); i++)
		if (was_default[i])
			sigaddset(&set, write_signals[i]);
	posix_spawnattr_setsigdefault(attr, &set);
}

int ws_proc_exit_code(enum ws_status status)
{
	return status == WS_E_NOTFOUND ? WS_EXIT_NOT_FOUND : WS_EXIT_NOT_EXECUTABLE;
}

/* argv for the shell: sh path args... ; the array is the caller's to free. */
static char **shell_argv(const char *path, char *const *argv)
{
	size_t n = 0;
	char **args;

	while (argv[n])
		n++;
	args = calloc(n + 2, sizeof(*args));
	if (!args)
		return NULL;
	args[0] = SHELL;
	args[1] = (char *)path;
	for (size_t i = 1; i < n; i++)
		args[i + 1] = argv[i];
	return args;
}

static enum ws_status cannot_run(const char *program, int error, struct ws_err *err)
{
	/* The file is there: ENOENT is about the loader that it asks for. */
	if (error == ENOENT)
		return ws_fail(err, WS_E_ACCESS,
			       "cannot run '%s': its dynamic loader is missing: was it built for "
			       "another system?",
			       program);
	return ws_fail_errno(err, error, "cannot run '%s'", program);
}

enum ws_status ws_proc_exec(const char *program, char *const *argv, char *const *envp,
			    struct ws_err *err)
{
	char path[PATH_MAX], **args;
	enum ws_status st = ws_path_program(program, path, err);
	int error;

	if (st)
		return st;
	set_write_signals(SIG_DFL);
	execve(path, argv, envp);
	error = errno;
	if (error == ENOEXEC && (args = shell_argv(path, argv))) {
		execve(SHELL, args, envp);
		error = errno;
		free(args);
	}
	set_write_signals(SIG_IGN);
	return cannot_run(program, error, err);
}

static enum ws_status spawn(const char *program, char *const *argv, char *const *envp,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, pid_t *out_pid, struct ws_err *err)
{
	char path[PATH_MAX], **args;
	enum ws_status st = ws_path_program(program, path, err);
	int error;

	if (st)
		return st;
	error = posix_spawn(out_pid, path, actions, attr, argv, envp);
	if (error == ENOEXEC) {
		args = shell_argv(path, argv);
		if (!args)
			return ws_fail(err, WS_E_NOMEM, "out of memory");
		error = posix_spawn(out_pid, SHELL, actions, attr, args, envp);
		free(args);
	}
	return error ? cannot_run(program, error, err) : WS_OK;
}

static struct ws_proc_end read_end(int wait_status)
{
	struct ws_proc_end end = { .exit_code = WEXITSTATUS(wait_status) };

	if (WIFSIGNALED(wait_status)) {
		end.signal = WTERMSIG(wait_status);
		end.exit_code = 128 + end.signal;
		end.dumped_core = WCOREDUMP(wait_status);
	}
	return end;
}

/* Passing signals on. One child at a time, as the header says. */
static const int passed[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH };
static volatile sig_atomic_t passed_to, interrupted_by;

static void pass_on(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)context;
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
		interrupted_by = sig;
	/* From the kernel means from the terminal: the child is in the same group and got it. */
	if (passed_to > 0 && info->si_code <= 0)
		kill((pid_t)passed_to, sig);
	errno = saved_errno;
}

enum ws_status ws_proc_run(const char *program, char *const *argv, char *const *envp,
			   struct ws_proc_end *out_end, struct ws_err *err)
{
	struct sigaction old[WS_ARRAY_LEN(passed)];
	struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART };
	posix_spawnattr_t attr;
	sigset_t block, before;
	enum ws_status st;
	int wait_status;
	pid_t pid = 0;

	/*
	 * Blocked until the child is known, so that none falls between; the
	 * child starts with the mask we had. Handlers do not survive exec, and
	 * what was ignored stays ignored (nohup) because it gets no handler.
	 */
	sigemptyset(&block);
	for (size_t i = 0; i < WS_ARRAY_LEN(passed); i++)
		sigaddset(&block, passed[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &before);
	set_spawn_defaults(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	st = spawn(program, argv, envp, NULL, &attr, &pid, err);
	posix_spawnattr_destroy(&attr);
	if (st) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return st;
	}
	passed_to = pid;
	interrupted_by = 0;
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < WS_ARRAY_LEN(passed); i++) {
		sigaction(passed[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(pid, &wait_status, 0) < 0)
		if (errno != EINTR) {
			st = ws_fail_errno(err, errno, "cannot wait for '%s'", program);
			break;
		}
	passed_to = 0;
	for (size_t i = 0; i < WS_ARRAY_LEN(passed); i++)
		sigaction(passed[i], &old[i], NULL);
	if (!st) {
		*out_end = read_end(wait_status);
		out_end->interrupted = interrupted_by;
	}
	return st;
}

_Noreturn void ws_proc_end_as(const struct ws_proc_end *end)
{
	if (end->signal) {
		/* The core file is the child's; ours would only overwrite it. */
		struct rlimit none = { 0, 0 };
		sigset_t one;

		setrlimit(RLIMIT_CORE, &none);
		signal(end->signal, SIG_DFL);
		sigemptyset(&one);
		sigaddset(&one, end->signal);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		raise(end->signal);
	}
	_exit(end->exit_code);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Read @fd until its end or @until_ms; output that does not fit is read and dropped. */
static bool drain(int fd, int64_t until_ms, struct ws_buf *out)
{
	char block[4096];

	for (;;) {
		struct pollfd waiting = { .fd = fd, .events = POLLIN };
		int64_t left_ms = until_ms - now_ms();
		ssize_t n;

		if (left_ms <= 0)
			return false;
		if (poll(&waiting, 1, (int)WS_MIN(left_ms, 1000)) <= 0)
			continue;
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		ws_buf_add_n(out, block, WS_MIN((size_t)n, out->max_n - out->n));
	}
}

/* A program may close its output and stay: wait for its end no longer than for its output. */
static bool reap(pid_t pid, int64_t until_ms, int *out_wait_status)
{
	while (waitpid(pid, out_wait_status, WNOHANG) != pid) {
		if (now_ms() >= until_ms)
			return false;
		poll(NULL, 0, 2);
	}
	return true;
}

enum ws_status ws_proc_read(const char *program, char *const *argv, char *const *envp,
			    enum ws_proc_stderr its_stderr, int timeout_ms, struct ws_buf *out,
			    struct ws_proc_end *out_end, struct ws_err *err)
{
	int64_t until_ms = now_ms() + timeout_ms;
	posix_spawn_file_actions_t actions;
	int wait_status, ends[2];
	enum ws_status st;
	posix_spawnattr_t attr;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return ws_fail_errno(err, errno, "cannot create a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (its_stderr == WS_PROC_STDERR_JOIN)
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	else if (its_stderr == WS_PROC_STDERR_DROP)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	/* A group of its own, so that a script's children die with it. */
	posix_spawnattr_init(&attr);
	set_spawn_defaults(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	st = spawn(program, argv, envp, &actions, &attr, &pid, err);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!st) {
		if (!drain(ends[0], until_ms, out) || !reap(pid, until_ms, &wait_status)) {
			kill(-pid, SIGKILL);
			while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
				;
			st = ws_fail(err, WS_E_TIMEOUT, "'%s' took longer than %d ms", program,
				     timeout_ms);
		} else {
			*out_end = read_end(wait_status);
		}
	}
	close(ends[0]);
	return st;
}
