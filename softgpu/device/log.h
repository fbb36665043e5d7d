/*
 * log: messages of the software GPU on stderr, one line per fact.
 *
 * Errors that no status reports to the program are always printed, other messages only when WAVESCOPE_LOG
 * requests them. Lines are written whole, so those of different threads do not mix.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_DEVICE_LOG_H
#define WS_SOFTGPU_DEVICE_LOG_H

#include <stdbool.h>

enum sg_gpu_log_level { SG_GPU_LOG_NONE, SG_GPU_LOG_ERROR, SG_GPU_LOG_INFO, SG_GPU_LOG_DEBUG };

/* "none", "error" (default), "info", "debug". False: no such level, nothing changed. */
bool sg_gpu_log_set(const char *name);
bool sg_gpu_log_on(enum sg_gpu_log_level level);

__attribute__((format(printf, 2, 3))) void sg_gpu_log(enum sg_gpu_log_level level,
						      const char *format, ...);

#endif
