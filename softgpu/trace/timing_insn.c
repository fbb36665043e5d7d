#include "softgpu/trace/timing_insn.h"

/* Where the instructions of a class issue, and what the compute unit does with them. */
static const struct {
	uint8_t unit, flags;
} classes[SG_N_CLASSES] = {
	[SG_CLASS_VALU... SG_CLASS_MFMA_F6F4] = { SG_UNIT_VALU, 0 },
	[SG_CLASS_SALU] = { SG_UNIT_SALU, 0 },
	[SG_CLASS_BRANCH] = { SG_UNIT_MISC, SG_INSN_BRANCH },
	[SG_CLASS_CBRANCH] = { SG_UNIT_MISC, SG_INSN_BRANCH },
	[SG_CLASS_JUMP] = { SG_UNIT_MISC, SG_INSN_BRANCH },
	[SG_CLASS_MESSAGE] = { SG_UNIT_MISC, SG_INSN_MESSAGE },
	[SG_CLASS_BARRIER] = { SG_UNIT_MISC, SG_INSN_BARRIER },
	[SG_CLASS_END] = { SG_UNIT_MISC, SG_INSN_END | SG_INSN_MESSAGE },
	[SG_CLASS_MISC] = { SG_UNIT_MISC, 0 },
	[SG_CLASS_WAITCNT] = { SG_UNIT_NONE, 0 },
	[SG_CLASS_NOP] = { SG_UNIT_NONE, 0 },
	[SG_CLASS_SLEEP] = { SG_UNIT_NONE, 0 },
	[SG_CLASS_INTERNAL] = { SG_UNIT_NONE, 0 },
	[SG_CLASS_SMEM] = { SG_UNIT_SMEM, 0 },
	[SG_CLASS_VMEM] = { SG_UNIT_VMEM, 0 },
	[SG_CLASS_FLAT] = { SG_UNIT_FLAT, 0 },
	[SG_CLASS_LDS] = { SG_UNIT_LDS, 0 },
	[SG_CLASS_GDS] = { SG_UNIT_GDS, 0 },
};

/*
 * From gfx942 on an access has a scope: sc1 (in scc's place) is the device or the system, which have to see
 * through a CU's L1; sc0 (in glc's) alone is a workgroup, whose waves share that L1. Before, glc means the former.
 */
static bool is_beyond_cu(const struct sg_decoded_insn *insn, enum sg_isa_target target)
{
	return target >= SG_ISA_GFX942 ? insn->scc : insn->glc;
}

/* buffer_wbl2 and buffer_invl2 are about L2; buffer_inv has a scope. */
static bool keeps_l1(const struct sg_decoded_insn *insn, enum sg_isa_target target)
{
	enum { OP_WBL2 = 0x28, OP_INVL2_INV = 0x29 };

	if (insn->row->enc != SG_ENC_MUBUF)
		return false;
	return insn->row->op == OP_WBL2 ||
	       (insn->row->op == OP_INVL2_INV &&
		(target < SG_ISA_GFX942 || !is_beyond_cu(insn, target)));
}

static void set_memory(struct sg_timing_insn *t, const struct sg_decoded_insn *insn,
		       enum sg_isa_target target)
{
	const struct sg_isa_row *row = insn->row;

	t->mem_kind = sg_isa_mem_kind(insn);
	t->bytes = row->mem_bytes;
	t->glc = is_beyond_cu(insn, target) && t->mem_kind == SG_MEM_LOAD;
	if (t->mem_kind == SG_MEM_CONTROL && keeps_l1(insn, target))
		t->flags |= SG_INSN_KEEPS_L1;
	t->slc = insn->slc;
	if (insn->lds && t->mem_kind == SG_MEM_LOAD)
		t->flags |= SG_INSN_TO_LDS;
	if (t->unit == SG_UNIT_FLAT && insn->seg == 0)
		t->flags |= SG_INSN_FLATSEG;
	if (sg_isa_is_pair(row)) {
		unsigned scale = row->mem_bytes * (row->addressing == SG_ADDR_PAIR64 ? 64u : 1u);

		t->flags |= SG_INSN_PAIR;
		t->pair[0] = (uint16_t)(insn->offset0 * scale);
		t->pair[1] = (uint16_t)(insn->offset1 * scale);
	}
}

/* gfx9: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8 */
static void set_wait(struct sg_timing_insn *t, uint16_t simm)
{
	uint8_t vm = (uint8_t)((simm & 0xf) | (simm >> 14 << 4)), lgkm = simm >> 8 & 0xf;

	t->wait_vm = vm == 63 ? SG_NO_WAIT : vm;
	t->wait_lgkm = lgkm == 15 ? SG_NO_WAIT : lgkm;
}

/* ---- registers ---- */

/* s_cbranch_vccz and s_cbranch_vccnz read what they do not name. */
enum { OP_VCCZ = 0x06, OP_VCCNZ = 0x07 };

static struct sg_reg_span vector(unsigned vgpr, bool acc, unsigned n)
{
	return (struct sg_reg_span){ (uint16_t)((acc ? SG_REG_AGPR0 : SG_REG_VGPR0) + vgpr),
				     (uint16_t)n };
}

/* A source: a VGPR, an AGPR, a scalar register, or a constant, which is none. */
static struct sg_reg_span source(unsigned operand, bool acc, unsigned n)
{
	if (operand >= SG_OPND_VGPR0)
		return vector(operand - SG_OPND_VGPR0, acc, n);
	return (struct sg_reg_span){ (uint16_t)operand,
				     (uint16_t)(operand < SG_OPND_INT_0 ? n : 0) };
}

static void add_read(struct sg_timing_insn *t, struct sg_reg_span span)
{
	if (span.n && t->n_reads < SG_MAX_READS)
		t->reads[t->n_reads++] = span;
}

static void add_late(struct sg_timing_insn *t, enum sg_result result, struct sg_reg_span span)
{
	t->late_regs[t->result == result] = span;
	t->result = (uint8_t)result;
}

static void add_operand(struct sg_timing_insn *t, const struct sg_decoded_insn *insn,
			const struct sg_isa_operand *o)
{
	unsigned k = o->role - SG_ROLE_SRC0, n = o->n_regs;
	bool is_vector = t->unit == SG_UNIT_VALU;

	switch (o->role) {
	case SG_ROLE_SRC0:
	case SG_ROLE_SRC1:
	case SG_ROLE_SRC2:
		if (k == 2 && t->matrix_passes && !(insn->row->flags & SG_ISA_SPARSE))
			t->accumulator = source(insn->src[2], insn->src_acc & 4, n);
		else
			add_read(t, source(insn->src[k], insn->src_acc >> k & 1, n));
		break;
	case SG_ROLE_CI:
		add_read(t, source(insn->src[2], false, 2));
		break;
	case SG_ROLE_SCALE0:
	case SG_ROLE_SCALE1:
		add_read(t, source(insn->scale[o->role - SG_ROLE_SCALE0], false, 1));
		break;
	case SG_ROLE_CO:
	case SG_ROLE_SDST:
		if (is_vector)
			add_late(t, SG_RESULT_SCALAR,
				 source(insn->sdst, false, o->role == SG_ROLE_CO ? 2 : n));
		else if (insn->row->enc == SG_ENC_SOPK) /* some only read it */
			add_read(t, source(insn->sdst, false, n));
		break;
	case SG_ROLE_VDST:
		t->vdst = vector(insn->vdst, insn->dst_acc, n);
		break;
	case SG_ROLE_VADDR:
		add_read(t, vector(insn->vaddr, false, n));
		break;
	case SG_ROLE_DATA0:
	case SG_ROLE_VDATA:
		if (t->mem_kind != SG_MEM_LOAD)
			add_read(t, vector(insn->vdata, insn->dst_acc, n));
		break;
	case SG_ROLE_DATA1:
		add_read(t, vector(insn->data1, insn->dst_acc, n));
		break;
	case SG_ROLE_SBASE:
	case SG_ROLE_SADDR:
	case SG_ROLE_SRSRC:
		if (insn->saddr != 0x7f) /* none */
			add_read(t, source(insn->saddr, false, n));
		break;
	case SG_ROLE_SOFFSET:
		if (t->unit != SG_UNIT_SMEM || insn->soffset_en)
			add_read(t, source(insn->soffset, false, 1));
		break;
	default:
		break;
	}
}

static void set_registers(struct sg_timing_insn *t, const struct sg_decoded_insn *insn)
{
	static const uint8_t readers[SG_N_UNITS] = {
		[SG_UNIT_VALU] = SG_READER_VECTOR, [SG_UNIT_SALU] = SG_READER_SCALAR,
		[SG_UNIT_SMEM] = SG_READER_SCALAR, [SG_UNIT_VMEM] = SG_READER_MEMORY,
		[SG_UNIT_FLAT] = SG_READER_MEMORY, [SG_UNIT_LDS] = SG_READER_MEMORY,
		[SG_UNIT_GDS] = SG_READER_MEMORY,  [SG_UNIT_MISC] = SG_READER_SCALAR,
		[SG_UNIT_NONE] = SG_READER_NONE,
	};
	const struct sg_isa_row *row = insn->row;

	t->reader = readers[t->unit];
	for (unsigned k = 0; k < row->n_operands; k++)
		add_operand(t, insn, &row->operand[k]);
	if (row->flags & SG_ISA_VCC ||
	    (row->enc == SG_ENC_SOPP && (row->op == OP_VCCZ || row->op == OP_VCCNZ)))
		add_read(t, source(SG_OPND_VCC_LO, false, 2));
	if (row->flags & SG_ISA_EXEC)
		add_late(t, SG_RESULT_SCALAR, source(SG_OPND_EXEC_LO, false, 2));
	if (t->matrix_passes) {
		add_late(t, SG_RESULT_MATRIX, t->vdst);
		if (row->flags & SG_ISA_SPARSE)
			t->accumulator = t->vdst;
	} else if (t->insn_class == SG_CLASS_TRANS_F16 || t->insn_class == SG_CLASS_TRANS_F32 ||
		   t->insn_class == SG_CLASS_TRANS_F64) {
		add_late(t, SG_RESULT_TRANS, t->vdst);
	}
}

struct sg_timing_insn sg_timing_insn_of(const struct sg_decoded_insn *insn,
					enum sg_isa_target target)
{
	const struct sg_isa_row *row = insn->row;
	/* a bit of the encoding sends LDS instructions to the global data share */
	enum sg_insn_class insn_class = insn->gds ? SG_CLASS_GDS : row->insn_class;
	uint16_t simm = (uint16_t)insn->simm;
	struct sg_timing_insn t = {
		.dwords = insn->n_dwords,
		.unit = classes[insn_class].unit,
		.insn_class = insn_class,
		.weight = row->weight,
		.passes = sg_isa_rate(row, target),
		.flags = classes[insn_class].flags,
		.wait_vm = SG_NO_WAIT,
		.wait_lgkm = SG_NO_WAIT,
	};

	if (row->flags & SG_ISA_MFMA) { /* issues in one quad-cycle, then keeps the matrix unit */
		t.matrix_passes = t.passes;
		t.passes = 1;
		if (sg_isa_is_f6f4(insn)) {
			t.matrix_passes /= 2;
			t.insn_class = SG_CLASS_MFMA_F6F4;
		}
	}
	if (insn_class == SG_CLASS_GDS)
		t.mem_kind = SG_MEM_CONTROL; /* the global data share has no model */
	else if (row->mem_kind != SG_MEM_NONE)
		set_memory(&t, insn, target);
	if (insn_class == SG_CLASS_WAITCNT)
		set_wait(&t, simm);
	else if (insn_class == SG_CLASS_NOP)
		t.idle = (uint16_t)(4 * (simm & 0xf));
	else if (insn_class == SG_CLASS_SLEEP)
		t.idle = (uint16_t)(64 * (simm & 0x7f));
	set_registers(&t, insn);
	t.simple = (t.unit == SG_UNIT_VALU && t.passes == 1 && !t.matrix_passes) ||
		   t.unit == SG_UNIT_SALU;
	return t;
}
