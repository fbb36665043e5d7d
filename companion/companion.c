#include "companion/companion.h"

#include "base/got.h"
#include "codecache/hook.h"
#include "companion/wait.h"

#include <stdint.h>

/* Beginnings of file names. */
static const char *const clients[] = { "libamdhip64.so", "libhiprtc.so", "libamdocl64.so" };

bool companion_install(void (*log)(const char *text))
{
	/* What they called before. cc_hook_look_up() calls its own, which may be a profiler's. */
	static void *before;
	const struct {
		bool wanted;
		struct ws_got_row row;
	} parts[] = {
		{ cc_hook_wanted(), { "dlsym", (void *)cc_hook_look_up, &before } },
		{ companion_wait_wanted(),
		  { "hsa_signal_wait_scacquire", (void *)companion_wait_scacquire,
		    (void **)&companion_wait_real.scacquire } },
		{ companion_wait_wanted(),
		  { "hsa_signal_wait_relaxed", (void *)companion_wait_relaxed,
		    (void **)&companion_wait_real.relaxed } },
	};
	uint32_t n_wanted = 0, n = 0;

	cc_hook_set_log(log);
	for (size_t i = 0; i < WS_ARRAY_LEN(parts); i++) {
		n_wanted += parts[i].wanted;
		for (size_t k = 0; parts[i].wanted && k < WS_ARRAY_LEN(clients); k++)
			n += ws_got_replace(clients[k], &parts[i].row, 1);
	}
	for (size_t k = 0; cc_hook_wanted() && k < WS_ARRAY_LEN(clients); k++)
		n += cc_hook_link(clients[k]);
	return n || !n_wanted;
}
