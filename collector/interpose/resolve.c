#include "collector/interpose/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>

/* Newest first; the second for x86, the third for Arm, where libdl was a library of its own. */
static const char *const libc_versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };

void *col_dlsym_libc(void)
{
	static void *address;
	void *fn = __atomic_load_n(&address, __ATOMIC_RELAXED);

	/* With a version, so that definitions without one (interposers) are skipped. */
	for (size_t i = 0; !fn && i < sizeof(libc_versions) / sizeof(*libc_versions); i++)
		fn = dlvsym(RTLD_NEXT, "dlsym", libc_versions[i]);
	__atomic_store_n(&address, fn, __ATOMIC_RELAXED);
	return fn;
}

void *col_dlsym_real(void *handle, const char *name)
{
	void *(*fn)(void *, const char *) = (void *(*)(void *, const char *))col_dlsym_libc();

	return fn ? fn(handle, name) : NULL;
}

struct search {
	const char *beginning;
	char path[PATH_MAX];
};

static int match_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const char *file = strrchr(info->dlpi_name, '/');

	file = file ? file + 1 : info->dlpi_name;
	if (strncmp(file, s->beginning, strlen(s->beginning)) ||
	    strlen(info->dlpi_name) >= sizeof(s->path))
		return 0;
	strcpy(s->path, info->dlpi_name);
	return 1;
}

void *col_loaded_library(const char *beginning)
{
	struct search s = { .beginning = beginning };

	/* Opened after the walk: the loader's lock is not held then. */
	if (!dl_iterate_phdr(match_library, &s))
		return NULL;
	return dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
}

/* The object that holds @fn stays loaded from now on. */
static void keep_loaded(struct col_api *api, void *fn)
{
	Dl_info info;

	if (!dladdr(fn, &info) || !info.dli_fname)
		return;
	dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (api->found)
		api->found(info.dli_fname);
}

void *col_resolve(struct col_api *api, size_t row)
{
	int saved_errno = errno;
	void *fn = col_dlsym_real(RTLD_NEXT, api->symbols[row]);

	for (size_t i = 0; !fn && api->libraries[i]; i++) {
		void *library = col_loaded_library(api->libraries[i]);

		if (library) {
			fn = col_dlsym_real(library, api->symbols[row]);
			dlclose(library);
		}
	}
	if (fn) {
		keep_loaded(api, fn);
		__atomic_store_n(&api->functions[row], fn, __ATOMIC_RELAXED);
	}
	dlerror(); /* ours, not the program's */
	errno = saved_errno;
	return fn;
}
