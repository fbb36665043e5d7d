/*
 * deploy: what runs on a cluster have in common, whoever schedules them: presets, templates,
 * and how the numbers of several nodes become one result.
 */
#ifndef WS_MODELS_DEPLOY_H
#define WS_MODELS_DEPLOY_H

#include "base/str.h"
#include "models/run.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Merges presets/<name>.json of madengine's files, in the order given, then what the model says
 * (slurm, distributed, env_vars), then @context. Maps are merged member by member; all else is
 * replaced.
 */
enum ws_status mdl_deploy_merge(const char *const *names, size_t n_names,
				const struct mdl_model *model, const struct ws_doc *context,
				struct ws_arena *arena, struct ws_doc **out_context,
				struct ws_err *err);
/* slurm.nodes or distributed.nnodes of context or model, before presets; 1. */
enum ws_status mdl_deploy_nodes(const struct mdl_model *model, const struct ws_doc *context,
				size_t *out_nodes, struct ws_err *err);

/* "@name@" of a template becomes the text of the slot of that name. */
struct mdl_slot {
	const char *name;
	const char *text;
};

/*
 * Appends templates/<file> with its slots filled. A line that consists of one slot is left out
 * when the text is empty. A slot that is not given is an error.
 */
enum ws_status mdl_template_fill(const char *file, const struct mdl_slot *slots, size_t n_slots,
				 struct ws_buf *out, struct ws_err *err);

/* The name of a model as a part of file names: "scope/name" is "scope_name". In @arena. */
const char *mdl_deploy_file_name(const char *model, struct ws_arena *arena);
/* Options that have no effect on a cluster, with a warning each. */
void mdl_deploy_warn(const struct mdl_run_options *options, const char *where);

/* ---- asking a scheduler, and waiting for it ---- */

/*
 * Appends what a command prints, without the remarks that begin with its own name.
 * WS_E_STATE when it fails, with the last line of its output.
 */
enum ws_status mdl_deploy_ask(char *const *argv, int timeout_ms, struct ws_buf *out,
			      struct ws_err *err);
/* The first line of the same; false: there is none, or it failed, and @err has the status. */
bool mdl_deploy_ask_line(char *const *argv, int timeout_ms, struct ws_buf *buf,
			 struct ws_str *out_line, struct ws_err *err);

#define MDL_WAIT_SIGNALS 3

/* From begin to end SIGINT, SIGTERM and SIGHUP end only the waiting. Main thread only. */
struct mdl_wait {
	double begin_s;
	struct sigaction before[MDL_WAIT_SIGNALS];
};
void mdl_wait_begin(struct mdl_wait *wait);
void mdl_wait_end(struct mdl_wait *wait);
bool mdl_wait_interrupted(void); /* a signal came since begin */
/* Sleeps a tenth of the time since begin, from half a second to 30 s; less if a signal comes. */
void mdl_wait_pause(const struct mdl_wait *wait);
void mdl_wait_pause_s(double seconds);

/* ---- results of several nodes ---- */

/* What one node handed back. */
struct mdl_node {
	const char *host; /* "": it never started */
	bool ended;       /* it handed back an exit code */
	int exit_code;
	const char *number; /* its performance as written; NULL: none */
	const char *metric;
	double seconds;   /* test_duration; < 0: none */
	const char *lost; /* what could not be copied; NULL: nothing */
	const char *dir;  /* where its files are */
	size_t n_files;   /* of dir */
};

/* Reads node_<rank>/ below @dir. */
enum ws_status mdl_node_read(const char *dir, size_t rank, struct ws_arena *arena,
			     struct mdl_node *out_node, struct ws_err *err);
/*
 * Combines the numbers of the nodes into performance and metric of @result, by the words of the
 * metric, and sets test_duration to the longest. False: no node has a number.
 */
bool mdl_nodes_combine(const struct mdl_node *nodes, size_t n_nodes, struct ws_arena *arena,
		       struct mdl_result *result, const char **out_how);

#endif
