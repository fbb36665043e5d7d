/*
 * lower: from decoded fields (isa/isa.h) to what the interpreter runs (wave.h).
 *
 * Threads  pure, except for the pool of splatted constants, which has a lock of its own.
 */
#ifndef WS_SOFTGPU_EXEC_LOWER_H
#define WS_SOFTGPU_EXEC_LOWER_H

#include <stdbool.h>
#include <stdint.h>

struct sg_exec_insn;
struct sg_decoded_insn;

/* Handlers that are no row of a table stand behind the rows'; see levels.c. */
enum sg_extra_handler {
	SG_X_VALU_MODS,  /* SDWA, DPP, neg, abs, omod, clamp, op_sel around a row's handler */
	SG_X_SPECIAL,    /* a scalar instruction that reads vccz, execz, scc or lds_direct */
	SG_X_WINDOW_END, /* code goes on in the next window */
	SG_X_ILLEGAL,
	SG_N_EXTRA
};
uint32_t sg_extra_handler(enum sg_extra_handler which);

/*
 * Fills everything but the head of *out, whose value is returned for the caller to publish.
 * slot and n_slots say where in its window the instruction stands, pc its GPU address.
 */
uint32_t sg_lower(const struct sg_decoded_insn *insn, uint32_t slot, uint32_t n_slots, uint64_t pc,
		  struct sg_exec_insn *out);

/* For lower_mem.c: memory encodings. */
void sg_lower_memory(const struct sg_decoded_insn *insn, struct sg_exec_insn *out);

/* Byte offset in struct sg_wave of a scalar register (operand numbers below 128). */
uint16_t sg_lower_sreg(unsigned operand);
/* Scalar operand k of *out; true if its value must be refreshed before use (vccz, scc, ...). */
bool sg_lower_scalar(struct sg_exec_insn *out, unsigned k, unsigned operand, uint32_t literal,
		     unsigned type_class, unsigned bits);

#endif
