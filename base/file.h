/*
 * file: small files read and written whole, as /sys and /proc offer theirs; and files and
 * folders whose names others can guess.
 *
 * A file larger than the ceiling is an error, not a cut-off text.
 *
 * Output goes to folders that other users may write to (/tmp, a project's folder), under names
 * they can guess. What a user typed as a file's name is opened as it is. Every name we derive
 * is made with one of the functions of the second half: none follows a link, writes to a file
 * that it did not make, or waits for a pipe that somebody put there.
 */
#ifndef WS_BASE_FILE_H
#define WS_BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Append the whole of @path to @out; it may grow up to its own ceiling. */
enum ws_status ws_file_read(const char *path, struct ws_buf *out, struct ws_err *err);

/* The first line, without its end, into @out_line; false when it cannot be read. */
bool ws_file_line(const char *path, char *out_line, size_t room);
bool ws_file_u64(const char *path, uint64_t *out_value); /* a file that holds one number */

/* ---- names that others can guess ---- */

/* A new file in place of what has this name; a folder, and what may not be removed, stay. */
enum ws_status ws_file_create(const char *path, int *out_fd, struct ws_err *err);
enum ws_status ws_file_create_stream(const char *path, FILE **out_file, struct ws_err *err);
/* The plain file that is there under this name alone, or a new one: to lock; to add to. */
enum ws_status ws_file_open_plain(const char *path, int *out_fd, struct ws_err *err);
enum ws_status ws_file_append_stream(const char *path, FILE **out_file, struct ws_err *err);
/* All @n bytes under @path, or what was there before. */
enum ws_status ws_file_replace(const char *path, const void *bytes, size_t n, struct ws_err *err);

/* A folder for our eyes only: made, or there and ours. Its parent is there. */
enum ws_status ws_dir_private(const char *path, struct ws_err *err);
/* A new one, or a new file, in TMPDIR: "/tmp/NAME-Xy12Zq". */
enum ws_status ws_dir_temp(const char *name, char out_path[PATH_MAX], struct ws_err *err);
enum ws_status ws_file_temp(const char *name, char out_path[PATH_MAX], int *out_fd,
			    struct ws_err *err);

enum ws_status ws_mkdirs(const char *path, struct ws_err *err); /* as mkdir -p */

#endif
