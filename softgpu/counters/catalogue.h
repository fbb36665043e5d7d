/*
 * catalogue: the hardware counters, as data.
 *
 * catalogue.txt is the one list, exceptions.txt has what some targets do not support; the build makes the enums of places (SG_C_SQ_WAVES, ...) and the table
 * below from it. A counter's place is its index among the counters of its block, so that an instance of
 * a block is an array of numbers.
 */
#ifndef WS_SOFTGPU_COUNTERS_CATALOGUE_H
#define WS_SOFTGPU_COUNTERS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue_enum.h"
#include "softgpu/isa/isa.h"

enum sg_per { SG_PER_DEVICE, SG_PER_SE, SG_PER_CU, SG_PER_CHANNEL, SG_PER_ARBITER };
#define SG_DIE_ARBITERS 2u /* of a die, in front of its L2 */
enum sg_fidelity { SG_EXACT, SG_MODELLED, SG_UNSUPPORTED, SG_LEVEL_COUNTER };

struct sg_block_info {
	const char *name;
	enum sg_per per;
	uint32_t limit;    /* counters at once */
	uint32_t first, n; /* its rows in sg_counters */
};

struct sg_counter_info {
	const char *name, *text;
	enum sg_block block;
	uint8_t targets; /* bits of enum sg_isa_target */
	enum sg_fidelity fidelity;
	uint16_t place;
	uint8_t unsupported; /* bits of the targets that do not support it, of `targets` */
	const char *reason;  /* why not; "" where all do, or none does */
};

extern const struct sg_block_info sg_blocks[SG_N_BLOCKS];
extern const struct sg_counter_info sg_counters[];
extern const size_t sg_n_counters;

static inline bool sg_counter_is_supported(const struct sg_counter_info *counter,
					   enum sg_isa_target target)
{
	return counter->fidelity != SG_UNSUPPORTED && !(counter->unsupported & target);
}

/* The rule by which it is counted; or why it is not supported. */
static inline const char *sg_counter_text(const struct sg_counter_info *counter,
					  enum sg_isa_target target)
{
	return counter->unsupported & target ? counter->reason : counter->text;
}

#endif
