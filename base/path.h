/*
 * path: where things are on this machine.
 *
 * All results are written to buffers of PATH_MAX bytes that the caller holds; a
 * longer path is WS_E_LIMIT.
 */
#ifndef WS_BASE_PATH_H
#define WS_BASE_PATH_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* The program that is running, links resolved. */
enum ws_status ws_path_self(char out_path[PATH_MAX], struct ws_err *err);

/* "a/b" from "a" and "b"; an absolute @name stands alone. */
enum ws_status ws_path_join(const char *dir, const char *name, char out_path[PATH_MAX],
			    struct ws_err *err);

/* The part before the last '/', "." when there is none. In place. */
void ws_path_parent(char *path);

bool ws_path_exists(const char *path);

/*
 * A file that belongs to this program, looked for in each of the NULL-ended
 * @places, which are relative to the program's own folder ("../lib/wavescope").
 * This is how the build tree and an installation both find their libraries.
 */
enum ws_status ws_path_beside(const char *const *places, const char *name, char out_path[PATH_MAX],
			      struct ws_err *err);

/*
 * The file that typing @program would run: @program itself when it has a '/',
 * else the first hit on PATH. WS_E_NOTFOUND, or WS_E_ACCESS when there is one
 * that may not be executed.
 */
enum ws_status ws_path_program(const char *program, char out_path[PATH_MAX], struct ws_err *err);

#endif
