/* Memory encodings: which parts of an instruction count, and where its operands are. */
#include "softgpu/exec/lower.h"

#include "softgpu/exec/save.h"
#include "softgpu/exec/wave.h"
#include "softgpu/isa/isa.h"

#define WS_LEVEL plain
#include "softgpu/exec/mem.h"

#define NO_SADDR 0x7f

/* Data operands share one ACC bit; addresses are always VGPRs. */
static void vector_operand(struct ws_inst *out, unsigned k, unsigned reg, bool acc)
{
	out->base[k] = acc ? WS_BASE_AGPR : WS_BASE_VGPR;
	out->off[k] = reg * WS_LANES;
}

static void flag(struct ws_inst *out, bool on, enum ws_mem_flags bit)
{
	if (on)
		out->inner |= (uint16_t)bit;
}

static void lower_smem(const struct ws_insn *insn, struct ws_inst *out)
{
	out->sdst = insn->sdst;
	out->s_off[WS_S0] = ws_lower_sreg(insn->saddr);
	out->imm = insn->imm_en ? insn->simm : 0;
	flag(out, insn->soffset_en, WS_MEM_SADDR);
	flag(out, insn->glc, WS_MEM_RETURN);
	if (insn->soffset_en)
		ws_lower_scalar(out, WS_S1, insn->soffset, 0, WS_TYPE_U, 32);
}

static void lower_ds(const struct ws_insn *insn, struct ws_inst *out)
{
	bool pair = false;

	vector_operand(out, WS_D, insn->vdst, insn->dst_acc);
	/* global wave sync has its data where others have the address */
	vector_operand(out, WS_S0, insn->vaddr, insn->dst_acc && insn->row->flags & WS_ISA_GDSONLY);
	vector_operand(out, WS_S1, insn->vdata, insn->dst_acc);
	vector_operand(out, WS_S2, insn->data1, insn->dst_acc);
	for (unsigned n = 0; n < insn->row->n_operands; n++)
		pair |= insn->row->operand[n].role == WS_ROLE_OFFSET1;
	out->imm = pair ? insn->offset0 | insn->offset1 << 8 : insn->simm;
	flag(out, insn->gds, WS_MEM_GDS);
}

static void lower_flat(const struct ws_insn *insn, struct ws_inst *out)
{
	bool has_saddr = insn->seg != 0 && insn->saddr != NO_SADDR;

	vector_operand(out, WS_D, insn->vdst, insn->dst_acc);
	vector_operand(out, WS_S0, insn->vaddr, false);
	vector_operand(out, WS_S1, insn->vdata, insn->dst_acc);
	/* flat's offset has no sign: the manuals say that the top one of the 13 bits is ignored */
	out->imm = insn->seg == 0 ? insn->simm & 0xfff : insn->simm;
	flag(out, insn->seg == 0, WS_MEM_SEG_FLAT);
	flag(out, insn->seg == 1, WS_MEM_SEG_SCRATCH);
	flag(out, has_saddr, WS_MEM_SADDR);
	flag(out, insn->glc, WS_MEM_RETURN);
	flag(out, insn->lds, WS_MEM_LDS);
	if (has_saddr)
		out->s_off[WS_S0] = ws_lower_sreg(insn->saddr);
}

static void lower_buffer(const struct ws_insn *insn, struct ws_inst *out)
{
	vector_operand(out, WS_D, insn->vdata, insn->dst_acc);
	vector_operand(out, WS_S0, insn->vaddr, false);
	vector_operand(out, WS_S1, insn->vdata, insn->dst_acc);
	out->imm = insn->simm;
	out->s_off[WS_S0] = ws_lower_sreg(insn->saddr);
	/* operand S2: a constant must not stand where the vector operands are */
	ws_lower_scalar(out, WS_S2, insn->soffset, 0, WS_TYPE_U, 32);
	flag(out, insn->idxen, WS_MEM_IDXEN);
	flag(out, insn->offen, WS_MEM_OFFEN);
	flag(out, insn->glc, WS_MEM_RETURN);
	flag(out, insn->lds, WS_MEM_LDS);
	flag(out, insn->tfe, WS_MEM_TFE);
}

void ws_lower_memory(const struct ws_insn *insn, struct ws_inst *out)
{
	static void (*const lower[WS_N_ENCS])(const struct ws_insn *insn, struct ws_inst *out) = {
		[WS_ENC_SMEM] = lower_smem,    [WS_ENC_DS] = lower_ds,
		[WS_ENC_FLAT] = lower_flat,    [WS_ENC_MUBUF] = lower_buffer,
		[WS_ENC_MTBUF] = lower_buffer,
	};

	lower[insn->row->enc](insn, out);
	out->clamp = ws_save_bytes(insn);
}
