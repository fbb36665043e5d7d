/*
 * Functions beyond AMD's interfaces, in each library that presents the machine. A program finds
 * them with dlsym(); their presence shows that the GPU is the software GPU.
 */
#include <errno.h>

#include "softgpu/core/machine.h"

#define EXPORT __attribute__((visibility("default")))

uint64_t softgpu_wave_instructions(void);

/* Wave-instructions executed in this process by kernels that have ended; 0 before the first. */
EXPORT uint64_t softgpu_wave_instructions(void)
{
	struct sg_machine *machine = sg_machine_current();

	return machine ? sg_cp_n_instructions(machine->cp) : 0;
}

EXPORT int softgpu_watch(softgpu_watcher *watcher)
{
	struct sg_machine *machine = sg_machine_current();

	if (!machine)
		return ENODEV;
	sg_cp_watch(machine->cp, watcher);
	return 0;
}

EXPORT int softgpu_figures(uint32_t node, struct softgpu_figures *out)
{
	struct sg_machine *machine = sg_machine_current();

	if (!machine || !sg_machine_is_gpu(machine, node))
		return ENODEV;
	sg_device_figures(sg_machine_device(machine, node), out);
	out->memory_used_bytes = out->memory_bytes - sg_vm_available(machine->vm, node);
	return 0;
}
