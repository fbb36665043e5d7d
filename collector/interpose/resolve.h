/*
 * resolve: from a wrapper to the function it stands in front of.
 *
 * A wrapper library is preloaded, so its definitions win over the library's. The real
 * function is looked for at the first call: first among the libraries behind ours (another
 * tool's wrapper may be there, and is to be called), then in the library itself, which
 * may have been loaded late and privately (a Python extension, a plug-in) where the
 * usual search does not look. A library that answered is kept loaded, because its
 * addresses are in our table; one that has no such function is asked again next time.
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
