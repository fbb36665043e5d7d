/*
 * insn_counts: what SQ counts of each instruction, from how often it was executed.
 */
#include "softgpu/timing/model_priv.h"

#define SQ(name) sq[SG_C_##name]

static const uint16_t class_counter[SG_CLASS_MFMA_F6F4 + 1] = {
	[SG_CLASS_ADD_F16] = SG_C_SQ_INSTS_VALU_ADD_F16,
	[SG_CLASS_MUL_F16] = SG_C_SQ_INSTS_VALU_MUL_F16,
	[SG_CLASS_FMA_F16] = SG_C_SQ_INSTS_VALU_FMA_F16,
	[SG_CLASS_TRANS_F16] = SG_C_SQ_INSTS_VALU_TRANS_F16,
	[SG_CLASS_ADD_F32] = SG_C_SQ_INSTS_VALU_ADD_F32,
	[SG_CLASS_MUL_F32] = SG_C_SQ_INSTS_VALU_MUL_F32,
	[SG_CLASS_FMA_F32] = SG_C_SQ_INSTS_VALU_FMA_F32,
	[SG_CLASS_TRANS_F32] = SG_C_SQ_INSTS_VALU_TRANS_F32,
	[SG_CLASS_ADD_F64] = SG_C_SQ_INSTS_VALU_ADD_F64,
	[SG_CLASS_MUL_F64] = SG_C_SQ_INSTS_VALU_MUL_F64,
	[SG_CLASS_FMA_F64] = SG_C_SQ_INSTS_VALU_FMA_F64,
	[SG_CLASS_TRANS_F64] = SG_C_SQ_INSTS_VALU_TRANS_F64,
	[SG_CLASS_INT32] = SG_C_SQ_INSTS_VALU_INT32,
	[SG_CLASS_INT64] = SG_C_SQ_INSTS_VALU_INT64,
	[SG_CLASS_CVT] = SG_C_SQ_INSTS_VALU_CVT,
	[SG_CLASS_MFMA_I8] = SG_C_SQ_INSTS_VALU_MFMA_I8,
	[SG_CLASS_MFMA_F16] = SG_C_SQ_INSTS_VALU_MFMA_F16,
	[SG_CLASS_MFMA_BF16] = SG_C_SQ_INSTS_VALU_MFMA_BF16,
	[SG_CLASS_MFMA_F32] = SG_C_SQ_INSTS_VALU_MFMA_F32,
	[SG_CLASS_MFMA_F64] = SG_C_SQ_INSTS_VALU_MFMA_F64,
	[SG_CLASS_MFMA_XF32] = SG_C_SQ_INSTS_VALU_MFMA_XF32,
	[SG_CLASS_MFMA_F8] = SG_C_SQ_INSTS_VALU_MFMA_F8,
	[SG_CLASS_MFMA_F6F4] = SG_C_SQ_INSTS_VALU_MFMA_F6F4,
};

static void count_vector(uint64_t *sq, const struct sg_timing_insn *i, uint64_t n)
{
	SQ(SQ_INSTS_VALU) += n;
	SQ(SQ_ACTIVE_INST_VALU) += n * i->passes;
	if (!i->matrix_passes) {
		if (i->insn_class != SG_CLASS_VALU)
			sq[class_counter[i->insn_class]] += n * i->weight;
		return;
	}
	SQ(SQ_INSTS_MFMA) += n;
	SQ(SQ_VALU_MFMA_BUSY_CYCLES) += n * 4 * i->matrix_passes;
	sq[class_counter[i->insn_class]] += n;
	/* the counters of operations follow those of instructions, in the same order */
	sq[class_counter[i->insn_class] - SG_C_SQ_INSTS_VALU_MFMA_I8 +
	   SG_C_SQ_INSTS_VALU_MFMA_MOPS_I8] += n * i->weight;
}

static void count_memory(uint64_t *sq, const struct sg_timing_insn *i, uint64_t n)
{
	bool reads = i->mem_kind == SG_MEM_LOAD || i->mem_kind == SG_MEM_ATOMIC_RTN;

	SQ(SQ_INSTS_VMEM) += n;
	*(reads ? &SQ(SQ_INSTS_VMEM_RD) : &SQ(SQ_INSTS_VMEM_WR)) += n;
	*(reads ? &SQ(SQ_INST_CYCLES_VMEM_RD) : &SQ(SQ_INST_CYCLES_VMEM_WR)) += n;
	if (i->unit == SG_UNIT_FLAT) {
		SQ(SQ_INSTS_FLAT) += n;
		SQ(SQ_INSTS_FLAT_FLATSEG) += i->flags & SG_INSN_FLATSEG ? n : 0;
		SQ(SQ_ACTIVE_INST_FLAT) += n;
	} else {
		SQ(SQ_ACTIVE_INST_VMEM) += n;
	}
}

static void count_instruction(uint64_t *sq, const struct sg_timing_insn *i, uint64_t n)
{
	SQ(SQ_INSTS) += n;
	if (i->unit != SG_UNIT_NONE)
		SQ(SQ_ACTIVE_INST_ANY) += n * (i->unit == SG_UNIT_VALU ? i->passes : 1);
	switch (i->unit) {
	case SG_UNIT_VALU:
		count_vector(sq, i, n);
		break;
	case SG_UNIT_SALU:
		SQ(SQ_INSTS_SALU) += n;
		SQ(SQ_INST_CYCLES_SALU) += n;
		SQ(SQ_ACTIVE_INST_SCA) += n;
		break;
	case SG_UNIT_SMEM:
		SQ(SQ_INSTS_SMEM) += n;
		SQ(SQ_INSTS_SMEM_NORM) += 2 * n;
		SQ(SQ_INST_CYCLES_SMEM) += n;
		SQ(SQ_ACTIVE_INST_SCA) += n;
		break;
	case SG_UNIT_VMEM:
	case SG_UNIT_FLAT:
		count_memory(sq, i, n);
		break;
	case SG_UNIT_LDS:
		SQ(SQ_INSTS_LDS) += n;
		SQ(SQ_ACTIVE_INST_LDS) += n;
		break;
	case SG_UNIT_GDS:
		SQ(SQ_INSTS_GDS) += n;
		SQ(SQ_INSTS_EXP_GDS) += n;
		SQ(SQ_ACTIVE_INST_EXP_GDS) += n;
		break;
	case SG_UNIT_MISC:
		SQ(SQ_ACTIVE_INST_MISC) += n;
		SQ(SQ_INSTS_BRANCH) += i->flags & SG_INSN_BRANCH ? n : 0;
		SQ(SQ_INSTS_SENDMSG) += i->flags & SG_INSN_MESSAGE ? n : 0;
		break;
	}
}

void sg_insn_counts(struct sg_model *m)
{
	for (struct sg_map_page *page = m->code.pages; page; page = page->next)
		for (uint32_t se = 0; se < sg_hw_n_engines(m->hw); se++)
			for (uint32_t k = 0; k < SG_MAP_SLOTS; k++)
				if (page->count[se][k])
					count_instruction(m->r->values[SG_BLOCK_SQ] +
								  (size_t)se * SG_N_SQ,
							  &page->inst[k], page->count[se][k]);
}
