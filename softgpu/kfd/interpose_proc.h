/*
 * interpose_proc: descriptors of GPUs in /proc, of this process and of others.
 *
 * A descriptor of a device is one of the machine's memory, and /proc shows it as that. Which device
 * it stands for is its position in the file, which nothing else uses and which everybody can read in
 * /proc/PID/fdinfo. So a link in /proc/PID/fd leads to the device, and the file in fdinfo has the
 * lines of the DRM driver, by which tools find the processes of a GPU.
 *
 * Threads  any.
 */
#ifndef WS_SOFTGPU_KFD_INTERPOSE_PROC_H
#define WS_SOFTGPU_KFD_INTERPOSE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "softgpu/kfd/files.h"

struct sg_topology;

/* A new descriptor of a device, before the program has it. */
void sg_proc_mark(int fd, struct sg_file file);

/* The target of a link, n bytes that readlink() has returned, if it is one to such a descriptor:
 * changed to the name of the device. Returns its length. */
ssize_t sg_proc_link(const char *path, char *target, size_t size, ssize_t n);

/* /proc/PID/fdinfo/N, by the name alone. */
bool sg_proc_is_fdinfo(const char *path);
/* Writes the file that stands for it into the machine's folder; false: it is another descriptor. */
bool sg_proc_fdinfo(const char *folder, const struct sg_topology *topology, const char *path,
		    char space[SG_SYSFS_PATH]);

#endif
