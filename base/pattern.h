/*
 * pattern: regular expressions as users of AMD's tools write them.
 *
 * Those tools use ECMAScript's, ours POSIX's extended ones, which libc has. What the first
 * can say more shortly is rewritten: \d \D, (?:...), and lazy repetition, which does not
 * change whether there is a match. What the second cannot say at all, looking ahead and
 * references to groups, is an error.
 */
#ifndef WS_BASE_PATTERN_H
#define WS_BASE_PATTERN_H

#include "base/error.h"
#include "base/str.h"

/* Appends the POSIX form of @text to @out; a pattern that regcomp() refuses is an error, too. */
enum ws_status ws_pattern_posix(const char *text, struct ws_buf *out, struct ws_err *err);

#endif
