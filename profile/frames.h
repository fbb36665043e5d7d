/*
 * frames: recorded call stacks as functions, files and lines.
 *
 *	prof_frames_open(process, &opts, &frames, err);
 *	n = prof_frames_of(frames, sample->h.what, &stack);
 *	for (size_t i = 0; i < n; i++)          outermost first
 *		use(stack[i].name);
 *
 * Names are looked up when a stack is first requested, and kept. Python frames stand in the
 * place of the interpreter's own frames that executed them; functions of the interpreter that
 * only pass on a call are left out. A function without a symbol is shown as its file and the
 * offset in it. Files that were changed since they were profiled, or cannot be read, have
 * no symbols; the first few are reported by ws_log_warn().
 *
 * Threads  one at a time.
 * Memory   everything returned lives as long as the prof_frames.
 */
#ifndef WS_PROFILE_FRAMES_H
#define WS_PROFILE_FRAMES_H

#include "base/error.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_frame {
	const char *name; /* demangled; without a symbol "file+0x1a2b", or "0x7f..."; never NULL */
	const char *file; /* "" unknown */
	const char *module; /* path of the executable or library; "" for Python */
	uint64_t address;   /* in memory; 0 for Python */
	uint64_t offset;    /* in the module's file */
	uint32_t line;      /* 0 unknown */
	bool python;
	bool inlined;  /* into the next outer frame that is not */
	bool internal; /* of wavescope's own libraries */
};

struct prof_frames_opts {
	bool inlines;       /* inlined functions are frames */
	bool drop_internal; /* leave out frames of wavescope's own libraries */
};

struct prof_frames;

enum ws_status prof_frames_open(const struct trc_process *process,
				const struct prof_frames_opts *opts,
				struct prof_frames **out_frames, struct ws_err *err);
void prof_frames_close(struct prof_frames *frames);

/* Outermost first. 0: the stack is not known, or there is no memory. */
size_t prof_frames_of(struct prof_frames *frames, uint32_t stack,
		      const struct prof_frame **out_stack);

/* The function at an address, for regions; never NULL, never an inlined one. */
const struct prof_frame *prof_frames_at(struct prof_frames *frames, uint64_t address);

#endif
