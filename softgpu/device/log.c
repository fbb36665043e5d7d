#include "softgpu/device/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* WAVESCOPE_LOG is one variable for all of wavescope, so all its names are known here. */
static const struct {
	const char *name;
	enum sg_gpu_log_level level;
} levels[] = {
	{ "none", SG_GPU_LOG_NONE }, { "error", SG_GPU_LOG_ERROR }, { "warn", SG_GPU_LOG_ERROR },
	{ "info", SG_GPU_LOG_INFO }, { "debug", SG_GPU_LOG_DEBUG }, { "trace", SG_GPU_LOG_DEBUG },
};

static _Atomic int current_level = SG_GPU_LOG_ERROR;

bool sg_gpu_log_set(const char *name)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (!strcmp(name, levels[i].name)) {
			atomic_store_explicit(&current_level, (int)levels[i].level,
					      memory_order_relaxed);
			return true;
		}
	}
	return false;
}

bool sg_gpu_log_on(enum sg_gpu_log_level level)
{
	return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

void sg_gpu_log(enum sg_gpu_log_level level, const char *format, ...)
{
	int saved_errno = errno;
	char line[3072];
	va_list args;
	int n, m;

	if (!sg_gpu_log_on(level))
		return;
	n = snprintf(line, sizeof(line), "wavescope gpu: ");
	va_start(args, format);
	m = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	va_end(args);
	if (m > 0)
		n = n + m < (int)sizeof(line) - 1 ? n + m : (int)sizeof(line) - 2;
	line[n++] = '\n';
	/* One write, past stdio: this also runs in device threads while exit handlers do. */
	if (write(STDERR_FILENO, line, n) < 0)
		n = 0;
	errno = saved_errno;
}
