/*
 * lines: the source line of an instruction, from DWARF, by libdw. The library is loaded when the first line
 * is requested, so that the software GPU works without it.
 */
#ifndef WS_SOFTGPU_DEVICE_LINES_H
#define WS_SOFTGPU_DEVICE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * As file:line, and where the function was inlined, file:line -> file:line of the call.
 * elf: a whole code object; address: as it was linked. False: unknown, *out is unchanged.
 */
bool sg_lines_find(const void *elf, size_t n_bytes, uint64_t address, char *out, size_t size);

#endif
