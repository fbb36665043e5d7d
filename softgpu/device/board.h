/*
 * board: this process's page of board_page.h.
 *
 * Threads  one at a time. Who updates the numbers sees to that.
 * Fork     a child must not write to it; its GPUs are the parent's.
 */
#ifndef WS_SOFTGPU_DEVICE_BOARD_H
#define WS_SOFTGPU_DEVICE_BOARD_H

#include "softgpu/device/board_page.h"

/*
 * The page to update until the process ends. NULL: there is none, because the folder cannot be used; other
 * processes then do not see this one.
 */
struct sg_board_page *sg_board_open(const uint64_t *memory_bytes, uint32_t n_gpus);

#endif
