/*
 * scoreboard: results of a wave that are not there yet when its next instruction could issue.
 *
 * Nearly all results are: a vector instruction issues four cycles after the one before, which is how long that takes.
 * So the scoreboard holds the few that are late (enum sg_result), the newest eight of them; memory is waited for
 * by s_waitcnt instead. Where hardware relies on the compiler to separate two instructions, its s_nops and
 * the scoreboard wait at the same time.
 */
#ifndef WS_SOFTGPU_TIMING_SCOREBOARD_H
#define WS_SOFTGPU_TIMING_SCOREBOARD_H

#include "softgpu/hw/hw.h"
#include "softgpu/trace/timing_insn.h"

#define SG_MAX_LATE 8

struct sg_scoreboard {
	uint64_t until, vector_until; /* later, nothing is late; nothing for a vector instruction */
	uint32_t n_added;
	uint64_t issued[SG_MAX_LATE];
	const struct sg_timing_insn *writer[SG_MAX_LATE];
};

/* Sets how late the result is for each reader. */
void sg_scoreboard_classify(struct sg_timing_insn *inst, const struct sg_hw *hw);
/* The instruction, whose result is late, issued at t. */
void sg_scoreboard_add(struct sg_scoreboard *s, const struct sg_timing_insn *inst, uint64_t t);
/* When the instruction has its operands; t: they are there. */
uint64_t sg_scoreboard_ready(const struct sg_scoreboard *s, const struct sg_timing_insn *inst,
			     uint64_t t);

#endif
