#include "collector/softgpu.h"

#include "softgpu/counters/service.h"

#include <dlfcn.h>
#include <stddef.h>

void *col_softgpu_open(void)
{
	static const char *const names[] = SOFTGPU_LIBRARIES;
	void *library = NULL;

	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
	return library;
}
