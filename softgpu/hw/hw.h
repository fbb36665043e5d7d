/*
 * hw: the parameters of the modelled chips.
 *
 * Everything the models know about a chip is in one row of hw.c, with the source of each number:
 * documented, recorded (on hardware), or fitted (chosen to reproduce the recordings).
 * Times of the memory side are in nanoseconds, because its clock is not the shader clock.
 *
 * A chip from MI300 on has several dies (XCC) with an L2 each. Engines, CUs, channels and sizes are those of one die.
 */
#ifndef WS_SOFTGPU_HW_HW_H
#define WS_SOFTGPU_HW_HW_H

#include <stdbool.h>
#include <stdint.h>

#include "softgpu/isa/isa.h"

#define SG_MAX_XCC 8
#define SG_MAX_SE 32    /* of all dies */
#define SG_MAX_GROUPS 8 /* scalar caches of a shader engine */
#define SG_MAX_SIMD_WAVES 10

struct sg_link_hw {
	uint32_t mb_s;                  /* each way, heads of packets included */
	uint32_t read_ns, write_ns;     /* until the answer, with nothing in the way */
	uint32_t read_head, write_head; /* bytes of a packet besides its data */
	bool posted;                    /* writes take no credits */
	bool per_operand;               /* an atomic is a packet for each dword */
};

struct sg_hw {
	const char *name;
	enum sg_isa_target target;

	/* shape */
	uint32_t n_xcc;
	uint32_t n_se, cus_per_se, n_groups; /* groups: CUs of an engine that share scalar caches */
	uint32_t n_missing; /* engines, from the last, whose last CU is not there */
	uint8_t group_cus[SG_MAX_GROUPS];
	uint32_t simd_waves, simd_vgprs, vgpr_granule, simd_sgprs, sgpr_granule;
	uint32_t trap_sgprs; /* of each wave, besides the kernel's own */
	uint32_t lds_bytes, lds_granule, lds_banks, barriers;
	uint32_t level_slots; /* a level counter looks at one CU slot of so many at a time */

	/* clocks */
	uint32_t sclk_mhz, cold_sclk_mhz; /* cold: the first dispatch of a kernel */
	uint32_t busy_mhz; /* while every vector or matrix unit works: power is limited */

	/* command processor and launcher, cycles */
	uint32_t cp_overhead; /* of GRBM_COUNT that is not GRBM_SPI_BUSY */
	uint32_t cp_l2_busy;  /* ... in which L2 has work, too */
	uint32_t cp_decode, cp_stall, cpc_tciu, cpf_tciu;
	uint32_t cpc_cane, cpc_sync;              /* of a die, for each dispatch */
	uint32_t cp_utcl1_stall[2], cpc_utcl2[2]; /* of later dispatches, of the first */
	uint32_t cpf_stall[2];                    /* on translation, likewise */
	uint32_t release_ns;  /* from the last wave's end to the end of the release */
	uint32_t wave_launch; /* cycles of a shader engine's launcher per wave */
	uint32_t ra_check;    /* cycles from one look at an engine's resources to the next */
	/* quarters of a check: a wave requests resources that are free for so long; first dispatch */
	uint32_t wave_request[2];
	uint32_t sgpr_init;      /* SPI_SWC_CSC_WR per wave */
	uint32_t l1_invalidates; /* counted per CU and dispatch */

	/* instruction fetch and scalar data */
	uint32_t fetch, branch; /* cycles: a fetch; a branch that is not taken */
	uint32_t fetch_16ths;   /* of a quad-cycle that a fetch occupies the SIMD's port */
	uint32_t icache_bytes, dcache_bytes, scalar_ways;
	uint32_t icache_ahead; /* lines requested in addition to the missing one */
	uint32_t scalar_hit;   /* cycles of a scalar load that hits */
	uint32_t
		scalar_waiting; /* duplicates counted per miss: its queue; what comes then waits in front of the cache */
	uint32_t scalar_queue; /* loads of a CU there; more do not issue */

	/* quad-cycles from the end of an instruction to the issue of one that reads its result */
	struct sg_wait_states {
		uint8_t matrix; /* a matrix instruction's, by what does not accumulate */
		uint8_t matrix_accumulator; /* ... by one that adds to some of these registers; to the same: 0 */
		uint8_t trans;              /* a transcendental one's, by vector instructions */
		uint8_t sgpr_vector; /* scalar registers that vector instructions write */
		uint8_t sgpr_scalar, sgpr_memory;
	} waits;

	/* LDS */
	uint32_t lds_latency, lds_16ths; /* 16ths: of a cycle that every bank serves once */

	/* vector memory */
	uint32_t ta_queue; /* instructions that wait for L1 */
	uint32_t ta_ahead; /* ... behind which the next one's address waits in the unit before */
	uint32_t l1_bytes, l1_ways, l1_line; /* line: what a miss requests, too, if it is 128 */
	uint32_t l1_hit, l1_16ths;           /* cycles; 16ths of a cycle per line looked up */
	uint32_t td_latency;
	uint32_t tcr_ps, tcw_ps; /* that a read, a write keeps the way to L2 */
	uint32_t l1_misses;      /* 64-byte reads in flight */
	uint32_t utcl1_pages, page_shift, utcl1_under_miss;
	uint32_t utcl2_ns, walk_ns;

	/* the way to L2 and back; `request` is also how far the models of CUs run ahead of L2 */
	uint32_t request, response;
	uint32_t
		merge_wait; /* MI200: cycles after which a pair of reads is not waited for; 0: no pairs */

	/* L2 */
	uint32_t n_channels, channel_shift, l2_bytes, l2_ways, l2_line;
	bool l2_hash;                 /* sets are chosen by upper bits of an address, too */
	uint32_t l2_latency, l2_fill; /* fill: from memory's answer to the line's */
	uint32_t l2_read_16ths, l2_write_16ths, l2_atomic_16ths; /* of a cycle per request */
	uint32_t write_age;     /* fills by which a written line is older than a read one */
	uint32_t l2_clean_ways; /* lines of a set beyond which a write has another written back */
	bool release_stalls; /* the write-back at the end of a kernel counts as waiting for memory */
	bool scalar_cached;  /* lines of uncached memory that scalar caches ask for are kept */

	/* memory; `n_memory` channels of it for each L2 channel, which all dies share (0: one) */
	uint32_t n_memory;
	bool read_128;           /* a whole line is one request */
	uint64_t mall_bytes;     /* Infinity Cache, in front of memory; 0: none */
	uint32_t mall_ns;        /* like read_ns, of what is there */
	uint32_t mall_scalar_ns; /* ... for scalar and instruction caches */
	uint32_t port_ps;        /* 64 bytes from or to an L2 channel; 0: memory is the limit */
	uint32_t read_ns, write_ns;
	uint32_t read_ps, write_ps; /* 64 bytes on one channel */
	uint32_t read_credit,
		write_credit; /* cycles of waiting for memory before a channel has no credits left */

	/* to the host and to peers; what topology calls a link is one or several of these */
	struct sg_link_hw pcie, xgmi;
	uint32_t credit_ns; /* that a request takes to be sent over a link */
};

extern const struct sg_hw sg_hw_mi210, sg_hw_mi250x, sg_hw_mi100;
extern const struct sg_hw sg_hw_mi300x, sg_hw_mi300a, sg_hw_mi325x, sg_hw_mi350x, sg_hw_mi355x;

static inline uint32_t sg_hw_n_engines(const struct sg_hw *hw) /* of all dies */
{
	return hw->n_xcc * hw->n_se;
}

static inline uint32_t sg_hw_n_channels(const struct sg_hw *hw)
{
	return hw->n_xcc * hw->n_channels;
}

#endif
