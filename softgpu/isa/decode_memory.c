/* Decoding the memory formats: SMEM, DS, FLAT, MUBUF, MTBUF. */
#include "softgpu/isa/isa_priv.h"

#define SADDR_OFF 0x7f

bool sg_isa_decode_smem(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_operand *sdata, *sbase;
	unsigned soffset;

	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_SMEM, sg_isa_bits(w, 18, 8)))
		return false;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->glc = sg_isa_bits(w, 16, 1);
	insn->nv = sg_isa_bits(w, 15, 1);
	insn->imm_en = sg_isa_bits(w, 17, 1);
	insn->soffset_en = sg_isa_bits(w, 14, 1);
	sdata = sg_isa_find(insn->row, SG_ROLE_SDATA);
	sbase = sg_isa_find(insn->row, SG_ROLE_SBASE);

	insn->sdst = sg_isa_bits(w, 6, 7);
	if (sdata) {
		unsigned operand = insn->sdst;

		if (!sg_isa_scalar_operand(&operand, sdata->n_regs, true))
			return false;
		insn->sdst = operand;
	}
	if (!sbase) /* cache maintenance and clocks: nothing else counts but the fixed imm bit */
		return !insn->imm_en;
	soffset = sg_isa_bits(w, 0, 6) * 2;
	if (!sg_isa_scalar_operand(&soffset, sbase->n_regs, true))
		return false;
	insn->saddr = soffset;

	/* Without imm, an offset register may also stand in the low bits of the offset. */
	if (insn->imm_en)
		insn->simm = sg_isa_sbits(x, 0, 21);
	soffset = insn->soffset_en ? sg_isa_bits(x, 25, 7) : sg_isa_bits(x, 0, 7);
	if (!insn->imm_en)
		insn->soffset_en = true;
	if (!insn->soffset_en)
		return true;
	insn->soffset = soffset;
	return sg_isa_scalar_operand(&soffset, 1, true);
}

/* A VGPR field: in range, and 0 when the instruction has no such operand. */
static bool vector_field(const struct sg_isa_row *row, enum sg_role role, unsigned field,
			 uint8_t *out)
{
	const struct sg_isa_operand *desc = sg_isa_find(row, role);

	*out = field;
	return desc ? field + desc->n_regs <= 256 : field == 0;
}

bool sg_isa_decode_ds(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_row *row;
	bool has_data, acc;

	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_DS, sg_isa_bits(w, 17, 8)))
		return false;
	row = insn->row;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->simm = sg_isa_bits(w, 0, 16);
	insn->offset0 = sg_isa_bits(w, 0, 8);
	insn->offset1 = sg_isa_bits(w, 8, 8);
	insn->gds = sg_isa_bits(w, 16, 1);
	if (insn->simm && !sg_isa_find(row, SG_ROLE_OFFSET) && !sg_isa_find(row, SG_ROLE_OFFSET0) &&
	    !sg_isa_find(row, SG_ROLE_SWIZZLE))
		return false;
	if ((row->flags & SG_ISA_GDSONLY) ? !insn->gds
					  : insn->gds && !sg_isa_find(row, SG_ROLE_GDS))
		return false;
	/* from gfx942 on there is no GDS to name, only the wave sync behind the same bit */
	if (r->target >= SG_ISA_GFX942 && !(row->flags & SG_ISA_GDSONLY))
		insn->gds = false;
	/* The accumulation registers, from gfx90a on; without data there is no such bit. */
	acc = sg_isa_bits(w, 25, 1);
	has_data = sg_isa_find(row, SG_ROLE_VDST) || sg_isa_find(row, SG_ROLE_DATA0) ||
		   ((row->flags & SG_ISA_GDSONLY) && sg_isa_find(row, SG_ROLE_VADDR));
	if (acc && !has_data)
		return false;
	insn->dst_acc = acc && r->target >= SG_ISA_GFX90A;
	return vector_field(row, SG_ROLE_VADDR, sg_isa_bits(x, 0, 8), &insn->vaddr) &&
	       vector_field(row, SG_ROLE_DATA0, sg_isa_bits(x, 8, 8), &insn->vdata) &&
	       vector_field(row, SG_ROLE_DATA1, sg_isa_bits(x, 16, 8), &insn->data1) &&
	       vector_field(row, SG_ROLE_VDST, sg_isa_bits(x, 24, 8), &insn->vdst);
}

/* Before gfx942 a scratch access has one of vaddr and saddr; then a bit says whether vaddr counts. */
static bool flat_address(const struct sg_isa_reader *r, unsigned vaddr, unsigned saddr, bool sve)
{
	struct sg_decoded_insn *insn = r->insn;
	unsigned n_vaddr = 2, operand = saddr;

	insn->vaddr = vaddr;
	insn->saddr = SADDR_OFF;
	if (insn->seg == 0) {
		if (saddr != 0)
			return false;
	} else if (saddr != SADDR_OFF) {
		if (!sg_isa_scalar_operand(&operand, insn->seg == 1 ? 1 : 2, true))
			return false;
		insn->saddr = operand;
		n_vaddr = 1;
	}
	if (insn->seg == 1) {
		insn->sve = r->target >= SG_ISA_GFX942 ? sve : saddr == SADDR_OFF;
		n_vaddr = insn->sve;
	}
	return vaddr + n_vaddr <= 256;
}

bool sg_isa_decode_flat(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_operand *vdst, *vdata;
	const struct sg_isa_row *row;
	bool acc, bit13 = sg_isa_bits(w, 13, 1);

	insn->seg = sg_isa_bits(w, 14, 2);
	if (r->n_words < 2 || insn->seg > 2 ||
	    !sg_isa_read_row(r, SG_ENC_FLAT, insn->seg * 128u + sg_isa_bits(w, 18, 7)))
		return false;
	row = insn->row;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->simm = insn->seg ? sg_isa_sbits(w, 0, 13) : (int32_t)sg_isa_bits(w, 0, 13);
	insn->glc = sg_isa_bits(w, 16, 1);
	insn->slc = sg_isa_bits(w, 17, 1);
	insn->scc = sg_isa_bits(w, 25, 1);
	insn->vdata = sg_isa_bits(x, 8, 8);
	insn->vdst = sg_isa_bits(x, 24, 8);
	acc = sg_isa_bits(x, 23, 1);
	insn->dst_acc = acc && r->target >= SG_ISA_GFX90A;
	insn->nv = acc && r->target == SG_ISA_GFX908;
	vdst = sg_isa_find(row, SG_ROLE_VDST);
	vdata = sg_isa_find(row, SG_ROLE_VDATA);

	if (r->target >= SG_ISA_GFX942) { /* loads to LDS have opcodes of their own */
		insn->lds = sg_isa_find(row, SG_ROLE_LDS);
		if ((bit13 && insn->seg != 1) || (insn->lds && acc))
			return false;
	} else {
		insn->lds = bit13;
		if (insn->lds && (!insn->seg || acc || !sg_isa_find(row, SG_ROLE_LDS)))
			return false;
	}
	if (insn->scc && (row->flags & SG_ISA_NOSCC) && r->target < SG_ISA_GFX942)
		return false;
	if (insn->glc && (row->flags & SG_ISA_ATOMIC) && !vdst)
		return false;
	if (r->target == SG_ISA_GFX908)
		insn->scc = false;
	if ((vdata && insn->vdata + vdata->n_regs > 256) ||
	    (vdst && !insn->lds && (!(row->flags & SG_ISA_ATOMIC) || insn->glc) &&
	     insn->vdst + vdst->n_regs > 256))
		return false;
	return flat_address(r, sg_isa_bits(x, 0, 8), sg_isa_bits(x, 16, 7), bit13);
}

/* What MUBUF and MTBUF share. */
static bool buffer_operands(const struct sg_isa_reader *r, uint32_t w, uint32_t x)
{
	struct sg_decoded_insn *insn = r->insn;
	const struct sg_isa_operand *vdata = sg_isa_find(insn->row, SG_ROLE_VDATA);
	unsigned srsrc = sg_isa_bits(x, 16, 5) * 4, soffset = sg_isa_bits(x, 24, 8), n_vaddr;

	insn->simm = sg_isa_bits(w, 0, 12);
	insn->offen = sg_isa_bits(w, 12, 1);
	insn->idxen = sg_isa_bits(w, 13, 1);
	insn->vaddr = sg_isa_bits(x, 0, 8);
	insn->vdata = sg_isa_bits(x, 8, 8);
	insn->soffset = soffset;
	n_vaddr = insn->offen + insn->idxen;
	if (insn->vaddr + n_vaddr > 256 ||
	    (vdata && !insn->lds && insn->vdata + vdata->n_regs > 256))
		return false;
	if (!sg_isa_scalar_operand(&srsrc, 4, true) || soffset == SG_OPND_LITERAL ||
	    !sg_isa_scalar_operand(&soffset, 1, false))
		return false;
	insn->saddr = srsrc;
	return true;
}

bool sg_isa_decode_mubuf(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;
	const struct sg_isa_row *row;
	bool acc;

	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_MUBUF, sg_isa_bits(w, 18, 7)))
		return false;
	row = insn->row;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->lds = sg_isa_bits(w, 16, 1);
	insn->slc = sg_isa_bits(w, 17, 1);
	insn->scc = sg_isa_bits(w, 15, 1);
	insn->glc = sg_isa_bits(w, 14, 1);
	if (r->target < SG_ISA_GFX942 && ((insn->scc && (row->flags & SG_ISA_NOSCC)) ||
					  (insn->glc && (row->flags & SG_ISA_NOGLC))))
		return false;
	acc = sg_isa_bits(x, 23, 1);
	if (!row->n_operands) { /* cache maintenance; the new ones have the new bit, as 0 */
		if (acc && !(row->targets & SG_ISA_GFX908))
			return false;
		return !insn->lds && !sg_isa_bits(w, 12, 2);
	}
	insn->dst_acc = acc && r->target >= SG_ISA_GFX90A;
	insn->tfe = acc && r->target == SG_ISA_GFX908;
	if (insn->lds) {
		if (!sg_isa_find(row, SG_ROLE_LDS) || (acc && r->target >= SG_ISA_GFX942))
			return false;
		insn->dst_acc = insn->tfe = false;
	}
	if (row->flags & SG_ISA_ATOMIC)
		insn->tfe = false;
	if (!buffer_operands(r, w, x))
		return false;
	if (r->target == SG_ISA_GFX908)
		insn->scc = false;
	if (!sg_isa_find(row, SG_ROLE_VDATA)) /* buffer_store_lds_dword */
		return insn->lds && !insn->offen && !insn->idxen;
	return true;
}

bool sg_isa_decode_mtbuf(const struct sg_isa_reader *r)
{
	struct sg_decoded_insn *insn = r->insn;
	uint32_t w = r->words[0], x;

	if (r->n_words < 2 || !sg_isa_read_row(r, SG_ENC_MTBUF, sg_isa_bits(w, 15, 4)))
		return false;
	x = r->words[1];
	insn->n_dwords = 2;
	insn->dfmt = sg_isa_bits(w, 19, 4);
	insn->nfmt = sg_isa_bits(w, 23, 3);
	insn->glc = sg_isa_bits(w, 14, 1);
	insn->slc = sg_isa_bits(x, 22, 1);
	insn->scc = sg_isa_bits(x, 21, 1) && r->target >= SG_ISA_GFX90A;
	insn->dst_acc = sg_isa_bits(x, 23, 1) && r->target >= SG_ISA_GFX90A;
	insn->tfe = sg_isa_bits(x, 23, 1) && r->target == SG_ISA_GFX908;
	return buffer_operands(r, w, x);
}
