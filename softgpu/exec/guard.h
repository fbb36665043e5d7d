/*
 * guard: turns a SIGSEGV or SIGBUS of the interpreter into a memory fault of the device.
 *
 * While a thread runs waves, a wild access of theirs is a real access of this process. The handler
 * leaves the interpreter when, and only when, the faulting thread is inside it; any other fault goes
 * to the handler that was there before. ws_guard_keep() is called before each dispatch, because the
 * program may have installed a handler of its own in between; it asks the system every 50 us.
 *
 *	if (sigsetjmp(ws_guard_enter(), 0) == 0)
 *		... touch guest memory ...
 *	else
 *		... ws_guard_address() faulted ...
 *	ws_guard_leave();
 */
#ifndef WS_SOFTGPU_EXEC_GUARD_H
#define WS_SOFTGPU_EXEC_GUARD_H

#include <setjmp.h>
#include <stdint.h>

void ws_guard_install(void);
void ws_guard_keep(uint64_t now_ns);
sigjmp_buf *ws_guard_enter_(void);
#define ws_guard_enter() (*ws_guard_enter_())
void ws_guard_leave(void);
uint64_t ws_guard_address(void);
/* Whether the faulting access was a write, where the processor says so. */
int ws_guard_was_write(void);

#endif
