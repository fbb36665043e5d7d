/*
 * Functions beyond AMD's interface, under their own version node. A program finds them with dlsym(); their
 * presence shows that the GPU is the software GPU.
 */
#include <errno.h>

#include "softgpu/thunk/thunk_priv.h"

uint64_t softgpu_wave_instructions(void);

/* Wave-instructions executed in this process by kernels that have ended; 0 before the first. */
EXPORT uint64_t softgpu_wave_instructions(void)
{
	struct thunk *thunk = thunk_get();

	return thunk ? sg_cp_n_instructions(thunk->machine.cp) : 0;
}

EXPORT int softgpu_watch(softgpu_watcher *watcher)
{
	struct thunk *thunk = thunk_get();

	if (!thunk)
		return ENODEV;
	sg_cp_watch(thunk->machine.cp, watcher);
	return 0;
}

EXPORT int softgpu_figures(uint32_t node, struct softgpu_figures *out)
{
	struct thunk *thunk = thunk_get();

	if (!thunk || !thunk_is_gpu(thunk, node))
		return ENODEV;
	sg_device_figures(thunk_device(thunk, node), out);
	out->memory_used_bytes = out->memory_bytes - sg_vm_available(thunk->machine.vm, node);
	return 0;
}
