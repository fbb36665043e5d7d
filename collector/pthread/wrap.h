/*
 * wrap: functions of pthreads as regions of category pthread.
 *
 * A file of wrappers is a table of rows
 *
 *	X(flag, name, (parameters), (arguments))
 *
 * and COL_PTHREAD_WRAPPER applied to it. The functions return int. Each row's flag is the
 * COL_COLLECT_FLAG() that requests it.
 *
 * Threads  any, also before the collector's constructor and while the program exits.
 * errno    kept.
 * Recursion  calls of the collector are not recorded, known by their return address: it locks
 *          while it writes.
 */
#ifndef WS_COLLECTOR_PTHREAD_WRAP_H
#define WS_COLLECTOR_PTHREAD_WRAP_H

#include "base/util.h"
#include "collector/regions.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>

/* Where the collector is mapped; before it is known nothing is recorded. */
static uintptr_t col_pthread_own_start, col_pthread_own_end;

static int col_pthread_measure(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t start = UINTPTR_MAX, end = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		start = WS_MIN(start, info->dlpi_addr + part->p_vaddr);
		end = WS_MAX(end, info->dlpi_addr + part->p_vaddr + part->p_memsz);
	}
	if ((uintptr_t)&col_switches < start || (uintptr_t)&col_switches >= end)
		return 0;
	col_pthread_own_start = start;
	__atomic_store_n(&col_pthread_own_end, end, __ATOMIC_RELEASE);
	return 1;
}

__attribute__((constructor)) static void col_pthread_load(void)
{
	dl_iterate_phdr(col_pthread_measure, NULL);
}

static inline bool col_pthread_is_own(const void *caller)
{
	uintptr_t end = __atomic_load_n(&col_pthread_own_end, __ATOMIC_ACQUIRE);

	return !end || ((uintptr_t)caller >= col_pthread_own_start && (uintptr_t)caller < end);
}

/* dlsym() takes no lock that is wrapped here: the loader's are internal to the C library. */
static inline void *col_pthread_real(void **found, const char *name)
{
	void *real = __atomic_load_n(found, __ATOMIC_RELAXED);

	if (__builtin_expect(!real, 0)) {
		real = dlsym(RTLD_NEXT, name);
		__atomic_store_n(found, real, __ATOMIC_RELAXED);
	}
	return real;
}

/* The number of the region; 0: not recorded now. */
static inline uint32_t col_pthread_begin(uint32_t flag, uint32_t *id, const char *name,
					 const void *caller)
{
	uint32_t known;

	if (!col_on(COL_SERVICE_REGIONS) || !(col_config()->flags & flag) ||
	    col_pthread_is_own(caller))
		return 0;
	known = __atomic_load_n(id, __ATOMIC_RELAXED);
	if (!known) {
		known = col_region_intern(CAP_REGION_PTHREAD, name, NULL, 0);
		__atomic_store_n(id, known, __ATOMIC_RELAXED);
	}
	if (known)
		col_region_enter(known);
	return known;
}

static inline void col_pthread_end(uint32_t id)
{
	if (id)
		col_region_leave(id);
}

#define COL_PTHREAD_WRAPPER(flag, name, parameters, arguments)                                     \
	WS_PUBLIC int name parameters;                                                             \
	int name parameters                                                                        \
	{                                                                                          \
		static void *found;                                                                \
		static uint32_t known;                                                             \
		int(*real) parameters;                                                             \
		uint32_t id;                                                                       \
		int status;                                                                        \
                                                                                                   \
		*(void **)&real = col_pthread_real(&found, #name);                                 \
		if (!real)                                                                         \
			return ENOSYS;                                                             \
		id = col_pthread_begin(COL_COLLECT_FLAG(flag), &known, #name,                      \
				       __builtin_return_address(0));                               \
		status = real arguments;                                                           \
		col_pthread_end(id);                                                               \
		return status;                                                                     \
	}

#endif
