/* --attach-pid: attach to a running process. */
#include "cmd/compute/profile.h"

#include "base/file.h"
#include "base/str.h"
#include "launch/session.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_MAX (4u << 20) /* as long as the kernel lets one be */

/* The words of /proc/PID/cmdline, each of which ends with a NUL. */
static enum ws_status split(struct pf *pf, struct ws_str text, struct ws_err *err)
{
	struct ws_str rest = text, word;
	char **argv;
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.at[i] == '\0';
	argv = ws_arena_array(&pf->arena, n + 2, sizeof(*argv));
	if (!argv)
		return ws_fail(err, WS_E_NOMEM, "out of memory");
	n = 0;
	while (rest.n && ws_str_next(&rest, '\0', &word)) {
		argv[n] = ws_arena_strndup(&pf->arena, word.at, word.n);
		if (!argv[n++])
			return ws_fail(err, WS_E_NOMEM, "out of memory");
	}
	if (!n)
		return ws_fail(err, WS_E_STATE, "process %lld has no command line: it is ending",
			       (long long)pf->args->attach_pid);
	argv[n] = NULL;
	pf->argv = argv;
	return WS_OK;
}

enum ws_status pf_attach_begin(struct pf *pf, struct ws_err *err)
{
	char path[64];
	struct ws_buf text;
	enum ws_status st = launch_session_adopt_gpu((pid_t)pf->args->attach_pid, err);

	if (st)
		return st;
	for (size_t i = 0; i < pf->args->blocks.n; i++)
		if (strcmp(pf->args->blocks.at[i], "21") == 0 ||
		    strcmp(pf->args->blocks.at[i], "pc_sampling") == 0)
			return ws_fail(err, WS_E_UNSUPPORTED,
				       "--attach-pid does not support block 21: use 'rocprofv3 "
				       "--pid' to sample a running process");
	ws_buf_init(&text, COMMAND_MAX);
	snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)pf->args->attach_pid);
	st = ws_file_read(path, &text, err);
	if (!st)
		st = split(pf, ws_buf_view(&text), err);
	ws_buf_fini(&text);
	return st;
}
