/* Between the parts of run.h. */
#ifndef WS_MODELS_RUN_PRIV_H
#define WS_MODELS_RUN_PRIV_H

#include "models/run.h"

#include <sys/types.h>

/* One run, while it lasts. */
struct mdl_run {
	const struct mdl_entry *entry;
	const struct ws_doc *context;
	const struct mdl_chain *chain;
	const char *root;
	const struct mdl_run_options *options;
	struct mdl_carrier *carrier;
	struct ws_arena *arena;
	struct mdl_result *result;
	struct mdl_job job;
	struct mdl_gpus gpus;
	struct mdl_log log;
	const char *log_path;
	const char *rd;  /* the run folder, relative to the working folder */
	off_t output_at; /* where the model's own output begins in the log, and where it ends */
	off_t output_end;
	bool failed;
};

/* ---- run.c ---- */

/* The first failure is the reason of the result; the log has all of them. */
void mdl_run_fail(struct mdl_run *run, const char *fmt, ...) WS_PRINTF(2, 3);

/* ---- run_result.c ---- */

/* GPUs, carrier and launcher, once they are known. */
enum ws_status mdl_run_columns(struct mdl_run *run, struct ws_err *err);
/* The file that the model's arguments name with --config, for the super files. */
void mdl_run_read_config(struct mdl_run *run, const char *from);
/* Each tool has written something; the log has a performance, and no errors. */
void mdl_run_check_outputs(struct mdl_run *run);
void mdl_run_read_log(struct mdl_run *run);
/* Files that users look for in the working folder: copied there from the run folder. */
void mdl_run_collect(struct mdl_run *run);
void mdl_run_judge(struct mdl_run *run);

/* ---- run_env.c ---- */

/* All variables of the model, the later source wins: a map of texts. */
enum ws_status mdl_run_variables(const struct mdl_entry *entry, const struct ws_doc *context,
				 const struct mdl_chain *chain, const struct mdl_machine *machine,
				 const struct mdl_gpus *gpus, const char *data_file,
				 struct ws_arena *arena, struct ws_doc **out_env,
				 struct ws_err *err);

/* <model>_env.csv: machine, GPUs, ROCm, and with @full all variables. */
enum ws_status mdl_environment_write(const char *path, const struct mdl_machine *machine,
				     const struct ws_doc *env, bool full, struct ws_err *err);

/* The number of GPUs of this machine that the run may use: software GPUs are made as needed. */
size_t mdl_run_n_present(const struct ws_doc *context, const struct mdl_machine *machine);

#endif
