/*
 * rocpd: reading, narrowing, summarizing, merging and converting rocpd databases.
 *
 *	struct rpd_db db;
 *
 *	st = rpd_open(&db, &inputs, err);               databases and packages
 *	st = rpd_narrow(&db, &window, &bounds, err);    only a stretch of time, if wanted
 *	st = rpd_prepare(db.sql, "SELECT ...", &stmt, err);
 *	...
 *	rpd_close(&db);                                 also after a failed open
 *
 * Any number of databases are seen as one: every table of the schema is a view over the
 * same table of all of them, and the data views are made again on top. No input is ever
 * written to. More files than SQLite can attach are merged into a temporary file first.
 *
 * Threads  a struct rpd_db: one thread at a time.
 * Output   nothing is printed, except where a FILE is passed in.
 */
#ifndef WS_ROCPD_ROCPD_H
#define WS_ROCPD_ROCPD_H

#include "base/error.h"
#include "base/vec.h"
#include "trace/trace.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ws_arena;
struct ws_buf;

/* ---- databases as one (db.c) ---- */

struct rpd_db {
	sqlite3 *sql;
	struct ws_strv uuids; /* suffixes of the table names, one per run; owned */
	size_t n_files;
	char merged[PATH_MAX]; /* temporary file that holds all inputs; "" none */
};

/* @inputs: databases, packages (.rpdb) or their index.yaml. */
enum ws_status rpd_open(struct rpd_db *db, const struct ws_strv *inputs, struct ws_err *err);
void rpd_close(struct rpd_db *db);

enum ws_status rpd_exec(sqlite3 *sql, const char *text, struct ws_err *err);
enum ws_status rpd_exec_file(sqlite3 *sql, const char *path, struct ws_err *err);
enum ws_status rpd_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **out_stmt,
			   struct ws_err *err);
/* The same for text that must be exactly one statement: WS_E_USAGE when it is none or more. */
enum ws_status rpd_prepare_one(sqlite3 *sql, const char *text, sqlite3_stmt **out_stmt,
			       struct ws_err *err);
/* The first column of the first row as a number; @otherwise when there is no row or NULL. */
enum ws_status rpd_number(sqlite3 *sql, const char *text, int64_t otherwise, int64_t *out,
			  struct ws_err *err);

/* ---- packages: a folder with an index.yaml that names databases (package.c) ---- */

/* The databases behind @inputs; texts live in @arena or are borrowed from @inputs. */
enum ws_status rpd_inputs(const struct ws_strv *inputs, struct ws_arena *arena,
			  struct ws_strv *out_files, struct ws_err *err);

enum rpd_package_how {
	RPD_PACKAGE_REFER, /* index.yaml holds the absolute paths */
	RPD_PACKAGE_COPY,
	RPD_PACKAGE_MERGE, /* one database made of all */
};
/* A package of @files in @folder, which exists. */
enum ws_status rpd_package_write(const struct ws_strv *files, const char *folder,
				 enum rpd_package_how how, struct ws_err *err);

/* One database at @to that holds all of @files; on failure there is none (merge.c). */
enum ws_status rpd_merge_files(const struct ws_strv *files, const char *to, struct ws_err *err);
/* A row of the metadata of the first run in the database at @path. */
enum ws_status rpd_add_metadata(const char *path, const char *tag, const char *value,
				struct ws_err *err);

/* ---- a stretch of time (window.c) ---- */

struct rpd_window {
	const char *start, *end;               /* nanoseconds, or "25%" of the span; NULL: open */
	const char *start_marker, *end_marker; /* instead: message of a roctx marker */
	bool overlapping; /* keep also what reaches in; else only what lies inside as a whole */
};

struct rpd_bounds {
	int64_t first_ns, last_ns; /* of the data */
	int64_t from_ns, to_ns;    /* of the window */
};

bool rpd_window_is_open(const struct rpd_window *window); /* nothing to leave out */
enum ws_status rpd_narrow(struct rpd_db *db, const struct rpd_window *window,
			  struct rpd_bounds *out_bounds, struct ws_err *err);

/* ---- summaries: calls and times by name (summary.c, from summary.sql) ---- */

#define RPD_SUMMARY_DOMAIN SIZE_MAX /* one row per kind of event */

extern const size_t rpd_n_summaries;               /* kinds of event: 0 to this */
extern const char *const rpd_summary_categories[]; /* of API calls: "HIP", ..., "NONE"; then NULL */

const char *rpd_summary_view(size_t kind); /* "kernels", "hip", "domain" */
/* Whether @categories (none: all) include this kind; work of the GPU is in any. */
bool rpd_summary_wanted(size_t kind, const struct ws_strv *categories);
/* @by_rank: per process. Rows: Name, Calls, DURATION (nsec), ...; largest first. */
enum ws_status rpd_summary_prepare(struct rpd_db *db, size_t kind, const struct ws_strv *categories,
				   bool by_rank, sqlite3_stmt **out_stmt, struct ws_err *err);

/* ---- rows as text (table.c) ---- */

enum rpd_format { RPD_CONSOLE, RPD_CSV, RPD_JSON, RPD_MD, RPD_HTML, RPD_FORMAT_COUNT };
const char *rpd_format_suffix(enum rpd_format format); /* ".csv"; "" for the console */

/* Run @stmt, write its rows and reset it. Without rows nothing is written. */
enum ws_status rpd_print(FILE *to, enum rpd_format format, sqlite3_stmt *stmt, uint64_t *out_rows,
			 struct ws_err *err);

/* ---- other formats ---- */

struct rpd_csv_opts {
	const char *prefix; /* of the files: directory and stem */
	enum trc_agent_index agent_index;
	bool kernel_rename;                /* name kernels by the roctx range around their launch */
	void (*written)(const char *path); /* called for each file */
};

/* <prefix>_kernel_trace.csv and the like, of those that have rows; agent_info always (csv.c). */
enum ws_status rpd_write_csv(struct rpd_db *db, const struct rpd_csv_opts *opts,
			     struct ws_err *err);

/* Of an imported capture: which run it was. */
#define RPD_GUID_CONFIG "rocpd_guid="

/*
 * A capture per process in @folder, from which the writers of output/ can work. The caller
 * removes and frees the paths, also after a failure (import.c).
 */
enum ws_status rpd_import_captures(struct rpd_db *db, const char *folder, struct ws_strv *out_paths,
				   struct ws_err *err);

#endif
