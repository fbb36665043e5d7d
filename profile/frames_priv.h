/* What the files of frames.h share. */
#ifndef WS_PROFILE_FRAMES_PRIV_H
#define WS_PROFILE_FRAMES_PRIV_H

#include "profile/frames.h"

#include "base/arena.h"
#include "base/map.h"
#include "code/host.h"
#include "trace/host.h"

/* A module as it was mapped. */
struct prof_module {
	const struct trc_module *mapped;
	struct code_host *code; /* NULL: it cannot be read */
	const char *path;
	bool internal;       /* of wavescope */
	bool interpreter;    /* Python's: named so, or its main loop was found in it */
	struct ws_map known; /* addresses: struct prof_chain * */
};

/* What an address stands for: inlined functions, then the function itself. */
struct prof_chain {
	struct prof_module *module; /* NULL: in none */
	uint64_t plumbing;          /* bit per frame: prof_is_plumbing() */
	uint32_t n;
	bool eval; /* the interpreter's main loop */
	struct prof_frame at[];
};

/* frames_native.c: addresses. */
struct prof_native {
	const struct trc_host *host;
	struct prof_frames_opts opts;
	struct ws_arena *arena;
	struct ws_map files;   /* path and build id -> struct code_host *, or a mark */
	struct ws_map modules; /* struct trc_module * -> struct prof_module * */
	struct ws_map strays;  /* addresses in no module: struct prof_chain * */
};

void prof_native_init(struct prof_native *native, const struct trc_host *host,
		      const struct prof_frames_opts *opts, struct ws_arena *arena);
void prof_native_fini(struct prof_native *native);
/* NULL: no memory. @returns: it is a return address, so the call is before it. */
const struct prof_chain *prof_native_at(struct prof_native *native, uint32_t generation,
					uint64_t address, bool returns);
bool prof_native_is_signal_return(struct prof_native *native, uint32_t generation,
				  uint64_t address);

/* frames_python.c: where Python frames belong among the native ones. */
bool prof_is_eval(const char *name);     /* the function that executes Python code */
bool prof_is_plumbing(const char *name); /* functions between a Python call and its callee */
bool prof_is_interpreter(const char *path);

/*
 * Writes the frames of a stack, innermost first, to @out; at most as many as all chains and
 * @python have. @python: the Python frames of @stack, innermost first. Returns how many.
 */
size_t prof_merge(const struct trc_stack *stack, const struct prof_chain *const *chains,
		  const struct prof_frame *const *python, bool drop_internal,
		  struct prof_frame *out);

#endif
