#include "softgpu/core/companion.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "softgpu/device/log.h"

#define LIBRARY "libwavescope-companion.so"

static void log_line(const char *text)
{
	sg_gpu_log(SG_GPU_LOG_DEBUG, "%s", text);
}

/* It is beside this library, or nowhere. */
static void *open_library(void)
{
	char path[PATH_MAX];
	const char *slash;
	Dl_info self;

	if (!dladdr((void *)log_line, &self) || !(slash = strrchr(self.dli_fname, '/')) ||
	    snprintf(path, sizeof(path), "%.*s/" LIBRARY, (int)(slash - self.dli_fname),
		     self.dli_fname) >= (int)sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void sg_companion_load(void)
{
	static atomic_flag busy = ATOMIC_FLAG_INIT; /* stays set when there is no more to do */
	static bool (*install)(void (*log)(const char *text));
	void *library;

	if (atomic_flag_test_and_set(&busy))
		return;
	if (!install) {
		library = open_library();
		if (!library)
			return;
		install = (__typeof__(install))dlsym(library, "companion_install");
	}
	if (install && !install(log_line))
		atomic_flag_clear(&busy);
}
