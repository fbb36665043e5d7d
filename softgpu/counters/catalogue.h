/*
 * catalogue: the hardware counters, as data.
 *
 * catalogue.txt is the one list; the build makes the enums of places (WS_C_SQ_WAVES, ...) and the table
 * below from it. A counter's place is its index among the counters of its block, so that an instance of
 * a block is an array of numbers.
 */
#ifndef WS_SOFTGPU_COUNTERS_CATALOGUE_H
#define WS_SOFTGPU_COUNTERS_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "catalogue_enum.h"

enum ws_per { WS_PER_DEVICE, WS_PER_SE, WS_PER_CU, WS_PER_CHANNEL };
enum ws_fidelity { WS_EXACT, WS_MODELLED, WS_UNSUPPORTED, WS_LEVEL_COUNTER };

struct ws_block_info {
	const char *name;
	enum ws_per per;
	uint32_t limit;               /* counters at once */
	uint32_t first, n;            /* its rows in ws_counters */
};

struct ws_counter_info {
	const char *name, *text;
	enum ws_block block;
	uint8_t targets;              /* 1 gfx908, 2 gfx90a */
	enum ws_fidelity fidelity;
	uint16_t place;
};

extern const struct ws_block_info ws_blocks[WS_N_BLOCKS];
extern const struct ws_counter_info ws_counters[];
extern const size_t ws_n_counters;

#endif
