#include "collector/count/samples_record.h"

#include "collector/collector_priv.h"

#include <string.h>

#define BITS(word, first, n) ((word) >> (first) & ((1u << (n)) - 1))
#define SNAPSHOT_VALID(word) (BITS(word, 0, 1) && !BITS(word, 26, 1)) /* bit 26: error */

/* AMD's number in the record for each value of the register; what is not listed is 14, other. */
static const uint8_t types[16] = {
	1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 14, 14,
};

/* The record's bit for each bit of the register's state of the arbiter. */
static const uint8_t pipes[8] = {
	8, /* misc */
	7, /* export */
	6, /* flat */
	2, /* LDS */
	5, /* texture */
	4, /* scalar */
	1, /* matrix */
	0, /* VALU */
};

static uint16_t pipe_bits(uint32_t state)
{
	uint16_t bits = 0;

	for (unsigned i = 0; i < WS_ARRAY_LEN(pipes); i++)
		bits |= (uint16_t)(BITS(state, i, 1) << pipes[i]);
	return bits;
}

static void fill_snapshot(struct cap_rec_pc_sample *rec, const struct col_sample *s)
{
	rec->h.what = CAP_PC_STOCHASTIC;
	rec->wave_issued = (uint8_t)BITS(s->snapshot, 1, 1);
	rec->dual_issue_valu = (uint8_t)BITS(s->snapshot, 2, 1);
	rec->inst_type = types[BITS(s->snapshot, 3, 4)];
	if (!rec->wave_issued)
		rec->stall_reason = (uint8_t)(BITS(s->snapshot, 7, 3) + 1); /* 0: none */
	rec->arb_issue = pipe_bits(BITS(s->snapshot, 10, 8));
	rec->arb_stall = pipe_bits(BITS(s->snapshot, 18, 8));
	rec->wave_count = BITS(s->snapshot1, 0, 6);
}

void col_sample_fill(struct cap_rec_pc_sample *rec, const struct col_sample *s,
		     const struct cap_rec_dispatch *d, const struct cap_rec_code_object *code)
{
	memset(&rec->h + 1, 0, sizeof(*rec) - sizeof(rec->h));
	rec->h.time = s->time_ns;
	rec->offset = s->pc;
	if (code && s->pc - code->load_base < code->load_size) {
		rec->code_object = code->h.what;
		rec->offset = s->pc - (uint64_t)code->load_delta;
	}
	rec->exec_mask = s->exec;
	rec->dispatch_id = d->dispatch_id;
	rec->corr_id = d->corr_id;
	rec->external_id = d->external_id;
	memcpy(rec->workgroup, s->workgroup, sizeof(rec->workgroup));
	rec->agent = d->agent;
	rec->wave_in_group = (uint8_t)s->wave;
	rec->chiplet = (uint8_t)s->xcc_id;
	rec->wave_id = (uint8_t)BITS(s->hw_id, 0, 4);
	rec->simd_id = (uint8_t)BITS(s->hw_id, 4, 2);
	rec->pipe_id = (uint8_t)BITS(s->hw_id, 6, 2);
	rec->cu_or_wgp_id = (uint8_t)BITS(s->hw_id, 8, 4);
	rec->shader_array_id = (uint8_t)BITS(s->hw_id, 12, 1);
	rec->shader_engine_id = (uint8_t)BITS(s->hw_id, 13, 3);
	rec->hw_workgroup_id = (uint8_t)BITS(s->hw_id, 16, 4);
	rec->vm_id = (uint8_t)BITS(s->hw_id, 20, 4);
	rec->queue_id = (uint8_t)BITS(s->hw_id, 24, 3);
	rec->microengine_id = (uint8_t)BITS(s->hw_id, 30, 2);
	if (col_samples_domain() == CAP_DOMAIN_PC_SAMPLING_STOCHASTIC)
		fill_snapshot(rec, s);
}

enum cap_domain col_samples_domain(void)
{
	return col_asked(COL_SERVICE_PC_STOCHASTIC) ? CAP_DOMAIN_PC_SAMPLING_STOCHASTIC
						    : CAP_DOMAIN_PC_SAMPLING_HOST_TRAP;
}

bool col_sample_is_valid(const struct col_sample *sample)
{
	return col_samples_domain() != CAP_DOMAIN_PC_SAMPLING_STOCHASTIC ||
	       SNAPSHOT_VALID(sample->snapshot);
}

bool col_sample_write(const struct col_sample *sample, const struct cap_rec_dispatch *dispatch,
		      const struct cap_rec_code_object *code)
{
	struct col_thread *t = col_thread();
	struct cap_lane *lane = t ? col_thread_lane(t) : NULL;
	struct cap_rec_pc_sample *rec = lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

	if (!rec)
		return false;
	col_sample_fill(rec, sample, dispatch, code);
	cap_lane_commit(lane, &rec->h, CAP_REC_FIXED_TAG(PC_SAMPLE, struct cap_rec_pc_sample));
	return true;
}
