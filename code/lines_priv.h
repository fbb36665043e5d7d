/*
 * lines_priv: what lines.c and inlined.c share: both flatten DWARF into sorted arrays.
 */
#ifndef WS_CODE_LINES_PRIV_H
#define WS_CODE_LINES_PRIV_H

#include "code/code.h"

#include <elfutils/libdw.h>

/* Room for one more in @array (a pointer to an array's pointer); false: no memory. */
bool code_grow(void *array, size_t *cap, size_t n, size_t one);

/* Inlined calls of all units; NULL: no memory. File names are @dwarf's. */
struct code_inlined;
struct code_inlined *code_inlined_create(Dwarf *dwarf);
void code_inlined_destroy(struct code_inlined *inlined); /* NULL is fine */

/* The calls around @offset that were inlined, innermost first; how many were written. */
size_t code_inlined_at(const struct code_inlined *inlined, uint64_t offset,
		       struct code_place *out_callers, size_t max);

#endif
