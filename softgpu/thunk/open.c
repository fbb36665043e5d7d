/* Opening and closing: the machine comes into being here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/log.h"
#include "softgpu/device/svm.h"
#include "softgpu/thunk/thunk_priv.h"

#define MAX_WORKERS 1024

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thunk *machine; /* kept until exit: device threads outlive exit handlers */
static uint32_t n_opened;
static bool forked_open;              /* a parent of this process had it open */
static struct thunk *_Atomic current; /* machine while it is open */

struct thunk *thunk_get(void)
{
	return atomic_load_explicit(&current, memory_order_acquire);
}

bool thunk_in_child(void)
{
	return forked_open;
}

/* The device threads and the memory stay with the parent: every call of the child fails. */
static void in_child(void)
{
	atomic_store(&current, NULL);
	machine = NULL;
	n_opened = 0;
	forked_open = true;
	pthread_mutex_init(&open_lock, NULL);
}

static bool accessible(void *ctx, uint64_t addr, uint64_t size)
{
	struct thunk *thunk = ctx;

	return sg_vm_accessible(thunk->vm, addr, size);
}

static void enter(void *ctx)
{
	sg_vm_enter(((struct thunk *)ctx)->vm);
}

static void leave(void *ctx)
{
	sg_vm_leave(((struct thunk *)ctx)->vm);
}

static enum sg_grain grain_of(const struct sg_vm_info *info)
{
	HsaMemFlags flags = { .Value = info->flags };

	if (info->kind == SG_VM_SVM)
		return info->flags & SG_SVM_COHERENT ? SG_GRAIN_FINE : SG_GRAIN_COARSE;
	/* scratch is its GPU's alone; what processes share is not said to be fine-grained */
	if (flags.ui32.CoarseGrain || info->kind == SG_VM_SCRATCH || info->kind == SG_VM_IMPORTED)
		return SG_GRAIN_COARSE;
	return flags.ui32.Uncached ? SG_GRAIN_UNCACHED : SG_GRAIN_FINE;
}

static void find_block(void *ctx, uint32_t node, uint64_t addr, struct sg_mem_block *out)
{
	struct thunk *thunk = ctx;
	struct sg_vm_info info;

	*out = (struct sg_mem_block){ .kind = sg_topology_kind(&thunk->topology, node, 0,
							       SG_GRAIN_FINE) };
	if (sg_vm_query(thunk->vm, addr, &info) && sg_svm_query(thunk->vm, addr, &info))
		return; /* not the device's: whoever owns it, it is on the host */
	out->start = addr & SG_PINNED_ALIAS ? info.device_start : info.start;
	out->size = info.size;
	out->pin_place = info.pin_place;
	out->kind = sg_topology_kind(&thunk->topology, node, info.node, grain_of(&info));
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

	if (!sg_vm_nearest(((struct thunk *)ctx)->vm, addr, &info))
		return false;
	*out = (struct sg_cp_nearest){ .start = info.start,
				       .size = info.size,
				       .what = names[info.kind] };
	return true;
}

static void interrupt(void *ctx, uint32_t event_id)
{
	struct thunk *thunk = ctx;

	sg_event_set(thunk->events, event_id);
}

static void memory_fault(void *ctx, const struct sg_cp_fault *fault)
{
	struct thunk *thunk = ctx;
	struct sg_memory_fault report = {
		.node = fault->node,
		.address = fault->address & ~4095ull,
		.write = fault->write,
		.hang = fault->hang,
	};

	sg_events_report_fault(thunk->events, &report);
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

static bool read_environment(struct thunk *thunk, uint32_t *n_workers)
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
	if (!sg_topology_parse(&thunk->topology, getenv("WAVESCOPE_GPU"), error, sizeof(error))) {
		sg_gpu_log(SG_GPU_LOG_ERROR, "%s", error);
		return false;
	}
	return read_workers(n_workers);
}

static bool create_devices(struct thunk *thunk)
{
	for (uint32_t g = 0; g < thunk->topology.n_gpus; g++) {
		/* Twice the size, because blocks of host memory are only page-aligned. */
		if (sg_vm_alloc(thunk->vm, SG_VM_HOST, 0, 2 * DOORBELL_BYTES, 0, false,
				&thunk->doorbells[g]))
			return false;
		thunk->doorbells[g] = (thunk->doorbells[g] + DOORBELL_BYTES - 1) &
				      ~(uint64_t)(DOORBELL_BYTES - 1);
		thunk->devices[g] = sg_device_create(thunk->cp, &thunk->mem,
						     thunk->topology.gpus[g].model, g + 1);
		if (!thunk->devices[g])
			return false;
	}
	return true;
}

static bool build(struct thunk *thunk, uint32_t n_workers)
{
	uint64_t capacities[SG_VM_MAX_NODES];
	struct sg_cp_host host = {
		.mem = &thunk->mem,
		.accessible = accessible,
		.enter = enter,
		.leave = leave,
		.interrupt = interrupt,
		.memory_fault = memory_fault,
		.find_block = find_block,
		.nearest = nearest,
		.ctx = thunk,
	};

	thunk->host_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	capacities[0] = thunk->host_bytes;
	for (uint32_t g = 0; g < thunk->topology.n_gpus; g++)
		capacities[g + 1] = thunk->topology.gpus[g].model->vram_bytes;
	thunk->vm = sg_vm_create(capacities, thunk->topology.n_gpus + 1);
	if (!thunk->vm)
		return false;
	thunk->mem = (struct sg_mem_map){
		.start = sg_vm_start(thunk->vm),
		.end = sg_vm_end(thunk->vm),
		.reachable = sg_vm_reachable,
		.ctx = thunk->vm,
	};
	thunk->events = sg_events_create(thunk->vm);
	if (!thunk->events)
		return false;
	thunk->cp = sg_cp_create(&host, n_workers);
	return thunk->cp && create_devices(thunk);
}

static void dismantle(struct thunk *thunk)
{
	for (uint32_t g = 0; g < SG_MAX_GPUS; g++)
		sg_device_destroy(thunk->devices[g]);
	sg_cp_destroy(thunk->cp);
	sg_events_destroy(thunk->events);
	sg_vm_destroy(thunk->vm);
	free(thunk);
}

/* For tools that show the memory in use of a GPU, whichever processes use it. */
static void publish_memory(struct thunk *thunk)
{
	uint64_t memory_bytes[SG_MAX_GPUS];

	static_assert(SG_MAX_GPUS <= SG_BOARD_GPUS, "a page has a place for each GPU");
	for (uint32_t g = 0; g < thunk->topology.n_gpus; g++)
		memory_bytes[g] = thunk->topology.gpus[g].model->vram_bytes;
	sg_vm_publish(thunk->vm, sg_board_open(memory_bytes, thunk->topology.n_gpus));
}

static HSAKMT_STATUS open_machine(void)
{
	static bool watching_forks;
	struct thunk *thunk = calloc(1, sizeof(*thunk));
	uint32_t n_workers;

	if (!thunk)
		return HSAKMT_STATUS_NO_MEMORY;
	if (!read_environment(thunk, &n_workers)) {
		free(thunk);
		return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	}
	if (!build(thunk, n_workers)) {
		sg_gpu_log(SG_GPU_LOG_ERROR,
			   "cannot start: out of memory, threads or address space");
		dismantle(thunk);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	publish_memory(thunk);
	if (!watching_forks)
		watching_forks = !pthread_atfork(NULL, NULL, in_child);
	machine = thunk;
	return HSAKMT_STATUS_SUCCESS;
}

EXPORT HSAKMT_STATUS hsaKmtOpenKFD(void)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (n_opened) {
		n_opened++;
		status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
	} else {
		if (!machine)
			status = open_machine();
		if (!status) {
			n_opened = 1;
			atomic_store(&current, machine);
		}
	}
	pthread_mutex_unlock(&open_lock);
	return status;
}

EXPORT HSAKMT_STATUS hsaKmtCloseKFD(void)
{
	HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;

	pthread_mutex_lock(&open_lock);
	if (!n_opened)
		status = forked_open ? HSAKMT_STATUS_SUCCESS
				     : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
	else if (--n_opened == 0)
		atomic_store(&current, NULL); /* the machine itself stays for the next time */
	pthread_mutex_unlock(&open_lock);
	return status;
}

EXPORT HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo)
{
	THUNK_OR_RETURN(thunk);
	(void)thunk;
	if (!VersionInfo)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	VersionInfo->KernelInterfaceMajorVersion = 1;
	VersionInfo->KernelInterfaceMinorVersion = 10;
	return HSAKMT_STATUS_SUCCESS;
}
