/*
 * systrace: the Perfetto trace of rocprof-sys, the whole application on one timeline.
 *
 *	struct output_systrace_opts opts = { .frames = frames, .annotations = true };
 *
 *	st = output_systrace_write(trace, process, &opts, "out/perfetto-trace-4711.proto",
 *				   &result, err);
 *	if (!st && result.n_lost)
 *		tell(result.lost);
 *
 * Tracks, names, categories and annotations are AMD's; docs/formats/systrace.md lists them.
 * Sampled call stacks are in the file twice: as nested slices, and as profiler samples, of
 * which the viewer makes flame graphs. Times are CLOCK_BOOTTIME.
 *
 * The file appears under its name when it is whole: until then it is called `<path>.partial`.
 * Files of several processes may be concatenated.
 *
 * Threads  calls with different frames may run at the same time on one trace.
 * Memory   does not grow with the number of events, but with the number of different
 *          names and call stacks, threads, streams and queues.
 */
#ifndef WS_OUTPUT_SYSTRACE_H
#define WS_OUTPUT_SYSTRACE_H

#include "base/error.h"
#include "profile/frames.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is lost when there is more data than the user's limit. */
enum output_systrace_fill {
	OUTPUT_SYSTRACE_DISCARD, /* what comes later */
	OUTPUT_SYSTRACE_RING,    /* what came first */
};

struct output_systrace_opts {
	/* Names of sampled functions; NULL: samples are left out, functions are addresses. */
	struct prof_frames *frames;
	bool annotations;    /* PERFETTO_ANNOTATIONS */
	bool group_by_queue; /* ROCM_GROUP_BY_QUEUE: tracks of queues instead of streams */
	/*
	 * Categories, each list NULL-ended: with @enable no others are written, with @disable all
	 * others. NULL: all. Not both. Unknown names are ignored; see output_systrace_category().
	 */
	const char *const *enable, *const *disable;
	uint64_t max_bytes; /* of the file; 0: no limit */
	enum output_systrace_fill fill;
	/* Only what begins in [from_ns, until_ns); both 0: everything. */
	uint64_t from_ns, until_ns;
	/* Of a job: shown with the process, which stands in the order of its rank. */
	bool ranked;
	uint64_t rank;
	/*
	 * For a file of many processes: what this one is called instead of its program's name, a
	 * label beside it (NULL: none), and what is added to its pid and tids, because
	 * processes of two machines may have the same ones and would become one.
	 */
	const char *process_name, *label;
	uint32_t pid_base;
};

struct output_systrace_result {
	uint64_t n_bytes;   /* of the file */
	uint64_t n_slices;  /* API calls, kernels, copies, regions, sampled frames */
	uint64_t n_samples; /* of call stacks */
	uint64_t n_values;  /* of counter tracks */
	uint64_t n_lost;    /* events that are not in the file because of max_bytes */
	char lost[240];     /* "" or a message about that and what to do */
};

/* No data is no failure: the file then has the process and nothing else. */
enum ws_status output_systrace_write(const struct trc_trace *trace,
				     const struct trc_process *process,
				     const struct output_systrace_opts *opts, const char *path,
				     struct output_systrace_result *out_result, struct ws_err *err);

/*
 * The traces of several processes, whose clock is the same, as one file. On failure there is
 * none.
 */
enum ws_status output_systrace_combine(const char *const *paths, size_t n_paths,
				       const char *to_path, uint64_t *out_bytes,
				       struct ws_err *err);

/* The categories, in the order of AMD's list; NULL after the last. For checks and listings. */
const char *output_systrace_category(size_t i);

#endif
