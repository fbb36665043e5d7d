/*
 * slurm: runs of a manifest as batch jobs: submitted, waited for, collected.
 *
 * The batch script is complete in itself (templates/slurm_job.sh). Each node works in a folder of
 * its own, runs `madengine run` there with a local form of the manifest, and hands back what
 * it wrote to <output_dir>/<model>/<job>/node_<rank>/, also when its run fails or the job is
 * ended early. So a node that dies takes only its own data with it.
 *
 * Ctrl-C ends the waiting, not the job: a message says how to look at it, cancel it, and collect
 * its results later (slurm.job_id in the context waits for a job that exists already).
 *
 * Threads  the main thread only: signal handlers are changed while it waits.
 */
#ifndef WS_MODELS_SLURM_H
#define WS_MODELS_SLURM_H

#include "models/run.h"

/*
 * One entry as one job. Waits for its end and writes what came back below slurm.output_dir.
 * @out_result has the numbers of all nodes combined; the caller writes it to perf.csv.
 * @manifest is the merged one; the nodes get a local copy of it.
 * After Ctrl-C it is SKIPPED and `interrupted`: the job goes on, and has no row yet.
 * Failure  of the submission; a job or node that failed is a FAILURE of the result, with its reason.
 */
enum ws_status mdl_slurm_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			     const struct ws_doc *context, const struct mdl_run_options *options,
			     struct ws_arena *arena, struct mdl_result *out_result,
			     struct ws_err *err);

/* Keys of the context's slurm, NULL after the last: for the linter. */
const char *mdl_slurm_key(size_t i);

#endif
