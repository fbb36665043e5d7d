/*
 * format: the element formats of typed buffer accesses.
 *
 * A format is a data format (how many components of how many bits) and a number format (what the
 * bits mean). Components are numbered from the lowest bits on: x, y, z, w.
 */
#ifndef WS_SOFTGPU_EXEC_FORMAT_H
#define WS_SOFTGPU_EXEC_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
enum ws_num_format {
	WS_NUM_UNORM, WS_NUM_SNORM, WS_NUM_USCALED, WS_NUM_SSCALED, WS_NUM_UINT, WS_NUM_SINT,
	WS_NUM_SNORM_OGL, WS_NUM_FLOAT
};
/* clang-format on */

unsigned ws_format_bytes(unsigned dfmt); /* of an element; 0: no such format */
bool ws_format_is_int(unsigned nfmt);

/* Components that the format does not have become 0, and w 1. */
void ws_format_decode(unsigned dfmt, unsigned nfmt, const uint8_t *element, uint32_t out[4]);
/* Values that the format cannot hold are clamped; floats round to nearest even. */
void ws_format_encode(unsigned dfmt, unsigned nfmt, const uint32_t in[4], uint8_t *element);

/* Between a component's 32 bits and the 16 of the d16 instructions. */
uint16_t ws_format_to_d16(unsigned nfmt, uint32_t v);
uint32_t ws_format_from_d16(unsigned nfmt, uint16_t v);

#endif
