/*
 * helpers: pages, locks and threads of the collector. The program's allocator and its locks are the
 * program's: the collector may be called from inside of them.
 */
#include "collector/collector_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HELPER_STACK_BYTES (256u << 10)

void *col_pages(size_t n_bytes)
{
	int saved_errno = errno;
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved_errno;
	return at == MAP_FAILED ? NULL : at;
}

void col_pages_free(void *pages, size_t n_bytes)
{
	int saved_errno = errno;

	if (pages)
		munmap(pages, n_bytes);
	errno = saved_errno;
}

/* 0 free, 1 held, 2 held with waiters. */
void col_lock(struct col_lock *lock)
{
	uint32_t was = 0;
	int saved_errno = errno;

	if (__atomic_compare_exchange_n(&lock->word, &was, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&lock->word, 2, __ATOMIC_ACQUIRE) != 0)
		syscall(SYS_futex, &lock->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
	errno = saved_errno;
}

void col_unlock(struct col_lock *lock)
{
	int saved_errno = errno;

	if (__atomic_exchange_n(&lock->word, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &lock->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved_errno;
}

bool col_spawn(void *(*main)(void *), void *arg, const char *name)
{
	int saved_errno = errno;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool done;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setstacksize(&attr, HELPER_STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* but for one that our own writing may cause, see faults.c */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	done = pthread_create(&thread, &attr, main, arg) == 0;
	if (done)
		pthread_setname_np(thread, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	errno = saved_errno;
	return done;
}
