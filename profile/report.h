/*
 * report: the profile of a process as files.
 *
 * Call-tree tables (wall_clock, sampling_*, trip_count), summaries of metrics and GPU
 * counters, the flame graph, folded stacks, `metadata` and `functions`, as AMD's
 * rocprof-sys writes them. A file is named
 *
 *	<folder>/<prefix><name><suffix>.<extension>
 *
 * and appears when it is whole. What was not recorded makes no file. A component that the
 * capture has no values for is reported once and left out.
 *
 *	prof_report_opts_init(&opts);
 *	opts.folder = "rocprofsys-app-output/2026-01-31_12.30";
 *	opts.suffix = "-4711";
 *	st = prof_report_write(trace, &process, 1, &opts, &result, err);
 *	...                          result lists what was written, also when st is set
 *	prof_report_result_fini(&result);
 *
 * Several processes (the ranks of a job) make one set of files: rows carry the rank, or are
 * merged with collapse_processes.
 *
 * % SELF counts the children of a row and not, as AMD's, rows of other parents. Kernels and
 * copies are below the call that launched them. They run on the GPU while the thread goes
 * on, so they are not part of that call's time. sampling_percent is the share of samples by
 * CPU time (by other clocks where there are none) that have the function on their stack; in
 * % SELF, those in which it is the innermost.
 *
 * Failure  a file that cannot be written does not keep the others from being written; the
 *          first failure is returned.
 * Memory   grows with the number of different call paths; with `timeline`, with the number
 *          of calls.
 */
#ifndef WS_PROFILE_REPORT_H
#define WS_PROFILE_REPORT_H

#include "base/error.h"
#include "base/unit.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define PROF_MEMORY_UNIT_TABLE(X)  /* bytes */ \
	X(B,  "B",  1.0)                       \
	X(KB, "KB", 1e3)                       \
	X(MB, "MB", 1e6)                       \
	X(GB, "GB", 1e9)                       \
	X(TB, "TB", 1e12)                      \
	X(KI, "KiB", 1024.0)                   \
	X(MI, "MiB", 1048576.0)                \
	X(GI, "GiB", 1073741824.0)
/* clang-format on */

enum prof_memory_unit {
#define PROF_MEMORY_UNIT_ROW(id, word, bytes) PROF_MEMORY_##id,
	PROF_MEMORY_UNIT_TABLE(PROF_MEMORY_UNIT_ROW)
#undef PROF_MEMORY_UNIT_ROW
		PROF_MEMORY_UNIT_COUNT
};
/* False, and @out_unit as it was: no such word. Any case of letters. */
bool prof_memory_unit_parse(const char *word, enum prof_memory_unit *out_unit);

/* How numbers are printed; -1: as the component does by default. */
struct prof_number_style {
	int precision; /* digits after the point */
	int width;     /* at least; of the column without its blanks */
	bool scientific;
};

/* A file that was written, or that a metadata file lists. */
struct prof_report_file {
	const char *format; /* as metadata has it: "text", "json", "protobuf", "html", "folded" */
	const char *label;  /* "wall_clock", "perfetto" */
	const char *path;
};

struct prof_report_opts {
	const char *folder;  /* missing ones are made */
	const char *prefix;  /* OUTPUT_PREFIX, as it goes in front of names; may have folders */
	const char *suffix;  /* "-4711"; "" */
	const int *ranks;    /* of the processes; NULL: their places in the list */
	const char *version; /* of the tool, for metadata */

	bool files;      /* FILE_OUTPUT: false writes to stdout only */
	bool text, json; /* TEXT_OUTPUT, JSON_OUTPUT */
	bool tree;       /* TREE_OUTPUT: "graph" in JSON */
	bool to_stdout;  /* COUT_OUTPUT: the text tables, too */
	bool profile;    /* PROFILE: false writes no tables, but `metadata` and `functions` */
	bool flame;      /* flamegraph.html, for recorded samples or calls */
	bool folded;     /* sampling_*.folded */

	const char *const *components; /* TIMEMORY_COMPONENTS */
	size_t n_components;           /* 0: wall_clock */
	uint32_t domains; /* TRC_DOMAIN_BIT()s of the events in wall_clock; 0: all it can have */
	bool flat, timeline;
	bool collapse_threads, collapse_processes;
	uint32_t max_depth;
	bool inlines;       /* SAMPLING_INCLUDE_INLINES */
	bool keep_internal; /* SAMPLING_KEEP_INTERNAL */

	enum ws_time_unit time_unit;
	enum prof_memory_unit memory_unit;
	struct prof_number_style number, timing, memory; /* PRECISION, TIMING_*, MEMORY_* */
	uint32_t max_width;                              /* of a label; 0: not cut */

	/* DIFF_OUTPUT: reports of an earlier run to compare with; NULL: none. */
	const char *diff_folder; /* INPUT_PATH */
	const char *diff_prefix; /* INPUT_PREFIX */

	/* For metadata. */
	bool ranked; /* the process is of a job: its rank, and how many there are */
	uint64_t job_rank, job_size;
	const char *settings_json;             /* a JSON object; NULL: no settings */
	const struct prof_report_file *others; /* files that others wrote */
	size_t n_others;

	/* Called for each file that was written; and for what the user should know. NULL: silent. */
	void (*written)(void *ctx, const struct prof_report_file *file);
	void (*say)(void *ctx, const char *sentence);
	void *ctx;
};

void prof_report_opts_init(struct prof_report_opts *opts); /* AMD's defaults; folder "." */

/* Whether reports can have a component. Its values may still not be in a recording. */
bool prof_report_has_component(const char *name);

struct prof_report_result {
	struct prof_report_file *files;
	size_t n_files, cap_files;
	uint64_t n_calls, n_samples; /* in the tables */
	uint64_t n_unmatched;        /* ends of regions without a beginning */
	uint64_t n_unplaced;         /* calls and samples without a row: too many different paths */
	/* For the line at the end of a run. */
	double wall_s, cpu_s, peak_mb; /* of the first process; below 0: not recorded */
};

/* @out_result is filled in either case, and finished by the caller. */
enum ws_status prof_report_write(const struct trc_trace *trace,
				 const struct trc_process *const *processes, size_t n_processes,
				 const struct prof_report_opts *opts,
				 struct prof_report_result *out_result, struct ws_err *err);
void prof_report_result_fini(struct prof_report_result *result); /* a zeroed one is fine */

#endif
