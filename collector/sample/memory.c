/*
 * memory: reads memory of this process that may not be there.
 *
 * A stack is read directly within the bounds that are known of it. Everything else is copied
 * by the kernel, which fails where a load would fault: process_vm_readv() on ourselves. It costs
 * a few hundred nanoseconds, so a window around the address is copied at once.
 */
#include "collector/sample/sample_priv.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

static uint32_t forbidden; /* by a filter of system calls */

#if defined(__x86_64__)
/* Not syscall(): that sets errno, and a thread made by clone() alone may share its TLS. */
static long read_self(const struct iovec *to, const struct iovec *from)
{
	long pid = getpid(), result;
	register long flags __asm__("r9") = 0; /* from here on no call, which would change them */
	register long n_from __asm__("r8") = 1;
	register const struct iovec *from_at __asm__("r10") = from;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_process_vm_readv), "D"(pid), "S"(to), "d"(1L), "r"(from_at),
			   "r"(n_from), "r"(flags)
			 : "rcx", "r11", "memory");
	return result;
}
#else
static long read_self(const struct iovec *to, const struct iovec *from)
{
	return process_vm_readv(getpid(), to, 1, from, 1, 0);
}
#endif

/* A window that begins at @at, and ends with its page or the next. */
static bool fill_window(struct col_sample_work *work, uintptr_t at, uint32_t n_bytes)
{
	uint32_t n = PAGE_BYTES - (uint32_t)(at % PAGE_BYTES);
	struct iovec to = { work->window, 0 }, from = { (void *)at, 0 };
	long got;

	if (__atomic_load_n(&forbidden, __ATOMIC_RELAXED) || col_threads_sandboxed())
		return false;
	if (n < n_bytes)
		n += PAGE_BYTES;
	to.iov_len = from.iov_len = WS_MIN(n, COL_SAMPLE_WINDOW);
	got = read_self(&to, &from);
	if (got == -1 /* EPERM */ || got == -38 /* ENOSYS */)
		__atomic_store_n(&forbidden, 1, __ATOMIC_RELAXED);
	work->window_at = got > 0 ? at : 0;
	work->n_window = got > 0 ? (uint32_t)got : 0;
	return work->n_window >= n_bytes;
}

bool col_sample_read(struct col_sample_work *work, uintptr_t at, void *to, uint32_t n_bytes)
{
	if (at >= work->stack_low && at < work->stack_high && n_bytes <= work->stack_high - at) {
		memcpy(to, (const void *)at, n_bytes);
		return true;
	}
	if (n_bytes > COL_SAMPLE_WINDOW || at > UINTPTR_MAX - COL_SAMPLE_WINDOW)
		return false;
	if (at < work->window_at || at - work->window_at > work->n_window ||
	    work->n_window - (at - work->window_at) < n_bytes) {
		if (!fill_window(work, at, n_bytes))
			return false;
	}
	memcpy(to, work->window + (at - work->window_at), n_bytes);
	return true;
}

uint32_t col_sample_read_text(struct col_sample_work *work, uintptr_t at, char *to, uint32_t room)
{
	uint32_t n = 0;

	if (!at)
		return 0;
	while (n + 1 < room && col_sample_read(work, at + n, to + n, 1) && to[n])
		n++;
	to[n] = '\0';
	return n;
}
