/*
 * What this library offers beyond AMD's interface, under a version node of its own. A program finds
 * it with dlsym(); that it is there at all says that the GPU is the software one.
 */
#include <errno.h>

#include "softgpu/thunk/thunk_priv.h"

uint64_t ws_softgpu_wave_instructions(void);

/* Wave-instructions executed in this process by kernels that have ended; 0 before the first. */
EXPORT uint64_t ws_softgpu_wave_instructions(void)
{
	struct thunk *thunk = thunk_get();

	return thunk ? ws_cp_n_instructions(thunk->cp) : 0;
}

EXPORT int ws_softgpu_watch(ws_softgpu_watcher *watcher)
{
	struct thunk *thunk = thunk_get();

	if (!thunk)
		return ENODEV;
	ws_cp_watch(thunk->cp, watcher);
	return 0;
}
