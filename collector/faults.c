/*
 * faults: handles two signals that profiling could cause.
 *
 * SIGBUS   the capture was truncated while mapped. Memory is mapped in place of the page, the
 *          program continues, and the capture records the truncation (capture/truncation.c).
 * SIGSEGV  after exit() has begun. HIP's destructors free data that its calls read. Threads that
 *          still launch kernels while main is in exit() read it: HIP 5 then crashes, also without
 *          profiling; profiling makes it likelier, because exit() takes longer. A thread other
 *          than the one in exit() that faults inside HIP or ROCr is stopped, because the process
 *          is ending and does not wait for that thread.
 *
 * Every other fault is passed to the program's handler. To keep our handlers first, sigaction()
 * and signal() are intercepted for these two signals: the program's handlers are stored here,
 * returned on query, and called from here. After an attach these functions are not intercepted,
 * and a handler that the program installs then replaces ours.
 *
 * If a thread that blocks SIGBUS accesses a truncated capture, the kernel kills the process.
 */
#include "collector/collector_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define LIBRARIES_MAX 8u
#define PARKED_S                                                                                   \
	5 /* who is in exit() may be waiting for this thread: then it is to crash after all */

/* glibc's own, by a name that is not interposed. */
int __sigaction(int number, const struct sigaction *to, struct sigaction *out_was);

enum { BUS, SEGV, HELD };
static const int numbers[HELD] = { SIGBUS, SIGSEGV };

static struct {
	struct col_lock lock;
	struct held {
		uint32_t on;             /* acquire/release */
		struct sigaction theirs; /* what the program believes to be installed */
	} held[HELD];
	void *restorer;    /* where handlers return to that the kernel calls; NULL: not known */
	uint32_t pid;      /* a vfork() child has signals of its own, and our memory */
	uint32_t exit_tid; /* of who called exit() */
	struct {
		uintptr_t start, end;
	} code[LIBRARIES_MAX]; /* of HIP and ROCr */
	unsigned n_code;
} faults;

static struct held *held_of(int number)
{
	for (unsigned i = 0; i < HELD; i++) {
		if (numbers[i] == number && __atomic_load_n(&faults.held[i].on, __ATOMIC_ACQUIRE))
			return &faults.held[i];
	}
	return NULL;
}

static void pass_on(int number, siginfo_t *info, void *context, bool last)
{
	const struct held *held = last ? NULL : held_of(number);
	struct sigaction to = held ? held->theirs : (struct sigaction){ .sa_handler = SIG_DFL };
	bool sent = info->si_code <= 0; /* by kill() and the like: no access is behind it */

	if (!(to.sa_flags & SA_SIGINFO) && to.sa_handler == SIG_IGN && sent)
		return;
	if (!(to.sa_flags & SA_SIGINFO) && (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN)) {
		/* the access is repeated on return and then ends the process, as it should */
		__sigaction(number, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		if (sent)
			raise(number);
		return;
	}
	if (!(to.sa_flags & SA_NODEFER))
		sigaddset(&to.sa_mask, number);
	pthread_sigmask(SIG_BLOCK, &to.sa_mask, NULL); /* the kernel puts it back on return */
	if (to.sa_flags & SA_RESETHAND)
		faults.held[number == SIGSEGV].theirs = (struct sigaction){ .sa_handler = SIG_DFL };
	if (to.sa_flags & SA_SIGINFO)
		to.sa_sigaction(number, info, context);
	else
		to.sa_handler(number);
}

static bool is_theirs(void *context)
{
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (unsigned i = 0; i < faults.n_code; i++) {
		if (pc >= faults.code[i].start && pc < faults.code[i].end)
			return true;
	}
#endif
	return false;
}

static __attribute__((noinline)) void on_fault(int number, siginfo_t *info, void *context)
{
	/*
	 * Another handler that was installed over ours, and calls what was there before. It may be
	 * the one that we would call: it is not called again.
	 */
	bool called = faults.restorer && __builtin_return_address(0) != faults.restorer;
	bool sent = info->si_code <= 0;
	int saved_errno = errno;

	if (number == SIGBUS && !sent && cap_writers_truncated(info->si_addr)) {
		errno = saved_errno;
		return;
	}
	if (number == SIGSEGV && !sent && is_theirs(context) &&
	    (uint32_t)syscall(SYS_gettid) != faults.exit_tid) {
		struct timespec left = { PARKED_S, 0 };

		while (nanosleep(&left, &left) != 0)
			;
	}
	pass_on(number, info, context, called);
	errno = saved_errno;
}

static void hold(unsigned i)
{
	struct sigaction ours = { .sa_sigaction = on_fault,
				  .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };
	sigset_t all, before;

	sigemptyset(&ours.sa_mask);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* a handler may call sigaction() */
	col_lock(&faults.lock);
	faults.pid = (uint32_t)getpid();
	if (!faults.held[i].on && __sigaction(numbers[i], NULL, &faults.held[i].theirs) == 0) {
		__atomic_store_n(&faults.held[i].on, 1, __ATOMIC_RELEASE);
		__sigaction(numbers[i], &ours, NULL);
#if defined(__x86_64__)
		if (__sigaction(numbers[i], NULL, &ours) == 0)
			faults.restorer = (void *)ours.sa_restorer;
#endif
	}
	col_unlock(&faults.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void col_faults_start(void)
{
	hold(BUS);
}

void col_faults_stop(void)
{
	for (unsigned i = 0; i < HELD; i++) {
		struct held *held = &faults.held[i];
		struct sigaction now;

		col_lock(&faults.lock);
		if (held->on && __sigaction(numbers[i], NULL, &now) == 0 &&
		    now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
			__sigaction(numbers[i], &held->theirs, NULL);
		__atomic_store_n(&held->on, 0, __ATOMIC_RELEASE);
		col_unlock(&faults.lock);
	}
}

void col_faults_forked(void)
{
	faults.lock = (struct col_lock){ 0 };
	faults.pid = (uint32_t)getpid();
}

static int find_code(struct dl_phdr_info *library, size_t n_bytes, void *arg)
{
	const char *name = strrchr(library->dlpi_name, '/');

	name = name ? name + 1 : library->dlpi_name;
	if (strncmp(name, "libamdhip64.", 12) != 0 && strncmp(name, "libhsa-runtime64.", 17) != 0)
		return 0;
	for (unsigned i = 0; i < library->dlpi_phnum && faults.n_code < LIBRARIES_MAX; i++) {
		const ElfW(Phdr) *part = &library->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		faults.code[faults.n_code].start = library->dlpi_addr + part->p_vaddr;
		faults.code[faults.n_code].end = library->dlpi_addr + part->p_vaddr + part->p_memsz;
		faults.n_code++;
	}
	return 0;
}

void col_faults_leaving(void)
{
	faults.exit_tid = (uint32_t)syscall(SYS_gettid);
	faults.n_code = 0;
	dl_iterate_phdr(find_code, NULL);
	if (faults.n_code)
		hold(SEGV);
}

/* ---- in front of the program's handlers ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they are there already */

WS_PUBLIC int sigaction(int number, const struct sigaction *to, struct sigaction *out_was)
{
	struct held *held = held_of(number);
	struct sigaction was;
	sigset_t all, before;

	if (!held || (uint32_t)syscall(SYS_getpid) != faults.pid)
		return __sigaction(number, to, out_was);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	col_lock(&faults.lock);
	was = held->theirs;
	if (to)
		held->theirs = *to;
	col_unlock(&faults.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (out_was)
		*out_was = was;
	return 0;
}

WS_PUBLIC void (*signal(int number, void (*handler)(int)))(int)
{
	struct sigaction to = { .sa_handler = handler, .sa_flags = SA_RESTART }, was;
	void (*(*real)(int, void (*)(int)))(int);
	static void *found;

	if (held_of(number))
		return sigaction(number, &to, &was) == 0 ? was.sa_handler : SIG_ERR;
	*(void **)&real = __atomic_load_n(&found, __ATOMIC_RELAXED);
	if (!real) {
		*(void **)&real = dlsym(RTLD_NEXT, "signal");
		__atomic_store_n(&found, *(void **)&real, __ATOMIC_RELAXED);
	}
	return real ? real(number, handler) : SIG_ERR;
}

#endif
