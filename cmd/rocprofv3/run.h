/*
 * run: one job, from its options to the end of the program and of its output.
 */
#ifndef WS_CMD_ROCPROFV3_RUN_H
#define WS_CMD_ROCPROFV3_RUN_H

#include "base/proc.h"
#include "cmd/rocprofv3/convert.h"
#include "cmd/rocprofv3/jobs.h"

#define RP_EXIT_STRICT 3 /* --strict: a request was not observed, or records were lost */

struct rp_result {
	struct ws_proc_end end; /* of the program */
	bool ran;
	bool incomplete; /* output is missing something, though the program ended well */
	bool unrecorded; /* a process had no place for its records: there is nothing to recover */
	bool short_of_strict;
	unsigned n_running; /* processes that go on after the program's end */
};

/*
 * One job, or @n_jobs that share their runs. Fails when the program could not be started;
 * what goes wrong after that is reported on stderr and in @out_result, because the program's own
 * end is what counts.
 */
enum ws_status rp_run(const struct rp_job *jobs, size_t n_jobs, uint32_t env_formats,
		      char *const *argv, struct rp_result *out_result, struct ws_err *err);

/* Names in -o and -d that no file can have are an error; placeholders that are none a warning. */
enum ws_status rp_check_names(const struct rp_args *args, char *const *argv, struct ws_err *err);

/* --pid with counters: those of the GPU that the program is on are planned from now on. */
enum ws_status rp_attach_gpu(const struct rp_args *args, struct ws_err *err);

/* What an earlier run left in args->recover becomes output. */
enum ws_status rp_recover(const struct rp_args *typed, struct rp_result *out_result,
			  struct ws_err *err);

#endif
