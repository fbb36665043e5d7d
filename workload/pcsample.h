/*
 * pcsample: where the program counter was, from what rocprofv3 left in a workload
 * (ps_file_*), summed up by source line or by instruction.
 *
 * Memory   everything lives in the arena that was given.
 */
#ifndef WS_WORKLOAD_PCSAMPLE_H
#define WS_WORKLOAD_PCSAMPLE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wl_pcsample_row {
	size_t label;            /* its number before sorting */
	const char *source_line; /* ".../file.cpp:12" */
	const char *instruction;
	uint64_t offset; /* within the code object; by kernel only */
	uint64_t n, n_issued, n_stalled;
	const char *stalls; /* "[('WAITCNT', 3), ...]" */
};

struct wl_pcsamples {
	struct wl_pcsample_row *rows;
	size_t n;
	bool stochastic; /* issue and stalls are known */
	bool by_kernel;  /* offsets are known */
};

bool wl_pcsamples_exist(const char *dir);
/* Samples of the whole program by source line, most first. WS_E_NOTFOUND: there are none. */
enum ws_status wl_pcsamples_all(const char *dir, struct ws_arena *arena, struct wl_pcsamples *out,
				struct ws_err *err);

/* Samples by kernel. The file is read once, which is most of the work. */
struct wl_pcsample_file;
enum ws_status wl_pcsamples_open(const char *dir, struct wl_pcsample_file **out_file,
				 struct ws_err *err);
void wl_pcsamples_close(struct wl_pcsample_file *file); /* NULL is fine */
/* Of one kernel by instruction, in order of offset, or most first. */
enum ws_status wl_pcsamples_kernel(const struct wl_pcsample_file *file, const char *kernel,
				   bool by_count, struct ws_arena *arena, struct wl_pcsamples *out,
				   struct ws_err *err);

#endif
