/*
 * run: one model, from an empty run folder to a row of results.
 *
 * The working folder is shared with what carries the run: a process on this machine sees it as
 * it is, a container as /myworkspace. So files are laid and collected here, and the carrier
 * only executes command lines. The order:
 *
 *	start the carrier; empty <rd>; pre scripts; model's scripts into <rd>; the model;
 *	post scripts; performance and status; collect files; remove <rd>; stop the carrier
 *
 * <rd>, the run folder, is run_directory or the last part of the model's url, in the working
 * folder. Only a folder that madengine made is ever removed: it has a file .madengine in it.
 *
 * Failure  a model that fails is no failure of these functions: see the status of the result.
 */
#ifndef WS_MODELS_RUN_H
#define WS_MODELS_RUN_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"
#include "models/child.h"
#include "models/context.h"
#include "models/manifest.h"
#include "models/perf.h"
#include "models/tools.h"

#include <stdbool.h>
#include <stddef.h>

#define MDL_TIMEOUT_DEFAULT_S 7200.0
#define MDL_SCRIPT_TIMEOUT_S 600.0

/* What a user can choose for all models of a run; also for those that go to a cluster. */
struct mdl_run_options {
	double timeout_s; /* < 0: the model's own, or MDL_TIMEOUT_DEFAULT_S; 0: no limit */
	bool live_output;
	bool keep_alive; /* leaves the container and the run folder */
	bool keep_run_folder;
	bool skip_model_run;
	bool no_environment_collector;
	bool ignore_deprecated;
	bool any_architecture; /* --disable-skip-gpu-arch */
	const char *output;    /* perf.csv */
	const char
		*tools_file; /* NULL: scripts/common/tools.json of the working folder, else ours */
	const char *data_file;     /* data.json: where a model's data is */
	const char *manifest_path; /* for what runs elsewhere and reads it there */
	const char *mirror;        /* --force-mirror-local; NULL: none */
};

/* The GPUs of this machine, found once. */
struct mdl_machine {
	size_t n_gpus;
	const char *architecture; /* "gfx90a"; "" unknown */
	const char *product;
	const char *hip_version;
	const char *rocm_path;
	bool simulated; /* the software GPU */
};

/*
 * What executes the command lines of a run. An implementation allocates its struct from the
 * arena of the run with struct mdl_carrier as the first member.
 */
struct mdl_carrier {
	const struct mdl_carrier_ops *ops;
};

/* What a carrier needs to know to start. Pointers are valid until it is stopped. */
struct mdl_job {
	const struct mdl_model *model;
	const struct ws_doc *built;   /* of the manifest; NULL or without docker_image: no image */
	const struct ws_doc *context; /* merged */
	const struct mdl_gpus *gpus;
	const struct mdl_machine *machine;
	const struct ws_doc *env; /* map of texts: all variables of the model; names are checked */
	const char *workspace;    /* absolute path of the working folder */
	struct mdl_log *log;
	bool keep_alive;
};

struct mdl_carrier_ops {
	const char *name; /* "local", "docker", "podman": deployment_type of perf.csv */
	enum ws_status (*start)(struct mdl_carrier *carrier, const struct mdl_job *job,
				struct ws_err *err);
	/*
	 * `bash -c @command` in the working folder, with the variables of the job, output into its log.
	 * WS_OK also when the command fails: @out_end tells.
	 */
	enum ws_status (*exec)(struct mdl_carrier *carrier, const char *command, double timeout_s,
			       struct mdl_child_end *out_end, struct ws_err *err);
	/* After a failed start, too. With keep_alive it stays up, and the log says how to enter it. */
	void (*stop)(struct mdl_carrier *carrier);
};

/* A process on this machine; on the software GPU where there is no other. */
struct mdl_carrier *mdl_carrier_local(struct ws_arena *arena);

/*
 * Runs one entry. @chain is of the merged @context. Writes the log
 * <model>_<dockerfile>.run.live.log and fills @out_result; the caller writes that to perf.csv.
 * @root: folder of the model's scripts.
 */
enum ws_status mdl_run_model(const struct mdl_entry *entry, const struct ws_doc *context,
			     const struct mdl_chain *chain, const char *root,
			     const struct mdl_machine *machine, struct mdl_carrier *carrier,
			     const struct mdl_run_options *options, struct ws_arena *arena,
			     struct mdl_result *out_result, struct ws_err *err);

/*
 * The columns that do not depend on where it runs: model, arguments, tags, image, machine_name, ...;
 * all others are empty, and the outcome is MDL_FAILURE.
 */
enum ws_status mdl_result_begin(const struct mdl_entry *entry, const struct ws_doc *context,
				struct ws_arena *arena, struct mdl_result *out_result,
				struct ws_err *err);

/* "<model>_<dockerfile>", without slashes: what the names of logs begin with. NULL: no memory. */
const char *mdl_log_stem(const struct mdl_entry *entry, struct ws_arena *arena);

/* Variables that are given to models and written nowhere: MAD_SECRETS... */
bool mdl_is_secret(const char *variable);

enum ws_status mdl_machine_look(struct ws_arena *arena, struct mdl_machine *out_machine,
				struct ws_err *err);

#endif
