/*
 * Collecting: the passes of a profile, run and written down one by one.
 *
 * With kernel replay all passes are one run of the program; with application replay each is
 * a run of its own, and is in the folder before the next begins. Whatever stops it, what is
 * written stays, and the state in the folder says how far it came.
 */
#ifndef WS_CMD_COMPUTE_PROFILE_COLLECT_H
#define WS_CMD_COMPUTE_PROFILE_COLLECT_H

#include "cmd/compute/profile.h"
#include "cmd/compute/profile_before.h"
#include "counters/plan.h"
#include "launch/passes.h"
#include "trace/dispatch_match.h"
#include "workload/sheet.h"
#include "workload/state.h"

/* One run of the command, from counters to files. */
struct pf_collect {
	struct pf *pf;
	enum pf_before before;
	enum pf_replay replay; /* what AUTO became */
	bool by_packets;       /* counters are programmed by packets, see launch/count_events.h */
	enum pf_multiplex multiplex;
	struct pf_spatial spatial;
	struct wl_want *wants; /* what is still to be counted */
	size_t n_wants;
	size_t n_there;      /* counters that an earlier run has left */
	size_t n_counters;   /* of wants, those that this GPU has */
	const char *missing; /* the others, as one text; NULL: none */
	struct cnt_catalogue *cat;
	struct cnt_plan *plan; /* NULL: nothing to count */
	struct wl_sheets sheets;
	struct wl_state state;           /* as in the folder: earlier passes, then ours */
	size_t first_pass;               /* of ours in state.passes; sheet i is first_pass + i */
	struct col_count_set *sets;      /* one per pass of the plan */
	const char *include;             /* -k as one expression, or NULL */
	struct col_count_range *numbers; /* -d */
	size_t n_numbers;
	/* what came of it */
	size_t n_runs, n_runs_done;
	uint64_t n_dispatches, n_incomplete; /* rows; those that lack a value */
	double seconds;
	int stop_signal; /* Ctrl-C and the like; 0: none */
	bool unmatched;  /* no dispatch is in all passes */
	bool lost;       /* the disk was full while the program ran: dispatches are missing */
	bool recorded;   /* captures of the only run are kept in the folder: profile_recorded.c */
};

/* Counters, passes and files that do not need a run. Nothing to do is WS_OK and plan NULL. */
enum ws_status pf_collect_init(struct pf_collect *c, struct pf *pf, struct ws_err *err);
void pf_collect_fini(struct pf_collect *c);

/*
 * Run it all. A program that fails or is stopped is WS_E_STATE with a sentence that says what
 * is kept; state and files are then as far as it came.
 */
enum ws_status pf_collect_run(struct pf_collect *c, struct ws_err *err);

/* ---- profile_results.c ---- */
/*
 * Write the sheets of the plan's passes @first .. + @n - 1 from one run. @done: the run came
 * to its end; otherwise what there is is written, and the passes stay to be done.
 */
enum ws_status pf_take_results(struct pf_collect *c, const struct launch_passes_result *result,
			       size_t first, size_t n, bool done, struct ws_err *err);

/* ---- profile_runs.c ---- */
/* Ctrl-C and the like between runs: WS_E_STATE, and c->stop_signal is what came. */
void pf_runs_begin(void);
enum ws_status pf_runs_interrupted(struct pf_collect *c, struct ws_err *err);
/* The program once, for the plan's passes @first .. + @n - 1; its lines become ours. */
enum ws_status pf_run_once(struct pf_collect *c, size_t first, size_t n, enum launch_replay replay,
			   struct launch_passes_result *out_result, struct ws_err *err);

/* ---- profile_recorded.c ---- */
bool pf_recorded_is_there(const struct pf *pf);
void pf_recorded_remove(const struct pf *pf);
/* Keep the captures of @result, which are then no longer to be removed; false: not possible. */
bool pf_recorded_keep(const struct pf_collect *c, struct launch_passes_result *result);
/* In place of a run. */
enum ws_status pf_recorded_open(const struct pf_collect *c, struct launch_passes_result *out_result,
				struct ws_err *err);

/* ---- profile_torch.c ---- */
/* Whether the program is one that Python runs; then its environment is prepared. */
enum ws_status pf_torch_begin(struct pf *pf, struct ws_err *err);
/* Operators and the counters of their kernels, from one run: added to torch_trace/. */
enum ws_status pf_torch_write(struct pf_collect *c, const struct trc_counted *table,
			      const struct wl_sheet_rows *rows, size_t first, size_t n,
			      struct ws_err *err);

/* ---- profile_extras.c ---- */
/* What is recorded besides counters: --hip-trace, --torch-trace. */
const struct col_collect_config *pf_services(const struct pf_args *args);
/* Files that the other options ask for, from one run; @name is that of its first pass. */
enum ws_status pf_extras_write(struct pf_collect *c, const struct trc_counted *table,
			       const char *name, struct ws_err *err);
/* -b 21: one more run, sampled. */
enum ws_status pf_sample(struct pf_collect *c, struct ws_err *err);

/* ---- profile_mpi.c ---- */
/* Whether running the program @n_runs times is possible for this rank. */
enum ws_status pf_check_ranks(const struct pf *pf, size_t n_runs, struct ws_err *err);

/* ---- profile_spatial.c ---- */
/* Of c->wants, planned for all nodes, those that this node counts. */
enum ws_status pf_spatial_share(struct pf_collect *c, struct ws_err *err);
/* Which GPU counts which of the passes @first .. + @n - 1: every one all, or each its share. */
enum ws_status pf_gpus_of(struct pf_collect *c, size_t first, size_t n,
			  struct col_count_gpu **out_gpus, size_t *out_n, struct ws_err *err);

/* ---- profile_account.c ---- */
/* --join-type: what makes dispatches of two passes the same one. */
enum trc_alike pf_alike(const struct pf_args *args);
/* What is in the folder, pass by pass: dispatches that not all passes have are named. */
enum ws_status pf_account(struct pf_collect *c, struct ws_err *err);
/* After a profile that was stopped: what of it is in the folder, and how to go on. */
void pf_log_kept(struct pf_collect *c);
/* Everything requested is collected: note it in the state and report it. */
enum ws_status pf_finish(struct pf_collect *c, bool measured, struct ws_err *err);

#endif
