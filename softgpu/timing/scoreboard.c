#include "softgpu/timing/scoreboard.h"

#include <stddef.h>

#define QUAD 4 /* cycles */

#define WAITS(member) (1 + (uint8_t)offsetof(struct sg_wait_states, member)) /* 0: not late */

static const uint8_t late_by[SG_N_RESULTS][SG_N_READERS] = {
	[SG_RESULT_TRANS] = { [SG_READER_VECTOR] = WAITS(trans), },
	[SG_RESULT_SCALAR] = { [SG_READER_VECTOR] = WAITS(sgpr_vector),
			       [SG_READER_SCALAR] = WAITS(sgpr_scalar),
			       [SG_READER_MEMORY] = WAITS(sgpr_memory), },
	[SG_RESULT_MATRIX] = { [SG_READER_VECTOR] = WAITS(matrix),
			       [SG_READER_MEMORY] = WAITS(matrix),
			       [SG_READER_ACCUMULATOR] = WAITS(matrix_accumulator), },
};

void sg_scoreboard_classify(struct sg_timing_insn *inst, const struct sg_hw *hw)
{
	uint8_t own = inst->matrix_passes ? inst->matrix_passes : inst->passes;

	for (unsigned r = 0; r < SG_N_READERS; r++) {
		uint8_t at = late_by[inst->result][r];
		uint8_t waits = at ? ((const uint8_t *)&hw->waits)[at - 1] : 0;

		inst->late[r] = waits ? (uint8_t)(own + waits) : 0;
		if (inst->late[r] > inst->late_most)
			inst->late_most = inst->late[r];
	}
}

void sg_scoreboard_add(struct sg_scoreboard *s, const struct sg_timing_insn *inst, uint64_t t)
{
	uint64_t until = t + QUAD * inst->late_most;
	uint64_t vector_until = t + QUAD * inst->late[SG_READER_VECTOR];

	s->issued[s->n_added % SG_MAX_LATE] = t;
	s->writer[s->n_added++ % SG_MAX_LATE] = inst;
	s->until = until > s->until ? until : s->until;
	s->vector_until = vector_until > s->vector_until ? vector_until : s->vector_until;
}

static bool is_read(const struct sg_timing_insn *reader, struct sg_reg_span span)
{
	for (unsigned k = 0; k < reader->n_reads; k++)
		if (sg_reg_overlap(reader->reads[k], span))
			return true;
	return false;
}

/* Quad-cycles from the issue of the writer to that of the reader. */
static uint32_t distance(const struct sg_timing_insn *writer, const struct sg_timing_insn *reader)
{
	const struct sg_reg_span *late = writer->late_regs;

	if (is_read(reader, late[0]) || is_read(reader, late[1]))
		return writer->late[reader->reader];
	if (writer->result != SG_RESULT_MATRIX)
		return 0;
	if (reader->matrix_passes) {
		const struct sg_reg_span *c = &reader->accumulator;

		if (c->first == late->first && c->n == late->n)
			return 0; /* the sum stays in the matrix unit */
		return sg_reg_overlap(*c, *late) ? writer->late[SG_READER_ACCUMULATOR] : 0;
	}
	/* it must not be overwritten before */
	return sg_reg_overlap(reader->vdst, *late) ? writer->late[reader->reader] : 0;
}

uint64_t sg_scoreboard_ready(const struct sg_scoreboard *s, const struct sg_timing_insn *inst,
			     uint64_t t)
{
	uint32_t n = s->n_added < SG_MAX_LATE ? s->n_added : SG_MAX_LATE;

	if (inst->reader == SG_READER_NONE)
		return t;
	for (uint32_t k = 0; k < n; k++) {
		uint64_t issued = s->issued[k], ready;

		if (issued + QUAD * s->writer[k]->late_most <= t)
			continue;
		ready = issued + QUAD * distance(s->writer[k], inst);
		t = ready > t ? ready : t;
	}
	return t;
}
