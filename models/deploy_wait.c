#include "base/proc.h"
#include "models/child.h"
#include "models/deploy.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define ANSWER_BYTES_MAX (256u << 10)
#define PAUSE_MIN_S 0.5
#define PAUSE_MAX_S 30.0

extern char **environ;

/* All lines but remarks: "srun: job 12 queued and waiting for resources". */
static void add_answer(const char *program, struct ws_str lines, struct ws_buf *out)
{
	size_t n = strlen(program);
	struct ws_str line;

	while (lines.n && ws_str_next(&lines, '\n', &line)) {
		if (!ws_str_starts(line, program) || line.n == n || line.at[n] != ':')
			ws_buf_printf(out, "%.*s\n", WS_STR_ARGS(line));
	}
}

enum ws_status mdl_deploy_ask(char *const *argv, int timeout_ms, struct ws_buf *out,
			      struct ws_err *err)
{
	struct ws_proc_end end;
	struct ws_buf all;
	enum ws_status st;

	ws_buf_init(&all, ANSWER_BYTES_MAX);
	st = ws_proc_read(argv[0], argv, environ, WS_PROC_STDERR_JOIN, timeout_ms, &all, &end, err);
	if (!st && end.exit_code) {
		struct ws_str last = ws_str_last_line(ws_buf_view(&all));

		st = ws_fail(err, WS_E_STATE, "%s ended with %d: %.*s", argv[0], end.exit_code,
			     WS_STR_ARGS(last));
	}
	if (!st)
		add_answer(argv[0], ws_buf_view(&all), out);
	ws_buf_fini(&all);
	return st;
}

bool mdl_deploy_ask_line(char *const *argv, int timeout_ms, struct ws_buf *buf,
			 struct ws_str *out_line, struct ws_err *err)
{
	struct ws_str rest;

	ws_buf_clear(buf);
	err->status = mdl_deploy_ask(argv, timeout_ms, buf, err);
	if (err->status)
		return false;
	rest = ws_str_trim(ws_buf_view(buf));
	return rest.n && ws_str_next(&rest, '\n', out_line);
}

/* ---- waiting ---- */

static volatile sig_atomic_t wait_signal;
static const int wait_signals[MDL_WAIT_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

static void note_signal(int number)
{
	wait_signal = number;
}

void mdl_wait_begin(struct mdl_wait *wait)
{
	struct sigaction act = { .sa_handler = note_signal };

	wait->begin_s = mdl_now_s();
	wait_signal = 0;
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < MDL_WAIT_SIGNALS; i++) {
		sigaction(wait_signals[i], NULL, &wait->before[i]);
		if (wait->before[i].sa_handler != SIG_IGN)
			sigaction(wait_signals[i], &act, NULL);
	}
}

void mdl_wait_end(struct mdl_wait *wait)
{
	for (size_t i = 0; i < MDL_WAIT_SIGNALS; i++)
		sigaction(wait_signals[i], &wait->before[i], NULL);
}

bool mdl_wait_interrupted(void)
{
	return wait_signal != 0;
}

void mdl_wait_pause_s(double seconds)
{
	struct timespec ts = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (!wait_signal && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void mdl_wait_pause(const struct mdl_wait *wait)
{
	double seconds = (mdl_now_s() - wait->begin_s) / 10;

	mdl_wait_pause_s(WS_MIN(PAUSE_MAX_S, WS_MAX(PAUSE_MIN_S, seconds)));
}
