/*
 * output: a trace in the formats that AMD's tools and their readers know.
 *
 *	struct output_config cfg;
 *
 *	output_config_init(&cfg);
 *	cfg.formats = OUTPUT_BIT(CSV) | OUTPUT_BIT(ROCPD);
 *	cfg.prefix = "out/host/4711";            "_kernel_trace.csv" and the like is appended
 *	st = output_write(trace, NULL, 0, &cfg, &result, err);
 *	...                                      result says what was written, also when st is set
 *	output_result_fini(&result);
 *
 * One call reads the events once for the statistics, if requested, and once
 * per format (JSON: once per domain). A format that fails (disk full, no permission) does
 * not keep the others from being written: its file in the making is removed, its entry in
 * the result carries the sentence, and the call returns the first failure. Files appear
 * under their names when they are whole: until then they are called `<name>.partial`.
 *
 * No data, no files: when nothing was recorded, or less than `minimum_bytes`,
 * the result is empty and that is not a failure; `result.n_events` has the counts.
 *
 * Threads  calls with different results may run at the same time on one trace.
 * Memory   does not grow with the number of events, but with the number of different
 *          names (up to OUTPUT_NAMES_MAX per domain), threads, agents and kernels.
 */
#ifndef WS_OUTPUT_H
#define WS_OUTPUT_H

#include "base/error.h"
#include "base/unit.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_frames;

/* ---- formats: one row each; the order is the order of writing ---- */

/* clang-format off */
#define OUTPUT_TABLE(X)                                                                         \
	X(CSV,     "csv",     output_csv)                                                       \
	X(JSON,    "json",    output_json)                                                      \
	X(PFTRACE, "pftrace", output_pftrace)                                                   \
	X(ROCPD,   "rocpd",   output_rocpd)                                                     \
	X(OTF2,    "otf2",    output_otf2)                                                      \
	X(HTML,    "html",    output_html)
/* clang-format on */

enum output_format {
#define OUTPUT_ROW(name, word, ops) OUTPUT_##name,
	OUTPUT_TABLE(OUTPUT_ROW)
#undef OUTPUT_ROW
		OUTPUT_COUNT,
	OUTPUT_SUMMARY = OUTPUT_COUNT, /* of a result's file: the text tables */
};
#define OUTPUT_BIT(NAME) (1u << OUTPUT_##NAME)

struct output_run; /* output_priv.h */

struct output_ops {
	const char *word;    /* as -f spells it */
	const char *what;    /* for people: "Perfetto trace" */
	bool (*built)(void); /* NULL: always; false: left out of this build */
	const char *how;     /* when it is not built in: what to do */
	enum ws_status (*write)(struct output_run *run, struct ws_err *err);
};

const struct output_ops *output_ops(enum output_format format);
/* From its word, in lower case; false: no such format. */
bool output_by_word(const char *word, enum output_format *out_format);

/* ---- what the user chose ---- */

/* What an instruction at a sampled address is; texts are valid until the next call. */
struct output_decoder {
	bool (*decode)(void *ctx, const struct trc_process *process, uint64_t code_object,
		       uint64_t offset, const char **out_instruction, const char **out_comment);
	void *ctx;
};

struct output_config {
	uint32_t formats; /* OUTPUT_BIT()s; 0 with summary options: only the tables */
	/* directory and stem, placeholders expanded; missing folders are made */
	const char *prefix;
	const char *pftrace_path; /* of the Perfetto trace; NULL: prefix_results.pftrace */
	int stream_fd; /* STDOUT_FILENO or STDERR_FILENO: CSV and JSON go there, -1: files */

	bool stats;                        /* *_stats.csv with CSV, "summary" with JSON */
	bool summary, summary_per_domain;  /* -S, -D */
	const char *const *summary_groups; /* POSIX extended regular expressions, full match */
	size_t n_summary_groups;
	const char *summary_file; /* "stdout", "stderr" (the default when NULL), or a stem */
	enum ws_time_unit summary_unit;

	enum trc_agent_index agent_index;
	bool group_by_queue; /* queue tracks; every stream id is 0 */
	bool kernel_rename;  /* names of dispatches come from ranges where there is one */
	bool from_database;  /* the trace was a rocpd database: pftrace as AMD's converter does */
	uint64_t minimum_bytes; /* --minimum-output-data, in bytes of records; 0: no threshold */

	/*
	 * The CPU side in the database: regions, metrics and, with the names of their functions,
	 * call-stack samples. The frames are those of the one process that is written.
	 */
	bool host_data;
	struct prof_frames *frames; /* NULL: no samples */

	const char *guid;                     /* of the database; NULL: a new one */
	const struct output_decoder *decoder; /* NULL: PC samples are not decoded */

	/* Called once per file that was opened under its final name @path; NULL: silent. */
	void (*opened)(void *ctx, const char *path, const char *guid /* rocpd only, else NULL */);
	void *opened_ctx;

	/* Recorded as given in JSON's metadata.config and the database; NULL is "". */
	const char *output_path, *output_file, *tmp_directory;
	const char *raw_output_path, *raw_output_file, *raw_tmp_directory;
	uint64_t perfetto_shmem_size_hint_kb, perfetto_buffer_size_kb;
	const char *perfetto_buffer_fill_policy, *perfetto_backend;
};

void output_config_init(struct output_config *cfg); /* AMD's defaults; no format yet */

/* ---- what was done ---- */

struct output_file {
	enum output_format format; /* or OUTPUT_SUMMARY */
	char *path;
	uint64_t n_rows; /* records written: lines, array elements, slices, table rows */
	uint64_t n_bytes;
	struct ws_err err; /* status WS_OK: it is there, whole */
};

struct output_result {
	struct output_file *files;
	size_t n_files, cap_files;
	uint64_t n_events[CAP_DOMAIN_COUNT]; /* in the trace */
	uint64_t n_bytes[CAP_DOMAIN_COUNT];  /* of their records */
	/* For the ledger: of those, in this format's files. COUNTER_COLLECTION counts dispatches.
	 */
	uint64_t n_written[OUTPUT_COUNT][CAP_DOMAIN_COUNT];
	uint64_t n_unnamed; /* events counted under OUTPUT_OTHER_NAMES in the statistics */
	bool below_minimum; /* nothing written because of minimum_bytes */
};

#define OUTPUT_NAMES_MAX (1u << 20)
#define OUTPUT_OTHER_NAMES "(other names)"

/*
 * Write what @cfg asks for about @processes, or about all of @trace when @processes is
 * NULL. One call is one set of files: rocprofv3 calls once per process. @out_result is
 * filled in either case and finished by the caller.
 */
enum ws_status output_write(const struct trc_trace *trace,
			    const struct trc_process *const *processes, size_t n_processes,
			    const struct output_config *cfg, struct output_result *out_result,
			    struct ws_err *err);
void output_result_fini(struct output_result *result); /* a zeroed one is fine */

/* "Agent 2", "GPU 0": @sep is ' ' in CSV and '-' in annotations. NULL @agent: "". */
size_t output_agent_text(const struct trc_agent *agent, enum trc_agent_index mode, char sep,
			 char *to, size_t room);

/* A version 7 UUID from the time and what is particular to this process. */
void output_new_guid(const struct trc_process *process, char out_guid[37]);

#endif
