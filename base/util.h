/*
 * util: macros that every module may use.
 *
 * Nothing here has state, allocates or can fail.
 */
#ifndef WS_BASE_UTIL_H
#define WS_BASE_UTIL_H

#include <stddef.h>

/* Exported from a shared library; all else is hidden (-fvisibility=hidden). */
#define WS_PUBLIC __attribute__((visibility("default")))

/* The compiler checks the arguments against the format string, as for printf(). */
#define WS_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))

#define WS_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define WS_MIN(a, b) ((a) < (b) ? (a) : (b))
#define WS_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
