/* launch/roofline: how the benchmark is called, and what its ends are told as. */
#include "tests/unit/unit.h"

#include "launch/roofline.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/ws-roofline-XXXXXX";

/* A benchmark that does this instead. */
static void benchmark_is(const char *script)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bench", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
	setenv("ROOFLINE_BIN", path, 1);
}

static enum ws_status run(int device, struct ws_proc_end *end, struct ws_err *err)
{
	struct launch_roofline roofline = { .dir = dir, .device = device, .quiet = true };

	return launch_roofline_run(&roofline, end, err);
}

static void file_of_the_benchmark_is_there(void **state)
{
	struct ws_proc_end end;
	char path[64], line[128] = "";
	struct ws_err err;
	FILE *f;

	/* as AMD's: nothing but -o and -d */
	benchmark_is("[ \"$1 $3 $#\" = '-o -d 4' ] && echo \"device $4\" >\"$2\"");
	assert_int_equal(run(LAUNCH_ROOFLINE_ALL, &end, &err), WS_OK);
	snprintf(path, sizeof(path), "%s/roofline.csv", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	assert_string_equal(line, "device -1\n");
	unlink(path);
}

static void failures_are_told(void **state)
{
	struct ws_proc_end end;
	struct ws_err err;

	benchmark_is("exit 3");
	assert_fails_with(run(0, &end, &err), WS_E_STATE, &err, "exited with code 3");
	assert_int_equal(end.exit_code, 3);
	benchmark_is("kill -KILL $$");
	assert_fails_with(run(0, &end, &err), WS_E_STATE, &err, "signal 9");
	assert_int_equal(end.signal, SIGKILL);
	benchmark_is("exit 0");
	assert_fails_with(run(0, &end, &err), WS_E_STATE, &err, "did not write");
	setenv("ROOFLINE_BIN", "/nowhere/bench", 1);
	assert_fails_with(run(0, &end, &err), WS_E_NOTFOUND, &err, "ROOFLINE_BIN: ");
}

static int remove_dir(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/bench", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_of_the_benchmark_is_there),
		cmocka_unit_test(failures_are_told),
	};

	if (!mkdtemp(dir))
		return 1;
	setenv("WAVESCOPE_GPU", "native", 1); /* the software GPU is not needed */
	return RUN_WITH(tests, NULL, remove_dir);
}
