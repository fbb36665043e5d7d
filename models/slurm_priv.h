/*
 * slurm_priv: the steps of a run on Slurm.
 */
#ifndef WS_MODELS_SLURM_PRIV_H
#define WS_MODELS_SLURM_PRIV_H

#include "base/str.h"
#include "models/deploy.h"
#include "models/launchers.h"
#include "models/slurm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked of Slurm: presets < model < context, checked. Lives in the arena of the run. */
struct mdl_slurm_plan {
	const struct mdl_entry *entry;
	const struct mdl_run_options *options;
	const struct ws_doc *context; /* merged */
	const struct ws_doc *slurm;   /* its member */
	struct mdl_launch launch;
	size_t n_nodes, n_gpus; /* GPUs of a node */
	const char *model;      /* as a part of file names */
	const char *submit_dir; /* absolute: what the nodes copy */
	const char *root;       /* folder of the model's scripts */
	const char *output_dir; /* absolute */
	const char *script;     /* below output_dir */
	const char *manifest;
	const char *nodelist, *exclude; /* comma lists; NULL: Slurm chooses */
	bool own_containers;            /* slurm_multi */
	uint64_t job;                   /* slurm.job_id: wait for this one; 0: submit */
};

/* ---- slurm_plan.c ---- */

enum ws_status mdl_slurm_plan(const struct mdl_entry *entry, const struct ws_doc *manifest,
			      const struct ws_doc *context, const struct mdl_run_options *options,
			      struct ws_arena *arena, struct mdl_slurm_plan *out_plan,
			      struct ws_err *err);
/* The manifest for the nodes: this entry, no scheduler, no perf.csv. */
struct ws_doc *mdl_slurm_manifest(const struct mdl_slurm_plan *plan, const struct ws_doc *manifest,
				  struct ws_arena *arena);

/* ---- slurm_script.c ---- */

enum ws_status mdl_slurm_script(const struct mdl_slurm_plan *plan, struct ws_buf *out,
				struct ws_err *err);

/* ---- slurm_check.c ---- */

/* The programs that are needed, with a sentence for each that is missing. */
enum ws_status mdl_slurm_programs(struct ws_err *err);
/*
 * Looks for processes and GPU memory that earlier jobs left on idle nodes. Excludes nodes with
 * some; pins the job to enough clean ones. Too few for a job of several nodes is a refusal.
 */
enum ws_status mdl_slurm_check(struct mdl_slurm_plan *plan, struct ws_arena *arena,
			       struct ws_err *err);

/* ---- slurm_queue.c ---- */

enum mdl_slurm_phase { MDL_SLURM_GOING, MDL_SLURM_COMPLETED, MDL_SLURM_FAILED };

struct mdl_slurm_state {
	enum mdl_slurm_phase phase;
	char name[32];      /* "RUNNING"; "UNKNOWN": nobody knows any more */
	char elapsed[32];   /* as squeue prints it */
	char where[160];    /* nodes, or the reason why it waits */
	const char *advice; /* of a state that is a failure; NULL: none */
};

enum ws_status mdl_slurm_submit(const char *script, uint64_t *out_job, struct ws_err *err);
/* What a line of squeue, sacct or scontrol says. */
void mdl_slurm_read_state(struct ws_str text, struct mdl_slurm_state *out_state);
/*
 * Polls until the job has ended, more rarely the longer it runs, and prints progress.
 * False: a signal came; how to find the job again was printed.
 */
bool mdl_slurm_wait(const struct mdl_slurm_plan *plan, uint64_t job, struct ws_arena *arena,
		    struct mdl_slurm_state *out_state);

/* ---- slurm_live.c ---- */

/* --live-output: what the nodes print, line by line as it arrives. */
struct mdl_slurm_live {
	const struct mdl_slurm_plan *plan;
	const char *job;
	uint64_t *shown_bytes; /* of each node; NULL: nothing is shown */
};
void mdl_slurm_live_begin(const struct mdl_slurm_plan *plan, const char *job,
			  struct ws_arena *arena, struct mdl_slurm_live *out_live);
void mdl_slurm_live_turn(struct mdl_slurm_live *live);

/* ---- slurm_collect.c ---- */

/* Reads what the nodes handed back, fills the result, writes results_summary.json. */
enum ws_status mdl_slurm_collect(const struct mdl_slurm_plan *plan, const char *job,
				 const struct mdl_slurm_state *state, struct ws_arena *arena,
				 struct mdl_result *result, struct ws_err *err);

#endif
