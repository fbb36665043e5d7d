#include "collector/signals.h"

#include "collector/collector_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define HELD_MAX 8u

/* glibc's own, by a name that is not interposed. */
int __sigaction(int number, const struct sigaction *to, struct sigaction *out_was);

static struct {
	struct col_lock lock;
	struct held {
		uint32_t number; /* acquire/release; 0: free */
		uint32_t flags;  /* COL_SIGNAL_* */
		struct sigaction ours;
		struct sigaction theirs; /* what the program believes to be installed */
	} held[HELD_MAX];
	uint32_t pid;         /* a vfork() child has signals of its own, and our memory */
	const void *restorer; /* where handlers return to that the kernel calls; NULL: not known */
} signals;

void col_signals_mask(int how, const uint64_t *set, uint64_t *out_before)
{
	int saved_errno = errno;

	syscall(SYS_rt_sigprocmask, how, set, out_before, sizeof(*set));
	errno = saved_errno;
}

static struct held *held_of(int number)
{
	for (unsigned i = 0; number > 0 && i < HELD_MAX; i++) {
		if (__atomic_load_n(&signals.held[i].number, __ATOMIC_ACQUIRE) == (uint32_t)number)
			return &signals.held[i];
	}
	return NULL;
}

static bool is_function(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

bool col_signal_theirs(int number)
{
	const struct held *held = held_of(number);

	return held && is_function(&held->theirs);
}

/* A handler may call sigaction(): all signals are blocked while the lock is held. */
static uint64_t lock(void)
{
	const uint64_t all = ~0ull;
	uint64_t before;

	col_signals_mask(SIG_SETMASK, &all, &before);
	col_lock(&signals.lock);
	return before;
}

static void unlock(uint64_t before)
{
	col_unlock(&signals.lock);
	col_signals_mask(SIG_SETMASK, &before, NULL);
}

bool col_signal_hold(int number, const struct sigaction *ours, uint32_t flags)
{
	int saved_errno = errno;
	uint64_t before = lock();
	struct held *held = held_of(number);

	signals.pid = (uint32_t)getpid();
	for (unsigned i = 0; !held && i < HELD_MAX; i++) {
		struct sigaction now;

		if (signals.held[i].number)
			continue;
		held = &signals.held[i];
		if (__sigaction(number, NULL, &held->theirs) != 0) {
			held = NULL;
			break;
		}
		held->ours = *ours;
		held->flags = flags;
		__atomic_store_n(&held->number, (uint32_t)number, __ATOMIC_RELEASE);
		__sigaction(number, ours, NULL);
#if defined(__x86_64__)
		if (__sigaction(number, NULL, &now) == 0)
			signals.restorer = (const void *)now.sa_restorer;
#else
		(void)now;
#endif
	}
	unlock(before);
	errno = saved_errno;
	return held != NULL;
}

void col_signal_release(int number)
{
	int saved_errno = errno;
	uint64_t before = lock();
	struct held *held = held_of(number);
	struct sigaction now;

	if (held) {
		if (__sigaction(number, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
		    now.sa_sigaction == held->ours.sa_sigaction)
			__sigaction(number, &held->theirs, NULL);
		__atomic_store_n(&held->number, 0, __ATOMIC_RELEASE);
	}
	unlock(before);
	errno = saved_errno;
}

void col_signals_forked(void)
{
	signals.lock = (struct col_lock){ 0 };
	signals.pid = (uint32_t)getpid();
}

/*
 * The kernel is about to repeat the system call that the signal interrupted, because our handler has
 * SA_RESTART: let it return EINTR instead. It left the address behind the call in rcx, so a call that
 * has not begun yet is not taken for one.
 */
static void do_not_repeat(ucontext_t *context)
{
#if defined(__x86_64__)
	static const uint8_t syscall_code[2] = { 0x0f, 0x05 };
	greg_t *regs = context->uc_mcontext.gregs;

	if (regs[REG_RCX] != regs[REG_RIP] + 2 ||
	    memcmp((const void *)regs[REG_RIP], syscall_code, sizeof(syscall_code)) != 0)
		return;
	regs[REG_RIP] += 2;
	regs[REG_RAX] = -EINTR;
#endif
}

/* The fault that the program's handler was last called for, on this thread. */
static __thread struct {
	int number;
	const void *address;
} passed __attribute__((tls_model("initial-exec")));

/*
 * A handler that has put back the one before itself sends the fault again, with the same facts, to end the process. LLVM's
 * does. If the one before is ours, it comes here, and would be sent for ever. A fault that repeats is at an
 * instruction that accesses memory; one that was sent is behind a system call.
 */
static bool is_sent_again(int number, const siginfo_t *info, const void *context)
{
#if defined(__x86_64__)
	const ucontext_t *at = context;
	const uint8_t *pc = (const uint8_t *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP];

	return passed.number == number && passed.address == info->si_addr && pc[-2] == 0x0f &&
	       pc[-1] == 0x05;
#else
	return false;
#endif
}

void col_signal_pass(int number, siginfo_t *info, void *context, const void *return_address)
{
	bool chained = signals.restorer && return_address != signals.restorer;
	struct held *held = chained ? NULL : held_of(number);
	const struct sigaction none = { .sa_handler = SIG_DFL };
	struct sigaction to = held ? held->theirs : none;
	bool sent = !held || !(held->flags & COL_SIGNAL_FAULT) || info->si_code <= 0;
	uint64_t blocked, theirs;

	if (chained)
		sent = info->si_code <= 0;
	if (!sent && is_sent_again(number, info, context))
		to = none;
	if (!is_function(&to)) {
		if (to.sa_handler == SIG_IGN && sent)
			return;
		/* An access is repeated on return, and then ends the process as it should. */
		__sigaction(number, &none, NULL);
		if (sent)
			raise(number);
		return;
	}
	if (to.sa_flags & SA_RESETHAND)
		held->theirs = none;
	if (held->flags & COL_SIGNAL_TICKS && !(to.sa_flags & SA_RESTART))
		do_not_repeat(context);
	if (!sent) {
		passed.number = number;
		passed.address = info->si_addr;
	}
	/* The mask that the kernel would have set; it restores the old one on return. */
	memcpy(&blocked, &((const ucontext_t *)context)->uc_sigmask, sizeof(blocked));
	memcpy(&theirs, &to.sa_mask, sizeof(theirs));
	blocked |= theirs;
	if (!(to.sa_flags & SA_NODEFER))
		blocked |= 1ull << (number - 1);
	col_signals_mask(SIG_SETMASK, &blocked, NULL);
	if (to.sa_flags & SA_SIGINFO)
		to.sa_sigaction(number, info, context);
	else
		to.sa_handler(number);
}

/* ---- in front of the program's handlers ---- */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they are there already */

WS_PUBLIC int sigaction(int number, const struct sigaction *to, struct sigaction *out_was)
{
	struct held *held = held_of(number);
	struct sigaction was;
	uint64_t before;

	if (!held || (uint32_t)syscall(SYS_getpid) != signals.pid)
		return __sigaction(number, to, out_was);
	before = lock();
	was = held->theirs;
	if (to) {
		held->theirs = *to;
	}
	unlock(before);
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
