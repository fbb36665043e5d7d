/*
 * lds: cycles of an LDS instruction: 32 banks of 4 bytes, one access per bank and cycle.
 *
 * 32 lanes of up to 4 bytes are served together, 16 of 8 bytes, 8 of 16: as many as 128 bytes a cycle
 * allow. Lanes that want the same dword share it; lanes that want different dwords of one bank take
 * turns, and the extra turns are the bank conflict.
 */
#ifndef WS_SOFTGPU_MEM_LDS_H
#define WS_SOFTGPU_MEM_LDS_H

#include "softgpu/timing/inst.h"
#include "softgpu/timing/wave_trace.h"

struct ws_lds_cost {
	uint32_t cycles;              /* all of them */
	uint32_t bank_conflict, addr_conflict, unaligned; /* the part of each */
	uint32_t violations;          /* lanes out of bounds */
};

struct ws_lds_cost ws_lds_cost(const struct ws_trace_access *in, const struct ws_tinst *inst,
			       uint32_t lds_bytes);

#endif
