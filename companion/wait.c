#include "companion/wait.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKED = 0, ACTIVE = 1 }; /* hsa_wait_state_t */

#define LONG_WAIT_NS 1000000u
/* HIP's own timeouts, after which it asks to block, are a few microseconds; the unit is ns. */
#define SHORT_TIMEOUT 1000000u

struct companion_wait_functions companion_wait_real;

/* How long this thread waited the last time. */
static __thread uint64_t last_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool companion_wait_wanted(void)
{
	const char *choice = getenv("WAVESCOPE_WAIT");

	return !choice || strcmp(choice, "spin") != 0;
}

static int64_t wait_for(companion_wait_fn *real, struct companion_signal signal, int condition,
			int64_t value, uint64_t timeout, int hint)
{
	uint64_t start_ns;

	if (hint != ACTIVE || timeout <= SHORT_TIMEOUT)
		return real(signal, condition, value, timeout, hint);
	start_ns = now_ns();
	value = real(signal, condition, value, timeout, last_ns > LONG_WAIT_NS ? BLOCKED : ACTIVE);
	last_ns = now_ns() - start_ns;
	return value;
}

int64_t companion_wait_scacquire(struct companion_signal signal, int condition, int64_t value,
				 uint64_t timeout, int hint)
{
	return wait_for(companion_wait_real.scacquire, signal, condition, value, timeout, hint);
}

int64_t companion_wait_relaxed(struct companion_signal signal, int condition, int64_t value,
			       uint64_t timeout, int hint)
{
	return wait_for(companion_wait_real.relaxed, signal, condition, value, timeout, hint);
}
