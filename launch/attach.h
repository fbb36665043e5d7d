/*
 * attach: a library and a call of it, into a program that runs already.
 *
 * One thread of the program is stopped where it can be (below), made to start a new
 * thread, and let go on as if nothing had been; that takes well under a millisecond.
 * The new thread loads the library, calls the function with a text, and ends when the
 * function returns. Nothing of the program's code is written to; two pages stay.
 *
 * Where a thread can be stopped: the call that starts a thread allocates, so it must not
 * come on top of the allocator or the loader. A thread that waits in the kernel (for
 * a lock, a descriptor, a time) is at such a place, and so is one whose next instruction is
 * in neither the C library nor an allocator. If none is for three seconds, that is said.
 *
 * Works for programs with glibc on x86-64, where the kernel lets one process trace another;
 * where it does not, the error says what stands in the way.
 *
 * Threads  the tracing is done by a child process, so that whatever happens to it, the
 *          kernel lets the program go.
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
