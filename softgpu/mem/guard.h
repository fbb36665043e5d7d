/*
 * guard: turns a SIGSEGV or SIGBUS of the interpreter into a memory fault of the device.
 *
 * While a thread runs waves, a wild access of theirs is a real access of this process. The handler
 * leaves the interpreter when, and only when, the faulting thread is inside it; any other fault goes
 * to the handler that was there before. sg_guard_keep() is called before each dispatch, because the
 * program may have installed a handler of its own in between; it asks the system every 50 us.
 *
 *	if (sigsetjmp(sg_guard_enter(), 0) == 0)
 *		... touch guest memory ...
 *	else
 *		... sg_guard_address() faulted ...
 *	sg_guard_leave();
 *
 * Guards do not nest. sg_guard_copy() is none: it may run anywhere, also inside.
 */
#ifndef WS_SOFTGPU_MEM_GUARD_H
#define WS_SOFTGPU_MEM_GUARD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sg_guard_install(void);
void sg_guard_keep(uint64_t now_ns);
sigjmp_buf *sg_guard_enter_(void);
#define sg_guard_enter() (*sg_guard_enter_())
void sg_guard_leave(void);
uint64_t sg_guard_address(void);
/* Whether the faulting access was a write, where the processor says so. */
int sg_guard_was_write(void);

/* Copies memory that another thread may unmap meanwhile. False: not all of it was copied. After
 * sg_guard_install(), in a thread that does not block these signals. */
bool sg_guard_copy(void *to, const void *from, size_t size);

#endif
