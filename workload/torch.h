/*
 * torch: which PyTorch operator launched which kernels.
 *
 * `profile --torch-trace` leaves marker ranges named after operators beside the
 * counters. They are read from torch_trace/consolidated.csv, which profile writes; where it
 * is missing, the raw files are put together in memory.
 *
 * Memory   everything lives in the arena that was given.
 */
#ifndef WS_WORKLOAD_TORCH_H
#define WS_WORKLOAD_TORCH_H

#include "base/arena.h"
#include "base/error.h"
#include "workload/workload.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Launches of one kernel by one operator from one place in the program. */
struct wl_torch_use {
	const char *op;      /* "nn.Module.Net.forward/torch.nn.functional.conv2d" */
	const char *context; /* "1@model.py:231" */
	const char *kernel;
	size_t n_launches;
	double total_ns;
};

struct wl_torch {
	struct wl_torch_use *uses; /* by operator, place, kernel, in order of appearance */
	size_t n;
};

enum ws_status wl_torch_load(const struct wl_workload *load, struct ws_arena *arena,
			     struct wl_torch *out_torch, struct ws_err *err);

/*
 * Whether a glob means an operator: its parts are compared from the right, as Python's
 * PurePosixPath does; "all", "*" and "**" mean every one.
 */
bool wl_torch_matches(const char *pattern, const char *op);

struct trc_counted;
struct wl_sheet_rows;
struct wl_sheets;

/*
 * Adds the counters of the kernels that operators launched, from the passes of one run;
 * *@out_n_calls: of operators that were seen.
 */
enum ws_status wl_torch_write(const struct wl_sheets *sheets, size_t first_pass, size_t n_passes,
			      const struct trc_counted *table, const struct wl_sheet_rows *rows,
			      const char *dir, size_t *out_n_calls, struct ws_err *err);

#endif
