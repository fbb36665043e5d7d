/*
 * interpose: the preloaded library's own state, and the C library's functions behind those it
 * replaces.
 *
 * The machine is built when the program first opens a device, and stays until the process ends,
 * as the driver's context does. Until then this library costs the checks of files.h.
 *
 * Threads  any.
 * Fork     the child has no machine; it can open the devices and get its own.
 */
#ifndef WS_SOFTGPU_KFD_INTERPOSE_H
#define WS_SOFTGPU_KFD_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_kfd;

#define SG_EXPORT __attribute__((visibility("default")))

/* The next definition of a function, found once. */
#define SG_NEXT(name)                                                                              \
	({                                                                                         \
		static _Atomic(__typeof__(&name)) next_;                                           \
		__typeof__(&name) found_ = atomic_load_explicit(&next_, memory_order_relaxed);     \
		if (__builtin_expect(!found_, 0)) {                                                \
			found_ = (__typeof__(&name))sg_interpose_next(#name);                      \
			atomic_store_explicit(&next_, found_, memory_order_relaxed);               \
		}                                                                                  \
		found_;                                                                            \
	})
void *sg_interpose_next(const char *name);

/* NULL: no device was opened in this process. */
struct sg_kfd *sg_interpose_kfd(void);
/* Opens a device for the caller whose code is at `caller`: a descriptor, or -1 and errno. */
int sg_interpose_open(const char *path, int flags, const void *caller);
/*
 * False in a child of vfork(): it has descriptors of its own, but its parent's memory, so nothing
 * may be noted there. Takes a system call.
 */
bool sg_interpose_may_note(void);
/* In a child of fork() whose parent had a machine, until it opens a device itself. */
bool sg_interpose_in_child(void);
/* Is it the machine's memory that this descriptor leads to? */
bool sg_interpose_is_memory(int fd);
/* Is this code of a library that has opened a device? */
bool sg_interpose_is_runtime(const void *code);
/* Looks for ROCr's list of loaded code objects, so that faults are reported with the names of
 * kernels. */
void sg_interpose_find_code(void);
/* The address space of the machine; empty while there is none. */
bool sg_interpose_in_aperture(uint64_t addr);

#endif
