/* Shared by the files of the dispatcher. */
#ifndef WS_SOFTGPU_KFD_KFD_PRIV_H
#define WS_SOFTGPU_KFD_KFD_PRIV_H

#include <pthread.h>
#include <stddef.h>

#include "softgpu/core/machine.h"
#include "softgpu/device/reserve.h"
#include "softgpu/kfd/abi.h"
#include "softgpu/kfd/kfd.h"

#define SG_KFD_MAX_QUEUES 1024u /* of all GPUs of a process, as the driver has it */
#define SG_KFD_PAGE 4096ull

/*
 * A buffer object: a place in the memory file, and where devices see it. A mapping is a view of
 * the place, so an object can have several, or none, and outlive all of them.
 */
struct sg_kfd_bo {
	uint64_t place; /* of its own memory: a block without an address; 0: it has none */
	uint64_t va;    /* where the devices see it; 0: nowhere */
	uint64_t size;
	uint32_t flags; /* KFD_IOC_ALLOC_MEM_FLAGS_* */
	uint32_t node;
	uint32_t n_holders;
	int file;               /* of another process's memory; -1: the machine's */
	uint64_t offset;        /* in the file */
	int export;             /* see dmabuf.c; -1: was not exported */
	struct sg_kfd_bo *next; /* among those that only other processes hold */
};

struct sg_kfd_queue {
	struct sg_queue *queue; /* NULL: a free place */
	uint32_t node;
	uint32_t doorbell;
};

#define SG_KFD_MAX_SMI 32u /* a program has one for each GPU */

/* Somebody who wants events; see smi.c. */
struct sg_kfd_smi {
	int fd;
	uint32_t node;
	uint64_t mask;
};

#define SG_KFD_PCS_MAX_US (UINT64_MAX >> 16) /* longer: never */

/* A GPU's session of PC sampling; see pc_sampling.c. */
struct sg_kfd_pcs {
	uint32_t trace_id; /* 0: there is none */
	enum sg_traps_method method;
	uint64_t cycles; /* between two samples */
	bool is_started;
};

struct sg_kfd_gem; /* gem.c */
struct sg_kfd_mapping;

struct sg_kfd {
	struct sg_machine machine;
	struct sg_kfd_files files;
	pthread_mutex_t lock; /* everything below */
	struct sg_kfd_bo **bos;
	uint32_t n_bos, max_bos, first_free_bo; /* places; free ones are NULL */
	struct sg_kfd_bo *lent;                 /* freed here, held by other processes */
	struct sg_kfd_queue queues[SG_KFD_MAX_QUEUES];
	uint32_t n_queues;       /* in use */
	bool reports_exceptions; /* of queues created from now on; see debug.c */
	bool doorbell_used[SG_MAX_GPUS][SG_N_DOORBELLS];
	struct sg_kfd_pcs pcs[SG_MAX_GPUS];
	uint32_t n_pcs;             /* sessions so far */
	int drm_fd[SG_MAX_GPUS];    /* of ACQUIRE_VM; -1: not yet */
	bool profiled[SG_MAX_GPUS]; /* see profiler.c */
	struct sg_kfd_gem *gem[SG_MAX_GPUS];
	struct sg_kfd_mapping *mappings; /* made through GEM handles */
	pthread_mutex_t smi_lock; /* what follows: device threads report with locks of their own */
	struct sg_kfd_smi smi[SG_KFD_MAX_SMI];
	uint32_t n_smi;
};

/* One request. `size` is the caller's; args has at least the size of the structure, zeroed
 * where the caller's ended. */
typedef int sg_kfd_handler(struct sg_kfd *kfd, void *args, size_t size);

sg_kfd_handler sg_kfd_get_version, sg_kfd_get_apertures, sg_kfd_get_apertures_new,
	sg_kfd_acquire_vm, sg_kfd_set_memory_policy, sg_kfd_get_clocks, sg_kfd_get_tile_config,
	sg_kfd_set_scratch_va, sg_kfd_set_xnack, sg_kfd_available_memory;
sg_kfd_handler sg_kfd_runtime_enable, sg_kfd_dbg_trap, sg_kfd_queue_wave_state, sg_kfd_criu;
sg_kfd_handler sg_kfd_set_trap_handler, sg_kfd_pc_sample;
sg_kfd_handler sg_kfd_smi_events, sg_kfd_profiler;
sg_kfd_handler sg_kfd_alloc_memory, sg_kfd_free_memory, sg_kfd_map_memory, sg_kfd_unmap_memory;
sg_kfd_handler sg_kfd_dmabuf_info, sg_kfd_import_dmabuf, sg_kfd_export_dmabuf, sg_kfd_ipc_export,
	sg_kfd_ipc_import;
sg_kfd_handler sg_kfd_create_queue, sg_kfd_destroy_queue, sg_kfd_update_queue, sg_kfd_set_cu_mask,
	sg_kfd_alloc_gws;
sg_kfd_handler sg_kfd_create_event, sg_kfd_destroy_event, sg_kfd_set_event, sg_kfd_reset_event,
	sg_kfd_wait_events;
sg_kfd_handler sg_kfd_svm;

/* GPUs have ids of 16 bits, as the driver's: not their place in a list, but the same in every
 * run. */
uint32_t sg_kfd_gpu_id(const struct sg_topology *topology, uint32_t node);
uint32_t sg_kfd_node_of(const struct sg_kfd *kfd, uint32_t gpu_id); /* 0: no such GPU */

/* The mmap offset of a GPU's page of doorbells: the type in the upper two bits, then the GPU's id, as
 * the driver has it. Thunks take different parts of the rest for the place in the page. */
uint64_t sg_kfd_doorbell_offset(const struct sg_kfd *kfd, uint32_t node);

/* Memory of the caller; false: it cannot be accessed. */
bool sg_kfd_read(uint64_t from, void *to, size_t size);
bool sg_kfd_write(uint64_t to, const void *from, size_t size);

/* Descriptors of the dispatcher's own: kept from a program that closes all, and closed. -1 is fine. */
void sg_kfd_keep(const struct sg_kfd *kfd, int fd);
void sg_kfd_close(const struct sg_kfd *kfd, int fd);

/* smi.c: a kernel of this process accessed memory that it cannot. Not locked. */
void sg_kfd_report_fault(struct sg_kfd *kfd, uint32_t node);

/* bo.c: objects by handle. The caller has locked. */
struct sg_kfd_bo *sg_kfd_bo_find(struct sg_kfd *kfd, uint64_t handle);
int sg_kfd_bo_add(struct sg_kfd *kfd, struct sg_kfd_bo *bo, uint64_t *out_handle);
void sg_kfd_bo_remove(struct sg_kfd *kfd, uint64_t handle);
/* The caller has not locked. size, flags, node and va are set; *bo is the caller's until it is
 * added. */
int sg_kfd_bo_allocate(struct sg_kfd *kfd, struct sg_kfd_bo *bo);
int sg_kfd_bo_show(struct sg_kfd *kfd, const struct sg_kfd_bo *bo, uint64_t va, uint64_t offset,
		   uint64_t size);
void sg_kfd_bo_put(struct sg_kfd *kfd, struct sg_kfd_bo *bo);

/* dmabuf.c: whether a descriptor of the object is still open somewhere. */
bool sg_kfd_is_lent(const struct sg_kfd_bo *bo);
/* The object behind a descriptor: one of this process, held once more, or a new one. */
int sg_kfd_bo_of_dmabuf(struct sg_kfd *kfd, int fd, struct sg_kfd_bo **out_bo);
int sg_kfd_dmabuf_of_bo(struct sg_kfd *kfd, struct sg_kfd_bo *bo, int *out_fd);

/* What users attach to an object, visible to all processes that have it. Locked. */
int sg_kfd_set_metadata(struct sg_kfd *kfd, struct sg_kfd_bo *bo, const void *bytes, size_t n);
bool sg_kfd_get_metadata(const struct sg_kfd_bo *bo, void *bytes,
			 size_t n); /* false: there are none */

/* gem.c: requests of a render node about objects, with drm_abi.h's structures. */
int sg_kfd_gem_import(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_export(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_close(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_mmap(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_metadata(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_op(struct sg_kfd *kfd, uint32_t node, void *args);
int sg_kfd_gem_va(struct sg_kfd *kfd, uint32_t node, void *args);
void sg_kfd_gem_fini(struct sg_kfd *kfd);

extern const int sg_kfd_errno_of_vm[];

#endif
