/* mem_block: what the models know about a block of memory. */
#ifndef WS_SOFTGPU_MEM_MEM_BLOCK_H
#define WS_SOFTGPU_MEM_MEM_BLOCK_H

#include <stdint.h>

#include "softgpu/mem/kind.h"

struct sg_mem_block {
	uint64_t start, size; /* size 0: there is none */
	uint64_t pin_place;   /* as in struct sg_vm_info */
	struct sg_memory_kind kind;
};

#endif
