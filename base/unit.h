/*
 * unit: words that options and files have for units of time and for output streams.
 *
 * Pure functions and constant tables.
 */
#ifndef WS_BASE_UNIT_H
#define WS_BASE_UNIT_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* Largest first, so that the tail from SEC on is what summaries accept. */
#define WS_TIME_UNIT_TABLE(X)  /* rocprofv3's word, rocprof-compute's, ns */ \
	X(HOUR, "hour", "h",   3600000000000u)                               \
	X(MIN,  "min",  "min",   60000000000u)                               \
	X(SEC,  "sec",  "s",      1000000000u)                               \
	X(MSEC, "msec", "ms",        1000000u)                               \
	X(USEC, "usec", "us",           1000u)                               \
	X(NSEC, "nsec", "ns",              1u)
/* clang-format on */

enum ws_time_unit {
#define WS_TIME_UNIT_ROW(id, word, symbol, ns) WS_TIME_##id,
	WS_TIME_UNIT_TABLE(WS_TIME_UNIT_ROW)
#undef WS_TIME_UNIT_ROW
		WS_TIME_UNIT_COUNT
};

/* By enum ws_time_unit, then NULL. */
extern const char *const ws_time_unit_words[], *const ws_time_unit_symbols[];
uint64_t ws_time_unit_ns(enum ws_time_unit unit);
/* False, and @out_unit as it was: NULL or no such word. */
bool ws_time_unit_parse(const char *word, enum ws_time_unit *out_unit);

/*
 * A place for output that is not a file: STDOUT_FILENO for "stdout", STDERR_FILENO for
 * "stderr", in any case of letters. -1: NULL, or the name of a file or folder.
 */
int ws_stream_fd(const char *name);
const char *ws_stream_word(int fd); /* "stdout" or "stderr" */

#endif
