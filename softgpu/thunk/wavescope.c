/*
 * What this library offers beyond AMD's interface, under a version node of its own. A program finds
 * it with dlsym(); that it is there at all says that the GPU is the software one.
 */
#include <errno.h>

#include "softgpu/thunk/thunk_priv.h"

uint64_t softgpu_wave_instructions(void);

/* Wave-instructions executed in this process by kernels that have ended; 0 before the first. */
EXPORT uint64_t softgpu_wave_instructions(void)
{
	struct thunk *thunk = thunk_get();

	return thunk ? sg_cp_n_instructions(thunk->cp) : 0;
}

EXPORT int softgpu_watch(softgpu_watcher *watcher)
{
	struct thunk *thunk = thunk_get();

	if (!thunk)
		return ENODEV;
	sg_cp_watch(thunk->cp, watcher);
	return 0;
}
