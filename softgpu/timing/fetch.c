/*
 * fetch: follows a wave's path through the code, and fetches its blocks of 32 bytes.
 *
 * A SIMD's waves share one port to the instruction cache. It is as fast as the instructions of one wave, so
 * waves only wait for it when many issue in the same quad-cycle: s_nop and others that need no unit.
 */
#include "softgpu/timing/model_priv.h"

#define AHEAD 16 /* cycles that a fetch may queue and still be in time, besides its own */
#define SQ(name) w->set->sq[SG_C_##name]

/* Sets the page of the next instruction and classifies it. */
static bool settle(struct sg_cu *cu, struct sg_model_wave *w, uint64_t pc)
{
	struct sg_code_map *map = &cu->model->code;

	if (!w->page || pc - w->page->base >= 4 * SG_MAP_SLOTS)
		w->page = sg_code_map_page(map, pc);
	if (!w->page)
		return false;
	w->slot = (uint32_t)((pc - w->page->base) / 4);
	return w->page->inst[w->slot].dwords || sg_code_map_classify(map, w->page, w->slot);
}

/* Fetches the block of the next instruction. jumped: nothing has been fetched ahead. */
static void fetch(struct sg_cu *cu, struct sg_model_wave *w, bool jumped, uint64_t t)
{
	uint64_t pc = sg_model_pc(w), there, queued = sg_fetch_queue(cu, &cu->simd[w->simd], t);

	w->fetch_block = pc >> 5;
	there = sg_sqc_fetch(cu, w, pc, t);
	if (!jumped && there <= t + cu->model->hw->fetch) /* it was requested in time */
		there = t + (queued > AHEAD ? queued - AHEAD : 0);
	else if (there != SG_NEVER)
		there += queued;
	if (w->ready_at < there)
		w->stall = SG_STALL_FETCH;
	if (there == SG_NEVER) /* R: a miss counts as waiting for memory, not for issue */
		w->not_before = w->ready_at, w->ready_at = SG_NEVER, w->waits = true;
	else if (w->ready_at < there)
		w->ready_at = sg_quads_up(there);
}

bool sg_wave_follow(struct sg_cu *cu, struct sg_model_wave *w, uint64_t pc, uint64_t t)
{
	bool jumped = false;

	w->trace.reader.run--;
	while (!w->trace.reader.run) {
		if (w->trace.reader.op == SG_TRACE_JUMP) {
			/* forward, and not by a branch: instructions that VSKIP left out */
			if (w->trace.reader.jump > 0 && !(sg_wave_inst(w)->flags & SG_INSN_BRANCH))
				SQ(SQ_INSTS_VSKIPPED)++;
			pc += 4 * (uint64_t)w->trace.reader.jump;
			jumped = true;
		} else if (w->trace.reader.op == SG_TRACE_EXEC) {
			w->exec = w->trace.reader.exec;
			w->lanes = (uint32_t)__builtin_popcountll(w->exec);
		} else {
			return false; /* the end, but the instruction was not s_endpgm */
		}
		if (!sg_trace_next(&w->trace.reader))
			return false;
	}
	if (!settle(cu, w, pc))
		return false;
	if ((jumped || sg_model_pc(w) >> 5 != w->fetch_block) && w->ready_at != SG_NEVER)
		fetch(cu, w, jumped, t);
	else if (sg_model_pc(w) >> 5 !=
		 w->fetch_block) /* waits for something else: fetched meanwhile */
		w->fetch_block = sg_model_pc(w) >> 5, SQ(SQ_IFETCH)++, SQ(SQC_ICACHE_REQ)++,
		SQ(SQC_ICACHE_HITS)++, w->set->level[SG_C_SQ_IFETCH_LEVEL] += cu->model->hw->fetch,
		sg_fetch_queue(cu, &cu->simd[w->simd], t);
	return true;
}

bool sg_wave_begin(struct sg_cu *cu, struct sg_model_wave *w, uint64_t time)
{
	const struct sg_wave_trace *trace = &w->wg->traces->waves[w->index];

	sg_trace_read(&w->trace.reader, trace);
	w->exec = trace->exec;
	w->lanes = (uint32_t)__builtin_popcountll(w->exec);
	w->started = w->issued_at = w->ready_at = sg_quads_up(time);
	w->last_pc = 0;
	w->page = NULL;
	w->ending = w->waiting = w->waits = false;
	w->vm = w->lgkm = (struct sg_done_ring){ 0 };
	w->late.until = w->late.vector_until = w->late.n_added = 0;
	w->trace.lists.n_added = 0;
	if (!sg_trace_next(&w->trace.reader) || !w->trace.reader.run ||
	    !settle(cu, w, trace->entry))
		return false;
	fetch(cu, w, true, w->started);
	return true;
}
