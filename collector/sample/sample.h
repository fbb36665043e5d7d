/*
 * sample: call-stack samples of the profiled program's threads.
 *
 * This part is in the collector. libwavescope-sample.so (wrap_*.c) is preloaded beside it when
 * samples are requested; it wraps the functions of libc through which threads begin, libraries
 * are unloaded, signals are blocked and waiting is interrupted, and calls what follows.
 *
 * Threads  any.
 * Signals  none of these may run in a handler.
 * errno    kept.
 */
#ifndef WS_COLLECTOR_SAMPLE_H
#define WS_COLLECTOR_SAMPLE_H

#include "capture/record.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* The wrappers were loaded: if requested, open the capture and sample the calling thread. */
void col_sample_start(void);

/*
 * A thread is about to be created, with @attr; NULL: do not follow it. Then create it with
 * col_sample_main() and the result instead of @main and @arg, or report that this failed.
 */
struct col_sampled;
struct col_sampled *col_sample_new(const pthread_attr_t *attr, void *(*main)(void *), void *arg);
void col_sample_failed(struct col_sampled *thread);
void *col_sample_main(void *thread);

/* Around dlclose(): handlers use nothing of a module that may be going. */
void col_sample_unloading(bool begin);

/*
 * Signals that only samplers use. Bit n - 1: signal n. The program cannot block them or wait for
 * them, until it installs a handler for one, or declares here that it uses it otherwise.
 */
uint64_t col_sample_signals(void);
void col_sample_share(uint64_t signals);
bool col_sample_is_timer(const void *value); /* of a signal of SI_TIMER: is it a timer of ours? */

/* Of the calling thread: those of our signals that it has blocked, as far as it knows. */
extern __thread uint64_t col_sample_blocked __attribute__((tls_model("initial-exec")));

/* Of the calling thread: it has no clock any more, nor samples. Reading the time would end it. */
extern __thread bool col_sample_resting __attribute__((tls_model("initial-exec")));

/*
 * Of the calling thread: our signal alone interrupted a system call, which returned EINTR.
 * Written by handlers; a wrapper clears it, makes its call, and reads it.
 */
extern __thread uint32_t col_sample_interrupted __attribute__((tls_model("initial-exec")));

enum { COL_INTERRUPTED_BY_US = 1, COL_INTERRUPTED_BY_PROGRAM };

#pragma GCC visibility pop

#endif
