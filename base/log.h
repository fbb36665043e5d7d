/*
 * log: messages to the user on stderr.
 *
 *	wavescope: warning: 12 records were dropped
 *
 * WAVESCOPE_LOG chooses the lowest level shown: error, warn (the default),
 * info, debug or trace. Colour only on terminals, and not when NO_COLOR is set.
 * A line is one write(), so that lines of several threads or processes do not
 * mix. A command's own failure is ws_log_error() once, from main.
 *
 * Threads  any, after ws_log_init().
 * Signals  not from a handler.
 */
#ifndef WS_BASE_LOG_H
#define WS_BASE_LOG_H

#include "base/util.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* clang-format off */
#define WS_LOG_TABLE(X)                          \
	X(WS_LOG_ERROR, "error", "",          "31")  \
	X(WS_LOG_WARN,  "warn",  "warning: ", "33")  \
	X(WS_LOG_INFO,  "info",  "",          NULL)  \
	X(WS_LOG_DEBUG, "debug", "debug: ",   "36")  \
	X(WS_LOG_TRACE, "trace", "trace: ",   "90")
/* clang-format on */

enum ws_log_level {
#define WS_LOG_ROW(name, word, label, colour) name,
	WS_LOG_TABLE(WS_LOG_ROW)
#undef WS_LOG_ROW
};

/* @tool is what lines begin with; it must stay valid. Reads the environment, once. */
void ws_log_init(const char *tool);
void ws_log_set_level(enum ws_log_level level);
bool ws_log_shows(enum ws_log_level level);

void ws_log_v(enum ws_log_level level, const char *fmt, va_list args) WS_PRINTF(2, 0);
void ws_log_error(const char *fmt, ...) WS_PRINTF(1, 2);
void ws_log_warn(const char *fmt, ...) WS_PRINTF(1, 2);
void ws_log_info(const char *fmt, ...) WS_PRINTF(1, 2);
void ws_log_debug(const char *fmt, ...) WS_PRINTF(1, 2);
void ws_log_trace(const char *fmt, ...) WS_PRINTF(1, 2);

/* printf() for untrusted text: terminal control characters are escaped. */
void ws_print(FILE *to, const char *fmt, ...) WS_PRINTF(2, 3);

/* Whether to colour what goes to @fd: a terminal that is not dumb, and no NO_COLOR. */
bool ws_colour_ok(int fd);

#endif
