#include "softgpu/core/machine.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/log.h"
#include "softgpu/device/reserve.h"
#include "softgpu/device/svm.h"

#define MAX_WORKERS 1024

static struct sg_machine *_Atomic current;

struct sg_machine *sg_machine_current(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

void sg_machine_set_current(struct sg_machine *machine)
{
	atomic_store_explicit(&current, machine, memory_order_release);
}

static bool accessible(void *ctx, uint64_t addr, uint64_t size)
{
	struct sg_machine *machine = ctx;

	return sg_vm_accessible(machine->vm, addr, size);
}

static void enter(void *ctx)
{
	sg_vm_enter(((struct sg_machine *)ctx)->vm);
}

static void leave(void *ctx)
{
	sg_vm_leave(((struct sg_machine *)ctx)->vm);
}

static enum sg_grain grain_of(const struct sg_machine *machine, const struct sg_vm_info *info)
{
	if (info->kind == SG_VM_SVM)
		return info->flags & SG_SVM_COHERENT ? SG_GRAIN_FINE : SG_GRAIN_COARSE;
	/* scratch is its GPU's alone; what processes share is not said to be fine-grained */
	if (info->kind == SG_VM_SCRATCH || info->kind == SG_VM_IMPORTED)
		return SG_GRAIN_COARSE;
	return machine->grain(info->flags);
}

static void find_block(void *ctx, uint32_t node, uint64_t addr, struct sg_mem_block *out)
{
	struct sg_machine *machine = ctx;
	struct sg_vm_info info;

	*out = (struct sg_mem_block){ .kind = sg_topology_kind(&machine->topology, node, 0,
							       SG_GRAIN_FINE) };
	if (sg_vm_query(machine->vm, addr, &info) && sg_svm_query(machine->vm, addr, &info))
		return; /* not the device's: whoever owns it, it is on the host */
	out->start = addr & SG_PINNED_ALIAS ? info.device_start : info.start;
	out->size = info.size;
	out->pin_place = info.pin_place;
	out->kind = sg_topology_kind(&machine->topology, node, info.node, grain_of(machine, &info));
}

static bool nearest(void *ctx, uint64_t addr, struct sg_cp_nearest *out)
{
	static const char *const names[] = {
		[SG_VM_HOST] = "host memory",
		[SG_VM_VRAM] = "device memory",
		[SG_VM_SCRATCH] = "scratch",
		[SG_VM_IMPORTED] = "device memory of another process",
		[SG_VM_PINNED] = "pinned host memory",
		[SG_VM_SVM] = "managed memory",
	};
	struct sg_vm_info info;

	if (!sg_vm_nearest(((struct sg_machine *)ctx)->vm, addr, &info))
		return false;
	*out = (struct sg_cp_nearest){ .start = info.start,
				       .size = info.size,
				       .what = names[info.kind] };
	return true;
}

static void interrupt(void *ctx, uint32_t event_id)
{
	struct sg_machine *machine = ctx;

	sg_event_set(machine->events, event_id);
}

static void memory_fault(void *ctx, const struct sg_cp_fault *fault)
{
	struct sg_machine *machine = ctx;
	struct sg_memory_fault report = {
		.node = fault->node,
		.address = fault->address & ~4095ull,
		.write = fault->write,
		.hang = fault->hang,
	};

	sg_events_report_fault(machine->events, &report);
	if (machine->faulted)
		machine->faulted(machine, &report);
}

static bool read_workers(uint32_t *n_workers)
{
	const char *text = getenv("WAVESCOPE_WORKERS");
	char *end;
	long n;

	*n_workers = 0;
	if (!text || !*text)
		return true;
	n = strtol(text, &end, 10);
	if (*end || n < 1 || n > MAX_WORKERS) {
		sg_gpu_log(SG_GPU_LOG_ERROR, "WAVESCOPE_WORKERS: '%s' is not a number from 1 to %d",
			   text, MAX_WORKERS);
		return false;
	}
	*n_workers = (uint32_t)n;
	return true;
}

bool sg_machine_read_environment(struct sg_machine *machine, uint32_t *out_n_workers)
{
	const char *level = getenv("WAVESCOPE_LOG");
	char error[240];

	if (level && *level && !sg_gpu_log_set(level)) {
		sg_gpu_log(
			SG_GPU_LOG_ERROR,
			"WAVESCOPE_LOG: '%s' is not one of none, error, warn, info, debug, trace",
			level);
		return false;
	}
	if (!sg_topology_parse(&machine->topology, getenv("WAVESCOPE_GPU"), error, sizeof(error))) {
		sg_gpu_log(SG_GPU_LOG_ERROR, "%s", error);
		return false;
	}
	return read_workers(out_n_workers);
}

static bool create_devices(struct sg_machine *machine)
{
	for (uint32_t g = 0; g < machine->topology.n_gpus; g++) {
		/* Twice the size, because blocks of host memory are only page-aligned. */
		if (sg_vm_alloc(machine->vm, SG_VM_HOST, 0, 2 * SG_DOORBELL_BYTES, 0, false,
				&machine->doorbells[g]))
			return false;
		machine->doorbells[g] = (machine->doorbells[g] + SG_DOORBELL_BYTES - 1) &
					~(uint64_t)(SG_DOORBELL_BYTES - 1);
		machine->devices[g] = sg_device_create(machine->cp, &machine->mem,
						       &machine->topology.gpus[g], g + 1);
		if (!machine->devices[g])
			return false;
	}
	return true;
}

static bool refused(void)
{
	sg_gpu_log(SG_GPU_LOG_ERROR, "cannot start: out of memory, threads or address space");
	return false;
}

/* For tools that show the memory in use and the load of a GPU, whichever processes use it. */
static void publish(struct sg_machine *machine)
{
	uint64_t memory_bytes[SG_MAX_GPUS];
	struct sg_board_page *page;

	static_assert(SG_MAX_GPUS <= SG_BOARD_GPUS, "a page has a place for each GPU");
	for (uint32_t g = 0; g < machine->topology.n_gpus; g++)
		memory_bytes[g] = machine->topology.gpus[g].model->vram_bytes;
	page = sg_board_open(memory_bytes, machine->topology.n_gpus);
	if (!page)
		return;
	sg_vm_publish(machine->vm, page->used_bytes);
	for (uint32_t g = 0; g < machine->topology.n_gpus; g++)
		sg_device_publish(machine->devices[g], page, g);
}

bool sg_machine_build(struct sg_machine *machine, uint32_t n_workers)
{
	uint64_t capacities[SG_VM_MAX_NODES];
	struct sg_cp_host host = {
		.mem = &machine->mem,
		.accessible = accessible,
		.enter = enter,
		.leave = leave,
		.interrupt = interrupt,
		.memory_fault = memory_fault,
		.find_block = find_block,
		.nearest = nearest,
		.ctx = machine,
	};

	machine->host_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	capacities[0] = machine->host_bytes;
	for (uint32_t g = 0; g < machine->topology.n_gpus; g++)
		capacities[g + 1] = machine->topology.gpus[g].model->vram_bytes;
	machine->vm = sg_vm_create(capacities, machine->topology.n_gpus + 1);
	if (!machine->vm)
		return refused();
	machine->mem = (struct sg_mem_map){
		.start = sg_vm_start(machine->vm),
		.end = sg_vm_aliases(machine->vm),
		.reachable = sg_vm_reachable,
		.alias_end = sg_vm_end(machine->vm),
		.host_of = sg_vm_host_of,
		.ctx = machine->vm,
	};
	machine->events = sg_events_create(machine->vm);
	if (!machine->events)
		return refused();
	machine->cp = sg_cp_create(&host, n_workers);
	if (!machine->cp || !create_devices(machine))
		return refused();
	publish(machine);
	return true;
}

void sg_machine_dismantle(struct sg_machine *machine)
{
	for (uint32_t g = 0; g < SG_MAX_GPUS; g++)
		sg_device_destroy(machine->devices[g]);
	sg_cp_destroy(machine->cp);
	sg_events_destroy(machine->events);
	sg_vm_destroy(machine->vm);
}
