/* Memory encodings: which parts of an instruction count, and where its operands are. */
#include "softgpu/exec/lower.h"

#include "softgpu/exec/save.h"
#include "softgpu/exec/wave.h"
#include "softgpu/isa/isa.h"

#define SG_LEVEL plain
#include "softgpu/exec/mem.h"

#define NO_SADDR 0x7f

/* Data operands share one ACC bit; addresses are always VGPRs. */
static void vector_operand(struct sg_exec_insn *out, unsigned k, unsigned reg, bool acc)
{
	out->base[k] = acc ? SG_BASE_AGPR : SG_BASE_VGPR;
	out->off[k] = reg * SG_LANES;
}

static void flag(struct sg_exec_insn *out, bool on, enum sg_mem_flags bit)
{
	if (on)
		out->inner |= (uint16_t)bit;
}

static void lower_smem(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	out->sdst = insn->sdst;
	out->s_off[SG_S0] = sg_lower_sreg(insn->saddr);
	out->imm = insn->imm_en ? insn->simm : 0;
	flag(out, insn->soffset_en, SG_MEM_SADDR);
	flag(out, insn->glc, SG_MEM_RETURN);
	flag(out, insn->row->addressing == SG_ADDR_SCRATCH, SG_MEM_SEG_SCRATCH);
	flag(out, insn->row->addressing == SG_ADDR_BUFFER, SG_MEM_DESCRIPTOR);
	if (insn->soffset_en)
		sg_lower_scalar(out, SG_S1, insn->soffset, 0, SG_TYPE_U, 32);
}

static bool has_vaddr(const struct sg_isa_row *row)
{
	for (unsigned n = 0; n < row->n_operands; n++)
		if (row->operand[n].role == SG_ROLE_VADDR)
			return true;
	return false;
}

static void lower_ds(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	vector_operand(out, SG_D, insn->vdst, insn->dst_acc);
	/* global wave sync has its data where others have the address */
	vector_operand(out, SG_S0, insn->vaddr, insn->dst_acc && insn->row->flags & SG_ISA_GDSONLY);
	vector_operand(out, SG_S1, insn->vdata, insn->dst_acc);
	vector_operand(out, SG_S2, insn->data1, insn->dst_acc);
	out->imm = sg_isa_is_pair(insn->row) ? insn->offset0 | insn->offset1 << 8 : insn->simm;
	flag(out, insn->gds, SG_MEM_GDS);
	flag(out, sg_isa_is_pair(insn->row), SG_MEM_PAIR);
	flag(out, !has_vaddr(insn->row), SG_MEM_NO_VADDR);
}

static void lower_flat(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	bool has_saddr = insn->seg != 0 && insn->saddr != NO_SADDR;

	vector_operand(out, SG_D, insn->vdst, insn->dst_acc);
	vector_operand(out, SG_S0, insn->vaddr, false);
	vector_operand(out, SG_S1, insn->vdata, insn->dst_acc);
	/* flat's offset has no sign: the manuals say that the top one of the 13 bits is ignored */
	out->imm = insn->seg == 0 ? insn->simm & 0xfff : insn->simm;
	flag(out, insn->seg == 0, SG_MEM_SEG_FLAT);
	flag(out, insn->seg == 1, SG_MEM_SEG_SCRATCH);
	flag(out, has_saddr, SG_MEM_SADDR);
	flag(out, insn->seg == 1 && !insn->sve, SG_MEM_NO_VADDR);
	flag(out, insn->glc, SG_MEM_RETURN);
	flag(out, insn->lds, SG_MEM_LDS);
	if (has_saddr)
		out->s_off[SG_S0] = sg_lower_sreg(insn->saddr);
}

static void lower_buffer(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	vector_operand(out, SG_D, insn->vdata, insn->dst_acc);
	vector_operand(out, SG_S0, insn->vaddr, false);
	vector_operand(out, SG_S1, insn->vdata, insn->dst_acc);
	out->imm = insn->simm;
	out->s_off[SG_S0] = sg_lower_sreg(insn->saddr);
	/* operand S2: a constant must not stand where the vector operands are */
	sg_lower_scalar(out, SG_S2, insn->soffset, 0, SG_TYPE_U, 32);
	flag(out, insn->idxen, SG_MEM_IDXEN);
	flag(out, insn->offen, SG_MEM_OFFEN);
	flag(out, insn->glc, SG_MEM_RETURN);
	flag(out, insn->lds, SG_MEM_LDS);
	flag(out, insn->tfe, SG_MEM_TFE);
}

void sg_lower_memory(const struct sg_decoded_insn *insn, struct sg_exec_insn *out)
{
	static void (*const lower[SG_N_ENCS])(const struct sg_decoded_insn *insn,
					      struct sg_exec_insn *out) = {
		[SG_ENC_SMEM] = lower_smem,    [SG_ENC_DS] = lower_ds,
		[SG_ENC_FLAT] = lower_flat,    [SG_ENC_MUBUF] = lower_buffer,
		[SG_ENC_MTBUF] = lower_buffer,
	};

	lower[insn->row->enc](insn, out);
	out->clamp = sg_save_bytes(insn);
}
