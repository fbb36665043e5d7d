#include "companion/wait.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKED = 0, ACTIVE = 1 }; /* hsa_wait_state_t */

/* A timeout of HIP's own, after which it asks to block, is a few microseconds; the unit is ns. */
#define SHORT_WAIT 1000000

struct companion_wait_functions companion_wait_real;

static int hint_for(uint64_t timeout, int hint)
{
	return hint == ACTIVE && timeout > SHORT_WAIT ? BLOCKED : hint;
}

bool companion_wait_wanted(void)
{
	const char *choice = getenv("WAVESCOPE_WAIT");

	return !choice || strcmp(choice, "spin") != 0;
}

int64_t companion_wait_scacquire(struct companion_signal signal, int condition, int64_t value,
				 uint64_t timeout, int hint)
{
	return companion_wait_real.scacquire(signal, condition, value, timeout,
					     hint_for(timeout, hint));
}

int64_t companion_wait_relaxed(struct companion_signal signal, int condition, int64_t value,
			       uint64_t timeout, int hint)
{
	return companion_wait_real.relaxed(signal, condition, value, timeout,
					   hint_for(timeout, hint));
}
