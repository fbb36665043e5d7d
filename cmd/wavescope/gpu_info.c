/* wavescope gpu-info: power or memory in use of the GPUs over time, into a CSV file. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/str.h"
#include "launch/inject.h"
#include "models/gpu_info.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct info_args {
	int mode;
	const char *devices;
	double period_s;
	const char *output;
	bool dual_gcd;
	bool list;
	bool background;
	const char *pid_file, *log_file;
	uint64_t while_pid;
};

static const struct ws_opt info_opts[] = {
	WS_OPT_GROUP("What"),
	WS_OPT_CHOICE(struct info_args, mode, 'm', "mode", "MODE", mdl_gpu_info_modes,
		      "power: watts; vram: memory in use, in percent. Default: power"),
	WS_OPT_STR(struct info_args, devices, 'd', "device", "LIST",
		   "GPUs: all (the default), or numbers as in 0,2-3"),
	WS_OPT_F64(struct info_args, period_s, 'i', "interval", "SECONDS",
		   "time between samples. Default: 0.1"),
	WS_OPT_STR(struct info_args, output, 'o', "output", "FILE",
		   "write to FILE. Default: prof.csv"),
	WS_OPT_BOOL(struct info_args, dual_gcd, 0, "dual-gcd",
		    "run PROGRAM twice at the same time, on GPU 0 and on GPU 1; requires two GPUs"),
	WS_OPT_BOOL(struct info_args, list, 'l', "list",
		    "show what the GPUs are read by, and exit"),
	WS_OPT_GROUP("Without a program"),
	WS_OPT_BOOL(struct info_args, background, 'b', "background",
		    "return when the first row is in the file, and go on until SIGTERM"),
	WS_OPT_STR(struct info_args, pid_file, 0, "pid-file", "FILE",
		   "with --background: write the process id to FILE"),
	WS_OPT_STR(struct info_args, log_file, 0, "log-file", "FILE",
		   "with --background: write messages to FILE"),
	WS_OPT_U64(struct info_args, while_pid, 0, "while-pid", "PID",
		   "end when the process PID has ended"),
};

static void set_defaults(void *values)
{
	struct info_args *args = values;

	args->devices = "all";
	args->period_s = 0.1;
	args->output = "prof.csv";
}

static enum ws_status open_info(const struct info_args *args, struct mdl_gpu_info **out_info,
				struct ws_err *err)
{
	struct mdl_gpu_info_config config = {
		.mode = (enum mdl_gpu_info_mode)args->mode,
		.devices = args->devices,
		.period_s = args->period_s,
		.path = args->output,
	};
	struct mdl_gpu_info *info = NULL;
	enum ws_status st = mdl_gpu_info_open(&config, &info, err);

	if (!st && args->dual_gcd && mdl_gpu_info_n_gpus(info) != 2)
		st = ws_fail(err, WS_E_USAGE,
			     "--dual-gcd requires two GPUs, not %zu: name them with --device 0,1",
			     mdl_gpu_info_n_gpus(info));
	if (st) {
		mdl_gpu_info_close(info);
		return st;
	}
	if (*mdl_gpu_info_note(info))
		fprintf(stderr, "wavescope gpu-info: %s\n", mdl_gpu_info_note(info));
	*out_info = info;
	return WS_OK;
}

static void say_end(const struct mdl_gpu_info *info, const struct info_args *args)
{
	unsigned long long n_rows = mdl_gpu_info_n_rows(info);

	fprintf(stderr, "wavescope gpu-info: %llu %s of %zu %s in %s", n_rows,
		n_rows == 1 ? "row" : "rows", mdl_gpu_info_n_gpus(info),
		mdl_gpu_info_n_gpus(info) == 1 ? "GPU" : "GPUs", args->output);
	if (mdl_gpu_info_n_missed(info))
		fprintf(stderr,
			"; %llu samples are missing: this machine was too busy for one every %g s",
			(unsigned long long)mdl_gpu_info_n_missed(info), args->period_s);
	fputc('\n', stderr);
}

/* ---- until a signal ---- */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static enum ws_status sample_until_signal(const struct info_args *args, struct mdl_gpu_info *info,
					  struct ws_err *err)
{
	int stop_fd = open_signals();
	enum ws_status st;

	if (stop_fd < 0)
		return ws_fail_errno(err, errno, "cannot wait for signals");
	st = mdl_gpu_info_rows(info, stop_fd, (pid_t)args->while_pid, err);
	close(stop_fd);
	say_end(info, args);
	return st;
}

/* ---- in the background ---- */

/* stdin, stdout and stderr would keep whoever reads them waiting. */
static enum ws_status leave_terminal(const char *log_path, struct ws_err *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), log = null;
	enum ws_status st = WS_OK;

	if (null < 0)
		return ws_fail_errno(err, errno, "cannot open /dev/null");
	if (log_path)
		st = ws_file_create(log_path, &log, err);
	if (!st && (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log, 2) < 0 || setsid() < 0))
		st = ws_fail_errno(err, errno, "cannot go into the background");
	if (log != null && log >= 0)
		close(log);
	close(null);
	return st;
}

static enum ws_status write_pid(const char *path, struct ws_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	return path ? ws_file_replace(path, text, strlen(text), err) : WS_OK;
}

/*
 * The child: everything that can go wrong is told to the parent before the first row. It also opens
 * AMD's libraries, which do not survive a fork.
 */
static _Noreturn void stay(const struct info_args *args, int ready_fd)
{
	struct mdl_gpu_info *info = NULL;
	struct ws_err err = { WS_OK, "" };
	enum ws_status st = leave_terminal(args->log_file, &err);

	if (!st)
		st = open_info(args, &info, &err);
	if (!st)
		st = mdl_gpu_info_row(info, &err);
	if (!st)
		st = write_pid(args->pid_file, &err);
	if (write(ready_fd, &err, sizeof(err)) != sizeof(err))
		_exit(WS_EXIT_FAILED);
	close(ready_fd);
	if (!st) {
		st = sample_until_signal(args, info, &err);
		if (st)
			ws_log_error("%s", err.text);
		if (args->pid_file)
			unlink(args->pid_file);
	}
	_exit(st ? WS_EXIT_FAILED : 0);
}

static enum ws_status go_background(const struct info_args *args, struct ws_err *err)
{
	struct ws_err told = { WS_E_STATE, "it ended before the first row" };
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return ws_fail_errno(err, errno, "cannot make a pipe");
	fflush(NULL);
	child = fork();
	if (child == 0) {
		close(fds[0]);
		stay(args, fds[1]);
	}
	close(fds[1]);
	if (child < 0)
		told = (struct ws_err){ WS_E_STATE, "cannot start a process" };
	else if (read(fds[0], &told, sizeof(told)) != sizeof(told))
		waitpid(child, NULL, 0);
	close(fds[0]);
	return told.status ? ws_fail(err, told.status, "%s", told.text) : WS_OK;
}

/* ---- while a program runs ---- */

struct sampling {
	struct mdl_gpu_info *info;
	int stop_fd;
	enum ws_status st;
	struct ws_err err;
};

static void *sample(void *ctx)
{
	struct sampling *sampling = ctx;

	sampling->st = mdl_gpu_info_rows(sampling->info, sampling->stop_fd, 0, &sampling->err);
	return NULL;
}

/* "$@" on both dies; the exit code is the first that is not 0. */
static const char dual_script[] = "HIP_VISIBLE_DEVICES=0 \"$@\" & first=$!\n"
				  "HIP_VISIBLE_DEVICES=1 \"$@\" & second=$!\n"
				  "wait $first; status=$?\n"
				  "wait $second || [ $status -ne 0 ] || status=$?\n"
				  "exit $status\n";

static enum ws_status run_program(const struct info_args *args, char **argv, int n_words,
				  struct ws_proc_end *end, struct ws_err *err)
{
	char **words = calloc((size_t)n_words + 5, sizeof(*words));
	struct ws_env env = { .n = 0 };
	enum ws_status st;
	size_t n = 0;
	bool soft;

	if (!words)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	if (args->dual_gcd) {
		words[n++] = "sh";
		words[n++] = "-c";
		words[n++] = (char *)dual_script;
		words[n++] = "sh";
	}
	for (int i = 0; i < n_words; i++)
		words[n++] = argv[i];
	st = ws_env_init(&env, environ, err);
	if (!st)
		st = launch_inject_gpu(&env, &soft, err);
	if (!st)
		st = ws_proc_run(words[0], words, env.at, end, err);
	ws_env_fini(&env);
	free(words);
	return st;
}

/* The program's own end is ours; a failure to sample is reported and does not change it. */
static enum ws_status sample_program(const struct info_args *args, struct mdl_gpu_info *info,
				     const struct ws_cmd_call *call, int *exit_code,
				     struct ws_err *err)
{
	struct sampling sampling = { .info = info, .stop_fd = eventfd(0, EFD_CLOEXEC) };
	struct ws_proc_end end = { 0 };
	pthread_t thread;
	enum ws_status st;

	if (sampling.stop_fd < 0)
		return ws_fail_errno(err, errno, "cannot make an event");
	if (pthread_create(&thread, NULL, sample, &sampling)) {
		close(sampling.stop_fd);
		return ws_fail(err, WS_E_STATE, "cannot start a thread");
	}
	st = run_program(args, call->rest.operands, call->rest.n, &end, err);
	if (eventfd_write(sampling.stop_fd, 1) == 0)
		pthread_join(thread, NULL);
	close(sampling.stop_fd);
	if (st) {
		*exit_code = ws_proc_exit_code(st);
		return st;
	}
	say_end(info, args);
	if (sampling.st)
		ws_log_error("%s", sampling.err.text);
	if (end.exit_code || end.signal)
		ws_proc_end_as(&end);
	return sampling.st ? ws_fail(err, sampling.st, "%s", sampling.err.text) : WS_OK;
}

static enum ws_status list_source(struct ws_err *err)
{
	const char *name;
	size_t n;
	enum ws_status st = mdl_gpu_info_source(&name, &n, err);

	if (!st)
		printf("%zu %s, read by %s\n", n, n == 1 ? "GPU" : "GPUs", name);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct info_args *args = call->values;
	struct mdl_gpu_info *info = NULL;
	enum ws_status st;

	if (args->list)
		return list_source(err);
	if (args->background && call->rest.n)
		return ws_fail(err, WS_E_USAGE, "--background excludes a program");
	if (args->background)
		return go_background(args, err);
	st = open_info(args, &info, err);
	if (!st)
		st = mdl_gpu_info_row(info, err);
	if (!st)
		st = call->rest.n ? sample_program(args, info, call, exit_code, err)
				  : sample_until_signal(args, info, err);
	mdl_gpu_info_close(info);
	return st;
}

const struct ws_cmd wavescope_gpu_info_cmd = {
	.name = "gpu-info",
	.summary = "record power or memory in use of GPUs over time",
	.usage = "[options] [-- PROGRAM [ARG...]]",
	.about = "Samples all GPUs of this machine while PROGRAM runs, or until it is interrupted, "
		 "and writes the CSV file of madengine's gpu_info profilers. Each row is written "
		 "when it is sampled. On the software GPU both are simulated.",
	.notes = "Exit code:\n"
		 "  that of PROGRAM; 1 if nothing can be sampled, 2 for wrong usage.\n"
		 "\n"
		 "Examples:\n"
		 "  wavescope gpu-info -m vram -o vram.csv -- python3 train.py\n"
		 "  wavescope gpu-info -m power -i 1 -d 0,1 --background --pid-file power.pid",
	.opts = { info_opts, WS_ARRAY_LEN(info_opts) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct info_args),
	.set_defaults = set_defaults,
	.run = run,
};
