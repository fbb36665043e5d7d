/*
 * code_map: instructions by address, classified once, and how often each was executed.
 *
 * Counters that follow from the instruction stream are linear in these numbers, so replaying an
 * instruction costs one increment, and the counters are summed up when the dispatch is over.
 */
#ifndef WS_SOFTGPU_TIMING_CODE_MAP_H
#define WS_SOFTGPU_TIMING_CODE_MAP_H

#include "softgpu/hw/hw.h"
#include "softgpu/mem/coalesce.h"
#include "softgpu/mem/lds.h"
#include "softgpu/timing/model.h"
#include "softgpu/trace/timing_insn.h"

#define SG_MAP_SLOTS 512 /* dwords of code per page */
#define SG_BLOCK_SLOTS 8 /* that are fetched together */

struct sg_map_page {
	uint64_t base; /* GPU address of slot 0 */
	struct sg_map_page *next;
	struct sg_lds_memo *lds[SG_MAP_SLOTS];     /* NULL: never used */
	struct sg_lines_memo *lines[SG_MAP_SLOTS]; /* likewise */
	struct sg_timing_insn inst[SG_MAP_SLOTS];
	/* by shader engine; then, by set of counters of engines in step (lockstep.c) */
	uint64_t count[2 * SG_MAX_SE][SG_MAP_SLOTS];
};

struct sg_code_map {
	struct sg_map_page *pages;
	uint32_t n_pages;
	uint64_t start, end; /* addresses: all pages are in between */
	const struct sg_model_dispatch *dispatch;
	const struct sg_hw *hw;
};

void sg_code_map_clear(struct sg_code_map *map); /* also frees */
/* The page of pc, NULL: out of memory. */
struct sg_map_page *sg_code_map_page(struct sg_code_map *map, uint64_t pc);
/* Classifies the slot. False: there is no such instruction. */
bool sg_code_map_classify(struct sg_code_map *map, struct sg_map_page *page, uint32_t slot);

#endif
