/*
 * output: a trace in the formats that AMD's tools and their readers know.
 *
 *	struct ws_output_config cfg;
 *
 *	ws_output_config_init(&cfg);
 *	cfg.formats = WS_OUTPUT_BIT(CSV) | WS_OUTPUT_BIT(ROCPD);
 *	cfg.prefix = "out/host/4711";            "_kernel_trace.csv" and the like is appended
 *	st = ws_output_write(trace, NULL, 0, &cfg, &result, err);
 *	...                                      result says what was written, also when st is set
 *	ws_output_result_fini(&result);
 *
 * One call reads the events once for the statistics, when they are asked for, and once
 * per format (JSON: once per domain). A format that fails (disk full, no permission) does
 * not keep the others from being written: its file in the making is removed, its entry in
 * the result carries the sentence, and the call returns the first failure. Files appear
 * under their names when they are whole: until then they are called `<name>.partial`.
 *
 * No data, no files: when nothing was recorded, or less than `minimum_bytes`,
 * the result is empty and that is not a failure; `result.n_events` tells.
 *
 * Threads  calls with different results may run at the same time on one trace.
 * Memory   does not grow with the number of events, but with the number of different
 *          names (up to WS_OUTPUT_NAMES_MAX per domain), threads, agents and kernels.
 */
#ifndef WS_OUTPUT_OUTPUT_H
#define WS_OUTPUT_OUTPUT_H

#include "base/error.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- formats: one row each; the order is the order of writing ---- */

/* clang-format off */
#define WS_OUTPUT_TABLE(X)                                                                         \
	X(CSV,     "csv",     ws_output_csv)                                                       \
	X(JSON,    "json",    ws_output_json)                                                      \
	X(PFTRACE, "pftrace", ws_output_pftrace)                                                   \
	X(ROCPD,   "rocpd",   ws_output_rocpd)                                                     \
	X(OTF2,    "otf2",    ws_output_otf2)
/* clang-format on */

enum ws_output_format {
#define WS_OUTPUT_ROW(name, word, ops) WS_OUTPUT_##name,
	WS_OUTPUT_TABLE(WS_OUTPUT_ROW)
#undef WS_OUTPUT_ROW
		WS_OUTPUT_COUNT,
	WS_OUTPUT_SUMMARY = WS_OUTPUT_COUNT, /* of a result's file: the text tables */
};
#define WS_OUTPUT_BIT(NAME) (1u << WS_OUTPUT_##NAME)

struct ws_output_run; /* output_priv.h */

struct ws_output_ops {
	const char *word;    /* as -f spells it */
	const char *what;    /* for people: "Perfetto trace" */
	bool (*built)(void); /* NULL: always; false: left out of this build */
	const char *how;     /* when it is not built in: what to do */
	enum ws_status (*write)(struct ws_output_run *run, struct ws_err *err);
};

const struct ws_output_ops *ws_output_ops(enum ws_output_format format);
/* From its word, in lower case; false: no such format. */
bool ws_output_by_word(const char *word, enum ws_output_format *out_format);

/* ---- what the user chose ---- */

enum ws_agent_index { WS_AGENT_INDEX_RELATIVE, WS_AGENT_INDEX_ABSOLUTE, WS_AGENT_INDEX_TYPE };
enum ws_time_unit { WS_UNIT_NSEC, WS_UNIT_USEC, WS_UNIT_MSEC, WS_UNIT_SEC };

/* What an instruction at a sampled address is; texts are valid until the next call. */
struct ws_output_decoder {
	bool (*decode)(void *ctx, const struct ws_process *process, uint64_t code_object,
		       uint64_t offset, const char **out_instruction, const char **out_comment);
	void *ctx;
};

struct ws_output_config {
	uint32_t formats; /* WS_OUTPUT_BIT()s; 0 with summary options: only the tables */
	const char
		*prefix; /* directory and stem, placeholders expanded; missing folders are made */
	int stream_fd;   /* STDOUT_FILENO or STDERR_FILENO: CSV and JSON go there, -1: files */

	bool stats;                        /* *_stats.csv with CSV, "summary" with JSON */
	bool summary, summary_per_domain;  /* -S, -D */
	const char *const *summary_groups; /* POSIX extended regular expressions, full match */
	size_t n_summary_groups;
	const char *summary_file; /* "stdout", "stderr" (the default when NULL), or a stem */
	enum ws_time_unit summary_unit;

	enum ws_agent_index agent_index;
	bool group_by_queue;    /* queue tracks; every stream id is 0 */
	bool kernel_rename;     /* names of dispatches come from ranges where there is one */
	bool from_database;     /* the trace was a rocpd database: pftrace as AMD's converter does */
	uint64_t minimum_bytes; /* --minimum-output-data, in bytes of records; 0: no threshold */

	const char *guid;                        /* of the database; NULL: a new one */
	const struct ws_output_decoder *decoder; /* NULL: PC samples are not decoded */

	/* Called once per file that was opened under its final name @path; NULL: silent. */
	void (*opened)(void *ctx, const char *path, const char *guid /* rocpd only, else NULL */);
	void *opened_ctx;

	/* Recorded as given in JSON's metadata.config and the database; NULL is "". */
	const char *output_path, *output_file, *tmp_directory;
	const char *raw_output_path, *raw_output_file, *raw_tmp_directory;
	uint64_t perfetto_shmem_size_hint_kb, perfetto_buffer_size_kb;
	const char *perfetto_buffer_fill_policy, *perfetto_backend;
};

void ws_output_config_init(struct ws_output_config *cfg); /* AMD's defaults; no format yet */

/* ---- what was done ---- */

struct ws_output_file {
	enum ws_output_format format; /* or WS_OUTPUT_SUMMARY */
	char *path;
	uint64_t n_rows; /* records written: lines, array elements, slices, table rows */
	uint64_t n_bytes;
	struct ws_err err; /* status WS_OK: it is there, whole */
};

struct ws_output_result {
	struct ws_output_file *files;
	size_t n_files, cap_files;
	uint64_t n_events[WS_DOMAIN_COUNT]; /* in the trace */
	uint64_t n_bytes[WS_DOMAIN_COUNT];  /* of their records */
	/* For the ledger: of those, in this format's files. COUNTER_COLLECTION counts dispatches.
	 */
	uint64_t n_written[WS_OUTPUT_COUNT][WS_DOMAIN_COUNT];
	uint64_t n_unnamed; /* events counted under WS_OUTPUT_OTHER_NAMES in the statistics */
	bool below_minimum; /* nothing written because of minimum_bytes */
};

#define WS_OUTPUT_NAMES_MAX (1u << 20)
#define WS_OUTPUT_OTHER_NAMES "(other names)"

/*
 * Write what @cfg asks for about @processes, or about all of @trace when @processes is
 * NULL. One call is one set of files: rocprofv3 calls once per process. @out_result is
 * filled in either case and finished by the caller.
 */
enum ws_status ws_output_write(const struct ws_trace *trace,
			       const struct ws_process *const *processes, size_t n_processes,
			       const struct ws_output_config *cfg,
			       struct ws_output_result *out_result, struct ws_err *err);
void ws_output_result_fini(struct ws_output_result *result); /* a zeroed one is fine */

/* "Agent 2", "GPU 0": @sep is ' ' in CSV and '-' in annotations. NULL @agent: "". */
size_t ws_output_agent_text(const struct ws_agent *agent, enum ws_agent_index mode, char sep,
			    char *to, size_t room);

/* A version 7 UUID from the time and what is particular to this process. */
void ws_output_new_guid(const struct ws_process *process, char out_guid[37]);

/* The SQL of the database, for those who make views over several: "tables", "views", "data_views",
 * "summary_views". Placeholders: {{uuid}} is the suffix with its `_`, {{guid}} the guid. */
const char *ws_output_sql(const char *name);

#endif
