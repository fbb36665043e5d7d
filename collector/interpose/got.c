#include "collector/interpose/got.h"

#include "base/got.h"
#include "collector/collector_priv.h"
#include "collector/interpose/preload.h"
#include "collector/interpose/wrapped.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#define OBJECTS_MAX 1024u

static struct {
	void *wrappers[COL_PRELOAD_COUNT];         /* handles; NULL: not wanted */
	char dir[PATH_MAX];                        /* ours, with '/' */
	unsigned long long n_loads;                /* objects ever loaded, when we looked last */
	struct ws_got_object objects[OBJECTS_MAX]; /* too large for a stack that is not ours */
	uint32_t n_objects;
} got;

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- the wrappers ---- */

static bool find_ourselves(void)
{
	Dl_info info;
	size_t n;

	if (got.dir[0])
		return true;
	if (!dladdr((void *)&col_got_want, &info) || !info.dli_fname)
		return false;
	n = (size_t)(file_name(info.dli_fname) - info.dli_fname);
	if (n == 0 || n >= sizeof(got.dir) - 64)
		return false;
	memcpy(got.dir, info.dli_fname, n);
	got.dir[n] = '\0';
	return true;
}

void col_got_want(uint32_t services, uint32_t flags)
{
	char path[PATH_MAX];

	if (!find_ourselves()) {
		col_note("attach: the wrapper libraries are not next to the collector");
		return;
	}
	for (size_t i = 1; i < COL_PRELOAD_COUNT; i++) { /* 0 is the collector */
		/* The one for dlsym() needs the others in front of everything, where nothing is
		 * now. */
		if (!col_preload_wanted(i, services, flags) || got.wrappers[i] ||
		    strstr(col_preload[i].library, "dlsym"))
			continue;
		strcpy(path, got.dir);
		strcat(path, col_preload[i].library);
		got.wrappers[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!got.wrappers[i])
			col_note("attach: cannot load a wrapper library, its calls are not "
				 "recorded");
	}
	got.n_loads = 0;
}

/* The wrapper of @name, from a library of wrappers that is in use. */
static void *wrapper_of(const char *name, void *arg)
{
	const struct col_wrapped *w = col_wrapped_function(name);

	for (size_t i = 1; w && i < COL_PRELOAD_COUNT; i++) {
		Dl_info info;
		void *fn;

		if (!got.wrappers[i] || !col_begins(col_preload[i].library, w->wrappers))
			continue;
		fn = dlsym(got.wrappers[i], name);
		/* A handle also finds what its library depends on. */
		if (fn && dladdr(fn, &info) && info.dli_fname &&
		    col_begins(file_name(info.dli_fname), w->wrappers))
			return fn;
	}
	return NULL;
}

/* Our roctx, linked by the program itself, asks for the collector by weak references. */
static void *collector_function(const char *name, void *arg)
{
	Dl_info info;
	void *fn;

	if (!col_begins(name, "col_marker_") && !col_begins(name, "col_agent_name_") &&
	    strcmp(name, "col_thread_name") != 0 && strcmp(name, "col_hip_stream_name") != 0)
		return NULL;
	fn = dladdr((void *)&col_got_want, &info) ? dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_NOW)
						  : NULL;
	return fn ? dlsym(fn, name) : NULL; /* one reference more to what is never unloaded */
}

/* ---- all objects ---- */

static bool is_roctx_of_ours(const char *path)
{
	return col_begins(file_name(path), "libroctx64.so") ||
	       col_begins(file_name(path), "librocprofiler-sdk-roctx.so");
}

static bool is_left_alone(const char *path)
{
	const char *name = file_name(path);

	for (const struct col_wrapped *w = col_wrapped; w->library; w++)
		if (col_wrapped_is_file(w, name))
			return true;
	return col_begins(name, "libwavescope-") || col_begins(name, "ld-linux") ||
	       col_begins(name, "linux-vdso");
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

/* Only this is taken while the loader is held: what follows calls the loader. */
static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (ws_got_describe(info, &got.objects[got.n_objects]))
		got.n_objects++;
	return got.n_objects == OBJECTS_MAX;
}

void col_got_patch(void)
{
	unsigned long long n_loads = 0;

	dl_iterate_phdr(count_loads, &n_loads);
	if (n_loads == got.n_loads)
		return;
	got.n_loads = n_loads;
	got.n_objects = 0;
	dl_iterate_phdr(take_object, NULL);
	for (uint32_t i = 0; i < got.n_objects; i++) {
		if (is_roctx_of_ours(got.objects[i].path))
			ws_got_patch(&got.objects[i], collector_function, NULL);
		else if (!is_left_alone(got.objects[i].path))
			ws_got_patch(&got.objects[i], wrapper_of, NULL);
	}
}
