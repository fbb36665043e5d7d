/*
 * wait: HIP's threads sleep while they wait for the software GPU.
 *
 * HIP asks ROCr to spin until a kernel is done, which is quick where the GPU is another chip. Here the
 * spinning thread takes a core from the kernel it waits for: half of the CPU time of a program that
 * waits for long kernels. Asked to block, ROCr spins for 200 us, then sleeps until the signal's event
 * occurs, or polls at intervals where the signal has none. What HIP passes is a hint, by HSA's definition.
 *
 * A thread blocks if its last wait took more than 1 ms. In a loop of short kernels it spins as HIP wants
 * it: with all cores busy, a thread that sleeps is back 60 us later than one that spins.
 *
 * WAVESCOPE_WAIT=spin leaves it as HIP asks for.
 *
 * Threads  any.
 */
#ifndef WS_COMPANION_WAIT_H
#define WS_COMPANION_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct companion_signal { /* hsa_signal_t */
	uint64_t handle;
};

/* hsa_signal_wait_scacquire() and hsa_signal_wait_relaxed() */
typedef int64_t companion_wait_fn(struct companion_signal signal, int condition, int64_t value,
				  uint64_t timeout, int hint);

struct companion_wait_functions {
	companion_wait_fn *scacquire, *relaxed;
};
extern struct companion_wait_functions companion_wait_real;

bool companion_wait_wanted(void);
companion_wait_fn companion_wait_scacquire, companion_wait_relaxed;

#endif
