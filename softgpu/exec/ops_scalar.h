/*
 * ops_scalar: the scalar instructions that are more than an expression: branches, modes, messages.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_SCALAR_H
#define WS_SOFTGPU_EXEC_OPS_SCALAR_H

#include <stddef.h>

#include "softgpu/exec/handler.h"
#include "softgpu/exec/hwreg.h"
#include "softgpu/exec/lane_scalar.h"

#define WS_OP_nothing(name)                                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return WS_GO;                                                                      \
	}

#define WS_OP_stop(name, why)                                                                      \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return why;                                                                        \
	}

/* ---- control flow ---- */

#define WS_OP_branch(name, cond)                                                                   \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		if (cond) {                                                                        \
			if (i->target)                                                             \
				return ws_wave_jump(w, i, i->target);                              \
			w->pc = i + i->imm;                                                        \
		}                                                                                  \
		return WS_GO;                                                                      \
	}

/* The address that a label operand means. */
static inline uint64_t ws_label(const struct ws_wave *w, const struct ws_inst *i)
{
	return i->target ? i->target : ws_wave_pc(w, i) + (uint64_t)((int64_t)i->imm * 4);
}

static inline enum ws_stop ws_jump(struct ws_wave *w, const struct ws_inst *i, uint64_t address)
{
	return ws_wave_jump(w, i, address & ~3ull);
}

/* All of them are one dword long where they need the address behind themselves. */
static inline uint64_t ws_pc_behind(const struct ws_wave *w, const struct ws_inst *i)
{
	return ws_wave_pc(w, i) + 4;
}

#define WS_OP_jump(name, address)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_jump(w, i, address);                                                     \
	}

#define WS_OP_getpc(name)                                                                          \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_s64_put(w, i->sdst, ws_pc_behind(w, i));                                        \
		return WS_GO;                                                                      \
	}

#define WS_OP_call(name, address)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t to = address; /* first: it may be in the register that is written */      \
                                                                                                   \
		ws_s64_put(w, i->sdst, ws_pc_behind(w, i));                                        \
		return ws_jump(w, i, to);                                                          \
	}

/*
 * Fork and join: the side with fewer lanes runs first, the other one waits on a stack of (EXEC, PC)
 * in s[4n : 4n + 3] with its depth in MODE's top bits.
 */
#define WS_MODE_CSP_SHIFT 29

static inline unsigned ws_fork_depth(const struct ws_wave *w)
{
	return w->mode >> WS_MODE_CSP_SHIFT;
}

static inline void ws_fork_set_depth(struct ws_wave *w, unsigned depth)
{
	w->mode = (w->mode & ~(7u << WS_MODE_CSP_SHIFT)) | depth << WS_MODE_CSP_SHIFT;
}

static inline enum ws_stop ws_fork(struct ws_wave *w, const struct ws_inst *i, uint64_t mask,
				   uint64_t target)
{
	uint64_t exec = ws_exec(w), pass = mask & exec, fail = ~mask & exec;
	uint64_t behind = ws_pc_behind(w, i);
	unsigned depth = ws_fork_depth(w);
	bool fail_first;

	if (pass == exec)
		return ws_jump(w, i, target);
	if (fail == exec)
		return WS_GO;
	fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
	ws_s64_put(w, WS_S_EXEC, fail_first ? fail : pass);
	ws_s64_put(w, depth * 4, fail_first ? pass : fail);
	ws_s64_put(w, depth * 4 + 2, fail_first ? target : behind);
	ws_fork_set_depth(w, depth + 1);
	return fail_first ? WS_GO : ws_jump(w, i, target);
}

static inline enum ws_stop ws_join(struct ws_wave *w, const struct ws_inst *i, unsigned saved_depth)
{
	unsigned depth = ws_fork_depth(w);

	if (depth == saved_depth)
		return WS_GO;
	depth = (depth - 1) & 7;
	ws_fork_set_depth(w, depth);
	ws_s64_put(w, WS_S_EXEC, ws_s64(w, depth * 4));
	return ws_jump(w, i, ws_s64(w, depth * 4 + 2));
}

#define WS_OP_fork(name, mask, target)                                                             \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_fork(w, i, mask, target);                                                \
	}

#define WS_OP_join(name)                                                                           \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_join(w, i, ws_scalar32(w, i, WS_S0));                                    \
	}

/* ---- relative registers: M0 is added to a number; what leaves s0..s101 does nothing ---- */

#define WS_LAST_SGPR 101u

static inline unsigned ws_relative(const struct ws_wave *w, unsigned reg)
{
	uint64_t at = (uint64_t)reg + w->s[WS_S_M0];

	return at <= WS_LAST_SGPR ? (unsigned)at : WS_S_ZERO;
}

static inline unsigned ws_scalar_reg(const struct ws_inst *i, unsigned k)
{
	return (unsigned)(i->s_off[k] - offsetof(struct ws_wave, s)) / 4;
}

#define WS_OP_movrels(name, bits)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		unsigned from = ws_relative(w, ws_scalar_reg(i, WS_S0));                           \
                                                                                                   \
		if (bits == 64)                                                                    \
			ws_s64_put(w, i->sdst, from == WS_S_ZERO ? 0 : ws_s64(w, from));           \
		else                                                                               \
			w->s[i->sdst] = from == WS_S_ZERO ? 0 : w->s[from];                        \
		return WS_GO;                                                                      \
	}

#define WS_OP_movreld(name, bits)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		unsigned to = ws_relative(w, i->sdst);                                             \
                                                                                                   \
		if (to == WS_S_ZERO)                                                               \
			return WS_GO;                                                              \
		if (bits == 64)                                                                    \
			ws_s64_put(w, to, ws_scalar64(w, i, WS_S0));                               \
		else                                                                               \
			w->s[to] = ws_scalar32(w, i, WS_S0);                                       \
		return WS_GO;                                                                      \
	}

/* ---- modes ---- */

/* M0: the index in bits 0-7, what it is added to in bits 12-15. */
static inline void ws_gpr_idx_mode(struct ws_wave *w, uint32_t mask)
{
	w->gpr_idx_mask = mask & 0xf;
	w->s[WS_S_M0] = (w->s[WS_S_M0] & ~0xf000u) | w->gpr_idx_mask << 12;
}

#define WS_OP_gpr_idx_on(name)                                                                     \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[WS_S_M0] = (w->s[WS_S_M0] & ~0xffu) | (ws_scalar32(w, i, WS_S0) & 0xff);      \
		ws_gpr_idx_mode(w, (uint32_t)i->imm);                                              \
		w->mode |= WS_MODE_GPR_IDX_EN;                                                     \
		return WS_STOP_MODE;                                                               \
	}

#define WS_OP_gpr_idx_off(name)                                                                    \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		w->mode &= ~WS_MODE_GPR_IDX_EN;                                                    \
		return WS_STOP_MODE;                                                               \
	}

#define WS_OP_gpr_idx_mode(name)                                                                   \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_gpr_idx_mode(w, (uint32_t)i->imm);                                              \
		return WS_STOP_MODE;                                                               \
	}

#define WS_OP_gpr_idx_idx(name)                                                                    \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[WS_S_M0] = (w->s[WS_S_M0] & ~0xffu) | (ws_scalar32(w, i, WS_S0) & 0xff);      \
		return WS_GO;                                                                      \
	}

#define WS_OP_setvskip(name)                                                                       \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t on = ws_scalar32(w, i, WS_S0) >> (ws_scalar32(w, i, WS_S1) & 31) & 1;     \
                                                                                                   \
		w->mode = on ? w->mode | WS_MODE_VSKIP : w->mode & ~WS_MODE_VSKIP;                 \
		return WS_STOP_MODE;                                                               \
	}

#define WS_OP_getreg(name)                                                                         \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[i->sdst] = ws_hwreg_read(w, i, (uint32_t)i->imm);                             \
		return WS_GO;                                                                      \
	}

#define WS_OP_setreg(name, value)                                                                  \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return ws_hwreg_write(w, (uint32_t)i->imm, value) ? WS_STOP_MODE : WS_GO;          \
	}

/* ---- messages, traps, the end ---- */

/* A halted wave stays where it is: only a debugger could continue it, and there is none. */
static inline enum ws_stop ws_halt(struct ws_wave *w, const struct ws_inst *i)
{
	w->status_priv |= WS_STATUS_HALT;
	w->pc = i;
	return WS_STOP_WAIT;
}

#define WS_OP_sethalt(name)                                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return i->imm & 1 ? ws_halt(w, i) : WS_GO;                                         \
	}

#define WS_OP_setkill(name)                                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		return i->imm & 1 ? WS_STOP_END : WS_GO;                                           \
	}

#define WS_MSG_INTERRUPT 1

static inline void ws_send(struct ws_wave *w, uint32_t message)
{
	const struct ws_exec_hooks *hooks = w->launch->hooks;

	/* the others are addressed to graphics blocks, or belong to trap handlers */
	if ((message & 0xf) != WS_MSG_INTERRUPT || !hooks || !hooks->interrupt)
		return;
	atomic_store_explicit(&w->launch->told_host, true, memory_order_relaxed);
	hooks->interrupt(hooks->ctx, w->s[WS_S_M0] & 0xffffffu);
}

#define WS_OP_sendmsg(name)                                                                        \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		ws_send(w, (uint32_t)i->imm);                                                      \
		return WS_GO;                                                                      \
	}

#define WS_OP_sendmsghalt(name)                                                                    \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		if (!(w->status_priv & WS_STATUS_HALT))                                            \
			ws_send(w, (uint32_t)i->imm);                                              \
		return ws_halt(w, i);                                                              \
	}

/* The amdhsa ABI: 3 is a breakpoint, which nobody listens to; 0 is no trap; others end the wave. */
#define WS_TRAP_DEBUG 3

#define WS_OP_trap(name)                                                                           \
	WS_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t id = (uint32_t)i->imm & 0xff;                                             \
		enum ws_stop stop;                                                                 \
                                                                                                   \
		if (id == 0 || id == WS_TRAP_DEBUG)                                                \
			return WS_GO;                                                              \
		stop = ws_wave_fault(w, i, WS_FAULT_TRAP, 0, false);                               \
		w->fault.trap_id = id;                                                             \
		return stop;                                                                       \
	}

#endif
