/*
 * profile: options and order of calls of `rocprof-compute profile`.
 *
 * The work is done in this order, and each step is a file:
 *   profile_options.c   the table of options, and what does not go together
 *   profile_attach.c    a process in place of a program
 *   profile_list.c      the listing options, which end the program
 *   profile_dir.c       where results go, and what is there already
 *   profile_collect.c   passes, runs of the program, a file per pass
 *   profile_account.c   what was collected, and what could not be matched
 */
#ifndef WS_CMD_COMPUTE_PROFILE_H
#define WS_CMD_COMPUTE_PROFILE_H

#include "analysis/metric.h"
#include "base/arena.h"
#include "base/cmd.h"
#include "base/opt.h"
#include "cmd/compute/compute.h"
#include "launch/agents.h"
#include "launch/rank.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum pf_replay { PF_REPLAY_AUTO, PF_REPLAY_KERNEL, PF_REPLAY_APPLICATION, PF_REPLAY_NONE };
enum pf_multiplex { PF_MULTIPLEX_OFF, PF_MULTIPLEX_KERNEL, PF_MULTIPLEX_LAUNCH };

struct pf_args {
	struct compute_general general;
	/* where */
	const char *name, *output_directory, *path, *subpath, *target;
	bool resume, replace;
	/* what */
	struct ws_strv kernels, dispatches, blocks, list_metrics;
	const char *set;
	bool list_available, list_sets;
	/* how */
	int replay, join_type, format;
	struct ws_strv multiplex, spatial;
	bool merge, retain_rocpd, hip_trace, kokkos_trace, torch_trace, no_native_tool, membw;
	const char *sdk_library, *sdk_tool;
	int64_t attach_pid, attach_msec, device;
	double timeout_s;
	const char *pc_method; /* NULL: the best that the GPU has */
	uint64_t pc_interval;
	/* roofline */
	bool no_roof, roof_only, bench_only, roof_again, kernel_names;
	const char *sort;
	struct ws_strv mem_levels, data_types;
};

/* --spatial-multiplexing; n_gpus 0: not requested. */
struct pf_spatial {
	size_t node, n_nodes, n_gpus; /* this node, from 0; of how many; GPUs of each */
};
#define PF_SPATIAL_MAX 1000000u
enum ws_status pf_spatial_parse(const struct pf_args *args, struct pf_spatial *out,
				struct ws_err *err);

extern const struct ws_opts pf_opts;
void pf_set_defaults(void *values);
extern const char *const pf_replay_names[], *const pf_format_names[], *const pf_join_names[];

enum { PF_FORMAT_CSV, PF_FORMAT_ROCPD };
enum { PF_JOIN_GRID, PF_JOIN_KERNEL };

/* What does not go together, and what needs --experimental; before anything is touched. */
enum ws_status pf_check(const struct pf_args *args, char *const *argv, struct ws_err *err);
enum pf_multiplex pf_multiplex_of(const struct pf_args *args);
struct pf;
/* pf->pc_method and pf->pc_interval: as requested, or what suits the GPU. */
enum ws_status pf_pc_interval(struct pf *pf, struct ws_err *err);

/* One run of the command. Texts are in the arena or borrowed from argv. */
struct pf {
	const struct pf_args *args;
	char *const *argv; /* the program; argv[0] NULL: none */
	struct ws_arena arena;
	struct gpu_agents agents;
	const struct gpu_agent *gpu; /* the first: what counters are planned for */
	const char *target;          /* "MI200" */
	struct launch_rank rank;
	const char *launcher;        /* of the rank, or NULL */
	const char *name;            /* of the workload */
	const char *command;         /* argv as one text */
	const char *pc_method;       /* of -b 21 */
	uint64_t pc_interval;        /* ... cycles or microseconds */
	char dir[PATH_MAX];          /* absolute */
	bool made_dir;               /* by us, just now */
	const char *const *sections; /* -b, or what --set stands for; as typed */
	size_t n_sections;
	struct ana_metrics *metrics; /* of the GPU's architecture; NULL: not needed so far */
};

/* ---- profile.c ---- */
enum ws_status pf_run(const struct ws_cmd_call *call, int *exit_code, struct ws_err *err);
/* pf->agents, gpu and target. */
enum ws_status pf_find_gpu(struct pf *pf, struct ws_err *err);
enum ws_status pf_load_metrics(struct pf *pf, struct ws_err *err); /* unless they are loaded */

/* ---- profile_attach.c ---- */
/* --attach-pid: attach to a running process, on the GPU that it uses. */
enum ws_status pf_attach_begin(struct pf *pf, struct ws_err *err);

/* ---- profile_list.c ---- */
/* *@out_done: one of them was requested, and printed. */
enum ws_status pf_list(struct pf *pf, bool *out_done, struct ws_err *err);

/* ---- profile_roofline.c ---- */
bool pf_roofline_wanted(const struct pf *pf);
/* What came of it: peaks are there that were not; or measuring was ended by this signal. */
struct pf_peaks {
	bool measured;
	int stop_signal;
};
/* roofline.csv in the folder, unless it is there. */
enum ws_status pf_roofline_measure(const struct pf *pf, struct pf_peaks *out_peaks,
				   struct ws_err *err);

/* ---- profile_dir.c ---- */
/* pf->dir and pf->name, from options, rank and machine. Touches nothing. */
enum ws_status pf_choose_dir(struct pf *pf, struct ws_err *err);

#endif
