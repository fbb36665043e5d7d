/*
 * files: which file descriptors of the process are devices of ours, and which paths lead to the
 * machine's files.
 *
 * The checks are made on every open, ioctl or mmap of the program, so they are quick for
 * everything that is not ours: one byte of a table for a descriptor, the first letters for a
 * path. A descriptor that was closed behind the library's back (by a raw system call) is noticed,
 * because the file behind it is another one then.
 *
 * Threads  any; no locks, except when the folder of files is looked for the first time.
 * Fork     a child keeps the descriptors, but they belong to its parent's machine.
 */
#ifndef WS_SOFTGPU_KFD_FILES_H
#define WS_SOFTGPU_KFD_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "softgpu/kfd/sysfs.h"

enum sg_file_kind {
	SG_FILE_OTHER,
	SG_FILE_KFD,
	SG_FILE_RENDER,
	SG_FILE_CARD,
	SG_FILE_OWN, /* the machine's: not for the program to close */
};

struct sg_file {
	enum sg_file_kind kind;
	uint32_t node; /* of a render or card node */
};

/* What a path is the name of, without any system call. Relative paths are never ours. */
struct sg_file sg_path_device(const char *path);
/* The path of the file that stands for it, in `space`; or the path itself, which is not ours. */
const char *sg_path_redirect(const char *path, char space[SG_SYSFS_PATH]);

/* Descriptors. add is false for numbers beyond the table. */
bool sg_fd_add(int fd, struct sg_file file);
void sg_fd_copy(int from, int to); /* after dup: `to` is what `from` is */
void sg_fd_remove(int fd);
struct sg_file sg_fd_quick(int fd); /* what the table says */
struct sg_file sg_fd_find(int fd);  /* and it is still that file */

/* The path of a device; returns its length. */
int sg_file_name(struct sg_file file, char *out, size_t size);
/* The path as the program would see it, of a file that was found in the machine's folder. */
const char *sg_path_original(const char *path);

/* As the device would answer. */
void sg_file_stat(struct sg_file file, struct stat *st);

#endif
