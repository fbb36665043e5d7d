/*
 * run: the parts of `madengine run`.
 */
#ifndef WS_CMD_MADENGINE_RUN_H
#define WS_CMD_MADENGINE_RUN_H

#include "cmd/madengine/madengine.h"
#include "models/context.h"
#include "models/run.h"

struct mad_run_args {
	struct ws_strv tags;
	const char *manifest_file;
	const char *registry;
	int64_t timeout;
	const char *additional_context;
	const char *additional_context_file;
	bool keep_alive;
	bool keep_model_dir;
	bool clean_docker_cache;
	bool skip_model_run;
	const char *manifest_output;
	const char *summary_output;
	bool live_output;
	const char *output;
	bool ignore_deprecated;
	const char *data_config;
	const char *tools_config;
	bool sys_env_details;
	const char *force_mirror_local;
	bool disable_skip_gpu_arch;
	bool verbose;
	bool cleanup_perf;
};

enum ws_status mad_run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err);

/* What the steps of a run share. */
struct mad_job {
	const struct mad_run_args *args;
	struct ws_arena arena;
	char root[PATH_MAX];
	const char *manifest_path;
	struct ws_doc *manifest;
	struct ws_doc *context; /* of the command line, over the manifest's */
	struct ws_doc *tools;
	struct mdl_entries entries;
	struct mdl_machine machine;
	struct mdl_run_options options;
	enum mdl_target target;
	struct ws_doc *done, *failed; /* names, for the summary */
	const char *mistake;          /* of the context; NULL: none was found */
	bool interrupted;
};

/*
 * Runs one entry where the context says. A failure to set up is a failed run: it has a row, and the
 * next model goes on.
 */
enum ws_status mad_run_entry(struct mad_job *job, const struct mdl_entry *entry,
			     struct mdl_result *result, struct ws_err *err);
void mad_print_result(struct mad_job *job, const struct mdl_entry *entry,
		      const struct mdl_result *result);
/* <stem>.live.log: the build's log and the run's. */
void mad_join_logs(const struct mdl_entry *entry, struct ws_arena *arena);

#endif
