/*
 * jobs: the runs that one command line asks for.
 *
 * Without an input file there is one, or one per --pmc. With a file there is one per
 * job of it (per pmc: line of a .txt), and the options of the command line hold for all.
 *
 * Those that differ in nothing but their counters, several --pmc and the lines of a .txt,
 * share the runs of the program: a pass then holds counters of several of them, and each
 * has its own output all the same.
 */
#ifndef WS_CMD_ROCPROFV3_JOBS_H
#define WS_CMD_ROCPROFV3_JOBS_H

#include "base/vec.h"
#include "cmd/rocprofv3/options.h"

struct rp_job {
	struct rp_args own;   /* what the file says; owns its lists */
	struct rp_args args;  /* everything merged: command line, file, environment; borrows */
	struct rp_args asked; /* the same before groups were opened: what a person named */
	char folder[32];      /* below the output directory: "pass_1", or "" */
	bool shares;          /* its runs with the jobs beside it that do, too */
	bool skipped;         /* this GPU does not have its counters; the other jobs run */
};

struct rp_jobs {
	struct ws_arena arena;
	struct rp_args env;
	WS_VEC(struct rp_job) list;
};

/*
 * Read everything and merge. @typed must outlive @out_jobs, which is to be finished
 * also after a failure.
 */
enum ws_status rp_jobs_init(struct rp_jobs *out_jobs, const struct rp_args *typed,
			    struct ws_err *err);
void rp_jobs_fini(struct rp_jobs *jobs);

/* How many jobs from number @first on share their runs; 1 when it is alone. */
size_t rp_jobs_together(const struct rp_jobs *jobs, size_t first);
/*
 * The counters of @n jobs in one list. Fills the list of @out_args, which is otherwise a copy
 * of the first job's options; ws_vec_fini(&out_args->pmc) afterwards.
 */
enum ws_status rp_jobs_merged(const struct rp_job *jobs, size_t n, const struct rp_args *from,
			      struct rp_args *out_args, struct ws_err *err);

/*
 * The merge rule for one job: what is typed, else what the file says, else the
 * environment. Typed and file must agree where both say something.
 */
enum ws_status rp_merge(const struct rp_args *typed, const struct rp_args *file,
			const struct rp_args *env, struct rp_args *out_args, struct ws_err *err);

#endif
