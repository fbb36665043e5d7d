/*
 * file: small files read and written whole, as /sys and /proc offer theirs; and files and
 * folders whose names others can guess.
 *
 * A file larger than the limit is an error; it is not truncated.
 *
 * Output goes to folders that other users may write to (/tmp, a project's folder), under names
 * they can guess. A file name typed by the user is opened as it is. A file with a derived name
 * is created with the functions of the second half: none follows a symbolic link, writes to a
 * file that it did not create, or blocks on a FIFO.
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

/* A new file that replaces what has this name. Fails for a folder, and if it cannot be removed. */
enum ws_status ws_file_create(const char *path, int *out_fd, struct ws_err *err);
enum ws_status ws_file_create_stream(const char *path, FILE **out_file, struct ws_err *err);
/* An existing regular file without other hard links, or a new one: to lock; to append to. */
enum ws_status ws_file_open_plain(const char *path, int *out_fd, struct ws_err *err);
enum ws_status ws_file_append_stream(const char *path, FILE **out_file, struct ws_err *err);
/* Replaces @path by @n bytes, or leaves the old file unchanged on failure. */
enum ws_status ws_file_replace(const char *path, const void *bytes, size_t n, struct ws_err *err);
/*
 * The same for what is written piece by piece: the stream goes to `<path>.part`, which commit
 * renames. Both release the stream; commit reports whatever failed on the way.
 */
enum ws_status ws_file_begin(const char *path, FILE **out_file, struct ws_err *err);
enum ws_status ws_file_commit(const char *path, FILE *file, struct ws_err *err);
void ws_file_discard(const char *path, FILE *file); /* a NULL stream is fine */

/* A private folder (mode 0700): created, or existing and owned by us. The parent must exist. */
enum ws_status ws_dir_private(const char *path, struct ws_err *err);
/* The user's private one for caches: $XDG_CACHE_HOME/wavescope, or ~/.cache/wavescope. */
enum ws_status ws_dir_cache(char out_path[PATH_MAX], struct ws_err *err);
/* A new one, or a new file, in TMPDIR: "/tmp/NAME-Xy12Zq". */
enum ws_status ws_dir_temp(const char *name, char out_path[PATH_MAX], struct ws_err *err);
enum ws_status ws_file_temp(const char *name, char out_path[PATH_MAX], int *out_fd,
			    struct ws_err *err);

enum ws_status ws_mkdirs(const char *path, struct ws_err *err); /* as mkdir -p */

#endif
