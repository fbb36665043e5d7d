/*
 * utf8: untrusted text, made safe for UTF-8 files and for terminals.
 *
 * Kernel names, markers, arguments and paths may contain any bytes. In formats that require
 * UTF-8 (JSON, SVG, HTML, Perfetto, OTF2, SQLite, YAML) an invalid byte is replaced by U+FFFD.
 * A terminal interprets control characters, so these and invalid bytes are printed as escape
 * sequences such as "\x1b": the name can still be read, and typed with printf.
 */
#ifndef WS_BASE_UTF8_H
#define WS_BASE_UTF8_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at @at, of which @n are there; 0: it is none (cut off, surrogate, ...). */
size_t ws_utf8_length(const char *at, size_t n);
bool ws_utf8_ok(const char *text, size_t n);
void ws_buf_add_utf8(struct ws_buf *out, const char *text, size_t n);
/*
 * What stands between the quotes of a JSON text. '<' is escaped, too: no name can end the
 * <script> that the JSON is part of.
 */
void ws_buf_add_json(struct ws_buf *out, const char *text, size_t n);
/* The same without memory, character by character: writes up to 8 bytes, returns how many. */
size_t ws_json_next(const char **text, size_t *n, char to[8]);
/* @text itself where it is UTF-8, else a copy in @arena; NULL: no memory. */
const char *ws_utf8_text(const char *text, struct ws_arena *arena);

/* Characters that a terminal only displays; @also: other characters to keep. */
bool ws_shown_ok(const char *text, size_t n, const char *also);
void ws_buf_add_shown(struct ws_buf *out, const char *text, size_t n, const char *also);
const char *ws_shown_text(const char *text, struct ws_arena *arena);

#endif
