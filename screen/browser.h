/*
 * browser: pages of text with tabs above them and keys below: what all screens have in common.
 *
 * A page is filled when it is first looked at, after a resize, and when its subject says that it
 * changed. Enter on a line may open another page on top of it; Backspace returns. A page that cannot be
 * filled shows why.
 *
 * Memory   the browser owns its panes; a subject is the caller's.
 * Threads  one at a time.
 */
#ifndef WS_SCREEN_BROWSER_H
#define WS_SCREEN_BROWSER_H

#include "base/error.h"
#include "base/str.h"
#include "screen/pane.h"

#include <stdbool.h>
#include <stddef.h>

#define SCR_ARG_BYTES 64

struct scr_area {
	unsigned n_columns, n_rows; /* of a page */
};

struct scr_page_kind {
	const char *name; /* of the tab, or of what was opened */
	bool has_cursor;
	/* @arg: which one; "" for tabs. */
	enum ws_status (*fill)(void *of, const char *arg, struct scr_area area,
			       struct scr_pane *pane, struct ws_err *err);
	/* What Enter on @line opens, with its argument; NULL: nothing. No function: never anything. */
	const struct scr_page_kind *(*open)(void *of, struct ws_str line,
					    char out_arg[SCR_ARG_BYTES]);
	const char *keys; /* for the last row: "s sort  r reverse"; NULL: none of its own */
};

enum scr_change {
	SCR_UNCHANGED,
	SCR_PAGE_CHANGED,  /* the page that is looked at */
	SCR_PAGES_CHANGED, /* all of them */
};

struct scr_subject {
	void *of;
	const struct scr_page_kind *const *tabs; /* NULL at the end */
	/* The first row; written again whenever something changed. */
	void (*title)(void *of, struct ws_buf *out);
	/* A key that the browser does not know; @line: the selected one. NULL: none. */
	enum scr_change (*key)(void *of, int key, struct ws_str line);
	/* After `wait_ms` without a key; NULL: never. It may change *@wait_ms. */
	enum scr_change (*idle)(void *of, int *wait_ms);
	int wait_ms;
	const char *help;    /* lines about the subject's own keys, "  s    sort by ...\n" */
	const char *instead; /* what to do without a terminal */
};

/* Until the user quits. WS_E_UNSUPPORTED: there is no terminal. */
enum ws_status scr_browse(const struct scr_subject *subject, struct ws_err *err);

#endif
