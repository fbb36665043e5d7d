#include "base/proc.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char *shell(const char *script, char *argv[4])
{
	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = (char *)script;
	argv[3] = NULL;
	return "sh";
}

static void run_passes_the_exit_code_on(void **state)
{
	struct ws_proc_end end;
	char *argv[4];

	assert_int_equal(ws_proc_run(shell("exit 37", argv), argv, environ, &end, NULL), WS_OK);
	assert_int_equal(end.exit_code, 37);
	assert_int_equal(end.signal, 0);
}

static void run_tells_the_signal(void **state)
{
	struct ws_proc_end end;
	char *argv[4];

	assert_int_equal(ws_proc_run(shell("kill -USR1 $$", argv), argv, environ, &end, NULL),
			 WS_OK);
	assert_int_equal(end.signal, SIGUSR1);
	assert_int_equal(end.exit_code, 128 + SIGUSR1);
}

static void a_signal_sent_to_us_reaches_the_child(void **state)
{
	struct ws_proc_end end;
	char *argv[4];

	/* The child tells us (its parent) to end once it is ready; we pass it back. */
	shell("trap 'exit 9' TERM; kill -TERM $PPID; i=0;"
	      "while [ $i -lt 100 ]; do sleep 0.05; i=$((i+1)); done; exit 1",
	      argv);
	assert_int_equal(ws_proc_run("sh", argv, environ, &end, NULL), WS_OK);
	assert_int_equal(end.exit_code, 9);
}

static void missing_programs_get_the_shells_codes(void **state)
{
	struct ws_proc_end end;
	struct ws_err err;
	char *argv[] = { "x", NULL };

	assert_int_equal(ws_proc_exit_code(ws_proc_run("/no/such", argv, environ, &end, &err)),
			 127);
	assert_int_equal(ws_proc_exit_code(ws_proc_run("/etc/passwd", argv, environ, &end, &err)),
			 126);
	assert_int_equal(ws_proc_exit_code(ws_proc_exec("/no/such", argv, environ, &err)), 127);
}

static void a_script_without_a_first_line_runs_in_the_shell(void **state)
{
	char path[] = "/tmp/ws-test-proc-XXXXXX";
	struct ws_proc_end end;
	struct ws_buf out;
	char *argv[] = { "script", "arg", NULL };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_true(write(fd, "echo got $1\n", 12) == 12);
	fchmod(fd, 0700);
	close(fd);
	ws_buf_init(&out, 100);
	assert_int_equal(ws_proc_read(path, argv, environ, WS_PROC_STDERR_DROP, 5000, &out, &end,
				      NULL),
			 WS_OK);
	assert_string_equal(out.at, "got arg\n");
	ws_buf_fini(&out);
	unlink(path);
}

static void read_collects_what_is_printed(void **state)
{
	struct ws_proc_end end;
	struct ws_buf out;
	char *argv[4];

	ws_buf_init(&out, 1000);
	shell("echo out; echo err >&2; exit 3", argv);
	assert_int_equal(ws_proc_read("sh", argv, environ, WS_PROC_STDERR_DROP, 5000, &out, &end,
				      NULL),
			 WS_OK);
	assert_string_equal(out.at, "out\n");
	assert_int_equal(end.exit_code, 3);
	ws_buf_clear(&out);
	assert_int_equal(ws_proc_read("sh", argv, environ, WS_PROC_STDERR_JOIN, 5000, &out, &end,
				      NULL),
			 WS_OK);
	assert_string_equal(out.at, "out\nerr\n");
	ws_buf_fini(&out);
}

static void read_drops_what_does_not_fit_and_goes_on(void **state)
{
	struct ws_proc_end end;
	struct ws_buf out;
	char *argv[4];

	ws_buf_init(&out, 10);
	shell("head -c 300000 /dev/zero | tr '\\0' x; exit 4", argv);
	assert_int_equal(ws_proc_read("sh", argv, environ, WS_PROC_STDERR_DROP, 20000, &out, &end,
				      NULL),
			 WS_OK);
	assert_string_equal(out.at, "xxxxxxxxxx");
	assert_int_equal(end.exit_code, 4);
	ws_buf_fini(&out);
}

static void read_ends_a_program_that_hangs_and_its_children(void **state)
{
	struct ws_proc_end end;
	struct ws_err err;
	struct ws_buf out;
	char *argv[4];
	time_t start = time(NULL);

	ws_buf_init(&out, 1000);
	shell("sleep 60 & sleep 60", argv);
	assert_fails_with(ws_proc_read("sh", argv, environ, WS_PROC_STDERR_DROP, 200, &out, &end,
				       &err),
			  WS_E_TIMEOUT, &err, "200 ms");
	/* Closing its output early does not hold us up either. */
	shell("exec >&- 2>&-; sleep 60", argv);
	assert_int_equal(ws_proc_read("sh", argv, environ, WS_PROC_STDERR_JOIN, 200, &out, &end,
				      &err),
			 WS_E_TIMEOUT);
	assert_true(time(NULL) - start < 20);
	ws_buf_fini(&out);
}

static void end_as_ends_the_same_way(void **state)
{
	static const struct ws_proc_end ends[] = {
		{ .exit_code = 5 }, { .exit_code = 128 + SIGTERM, .signal = SIGTERM }
	};

	for (size_t i = 0; i < WS_ARRAY_LEN(ends); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			ws_proc_end_as(&ends[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (ends[i].signal)
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ends[i].signal);
		else
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ends[i].exit_code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_passes_the_exit_code_on),
		cmocka_unit_test(run_tells_the_signal),
		cmocka_unit_test(a_signal_sent_to_us_reaches_the_child),
		cmocka_unit_test(missing_programs_get_the_shells_codes),
		cmocka_unit_test(a_script_without_a_first_line_runs_in_the_shell),
		cmocka_unit_test(read_collects_what_is_printed),
		cmocka_unit_test(read_drops_what_does_not_fit_and_goes_on),
		cmocka_unit_test(read_ends_a_program_that_hangs_and_its_children),
		cmocka_unit_test(end_as_ends_the_same_way),
	};

	return RUN(tests);
}
