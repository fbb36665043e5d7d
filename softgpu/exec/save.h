/*
 * save: which bytes an instruction is about to overwrite, for a run that is to be undone (undo.h).
 */
#ifndef WS_SOFTGPU_EXEC_SAVE_H
#define WS_SOFTGPU_EXEC_SAVE_H

#include "softgpu/exec/undo.h"
#include "softgpu/exec/wave.h"

#define SG_SAVE_FORMAT 0xff /* as many bytes as an element of the buffer's format has */

/* Bytes per lane (scalar memory: in all) that it writes; 0: none. Memory instructions; ends in i->clamp. */
uint8_t sg_save_bytes(const struct sg_decoded_insn *insn);
/* Before the instruction runs; i->clamp is not 0. */
void sg_save(struct sg_wave *w, const struct sg_exec_insn *i, struct sg_undo *undo);

#endif
