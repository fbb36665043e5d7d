/*
 * gpu_board: the memory in use of the software GPUs, over all processes of this user.
 *
 * Reads the pages of softgpu/device/board_page.h. Pages of processes that have ended, of other
 * versions, and damaged ones do not count.
 */
#ifndef WS_MODELS_GPU_BOARD_H
#define WS_MODELS_GPU_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Of GPU number i in out_bytes[i]; 0 where no process uses it. Returns the number of processes. */
size_t mdl_gpu_board_used(uint64_t *out_bytes, size_t n_gpus);

#endif
