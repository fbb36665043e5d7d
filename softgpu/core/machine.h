/*
 * machine: all software GPUs of a process, with their memory, events and command processor.
 *
 * An interface library builds one from the environment (WAVESCOPE_GPU, WAVESCOPE_WORKERS,
 * WAVESCOPE_LOG) and presents it to its runtime. Node 0 is the host, GPU g is node g + 1.
 *
 * The members are constant once it is built; what they point to has locks of its own.
 *
 * Threads  any, once it is built.
 * Fork     a child has no machine: neither the device threads nor the memory are inherited.
 */
#ifndef WS_SOFTGPU_CORE_MACHINE_H
#define WS_SOFTGPU_CORE_MACHINE_H

#include "softgpu/core/device.h"
#include "softgpu/device/event.h"
#include "softgpu/device/vm.h"

/* Doorbells of a GPU: one page of 1024, because ROCr makes a table index of the offset in it. */
#define SG_DOORBELL_BYTES 8192u
#define SG_N_DOORBELLS (SG_DOORBELL_BYTES / 8)

/* Where waves find LDS and scratch in their flat address space. */
#define SG_LDS_APERTURE 0x1000000000000ull
#define SG_SCRATCH_APERTURE 0x2000000000000ull
#define SG_FLAT_APERTURE_BYTES (4ull << 30)

struct sg_machine {
	struct sg_topology topology;
	struct sg_vm *vm;
	struct sg_mem_map mem;
	struct sg_events *events;
	struct sg_cp *cp;
	struct sg_device *devices[SG_MAX_GPUS];
	uint64_t doorbells[SG_MAX_GPUS]; /* addresses of their pages */
	uint64_t host_bytes;
	/* The granularity of an allocation, from its flags, which are the interface's; not used for SVM,
	 * scratch and imported memory. */
	enum sg_grain (*grain)(uint32_t flags);
	/* A kernel has failed; called by a device thread after the event is set. NULL: nobody asks. */
	void (*faulted)(struct sg_machine *machine, const struct sg_memory_fault *fault);
};

/* False: a message has been logged. Nothing is started before sg_machine_build(). */
bool sg_machine_read_environment(struct sg_machine *machine, uint32_t *out_n_workers);
/* grain and topology are set. False: logged; sg_machine_dismantle() releases what there is. */
bool sg_machine_build(struct sg_machine *machine, uint32_t n_workers);
void sg_machine_dismantle(struct sg_machine *machine); /* its queues are destroyed already */

/* The machine that the interface has open in this process, for its other functions; NULL: none. */
struct sg_machine *sg_machine_current(void);
void sg_machine_set_current(struct sg_machine *machine);

static inline bool sg_machine_is_node(const struct sg_machine *machine, uint32_t node)
{
	return node <= machine->topology.n_gpus;
}

static inline bool sg_machine_is_gpu(const struct sg_machine *machine, uint32_t node)
{
	return node && sg_machine_is_node(machine, node);
}

static inline const struct sg_gpu *sg_machine_gpu(const struct sg_machine *machine, uint32_t node)
{
	return &machine->topology.gpus[node - 1];
}

static inline struct sg_device *sg_machine_device(const struct sg_machine *machine, uint32_t node)
{
	return machine->devices[node - 1];
}

#endif
