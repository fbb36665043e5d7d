/* Shared by the files of chips. */
#ifndef WS_SOFTGPU_HW_HW_PRIV_H
#define WS_SOFTGPU_HW_HW_PRIV_H

#include "softgpu/hw/hw.h"

/* clang-format off */
/*
 * 16 lanes, 128 of 130 bits (D): 31508 MB/s of generation 4, 63015 of generation 5. Of a packet, 4 bytes frame it,
 * 4 check it, 12 are the header of an answer and 16 that of a request with a long address (D).
 */
#define PCIE(megabytes_per_s, far_ns) \
	.pcie = { .mb_s = (megabytes_per_s), .read_head = 20, .write_head = 24, /* D */ \
		  .posted = true, .per_operand = true, /* D; published: writes and atomics count no stall */ \
		  .read_ns = (far_ns), .write_ns = 800 } /* F: scalar loads of arguments; a guess */
#define XGMI \
	.read_head = 20, .write_head = 20,    /* a guess: as answers on PCIe */ \
	.read_ns = 700, .write_ns = 500       /* a guess */
/* clang-format on */

#endif
