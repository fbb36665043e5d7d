/* PC samples of a counted dispatch, from the model's form to that of the service. */
#include <stdlib.h>

#include "softgpu/counting/counting_priv.h"

#define MAX_SAMPLES (16u << 20) /* of one dispatch */

static uint8_t inst_type(const struct sg_pc_sample *s)
{
	static const uint8_t types[SG_N_CLASSES] = {
		[SG_CLASS_VALU... SG_CLASS_CVT] = SOFTGPU_VALU,
		[SG_CLASS_MFMA_I8... SG_CLASS_MFMA_F6F4] = SOFTGPU_MATRIX,
		[SG_CLASS_SALU] = SOFTGPU_SALU,
		[SG_CLASS_BRANCH] = SOFTGPU_BRANCH,
		[SG_CLASS_CBRANCH] = SOFTGPU_BRANCH_NOT_TAKEN,
		[SG_CLASS_JUMP] = SOFTGPU_JUMP,
		[SG_CLASS_MESSAGE] = SOFTGPU_MESSAGE,
		[SG_CLASS_BARRIER] = SOFTGPU_AT_BARRIER,
		[SG_CLASS_END] = SOFTGPU_END,
		[SG_CLASS_MISC] = SOFTGPU_OTHER,
		[SG_CLASS_WAITCNT] = SOFTGPU_AT_WAITCNT,
		[SG_CLASS_NOP] = SOFTGPU_INTERNAL,
		[SG_CLASS_SLEEP] = SOFTGPU_AT_SLEEP,
		[SG_CLASS_INTERNAL] = SOFTGPU_INTERNAL,
		[SG_CLASS_SMEM] = SOFTGPU_SMEM,
		[SG_CLASS_VMEM] = SOFTGPU_VMEM,
		[SG_CLASS_FLAT] = SOFTGPU_FLAT,
		[SG_CLASS_LDS] = SOFTGPU_LDS,
		[SG_CLASS_GDS] = SOFTGPU_GDS,
	};

	if (s->insn_class == SG_CLASS_CBRANCH && s->taken)
		return SOFTGPU_BRANCH_TAKEN;
	return types[s->insn_class];
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
		.cu = s->cu,
		.simd = s->simd,
		.wave_slot = s->slot,
		.inst_type = inst_type(s),
		.stall = s->stall,
		.n_waves = s->waves,
	};
}
