/*
 * pattern: regular expressions as users of AMD's tools write them.
 *
 * Those tools use ECMAScript's and Python's; PCRE2 understands both, look-ahead and back references
 * included. Names are bytes: a pattern never fails because a name is not UTF-8.
 *
 * A pattern and a name can be chosen so that matching takes for ever. It has a limit, about 20 ms,
 * and beyond it there is an error instead of an answer.
 *
 * Threads  match: any, at the same time.
 * Memory   match: allocates, and releases before it returns.
 */
#ifndef WS_BASE_PATTERN_H
#define WS_BASE_PATTERN_H

#include "base/error.h"

#include <stdbool.h>

enum ws_pattern_part {
	WS_PATTERN_SOMEWHERE, /* matches when some part of the name does */
	WS_PATTERN_WHOLE,     /* matches when the whole name does */
};

struct ws_pattern;

/* WS_E_USAGE for what is no regular expression: the text says what is wrong, and where. */
enum ws_status ws_pattern_create(const char *text, enum ws_pattern_part part,
				 struct ws_pattern **out_pattern, struct ws_err *err);
void ws_pattern_destroy(struct ws_pattern *pattern); /* NULL is fine */

/* WS_E_LIMIT when there is no answer within the limits. */
enum ws_status ws_pattern_match(const struct ws_pattern *pattern, const char *name,
				bool *out_matches, struct ws_err *err);

#endif
