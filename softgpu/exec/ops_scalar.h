/*
 * ops_scalar: the scalar instructions that are more than an expression: branches, modes, messages.
 */
#ifndef WS_SOFTGPU_EXEC_OPS_SCALAR_H
#define WS_SOFTGPU_EXEC_OPS_SCALAR_H

#include <stddef.h>

#include "softgpu/exec/handler.h"
#include "softgpu/exec/hwreg.h"
#include "softgpu/exec/lane_scalar.h"
#include "softgpu/exec/trap.h"

#define SG_OP_nothing(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return SG_GO;                                                                      \
	}

#define SG_OP_stop(name, why)                                                                      \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return why;                                                                        \
	}

/*
 * Memory answers at once, so there is nothing to wait for. But the first wait for vector memory behind a
 * barrier lets the other waves of the workgroup run: on the device they run meanwhile, and code relies on
 * it without knowing. RCCL's kernels read a flag in LDS behind a barrier, and one of the waves then
 * overwrites it with what it loaded from memory, without a second barrier.
 */
#define SG_VMCNT_MASK 0xc00fu /* all ones: does not wait */

#define SG_OP_waitcnt(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		if (!w->behind_barrier || ((uint32_t)i->imm & SG_VMCNT_MASK) == SG_VMCNT_MASK)     \
			return SG_GO;                                                              \
		w->behind_barrier = false;                                                         \
		return SG_STOP_BUDGET;                                                             \
	}

/* ---- control flow ---- */

#define SG_OP_branch(name, cond)                                                                   \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		if (cond) {                                                                        \
			if (i->target)                                                             \
				return sg_wave_jump(w, i, i->target);                              \
			w->pc = i + i->imm;                                                        \
		}                                                                                  \
		return SG_GO;                                                                      \
	}

/* The address that a label operand means. */
static inline uint64_t sg_label(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	return i->target ? i->target : sg_wave_pc(w, i) + (uint64_t)((int64_t)i->imm * 4);
}

static inline enum sg_stop sg_jump(struct sg_wave *w, const struct sg_exec_insn *i,
				   uint64_t address)
{
	return sg_wave_jump(w, i, address & ~3ull);
}

/* All of them are one dword long where they need the address behind themselves. */
static inline uint64_t sg_pc_behind(const struct sg_wave *w, const struct sg_exec_insn *i)
{
	return sg_wave_pc(w, i) + 4;
}

#define SG_OP_jump(name, address)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_jump(w, i, address);                                                     \
	}

/* Back from a trap handler, which is where a sample ends. A kernel that has it jumps. */
#define SG_OP_rfe(name)                                                                            \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return w->launch->trap ? SG_STOP_END : sg_jump(w, i, sg_scalar64(w, i, SG_S0));    \
	}

#define SG_OP_getpc(name)                                                                          \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_s64_put(w, i->sdst, sg_pc_behind(w, i));                                        \
		return SG_GO;                                                                      \
	}

#define SG_OP_call(name, address)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint64_t to = address; /* first: it may be in the register that is written */      \
                                                                                                   \
		sg_s64_put(w, i->sdst, sg_pc_behind(w, i));                                        \
		return sg_jump(w, i, to);                                                          \
	}

/*
 * Fork and join: the side with fewer lanes runs first, the other one waits on a stack of (EXEC, PC)
 * in s[4n : 4n + 3] with its depth in MODE's top bits.
 */
#define SG_MODE_CSP_SHIFT 29

static inline unsigned sg_fork_depth(const struct sg_wave *w)
{
	return w->mode >> SG_MODE_CSP_SHIFT;
}

static inline void sg_fork_set_depth(struct sg_wave *w, unsigned depth)
{
	w->mode = (w->mode & ~(7u << SG_MODE_CSP_SHIFT)) | depth << SG_MODE_CSP_SHIFT;
}

static inline enum sg_stop sg_fork(struct sg_wave *w, const struct sg_exec_insn *i, uint64_t mask,
				   uint64_t target)
{
	uint64_t exec = sg_exec(w), pass = mask & exec, fail = ~mask & exec;
	uint64_t behind = sg_pc_behind(w, i);
	unsigned depth = sg_fork_depth(w);
	bool fail_first;

	if (pass == exec)
		return sg_jump(w, i, target);
	if (fail == exec)
		return SG_GO;
	fail_first = __builtin_popcountll(fail) < __builtin_popcountll(pass);
	sg_s64_put(w, SG_S_EXEC, fail_first ? fail : pass);
	sg_s64_put(w, depth * 4, fail_first ? pass : fail);
	sg_s64_put(w, depth * 4 + 2, fail_first ? target : behind);
	sg_fork_set_depth(w, depth + 1);
	return fail_first ? SG_GO : sg_jump(w, i, target);
}

static inline enum sg_stop sg_join(struct sg_wave *w, const struct sg_exec_insn *i,
				   unsigned saved_depth)
{
	unsigned depth = sg_fork_depth(w);

	if (depth == saved_depth)
		return SG_GO;
	depth = (depth - 1) & 7;
	sg_fork_set_depth(w, depth);
	sg_s64_put(w, SG_S_EXEC, sg_s64(w, depth * 4));
	return sg_jump(w, i, sg_s64(w, depth * 4 + 2));
}

#define SG_OP_fork(name, mask, target)                                                             \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_fork(w, i, mask, target);                                                \
	}

#define SG_OP_join(name)                                                                           \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_join(w, i, sg_scalar32(w, i, SG_S0));                                    \
	}

/* ---- relative registers: M0 is added to a number; what leaves s0..s101 does nothing ---- */

#define SG_LAST_SGPR 101u

static inline unsigned sg_relative(const struct sg_wave *w, unsigned reg)
{
	uint64_t at = (uint64_t)reg + w->s[SG_S_M0];

	return at <= SG_LAST_SGPR ? (unsigned)at : SG_S_ZERO;
}

static inline unsigned sg_scalar_reg(const struct sg_exec_insn *i, unsigned k)
{
	return (unsigned)(i->s_off[k] - offsetof(struct sg_wave, s)) / 4;
}

#define SG_OP_movrels(name, bits)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		unsigned from = sg_relative(w, sg_scalar_reg(i, SG_S0));                           \
                                                                                                   \
		if (bits == 64)                                                                    \
			sg_s64_put(w, i->sdst, from == SG_S_ZERO ? 0 : sg_s64(w, from));           \
		else                                                                               \
			w->s[i->sdst] = from == SG_S_ZERO ? 0 : w->s[from];                        \
		return SG_GO;                                                                      \
	}

#define SG_OP_movreld(name, bits)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		unsigned to = sg_relative(w, i->sdst);                                             \
                                                                                                   \
		if (to == SG_S_ZERO)                                                               \
			return SG_GO;                                                              \
		if (bits == 64)                                                                    \
			sg_s64_put(w, to, sg_scalar64(w, i, SG_S0));                               \
		else                                                                               \
			w->s[to] = sg_scalar32(w, i, SG_S0);                                       \
		return SG_GO;                                                                      \
	}

/* ---- modes ---- */

/* M0: the index in bits 0-7, what it is added to in bits 12-15. */
static inline void sg_gpr_idx_mode(struct sg_wave *w, uint32_t mask)
{
	w->gpr_idx_mask = mask & 0xf;
	w->s[SG_S_M0] = (w->s[SG_S_M0] & ~0xf000u) | w->gpr_idx_mask << 12;
}

#define SG_OP_gpr_idx_on(name)                                                                     \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[SG_S_M0] = (w->s[SG_S_M0] & ~0xffu) | (sg_scalar32(w, i, SG_S0) & 0xff);      \
		sg_gpr_idx_mode(w, (uint32_t)i->imm);                                              \
		w->mode |= SG_MODE_GPR_IDX_EN;                                                     \
		return SG_STOP_MODE;                                                               \
	}

#define SG_OP_gpr_idx_off(name)                                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		w->mode &= ~SG_MODE_GPR_IDX_EN;                                                    \
		return SG_STOP_MODE;                                                               \
	}

#define SG_OP_gpr_idx_mode(name)                                                                   \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_gpr_idx_mode(w, (uint32_t)i->imm);                                              \
		return SG_STOP_MODE;                                                               \
	}

#define SG_OP_gpr_idx_idx(name)                                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[SG_S_M0] = (w->s[SG_S_M0] & ~0xffu) | (sg_scalar32(w, i, SG_S0) & 0xff);      \
		return SG_GO;                                                                      \
	}

#define SG_OP_setvskip(name)                                                                       \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t on = sg_scalar32(w, i, SG_S0) >> (sg_scalar32(w, i, SG_S1) & 31) & 1;     \
                                                                                                   \
		w->mode = on ? w->mode | SG_MODE_VSKIP : w->mode & ~SG_MODE_VSKIP;                 \
		return SG_STOP_MODE;                                                               \
	}

#define SG_OP_getreg(name)                                                                         \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		w->s[i->sdst] = sg_hwreg_read(w, i, (uint32_t)i->imm);                             \
		return SG_GO;                                                                      \
	}

#define SG_OP_setreg(name, value)                                                                  \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return sg_hwreg_write(w, (uint32_t)i->imm, value) ? SG_STOP_MODE : SG_GO;          \
	}

/* ---- messages, traps, the end ---- */

/* A halted wave stays where it is: only a debugger could continue it, and there is none. */
static inline enum sg_stop sg_halt(struct sg_wave *w, const struct sg_exec_insn *i)
{
	w->status_priv |= SG_STATUS_HALT;
	w->pc = i;
	return SG_STOP_WAIT;
}

#define SG_OP_sethalt(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return i->imm & 1 ? sg_halt(w, i) : SG_GO;                                         \
	}

#define SG_OP_setkill(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		return i->imm & 1 ? SG_STOP_END : SG_GO;                                           \
	}

#define SG_MSG_INTERRUPT 1
#define SG_MSG_GET_DOORBELL 10

static inline void sg_send(struct sg_wave *w, uint32_t message)
{
	const struct sg_exec_hooks *hooks = w->launch->hooks;

	if (w->launch->trap && (message & 0xf) == SG_MSG_GET_DOORBELL)
		w->s[SG_S_EXEC] = w->launch->trap->doorbell; /* with bit 31 clear: answered */
	/* the others are addressed to graphics blocks, or belong to debuggers */
	if ((message & 0xf) != SG_MSG_INTERRUPT || !hooks || !hooks->interrupt)
		return;
	atomic_store_explicit(&w->launch->sent_interrupt, true, memory_order_relaxed);
	hooks->interrupt(hooks->ctx, w->s[SG_S_M0] & 0xffffffu);
}

#define SG_OP_sendmsg(name)                                                                        \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		sg_send(w, (uint32_t)i->imm);                                                      \
		return SG_GO;                                                                      \
	}

#define SG_OP_sendmsghalt(name)                                                                    \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		if (!(w->status_priv & SG_STATUS_HALT))                                            \
			sg_send(w, (uint32_t)i->imm);                                              \
		return sg_halt(w, i);                                                              \
	}

/* The amdhsa ABI: 3 is a breakpoint, which nobody listens to; 0 is no trap; others end the wave. */
#define SG_TRAP_DEBUG 3

#define SG_OP_trap(name)                                                                           \
	SG_HANDLER(name)                                                                           \
	{                                                                                          \
		uint32_t id = (uint32_t)i->imm & 0xff;                                             \
		enum sg_stop stop;                                                                 \
                                                                                                   \
		if (id == 0 || id == SG_TRAP_DEBUG)                                                \
			return SG_GO;                                                              \
		stop = sg_wave_fault(w, i, SG_FAULT_TRAP, 0, false);                               \
		w->fault.trap_id = id;                                                             \
		return stop;                                                                       \
	}

#endif
