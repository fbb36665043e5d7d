/*
 * html_head: what trace pages know before they read tiles, as JSON: tracks with their levels and
 * the times of their tiles, processes, notes; and the tables of names. For pages in a file and from
 * a server.
 *
 * Failure  the buffer's: ws_buf_status() in the end.
 */
#ifndef WS_OUTPUT_HTML_HEAD_H
#define WS_OUTPUT_HTML_HEAD_H

#include "base/str.h"
#include "timeline/timeline.h"

struct output_trace_head {
	const struct tl_timeline *timeline;
	const struct trc_process *const *processes;
	size_t n_processes;
	const uint32_t
		*finest; /* by track: the finest level that the page has; NULL: all have all */
	/* By track and level: the number of its first block. */
	const unsigned (*first_block)[TL_LEVELS_MAX];
};

void output_trace_head_json(const struct output_trace_head *head, struct ws_buf *out);
/* Lists of the texts, and of the paths: parent, name and kind of each. */
void output_trace_tables_json(const struct tl_timeline *tl, struct ws_buf *out);

#endif
