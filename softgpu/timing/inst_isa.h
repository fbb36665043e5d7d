/*
 * inst_isa: from a decoded instruction to what the models want to know of it.
 */
#ifndef WS_SOFTGPU_TIMING_INST_ISA_H
#define WS_SOFTGPU_TIMING_INST_ISA_H

#include "softgpu/isa/isa.h"
#include "softgpu/timing/inst.h"

static inline struct sg_inst_source sg_inst_source_of(const struct sg_decoded_insn *insn,
						      bool gfx90a)
{
	return (struct sg_inst_source){
		.mnemonic = insn->row->mnemonic,
		.gfx90a = gfx90a,
		.dwords = insn->n_dwords,
		.glc = insn->glc,
		.slc = insn->slc,
		.lds = insn->lds,
		.gds = insn->gds,
		.simm = (uint16_t)insn->simm,
		.offset0 = insn->offset0,
		.offset1 = insn->offset1,
	};
}

#endif
