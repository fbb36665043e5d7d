/*
 * helpers: pages, locks and threads of the collector. The program's allocator and its locks are the
 * program's: the collector may be called from inside of them.
 */
#include "collector/collector_priv.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HELPER_STACK_BYTES (256u << 10)
#define HELPERS_MAX 64u
#define LOADER_TURNS 10000 /* of 10 us */

/* Threads that are being created: each has a place until it has its name. */
static struct helper {
	void *(*main)(void *);
	void *arg;
	const char *name;
	uint32_t taken;
} helpers[HELPERS_MAX];

static struct {
	uint32_t forking, inside; /* threads that fork; threads of ours in the loader */
} loader;

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

bool col_is_helper(const char *name)
{
	static const char *const ours[] = { "wavescope", "omni.sampler" };

	for (unsigned i = 0; i < WS_ARRAY_LEN(ours); i++) {
		if (!strncmp(name, ours[i], strlen(ours[i])))
			return true;
	}
	return false;
}

bool col_helpers_pending(void)
{
	for (unsigned i = 0; i < HELPERS_MAX; i++) {
		if (__atomic_load_n(&helpers[i].taken, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

void col_helpers_forked(void)
{
	memset(helpers, 0, sizeof(helpers));
	loader.inside = 0;
	loader.forking = 1; /* however many threads were at it */
}

static struct helper *take_helper(void)
{
	for (unsigned i = 0; i < HELPERS_MAX; i++) {
		uint32_t free = 0;

		if (__atomic_compare_exchange_n(&helpers[i].taken, &free, 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &helpers[i];
	}
	return NULL;
}

/* It names itself: from then on it is known for one of ours. */
static void *begin(void *arg)
{
	struct helper helper = *(struct helper *)arg;

	syscall(SYS_prctl, PR_SET_NAME, helper.name, 0, 0, 0);
	__atomic_store_n(&((struct helper *)arg)->taken, 0, __ATOMIC_RELEASE);
	return helper.main(helper.arg);
}

bool col_spawn(void *(*main)(void *), void *arg, const char *name)
{
	struct helper *helper = take_helper();
	int saved_errno = errno;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	bool done;

	if (!helper)
		return false;
	helper->main = main;
	helper->arg = arg;
	helper->name = name;
	if (pthread_attr_init(&attr) != 0) {
		__atomic_store_n(&helper->taken, 0, __ATOMIC_RELEASE);
		return false;
	}
	pthread_attr_setstacksize(&attr, HELPER_STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* The program's signals are for the program's threads. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* but for one that our own writing may cause, see faults.c */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	done = pthread_create(&thread, &attr, begin, helper) == 0;
	if (!done)
		__atomic_store_n(&helper->taken, 0, __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	errno = saved_errno;
	return done;
}

/* ---- the loader ---- */

bool col_loader_enter(void)
{
	__atomic_add_fetch(&loader.inside, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&loader.forking, __ATOMIC_SEQ_CST))
		return true;
	col_loader_leave();
	return false;
}

void col_loader_leave(void)
{
	__atomic_sub_fetch(&loader.inside, 1, __ATOMIC_SEQ_CST);
}

/*
 * What the loader is changing would stay half changed in the child. The wait is limited: the
 * thread that forks may have a lock of the loader that ours waits for.
 */
void col_loader_before_fork(void)
{
	__atomic_add_fetch(&loader.forking, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < LOADER_TURNS && __atomic_load_n(&loader.inside, __ATOMIC_SEQ_CST); i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 10000 }, NULL);
}

void col_loader_after_fork(void)
{
	__atomic_sub_fetch(&loader.forking, 1, __ATOMIC_SEQ_CST);
}
