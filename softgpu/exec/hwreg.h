/*
 * hwreg: the hardware registers that s_getreg and s_setreg name.
 *
 * A read of a register that holds nothing here (trap addresses, instruction buffer, outstanding
 * counts: every instruction has finished when the next one starts) is 0. Without privileges a wave
 * may write MODE and the exception flags of TRAPSTS; other writes do nothing.
 *
 * Threads  the thread that runs the wave.
 */
#ifndef WS_SOFTGPU_EXEC_HWREG_H
#define WS_SOFTGPU_EXEC_HWREG_H

#include <stdbool.h>
#include <stdint.h>

struct ws_inst;
struct ws_wave;

/* clang-format off */
enum ws_hwreg {
	WS_HWREG_MODE = 1, WS_HWREG_STATUS, WS_HWREG_TRAPSTS, WS_HWREG_HW_ID, WS_HWREG_GPR_ALLOC,
	WS_HWREG_LDS_ALLOC, WS_HWREG_IB_STS, WS_HWREG_PC_LO, WS_HWREG_PC_HI, WS_HWREG_INST_DW0,
	WS_HWREG_INST_DW1, WS_HWREG_IB_DBG0, WS_HWREG_IB_DBG1, WS_HWREG_FLUSH_IB,
	WS_HWREG_SH_MEM_BASES, WS_HWREG_TBA_LO, WS_HWREG_TBA_HI, WS_HWREG_TMA_LO, WS_HWREG_TMA_HI,
};
/* clang-format on */

#define WS_STATUS_HALT (1u << 13) /* in w->status_priv */

/* `field` is the instruction's simm16: register, lowest bit, width - 1. */
uint32_t ws_hwreg_read(const struct ws_wave *w, const struct ws_inst *i, uint32_t field);
/* True: MODE changed, the loop has to be chosen again. */
bool ws_hwreg_write(struct ws_wave *w, uint32_t field, uint32_t value);

/* s_memtime: shader clocks at the device's boost frequency; s_memrealtime: 100 MHz. */
uint64_t ws_wave_core_clock(const struct ws_wave *w);

#endif
