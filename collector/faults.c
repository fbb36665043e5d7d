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
 * Every other fault is passed to the program's handler (signals.h).
 *
 * If a thread that blocks SIGBUS accesses a truncated capture, the kernel kills the process.
 */
#include "collector/collector_priv.h"
#include "collector/signals.h"

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

static struct {
	uint32_t exit_tid; /* of who called exit() */
	struct {
		uintptr_t start, end;
	} code[LIBRARIES_MAX]; /* of HIP and ROCr */
	unsigned n_code;
} faults;

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
	bool sent = info->si_code <= 0; /* by kill() and the like: no access is behind it */
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
	col_signal_pass(number, info, context, __builtin_return_address(0));
	errno = saved_errno;
}

static void hold(int number)
{
	struct sigaction ours = { .sa_sigaction = on_fault,
				  .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

	sigemptyset(&ours.sa_mask);
	col_signal_hold(number, &ours, COL_SIGNAL_FAULT);
}

void col_faults_start(void)
{
	hold(SIGBUS);
}

void col_faults_stop(void)
{
	col_signal_release(SIGBUS);
	col_signal_release(SIGSEGV);
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
		hold(SIGSEGV);
}
