/*
 * slurm: runs of a manifest as batch jobs: submitted, waited for, collected.
 */
#ifndef WS_MODELS_SLURM_H
#define WS_MODELS_SLURM_H

#include "models/run.h"

/*
 * One entry as one job. Waits for its end and writes what came back below slurm.output_dir.
 * @out_result has the numbers of all nodes combined; the caller writes it to perf.csv.
 * @manifest is the merged one; the nodes get a local copy of it.
 * Failure  of the submission; a job or node that failed is a FAILURE of the result, with its reason.
 */
enum ws_status mdl_slurm_run(const struct mdl_entry *entry, const struct ws_doc *manifest,
			     const struct ws_doc *context, const struct mdl_run_options *options,
			     struct ws_arena *arena, struct mdl_result *out_result,
			     struct ws_err *err);

#endif
