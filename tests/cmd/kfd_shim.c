/*
 * rocminfo opens /dev/kfd itself before it asks the runtime, only to see whether
 * it may. Where there is none, /dev/null answers as well.
 */
#undef _FILE_OFFSET_BITS /* with it, the headers turn open() into open64() */

#include "base/util.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

static int open_as(const char *symbol, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, symbol);

	return next(strcmp(path, "/dev/kfd") ? path : "/dev/null", flags, mode);
}

/* Which of the two names a program was linked with depends on how it was compiled. */
#define OPEN_FUNCTION(name)                                                                        \
	WS_PUBLIC int name(const char *path, int flags, ...)                                       \
	{                                                                                          \
		mode_t mode = 0;                                                                   \
		va_list args;                                                                      \
                                                                                                   \
		if (flags & (O_CREAT | __O_TMPFILE)) {                                             \
			va_start(args, flags);                                                     \
			mode = va_arg(args, mode_t);                                               \
			va_end(args);                                                              \
		}                                                                                  \
		return open_as(#name, path, flags, mode);                                          \
	}

OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)
