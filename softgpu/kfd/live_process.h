/* live_process: the processes that use GPUs, in /sys/class/kfd/kfd/proc. Shared by the files of live.h. */
#ifndef WS_SOFTGPU_KFD_LIVE_PROCESS_H
#define WS_SOFTGPU_KFD_LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "softgpu/kfd/sysfs.h"

struct sg_topology;

bool sg_live_is_process_list(const char *path);
/* Processes that have come and gone since the last time. */
void sg_live_refresh_processes(const char *folder, const struct sg_topology *topology);

/* The number that the driver has for a process. */
unsigned sg_live_pasid(unsigned pid);
/* The file that stands for /proc/PID/fdinfo/NUMBER, until the process has ended. */
bool sg_live_put_fdinfo(const char *folder, unsigned pid, const char *number, const char *text,
			size_t n, char out_path[SG_SYSFS_PATH]);

/* live.c: a file of the machine's folder gets another content, as a whole. */
void sg_live_replace(const char *folder, const char *path, const void *bytes, size_t n);

#endif
