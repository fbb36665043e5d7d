/*
 * pane: lines of text that are looked at through a window: scrolling, a cursor, search.
 *
 * The text is written to `text`; scr_pane_split() makes it safe for a terminal and finds its lines. The
 * first `n_head` lines stay at the top. Position and search outlive a new text, so that a pane can
 * be filled again and again.
 *
 * Nothing here knows a terminal.
 *
 * Threads  one at a time.
 */
#ifndef WS_SCREEN_PANE_H
#define WS_SCREEN_PANE_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

#define SCR_SEARCH_BYTES 128

struct scr_pane {
	struct ws_buf text;
	WS_VEC(struct ws_str) lines; /* into `text` */
	size_t n_head;
	bool has_cursor;               /* a line is selected; else only the window moves */
	size_t top, cursor;            /* among the lines after the head */
	size_t left;                   /* columns that are scrolled away */
	char search[SCR_SEARCH_BYTES]; /* "": none */
};

void scr_pane_init(struct scr_pane *pane, bool has_cursor);
void scr_pane_fini(struct scr_pane *pane); /* a zeroed or finished pane is fine */

/* Before writing to `text`. */
void scr_pane_clear(struct scr_pane *pane);
/* After: control characters become escape sequences. */
enum ws_status scr_pane_split(struct scr_pane *pane, struct ws_err *err);

/* Lines after the head, and one of them; the empty view after the last. */
size_t scr_pane_n_body(const struct scr_pane *pane);
struct ws_str scr_pane_body(const struct scr_pane *pane, size_t i);
struct ws_str scr_pane_head(const struct scr_pane *pane, size_t i);

/* @n_rows: of the window, without the head. */
void scr_pane_move(struct scr_pane *pane, long n_lines, size_t n_rows);
void scr_pane_shift(struct scr_pane *pane, long n_columns, size_t width);
void scr_pane_go(struct scr_pane *pane, size_t line, size_t n_rows);
/* Brings the position within the text, and the cursor into the window. */
void scr_pane_fit(struct scr_pane *pane, size_t n_rows);

/* Goes to the next line (@step: 1 or -1) with `search` in it, in any case, around the ends. */
bool scr_pane_find(struct scr_pane *pane, int step, bool from_here, size_t n_rows);
/* Whether @line has it; where. */
bool scr_pane_hit(const struct scr_pane *pane, struct ws_str line, size_t *out_at);

#endif
