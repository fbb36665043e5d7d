#include "gpu/hsa.h"

#include "base/util.h"

#include <dlfcn.h>
#include <stdio.h>

/* The second is where ROCm is installed without an entry for the loader. */
static const char *const runtimes[] = {
	"libhsa-runtime64.so.1",
	"/opt/rocm/lib/libhsa-runtime64.so.1",
};

static int (*status_string)(int status, const char **out_text);

enum ws_status gpu_hsa_open(const char *const *names, void **out_functions, size_t n,
			    struct ws_err *err)
{
	void *library = NULL;
	char why[160] = "";

	for (size_t i = 0; !library && i < WS_ARRAY_LEN(runtimes); i++) {
		library = dlopen(runtimes[i], RTLD_NOW | RTLD_LOCAL);
		if (!library && !*why)
			snprintf(why, sizeof(why), "%s", dlerror());
	}
	if (!library)
		return ws_fail(err, WS_E_NOTFOUND,
			       "no HSA runtime (%s): install libhsa-runtime64-1 or ROCm", why);
	for (size_t i = 0; i < n; i++) {
		out_functions[i] = dlsym(library, names[i]);
		if (!out_functions[i])
			return ws_fail(err, WS_E_UNSUPPORTED,
				       "the HSA runtime has no %s: it is too old", names[i]);
	}
	*(void **)&status_string = dlsym(library, "hsa_status_string");
	return WS_OK;
}

enum ws_status gpu_hsa_fail(struct ws_err *err, int hsa_status, const char *what)
{
	const char *text = NULL;

	if (!status_string || status_string(hsa_status, &text) || !text)
		return ws_fail(err, WS_E_STATE, "%s: HSA status 0x%x", what, (unsigned)hsa_status);
	return ws_fail(err, WS_E_STATE, "%s: %s", what, text);
}
