/* What the files of this folder share; see isa.h for the contract. */
#ifndef WS_SOFTGPU_ISA_ISA_PRIV_H
#define WS_SOFTGPU_ISA_ISA_PRIV_H

#include "softgpu/isa/isa.h"

/* Generated: per target and encoding, opcode -> row number + 1. flat: segment * 128 + opcode. */
extern const uint16_t *const sg_isa_lookup[SG_ISA_N_TARGETS][SG_N_ENCS];

struct sg_isa_reader {
	enum sg_isa_target target;
	const uint32_t *words;
	size_t n_words;
	struct sg_decoded_insn *insn;
};

static inline uint32_t sg_isa_bits(uint32_t word, unsigned low, unsigned n)
{
	return (word >> low) & ((1u << n) - 1);
}

static inline int32_t sg_isa_sbits(uint32_t word, unsigned low, unsigned n)
{
	return (int32_t)(word << (32 - low - n)) >> (32 - n);
}

static inline const struct sg_isa_operand *sg_isa_find(const struct sg_isa_row *row,
						       enum sg_role role)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].role == role)
			return &row->operand[i];
	return NULL;
}

/* An inline constant or the literal. */
static inline bool sg_isa_is_constant(unsigned operand)
{
	return (operand >= SG_OPND_INT_0 && operand <= SG_OPND_INT_M16) ||
	       (operand >= SG_OPND_F_0_5 && operand <= SG_OPND_F_INV_2PI) ||
	       operand == SG_OPND_LITERAL;
}

static inline bool sg_isa_has_float_source(const struct sg_isa_row *row)
{
	for (unsigned i = 0; i < row->n_operands; i++)
		if (row->operand[i].role >= SG_ROLE_SRC0 && row->operand[i].role <= SG_ROLE_SRC2 &&
		    row->operand[i].is_float)
			return true;
	return false;
}

/* Source k has neg and abs in the VOP3 and DPP forms; sext in their place when it is no float. */
static inline bool sg_isa_has_source_mods(const struct sg_isa_row *row, unsigned k)
{
	if (k > 0 && (row->flags & SG_ISA_CLASS))
		return false;
	return sg_isa_find(row, SG_ROLE_SRC0 + k) &&
	       (sg_isa_has_float_source(row) || (row->flags & (SG_ISA_NEGABS | SG_ISA_OPSEL)));
}

bool sg_isa_has_form(const struct sg_isa_row *row, enum sg_isa_target target, enum sg_form form);
bool sg_isa_has_clamp(const struct sg_isa_row *row);
bool sg_isa_has_omod(const struct sg_isa_row *row, enum sg_isa_target target);

/* Sets insn->row from the target's lookup of the encoding; false if the opcode is not taken. */
bool sg_isa_read_row(const struct sg_isa_reader *r, enum sg_enc enc, unsigned op);

/*
 * Checks a scalar operand number of n_regs registers and aligns it as the hardware does. False if
 * it cannot be read (or, is_dst, written).
 */
bool sg_isa_scalar_operand(unsigned *operand, unsigned n_regs, bool is_dst);

/* The same for a 9-bit vector source: a register from 256, else scalar. */
bool sg_isa_vector_source(unsigned *operand, unsigned n_regs);

/* Reads the literal behind the instruction if the operand asks for one. */
bool sg_isa_read_literal(const struct sg_isa_reader *r, unsigned operand);

bool sg_isa_decode_vector(const struct sg_isa_reader *r);
bool sg_isa_decode_vop3(const struct sg_isa_reader *r);
bool sg_isa_decode_vop3p(const struct sg_isa_reader *r);
bool sg_isa_decode_smem(const struct sg_isa_reader *r);
bool sg_isa_decode_ds(const struct sg_isa_reader *r);
bool sg_isa_decode_flat(const struct sg_isa_reader *r);
bool sg_isa_decode_mubuf(const struct sg_isa_reader *r);
bool sg_isa_decode_mtbuf(const struct sg_isa_reader *r);

/* Text under construction; len counts on when the buffer is full, as snprintf does. */
struct sg_isa_text {
	enum sg_isa_target target;
	char *buf;
	size_t size;
	size_t len;
	unsigned n_operands; /* printed so far: decides between blank and comma */
};

/* The registers of matrix source 0 or 1, of which the format of f8f6f4 may need fewer. */
struct sg_isa_operand sg_isa_matrix_source(const struct sg_decoded_insn *insn, unsigned k);

__attribute__((format(printf, 2, 3))) void sg_isa_put(struct sg_isa_text *text, const char *format,
						      ...);

/* The blank or comma that stands before an operand. */
void sg_isa_put_separator(struct sg_isa_text *text);
/* Register file 's', 'v' or 'a': v7, s[4:5]. */
void sg_isa_put_regs(struct sg_isa_text *text, char file, unsigned first, unsigned n_regs);
void sg_isa_put_scalar(struct sg_isa_text *text, unsigned operand, unsigned n_regs);
/* A source operand: register, inline constant or literal, in the type's spelling. */
void sg_isa_put_source(struct sg_isa_text *text, const struct sg_decoded_insn *insn,
		       unsigned operand, const struct sg_isa_operand *desc, bool is_acc);

void sg_isa_print_scalar(struct sg_isa_text *text, const struct sg_decoded_insn *insn);
void sg_isa_print_vector(struct sg_isa_text *text, const struct sg_decoded_insn *insn);
void sg_isa_print_memory(struct sg_isa_text *text, const struct sg_decoded_insn *insn);

#endif
