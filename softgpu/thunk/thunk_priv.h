/*
 * thunk_priv: the C interface of AMD's thunk, libhsakmt (ROCr 5.2 to 6.x), on the software GPU.
 *
 * Names and types of this folder are the thunk's own. Each function checks its arguments, calls into
 * the device and translates the status; host and device addresses are the same.
 */
#ifndef WS_SOFTGPU_THUNK_THUNK_PRIV_H
#define WS_SOFTGPU_THUNK_THUNK_PRIV_H

#include <assert.h>
#include <hsakmt.h>
#include <stdint.h>

#include "softgpu/core/machine.h"

#define EXPORT __attribute__((visibility("default")))

/* The headers are declared with 4-byte packing; a copy without it would differ silently. */
static_assert(sizeof(HsaNodeProperties) == 356, "hsakmttypes.h of another version");
static_assert(sizeof(HsaMemoryProperties) == 32, "hsakmttypes.h of another version");
static_assert(sizeof(HsaCacheProperties) == 1056, "hsakmttypes.h of another version");
static_assert(sizeof(HsaIoLinkProperties) == 48, "hsakmttypes.h of another version");
static_assert(sizeof(HsaClockCounters) == 32, "hsakmttypes.h of another version");
static_assert(sizeof(HsaMemFlags) == 4, "hsakmttypes.h of another version");
static_assert(sizeof(HsaEvent) == 48, "hsakmttypes.h of another version");
static_assert(sizeof(HsaEventDescriptor) == 24, "hsakmttypes.h of another version");
static_assert(sizeof(HsaQueueResource) == 40, "hsakmttypes.h of another version");
static_assert(sizeof(HsaPointerInfo) == 68, "hsakmttypes.h of another version");
static_assert(sizeof(HsaGpuTileConfig) == 64, "hsakmttypes.h of another version");
static_assert(sizeof(HsaSharedMemoryHandle) == 32, "hsakmttypes.h of another version");

struct thunk_queue;

/* Everything behind the interface; made by the first hsaKmtOpenKFD() and kept until exit. */
struct thunk {
	struct sg_machine machine;
	struct thunk_queue *doorbell_owner[SG_MAX_GPUS][SG_N_DOORBELLS];
};

/* The machine, or NULL: not opened, or a forked child, which has no device. */
struct thunk *thunk_get(void);

#define THUNK_OR_RETURN(name)                                                                      \
	struct thunk *name = thunk_get();                                                          \
	if (!name)                                                                                 \
	return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED

/*
 * Exit handlers of a forked child release what the parent allocated, and ROCr asserts that this succeeds:
 * there is nothing to release in the child, so success is returned.
 */
bool thunk_in_child(void);

#define THUNK_OR_RELEASED(name)                                                                    \
	struct thunk *name = thunk_get();                                                          \
	if (!name)                                                                                 \
	return thunk_in_child() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED

static inline bool thunk_is_node(const struct thunk *thunk, HSAuint32 node)
{
	return sg_machine_is_node(&thunk->machine, node);
}

static inline bool thunk_is_gpu(const struct thunk *thunk, HSAuint32 node)
{
	return sg_machine_is_gpu(&thunk->machine, node);
}

static inline const struct sg_gpu *thunk_gpu(const struct thunk *thunk, HSAuint32 node)
{
	return sg_machine_gpu(&thunk->machine, node);
}

static inline struct sg_device *thunk_device(const struct thunk *thunk, HSAuint32 node)
{
	return sg_machine_device(&thunk->machine, node);
}

#endif
