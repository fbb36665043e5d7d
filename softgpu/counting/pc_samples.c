/*
 * PC samples of a counted dispatch, from the model's form to that of the service: the registers in which
 * hardware of gfx942 and gfx950 says what the sampled wave does. Earlier hardware has none of them;
 * their layout is the same for all models here.
 */
#include <stdlib.h>
#include <string.h>

#include "softgpu/counting/counting_priv.h"

#define MAX_SAMPLES (16u << 20) /* of one dispatch */

/* Values of the fields of SQ_PERF_SNAPSHOT_DATA, and bits of its state of the arbiter. */
enum {
	TYPE_VALU,
	TYPE_MATRIX,
	TYPE_SCALAR,
	TYPE_TEX,
	TYPE_LDS,
	TYPE_FLAT,
	TYPE_EXPORT,
	TYPE_MESSAGE,
	TYPE_BARRIER,
	TYPE_BRANCH_NOT_TAKEN,
	TYPE_BRANCH_TAKEN,
	TYPE_JUMP,
	TYPE_OTHER,
};
enum {
	REASON_NO_INSTRUCTION,
	REASON_ALU,
	REASON_WAITCNT,
	REASON_INTERNAL,
	REASON_BARRIER,
	REASON_NOT_WIN,
	REASON_EX_STALL,
	REASON_OTHER
};
enum { PIPE_MISC, PIPE_EXPORT, PIPE_FLAT, PIPE_LDS, PIPE_TEX, PIPE_SCALAR, PIPE_MATRIX, PIPE_VALU };

#define SNAPSHOT_VALID 1u
#define SNAPSHOT_ISSUED (1u << 1)
#define SNAPSHOT_TYPE_SHIFT 3
#define SNAPSHOT_REASON_SHIFT 7
#define SNAPSHOT_ARB_ISSUE_SHIFT 10
#define SNAPSHOT_ARB_STALL_SHIFT 18

/* s_sleep has no reason of its own: the field has three bits */
static const uint8_t reasons[] = {
	[SG_STALL_NOT_CHOSEN] = REASON_NOT_WIN, [SG_STALL_UNIT] = REASON_EX_STALL,
	[SG_STALL_WAITCNT] = REASON_WAITCNT,    [SG_STALL_BARRIER] = REASON_BARRIER,
	[SG_STALL_DEPENDENCY] = REASON_ALU,     [SG_STALL_FETCH] = REASON_NO_INSTRUCTION,
	[SG_STALL_QUEUE] = REASON_EX_STALL,     [SG_STALL_SLEEP] = REASON_OTHER,
};

/*
 * What a sample of gfx9 can say of each kind of instruction. The model is coarser than the
 * hardware's arbiter: a reason that hardware does not give for the kind becomes `else_reason`,
 * and a kind that is done before the arbiter is never issued.
 */
#define R(reason) (1u << REASON_##reason)
#define ARBITRATED (R(NO_INSTRUCTION) | R(NOT_WIN) | R(EX_STALL))
#define WITH_ALU (ARBITRATED | R(ALU))

/* clang-format off */
struct kind {
	uint8_t type, pipe;
	bool never_issued;
	uint8_t reasons; /* R()s */
	uint8_t else_reason;
};
static const struct kind kinds[SG_N_CLASSES] = {
	[SG_CLASS_VALU ... SG_CLASS_CVT]              = { TYPE_VALU,             PIPE_VALU,   false, ARBITRATED, REASON_EX_STALL },
	[SG_CLASS_MFMA_I8 ... SG_CLASS_MFMA_F6F4]     = { TYPE_MATRIX,           PIPE_MATRIX, false, ARBITRATED, REASON_EX_STALL },
	[SG_CLASS_SALU]                               = { TYPE_SCALAR,           PIPE_SCALAR, false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_SMEM]                               = { TYPE_SCALAR,           PIPE_SCALAR, false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_VMEM]                               = { TYPE_TEX,              PIPE_TEX,    false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_FLAT]                               = { TYPE_FLAT,             PIPE_FLAT,   false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_LDS]                                = { TYPE_LDS,              PIPE_LDS,    false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_GDS]                                = { TYPE_LDS,              PIPE_LDS,    false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_BRANCH]                             = { TYPE_BRANCH_TAKEN,     PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN), REASON_NOT_WIN },
	[SG_CLASS_CBRANCH]                            = { TYPE_BRANCH_NOT_TAKEN, PIPE_MISC,   false, WITH_ALU,   REASON_EX_STALL },
	[SG_CLASS_JUMP]                               = { TYPE_JUMP,             PIPE_MISC,   false, R(NO_INSTRUCTION), REASON_NO_INSTRUCTION },
	[SG_CLASS_MESSAGE]                            = { TYPE_MESSAGE,          PIPE_MISC,   false, R(NO_INSTRUCTION) | R(ALU), REASON_ALU },
	[SG_CLASS_BARRIER]                            = { TYPE_BARRIER,          PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN) | R(BARRIER), REASON_NOT_WIN },
	/* A wave that waits for its stores at the end has nothing left to issue. */
	[SG_CLASS_END]                                = { TYPE_SCALAR,           PIPE_SCALAR, false, ARBITRATED, REASON_NO_INSTRUCTION },
	[SG_CLASS_WAITCNT]                            = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(WAITCNT), REASON_WAITCNT },
	[SG_CLASS_NOP]                                = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(INTERNAL), REASON_INTERNAL },
	[SG_CLASS_INTERNAL]                           = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(INTERNAL), REASON_INTERNAL },
	[SG_CLASS_SLEEP]                              = { TYPE_OTHER,            PIPE_MISC,   true,  R(NO_INSTRUCTION) | R(OTHER), REASON_OTHER },
	[SG_CLASS_MISC]                               = { TYPE_OTHER,            PIPE_MISC,   false, R(NO_INSTRUCTION) | R(NOT_WIN), REASON_NOT_WIN },
};
/* clang-format on */

static uint32_t snapshot(const struct sg_pc_sample *s)
{
	const struct kind *kind = &kinds[s->insn_class];
	uint32_t pipe = 1u << kind->pipe, data = SNAPSHOT_VALID, reason;
	bool taken = s->insn_class == SG_CLASS_CBRANCH && s->taken;

	if (s->stall == SG_STALL_NONE && !kind->never_issued)
		return data | SNAPSHOT_ISSUED |
		       (taken ? TYPE_BRANCH_TAKEN : kind->type) << SNAPSHOT_TYPE_SHIFT |
		       pipe << SNAPSHOT_ARB_ISSUE_SHIFT;
	reason = s->stall < sizeof(reasons) ? reasons[s->stall] : REASON_OTHER;
	if (s->stall == SG_STALL_NONE || !(kind->reasons >> reason & 1))
		reason = kind->else_reason;
	data |= reason << SNAPSHOT_REASON_SHIFT | kind->type << SNAPSHOT_TYPE_SHIFT;
	/* Of the arbiter only what concerns the sampled wave is known. It issued to the pipe: another
	 * wave's instruction, or this one and it stalled. */
	if (reason == REASON_NOT_WIN || reason == REASON_EX_STALL)
		data |= pipe << SNAPSHOT_ARB_ISSUE_SHIFT;
	if (reason == REASON_EX_STALL)
		data |= pipe << SNAPSHOT_ARB_STALL_SHIFT;
	return data;
}

static uint32_t hw_id(const struct sg_pc_sample *s)
{
	return (s->slot & 0xfu) | (s->simd & 3u) << 4 | (s->cu & 0xfu) << 8 | (s->se & 7u) << 13;
}

void sg_counted_dispatch_sample(void *ctx, const struct sg_pc_sample *s)
{
	struct sg_counted_dispatch *run = ctx;

	if (run->n_samples == run->samples_room) {
		size_t room = run->samples_room ? 2 * run->samples_room : 1024;
		void *samples = room > MAX_SAMPLES
					? NULL
					: realloc(run->samples, room * sizeof(*run->samples));

		if (!samples)
			return;
		run->samples = samples;
		run->samples_room = room;
	}
	run->samples[run->n_samples++] = (struct softgpu_pc_sample){
		.cycle = s->cycle,
		.workgroup = s->wg * run->stride,
		.pc = s->pc,
		.exec = s->exec,
		.wave = s->wave,
		.hw_id = hw_id(s),
		.xcc_id = s->xcc,
		.snapshot = snapshot(s),
		.snapshot1 = s->waves & 0x3fu,
	};
}

struct softgpu_pc_sample *sg_counted_dispatch_trapped(const struct sg_counted_dispatch *run,
						      size_t *out_n, uint32_t *out_mhz)
{
	size_t n_bytes = run->n_samples * sizeof(*run->samples);
	struct softgpu_pc_sample *copy =
		run->is_trapped && run->n_done && n_bytes ? malloc(n_bytes) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, run->samples, n_bytes);
	*out_n = run->n_samples;
	*out_mhz = run->passes[0].mhz;
	return copy;
}
