/* A process's view of the GPUs: ids, apertures, clocks, modes. And what holds all of it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "softgpu/device/clock.h"
#include "softgpu/device/svm.h"
#include "softgpu/kfd/kfd_priv.h"

#define KFD_MAJOR 1
#define KFD_MINOR 17

/* What GPUs can address: the lower half, from behind the pages that catch null pointers. */
#define GPUVM_START 0x4000ull
#define GPUVM_LAST ((1ull << 47) - 1)

#define MMAP_DOORBELL (3ull << 62)
#define MMAP_GPU_SHIFT 46

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name

/* --- create and destroy --- */

static enum sg_grain grain_of(uint32_t flags)
{
	if (flags & FLAG(UNCACHED))
		return SG_GRAIN_UNCACHED;
	return flags & FLAG(COHERENT) ? SG_GRAIN_FINE : SG_GRAIN_COARSE;
}

static void faulted(struct sg_machine *machine, const struct sg_memory_fault *fault)
{
	struct sg_kfd *kfd = (struct sg_kfd *)((char *)machine - offsetof(struct sg_kfd, machine));

	if (!fault->hang)
		sg_kfd_report_fault(kfd, fault->node);
}

struct sg_kfd *sg_kfd_create(const struct sg_kfd_files *files)
{
	struct sg_kfd *kfd = calloc(1, sizeof(*kfd));
	uint32_t n_workers;

	if (!kfd)
		return NULL;
	kfd->files = *files;
	kfd->machine.grain = grain_of;
	kfd->machine.faulted = faulted;
	pthread_mutex_init(&kfd->lock, NULL);
	pthread_mutex_init(&kfd->smi_lock, NULL);
	for (uint32_t g = 0; g < SG_MAX_GPUS; g++)
		kfd->drm_fd[g] = -1;
	if (!sg_machine_read_environment(&kfd->machine, &n_workers) ||
	    !sg_machine_build(&kfd->machine, n_workers)) {
		sg_kfd_destroy(kfd);
		return NULL;
	}
	return kfd;
}

void sg_kfd_destroy(struct sg_kfd *kfd)
{
	if (!kfd)
		return;
	for (uint32_t i = 0; i < SG_KFD_MAX_QUEUES; i++)
		if (kfd->queues[i].queue)
			sg_device_destroy_queue(kfd->queues[i].queue);
	sg_kfd_gem_fini(kfd);
	for (uint32_t i = 0; i < kfd->n_bos; i++)
		sg_kfd_bo_put(kfd, kfd->bos[i]);
	free(kfd->bos);
	while (kfd->n_smi)
		sg_kfd_close(kfd, kfd->smi[--kfd->n_smi].fd);
	sg_machine_dismantle(&kfd->machine);
	pthread_mutex_destroy(&kfd->smi_lock);
	pthread_mutex_destroy(&kfd->lock);
	free(kfd);
}

void sg_kfd_keep(const struct sg_kfd *kfd, int fd)
{
	if (fd >= 0 && kfd->files.keep)
		kfd->files.keep(fd, true);
}

void sg_kfd_close(const struct sg_kfd *kfd, int fd)
{
	if (fd < 0)
		return;
	if (kfd->files.keep)
		kfd->files.keep(fd, false);
	close(fd);
}

int sg_kfd_file(const struct sg_kfd *kfd)
{
	return sg_vm_file(kfd->machine.vm);
}

uint64_t sg_kfd_doorbell_offset(const struct sg_kfd *kfd, uint32_t node)
{
	return MMAP_DOORBELL | (uint64_t)sg_kfd_gpu_id(&kfd->machine.topology, node)
				       << MMAP_GPU_SHIFT;
}

uint64_t sg_kfd_file_offset(const struct sg_kfd *kfd, uint64_t mmap_offset)
{
	uint32_t node;

	if ((mmap_offset & MMAP_DOORBELL) != MMAP_DOORBELL)
		return mmap_offset;
	node = sg_kfd_node_of(kfd, mmap_offset >> MMAP_GPU_SHIFT & 0xffff);
	return node ? sg_vm_file_offset(kfd->machine.vm, kfd->machine.doorbells[node - 1]) +
			       mmap_offset % SG_DOORBELL_BYTES
		    : mmap_offset;
}

struct sg_machine *sg_kfd_machine(struct sg_kfd *kfd)
{
	return &kfd->machine;
}

uint64_t sg_kfd_reserve(struct sg_kfd *kfd, uint64_t size, bool for_user_pointer)
{
	return sg_vm_reserve(kfd->machine.vm, (size + SG_KFD_PAGE - 1) & ~(SG_KFD_PAGE - 1),
			     for_user_pointer);
}

void sg_kfd_release(struct sg_kfd *kfd, uint64_t start, uint64_t size)
{
	sg_vm_release(kfd->machine.vm, start, (size + SG_KFD_PAGE - 1) & ~(SG_KFD_PAGE - 1));
}

bool sg_kfd_is_shown(struct sg_kfd *kfd, uint64_t addr, uint64_t size)
{
	return sg_vm_accessible(kfd->machine.vm, addr, size);
}

void sg_kfd_aperture(const struct sg_kfd *kfd, uint64_t *out_start, uint64_t *out_end)
{
	*out_start = sg_vm_start(kfd->machine.vm);
	*out_end = sg_vm_end(kfd->machine.vm);
}

uint32_t sg_kfd_gpu_id(const struct sg_topology *topology, uint32_t node)
{
	return ((uint32_t)(topology->gpus[node - 1].unique_id >> 32) & 0xffe0) | node;
}

uint32_t sg_kfd_node_of(const struct sg_kfd *kfd, uint32_t gpu_id)
{
	uint32_t node = gpu_id & 0x1f;

	return sg_machine_is_gpu(&kfd->machine, node) &&
			       sg_kfd_gpu_id(&kfd->machine.topology, node) == gpu_id
		       ? node
		       : 0;
}

/* --- requests --- */

int sg_kfd_get_version(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_version_args *args = args_;

	args->major_version = KFD_MAJOR;
	args->minor_version = KFD_MINOR;
	return 0;
}

static struct kfd_process_device_apertures apertures_of(const struct sg_kfd *kfd, uint32_t node)
{
	return (struct kfd_process_device_apertures){
		.lds_base = SG_LDS_APERTURE,
		.lds_limit = SG_LDS_APERTURE + SG_FLAT_APERTURE_BYTES - 1,
		.scratch_base = SG_SCRATCH_APERTURE,
		.scratch_limit = SG_SCRATCH_APERTURE + SG_FLAT_APERTURE_BYTES - 1,
		.gpuvm_base = GPUVM_START,
		.gpuvm_limit = GPUVM_LAST,
		.gpu_id = sg_kfd_gpu_id(&kfd->machine.topology, node),
	};
}

int sg_kfd_get_apertures(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_process_apertures_args *args = args_;
	uint32_t n = kfd->machine.topology.n_gpus;

	args->num_of_nodes = n < NUM_OF_SUPPORTED_GPUS ? n : NUM_OF_SUPPORTED_GPUS;
	for (uint32_t g = 0; g < args->num_of_nodes; g++)
		args->process_apertures[g] = apertures_of(kfd, g + 1);
	return 0;
}

/* With no space for entries it tells how many there are. */
int sg_kfd_get_apertures_new(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_process_apertures_new_args *args = args_;
	uint32_t n = kfd->machine.topology.n_gpus, room = args->num_of_nodes;

	args->num_of_nodes = room && room < n ? room : n;
	for (uint32_t g = 0; room && g < args->num_of_nodes; g++) {
		struct kfd_process_device_apertures entry = apertures_of(kfd, g + 1);

		if (!sg_kfd_write(args->kfd_process_device_apertures_ptr + g * sizeof(entry),
				  &entry, sizeof(entry)))
			return EFAULT;
	}
	return 0;
}

int sg_kfd_acquire_vm(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_acquire_vm_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);
	int error = 0;

	if (!node || kfd->files.render_node((int)args->drm_fd) != node)
		return EINVAL;
	pthread_mutex_lock(&kfd->lock);
	if (kfd->drm_fd[node - 1] < 0)
		kfd->drm_fd[node - 1] = (int)args->drm_fd;
	else if (kfd->drm_fd[node - 1] != (int)args->drm_fd)
		error = EBUSY;
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_set_memory_policy(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_memory_policy_args *args = args_;

	if (args->default_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT ||
	    args->alternate_policy > KFD_IOC_CACHE_POLICY_NONCOHERENT)
		return EINVAL;
	return sg_kfd_node_of(kfd, args->gpu_id) ? 0 : EINVAL;
}

int sg_kfd_get_clocks(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_clock_counters_args *args = args_;

	/* Read next to each other: ROCr derives the relation of the clocks from such pairs. */
	args->system_clock_counter = sg_clock_system_ns();
	args->gpu_clock_counter = sg_kfd_node_of(kfd, args->gpu_id)
					  ? args->system_clock_counter / SG_DEVICE_TICK_NS
					  : 0;
	args->cpu_clock_counter = sg_clock_of(CLOCK_MONOTONIC_RAW);
	args->system_clock_freq = SG_SYSTEM_CLOCK_HZ;
	return 0;
}

int sg_kfd_get_tile_config(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_tile_config_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);

	if (!node)
		return EINVAL;
	/* No tables on this generation; ROCr's image code insists on success all the same. */
	args->num_tile_configs = 0;
	args->num_macro_tile_configs = 0;
	args->gb_addr_config = sg_machine_gpu(&kfd->machine, node)->model->gb_addr_config;
	args->num_banks = 16;
	args->num_ranks = 1;
	return 0;
}

/* Packets carry the address of their scratch. */
int sg_kfd_set_scratch_va(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_scratch_backing_va_args *args = args_;

	return sg_kfd_node_of(kfd, args->gpu_id) ? 0 : EINVAL;
}

/* From gfx90a on a process may choose it. */
static bool chooses_xnack(const struct sg_gpu_model *model)
{
	return model->gfx_minor > 0 || model->gfx_stepping >= 10;
}

/* One mode for all GPUs of a process. */
int sg_kfd_set_xnack(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_xnack_mode_args *args = args_;
	const struct sg_topology *topology = &kfd->machine.topology;
	bool busy;

	if (args->xnack_enabled < 0) {
		args->xnack_enabled = sg_svm_xnack(kfd->machine.vm);
		return 0;
	}
	pthread_mutex_lock(&kfd->lock);
	busy = kfd->n_queues;
	pthread_mutex_unlock(&kfd->lock);
	if (busy) /* also with the mode that it has */
		return EBUSY;
	for (uint32_t g = 0; args->xnack_enabled && g < topology->n_gpus; g++)
		if (!chooses_xnack(topology->gpus[g].model))
			return EPERM;
	sg_svm_set_xnack(kfd->machine.vm, args->xnack_enabled != 0);
	return 0;
}

int sg_kfd_available_memory(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_available_memory_args *args = args_;
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id);

	if (!node)
		return EINVAL;
	args->available = sg_vm_available(kfd->machine.vm, node);
	return 0;
}
