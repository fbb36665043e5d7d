/*
 * hwreg: the hardware registers that s_getreg and s_setreg name.
 *
 * A read of a register that holds nothing here (trap addresses, instruction buffer, outstanding
 * counts: every instruction has finished when the next one starts) is 0. Without privileges a wave
 * may write MODE and the exception flags of TRAPSTS, a trap handler all of TRAPSTS; other writes do nothing.
 *
 * Threads  the thread that runs the wave.
 */
#ifndef WS_SOFTGPU_EXEC_HWREG_H
#define WS_SOFTGPU_EXEC_HWREG_H

#include <stdbool.h>
#include <stdint.h>

struct sg_exec_insn;
struct sg_wave;

/* clang-format off */
enum sg_hwreg {
	SG_HWREG_MODE = 1, SG_HWREG_STATUS, SG_HWREG_TRAPSTS, SG_HWREG_HW_ID, SG_HWREG_GPR_ALLOC,
	SG_HWREG_LDS_ALLOC, SG_HWREG_IB_STS, SG_HWREG_PC_LO, SG_HWREG_PC_HI, SG_HWREG_INST_DW0,
	SG_HWREG_INST_DW1, SG_HWREG_IB_DBG0, SG_HWREG_IB_DBG1, SG_HWREG_FLUSH_IB,
	SG_HWREG_SH_MEM_BASES, SG_HWREG_TBA_LO, SG_HWREG_TBA_HI, SG_HWREG_TMA_LO, SG_HWREG_TMA_HI,
	SG_HWREG_XCC_ID, /* the die, and what a stochastic sample holds, from gfx942 on */
	SG_HWREG_SNAPSHOT_DATA, SG_HWREG_SNAPSHOT_DATA1, SG_HWREG_SNAPSHOT_PC_LO, SG_HWREG_SNAPSHOT_PC_HI,
};
/* clang-format on */

#define SG_STATUS_HALT (1u << 13) /* in w->status_priv */
#define SG_TRAPSTS_HOST_TRAP (1u << 22)
#define SG_TRAPSTS_PERF_SNAPSHOT (1u << 26)

/* `field` is the instruction's simm16: register, lowest bit, width - 1. */
uint32_t sg_hwreg_read(const struct sg_wave *w, const struct sg_exec_insn *i, uint32_t field);
/* True: MODE changed, the loop has to be chosen again. */
bool sg_hwreg_write(struct sg_wave *w, uint32_t field, uint32_t value);

/* s_memtime: shader clocks at the device's boost frequency; s_memrealtime: 100 MHz. */
uint64_t sg_wave_core_clock(const struct sg_wave *w);

#endif
