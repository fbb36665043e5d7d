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
static long read_self(const struct iovec *to, const struct iovec *from, uint32_t n)
{
	long pid = getpid(), result;
	register long flags __asm__("r9") = 0; /* from here on no call, which would change them */
	register long n_from __asm__("r8") = n;
	register const struct iovec *from_at __asm__("r10") = from;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_process_vm_readv), "D"(pid), "S"(to), "d"(1L), "r"(from_at),
			   "r"(n_from), "r"(flags)
			 : "rcx", "r11", "memory");
	return result;
}
#else
static long read_self(const struct iovec *to, const struct iovec *from, uint32_t n)
{
	return process_vm_readv(getpid(), to, 1, from, n, 0);
}
#endif

bool col_sample_may_read(void)
{
	return !__atomic_load_n(&forbidden, __ATOMIC_RELAXED) && !col_threads_sandboxed();
}

/* A window that begins at @at, and ends with its page or the next. */
static bool fill_window(struct col_sample_work *work, uintptr_t at, uint32_t n_bytes)
{
	uint32_t n = PAGE_BYTES - (uint32_t)(at % PAGE_BYTES);
	struct iovec to = { work->window, 0 }, from = { (void *)at, 0 };
	long got;

	if (!col_sample_may_read())
		return false;
	if (n < n_bytes)
		n += PAGE_BYTES;
	to.iov_len = from.iov_len = WS_MIN(n, COL_SAMPLE_WINDOW);
	got = read_self(&to, &from, 1);
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

bool col_sample_read_down(struct col_sample_work *work, uintptr_t at, void *to, uint32_t n_bytes)
{
	uint32_t before = WS_MIN((uint32_t)(at % PAGE_BYTES), COL_SAMPLE_WINDOW - n_bytes);
	bool known = (at >= work->stack_low && at < work->stack_high) ||
		     (at >= work->window_at && at + n_bytes <= work->window_at + work->n_window);

	if (!known && before && n_bytes < COL_SAMPLE_WINDOW)
		fill_window(work, at - before, before + n_bytes);
	return col_sample_read(work, at, to, n_bytes);
}

uint32_t col_sample_read_all(const uint64_t *at, uint32_t n, void *to, uint32_t n_bytes)
{
	struct iovec from[COL_SAMPLE_READS], all = { to, (size_t)n * n_bytes };
	long got;

	if (n == 0 || n > COL_SAMPLE_READS || !col_sample_may_read())
		return 0;
	for (uint32_t i = 0; i < n; i++)
		from[i] = (struct iovec){ (void *)at[i], n_bytes };
	got = read_self(&all, from, n);
	return got > 0 ? (uint32_t)got / n_bytes : 0;
}
