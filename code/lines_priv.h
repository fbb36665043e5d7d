/*
 * lines_priv: what lines.c and inlined.c share: both flatten DWARF into sorted arrays.
 */
#ifndef WS_CODE_LINES_PRIV_H
#define WS_CODE_LINES_PRIV_H

#include "code/code.h"

#include <elfutils/libdw.h>

/* Room for one more in @array (a pointer to an array's pointer); false: no memory. */
bool ws_code_grow(void *array, size_t *cap, size_t n, size_t one);

/* Inlined calls of all units; NULL: no memory. File names are @dwarf's. */
struct ws_code_inlined;
struct ws_code_inlined *ws_code_inlined_create(Dwarf *dwarf);
void ws_code_inlined_destroy(struct ws_code_inlined *inlined); /* NULL is fine */

/* The calls around @offset that were inlined, innermost first; how many were written. */
size_t ws_code_inlined_at(const struct ws_code_inlined *inlined, uint64_t offset,
			  struct ws_code_place *out_callers, size_t max);

#endif
