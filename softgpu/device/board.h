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
 * The numbers to update, one per GPU, until the process ends. NULL: there is no page, because the folder
 * cannot be used; other processes then do not see this one.
 */
_Atomic uint64_t *sg_board_open(const uint64_t *memory_bytes, uint32_t n_gpus);

#endif
