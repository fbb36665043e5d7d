/* Between the parts of run.h. */
#ifndef WS_MODELS_RUN_PRIV_H
#define WS_MODELS_RUN_PRIV_H

#include "models/run.h"

/* All variables of the model, in order of precedence: a map of texts. NULL: no memory. */
enum ws_status mdl_run_variables(const struct mdl_entry *entry, const struct ws_doc *context,
				 const struct mdl_chain *chain, const struct mdl_machine *machine,
				 const struct mdl_gpus *gpus, struct ws_arena *arena,
				 struct ws_doc **out_env, struct ws_err *err);

/* <model>_env.csv: machine, GPUs, ROCm, and with @full all variables. */
enum ws_status mdl_environment_write(const char *path, const struct mdl_machine *machine,
				     const struct ws_doc *env, bool full, struct ws_err *err);

/* The number of GPUs of this machine that the run may use: software GPUs are made as needed. */
size_t mdl_run_n_present(const struct ws_doc *context, const struct mdl_machine *machine);

#endif
