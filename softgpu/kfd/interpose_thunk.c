/*
 * Thunks up to ROCm 6.1 are a library of their own, and pin memory of the program under another
 * address. They reserve that address as they do all others, so their calls are watched: what is
 * reserved inside of them is for an alias.
 *
 * In a forked child they refuse everything. Exit handlers of the child release what the parent
 * allocated, and a ROCr with assertions aborts when that fails: there is nothing to release in
 * the child, so these calls succeed there.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "softgpu/kfd/interpose.h"

#define THUNK "libhsakmt.so.1"
#define STATUS_ERROR 1 /* HSAKMT_STATUS_ERROR */

extern _Thread_local bool sg_registering;

int hsaKmtRegisterMemory(void *addr, uint64_t size);
int hsaKmtRegisterMemoryToNodes(void *addr, uint64_t size, uint64_t n, uint32_t *nodes);
int hsaKmtRegisterMemoryWithFlags(void *addr, uint64_t size, uint32_t flags);

/* The thunk may have been loaded for one library alone, out of RTLD_NEXT's sight. */
static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	void *thunk = found ? NULL : dlopen(THUNK, RTLD_LAZY | RTLD_NOLOAD);

	return thunk ? dlsym(thunk, name) : found;
}

#define WATCH(name, parameters, ...)                                                               \
	SG_EXPORT int name parameters                                                              \
	{                                                                                          \
		static _Atomic(__typeof__(&name)) next_;                                           \
		__typeof__(&name) real = atomic_load(&next_);                                      \
		int status;                                                                        \
		if (!real)                                                                         \
			atomic_store(&next_, real = (__typeof__(&name))next(#name));               \
		if (!real)                                                                         \
			return STATUS_ERROR;                                                       \
		sg_registering = true;                                                             \
		status = real(__VA_ARGS__);                                                        \
		sg_registering = false;                                                            \
		return status;                                                                     \
	}

#define RELEASE(name, parameters, ...)                                                             \
	int name parameters;                                                                       \
	SG_EXPORT int name parameters                                                              \
	{                                                                                          \
		static _Atomic(__typeof__(&name)) next_;                                           \
		__typeof__(&name) real = atomic_load(&next_);                                      \
		if (sg_interpose_in_child())                                                       \
			return 0;                                                                  \
		if (!real)                                                                         \
			atomic_store(&next_, real = (__typeof__(&name))next(#name));               \
		return real ? real(__VA_ARGS__) : STATUS_ERROR;                                    \
	}

RELEASE(hsaKmtFreeMemory, (void *addr, uint64_t size), addr, size)
RELEASE(hsaKmtUnmapMemoryToGPU, (void *addr), addr)
RELEASE(hsaKmtDeregisterMemory, (void *addr), addr)
RELEASE(hsaKmtDestroyQueue, (uint64_t queue), queue)
RELEASE(hsaKmtDestroyEvent, (void *event), event)
RELEASE(hsaKmtCloseKFD, (void))

WATCH(hsaKmtRegisterMemory, (void *addr, uint64_t size), addr, size)
WATCH(hsaKmtRegisterMemoryToNodes, (void *addr, uint64_t size, uint64_t n, uint32_t *nodes), addr,
      size, n, nodes)
WATCH(hsaKmtRegisterMemoryWithFlags, (void *addr, uint64_t size, uint32_t flags), addr, size, flags)
