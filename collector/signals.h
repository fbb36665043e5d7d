/*
 * signals: the signals that the collector handles in front of the program.
 *
 * A held signal has a handler of ours installed. What the program installs is kept here:
 * sigaction() and signal() are intercepted, so that the program sees its own handler and ours
 * stays first. Ours decides what a signal is about, and passes on what is the program's.
 * After an attach the two functions are not intercepted, and a handler that the program
 * installs then replaces ours.
 *
 * Threads  any. hold and release: not from handlers.
 * Signals  pass, theirs and mask may run in handlers.
 * errno    kept.
 */
#ifndef WS_COLLECTOR_SIGNALS_H
#define WS_COLLECTOR_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* How a signal that is not ours is passed on. */
#define COL_SIGNAL_FAULT                                                                           \
	1u /* unless it was sent, an access caused it, which is repeated on return */
#define COL_SIGNAL_TICKS                                                                           \
	2u /* ours has SA_RESTART; for a signal of the program, its own handler decides */

/* Install @ours, which has SA_SIGINFO; false: too many are held. Again does nothing. */
bool col_signal_hold(int number, const struct sigaction *ours, uint32_t flags);
void col_signal_release(int number); /* the program's handler is its own again */
void col_signals_forked(void);

/*
 * Do with a signal what would happen without us: call the program's handler with its mask, or
 * take the default action. @return_address: of our handler, __builtin_return_address(0).
 * When that is not the kernel's, a handler that was installed over ours has called ours, and
 * may be the one we would call: the default action is taken.
 */
void col_signal_pass(int number, siginfo_t *info, void *context, const void *return_address);

/* Whether the program has a handler of its own for this held signal. */
bool col_signal_theirs(int number);

/* rt_sigprocmask() itself: the functions of libc may be intercepted. Bit n - 1: signal n. */
void col_signals_mask(int how, const uint64_t *set, uint64_t *out_before);

#endif
