/*
 * encode: instruction words from fields, after the encoding chapters of the manuals. The driver's own,
 * so that a wrong field position in the decoder does not cancel out.
 */
#ifndef WS_TESTS_ISA_SEMANTICS_ENCODE_H
#define WS_TESTS_ISA_SEMANTICS_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "softgpu/isa/isa.h"

/* The fields of a vector instruction. Operand numbers as encoded; VGPRs from 256. */
struct enc {
	unsigned form;       /* enum sg_form; VOP3P rows ignore it */
	unsigned vdst, sdst; /* sdst: VOP3B, VOPC e64, SDWA compares (106: VCC) */
	unsigned src[3];
	uint32_t literal; /* operand 255, k of madmk and madak */
	unsigned neg, abs, op_sel, op_sel_hi, neg_hi, omod, clamp;
	unsigned src_sel[2], sext, dst_sel, dst_unused;
	unsigned dpp_ctrl, row_mask, bank_mask, bound_ctrl;
	unsigned cbsz, abid, blgp, acc_ab, acc_cd;
	unsigned scale[2], scale_byte[2]; /* scaled matrices: operand numbers, of A and B */
};

struct words {
	uint32_t w[512];
	size_t n;
};

static inline void emit(struct words *out, uint32_t word)
{
	out->w[out->n++] = word;
}

void encode_vector(struct words *out, const struct sg_isa_row *row, const struct enc *e);
void encode_mfma(struct words *out, const struct sg_isa_row *row, const struct enc *e);

static inline void encode_sop1(struct words *out, unsigned op, unsigned sdst, unsigned src0)
{
	emit(out, 0xbe800000u | sdst << 16 | op << 8 | src0);
}

static inline void encode_sop2(struct words *out, unsigned op, unsigned sdst, unsigned s0,
			       unsigned s1)
{
	emit(out, 0x80000000u | op << 23 | sdst << 16 | s1 << 8 | s0);
}

static inline void encode_sopc(struct words *out, unsigned op, unsigned s0, unsigned s1)
{
	emit(out, 0xbf000000u | op << 16 | s1 << 8 | s0);
}

static inline void encode_sopk(struct words *out, unsigned op, unsigned sdst, uint16_t simm)
{
	emit(out, 0xb0000000u | op << 23 | sdst << 16 | simm);
}

enum { OP_S_MOV_B32 = 0, OP_S_MOV_B64 = 1 };

#endif
