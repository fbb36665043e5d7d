/*
 * image: the names of image instructions (the MIMG encoding of gfx9), for messages. The decoder refuses
 * them: textures and surfaces do not exist on the software GPU.
 */
#ifndef WS_SOFTGPU_ISA_IMAGE_H
#define WS_SOFTGPU_ISA_IMAGE_H

#include <stdint.h>

/* word: the first of the instruction. NULL: not an image instruction. */
const char *sg_isa_image_name(uint32_t word);

#endif
