/*
 * terminal: the user's terminal as rows of text, and the keys that are pressed.
 *
 * A thin cover of ncurses, so that one file knows it. There is one terminal per process.
 *
 *	st = scr_terminal_open("rocprof-compute analyze prints the same", err);
 *	scr_terminal_row(0, line, 0, SCR_BAR, none);
 *	scr_terminal_show();
 *	key = scr_terminal_key(1000);
 *	scr_terminal_close();
 *
 * While it is open, stderr is kept in memory: messages would be drawn over. They are printed when it is
 * closed, each once. SIGINT, SIGTERM and SIGHUP are the key SCR_KEY_QUIT, so that callers can clean up.
 *
 * Threads  one at a time.
 */
#ifndef WS_SCREEN_TERMINAL_H
#define WS_SCREEN_TERMINAL_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Keys are characters of Unicode, or these. */
enum scr_key {
	SCR_KEY_NONE = 0x110000, /* the time is over */
	SCR_KEY_UP,
	SCR_KEY_DOWN,
	SCR_KEY_LEFT,
	SCR_KEY_RIGHT,
	SCR_KEY_PAGE_UP,
	SCR_KEY_PAGE_DOWN,
	SCR_KEY_HOME,
	SCR_KEY_END,
	SCR_KEY_ENTER,
	SCR_KEY_BACK,
	SCR_KEY_TAB_BACK,
	SCR_KEY_RESIZE,
	SCR_KEY_CLICK, /* scr_terminal_click() says where */
	SCR_KEY_WHEEL_UP,
	SCR_KEY_WHEEL_DOWN,
	SCR_KEY_QUIT,
};
#define SCR_KEY_CTRL(letter) ((letter)&0x1f)
#define SCR_KEY_ESCAPE 0x1b

enum scr_look {
	SCR_PLAIN,
	SCR_BAR,    /* first and last row */
	SCR_HEAD,   /* headings */
	SCR_CURSOR, /* the selected line */
	SCR_CHOSEN, /* the tab that is shown */
	SCR_ALARM,  /* findings: high */
	SCR_WARN,   /* findings: medium; remarks */
	SCR_GOOD,
	SCR_LOOK_COUNT
};

/* A part of a text, in bytes; n == 0: none. */
struct scr_span {
	size_t at, n;
};

/* @instead: what to do without a terminal, for the error message. scr_check() is its first step. */
enum ws_status scr_terminal_open(const char *instead, struct ws_err *err);
void scr_terminal_close(void); /* also when it is not open */

unsigned scr_terminal_rows(void);
unsigned scr_terminal_columns(void);

/* @text without its first @left columns on the whole of @row; what is cut off ends in "…". */
void scr_terminal_row(unsigned row, struct ws_str text, size_t left, enum scr_look look,
		      struct scr_span hit);
/* Over what is there; returns the column after it. */
unsigned scr_terminal_put(unsigned row, unsigned column, const char *text, enum scr_look look);
void scr_terminal_cursor(bool shown); /* where the last text ended */
void scr_terminal_show(void);
void scr_terminal_redraw(void); /* all of it, after others wrote to the terminal */

int scr_terminal_key(int timeout_ms);              /* below 0: no limit */
void scr_terminal_mouse(bool on);                  /* off: the terminal can select text */
unsigned scr_terminal_click(unsigned *out_column); /* row */

#endif
