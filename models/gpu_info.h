/*
 * gpu_info: the power or the memory in use of GPUs over time, as madengine's CSV file.
 *
 *	time,Power(Watt) GPU0,Power(Watt) GPU1
 *	2026-11-16 08:40:12.100203,43.0,N/A
 *
 * Lines end with CR LF, times are local, power is in watts, memory in percent with two decimals. Each
 * row is written when it is sampled. Rows are taken at multiples of the period after
 * the first; one that is late does not move the others.
 *
 * GPUs are read through AMD's libraries, else the driver's files (collector/monitor/gpu_source.h). The
 * software GPU has memory in use, the sum over all processes of the user. Its power is modelled: a board takes
 * its idle power, and up to its limit with the share of time in which kernels run; dies share that of a board.
 *
 * Threads  one.
 * Memory   one object; nothing grows with the number of rows.
 */
#ifndef WS_MODELS_GPU_INFO_H
#define WS_MODELS_GPU_INFO_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* clang-format off */
#define MDL_GPU_INFO_TABLE(X)                              \
	X(MDL_GPU_INFO_POWER, "power", "Power(Watt) GPU")  \
	X(MDL_GPU_INFO_VRAM,  "vram",  "vram(%) GPU")
/* clang-format on */

enum mdl_gpu_info_mode {
#define MDL_GPU_INFO_ROW(name, word, column) name,
	MDL_GPU_INFO_TABLE(MDL_GPU_INFO_ROW)
#undef MDL_GPU_INFO_ROW
};
extern const char *const mdl_gpu_info_modes[]; /* words, NULL at the end */

struct mdl_gpu_info_config {
	enum mdl_gpu_info_mode mode;
	const char *devices; /* "all", or indices and ranges: "0,2-3" */
	double period_s;
	const char *path;
};

struct mdl_gpu_info; /* layout is gpu_info.c's business */

/*
 * Finds the GPUs and writes the header. With "all", power leaves out second dies, which have no
 * sensor; one that is named is an error.
 */
enum ws_status mdl_gpu_info_open(const struct mdl_gpu_info_config *config,
				 struct mdl_gpu_info **out_info, struct ws_err *err);
void mdl_gpu_info_close(struct mdl_gpu_info *info); /* NULL is fine */

enum ws_status mdl_gpu_info_row(struct mdl_gpu_info *info, struct ws_err *err);
/*
 * Rows until @stop_fd can be read, the file was removed, or the process @while_pid (0: none) has ended.
 */
enum ws_status mdl_gpu_info_rows(struct mdl_gpu_info *info, int stop_fd, pid_t while_pid,
				 struct ws_err *err);

size_t mdl_gpu_info_n_gpus(const struct mdl_gpu_info *info); /* columns */
uint64_t mdl_gpu_info_n_rows(const struct mdl_gpu_info *info);
uint64_t mdl_gpu_info_n_missed(const struct mdl_gpu_info *info); /* periods without a row */
/* What a reader of the file should know, "" if nothing: "simulated", GPUs that were left out. */
const char *mdl_gpu_info_note(const struct mdl_gpu_info *info);

/* What the GPUs of this machine are read by: "libamd_smi"; and how many there are. */
enum ws_status mdl_gpu_info_source(const char **out_name, size_t *out_n_gpus, struct ws_err *err);

#endif
