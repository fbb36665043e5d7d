#include "softgpu/device/peek.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softgpu/device/clock.h"
#include "softgpu/mem/guard.h"

#define PAGE 4096u
#define MASK_BYTES 8u /* of the kernel's signal mask */
#define NO_SUCH_HOW (-1)

/*
 * Whether memory can be accessed is asked page by page, with system calls that have another
 * purpose. process_vm_readv() would do it in one, but a driver needs no system call at all, so
 * the sandbox of a program may end it for that one. These two are in every list: no thread can
 * be started without the one or waited for without the other. Then a signal (mem/guard.h) is
 * needed only for memory that another thread unmaps in between.
 */

/* The kernel reads the mask before it finds out that it has nothing to do with it. From the
 * second one of the page: null stands for no mask. */
static bool can_read(uintptr_t at)
{
	errno = 0;
	syscall(SYS_rt_sigprocmask, NO_SUCH_HOW, (at & ~(uintptr_t)(PAGE - 1)) + MASK_BYTES, NULL,
		MASK_BYTES);
	return errno != EFAULT;
}

/* An atomic "or" with nothing, on behalf of a lock that nobody waits for. */
static bool can_write(uintptr_t at)
{
	static uint32_t nobody;

	errno = 0;
	syscall(SYS_futex, &nobody, FUTEX_WAKE_OP_PRIVATE, 0, NULL,
		at & ~(uintptr_t)(sizeof(uint32_t) - 1),
		FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_NE, 0));
	return errno != EFAULT;
}

static size_t in_page(uintptr_t at, size_t size)
{
	size_t left = PAGE - at % PAGE;

	return left < size ? left : size;
}

/* What was accessible a moment ago may be gone: another thread can unmap it at any time. */
static bool copy(void *to, const void *from, size_t size)
{
	sg_guard_keep(sg_clock_system_ns());
	return sg_guard_copy(to, from, size);
}

bool sg_peek_bytes(const void *from, void *to, size_t size)
{
	int saved_errno = errno;
	bool ok = true;

	for (size_t done = 0, n; ok && done < size; done += n) {
		n = in_page((uintptr_t)from + done, size - done);
		ok = can_read((uintptr_t)from + done) &&
		     copy((char *)to + done, (const char *)from + done, n);
	}
	errno = saved_errno;
	return ok;
}

bool sg_poke_bytes(void *to, const void *from, size_t size)
{
	int saved_errno = errno;
	bool ok = true;

	for (size_t done = 0, n; ok && done < size; done += n) {
		n = in_page((uintptr_t)to + done, size - done);
		ok = can_write((uintptr_t)to + done) &&
		     copy((char *)to + done, (const char *)from + done, n);
	}
	errno = saved_errno;
	return ok;
}

void sg_peek_text(const char *from, char *to, size_t size)
{
	size_t n = 0;

	/* page by page: behind the end of a string there may be nothing */
	while (n + 1 < size) {
		size_t piece = PAGE - ((uintptr_t)from + n) % PAGE, got;

		piece = piece < size - 1 - n ? piece : size - 1 - n;
		if (!sg_peek_bytes(from + n, to + n, piece))
			break;
		got = strnlen(to + n, piece);
		n += got;
		if (got < piece)
			break;
	}
	to[n] = '\0';
}
