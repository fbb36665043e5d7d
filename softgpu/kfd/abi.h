/*
 * abi: requests of the kernel driver that <linux/kfd_ioctl.h> of Linux 6.1 does not have yet.
 *
 * The layouts are those of later headers, under names of our own: a build against a later header
 * has both.
 */
#ifndef WS_SOFTGPU_KFD_ABI_H
#define WS_SOFTGPU_KFD_ABI_H

#include <linux/kfd_ioctl.h>
#include <stdint.h>

enum sg_kfd_later {
	SG_KFD_NR_EXPORT_DMABUF = 0x24,  /* 1.12 */
	SG_KFD_NR_RUNTIME_ENABLE = 0x25, /* 1.13 */
	SG_KFD_NR_DBG_TRAP = 0x26,       /* 1.13 */
	SG_KFD_NR_END,
	SG_KFD_NR_IPC_IMPORT = 0x80, /* of AMD's own kernel packages */
	SG_KFD_NR_IPC_EXPORT = 0x81,
	SG_KFD_NR_PC_SAMPLE = 0x85,
	SG_KFD_NR_PROFILER = 0x86, /* ... since ROCm 7.0; 0x28 in Linux */
};

struct sg_kfd_export_dmabuf_args {
	uint64_t handle;
	uint32_t flags;
	uint32_t dmabuf_fd; /* out */
};

#define SG_KFD_RUNTIME_ENABLE 1u /* in mode_mask; without it: disable */

struct sg_kfd_runtime_enable_args {
	uint64_t r_debug;
	uint32_t mode_mask;
	uint32_t capabilities_mask; /* out */
};

/* What all its operations have in common. */
struct sg_kfd_dbg_trap_args {
	uint32_t pid;
	uint32_t op;
	uint64_t rest[3];
};

#define SG_KFD_DBG_TRAP_ENABLE 0u

enum sg_kfd_profiler_op { SG_KFD_PROFILER_PMC = 0, SG_KFD_PROFILER_VERSION = 2 };

/* With the operands of PC sampling, which are not here: they put the others at a multiple of 8. */
struct sg_kfd_profiler_args {
	uint32_t op;
	union {
		struct {
			uint32_t gpu_id;
			uint32_t lock;             /* 1, or 0 to release it */
			uint32_t perfcount_enable; /* on all queues of the GPU */
		} pmc;
		uint32_t version; /* out */
		uint64_t rest[4];
	};
};

/* At ctx_save_restore_address of a queue; written by the runtime before it creates the queue. */
struct sg_kfd_save_area {
	uint32_t saved[6];   /* places and sizes of what was saved; not used */
	uint64_t error_addr; /* gets a bit for each kind of exception; 0: the runtime wants none */
	uint32_t error_event;
	uint32_t reserved;
};

struct sg_kfd_ipc_export_args {
	uint64_t handle;
	uint32_t share_handle[4]; /* out */
	uint32_t gpu_id;
	uint32_t flags;
};

struct sg_kfd_ipc_import_args {
	uint64_t handle; /* out */
	uint64_t va_addr;
	uint64_t mmap_offset; /* out */
	uint32_t share_handle[4];
	uint32_t gpu_id;
	uint32_t flags; /* out */
};

enum sg_kfd_pcs_op {
	SG_KFD_PCS_QUERY,
	SG_KFD_PCS_CREATE,
	SG_KFD_PCS_DESTROY,
	SG_KFD_PCS_START,
	SG_KFD_PCS_STOP,
};
enum sg_kfd_pcs_method { SG_KFD_PCS_HOST_TRAP = 1, SG_KFD_PCS_STOCHASTIC };
enum sg_kfd_pcs_type { SG_KFD_PCS_TIME_US, SG_KFD_PCS_CYCLES };
#define SG_KFD_PCS_POWER_OF_2 1u /* in flags: of the interval */

struct sg_kfd_pcs_info {
	uint64_t interval;
	uint64_t interval_min, interval_max, flags; /* out */
	uint32_t method, type;
};

struct sg_kfd_pcs_args {
	uint64_t sample_info_ptr; /* of struct sg_kfd_pcs_info */
	uint32_t num_sample_info;
	uint32_t op;
	uint32_t gpu_id;
	uint32_t trace_id;
	uint32_t flags;
	uint32_t reserved;
};

#define SG_KFD_QUEUE_SDMA_BY_ENGINE 4u /* 1.17 */
#define SG_KFD_ENOTSUPP 524            /* the kernel's own, not in user space's errno.h */

#endif
