/*
 * attach: loads a library into a running process and calls one of its functions.
 *
 * One thread of the process is stopped at a safe point (below), made to start a new
 * thread, and resumed; that takes well under a millisecond. The new thread loads the
 * library, calls the function with a text, and ends when the function returns. The
 * program's code is not modified; two pages remain mapped.
 *
 * Safe points: starting a thread allocates, so the stopped thread must not be inside the
 * allocator or the loader. A thread that waits in the kernel (for a lock, a descriptor, a
 * time) is at a safe point, and so is one whose next instruction is in neither the C
 * library nor an allocator. It is an error if no thread reaches one within three seconds.
 *
 * Supported for programs with glibc on x86-64, if the kernel allows one process to trace
 * another; otherwise the error names the reason.
 *
 * Threads  a child process does the tracing, so that the kernel releases the program
 *          even if the child is killed.
 */
#ifndef WS_LAUNCH_ATTACH_H
#define WS_LAUNCH_ATTACH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* One sentence when @pid cannot be attached to, without touching it. */
enum ws_status launch_attach_check(pid_t pid, const char *library, struct ws_err *err);

/*
 * Returns when @function has begun; the library cannot be loaded, or has no such
 * function: an error with the loader's own words.
 */
enum ws_status launch_attach_call(pid_t pid, const char *library, const char *function,
				  const char *text, struct ws_err *err);

/* Whether this file is mapped in the process. */
bool launch_attach_is_mapped(pid_t pid, const char *path);

#endif
