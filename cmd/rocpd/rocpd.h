/* rocpd: what its sub-commands share. */
#ifndef WS_CMD_ROCPD_ROCPD_H
#define WS_CMD_ROCPD_ROCPD_H

#include "base/cmd.h"
#include "base/str.h"
#include "rocpd/rocpd.h"

/* ---- options that several sub-commands have; their structs begin with these ---- */

struct rocpd_common {
	struct ws_strv input;
	const char *output_file, *output_path;
	bool kernel_rename;
	struct rpd_window window;
	const char *inclusive;
};

/* clang-format off */
#define ROCPD_INPUT_OPTS(T)                                                                        \
	WS_OPT_GROUP("Input"),                                                                     \
	WS_OPT_MANY(T, common.input, 'i', "input", "FILE",                                         \
		    "databases, packages (.rpdb) or their index.yaml; read as one")
#define ROCPD_OUTPUT_OPTS(T)                                                                       \
	WS_OPT_STR(T, common.output_file, 'o', "output-file", "NAME",                              \
		   "beginning of the file names; placeholders as in rocprofv3"),                   \
	WS_OPT_STR(T, common.output_path, 'd', "output-path", "DIR", "folder of the files")
#define ROCPD_WINDOW_OPTS(T)                                                                       \
	WS_OPT_GROUP("Time window"),                                                               \
	WS_OPT_STR(T, common.window.start, 0, "start", "TIME",                                     \
		   "start of the time window: nanoseconds, or a percentage such as 25%"),                   \
	WS_OPT_STR(T, common.window.end, 0, "end", "TIME", "end of the time window"),             \
	WS_OPT_STR(T, common.window.start_marker, 0, "start-marker", "NAME",                       \
		   "start at the beginning of the first roctx marker of this name"),                      \
	WS_OPT_STR(T, common.window.end_marker, 0, "end-marker", "NAME",                           \
		   "end at the end of the last roctx marker of this name"),                                    \
	WS_OPT_STR(T, common.inclusive, 0, "inclusive", "YES",                                     \
		   "true (the default): only events that are completely inside; false: also "            \
		   "what overlaps")
/* clang-format on */

/* Open the inputs, narrowed to the time window, whose bounds are printed. */
enum ws_status rocpd_open(struct rpd_db *db, const struct rocpd_common *common, struct ws_err *err);

/*
 * Where a file goes: -d and -o, else ROCPD_OUTPUT_PATH and ROCPD_OUTPUT_NAME, else
 * ./rocpd-output-data and @stem. Placeholders are filled in and folders made.
 */
enum ws_status rocpd_output_path(const struct rocpd_common *common, const char *stem,
				 const char *suffix, struct ws_buf *out, struct ws_err *err);
/* The same with "<-o>_" in front of @name, where there is an -o. */
enum ws_status rocpd_output_path_of(const struct rocpd_common *common, const char *name,
				    const char *suffix, struct ws_buf *out, struct ws_err *err);

/* The formats of rows: rpd_format by index, then those that AMD's tool has and this one refuses. */
extern const char *const rocpd_format_names[];
enum ws_status rocpd_check_format(int format, struct ws_err *err);

/* Write the rows of @stmt to @path, or to stdout as a table when @path is NULL. */
enum ws_status rocpd_write_rows(const char *path, int format, sqlite3_stmt *stmt,
				uint64_t *out_rows, struct ws_err *err);

extern const struct ws_cmd rocpd_convert_cmd, rocpd_query_cmd, rocpd_summary_cmd, rocpd_merge_cmd,
	rocpd_package_cmd;

#endif
