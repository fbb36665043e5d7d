/* Functions that take a descriptor: requests to the devices, mappings, and keeping account of
 * the numbers. */
#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/kfd/files.h"
#include "softgpu/kfd/interpose.h"
#include "softgpu/kfd/kfd.h"

#define CREATE_QUEUE 0x02

/* --- requests --- */

static int request(struct sg_file file, unsigned long code, void *arg)
{
	struct sg_kfd *kfd = sg_interpose_kfd();

	if (!kfd)
		return EBADF; /* of a parent process, as the driver says */
	if (file.kind == SG_FILE_KFD && _IOC_NR(code) == CREATE_QUEUE)
		sg_interpose_find_code();
	return file.kind == SG_FILE_KFD ? sg_kfd_ioctl(kfd, code, arg)
					: sg_kfd_drm_ioctl(kfd, file.node, code, arg);
}

SG_EXPORT int ioctl(int fd, unsigned long code, ...)
{
	struct sg_file file = sg_fd_quick(fd);
	va_list list;
	void *arg;
	int saved_errno = errno, error;

	va_start(list, code);
	arg = va_arg(list, void *);
	va_end(list);
	if (__builtin_expect(file.kind == SG_FILE_OTHER, 1))
		return SG_NEXT(ioctl)(fd, code, arg);
	file = sg_fd_find(fd);
	if (file.kind == SG_FILE_OTHER || file.kind == SG_FILE_OWN)
		return SG_NEXT(ioctl)(fd, code, arg);
	error = request(file, code, arg);
	errno = error ? error : saved_errno;
	return error ? -1 : 0;
}

/* --- mappings --- */

_Thread_local bool sg_registering; /* see interpose_thunk.c */

/* Address space for GPU memory: from the library that has opened a device, with nothing in it
 * and anywhere. */
static bool is_reservation(void *addr, int prot, int flags, int fd, const void *caller)
{
	return prot == PROT_NONE && fd < 0 && !addr && flags & MAP_ANONYMOUS &&
	       flags & MAP_NORESERVE && !(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
	       sg_interpose_is_runtime(caller);
}

/* The program's: this library maps the machine's own memory by its own descriptor. */
static bool is_device(int fd)
{
	enum sg_file_kind kind = sg_fd_quick(fd).kind;

	return kind != SG_FILE_OTHER && kind != SG_FILE_OWN && sg_fd_find(fd).kind == kind;
}

typedef void *mapper(void *, size_t, int, int, int, off_t);

/* From a file that the program has no descriptor of. */
static void *map_from(mapper *next, int memory, void *addr, size_t size, int prot, int flags,
		      uint64_t offset)
{
	void *result = next(addr, size, prot, flags, memory, (off_t)offset);
	int saved_errno = errno;

	SG_NEXT(close)(memory);
	errno = saved_errno;
	return result;
}

/* An exported object is a socket here (dmabuf.c), which cannot be mapped. */
static void *map_exported(mapper *next, void *addr, size_t size, int prot, int flags, int fd,
			  off_t offset)
{
	uint64_t at, has;
	int memory = sg_kfd_dmabuf_open(fd, &at, &has);

	if (memory < 0) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	if (offset < 0 || (uint64_t)offset > has || size > has - (uint64_t)offset) {
		SG_NEXT(close)(memory);
		errno = EINVAL;
		return MAP_FAILED;
	}
	return map_from(next, memory, addr, size, prot, flags, at + (uint64_t)offset);
}

static void *map(mapper *next, void *addr, size_t size, int prot, int flags, int fd, off_t offset,
		 const void *caller)
{
	struct sg_kfd *kfd;
	uint64_t at;
	void *result;
	int foreign;

	if (__builtin_expect(is_reservation(addr, prot, flags, fd, caller), 0)) {
		kfd = sg_interpose_kfd();
		at = kfd ? sg_kfd_reserve(kfd, size, sg_registering) : 0;
		if (at)
			return (void *)at;
	}
	if (__builtin_expect(fd >= 0 && is_device(fd), 0) && (kfd = sg_interpose_kfd())) {
		/* Device memory has been mapped where it belongs when it was allocated. */
		if (flags & MAP_FIXED && sg_interpose_in_aperture((uint64_t)addr) &&
		    sg_kfd_is_shown(kfd, (uint64_t)addr, size))
			return addr;
		/* ROCr shows an object to the GPU where libdrm has mapped it (IPC signals). */
		if (!addr && sg_fd_quick(fd).kind == SG_FILE_RENDER &&
		    (addr = (void *)sg_kfd_reserve(kfd, size, false)))
			flags |= MAP_FIXED;
		foreign =
			sg_kfd_foreign_open(kfd, sg_fd_quick(fd).node, (uint64_t)offset, size, &at);
		if (foreign >= 0)
			return map_from(next, foreign, addr, size, prot, flags, at);
		offset = (off_t)sg_kfd_file_offset(kfd, (uint64_t)offset);
	}
	result = next(addr, size, prot, flags, fd, offset);
	if (__builtin_expect(result == MAP_FAILED && errno == ENODEV && fd >= 0, 0))
		return map_exported(next, addr, size, prot, flags, fd, offset);
	return result;
}

SG_EXPORT void *mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	return map(SG_NEXT(mmap), addr, size, prot, flags, fd, offset, __builtin_return_address(0));
}

SG_EXPORT void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	return map(SG_NEXT(mmap64), addr, size, prot, flags, fd, offset,
		   __builtin_return_address(0));
}

SG_EXPORT int munmap(void *addr, size_t size)
{
	struct sg_kfd *kfd;

	if (__builtin_expect(!sg_interpose_in_aperture((uint64_t)addr), 1))
		return SG_NEXT(munmap)(addr, size);
	kfd = sg_interpose_kfd();
	if (kfd)
		sg_kfd_release(kfd, (uint64_t)addr, size);
	return 0;
}

/* --- exported objects: users ask for the size by seeking to the end --- */

static off_t seek(off_t (*next)(int, off_t, int), int fd, off_t offset, int whence)
{
	int saved_errno = errno, memory;
	off_t result = next(fd, offset, whence);
	uint64_t at, size;

	if (__builtin_expect(result >= 0 || errno != ESPIPE, 1))
		return result;
	memory = sg_kfd_dmabuf_open(fd, &at, &size);
	if (memory < 0) {
		errno = ESPIPE;
		return -1;
	}
	SG_NEXT(close)(memory);
	if (offset || (whence != SEEK_END && whence != SEEK_SET)) {
		errno = EINVAL;
		return -1;
	}
	errno = saved_errno;
	return whence == SEEK_END ? (off_t)size : 0;
}

SG_EXPORT off_t lseek(int fd, off_t offset, int whence)
{
	return seek(SG_NEXT(lseek), fd, offset, whence);
}

SG_EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
	return seek(SG_NEXT(lseek64), fd, offset, whence);
}

/* --- descriptors come and go --- */

static bool is_own(int fd)
{
	return sg_fd_quick(fd).kind == SG_FILE_OWN && sg_fd_find(fd).kind == SG_FILE_OWN;
}

SG_EXPORT int close(int fd)
{
	if (__builtin_expect(sg_fd_quick(fd).kind != SG_FILE_OTHER, 0) && sg_interpose_may_note()) {
		/* A program that closes all: there was nothing, as far as it knows. */
		if (is_own(fd)) {
			errno = EBADF;
			return -1;
		}
		sg_fd_remove(fd);
	}
	return SG_NEXT(close)(fd);
}

/* Piece by piece, around what is not the program's. */
SG_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	int result = 0;

	if (!sg_interpose_kfd() || !sg_interpose_may_note())
		return SG_NEXT(close_range)(first, last, flags);
	for (unsigned fd = first; fd <= last && fd < 65536; fd++) {
		if (!is_own((int)fd)) {
			if (!(flags & CLOSE_RANGE_CLOEXEC))
				sg_fd_remove((int)fd);
			continue;
		}
		if (fd > first)
			result = SG_NEXT(close_range)(first, fd - 1, flags);
		first = fd + 1;
	}
	return first <= last ? SG_NEXT(close_range)(first, last, flags) : result;
}

SG_EXPORT void closefrom(int first)
{
	close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0);
}

/* After a copy: only if one of the two was or is a device, which is rare. */
static void note_copy(int from, int to)
{
	if (__builtin_expect(sg_fd_quick(from).kind != SG_FILE_OTHER ||
				     sg_fd_quick(to).kind != SG_FILE_OTHER,
			     0) &&
	    from != to && sg_interpose_may_note())
		sg_fd_copy(from, to);
}

SG_EXPORT int dup(int fd)
{
	int copy = SG_NEXT(dup)(fd);

	if (copy >= 0)
		note_copy(fd, copy);
	return copy;
}

SG_EXPORT int dup2(int fd, int to)
{
	int copy = SG_NEXT(dup2)(fd, to);

	if (copy >= 0)
		note_copy(fd, copy);
	return copy;
}

SG_EXPORT int dup3(int fd, int to, int flags)
{
	int copy = SG_NEXT(dup3)(fd, to, flags);

	if (copy >= 0)
		note_copy(fd, copy);
	return copy;
}

/* The argument is a number or a pointer, and passes as it is. */
#define FCNTL(name)                                                                                \
	SG_EXPORT int name(int fd, int command, ...)                                               \
	{                                                                                          \
		va_list list;                                                                      \
		void *arg;                                                                         \
		int result;                                                                        \
		va_start(list, command);                                                           \
		arg = va_arg(list, void *);                                                        \
		va_end(list);                                                                      \
		result = SG_NEXT(name)(fd, command, arg);                                          \
		if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0)             \
			note_copy(fd, result);                                                     \
		return result;                                                                     \
	}
FCNTL(fcntl)
FCNTL(fcntl64)

#define FSTAT(name, parameters, st, ...)                                                           \
	int name parameters;                                                                       \
	SG_EXPORT int name parameters                                                              \
	{                                                                                          \
		int result = SG_NEXT(name)(__VA_ARGS__);                                           \
		struct sg_file file = sg_fd_quick(fd);                                             \
		if (__builtin_expect(file.kind != SG_FILE_OTHER, 0) && !result &&                  \
		    file.kind != SG_FILE_OWN && sg_fd_find(fd).kind == file.kind)                  \
			sg_file_stat(file, (struct stat *)(st));                                   \
		return result;                                                                     \
	}
FSTAT(fstat, (int fd, struct stat *st), st, fd, st)
FSTAT(fstat64, (int fd, struct stat64 *st), st, fd, st)
FSTAT(__fxstat, (int version, int fd, struct stat *st), st, version, fd, st)
FSTAT(__fxstat64, (int version, int fd, struct stat64 *st), st, version, fd, st)
