#include "models/child.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static struct ws_buf text;

static struct mdl_child_end run(const char *script, const char *dir, double timeout_s)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	struct mdl_log log = { .also = &text };
	struct mdl_child_end end;
	struct ws_err err;

	ws_buf_clear(&text);
	if (mdl_child_run(argv, environ, dir, timeout_s, &log, &end, &err))
		fail_msg("%s", err.text);
	return end;
}

static int setup(void **state)
{
	ws_buf_init(&text, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	ws_buf_fini(&text);
	return 0;
}

static void output_and_exit_code_arrive(void **state)
{
	struct mdl_child_end end = run("echo out; echo err >&2; pwd; exit 7", "/", 10);

	assert_int_equal(end.exit_code, 7);
	assert_false(end.timed_out);
	assert_false(end.interrupted);
	assert_string_equal(text.at, "out\nerr\n/\n");
}

static void a_large_output_is_complete(void **state)
{
	assert_int_equal(run("head -c 500000 /dev/zero | tr '\\0' x; exit 0", NULL, 10).exit_code,
			 0);
	assert_int_equal(text.n, 500000);
}

static void the_limit_ends_the_whole_group(void **state)
{
	struct mdl_child_end end = run("sleep 30 & echo $!; wait", NULL, 0.1);

	assert_true(end.timed_out);
	assert_int_equal(end.exit_code, 128 + SIGTERM);
	assert_true(end.seconds < 5);
	assert_int_not_equal(kill((pid_t)atoi(text.at), 0), 0);
}

static void after_the_limit_a_profiler_may_finish_its_files(void **state)
{
	/* The shell in front dies at once; what it had started still writes. */
	struct mdl_child_end end =
		run("sh -c 'trap \"sleep 0.2; echo written; exit 3\" TERM; echo ready; while :; do "
		    "sleep 0.01; done' & wait",
		    NULL, 0.2);

	assert_true(end.timed_out);
	assert_non_null(strstr(text.at, "written\n"));
}

static void a_signal_to_us_ends_the_child(void **state)
{
	struct mdl_child_end end = run("kill -INT $PPID; exec sleep 30", NULL, 20);

	assert_true(end.interrupted);
	assert_false(end.timed_out);
	assert_true(end.seconds < 5);
}

static void a_signal_to_the_child_leaves_its_profiler_time(void **state)
{
	/* As when a batch job is ended: a scheduler signals all processes itself. */
	static const char script[] =
		"sh -c 'trap \"sleep 0.2; echo written; exit 3\" TERM; echo ready >&2; while :; do "
		"sleep 0.01; done' & sleep 0.2; kill -TERM $! $$; wait";
	struct mdl_child_end end = run(script, NULL, 20);

	assert_int_equal(end.exit_code, 128 + SIGTERM);
	assert_false(end.interrupted);
	assert_non_null(strstr(text.at, "written\n"));
	assert_true(end.seconds < 5);
}

static void a_signal_in_a_batch_job_is_not_repeated(void **state)
{
	static const char script[] =
		"trap 'echo repeated' TERM; kill -TERM $PPID; sleep 0.3; echo written";
	struct mdl_child_end end;

	setenv("MAD_IN_SLURM_JOB", "1", 1);
	end = run(script, NULL, 20);
	unsetenv("MAD_IN_SLURM_JOB");
	assert_true(end.interrupted);
	assert_string_equal(text.at, "written\n");
}

static void a_sampler_in_the_background_is_not_waited_for(void **state)
{
	struct mdl_child_end end = run("sleep 30 & echo $!", NULL, 20);
	pid_t sampler = (pid_t)atoi(text.at);

	assert_true(end.seconds < 5);
	assert_int_equal(kill(sampler, 0), 0);
	assert_int_equal(mdl_child_sweep(&end.group, 1), 1);
	assert_int_equal(mdl_child_sweep(&end.group, 1), 0);
	assert_int_not_equal(kill(sampler, 0), 0);
}

static void what_cannot_start_says_why(void **state)
{
	char *argv[] = { "no-such-program", NULL };
	char *ls[] = { "ls", NULL };
	struct mdl_child_end end;
	struct ws_err err;

	assert_fails_with(mdl_child_run(argv, environ, NULL, 1, NULL, &end, &err), WS_E_NOTFOUND,
			  &err, "no-such-program");
	assert_fails_with(mdl_child_run(ls, environ, "/no/folder", 1, NULL, &end, &err),
			  WS_E_NOTFOUND, &err, "/no/folder");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_exit_code_arrive),
		cmocka_unit_test(a_large_output_is_complete),
		cmocka_unit_test(the_limit_ends_the_whole_group),
		cmocka_unit_test(after_the_limit_a_profiler_may_finish_its_files),
		cmocka_unit_test(a_signal_to_us_ends_the_child),
		cmocka_unit_test(a_signal_to_the_child_leaves_its_profiler_time),
		cmocka_unit_test(a_signal_in_a_batch_job_is_not_repeated),
		cmocka_unit_test(a_sampler_in_the_background_is_not_waited_for),
		cmocka_unit_test(what_cannot_start_says_why),
	};

	return RUN_WITH(tests, setup, teardown);
}
