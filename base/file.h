/*
 * file: small files read and written whole; /sys and /proc offer theirs so.
 *
 * A file larger than the ceiling is an error, not a cut-off text.
 */
#ifndef WS_BASE_FILE_H
#define WS_BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Append the whole of @path to @out; it may grow up to its own ceiling. */
enum ws_status ws_file_read(const char *path, struct ws_buf *out, struct ws_err *err);

/* Write @n bytes to @path, new or in place of what is there. */
enum ws_status ws_file_write(const char *path, const void *bytes, size_t n, struct ws_err *err);

/* The first line, without its end, into @out_line; false when it cannot be read. */
bool ws_file_line(const char *path, char *out_line, size_t room);
bool ws_file_u64(const char *path, uint64_t *out_value); /* a file that holds one number */

#endif
