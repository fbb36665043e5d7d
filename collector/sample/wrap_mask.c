/*
 * wrap_mask: a program that blocks all signals blocks its own only.
 *
 * The signals of the samplers stay unblocked, and are not returned to a program that waits for
 * signals. The program sees what it has set. A signal that it has a handler for, or waits for by
 * name, is its own: then nothing is changed, and threads that block it take no samples.
 */
#include "collector/sample/wrap.h"

#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#define NAMED_MAX 40 /* a set with more signals is "all of them" */
#define NS_PER_S 1000000000

WRAP_REAL(pthread_sigmask, int, (int, const sigset_t *, sigset_t *))
WRAP_REAL(sigwait, int, (const sigset_t *, int *))
WRAP_REAL(sigtimedwait, int, (const sigset_t *, siginfo_t *, const struct timespec *))
WRAP_REAL(signalfd, int, (int, const sigset_t *, int))
WRAP_REAL(sigsuspend, int, (const sigset_t *))

/* What the program believes to be blocked, after a change. */
static uint64_t changed(int how, uint64_t before, uint64_t bits)
{
	switch (how) {
	case SIG_BLOCK:
		return before | bits;
	case SIG_UNBLOCK:
		return before & ~bits;
	default:
		return bits;
	}
}

/* A signal that has become the program's own is blocked from now on, if the program believes so. */
static void block_others(uint64_t ours)
{
	uint64_t others = col_sample_blocked & ~ours;
	sigset_t set;

	if (!others)
		return;
	sigemptyset(&set);
	memcpy(&set, &others, sizeof(others));
	real_pthread_sigmask()(SIG_BLOCK, &set, NULL);
	col_sample_blocked &= ours;
}

WS_PUBLIC int pthread_sigmask(int how, const sigset_t *set, sigset_t *out_before)
{
	uint64_t ours = col_sample_signals(), before = col_sample_blocked & ours, bits;
	sigset_t space;
	int status;

	block_others(ours);
	if (!ours)
		return real_pthread_sigmask()(how, set, out_before);
	bits = set ? col_wrap_bits(set) & ours
		   : 0; /* before @out_before is written: it may be @set */
	status = real_pthread_sigmask()(
		how, how == SIG_UNBLOCK ? set : col_wrap_without_ours(set, &space), out_before);
	if (status != 0)
		return status;
	if (set)
		col_sample_blocked = changed(how, before, bits);
	if (out_before) {
		bits = col_wrap_bits(out_before) | before;
		memcpy(out_before, &bits, sizeof(bits));
	}
	return 0;
}

WS_PUBLIC int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict out_before)
{
	int status = pthread_sigmask(how, set, out_before);

	if (status == 0)
		return 0;
	errno = status;
	return -1;
}

/* The program waits for these: those that it names are its own, and really blocked. */
static const sigset_t *waited(const sigset_t *set, sigset_t *space)
{
	uint64_t ours = set ? col_wrap_bits(set) & col_sample_signals() : 0;

	if (ours && __builtin_popcountll(col_wrap_bits(set)) <= NAMED_MAX) {
		col_sample_share(ours);
		block_others(col_sample_signals());
	}
	return col_wrap_without_ours(set, space);
}

/* A timer's signal, in a thread that waits for all signals of that number. */
static bool is_ours(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && col_sample_is_timer(info->si_value.sival_ptr);
}

WS_PUBLIC int sigwait(const sigset_t *restrict set, int *restrict out_number)
{
	sigset_t space;
	siginfo_t info;
	int number;

	set = waited(set, &space);
	do
		number = real_sigtimedwait()(set, &info, NULL);
	while ((number < 0 && errno == EINTR) || (number > 0 && is_ours(&info)));
	if (number < 0)
		return errno;
	*out_number = number;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

WS_PUBLIC int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict out_info,
			   const struct timespec *restrict timeout)
{
	uint64_t end_ns = timeout ? now_ns() + (uint64_t)timeout->tv_sec * NS_PER_S +
					    (uint64_t)timeout->tv_nsec
				  : 0;
	struct timespec left;
	sigset_t space;
	siginfo_t info;
	int number;

	set = waited(set, &space);
	for (;;) {
		col_sample_interrupted = 0;
		number = real_sigtimedwait()(set, &info, timeout);
		if (!(number < 0 && errno == EINTR &&
		      col_sample_interrupted == COL_INTERRUPTED_BY_US) &&
		    !(number > 0 && is_ours(&info)))
			break;
		if (timeout) {
			uint64_t at_ns = now_ns(), left_ns = at_ns < end_ns ? end_ns - at_ns : 0;

			left = (struct timespec){ (time_t)(left_ns / NS_PER_S),
						  (long)(left_ns % NS_PER_S) };
			timeout = &left;
		}
	}
	if (number > 0 && out_info)
		*out_info = info;
	return number;
}

WS_PUBLIC int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict out_info)
{
	return sigtimedwait(set, out_info, NULL);
}

WS_PUBLIC int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t space;

	return real_signalfd()(fd, waited(set, &space), flags);
}

WS_PUBLIC int sigsuspend(const sigset_t *set)
{
	sigset_t space;
	int status;

	set = col_wrap_without_ours(set, &space);
	do {
		col_sample_interrupted = 0;
		status = real_sigsuspend()(set);
	} while (errno == EINTR && col_sample_interrupted == COL_INTERRUPTED_BY_US);
	return status;
}
