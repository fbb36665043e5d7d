/* rocpd_priv: what the files of this library share. */
#ifndef WS_ROCPD_ROCPD_PRIV_H
#define WS_ROCPD_ROCPD_PRIV_H

#include "rocpd/rocpd.h"
#include "rocpd/sql.h"

#include <stdio.h>

#define RPD_FILES_MAX 100000u

/* Make the functions of SQL that summaries use. */
enum ws_status rpd_summary_init(sqlite3 *sql, struct ws_err *err);

/* A cell of a CSV file in quotes; quotes inside are doubled. */
void rpd_put_quoted(FILE *to, const char *text);

/* summary.sql as the build made it into a table (gen_summary.py). */
struct rpd_summary_rows {
	const char *view;     /* "kernels" */
	const char *category; /* of API calls; NULL: work of the GPU, always included */
	const char *query;    /* rows of guid, pid, duration, Name */
};
extern const struct rpd_summary_rows rpd_summary_rows[];
/* Statements over such rows, which replace {{rows}}. */
extern const char rpd_summary_by_name[], rpd_summary_by_rank[];

#endif
