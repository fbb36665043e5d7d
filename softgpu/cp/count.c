#include "softgpu/cp/count.h"

#include <stdlib.h>

#include "softgpu/counters/counting.h"
#include "softgpu/device/log.h"
#include "softgpu/timing/inst_isa.h"

#define NS_PER_TICK 10
#define RELEASE_SCOPE(header) ((header) >> 11 & 3)
#define SCOPE_SYSTEM 2

static bool instruction(void *ctx, uint64_t pc, struct ws_inst_source *out)
{
	const struct ws_queue *queue = ctx;
	bool gfx90a = queue->gpu->target == WS_GFX90A;
	uint32_t n = 0;
	struct ws_insn insn;

	/* an instruction has at most three words, and the last one of a page may be short */
	while (n < 3 && ws_cp_accessible(queue->cp, pc + 4 * n, 4))
		n++;
	if (!n || !ws_isa_decode(gfx90a ? WS_ISA_GFX90A : WS_ISA_GFX908, ws_cp_pointer(queue->cp, pc), n,
				 &insn))
		return false;
	*out = ws_inst_source_of(&insn, gfx90a);
	return true;
}

/* Which block an address is in changes rarely from one access to the next: remember the last one. */
static bool is_host(void *ctx, uint64_t addr)
{
	struct ws_queue *queue = ctx;
	const struct ws_cp_host *host = &queue->cp->host;

	if (!host->is_host)
		return false;
	if (addr - queue->block_start >= queue->block_size)
		queue->block_is_host = host->is_host(host->ctx, addr, &queue->block_start, &queue->block_size);
	return queue->block_is_host;
}

static void room(void *ctx)
{
	struct ws_queue *queue = ctx;

	ws_pool_kick(queue->cp->pool);
}

void ws_cp_count_begin(struct ws_queue *queue, const union ws_aql_packet *packet)
{
	const struct ws_launch *l = &queue->dispatch.launch;
	uint32_t sgprs = ((l->rsrc1 >> 6 & 0xf) + 1) * 8;
	struct ws_count_info info = {
		.queue = ws_cp_address(queue->cp, queue->desc.ring), .packet = l->dispatch_id,
		.kernel_object = l->kernel_object, .completion_signal = packet->dispatch.completion,
		.origin = l->mem->start, .instruction = instruction, .is_host = is_host, .room = room,
		.ctx = queue,
	};

	queue->dispatch.count = NULL;
	if (!ws_counting_wanted(queue->gpu->counting))
		return;
	info.shape = (struct ws_model_dispatch){
		.n_wgs = l->n_wgs, .waves_per_wg = l->n_waves_per_wg, .lds_bytes = l->lds_bytes,
		.vgprs = l->target == WS_GFX90A ? (l->n_vgprs + 3) / 4 * 4 + l->n_agprs : l->n_vgprs,
		.sgprs = sgprs < 16 ? 16 : sgprs,
		.system_release = RELEASE_SCOPE(packet->dispatch.header) == SCOPE_SYSTEM,
	};
	queue->block_size = 0;
	queue->dispatch.count = ws_counting_begin(queue->gpu->counting, &info);
	if (!queue->dispatch.count)
		ws_gpu_log(WS_GPU_LOG_ERROR, "no memory or thread to count a dispatch: it has no result");
}

uint64_t ws_cp_count_end(struct ws_queue *queue)
{
	struct ws_dispatch *d = &queue->dispatch;
	uint64_t duration_ns = 0;

	if (!d->count)
		return 0;
	if (d->failed || atomic_load(&d->n_done) != d->launch.n_wgs)
		ws_count_run_cancel(d->count);
	if (!ws_count_run_end(d->count, &duration_ns) && !d->failed && !atomic_load(&queue->dying))
		ws_gpu_log(WS_GPU_LOG_ERROR, "a dispatch could not be counted: it has no result");
	d->count = NULL;
	return (duration_ns + NS_PER_TICK - 1) / NS_PER_TICK;
}
