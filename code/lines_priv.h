/*
 * lines_priv: what lines.c, inlined.c and host_units.c share: all flatten DWARF into sorted arrays.
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
struct code_inlined *code_inlined_create_of(Dwarf_Die *unit); /* of one */
void code_inlined_destroy(struct code_inlined *inlined);      /* NULL is fine */

/* The calls around @offset that were inlined, innermost first; how many were written. */
size_t code_inlined_at(const struct code_inlined *inlined, uint64_t offset,
		       struct code_place *out_callers, size_t max);

/* The same with what was called: the linkage name, or the name; NULL: not known. */
struct code_inlined_call {
	const char *function;
	struct code_place caller; /* NULL, 0: not known */
};
size_t code_inlined_calls(const struct code_inlined *inlined, uint64_t offset,
			  struct code_inlined_call *out_calls, size_t max);

#endif
