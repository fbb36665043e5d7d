/* mem_block: a block of memory, as far as the models care. */
#ifndef WS_SOFTGPU_MEM_MEM_BLOCK_H
#define WS_SOFTGPU_MEM_MEM_BLOCK_H

#include <stdint.h>

#include "softgpu/mem/kind.h"

struct sg_mem_block {
	uint64_t start, size; /* size 0: there is none */
	uint64_t pin_place;   /* sg_vm_info's */
	struct sg_memory_kind kind;
};

#endif
