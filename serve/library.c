#include "serve/library.h"

#include <dlfcn.h>
#include <stddef.h>

#define LIBRARY "libmicrohttpd.so.12"

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define SRV_LIBRARY_ROW(name) { "MHD_" #name, offsetof(struct srv_library, name) },
	SRV_LIBRARY_TABLE(SRV_LIBRARY_ROW)
#undef SRV_LIBRARY_ROW
};

enum ws_status srv_library_open(const struct srv_library **out_library, struct ws_err *err)
{
	static struct srv_library library;
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return ws_fail(err, WS_E_UNSUPPORTED,
			       "a server needs " LIBRARY ", which cannot be opened: install the "
			       "package libmicrohttpd12, or write the page to a file (-f html, "
			       "--output-format html)");
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return ws_fail(err, WS_E_UNSUPPORTED,
				       LIBRARY
				       " has no %s: it is not libmicrohttpd 0.9.71 or later",
				       functions[i].name);
		*(void **)((char *)&library + functions[i].offset) = function;
	}
	*out_library = &library;
	return WS_OK;
}
