/*
 * l2_set: a set of lines of an L2 channel.
 *
 * What a look-up reads is one line of the host's cache, a byte for each way. A line number has more bits, so that a
 * look-up compares hashes of numbers first and the number itself where they are the same.
 *
 * The line with the smallest stamp goes first; a stamp counts fills of the set. A byte holds it because only the order
 * matters: sg_l2_renumber() makes room for later ones.
 */
#ifndef WS_SOFTGPU_MEM_L2_SET_H
#define WS_SOFTGPU_MEM_L2_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/mem/ways.h"

/* Of a line. VALID, WHOLE and PART have a bit for each half of 64 bytes: shift by the half. */
enum {
	SG_L2_VALID = 1 << 0, /* what memory has is there */
	SG_L2_WHOLE = 1 << 2, /* all bytes are to be written back */
	SG_L2_PART = 1 << 4,  /* some are, see sg_l2_rest */
	SG_L2_OTHER = 1 << 6, /* not cached memory of the GPU's own: see sg_l2_rest */
	SG_L2_DIRTY = 1 << 7, /* was written */
};

enum sg_l2_group {
	SG_L2_TOGETHER,
	SG_L2_APART,
	SG_L2_HALFWAY, /* together, but for a line that is about to be read */
};

struct sg_l2_set {
	uint8_t stamps[SG_L2_WAYS]; /* 0: empty */
	uint8_t hashes[SG_L2_WAYS];
	uint8_t states[SG_L2_WAYS];
	uint8_t clock; /* fills so far, see above */
	/* of the first set of a group; see tcc_chunk.h */
	uint8_t group;              /* enum sg_l2_group */
	uint8_t half_way, half_was; /* SG_L2_HALFWAY: see sg_l2_read_half() */
	uint8_t unused[12];
	uint64_t tags[SG_L2_WAYS]; /* line number in the channel + 1; 0: empty */
} __attribute__((aligned(64)));

/* What few lines need. */
struct sg_l2_rest {
	uint64_t bytes[2]; /* SG_L2_PART: which ones, by half */
	uint8_t route;     /* SG_L2_OTHER: enum sg_route */
	bool uncached;     /* ...: of memory that only scalar caches have copies of */
};

/* Stamps are at most SG_L2_CLOCK + `write_age`; sg_l2_renumber() leaves a clock of SG_L2_WAYS + 1. */
#define SG_L2_CLOCK 200
#define SG_L2_MAX_AGE 50

void sg_l2_renumber(struct sg_l2_set *set);

/* The lines of one chunk have the same hash, so that a burst computes it once: they are of different sets. */
static inline uint8_t sg_l2_hash(uint64_t number)
{
	return (uint8_t)((number >> 2) * 0x9e3779b97f4a7c15ull >> 56);
}

/* hash: sg_l2_hash(number), here and below. SG_L2_WAYS: it is not there. */
static inline __attribute__((always_inline)) uint32_t sg_l2_find(const struct sg_l2_set *set,
								 uint64_t number, uint8_t hash)
{
	uint32_t same = sg_ways_equal(set->hashes, hash);

	for (; same; same &= same - 1) {
		uint32_t way = (uint32_t)__builtin_ctz(same);

		if (way >= SG_L2_WAYS)
			__builtin_unreachable();
		if (set->tags[way] == number + 1)
			return way;
	}
	return SG_L2_WAYS;
}

/* Takes the way for a line of which nothing is there yet. */
static inline void sg_l2_allocate(struct sg_l2_set *set, uint32_t way, uint64_t number,
				  uint8_t hash, uint8_t state)
{
	set->tags[way] = number + 1;
	set->hashes[way] = hash;
	set->states[way] = state;
	if (set->clock == SG_L2_CLOCK)
		sg_l2_renumber(set);
	set->clock++;
}

static inline void sg_l2_forget(struct sg_l2_set *set, uint32_t way)
{
	set->tags[way] = 0;
	set->stamps[way] = 0;
	set->states[way] = 0;
}

#endif
