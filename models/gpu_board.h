/*
 * gpu_board: the memory in use and the load of the software GPUs, over all processes of this user.
 *
 * Reads the pages of softgpu/device/board_page.h. Pages of processes that have ended, of other
 * versions, and damaged ones do not count.
 */
#ifndef WS_MODELS_GPU_BOARD_H
#define WS_MODELS_GPU_BOARD_H

#include <stddef.h>
#include <stdint.h>

struct mdl_gpu_use {
	uint64_t used_bytes;
	uint64_t busy_ns; /* of the processes that are running, until now: the sum of their times */
};

/* Of GPU number i in out_uses[i]; 0 where no process uses it. Returns the number of processes. */
size_t mdl_gpu_board_read(struct mdl_gpu_use *out_uses, size_t n_gpus);

#endif
