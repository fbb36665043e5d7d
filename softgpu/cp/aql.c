/* AQL packets: kernels, barriers, and AMD's vendor packets. */
#include <string.h>
#include <time.h>

#include "softgpu/counting/counting.h"
#include "softgpu/cp/busy.h"
#include "softgpu/cp/count.h"
#include "softgpu/cp/fault.h"
#include "softgpu/cp/progress.h"
#include "softgpu/device/clock.h"
#include "softgpu/device/log.h"
#include "softgpu/device/peek.h"
#include "softgpu/mem/guard.h"

#define PACKETS_PER_TURN 64
#define SHORT_TICKS 5000 /* of 10 ns */

/* What became of a packet: an error code of the queue, or one of these. */
enum { PACKET_DONE = 0, PACKET_WAITS = -1, PACKET_STARTED = -2 };

/* A kernel descriptor; older code headers have these fields at the same places. */
struct kernel_descriptor {
	uint8_t reserved0[16];
	int64_t entry_offset;
	uint8_t reserved1[20];
	uint32_t rsrc3, rsrc1, rsrc2;
	uint16_t properties;
	uint16_t
		preload; /* bits 0-6: dwords of kernel arguments, from 7: where they begin, in dwords */
	uint8_t reserved2[4];
};
static_assert(sizeof(struct kernel_descriptor) == 64, "part of the interface");
static_assert(offsetof(struct kernel_descriptor, rsrc3) == 44, "part of the interface");

static const uint32_t launch_errors[] = {
	[SG_LAUNCH_BAD_DIMENSIONS] = SG_QUEUE_BAD_DIMENSIONS,
	[SG_LAUNCH_BAD_GROUP_MEMORY] = SG_QUEUE_BAD_GROUP_MEMORY,
	[SG_LAUNCH_BAD_CODE] = SG_QUEUE_BAD_CODE,
	[SG_LAUNCH_BAD_GROUP_SIZE] = SG_QUEUE_BAD_GROUP_SIZE,
};

/* Of a fault that the host learns of through the queue; memory faults have an event of their own. */
static const uint32_t fault_codes[] = {
	[SG_FAULT_NONE] = SG_QUEUE_BAD_GROUP_MEMORY, [SG_FAULT_MEMORY] = 0,
	[SG_FAULT_ILLEGAL] = SG_QUEUE_ILLEGAL,       [SG_FAULT_TRAP] = (uint32_t)SG_QUEUE_TRAP,
	[SG_FAULT_APERTURE] = SG_QUEUE_APERTURE,
};

static union sg_aql_packet *packet_at(const struct sg_queue *queue, uint64_t index)
{
	uint64_t n = queue->desc.size_bytes / sizeof(union sg_aql_packet);

	return (union sg_aql_packet *)queue->desc.ring + (index & (n - 1));
}

static uint64_t read_index(const struct sg_queue *queue)
{
	return atomic_load_explicit(queue->desc.read_ptr, memory_order_relaxed);
}

static uint16_t load_header(union sg_aql_packet *packet)
{
	return atomic_load_explicit(&packet->dispatch.header, memory_order_acquire);
}

bool sg_aql_ready(const struct sg_queue *queue)
{
	uint64_t index;

	if (atomic_load(&queue->dispatching) || atomic_load(&queue->dying) ||
	    atomic_load(&queue->halted) || !atomic_load(&queue->active))
		return false;
	index = read_index(queue);
	if (index >= atomic_load_explicit(queue->desc.write_ptr, memory_order_acquire))
		return false;
	return (load_header(packet_at(queue, index)) & 0xff) != SG_AQL_INVALID;
}

/* Tell the host through the queue's own signal; it answers by storing 0, if at all. */
static void raise_code(struct sg_queue *queue, uint32_t code)
{
	struct sg_cp *cp = queue->cp;
	struct sg_amd_signal *signal = sg_cp_signal(cp, queue->amd->inactive_signal);

	if (!signal) {
		sg_gpu_log(SG_GPU_LOG_ERROR, "a queue without error signal failed with code 0x%x",
			   code);
		atomic_store(&queue->halted, true);
		return;
	}
	atomic_store_explicit(&signal->value, code, memory_order_release);
	if (signal->event_mailbox)
		cp->host.interrupt(cp->host.ctx, signal->event_id);
}

/* clang-format off */
static const struct {
	uint32_t code;
	enum sg_queue_exception exception;
} exceptions[] = {
	{ SG_QUEUE_BAD_DIMENSIONS,         SG_EXCEPTION_DISPATCH_DIM_INVALID },
	{ SG_QUEUE_BAD_GROUP_MEMORY,       SG_EXCEPTION_DISPATCH_GROUP_SEGMENT_SIZE_INVALID },
	{ SG_QUEUE_BAD_CODE,               SG_EXCEPTION_DISPATCH_CODE_INVALID },
	{ SG_QUEUE_BAD_PACKET,             SG_EXCEPTION_PACKET_UNSUPPORTED },
	{ SG_QUEUE_BAD_GROUP_SIZE,         SG_EXCEPTION_DISPATCH_WORK_GROUP_SIZE_INVALID },
	{ SG_QUEUE_BAD_REGISTERS,          SG_EXCEPTION_DISPATCH_REGISTER_INVALID },
	{ SG_QUEUE_BAD_VENDOR_PACKET,      SG_EXCEPTION_PACKET_VENDOR_UNSUPPORTED },
	{ SG_QUEUE_APERTURE,               SG_EXCEPTION_WAVE_APERTURE_VIOLATION },
	{ SG_QUEUE_ILLEGAL,                SG_EXCEPTION_WAVE_ILLEGAL_INSTRUCTION },
	{ (uint32_t)SG_QUEUE_TRAP,         SG_EXCEPTION_WAVE_ABORT },
};
/* clang-format on */

/* The driver's way, if the runtime enabled it: the host ignores errors in the queue's signal then. */
static bool raise_exception(struct sg_queue *queue, uint32_t code)
{
	struct sg_cp *cp = queue->cp;
	uint64_t addr = queue->desc.error_addr;
	_Atomic uint64_t *word;

	if (!addr || addr % 8 || !sg_cp_accessible(cp, addr, sizeof(*word)))
		return false;
	word = sg_cp_pointer(cp, addr);
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].code == code) {
			atomic_fetch_or(word, 1ull << (exceptions[i].exception - 1));
			cp->host.interrupt(cp->host.ctx, queue->desc.error_event);
			return true;
		}
	return false;
}

static void fail_queue(struct sg_queue *queue, uint32_t code)
{
	sg_gpu_log(SG_GPU_LOG_INFO, "queue of node %u halted at packet %llu with code 0x%x",
		   queue->gpu->node, (unsigned long long)read_index(queue), code);
	atomic_store(&queue->halted, true);
	if (!raise_exception(queue, code))
		raise_code(queue, code);
}

static void retire(struct sg_queue *queue, union sg_aql_packet *packet)
{
	uint64_t index = read_index(queue);

	/* First the slot, then the index: who sees the index may write the slot. */
	atomic_store_explicit(&packet->dispatch.header, SG_AQL_INVALID, memory_order_release);
	atomic_store_explicit(queue->desc.read_ptr, index + 1, memory_order_release);
}

static void tell_watcher(struct sg_queue *queue, const union sg_aql_packet *packet,
			 uint64_t start_ticks, uint64_t end_ticks)
{
	softgpu_watcher *watcher = atomic_load_explicit(&queue->cp->watcher, memory_order_acquire);

	if (!watcher)
		return;
	watcher(&(struct softgpu_done){ .node = queue->gpu->node,
					.queue = queue->amd,
					.keep = &queue->kept,
					.packet = read_index(queue),
					.aql = packet,
					.start_ns = sg_clock_ns_of_ticks(start_ticks),
					.end_ns = sg_clock_ns_of_ticks(end_ticks) });
}

static int complete(struct sg_queue *queue, uint64_t handle)
{
	uint64_t now = sg_clock_device_ticks();

	sg_progress_hide(queue->cp);
	return sg_cp_complete(queue->cp, handle, now, now) ? PACKET_DONE : SG_QUEUE_BAD_PACKET;
}

/* --- barriers --- */

static int barrier(struct sg_queue *queue, union sg_aql_packet *packet, bool all)
{
	uint32_t n_given = 0, n_zero = 0;

	for (int i = 0; i < 5; i++) {
		struct sg_amd_signal *signal;

		if (!packet->barrier.signals[i])
			continue;
		signal = sg_cp_signal(queue->cp, packet->barrier.signals[i]);
		if (!signal)
			return SG_QUEUE_BAD_PACKET;
		n_given++;
		n_zero += atomic_load_explicit(&signal->value, memory_order_acquire) == 0;
	}
	if (n_given && (all ? n_zero < n_given : !n_zero))
		return PACKET_WAITS;
	return complete(queue, packet->barrier.completion);
}

static int barrier_and(struct sg_queue *queue, union sg_aql_packet *packet)
{
	return barrier(queue, packet, true);
}

static int barrier_or(struct sg_queue *queue, union sg_aql_packet *packet)
{
	return barrier(queue, packet, false);
}

static int barrier_value(struct sg_queue *queue, union sg_aql_packet *packet)
{
	int64_t value, reference = packet->vendor.value;
	struct sg_amd_signal *signal;
	bool met;

	if (packet->vendor.signal) {
		signal = sg_cp_signal(queue->cp, packet->vendor.signal);
		if (!signal)
			return SG_QUEUE_BAD_VENDOR_PACKET;
		value = atomic_load_explicit(&signal->value, memory_order_acquire) &
			packet->vendor.mask;
		switch (packet->vendor.condition) {
		case 0:
			met = value == reference;
			break;
		case 1:
			met = value != reference;
			break;
		case 2:
			met = value < reference;
			break;
		case 3:
			met = value >= reference;
			break;
		default:
			return SG_QUEUE_BAD_VENDOR_PACKET;
		}
		if (!met)
			return PACKET_WAITS;
	}
	return complete(queue, packet->vendor.completion);
}

/* A PM4 buffer: of a profiler, or of ROCr, to invalidate caches after loading code. */
static int commands(struct sg_queue *queue, union sg_aql_packet *packet)
{
	switch (sg_cp_pm4(queue, packet)) {
	case SG_PM4_DONE:
		return complete(queue, packet->pm4.completion);
	case SG_PM4_WAITS:
		return PACKET_WAITS;
	default:
		return SG_QUEUE_BAD_VENDOR_PACKET;
	}
}

static int vendor(struct sg_queue *queue, union sg_aql_packet *packet)
{
	switch (packet->vendor.format & 0xff) {
	case 1:
		return commands(queue, packet);
	case 2:
		return barrier_value(queue, packet);
	default:
		return SG_QUEUE_BAD_VENDOR_PACKET;
	}
}

static int bad_packet(struct sg_queue *queue, union sg_aql_packet *packet)
{
	return SG_QUEUE_BAD_PACKET;
}

/* --- kernels --- */

static void fill_launch(struct sg_queue *queue, union sg_aql_packet *packet,
			const struct kernel_descriptor *kernel, struct sg_launch *launch)
{
	const struct sg_amd_queue *amd = queue->amd;

	memset(launch, 0, sizeof(*launch));
	launch->target = queue->gpu->target;
	launch->mem = queue->cp->host.mem;
	launch->hooks = &queue->cp->hooks;
	launch->code_cache = queue->gpu->code_cache;
	launch->gws = queue->gws;
	launch->n_xccs = queue->gpu->n_xccs;
	launch->first_xcc = queue->gpu->first_xcc;
	launch->kernel_object = packet->dispatch.kernel_object;
	launch->entry = launch->kernel_object + (uint64_t)kernel->entry_offset;
	launch->rsrc1 = kernel->rsrc1;
	launch->rsrc2 = kernel->rsrc2;
	launch->rsrc3 = kernel->rsrc3;
	launch->properties = kernel->properties;
	memcpy(launch->grid_size, packet->dispatch.grid_size, sizeof(launch->grid_size));
	memcpy(launch->wg_size, packet->dispatch.wg_size, sizeof(launch->wg_size));
	launch->private_bytes = packet->dispatch.private_bytes;
	launch->lds_bytes = packet->dispatch.group_bytes;
	launch->kernarg = packet->dispatch.kernarg;
	launch->dispatch_ptr = sg_cp_address(queue->cp, packet);
	launch->queue_ptr = sg_cp_address(queue->cp, amd);
	launch->dispatch_id = read_index(queue);
	memcpy(launch->scratch_descriptor, amd->scratch_descriptor,
	       sizeof(launch->scratch_descriptor));
	launch->scratch_base = amd->scratch_base;
	launch->scratch_wave_bytes = (amd->tmpring_size >> 12 & 0x1fff) << 10;
	launch->n_scratch_waves = amd->tmpring_size & 0xfff;
	launch->shared_aperture_hi = amd->group_aperture_hi;
	launch->private_aperture_hi = amd->private_aperture_hi;
	launch->clock = sg_clock_device_ticks;
}

/*
 * Arguments that the wave finds in its registers, from gfx942 on. Code that wants them loads them in
 * its first 256 bytes, for processors that do not preload; this one starts behind these.
 */
static bool preload_arguments(const struct sg_queue *queue, const struct kernel_descriptor *kernel,
			      struct sg_launch *launch)
{
	uint32_t n = kernel->preload & 0x7f;
	uint64_t from = launch->kernarg + 4u * (kernel->preload >> 7);

	if (!n || launch->target < SG_ISA_GFX942)
		return true;
	if (n > SG_LAUNCH_MAX_PRELOADED || !sg_cp_accessible(queue->cp, from, 4 * n) ||
	    !sg_peek_bytes(sg_cp_pointer(queue->cp, from), launch->preloaded, 4 * n))
		return false;
	launch->n_preloaded = n;
	launch->entry += 256;
	return true;
}

/* How many workgroups the device can hold at once; 0: not one, for lack of scratch. */
static uint32_t most_resident(const struct sg_queue *queue, const struct sg_launch *launch)
{
	uint32_t per_cu = sg_launch_wgs_per_cu(launch);
	uint32_t n = queue->gpu->n_cus * (per_cu ? per_cu : 1);

	if (launch->private_bytes && launch->n_scratch_waves / launch->n_waves_per_wg < n)
		n = launch->n_scratch_waves / launch->n_waves_per_wg;
	return n;
}

/* It is to be written, and a core of the host's has it: by the time the kernel is over it is here. */
static void fetch_ahead(struct sg_amd_signal *signal)
{
	__asm__ volatile("prefetchw %0" : : "m"(*signal));
}

/* NULL: the runtime does not reclaim scratch from this queue; it does so on gfx94x and later. */
static struct sg_amd_queue_v2 *reclaim_of(struct sg_queue *queue)
{
	struct sg_amd_queue *amd = queue->amd;

	if (!(atomic_load(&amd->caps) & SG_AMD_QUEUE_SW_RECLAIM) ||
	    !sg_cp_accessible(queue->cp, sg_cp_address(queue->cp, amd),
			      sizeof(struct sg_amd_queue_v2)))
		return NULL;
	return (struct sg_amd_queue_v2 *)amd;
}

/*
 * The runtime takes scratch back in four steps: it suspends the queue, stores the last packet that used scratch
 * as the last that may, resumes the queue, and waits until that packet has ended.
 */
static bool has_scratch(struct sg_queue *queue, uint32_t lane_bytes)
{
	struct sg_amd_queue_v2 *reclaim = lane_bytes ? reclaim_of(queue) : NULL;

	if (reclaim) {
		atomic_fetch_or(&queue->amd->caps, SG_AMD_QUEUE_CP_RECLAIM);
		if (read_index(queue) > atomic_load(&queue->amd->scratch_max_use))
			return false;
	}
	return lane_bytes <= queue->amd->scratch_lane_bytes;
}

static void note_scratch_use(struct sg_queue *queue)
{
	struct sg_amd_queue_v2 *reclaim = reclaim_of(queue);

	if (reclaim)
		atomic_store(&reclaim->last_used[0].main, read_index(queue));
}

static int start_kernel(struct sg_queue *queue, union sg_aql_packet *packet)
{
	uint64_t object = packet->dispatch.kernel_object, completion = packet->dispatch.completion;
	struct sg_amd_signal *signal = completion ? sg_cp_signal(queue->cp, completion) : NULL;
	struct sg_launch *launch = &queue->dispatch.launch;
	struct kernel_descriptor kernel;
	enum sg_launch_error error;

	if (completion && !signal)
		return SG_QUEUE_BAD_PACKET;
	if (signal)
		fetch_ahead(signal);
	if (!(packet->dispatch.setup & SG_AQL_SETUP_DIMENSIONS))
		return SG_QUEUE_BAD_DIMENSIONS;
	for (int i = 0; i < 3; i++) {
		if (!packet->dispatch.wg_size[i] || !packet->dispatch.grid_size[i])
			return SG_QUEUE_BAD_DIMENSIONS;
	}
	if (object % 8 || !sg_cp_accessible(queue->cp, object, sizeof(kernel)))
		return SG_QUEUE_BAD_CODE;
	if (!has_scratch(queue, packet->dispatch.private_bytes)) {
		sg_cp_leave_turn(queue);
		raise_code(queue, SG_QUEUE_NEED_SCRATCH);
		return PACKET_WAITS;
	}
	memcpy(&kernel, sg_cp_pointer(queue->cp, object), sizeof(kernel));
	fill_launch(queue, packet, &kernel, launch);
	if (!preload_arguments(queue, &kernel, launch))
		return SG_QUEUE_BAD_CODE;
	error = sg_launch_init(launch);
	if (error)
		return (int)launch_errors[error];
	queue->dispatch.max_resident = most_resident(queue, launch);
	if (!queue->dispatch.max_resident) {
		sg_launch_fini(launch);
		return SG_QUEUE_BAD_GROUP_SIZE;
	}
	if (!sg_cp_take_turn(queue)) {
		sg_launch_fini(launch);
		return PACKET_WAITS;
	}
	if (launch->private_bytes)
		note_scratch_use(queue);
	sg_gpu_log(SG_GPU_LOG_DEBUG,
		   "node %u runs kernel 0x%llx: %llu workgroups of %u waves, %u resident",
		   queue->gpu->node, (unsigned long long)object, (unsigned long long)launch->n_wgs,
		   launch->n_waves_per_wg, queue->dispatch.max_resident);
	queue->start_ticks = sg_clock_device_ticks();
	sg_guard_keep(sg_clock_ns_of_ticks(queue->start_ticks));
	queue->dispatch.ended = sg_aql_dispatch_ended;
	sg_cp_count_begin(queue, packet);
	queue->measured = sg_busy_time_begin(queue->gpu->busy);
	sg_pool_start(queue->cp->pool, &queue->dispatch);
	return PACKET_STARTED;
}

static void report_fault(struct sg_queue *queue, const struct sg_fault *fault)
{
	const struct sg_cp_host *host = &queue->cp->host;

	if (fault->kind == SG_FAULT_MEMORY) {
		struct sg_cp_fault report = { .node = queue->gpu->node,
					      .address = fault->address,
					      .write = fault->write };

		atomic_store(&queue->halted, true);
		host->memory_fault(host->ctx, &report);
		return;
	}
	fail_queue(queue, fault_codes[fault->kind]);
}

struct kernel_times {
	uint64_t start, end; /* in ticks of the device clock */
};

/* Simulated time ends with the completion; a dispatch does not begin before it was there. */
static uint64_t simulated_start(const struct sg_queue *queue, uint64_t duration, uint64_t *end)
{
	*end = sg_clock_device_ticks();
	while (*end < queue->start_ticks +
			      duration) { /* the simulated GPU is slower than its simulation */
		struct timespec ts = { .tv_nsec = 10000 };

		if (queue->start_ticks + duration - *end > SHORT_TICKS)
			nanosleep(&ts, NULL);
		else
			__builtin_ia32_pause(); /* a sleep takes longer than that */
		*end = sg_clock_device_ticks();
	}
	return *end - duration;
}

/* duration: of the model, in ticks; 0: there is none, and the stamps are those of the host. */
static struct kernel_times times_of(const struct sg_queue *queue, uint64_t duration)
{
	struct kernel_times times = { queue->start_ticks, sg_clock_device_ticks() };

	if (duration)
		times.start = simulated_start(queue, duration, &times.end);
	return times;
}

static void finish_kernel(struct sg_queue *queue, struct kernel_times times)
{
	union sg_aql_packet *packet = packet_at(queue, read_index(queue));
	bool used_scratch = queue->dispatch.launch.private_bytes != 0;

	tell_watcher(queue, packet, times.start, times.end);
	/* Checked when it started; a signal that was destroyed since then is skipped. */
	sg_cp_complete(queue->cp, packet->dispatch.completion, times.start, times.end);
	retire(queue, packet);
	if (used_scratch && queue->amd->properties & SG_AMD_QUEUE_SCRATCH_ONCE)
		raise_code(queue, SG_QUEUE_SCRATCH_UNUSED);
}

/* False: the queue is going away. */
static bool start_again(struct sg_queue *queue)
{
	bool may;

	pthread_mutex_lock(&queue->lock);
	may = !atomic_load(&queue->dying);
	if (may) {
		atomic_store(&queue->dispatch.launch.stop, false);
		sg_pool_start(queue->cp->pool, &queue->dispatch);
	}
	pthread_mutex_unlock(&queue->lock);
	return may;
}

void sg_aql_dispatch_ended(struct sg_dispatch *dispatch)
{
	struct sg_queue *queue =
		(void *)((uint8_t *)dispatch - offsetof(struct sg_queue, dispatch));
	const struct sg_cp_host *host = &queue->cp->host;
	struct kernel_times times = { 0 };
	uint64_t duration;

	while (sg_cp_count_end(queue, &duration)) {
		if (start_again(queue))
			return;
		dispatch->failed = true;
	}
	atomic_fetch_add_explicit(&queue->cp->n_instructions, dispatch->launch.n_instructions,
				  memory_order_relaxed);
	if (!dispatch->failed && !atomic_load(&queue->dying))
		times = times_of(queue, duration);
	if (queue->trapped.samples)
		sg_traps_deliver(queue, times.start);
	pthread_mutex_lock(&queue->lock);
	sg_launch_fini(&dispatch->launch);
	if (!atomic_load(&queue->dying)) {
		sg_progress_hide(queue->cp);
		if (dispatch->failed)
			sg_fault_report_wave(queue, &dispatch->fault);
		if (host->enter)
			host->enter(host->ctx);
		if (dispatch->failed)
			report_fault(queue, &dispatch->fault);
		else
			finish_kernel(queue, times);
		if (host->leave)
			host->leave(host->ctx);
	}
	if (queue->measured)
		sg_busy_time_end(queue->gpu->busy);
	atomic_store(&queue->dispatching, false);
	if (sg_counting_alone(queue->gpu->counting))
		sg_cp_kick(queue->cp); /* another queue may be waiting for its turn */
	pthread_cond_broadcast(&queue->quiet);
	/* Chains of small kernels go on from here, without waiting for the poller. */
	sg_queue_advance(queue, PACKETS_PER_TURN);
	pthread_mutex_unlock(&queue->lock);
}

static int (*const packet_types[])(struct sg_queue *, union sg_aql_packet *) = {
	[SG_AQL_VENDOR] = vendor,           [SG_AQL_DISPATCH] = start_kernel,
	[SG_AQL_BARRIER_AND] = barrier_and, [SG_AQL_AGENT] = bad_packet,
	[SG_AQL_BARRIER_OR] = barrier_or,
};

enum sg_queue_progress sg_aql_step(struct sg_queue *queue)
{
	struct sg_amd_signal *inactive;
	union sg_aql_packet *packet;
	uint32_t type;
	int result;

	if (!sg_aql_ready(queue))
		return SG_STEP_IDLE;
	inactive = sg_cp_signal(queue->cp, queue->amd->inactive_signal);
	if (inactive && atomic_load_explicit(&inactive->value, memory_order_acquire))
		return SG_STEP_IDLE; /* halted until the host has dealt with it */

	packet = packet_at(queue, read_index(queue));
	type = load_header(packet) & 0xff;
	if (type > SG_AQL_BARRIER_OR)
		result = SG_QUEUE_BAD_PACKET;
	else
		result = packet_types[type](queue, packet);
	switch (result) {
	case PACKET_DONE:
		tell_watcher(queue, packet, 0, 0);
		retire(queue, packet);
		return SG_STEP_PROGRESS;
	case PACKET_WAITS:
		return SG_STEP_IDLE;
	case PACKET_STARTED:
		return SG_STEP_PROGRESS;
	default:
		sg_fault_report_packet(queue, packet,
				       (uint32_t)result); /* asks for no allocation */
		fail_queue(queue, (uint32_t)result);
		return SG_STEP_PROGRESS;
	}
}
