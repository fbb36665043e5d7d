#include "collector/softgpu.h"

#include <dlfcn.h>
#include <stddef.h>

void *col_softgpu_open(void)
{
	/* Behind the kernel driver's interface first: AMD's own thunk may be loaded beside it. */
	static const char *const names[] = { "libwavescope-kfd.so", "libhsakmt.so.1" };
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
	return library;
}
