/*
 * Functions that take a path: devices are opened, the machine's files are found in their folder,
 * everything else passes.
 *
 * The large-file and checked variants are functions of their own in the C library, so each has
 * its row. Types with and without 64 are the same on x86-64.
 */
#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "softgpu/kfd/files.h"
#include "softgpu/kfd/interpose.h"
#include "softgpu/kfd/interpose_proc.h"

#define IS_DEVICE(path) (sg_path_device(path).kind != SG_FILE_OTHER)
#define MODE(flags, last)                                                                          \
	({                                                                                         \
		mode_t mode_ = 0;                                                                  \
		if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                         \
			va_list list_;                                                             \
			va_start(list_, last);                                                     \
			mode_ = va_arg(list_, mode_t);                                             \
			va_end(list_);                                                             \
		}                                                                                  \
		mode_;                                                                             \
	})

/* --- open --- */

#define OPEN(name)                                                                                 \
	SG_EXPORT int name(const char *path, int flags, ...)                                       \
	{                                                                                          \
		mode_t mode = MODE(flags, flags);                                                  \
		char space[SG_SYSFS_PATH];                                                         \
		if (IS_DEVICE(path))                                                               \
			return sg_interpose_open(path, flags, __builtin_return_address(0));        \
		return SG_NEXT(name)(sg_path_redirect(path, space), flags, mode);                  \
	}
#define OPENAT(name)                                                                               \
	SG_EXPORT int name(int dir, const char *path, int flags, ...)                              \
	{                                                                                          \
		mode_t mode = MODE(flags, flags);                                                  \
		char space[SG_SYSFS_PATH];                                                         \
		if (IS_DEVICE(path))                                                               \
			return sg_interpose_open(path, flags, __builtin_return_address(0));        \
		return SG_NEXT(name)(dir, sg_path_redirect(path, space), flags, mode);             \
	}
#define OPEN_CHECKED(name)                                                                         \
	int name(const char *path, int flags);                                                     \
	SG_EXPORT int name(const char *path, int flags)                                            \
	{                                                                                          \
		char space[SG_SYSFS_PATH];                                                         \
		if (IS_DEVICE(path))                                                               \
			return sg_interpose_open(path, flags, __builtin_return_address(0));        \
		return SG_NEXT(name)(sg_path_redirect(path, space), flags);                        \
	}
#define OPENAT_CHECKED(name)                                                                       \
	int name(int dir, const char *path, int flags);                                            \
	SG_EXPORT int name(int dir, const char *path, int flags)                                   \
	{                                                                                          \
		char space[SG_SYSFS_PATH];                                                         \
		if (IS_DEVICE(path))                                                               \
			return sg_interpose_open(path, flags, __builtin_return_address(0));        \
		return SG_NEXT(name)(dir, sg_path_redirect(path, space), flags);                   \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)
OPENAT_CHECKED(__openat_2)
OPENAT_CHECKED(__openat64_2)

/* --- one path, redirected --- */

#define REDIRECT(type, name, parameters, path, ...)                                                \
	SG_EXPORT type name parameters                                                             \
	{                                                                                          \
		char space[SG_SYSFS_PATH];                                                         \
		const char *to = sg_path_redirect(path, space);                                    \
		return SG_NEXT(name)(__VA_ARGS__);                                                 \
	}

REDIRECT(FILE *, fopen, (const char *path, const char *mode), path, to, mode)
REDIRECT(FILE *, fopen64, (const char *path, const char *mode), path, to, mode)
REDIRECT(DIR *, opendir, (const char *path), path, to)
REDIRECT(int, access, (const char *path, int mode), path, to, mode)
REDIRECT(int, euidaccess, (const char *path, int mode), path, to, mode)
REDIRECT(int, faccessat, (int dir, const char *path, int mode, int flags), path, dir, to, mode,
	 flags)
REDIRECT(int, scandir,
	 (const char *path, struct dirent ***list, int (*choose)(const struct dirent *),
	  int (*compare)(const struct dirent **, const struct dirent **)),
	 path, to, list, choose, compare)
REDIRECT(int, scandir64,
	 (const char *path, struct dirent64 ***list, int (*choose)(const struct dirent64 *),
	  int (*compare)(const struct dirent64 **, const struct dirent64 **)),
	 path, to, list, choose, compare)

/* ls and others ask for these, and complain. */
REDIRECT(ssize_t, getxattr, (const char *path, const char *name, void *out, size_t n), path, to,
	 name, out, n)
REDIRECT(ssize_t, lgetxattr, (const char *path, const char *name, void *out, size_t n), path, to,
	 name, out, n)
REDIRECT(ssize_t, listxattr, (const char *path, char *out, size_t n), path, to, out, n)
REDIRECT(ssize_t, llistxattr, (const char *path, char *out, size_t n), path, to, out, n)

/* --- results that are paths themselves --- */

SG_EXPORT ssize_t readlink(const char *path, char *out, size_t n)
{
	char space[SG_SYSFS_PATH];

	return sg_proc_link(path, out, n, SG_NEXT(readlink)(sg_path_redirect(path, space), out, n));
}

SG_EXPORT ssize_t readlinkat(int dir, const char *path, char *out, size_t n)
{
	char space[SG_SYSFS_PATH];

	return sg_proc_link(path, out, n,
			    SG_NEXT(readlinkat)(dir, sg_path_redirect(path, space), out, n));
}

/* Found in the machine's folder, but that is not where the program looked for it. */
static char *original(char *found)
{
	const char *path = found ? sg_path_original(found) : NULL;

	return path && path != found ? memmove(found, path, strlen(path) + 1) : found;
}

SG_EXPORT char *realpath(const char *path, char *out)
{
	char space[SG_SYSFS_PATH];

	return original(SG_NEXT(realpath)(sg_path_redirect(path, space), out));
}

char *__realpath_chk(const char *path, char *out, size_t n);
SG_EXPORT char *__realpath_chk(const char *path, char *out, size_t n)
{
	char space[SG_SYSFS_PATH];

	return original(SG_NEXT(__realpath_chk)(sg_path_redirect(path, space), out, n));
}

SG_EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

/* --- stat: a device's file in the folder gets the type and number of the device --- */

#define STAT(name, parameters, path, st, ...)                                                      \
	int name parameters;                                                                       \
	SG_EXPORT int name parameters                                                              \
	{                                                                                          \
		char space[SG_SYSFS_PATH];                                                         \
		const char *to = path_of(path, space);                                             \
		int result = SG_NEXT(name)(__VA_ARGS__);                                           \
		if (!result && to == space && IS_DEVICE(path))                                     \
			sg_file_stat(sg_path_device(path), (struct stat *)(st));                   \
		return result;                                                                     \
	}

/* /dev/kfd has no file of its own: any that exists will do, its answer is replaced. */
static const char *path_of(const char *path, char space[SG_SYSFS_PATH])
{
	if (sg_path_device(path).kind == SG_FILE_KFD)
		return strcpy(space, "/dev/null");
	return sg_path_redirect(path, space);
}

STAT(stat, (const char *path, struct stat *st), path, st, to, st)
STAT(stat64, (const char *path, struct stat64 *st), path, st, to, st)
STAT(lstat, (const char *path, struct stat *st), path, st, to, st)
STAT(lstat64, (const char *path, struct stat64 *st), path, st, to, st)
STAT(fstatat, (int dir, const char *path, struct stat *st, int flags), path, st, dir, to, st, flags)
STAT(fstatat64, (int dir, const char *path, struct stat64 *st, int flags), path, st, dir, to, st,
     flags)
STAT(__xstat, (int version, const char *path, struct stat *st), path, st, version, to, st)
STAT(__xstat64, (int version, const char *path, struct stat64 *st), path, st, version, to, st)
STAT(__lxstat, (int version, const char *path, struct stat *st), path, st, version, to, st)
STAT(__lxstat64, (int version, const char *path, struct stat64 *st), path, st, version, to, st)

SG_EXPORT int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *st)
{
	char space[SG_SYSFS_PATH];
	const char *to = path_of(path, space);
	int result = SG_NEXT(statx)(dir, to, flags, mask, st);
	struct stat device = { 0 };

	if (!result && to == space && IS_DEVICE(path)) {
		sg_file_stat(sg_path_device(path), &device);
		st->stx_mode = (uint16_t)device.st_mode;
		st->stx_rdev_major = (uint32_t)(device.st_rdev >> 8 & 0xfff);
		st->stx_rdev_minor = (uint32_t)(device.st_rdev & 0xff);
	}
	return result;
}
