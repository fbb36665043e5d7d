/*
 * analyze: options and order of calls of `rocprof-compute analyze`. What it prints is made by
 * report/, from workloads that are read by workload/ and evaluated by analysis/.
 */
#ifndef WS_CMD_COMPUTE_ANALYZE_H
#define WS_CMD_COMPUTE_ANALYZE_H

#include "cmd/compute/compute.h"
#include "report/report.h"

enum an_format { AN_STDOUT, AN_TXT, AN_CSV, AN_JSON, AN_DB, AN_HTML };

struct an_args {
	struct compute_general general;
	/* Grouped: NULL before each occurrence. */
	struct ws_strv paths, kernels, dispatches, gpu_ids, nodes, torch_operators;
	struct rpt_options show;
	bool list_stats, list_available, list_nodes, list_torch, debug, dependency, spatial;
	const char *output, *save_dfs, *output_name, *specs_correction;
	const char *charts; /* a folder for pictures */
	int format;         /* enum an_format */
	int64_t kernel_verbose;
	bool ea_aliases;
	bool diff, tui, random_port;
	struct ws_strv gui; /* grouped as `paths`: --gui [PORT] */
	struct ws_strv fail_on, explain;
};

struct an {
	const struct an_args *args;
	struct rpt_report rpt; /* a run per -p */
	int exit_code;
};

/*
 * As --tui of profile folders, the first of which is the baseline; or with @port, a number as text, as --gui.
 */
enum ws_status an_look_around(char *const *paths, size_t n, const char *config_dir,
			      const char *port, struct ws_err *err);

#define AN_EXIT_FAIL_ON 3 /* a condition of --fail-on failed */

/* analyze_check.c */
/* After opening @run ended with @st: a profile that was interrupted is named with its --resume. */
enum ws_status an_name_resume(struct an *an, const struct rpt_run *run, enum ws_status st,
			      struct ws_err *err);
/* What -b names and is not there; a report of nothing but unknown names is none. */
enum ws_status an_check_blocks(const struct an *an, struct ws_err *err);
/* Whether the options about PyTorch operators may be used, and with the others. */
enum ws_status an_check_torch(const struct an_args *args, struct ws_err *err);

/* analyze_gui.c: --gui and --random-port. */
enum ws_status an_check_gui(const struct an_args *args, struct ws_err *err);
enum ws_status an_gui(struct an *an, const struct ana_eval_how *how, struct ws_err *err);

/* analyze_diff.c: --diff and --fail-on; sets an->exit_code. */
enum ws_status an_diff(struct an *an, struct ws_err *err);

#endif
