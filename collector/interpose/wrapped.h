/* wrapped: the wrapped libraries by name, and the libraries that contain the wrappers. */
#ifndef WS_COLLECTOR_INTERPOSE_WRAPPED_H
#define WS_COLLECTOR_INTERPOSE_WRAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct col_wrapped {
	const char *library, *library2; /* beginnings of file names; the second may be NULL */
	const char *wrappers;           /* the same, of the library of wrappers */
	const char *prefixes[6];        /* of function names, NULL-terminated */
	bool optional;                  /* the wrappers work with nothing behind them */
};

static const struct col_wrapped col_wrapped[] = {
	{ "libamdhip64.so",
	  "libhiprtc.so",
	  "libwavescope-hip",
	  { "hip", "__hip", "_Z2", "_ZN8hip_impl" },
	  false },
	{ "librccl.so", "libnccl.so", "libwavescope-rccl", { "nccl", "msccl" }, false },
	{ "libmpi", NULL, "libwavescope-regions", { "MPI_", "mpi_" }, false },
	{ "libroctx64.so",
	  "librocprofiler-sdk-roctx.so",
	  "librocprofiler-sdk-roctx.so",
	  { "roctx" },
	  true },
	{ 0 },
};

static inline bool col_begins(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

/* Whose function @name is; NULL: nobody's. */
static inline const struct col_wrapped *col_wrapped_function(const char *name)
{
	for (const struct col_wrapped *w = col_wrapped; w->library; w++)
		for (size_t i = 0; w->prefixes[i]; i++)
			if (col_begins(name, w->prefixes[i]))
				return w;
	return NULL;
}

/* Whether @file is the name of the library itself. */
static inline bool col_wrapped_is_file(const struct col_wrapped *w, const char *file)
{
	return col_begins(file, w->library) || (w->library2 && col_begins(file, w->library2));
}

#endif
