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
enum sg_num_format {
	SG_NUM_UNORM, SG_NUM_SNORM, SG_NUM_USCALED, SG_NUM_SSCALED, SG_NUM_UINT, SG_NUM_SINT,
	SG_NUM_SNORM_OGL, SG_NUM_FLOAT
};
/* clang-format on */

unsigned sg_format_bytes(unsigned dfmt); /* of an element; 0: no such format */
bool sg_format_is_int(unsigned nfmt);

/* Components that the format does not have become 0, and w 1. */
void sg_format_decode(unsigned dfmt, unsigned nfmt, const uint8_t *element, uint32_t out[4]);
/* Values that the format cannot hold are clamped; floats round to nearest even. */
void sg_format_encode(unsigned dfmt, unsigned nfmt, const uint32_t in[4], uint8_t *element);

/* Between a component's 32 bits and the 16 of the d16 instructions. */
uint16_t sg_format_to_d16(unsigned nfmt, uint32_t v);
uint32_t sg_format_from_d16(unsigned nfmt, uint16_t v);

#endif
