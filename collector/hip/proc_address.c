#include "collector/hip/hooks.h"
#include "collector/interpose/resolve.h"

#include <dlfcn.h>

void col_hip_proc_address(int32_t ret, uint64_t token, const char *symbol, void *out_function,
			  int32_t version, uint64_t flags, void *status)
{
	Dl_info mine, other;
	void *wrapper;

	if (ret != 0 || !symbol || !out_function || !*(void **)out_function)
		return;
	/* Ours when it is in this library: another tool's wrapper is not for us to hand out. */
	wrapper = col_dlsym_real(RTLD_DEFAULT, symbol);
	if (wrapper && dladdr(wrapper, &other) && dladdr((void *)col_hip_proc_address, &mine) &&
	    mine.dli_fbase == other.dli_fbase)
		*(void **)out_function = wrapper;
}
