/*
 * board: this process's page of board_page.h.
 *
 * Threads  one at a time. Who updates the numbers sees to that.
 * Fork     a child must not write to it; its GPUs are the parent's.
 */
#ifndef WS_SOFTGPU_DEVICE_BOARD_H
#define WS_SOFTGPU_DEVICE_BOARD_H

#include <stdbool.h>

#include "softgpu/device/board_page.h"

/*
 * The page to update until the process ends. NULL: there is none, because the folder cannot be used; other
 * processes then do not see this one.
 */
struct sg_board_page *sg_board_open(const uint64_t *memory_bytes, uint32_t n_gpus);

/* From now on a kernel is running on the GPU, or none is any more. */
void sg_board_set_running(struct sg_board_page *page, uint32_t gpu, uint64_t now_ns, bool running);

/* --- what the pages of all processes say --- */

struct sg_board_use {
	uint64_t used_bytes;
	double recent, lasting; /* load, 0 to 1; see board_page.h */
	bool is_running;
	uint32_t n_queues;
};

/* Of one process: GPU number i is uses[i]. */
typedef void sg_board_process(void *ctx, uint32_t pid, const struct sg_board_use *uses,
			      uint32_t n_gpus);

/* Calls it for each process of this user that is running and has GPUs. */
void sg_board_each(sg_board_process *process, void *ctx);
/* The sum of them, for GPU numbers below n_gpus. */
void sg_board_sum(struct sg_board_use *out_uses, uint32_t n_gpus);

#endif
