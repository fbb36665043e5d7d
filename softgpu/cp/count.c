#include "softgpu/cp/count.h"

#include <string.h>
#include <time.h>

#include "softgpu/counting/counting.h"
#include "softgpu/device/log.h"
#include "softgpu/exec/undo.h"
#include "softgpu/isa/isa.h"
#include "softgpu/mem/guard.h"

#define NS_PER_TICK 10
#define RELEASE_SCOPE(header) ((header) >> 11 & 3)
#define SCOPE_SYSTEM 2

#define MAX_UNDO_BYTES (4ull << 30)
/* A run that takes so much longer than the first one waits for something that came only once. */
#define LOST_AFTER(n_first) (16 * (n_first) + 100000)

static bool instruction(void *ctx, uint64_t pc, struct sg_decoded_insn *out)
{
	const struct sg_queue *queue = ctx;
	uint32_t n = 0;

	/* the last instruction of a page may be short */
	while (n < SG_ISA_MAX_WORDS && sg_cp_accessible(queue->cp, pc + 4 * n, 4))
		n++;
	return n && sg_isa_decode(queue->gpu->target, sg_cp_pointer(queue->cp, pc), n, out);
}

static void find_block(void *ctx, uint64_t addr, struct sg_mem_block *out)
{
	const struct sg_queue *queue = ctx;
	const struct sg_cp_host *host = &queue->cp->host;

	host->find_block(host->ctx, queue->gpu->node, addr, out);
}

static void room(void *ctx)
{
	struct sg_queue *queue = ctx;

	sg_pool_kick(queue->cp->pool);
}

void sg_cp_count_begin(struct sg_queue *queue, const union sg_aql_packet *packet)
{
	struct sg_launch *l = &queue->dispatch.launch;
	uint32_t sgprs = ((l->rsrc1 >> 6 & 0xf) + 1) * 8;
	struct sg_count_info info = {
		.dispatch = { .queue = sg_cp_address(queue->cp, queue->desc.ring),
			      .packet = l->dispatch_id,
			      .kernel_object = l->kernel_object,
			      .completion_signal = packet->dispatch.completion },
		.origin = l->mem->start,
		.extent = l->mem->end - l->mem->start,
		.instruction = instruction,
		.find_block = queue->cp->host.find_block ? find_block : NULL,
		.room = room,
		.ctx = queue,
	};

	queue->dispatch.count = NULL;
	queue->dispatch.stride = 1;
	queue->dispatch.n_wgs = l->n_wgs;
	if (!sg_counting_wanted(queue->gpu->counting))
		return;
	for (int i = 0; i < 3; i++) {
		info.dispatch.grid[i] = l->grid_size[i];
		info.dispatch.workgroup[i] = l->wg_size[i];
	}
	info.shape = (struct sg_model_dispatch){
		.n_wgs = l->n_wgs,
		.waves_per_wg = l->n_waves_per_wg,
		.lds_bytes = l->lds_bytes,
		.scratch_wave_bytes = l->scratch_wave_bytes,
		/* the queue's register says it of each die */
		.scratch_waves =
			l->private_bytes ? l->n_scratch_waves * (l->n_xccs ? l->n_xccs : 1) : 0,
		.vgprs = l->target >= SG_ISA_GFX90A ? (l->n_vgprs + 3) / 4 * 4 + l->n_agprs
						    : l->n_vgprs,
		.sgprs = sgprs < 16 ? 16 : sgprs,
		.system_release = RELEASE_SCOPE(packet->dispatch.header) == SCOPE_SYSTEM,
	};
	queue->n_passes = 0;
	if (!sg_counting_begin(queue->gpu->counting, &info, &queue->dispatch.count))
		sg_gpu_log(SG_GPU_LOG_ERROR, "cannot count a dispatch: out of memory or threads; "
					     "it has no counter values");
	if (queue->dispatch.count &&
	    !queue->gws) { /* a grid that synchronises needs all of itself */
		queue->dispatch.stride = sg_counted_dispatch_stride(queue->dispatch.count);
		queue->dispatch.n_wgs =
			(l->n_wgs + queue->dispatch.stride - 1) / queue->dispatch.stride;
	}
	/* without it the kernel runs once, and that counts for all sets */
	if (queue->dispatch.count && sg_counted_dispatch_n_passes(queue->dispatch.count) > 1)
		l->undo = sg_undo_create(MAX_UNDO_BYTES);
}

/* ---- kernel replay: run, put memory back, run again ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void restore(struct sg_undo *undo)
{
	sg_undo_restore(undo);
}

static void redo(struct sg_undo *undo)
{
	sg_undo_redo(undo);
}

static void keep(struct sg_undo *undo)
{
	sg_undo_keep(undo);
}

/* Does something to the memory that the kernel wrote. False: some of it is gone. */
static bool touch(struct sg_queue *queue, void (*what)(struct sg_undo *undo))
{
	const struct sg_cp_host *host = &queue->cp->host;
	volatile bool all = true;

	if (host->enter)
		host->enter(host->ctx);
	if (sigsetjmp(sg_guard_enter(), 0) == 0)
		what(queue->dispatch.launch.undo);
	else
		all = false;
	sg_guard_leave();
	if (host->leave)
		host->leave(host->ctx);
	return all;
}

/*
 * May the kernel be run again after its first run? Not if it sent an interrupt to the host: a printf would
 * print twice, and what the host did in answer cannot be put back.
 */
static bool may_replay(struct sg_queue *queue)
{
	struct sg_launch *l = &queue->dispatch.launch;

	if (!l->undo || atomic_load(&l->sent_interrupt) || sg_undo_lost(l->undo))
		return false;
	queue->pass_instructions = LOST_AFTER(atomic_load(&l->n_instructions));
	queue->replay_from_ns = now_ns();
	return touch(queue, keep) && !sg_undo_lost(l->undo);
}

/* A pass has ended. True: memory and model are ready for another one. */
static bool next_pass(struct sg_queue *queue, bool counted)
{
	struct sg_dispatch *d = &queue->dispatch;
	uint32_t n = ++queue->n_passes, n_wanted = sg_counted_dispatch_n_passes(d->count);
	bool more = counted && n < n_wanted && !atomic_load(&queue->dying) &&
		    !sg_undo_lost(d->launch.undo);

	if (n == 1 && (n_wanted == 1 || !counted || !may_replay(queue)))
		return false;
	if (more) /* of all passes together, those before with it */
		d->launch.max_instructions =
			atomic_load(&d->launch.n_instructions) + queue->pass_instructions;
	if (more && touch(queue, restore) && sg_counted_dispatch_again(d->count))
		return true;
	if (n == 1 || !counted ||
	    n < n_wanted) { /* abandoned: memory gets the result of the first run */
		touch(queue, redo);
		d->failed = false;
	}
	sg_counted_dispatch_cost(d->count, sg_undo_n_bytes(d->launch.undo),
				 now_ns() - queue->replay_from_ns);
	return false;
}

static bool is_whole(struct sg_dispatch *d)
{
	return !d->failed && atomic_load(&d->n_done) == d->n_wgs;
}

static void say_why_not(const struct sg_queue *queue, bool too_long)
{
	static atomic_bool said;

	if (!too_long)
		sg_gpu_log(SG_GPU_LOG_ERROR, "cannot count a dispatch: it has no counter values");
	else if (!atomic_exchange(&said, true))
		sg_gpu_log(
			SG_GPU_LOG_ERROR,
			"kernel 0x%llx waited in a loop for the host or for another GPU: no time "
			"is simulated for it or others like it, they have the host's time",
			(unsigned long long)queue->dispatch.launch.kernel_object);
}

bool sg_cp_count_end(struct sg_queue *queue, uint64_t *duration)
{
	struct sg_dispatch *d = &queue->dispatch;
	uint64_t duration_ns = 0;
	bool too_long;

	*duration = 0;
	if (!d->count)
		return false;
	if (!is_whole(d))
		sg_counted_dispatch_cancel(d->count);
	if (next_pass(queue, sg_counted_dispatch_pass(d->count)))
		return true;
	too_long = sg_counted_dispatch_too_long(d->count);
	if (queue->gpu->traps && is_whole(d))
		queue->trapped.samples = sg_counted_dispatch_trapped(d->count, &queue->trapped.n,
								     &queue->trapped.mhz);
	if (!sg_counted_dispatch_end(d->count, &duration_ns) && !d->failed &&
	    !atomic_load(&queue->dying))
		say_why_not(queue, too_long);
	d->count = NULL;
	sg_undo_destroy(d->launch.undo);
	d->launch.undo = NULL;
	*duration = (duration_ns + NS_PER_TICK - 1) / NS_PER_TICK;
	return false;
}
