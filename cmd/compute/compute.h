/*
 * compute: the rocprof-compute command. A mode is a row in compute.c; general options
 * may stand before or after the mode, so every mode's table includes COMPUTE_GENERAL_OPTS.
 */
#ifndef WS_CMD_COMPUTE_COMPUTE_H
#define WS_CMD_COMPUTE_COMPUTE_H

#include "base/cmd.h"
#include "base/opt.h"

#include <stdbool.h>

#define COMPUTE_VERSION "3.4.0" /* of AMD's tool, whose options and files these are */

struct compute_general {
	bool verbose, quiet, version, specs, experimental;
	const char *list_metrics, *list_blocks; /* an architecture */
	const char *config_dir;
};

/* clang-format off */
/* What follows T leads to the struct inside T: `general.`; nothing when T is the struct. */
#define COMPUTE_GENERAL_OPTS(T, ...)                                                                \
	WS_OPT_GROUP("General"),                                                                   \
	WS_OPT_BOOL(T, __VA_ARGS__ version, 'v', "version", "print the version and exit"),                    \
	WS_OPT_BOOL(T, __VA_ARGS__ verbose, 'V', "verbose", "say more"),                                     \
	WS_OPT_BOOL(T, __VA_ARGS__ quiet, 'q', "quiet", "say errors only"),                                  \
	WS_OPT_BOOL(T, __VA_ARGS__ specs, 's', "specs", "print the machine's specification and exit"),        \
	WS_OPT_STR(T, __VA_ARGS__ list_metrics, 0, "list-metrics", "ARCH", "print the metrics of ARCH"),     \
	WS_OPT_STR(T, __VA_ARGS__ list_blocks, 0, "list-blocks", "ARCH", "print the blocks of ARCH"),        \
	WS_OPT_STR(T, __VA_ARGS__ config_dir, 0, "config-dir", "DIR",                                        \
		   "read metric definitions from DIR instead of the built-in ones"),               \
	WS_OPT_BOOL(T, __VA_ARGS__ experimental, 0, "experimental", "allow options that may still change")
/* clang-format on */

extern const struct ws_cmd compute_analyze_cmd;
extern const struct ws_cmd compute_profile_cmd;

/* Apply -V, -q and ROCPROFCOMPUTE_LOGLEVEL, and answer -v; *@out_done: nothing is left to do. */
enum ws_status compute_general_apply(const struct compute_general *general, const char *mode,
				     bool *out_done, struct ws_err *err);
/* --specs without a workload: this machine. */
enum ws_status compute_print_specs(struct ws_err *err);
/* --list-metrics and --list-blocks. */
enum ws_status compute_list(const struct compute_general *general, bool with_help,
			    struct ws_err *err);

#endif
