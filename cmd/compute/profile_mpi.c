/* Programs that talk over MPI cannot be run twice by one rank. */
#include "cmd/compute/profile_collect.h"

#include "base/env.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/compute/profile_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOADER_TIMEOUT_MS 5000

enum mpi { MPI_NO, MPI_YES, MPI_UNKNOWN };

static bool is_elf(const char *path)
{
	char magic[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool elf = fd >= 0 && read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0;

	if (fd >= 0)
		close(fd);
	return elf;
}

/* The loader lists the libraries of a program without running it, as ldd does. */
static enum mpi uses_mpi(const char *program)
{
	char path[PATH_MAX];
	char *argv[] = { path, NULL };
	struct ws_proc_end end = { 0 };
	struct ws_buf text;
	struct ws_env env;
	enum mpi answer = MPI_UNKNOWN;

	/* What a script starts is not to be seen; nor what an interpreter will load. */
	if (ws_path_program(program, path, NULL) || !is_elf(path) ||
	    strncmp(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, "python", 6) == 0)
		return MPI_UNKNOWN;
	ws_buf_init(&text, 1 << 20);
	if (!ws_env_init(&env, environ, NULL)) {
		if (!ws_env_set(&env, "LD_TRACE_LOADED_OBJECTS", "1", NULL) &&
		    !ws_proc_read(path, argv, env.at, WS_PROC_STDERR_DROP, LOADER_TIMEOUT_MS, &text,
				  &end, NULL) &&
		    !end.exit_code)
			answer = strstr(text.at, "libmpi") || strstr(text.at, "libmpich") ? MPI_YES
											  : MPI_NO;
		ws_env_fini(&env);
	}
	ws_buf_fini(&text);
	return answer;
}

enum ws_status pf_check_ranks(const struct pf *pf, size_t n_runs, struct ws_err *err)
{
	if (!pf->rank.known || n_runs < 2)
		return WS_OK;
	switch (uses_mpi(pf->argv[0])) {
	case MPI_YES:
		return ws_fail(err, WS_E_STATE,
			       "application replay would run '%s' %zu times, and MPI_Init may be "
			       "called once per rank: use --iteration-multiplexing, --set NAME or "
			       "fewer blocks (-b)",
			       pf->argv[0], n_runs);
	case MPI_UNKNOWN:
		pf_log(PF_LOG_WARNING,
		       "Application replay runs the program %zu times. If it calls MPI_Init it "
		       "will "
		       "fail: use --iteration-multiplexing or --set NAME, which need one run",
		       n_runs);
		break;
	case MPI_NO:
		break;
	}
	return WS_OK;
}
