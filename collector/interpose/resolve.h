/*
 * resolve: finds the real function of a wrapper.
 *
 * A wrapper library is preloaded, so its definitions take precedence. The real
 * function is looked up at the first call: first in the libraries after ours (another
 * tool's wrapper may be there and must be called), then in the library itself, which
 * may have been loaded late with RTLD_LOCAL (a Python extension, a plug-in). A library in
 * which a function was found is kept loaded, because its addresses are in our table. A
 * lookup that failed is repeated at the next call.
 *
 * Threads  any. Two that resolve the same function at once find the same answer.
 * errno    kept, and so is what dlerror() will say.
 */
#ifndef WS_COLLECTOR_INTERPOSE_RESOLVE_H
#define WS_COLLECTOR_INTERPOSE_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

struct col_api {
	void **functions;           /* NULL: not resolved yet */
	const char *const *symbols; /* as the library exports them */
	size_t n;
	const char *const *libraries; /* beginnings of file names, NULL-terminated */
	/* The library was met: at @path, as far as is known. May be called more than once. */
	void (*found)(const char *path);
};

void *col_resolve(struct col_api *api, size_t row); /* NULL: the library has no such function */

/* The C library's own dlsym(): the name may be interposed, by us among others. */
void *col_dlsym_real(void *handle, const char *name);
void *col_dlsym_libc(void); /* its address */

/* A loaded library whose file name begins with @beginning, one more reference; NULL: none. */
void *col_loaded_library(const char *beginning);

#endif
