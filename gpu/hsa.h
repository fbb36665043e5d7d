/*
 * hsa: AMD's HSA runtime, opened with dlopen(), so that our programs start on machines without it.
 *
 * A caller keeps the functions that it needs in a struct of pointers, and lists them once:
 *
 *	#define FUNCTIONS(X) X(hsa_init) X(hsa_shut_down)
 *	static struct { FUNCTIONS(GPU_HSA_POINTER) } hsa;
 *	static const char *const names[] = { FUNCTIONS(GPU_HSA_NAME) };
 *	st = gpu_hsa_open(names, (void **)&hsa, WS_ARRAY_LEN(names), err);
 *
 * The runtime aborts when it disagrees with its driver library: run it in a child process (gpu/hsa_agents.h).
 *
 * Threads  one; before the runtime is used.
 */
#ifndef WS_GPU_HSA_H
#define WS_GPU_HSA_H

#include "base/error.h"

#include <stddef.h>

#define GPU_HSA_POINTER(name) __typeof__(&name) name;
#define GPU_HSA_NAME(name) #name,

/* All @n of @names, or none: WS_E_NOTFOUND without a runtime, WS_E_UNSUPPORTED with an old one. */
enum ws_status gpu_hsa_open(const char *const *names, void **out_functions, size_t n,
			    struct ws_err *err);

/* "what: the runtime's text for @hsa_status", as WS_E_STATE. */
enum ws_status gpu_hsa_fail(struct ws_err *err, int hsa_status, const char *what);

#endif
