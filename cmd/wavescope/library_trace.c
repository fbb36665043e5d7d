/* wavescope library-trace: run a program, and count the calls that AMD's libraries log. */
#include "cmd/wavescope/wavescope.h"

#include "base/env.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"
#include "launch/inject.h"
#include "models/library_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define OUTPUT_DEFAULT "library_trace.csv"
#define READ_BYTES 65536
#define SILENCE_MS 50 /* then a line without an end is shown: a prompt, a progress bar */
#define SAVE_S 1      /* the file is at most this old when we are killed */
/* A process that the program left in the background has this long to say something. */
#define LEFT_BEHIND_MS 200

struct trace_args {
	const char *output, *modes;
};

static const struct ws_opt trace_opts[] = {
	WS_OPT_STR(struct trace_args, output, 'o', "output", "FILE",
		   "write to FILE. Default: OUTPUT_FILE, or " OUTPUT_DEFAULT),
	WS_OPT_STR(
		struct trace_args, modes, 'm', "mode", "LIST",
		"rocblas_trace, hipblaslt_trace, miopen_trace, tensile_trace, rccl_trace: one or "
		"more. Default: those in TRACE_MODE, and those whose variable is set: "
		"ROCBLAS_TRACE, HIPBLASLT_TRACE, ..."),
};

struct reader {
	struct mdl_library_trace *trace;
	const struct ws_env *env;
	const char *path;
	int in_fd, out_fd, ended_fd;
	time_t saved_at;
	uint64_t n_saved;
	bool failed; /* to write the file; it was reported */
};

static void put(int fd, const struct ws_buf *bytes)
{
	size_t done = 0;

	while (done < bytes->n) {
		ssize_t n = write(fd, bytes->at + done, bytes->n - done);

		if (n < 0 && errno != EINTR)
			return; /* nobody reads it any more */
		done += n > 0 ? (size_t)n : 0;
	}
}

/* A trace of a program that is killed with us has everything but the last second. */
static void save(struct reader *reader, bool at_end)
{
	uint64_t n = mdl_library_trace_n_calls(reader->trace);
	time_t now = time(NULL);
	struct ws_err err;

	if (!at_end && (n == reader->n_saved || now < reader->saved_at + SAVE_S))
		return;
	reader->saved_at = now;
	reader->n_saved = n;
	if (mdl_library_trace_write(reader->trace, reader->env, reader->path, &err) &&
	    !reader->failed) {
		ws_log_error("%s", err.text);
		reader->failed = true;
	}
}

/* Until the program has ended and its output was read. */
static void *read_output(void *ctx)
{
	struct reader *reader = ctx;
	struct ws_buf pass;
	bool ended = false;

	ws_buf_init(&pass, 4 * MDL_LIBRARY_LINE_MAX);
	for (;;) {
		struct pollfd fds[] = { { .fd = reader->in_fd, .events = POLLIN },
					{ .fd = ended ? -1 : reader->ended_fd, .events = POLLIN } };
		static char bytes[READ_BYTES];
		int n_ready = poll(fds, WS_ARRAY_LEN(fds), ended ? LEFT_BEHIND_MS : SILENCE_MS);
		ssize_t n = -1;

		ws_buf_clear(&pass);
		ended |= fds[1].revents != 0;
		if (n_ready > 0 && fds[0].revents)
			n = read(reader->in_fd, bytes, sizeof(bytes));
		if (n > 0)
			mdl_library_trace_feed(reader->trace, bytes, (size_t)n, &pass);
		else if (n == 0 || (n_ready == 0 && ended))
			break;
		else if (n_ready == 0)
			mdl_library_trace_flush(reader->trace, false, &pass);
		put(reader->out_fd, &pass);
		save(reader, false);
	}
	ws_buf_clear(&pass);
	mdl_library_trace_flush(reader->trace, true, &pass);
	put(reader->out_fd, &pass);
	ws_buf_fini(&pass);
	save(reader, true);
	return NULL;
}

/* Our stdout and stderr are those of the program: both become the pipe while it runs. */
struct outputs {
	int out_fd, err_fd; /* as they were */
};

static enum ws_status redirect(int to_fd, struct outputs *was, struct ws_err *err)
{
	fflush(NULL);
	was->out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	was->err_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (was->out_fd < 0 || was->err_fd < 0 || dup2(to_fd, STDOUT_FILENO) < 0 ||
	    dup2(to_fd, STDERR_FILENO) < 0)
		return ws_fail_errno(err, errno, "cannot redirect the output");
	return WS_OK;
}

static void restore(const struct outputs *was)
{
	dup2(was->out_fd, STDOUT_FILENO);
	dup2(was->err_fd, STDERR_FILENO);
}

static enum ws_status run_traced(char **argv, struct ws_env *env, struct reader *reader,
				 struct ws_proc_end *end, struct ws_err *err)
{
	struct outputs was = { -1, -1 };
	int fds[2] = { -1, -1 };
	pthread_t thread;
	enum ws_status st = WS_OK;

	reader->ended_fd = eventfd(0, EFD_CLOEXEC);
	if (reader->ended_fd < 0 || pipe2(fds, O_CLOEXEC))
		return ws_fail_errno(err, errno, "cannot make a pipe");
	reader->in_fd = fds[0];
	st = redirect(fds[1], &was, err);
	close(fds[1]);
	reader->out_fd = was.out_fd;
	if (!st && pthread_create(&thread, NULL, read_output, reader))
		st = ws_fail(err, WS_E_STATE, "cannot start a thread");
	if (!st) {
		st = ws_proc_run(argv[0], argv, env->at, end, err);
		restore(&was);
		eventfd_write(reader->ended_fd, 1);
		pthread_join(thread, NULL);
	} else if (was.err_fd >= 0) {
		restore(&was);
	}
	close(was.out_fd);
	close(was.err_fd);
	close(fds[0]);
	close(reader->ended_fd);
	return st;
}

/* hipBLASLt of some builds cannot log; the wrapper writes the same line for it. */
static enum ws_status add_wrapper(uint32_t modes, struct ws_env *env, struct ws_err *err)
{
	static const char *const places[] = { "../lib/wavescope", "../lib", NULL };
	const char *there = ws_env_get(env, "LD_PRELOAD");
	char path[PATH_MAX], list[2 * PATH_MAX];

	if (!(modes & MDL_LIBRARY_BIT(HIPBLASLT)) ||
	    ws_path_beside(places, "libwavescope-hipblaslt.so", path, NULL))
		return WS_OK;
	/* Behind what is there: a sanitizer's runtime must be first. */
	if (there && *there &&
	    snprintf(list, sizeof(list), "%s:%s", there, path) >= (int)sizeof(list))
		return ws_fail(err, WS_E_LIMIT, "LD_PRELOAD is too long");
	return ws_env_set(env, "LD_PRELOAD", there && *there ? list : path, err);
}

static enum ws_status trace(const struct trace_args *args, char **argv, struct ws_env *env,
			    uint32_t modes, struct ws_proc_end *end, struct ws_err *err)
{
	const char *file = ws_env_get(env, "OUTPUT_FILE");
	struct reader reader = {
		.env = env,
		.path = args->output    ? args->output
			: file && *file ? file
					: OUTPUT_DEFAULT,
	};
	enum ws_status st = mdl_library_trace_create(modes, &reader.trace, err);

	if (!st)
		st = mdl_library_env(modes, env, err);
	if (!st)
		st = add_wrapper(modes, env, err);
	if (!st)
		st = run_traced(argv, env, &reader, end, err);
	if (!st && reader.failed && !end->exit_code)
		end->exit_code = WS_EXIT_FAILED;
	mdl_library_trace_destroy(reader.trace);
	return st;
}

static enum ws_status run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err)
{
	const struct trace_args *args = call->values;
	char **argv = call->rest.operands, path[PATH_MAX];
	struct ws_proc_end end = { 0 };
	struct ws_env env;
	uint32_t modes;
	bool soft;
	enum ws_status st = ws_env_init(&env, environ, err);

	mdl_library_unnest(argv);
	if (!st && !argv[0])
		st = ws_fail(err, WS_E_USAGE,
			     "no program to run: wavescope library-trace [options] -- PROGRAM");
	if (!st && ws_path_program(argv[0], path, err)) {
		st = err->status;
		*exit_code = ws_proc_exit_code(st);
	}
	if (!st)
		st = args->modes ? mdl_library_modes_parse(args->modes, &modes, err)
				 : mdl_library_modes_env(&env, &modes, err);
	if (!st)
		st = launch_inject_gpu(&env, &soft, err);
	if (!st && (!modes || ws_env_get(&env, MDL_LIBRARY_INSIDE))) {
		if (!modes)
			ws_log_warn("no library to trace: use --mode, or set ROCBLAS_TRACE=1");
		st = ws_proc_exec(argv[0], argv, env.at, err); /* comes back only when it fails */
	} else if (!st) {
		st = trace(args, argv, &env, modes, &end, err);
	}
	ws_env_fini(&env);
	if (st)
		return st;
	ws_proc_end_as(&end);
}

const struct ws_cmd wavescope_library_trace_cmd = {
	.name = "library-trace",
	.summary = "count calls of rocBLAS, hipBLASLt, MIOpen and Tensile",
	.usage = "[options] -- PROGRAM [ARG...]",
	.about = "Runs PROGRAM with the logs of rocBLAS, hipBLASLt, MIOpen, Tensile or RCCL "
		 "enabled. "
		 "Lines of the first four are counted and removed from its output. The counts are "
		 "in " OUTPUT_DEFAULT ", one row per different call. stderr of PROGRAM is merged "
		 "into stdout.",
	.notes = "Exit code:\n"
		 "  that of PROGRAM; 127 if PROGRAM is not found, 2 for wrong usage.\n"
		 "\n"
		 "Example:\n"
		 "  wavescope library-trace -m rocblas_trace,miopen_trace -- python3 train.py",
	.opts = { trace_opts, WS_ARRAY_LEN(trace_opts) },
	.order = WS_OPT_FIRST,
	.values_bytes = sizeof(struct trace_args),
	.run = run,
};
