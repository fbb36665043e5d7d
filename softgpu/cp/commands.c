/* PM4 command buffers of vendor packets: the memory, the code cache and the log that they reach. */
#include <string.h>

#include "softgpu/cp/cp_priv.h"
#include "softgpu/device/clock.h"
#include "softgpu/device/log.h"

static void *memory(void *ctx, uint64_t addr, uint64_t size)
{
	struct sg_queue *queue = ctx;

	return sg_cp_accessible(queue->cp, addr, size) ? sg_cp_pointer(queue->cp, addr) : NULL;
}

static void invalidate_code(void *ctx)
{
	struct sg_queue *queue = ctx;

	sg_code_cache_invalidate(queue->gpu->code_cache);
}

static void complain(void *ctx, bool is_error, const char *text)
{
	struct sg_queue *queue = ctx;

	sg_gpu_log(is_error ? SG_GPU_LOG_ERROR : SG_GPU_LOG_INFO, "node %u: %s", queue->gpu->node,
		   text);
}

enum sg_pm4_result sg_cp_pm4(struct sg_queue *queue, const union sg_aql_packet *packet)
{
	struct sg_pm4_world world = { .memory = memory,
				      .invalidate_code = invalidate_code,
				      .clock = sg_clock_device_ticks,
				      .complain = complain,
				      .ctx = queue };
	uint32_t words[SG_PM4_FIRST_WORDS];
	enum sg_pm4_result result;

	if (!queue->gpu->pm4) {
		invalidate_code(queue);
		return SG_PM4_DONE;
	}
	if (!queue->pm4.active) {
		memcpy(words, packet->pm4.words, sizeof(words));
		sg_pm4_begin(&queue->pm4, words);
	}
	result = sg_pm4_step(queue->gpu->pm4, &queue->pm4, &world);
	if (result == SG_PM4_DONE)
		sg_traps_commands_done(queue->gpu->traps);
	if (result == SG_PM4_FAULT)
		sg_gpu_log(SG_GPU_LOG_ERROR,
			   "node %u: PM4: memory at 0x%llx is not accessible: the queue stops",
			   queue->gpu->node, (unsigned long long)queue->pm4.fault_address);
	return result;
}
