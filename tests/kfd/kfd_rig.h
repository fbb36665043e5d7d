/*
 * kfd_rig: a machine behind the kernel driver's interface, for tests: two GPUs, no runtime.
 */
#ifndef WS_TESTS_KFD_KFD_RIG_H
#define WS_TESTS_KFD_KFD_RIG_H

#include "tests/unit/softgpu/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softgpu/core/machine.h"
#include "softgpu/device/reserve.h"
#include "softgpu/kfd/abi.h"
#include "softgpu/kfd/drm_abi.h"
#include "softgpu/kfd/kfd.h"
#include "softgpu/kfd/sysfs.h"

#define PAGE 4096ull
#define RENDER_FD 100       /* and the next one: the second GPU's */
#define WRITABLE (1u << 31) /* the header shifts a signed number */
#define VRAM_FLAGS (KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC | WRITABLE)
#define GTT_FLAGS (KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_COHERENT | WRITABLE)
#define USER_FLAGS (KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | WRITABLE)

extern struct sg_kfd *kfd;
extern uint32_t gpu_ids[2];

#define CALL(nr, args) sg_kfd_ioctl(kfd, _IOWR(AMDKFD_IOCTL_BASE, nr, __typeof__(*(args))), args)
#define DRM(nr, args) sg_kfd_drm_ioctl(kfd, 1, _IOWR(SG_DRM_TYPE, nr, __typeof__(*(args))), args)

/* For cmocka's groups. */
int kfd_rig_open(void **state);
int kfd_rig_close(void **state);
int kfd_rig_open_gpus(const char *gpus); /* two others, after kfd_rig_close() */

struct kfd_ioctl_alloc_memory_of_gpu_args alloc_at(uint64_t va, uint64_t size, uint32_t flags);
void release(uint64_t handle);
uint64_t available(void); /* bytes of the first GPU */
bool is_accessible(uint64_t addr);

#endif
