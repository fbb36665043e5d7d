/*
 * code: decoded instructions, kept as long as the memory they came from may not have changed.
 *
 * Code is decoded when it is first executed, one instruction at a time, into windows of
 * SG_WINDOW_BYTES with a slot for every dword. All windows of one generation belong to a
 * struct sg_code; sg_code_cache_invalidate() starts the next generation, while launches that still
 * run keep theirs alive.
 *
 * Threads  any. Looking up a window takes a lock, running inside one does not.
 */
#ifndef WS_SOFTGPU_EXEC_CODE_H
#define WS_SOFTGPU_EXEC_CODE_H

#include <stdint.h>

#include "softgpu/exec/wave.h"

#define SG_WINDOW_BYTES (256u << 10)
#define SG_WINDOW_SLOTS (SG_WINDOW_BYTES / 4)

struct sg_code;

struct sg_code_window {
	uint64_t gpu_base; /* address of slot 0 */
	struct sg_exec_insn *slots;
	struct sg_code *code;
	struct sg_code_window *next; /* of the same bucket */
};

struct sg_code *sg_code_get(struct sg_code_cache *cache); /* the current generation, counted */
void sg_code_put(struct sg_code *code);
/* The window that holds `address`; NULL: out of memory. */
struct sg_code_window *sg_code_window(struct sg_code *code, uint64_t address);

/* Decodes the instruction at *i, which is w's next; leaves w->pc there. */
enum sg_stop sg_code_decode_only(struct sg_wave *w, const struct sg_exec_insn *i);
/* Handler of slots that are not decoded yet: decodes, then runs the instruction. */
enum sg_stop sg_code_decode_here(struct sg_wave *w, const struct sg_exec_insn *i);

#endif
