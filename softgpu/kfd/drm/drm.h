/*
 * drm: stands for the kernel's header of this name, which <linux/kfd_ioctl.h> includes for its
 * types alone. Debian has it in libdrm-dev, which nothing else here needs.
 */
#ifndef WS_SOFTGPU_KFD_DRM_DRM_H
#define WS_SOFTGPU_KFD_DRM_DRM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#endif
