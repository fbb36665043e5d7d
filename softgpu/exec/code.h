/*
 * code: decoded instructions, kept as long as the memory they came from may not have changed.
 *
 * Code is decoded when it is first executed, one instruction at a time, into windows of
 * WS_WINDOW_BYTES with a slot for every dword. All windows of one generation belong to a
 * struct ws_code; ws_code_cache_invalidate() starts the next generation, while launches that still
 * run keep theirs alive.
 *
 * Threads  any. Looking up a window takes a lock, running inside one does not.
 */
#ifndef WS_SOFTGPU_EXEC_CODE_H
#define WS_SOFTGPU_EXEC_CODE_H

#include <stdint.h>

#include "softgpu/exec/wave.h"

#define WS_WINDOW_BYTES (256u << 10)
#define WS_WINDOW_SLOTS (WS_WINDOW_BYTES / 4)

struct ws_code;

struct ws_code_window {
	uint64_t gpu_base;            /* address of slot 0 */
	struct ws_inst *slots;
	struct ws_code *code;
	struct ws_code_window *next;  /* of the same bucket */
};

struct ws_code *ws_code_get(struct ws_code_cache *cache); /* the current generation, counted */
void ws_code_put(struct ws_code *code);
/* The window that holds `address`; NULL: out of memory. */
struct ws_code_window *ws_code_window(struct ws_code *code, uint64_t address);

/* Decodes the instruction at *i, which is w's next; leaves w->pc there. */
enum ws_stop ws_code_decode_only(struct ws_wave *w, const struct ws_inst *i);
/* Handler of slots that are not decoded yet: decodes, then runs the instruction. */
enum ws_stop ws_code_decode_here(struct ws_wave *w, const struct ws_inst *i);

#endif
