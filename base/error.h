/*
 * error: a status for the program, a message for the user.
 *
 * A function that can fail returns enum ws_status and takes struct ws_err *err
 * last. On failure it calls ws_fail(), which writes the message; a caller that
 * knows more prepends its context with ws_fail_in(). Modules only
 * return; commands print the text once and choose the exit code.
 *
 * A message says what went wrong, then what to do: "no counter 'X' on gfx90a:
 * rocprofv3-avail lists them".
 *
 * Threads  each caller has its own struct ws_err.
 * Memory   in place; reporting WS_E_NOMEM needs none.
 */
#ifndef WS_BASE_ERROR_H
#define WS_BASE_ERROR_H

#include "base/util.h"

/* clang-format off */
#define WS_STATUS_TABLE(X)                                      \
	X(WS_OK,            "success")                          \
	X(WS_E_NOMEM,       "out of memory")                    \
	X(WS_E_LIMIT,       "a limit was reached")              \
	X(WS_E_USAGE,       "wrong usage")                      \
	X(WS_E_FORMAT,      "malformed input")                  \
	X(WS_E_NOTFOUND,    "no such object")                   \
	X(WS_E_EXISTS,      "already there")                    \
	X(WS_E_ACCESS,      "permission denied")                \
	X(WS_E_IO,          "input or output failed")           \
	X(WS_E_TIMEOUT,     "took too long")                    \
	X(WS_E_STATE,       "not possible now")                 \
	X(WS_E_UNSUPPORTED, "not supported")
/* clang-format on */

enum ws_status {
#define WS_STATUS_ROW(name, text) name,
	WS_STATUS_TABLE(WS_STATUS_ROW)
#undef WS_STATUS_ROW
		WS_STATUS_COUNT
};

struct ws_err {
	enum ws_status status;
	char text[240]; /* in place, so that reporting WS_E_NOMEM needs no memory */
};

/*
 * Write the message and return @status, so that a failing function reads
 * `return ws_fail(err, ...)`. A NULL @err drops the message. A message that does
 * not fit is truncated and ends in "...".
 */
enum ws_status ws_fail(struct ws_err *err, enum ws_status status, const char *fmt, ...)
	WS_PRINTF(3, 4);

/* The same for a failed system call: strerror(@error) follows the message. */
enum ws_status ws_fail_errno(struct ws_err *err, int error, const char *fmt, ...) WS_PRINTF(3, 4);

/* Prepend the caller's context to the message: "context: message". */
enum ws_status ws_fail_in(struct ws_err *err, enum ws_status status, const char *fmt, ...)
	WS_PRINTF(3, 4);

const char *ws_status_name(enum ws_status status); /* "WS_E_NOMEM" */
const char *ws_status_text(enum ws_status status); /* "out of memory" */
enum ws_status ws_status_from_errno(int error);

#endif
