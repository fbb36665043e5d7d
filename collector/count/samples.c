#include "collector/count/samples.h"

#include "collector/collector_priv.h"
#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define AT_ONCE 256u

static struct {
	int (*sample)(uint32_t, uint64_t);
	size_t (*read)(uint32_t, uint64_t, uint64_t, struct softgpu_pc_sample *, size_t);
} service;

/* AMD's numbers, and the pipes' bits in the arbiter's state. */
enum {
	TYPE_VALU = 1,
	TYPE_MATRIX,
	TYPE_SCALAR,
	TYPE_TEX,
	TYPE_LDS,
	TYPE_FLAT = 7,
	TYPE_MESSAGE = 9,
	TYPE_BARRIER,
	TYPE_BRANCH_NOT_TAKEN,
	TYPE_BRANCH_TAKEN,
	TYPE_JUMP,
	TYPE_OTHER,
};
enum {
	PIPE_VALU,
	PIPE_MATRIX,
	PIPE_LDS,
	PIPE_LDS_DIRECT,
	PIPE_SCALAR,
	PIPE_TEX,
	PIPE_FLAT,
	PIPE_EXP,
	PIPE_MISC,
	PIPE_BRANCH /* gfx9 has none: branches go through MISC */
};
enum {
	REASON_NONE,
	REASON_NO_INSTRUCTION,
	REASON_ALU,
	REASON_WAITCNT,
	REASON_INTERNAL,
	REASON_BARRIER,
	REASON_NOT_WIN,
	REASON_EX_STALL,
	REASON_OTHER,
	REASON_SLEEP
};

static const uint8_t reasons[] = {
	[SOFTGPU_ISSUED] = REASON_NONE,         [SOFTGPU_NOT_CHOSEN] = REASON_NOT_WIN,
	[SOFTGPU_UNIT_BUSY] = REASON_EX_STALL,  [SOFTGPU_WAITCNT] = REASON_WAITCNT,
	[SOFTGPU_BARRIER] = REASON_BARRIER,     [SOFTGPU_NO_INSTRUCTION] = REASON_NO_INSTRUCTION,
	[SOFTGPU_QUEUE_FULL] = REASON_EX_STALL, [SOFTGPU_SLEEP] = REASON_SLEEP,
};

/*
 * What a sample of gfx9 can say of each kind of instruction. The model is coarser than the
 * hardware's arbiter: a reason that hardware does not give for the kind becomes `else_reason`,
 * and a kind that is done before the arbiter is never issued.
 */
#define R(reason) (1u << REASON_##reason)
#define ARBITRATED (R(NO_INSTRUCTION) | R(NOT_WIN) | R(EX_STALL))

/* clang-format off */
static const struct kind {
	uint8_t type, pipe;
	bool never_issued;
	uint16_t reasons; /* R()s */
	uint8_t else_reason;
} kinds[] = {
	[SOFTGPU_VALU]             = { TYPE_VALU,             PIPE_VALU,   false, ARBITRATED,               REASON_EX_STALL },
	[SOFTGPU_MATRIX]           = { TYPE_MATRIX,           PIPE_MATRIX, false, ARBITRATED,               REASON_EX_STALL },
	[SOFTGPU_SALU]             = { TYPE_SCALAR,           PIPE_SCALAR, false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_SMEM]             = { TYPE_SCALAR,           PIPE_SCALAR, false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_VMEM]             = { TYPE_TEX,              PIPE_TEX,    false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_FLAT]             = { TYPE_FLAT,             PIPE_FLAT,   false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_LDS]              = { TYPE_LDS,              PIPE_LDS,    false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_GDS]              = { TYPE_LDS,              PIPE_LDS,    false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_BRANCH]           = { TYPE_BRANCH_TAKEN,     PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN), REASON_NOT_WIN },
	[SOFTGPU_BRANCH_TAKEN]     = { TYPE_BRANCH_TAKEN,     PIPE_MISC,   false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_BRANCH_NOT_TAKEN] = { TYPE_BRANCH_NOT_TAKEN, PIPE_MISC,   false, ARBITRATED | R(ALU),      REASON_EX_STALL },
	[SOFTGPU_JUMP]             = { TYPE_JUMP,             PIPE_MISC,   false, R(NO_INSTRUCTION),        REASON_NO_INSTRUCTION },
	[SOFTGPU_MESSAGE]          = { TYPE_MESSAGE,          PIPE_MISC,   false, R(NO_INSTRUCTION) | R(ALU), REASON_ALU },
	[SOFTGPU_AT_BARRIER]       = { TYPE_BARRIER,          PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN) | R(BARRIER), REASON_NOT_WIN },
	/* A wave that waits for its stores at the end has nothing left to issue. */
	[SOFTGPU_END]              = { TYPE_SCALAR,           PIPE_SCALAR, false, ARBITRATED,               REASON_NO_INSTRUCTION },
	[SOFTGPU_AT_WAITCNT]       = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(WAITCNT), REASON_WAITCNT },
	[SOFTGPU_INTERNAL]         = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(INTERNAL), REASON_INTERNAL },
	[SOFTGPU_AT_SLEEP]         = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(SLEEP), REASON_SLEEP },
	[SOFTGPU_OTHER]            = { TYPE_OTHER,            PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN), REASON_NOT_WIN },
};
/* clang-format on */

static void fill_snapshot(struct cap_rec_pc_sample *rec, const struct softgpu_pc_sample *s)
{
	const struct kind *kind =
		&kinds[s->inst_type < WS_ARRAY_LEN(kinds) ? s->inst_type : SOFTGPU_OTHER];
	uint16_t pipe = (uint16_t)(1u << kind->pipe);

	rec->wave_issued = s->stall == SOFTGPU_ISSUED && !kind->never_issued;
	rec->inst_type = kind->type;
	rec->wave_count = s->n_waves;
	/* Of the arbiter only what concerns the sampled wave is known. */
	if (rec->wave_issued) {
		rec->arb_issue = pipe;
		return;
	}
	rec->stall_reason = s->stall < WS_ARRAY_LEN(reasons) ? reasons[s->stall] : REASON_OTHER;
	if (!(kind->reasons >> rec->stall_reason & 1))
		rec->stall_reason = kind->else_reason;
	/* The arbiter issued to the pipe: another wave's instruction, or this one and it stalled. */
	if (rec->stall_reason == REASON_NOT_WIN || rec->stall_reason == REASON_EX_STALL)
		rec->arb_issue = pipe;
	if (rec->stall_reason == REASON_EX_STALL)
		rec->arb_stall = pipe;
}

bool col_samples_asked(void)
{
	return col_config()->pc_interval &&
	       (col_asked(COL_SERVICE_PC_HOST_TRAP) || col_asked(COL_SERVICE_PC_STOCHASTIC));
}

static enum cap_domain domain(void)
{
	return col_asked(COL_SERVICE_PC_STOCHASTIC) ? CAP_DOMAIN_PC_SAMPLING_STOCHASTIC
						    : CAP_DOMAIN_PC_SAMPLING_HOST_TRAP;
}

void col_samples_find(void *library)
{
	*(void **)&service.sample = dlsym(library, "softgpu_pc_sampling");
	*(void **)&service.read = dlsym(library, "softgpu_pc_samples");
}

void col_samples_start(uint32_t node, uint32_t agent)
{
	uint64_t interval = col_config()->pc_interval;
	char text[128];

	if (!col_samples_asked())
		return;
	if (domain() == CAP_DOMAIN_PC_SAMPLING_HOST_TRAP) /* microseconds */
		interval *= col_agent_facts(agent)->max_engine_clk_fcompute;
	if (service.sample && service.read && service.sample(node, interval) == 0)
		return;
	snprintf(text, sizeof(text), "PC sampling: not supported on agent %u", agent);
	col_note(text);
}

void col_samples_stop(uint32_t node)
{
	if (service.sample)
		service.sample(node, 0);
}

static void fill(struct cap_rec_pc_sample *rec, const struct softgpu_pc_sample *s,
		 const struct softgpu_result *result, const struct cap_rec_dispatch *d,
		 const struct cap_rec_code_object *code)
{
	uint32_t groups[2], cus = col_agent_facts(d->agent)->cu_per_engine;

	for (unsigned i = 0; i < 2; i++)
		groups[i] =
			d->workgroup[i] ? (d->grid[i] + d->workgroup[i] - 1) / d->workgroup[i] : 1;
	rec->h.time = d->h.time + (result->clock_mhz ? s->cycle * 1000 / result->clock_mhz : 0);
	/* The model rounds the end of a dispatch to whole nanoseconds. */
	if (rec->h.time > d->end_ns)
		rec->h.time = d->end_ns;
	rec->offset = s->pc;
	if (code && s->pc - code->load_base < code->load_size) {
		rec->code_object = code->h.what;
		rec->offset = s->pc - (uint64_t)code->load_delta;
	}
	rec->exec_mask = s->exec;
	rec->dispatch_id = d->dispatch_id;
	rec->corr_id = d->corr_id;
	rec->external_id = d->external_id;
	rec->workgroup[0] = (uint32_t)(s->workgroup % groups[0]);
	rec->workgroup[1] = (uint32_t)(s->workgroup / groups[0] % groups[1]);
	rec->workgroup[2] = (uint32_t)(s->workgroup / groups[0] / groups[1]);
	rec->agent = d->agent;
	rec->wave_in_group = (uint8_t)s->wave;
	rec->wave_id = s->wave_slot;
	rec->simd_id = (uint8_t)s->simd;
	rec->cu_or_wgp_id = (uint8_t)(cus ? s->cu % cus : s->cu);
	rec->shader_engine_id = (uint8_t)(cus ? s->cu / cus : 0);
	if (domain() == CAP_DOMAIN_PC_SAMPLING_STOCHASTIC) {
		rec->h.what = CAP_PC_STOCHASTIC;
		fill_snapshot(rec, s);
	}
}

void col_samples_write(uint32_t node, const struct softgpu_result *result,
		       const struct cap_rec_dispatch *dispatch)
{
	struct softgpu_pc_sample samples[AT_ONCE];
	struct cap_writer *writer = col_capture_now();
	struct cap_rec_code_object code;
	bool has_code = col_code_of_kernel(dispatch->h.what, &code);
	struct col_thread *t = col_thread();
	uint64_t first = 0, n_lost = 0;
	size_t n;

	if (!result->n_pc_samples || !service.read || !t || !writer)
		return;
	while ((n = service.read(node, result->sequence, first, samples, AT_ONCE))) {
		for (size_t i = 0; i < n; i++) {
			struct cap_lane *lane = col_thread_lane(t);
			struct cap_rec_pc_sample *rec =
				lane ? cap_lane_reserve(&lane, sizeof(*rec)) : NULL;

			if (!rec) {
				n_lost++;
				continue;
			}
			memset(&rec->h + 1, 0, sizeof(*rec) - sizeof(rec->h));
			fill(rec, &samples[i], result, dispatch, has_code ? &code : NULL);
			cap_lane_commit(lane, &rec->h,
					CAP_REC_FIXED_TAG(PC_SAMPLE, struct cap_rec_pc_sample));
		}
		first += n;
	}
	if (n_lost)
		cap_writer_count(writer, domain(), CAP_LEDGER_DROPPED, n_lost);
}
