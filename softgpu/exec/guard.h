/*
 * guard: turns a SIGSEGV or SIGBUS of the interpreter into a memory fault of the device.
 *
 * While a thread runs waves, a wild access of theirs is a real access of this process. The handler
 * leaves the interpreter when, and only when, the faulting thread is inside it; any other fault goes
 * to the handler that was there before. Handlers installed later by the program are the program's
 * business: ws_guard_install() is called again before each dispatch and is cheap when nothing changed.
 */
#ifndef WS_SOFTGPU_EXEC_GUARD_H
#define WS_SOFTGPU_EXEC_GUARD_H

void ws_guard_install(void);

#endif
