#include "softgpu/device/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {
	[WS_GPU_LOG_NONE] = "none",
	[WS_GPU_LOG_ERROR] = "error",
	[WS_GPU_LOG_INFO] = "info",
	[WS_GPU_LOG_DEBUG] = "debug",
};

static _Atomic int current_level = WS_GPU_LOG_ERROR;

bool ws_gpu_log_set(const char *name)
{
	for (int i = 0; i <= WS_GPU_LOG_DEBUG; i++) {
		if (!strcmp(name, level_names[i])) {
			atomic_store_explicit(&current_level, i, memory_order_relaxed);
			return true;
		}
	}
	return false;
}

bool ws_gpu_log_on(enum ws_gpu_log_level level)
{
	return (int)level <= atomic_load_explicit(&current_level, memory_order_relaxed);
}

void ws_gpu_log(enum ws_gpu_log_level level, const char *format, ...)
{
	int saved_errno = errno;
	char line[512];
	va_list args;
	int n, m;

	if (!ws_gpu_log_on(level))
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
