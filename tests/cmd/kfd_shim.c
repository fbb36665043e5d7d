/*
 * rocminfo opens /dev/kfd itself before it asks the runtime, only to see whether
 * it may. Where there is none, /dev/null answers as well.
 */
#include "base/util.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

WS_PUBLIC int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	mode_t mode = 0;
	va_list args;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	return next(strcmp(path, "/dev/kfd") ? path : "/dev/null", flags, mode);
}
