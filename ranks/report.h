/*
 * report: the clocks and the imbalance of a job as text, CSV and JSON.
 *
 * The text is for a terminal of a given width: names are cut to fit. The files have everything.
 * docs/ranks.md lists columns and keys.
 */
#ifndef WS_RANKS_REPORT_H
#define WS_RANKS_REPORT_H

#include "base/str.h"
#include "ranks/imbalance.h"
#include "ranks/ranks.h"

/* How many rows of each table; 0: all. */
void rnk_report_text(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
		     unsigned n_columns, size_t n_rows, struct ws_buf *to);

/* One line for a label: "clock: +- 1.8 us". "" for the reference. */
void rnk_clock_text(const struct rnk_node *node, char *to, size_t room);

/* The files, by their words; each is written to <prefix><suffix>. */
enum rnk_file {
	RNK_FILE_CLOCKS,
	RNK_FILE_IMBALANCE,
	RNK_FILE_RANKS,
	RNK_FILE_JSON,
	RNK_FILE_COUNT
};
extern const char *const rnk_file_suffixes[RNK_FILE_COUNT]; /* "_clocks.csv", ... */

enum ws_status rnk_report_write(const struct rnk_job *job, const struct rnk_imbalance *imbalance,
				enum rnk_file file, const char *path, struct ws_err *err);

#endif
