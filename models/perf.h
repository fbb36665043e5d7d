/*
 * perf: results: what a log says of a run, and the files that keep it.
 *
 *	performance: <number>[ /unit][,] <metric>
 *
 * is the line that a model prints; else train_samples_per_second and a number.
 *
 * Memory   texts of a result live in the arena of the run.
 */
#ifndef WS_MODELS_PERF_H
#define WS_MODELS_PERF_H

#include "base/arena.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define MDL_STATUS_TABLE(X)      \
	X(MDL_FAILURE, "FAILURE") \
	X(MDL_SUCCESS, "SUCCESS") \
	X(MDL_SKIPPED, "SKIPPED")

/* The columns of perf.csv, in order. */
#define MDL_PERF_COLUMNS(X)                                                                        \
	X(model) X(n_gpus) X(nnodes) X(gpus_per_node) X(training_precision) X(pipeline) X(args)    \
	X(tags) X(docker_file) X(base_docker) X(docker_sha) X(docker_image) X(git_commit)          \
	X(machine_name) X(deployment_type) X(launcher) X(gpu_architecture) X(performance)          \
	X(metric) X(relative_change) X(status) X(build_duration) X(test_duration) X(dataname)      \
	X(data_provider_type) X(data_size) X(data_download_duration) X(build_number)               \
	X(additional_docker_run_options)
/* clang-format on */

enum mdl_run_status {
#define MDL_STATUS_ROW(name, text) name,
	MDL_STATUS_TABLE(MDL_STATUS_ROW)
#undef MDL_STATUS_ROW
};

const char *mdl_status_name(enum mdl_run_status status);

/* A result: one text per column, NULL for an empty one; `status` is set from `outcome`. */
struct mdl_result {
#define MDL_PERF_FIELD(name) const char *name;
	MDL_PERF_COLUMNS(MDL_PERF_FIELD)
#undef MDL_PERF_FIELD
	enum mdl_run_status outcome;
	const char *reason;           /* of a failure: one sentence; NULL */
	const char *note;             /* what the profiler did not see; NULL */
	bool interrupted;             /* by the user: do not go on with the next model */
	const char *multiple_results; /* path of the CSV file with more rows; NULL: none */
	const struct ws_doc *configs; /* for perf_super: the parsed --config file; NULL: none */
};

/* ---- what a log says ---- */

struct mdl_performance {
	const char *number; /* as written */
	const char *metric;
};

/* The last performance line of @log; false: none. */
bool mdl_performance_find(struct ws_str log, struct ws_arena *arena,
			  struct mdl_performance *out_performance);

/* log_error_pattern_scan, log_error_benign_patterns and log_error_patterns: context over model. */
struct mdl_scan {
	bool off;
	const struct ws_doc *patterns; /* list; NULL: the default ones */
	const struct ws_doc *benign;   /* list; NULL: only the default ones */
};

void mdl_scan_from(const struct ws_doc *context, const struct ws_doc *model,
		   struct mdl_scan *out_scan);
/* The first line with an error pattern that is not benign, and the pattern; false: none. */
bool mdl_scan_log(const struct mdl_scan *scan, struct ws_str log, struct ws_str *out_line,
		  const char **out_pattern);

/* How the numbers of several nodes become one, by the words of the metric's name. */
enum mdl_combine { MDL_COMBINE_SUM, MDL_COMBINE_MEAN, MDL_COMBINE_MAX, MDL_COMBINE_UNKNOWN };
enum mdl_combine mdl_metric_combine(const char *metric);

/* ---- files, in the folder of @path, which is perf.csv ---- */

/*
 * Whether mdl_perf_write() will be able to write, and to append to the files that are there: asked
 * before a run of hours. Makes the folder.
 */
enum ws_status mdl_perf_check(const char *path, struct ws_arena *arena, struct ws_err *err);

/*
 * Appends the result, or one row per row of its multiple_results, to perf.csv, perf_super.csv and
 * perf_super.json, and writes perf_entry.csv, .json, perf_entry_super.csv, .json and
 * common_info.json. A perf.csv with another header is refused, not changed.
 * A multiple_results file without rows or columns makes the result a FAILURE, which is written.
 */
enum ws_status mdl_perf_write(const char *path, struct mdl_result *result, struct ws_arena *arena,
			      struct ws_err *err);

#endif
