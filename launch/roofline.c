#include "launch/roofline.h"

#include "base/env.h"
#include "base/path.h"
#include "launch/inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = { "../lib/wavescope", "../lib", NULL };

enum ws_status launch_roofline_program(char out_path[PATH_MAX], struct ws_err *err)
{
	const char *own = getenv("ROOFLINE_BIN");
	enum ws_status st;

	if (own && *own) {
		st = ws_path_program(own, out_path, err);
		return st ? ws_fail_in(err, st, "ROOFLINE_BIN") : WS_OK;
	}
	st = ws_path_beside(places, LAUNCH_ROOFLINE_PROGRAM, out_path, err);
	if (st == WS_E_NOTFOUND)
		return ws_fail(
			err, st,
			"the roofline benchmark (%s) was not found next to this program: run "
			"'make', or install wavescope again",
			LAUNCH_ROOFLINE_PROGRAM);
	return st;
}

static enum ws_status ended(const struct ws_proc_end *end, const char *program, struct ws_err *err)
{
	if (end->signal)
		return ws_fail(err, WS_E_STATE, "'%s' was killed by signal %d (%s)", program,
			       end->signal, strsignal(end->signal));
	if (end->exit_code)
		return ws_fail(err, WS_E_STATE,
			       "'%s' exited with code %d: --no-roof profiles without it", program,
			       end->exit_code);
	return WS_OK;
}

enum ws_status launch_roofline_run(const struct launch_roofline *roofline,
				   struct ws_proc_end *out_end, struct ws_err *err)
{
	const char *own = getenv("ROOFLINE_BIN");
	char program[PATH_MAX], file[PATH_MAX], device[16];
	char *argv[] = { program, (char *)"-o", file, (char *)"-d", device, NULL, NULL };
	enum ws_status st = launch_roofline_program(program, err);
	struct ws_env env;
	bool soft;

	*out_end = (struct ws_proc_end){ 0 };
	if (!st)
		st = ws_path_join(roofline->dir, LAUNCH_ROOFLINE_FILE, file, err);
	if (st)
		return st;
	snprintf(device, sizeof(device), "%d", roofline->device);
	if (roofline->quiet && !(own && *own))
		argv[5] = (char *)"--quiet";
	st = ws_env_init(&env, environ, err);
	if (st)
		return st;
	/* a part of the waves is not the peak of all */
	ws_env_unset(&env, "WAVESCOPE_SAMPLE_WAVES");
	ws_env_unset(&env, "WAVESCOPE_SAMPLE_ONLY");
	st = launch_inject_gpu(&env, &soft, err);
	if (!st)
		st = ws_proc_run(program, argv, env.at, out_end, err);
	ws_env_fini(&env);
	if (!st)
		st = ended(out_end, program, err);
	if (!st && !ws_path_exists(file))
		st = ws_fail(err, WS_E_STATE, "'%s' succeeded but did not write '%s'", program,
			     file);
	return st;
}
