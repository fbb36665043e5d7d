/*
 * const_pool: 64-lane arrays of the constants that vector instructions use.
 *
 * Each value is splatted once in the life of the process, so that a constant source costs a handler
 * no more than a register. An entry is the array of the low halves, that of the high halves, and two of zeros.
 *
 * Threads  any. Entries never move or change.
 */
#ifndef WS_SOFTGPU_EXEC_CONST_POOL_H
#define WS_SOFTGPU_EXEC_CONST_POOL_H

#include <stdint.h>

uint32_t *sg_const_pool(void);              /* base of all entries */
uint32_t sg_const_pool_get(uint64_t value); /* offset of the entry from the base, in dwords */

#endif
