/*
 * rocpd: what its sub-commands share.
 *
 * Any number of databases are seen as one: every table of the schema is a view over the
 * same table of all of them, and the data views are made again on top. Nothing is copied
 * and no input is ever written to.
 */
#ifndef WS_CMD_ROCPD_ROCPD_H
#define WS_CMD_ROCPD_ROCPD_H

#include "base/cmd.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- options that several sub-commands have; their structs begin with these ---- */

struct rpd_common {
	struct ws_strv input;
	const char *output_file, *output_path;
	bool kernel_rename;
	const char *start, *end, *start_marker, *end_marker;
	const char *inclusive;
};

#define RPD_INPUT_OPTS(T)                                                                          \
	WS_OPT_GROUP("Input"),                                                                     \
		WS_OPT_MANY(T, common.input, 'i', "input", "FILE",                                 \
			    "databases, packages (.rpdb) or their index.yaml; all become one")
#define RPD_OUTPUT_OPTS(T)                                                                         \
	WS_OPT_STR(T, common.output_file, 'o', "output-file", "NAME",                              \
		   "beginning of the file names; placeholders as in rocprofv3"),                   \
		WS_OPT_STR(T, common.output_path, 'd', "output-path", "DIR", "where files go")
#define RPD_WINDOW_OPTS(T)                                                                         \
	WS_OPT_GROUP("Time window"),                                                               \
		WS_OPT_STR(T, common.start, 0, "start", "TIME",                                    \
			   "leave out what is before: nanoseconds, or 25% of the span"),           \
		WS_OPT_STR(T, common.end, 0, "end", "TIME", "leave out what is after"),            \
		WS_OPT_STR(T, common.start_marker, 0, "start-marker", "NAME",                      \
			   "begin where the first roctx marker of this name begins"),              \
		WS_OPT_STR(T, common.end_marker, 0, "end-marker", "NAME",                          \
			   "end where the last one of this name ends"),                            \
		WS_OPT_STR(T, common.inclusive, 0, "inclusive", "YES",                             \
			   "true (the default): only what lies inside as a whole; false: also "    \
			   "what reaches in")

/* ---- the joined database (db.c) ---- */

struct rpd_db {
	sqlite3 *sql;
	struct ws_strv uuids; /* suffixes, one per process and file; owned */
	size_t n_files;
	char merged[PATH_MAX]; /* a temporary file that stands for many; "" none */
};

enum ws_status rpd_open(struct rpd_db *db, const struct rpd_common *common, struct ws_err *err);
void rpd_close(struct rpd_db *db);

/* Files behind -i, packages opened; texts live in @arena. */
struct ws_arena;
enum ws_status rpd_inputs(const struct ws_strv *input, struct ws_arena *arena,
			  struct ws_strv *out_files, struct ws_err *err);

enum ws_status rpd_exec(sqlite3 *sql, const char *text, struct ws_err *err);
enum ws_status rpd_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **out_stmt,
			   struct ws_err *err);
/* The first column of the first row as a number; @otherwise when there is no row or NULL. */
enum ws_status rpd_number(sqlite3 *sql, const char *text, int64_t otherwise, int64_t *out,
			  struct ws_err *err);

/* merge.c: one file that holds all of @files. */
enum ws_status rpd_merge_files(const struct ws_strv *files, const char *to, struct ws_err *err);

/* window.c: narrow the views; prints what it did. */
enum ws_status rpd_window(struct rpd_db *db, const struct rpd_common *common, struct ws_err *err);
bool rpd_has_window(const struct rpd_common *common);

/* ---- tables for people and programs (table.c) ---- */

enum rpd_format { RPD_CONSOLE, RPD_CSV, RPD_JSON, RPD_MD, RPD_HTML, RPD_FORMAT_COUNT };
extern const char *const rpd_format_names[]; /* "console", ...; also the ones that are refused */
const char *rpd_format_suffix(enum rpd_format format);

/* Run @stmt and write its rows; it is reset, and run twice for CONSOLE. */
enum ws_status rpd_print(FILE *to, enum rpd_format format, sqlite3_stmt *stmt, uint64_t *out_rows,
			 struct ws_err *err);

/* "<dir>/<stem><suffix>", placeholders filled in and folders made. */
enum ws_status rpd_output_path(const char *dir, const char *stem, const char *suffix,
			       struct ws_buf *out, struct ws_err *err);
const char *rpd_default(const char *typed, const char *variable, const char *otherwise);

extern const struct ws_cmd rpd_convert_cmd, rpd_query_cmd, rpd_summary_cmd, rpd_merge_cmd,
	rpd_package_cmd;

#endif
