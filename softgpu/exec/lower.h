/*
 * lower: from decoded fields (isa/isa.h) to what the interpreter runs (wave.h).
 *
 * Threads  pure, except for the pool of splatted constants, which has a lock of its own.
 */
#ifndef WS_SOFTGPU_EXEC_LOWER_H
#define WS_SOFTGPU_EXEC_LOWER_H

#include <stdbool.h>
#include <stdint.h>

struct ws_inst;
struct ws_insn;

/* Handlers that are no row of a table stand behind the rows'; see levels.c. */
enum ws_extra_handler {
	WS_X_VALU_MODS,       /* SDWA, DPP, neg, abs, omod, clamp, op_sel around a row's handler */
	WS_X_SPECIAL,         /* a scalar instruction that reads vccz, execz, scc or lds_direct */
	WS_X_WINDOW_END,      /* code goes on in the next window */
	WS_X_ILLEGAL,
	WS_N_EXTRA
};
uint32_t ws_extra_handler(enum ws_extra_handler which);

/*
 * Fills everything but the head of *out, whose value is returned for the caller to publish.
 * slot and n_slots say where in its window the instruction stands, pc its GPU address.
 */
uint32_t ws_lower(const struct ws_insn *insn, uint32_t slot, uint32_t n_slots, uint64_t pc,
		  struct ws_inst *out);

/* For lower_mem.c: memory encodings. */
void ws_lower_memory(const struct ws_insn *insn, struct ws_inst *out);

/* Byte offset in struct ws_wave of a scalar register (operand numbers below 128). */
uint16_t ws_lower_sreg(unsigned operand);
/* Scalar operand k of *out; true if its value must be refreshed before use (vccz, scc, ...). */
bool ws_lower_scalar(struct ws_inst *out, unsigned k, unsigned operand, uint32_t literal,
		     unsigned type_class, unsigned bits);


#endif
