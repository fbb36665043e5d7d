/*
 * wrap: how the wrappers of libc's functions find the functions themselves.
 *
 *	WRAP_REAL(poll, int, (struct pollfd *, nfds_t, int))       real_poll() calls it
 *
 * They are looked up when the library is loaded, because a signal handler may be the first to
 * call one, and dlsym() is not for handlers.
 */
#ifndef WS_COLLECTOR_SAMPLE_WRAP_H
#define WS_COLLECTOR_SAMPLE_WRAP_H

#include "base/util.h"
#include "collector/sample/sample.h"

#include <dlfcn.h>
#include <errno.h>

#define WRAP_REAL(name, result, parameters)                                                        \
	static result(*found_##name) parameters;                                                   \
	__attribute__((constructor)) static void find_##name(void)                                 \
	{                                                                                          \
		if (!found_##name)                                                                 \
			*(void **)&found_##name = dlsym(RTLD_NEXT, #name);                         \
	}                                                                                          \
	static inline result(*real_##name(void)) parameters                                        \
	{                                                                                          \
		if (__builtin_expect(!found_##name, 0))                                            \
			find_##name();                                                             \
		return found_##name;                                                               \
	}

/* A set of signals as the kernel has it, and back. */
static inline uint64_t col_wrap_bits(const sigset_t *set)
{
	uint64_t bits;

	__builtin_memcpy(&bits, set, sizeof(bits));
	return bits;
}

/* @set, or in @space a copy of it without our signals: they are not to be blocked or waited for. */
static inline const sigset_t *col_wrap_without_ours(const sigset_t *set, sigset_t *space)
{
	uint64_t ours = col_sample_signals(), bits;

	if (!set || !(col_wrap_bits(set) & ours))
		return set;
	*space = *set;
	bits = col_wrap_bits(set) & ~ours;
	__builtin_memcpy(space, &bits, sizeof(bits));
	return space;
}

#endif
