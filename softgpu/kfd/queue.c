/* Queues: AQL for kernels, SDMA for copies. */
#include <errno.h>

#include "softgpu/kfd/kfd_priv.h"

#define PERCENTAGE_MASK 0xffu /* the rest of the word selects an XCC */
#define N_GWS 64u

/* Locked. The lowest doorbell is never used: ROCr takes table index 0 for "none". */
static uint32_t free_doorbell(const struct sg_kfd *kfd, uint32_t node)
{
	for (uint32_t i = 1; i < SG_N_DOORBELLS; i++)
		if (!kfd->doorbell_used[node - 1][i])
			return i;
	return 0;
}

/* Locked. Queue ids are places in the table. */
static struct sg_kfd_queue *find(struct sg_kfd *kfd, uint32_t id)
{
	return id < SG_KFD_MAX_QUEUES && kfd->queues[id].queue ? &kfd->queues[id] : NULL;
}

static bool is_readable(uint64_t addr, size_t size)
{
	uint64_t word;

	return sg_kfd_read(addr, &word, size);
}

/* The driver's checks, in its order. */
static int check(const struct sg_kfd *kfd, const struct kfd_ioctl_create_queue_args *args)
{
	if ((args->queue_percentage & PERCENTAGE_MASK) > KFD_MAX_QUEUE_PERCENTAGE ||
	    args->queue_priority > KFD_MAX_QUEUE_PRIORITY)
		return EINVAL;
	if (args->ring_base_address && !is_readable(args->ring_base_address, 8))
		return EFAULT;
	if (!args->ring_size || args->ring_size & (args->ring_size - 1))
		return EINVAL;
	if (!is_readable(args->read_pointer_address, 8) ||
	    !is_readable(args->write_pointer_address, 8))
		return EFAULT;
	if (!sg_kfd_node_of(kfd, args->gpu_id))
		return EINVAL;
	switch (args->queue_type) {
	case KFD_IOC_QUEUE_TYPE_COMPUTE_AQL:
	case KFD_IOC_QUEUE_TYPE_SDMA:
	case KFD_IOC_QUEUE_TYPE_SDMA_XGMI:
	case SG_KFD_QUEUE_SDMA_BY_ENGINE:
		return args->ring_base_address ? 0 : EINVAL;
	default: /* PM4 on a queue of its own: not supported */
		return SG_KFD_ENOTSUPP;
	}
}

/* Locked. Where the runtime wants exceptions is in the header of the queue's save area. */
static void find_error_word(const struct sg_kfd *kfd, uint64_t save_area,
			    struct sg_queue_desc *desc)
{
	struct sg_kfd_save_area header;

	if (!kfd->reports_exceptions || !sg_kfd_read(save_area, &header, sizeof(header)))
		return;
	desc->error_addr = header.error_addr;
	desc->error_event = header.error_event;
}

/* Locked. */
static int create(struct sg_kfd *kfd, struct kfd_ioctl_create_queue_args *args)
{
	uint32_t node = sg_kfd_node_of(kfd, args->gpu_id), doorbell = free_doorbell(kfd, node),
		 id = 0;
	uint64_t page = kfd->machine.doorbells[node - 1];
	struct sg_queue_desc desc = {
		.type = args->queue_type == KFD_IOC_QUEUE_TYPE_COMPUTE_AQL ? SG_QUEUE_AQL
									   : SG_QUEUE_SDMA,
		.ring = (void *)args->ring_base_address,
		.size_bytes = args->ring_size,
		.write_ptr = (_Atomic uint64_t *)args->write_pointer_address,
		.read_ptr = (_Atomic uint64_t *)args->read_pointer_address,
		.doorbell = (_Atomic uint64_t *)page + doorbell,
	};
	struct sg_queue *queue;

	while (id < SG_KFD_MAX_QUEUES && kfd->queues[id].queue)
		id++;
	if (!doorbell || id == SG_KFD_MAX_QUEUES)
		return ENOMEM;
	atomic_store(desc.doorbell, 0);
	if (desc.type == SG_QUEUE_AQL)
		find_error_word(kfd, args->ctx_save_restore_address, &desc);
	queue = sg_device_register_queue(sg_machine_device(&kfd->machine, node), &desc);
	if (!queue)
		return EINVAL;
	if (!(args->queue_percentage & PERCENTAGE_MASK))
		sg_cp_queue_set_active(queue, false);
	kfd->doorbell_used[node - 1][doorbell] = true;
	kfd->queues[id] =
		(struct sg_kfd_queue){ .queue = queue, .node = node, .doorbell = doorbell };
	kfd->n_queues++;
	args->queue_id = id;
	/* The page to map, and the place in it. */
	args->doorbell_offset = sg_kfd_doorbell_offset(kfd, node) + 8ull * doorbell;
	return 0;
}

int sg_kfd_create_queue(struct sg_kfd *kfd, void *args, size_t size)
{
	int error = check(kfd, args);

	if (error)
		return error;
	pthread_mutex_lock(&kfd->lock);
	error = create(kfd, args);
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_destroy_queue(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_destroy_queue_args *args = args_;
	struct sg_kfd_queue *place;
	struct sg_queue *queue = NULL;

	pthread_mutex_lock(&kfd->lock);
	place = find(kfd, args->queue_id);
	if (place) {
		queue = place->queue;
		kfd->doorbell_used[place->node - 1][place->doorbell] = false;
		*place = (struct sg_kfd_queue){ 0 };
		kfd->n_queues--;
	}
	pthread_mutex_unlock(&kfd->lock);
	if (!queue)
		return EINVAL;
	sg_device_destroy_queue(queue);
	return 0;
}

int sg_kfd_update_queue(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_update_queue_args *args = args_;
	uint32_t percentage = args->queue_percentage & PERCENTAGE_MASK;
	struct sg_kfd_queue *place;

	if (percentage > KFD_MAX_QUEUE_PERCENTAGE ||
	    args->queue_priority > KFD_MAX_QUEUE_PRIORITY ||
	    args->ring_size & (args->ring_size - 1))
		return EINVAL;
	pthread_mutex_lock(&kfd->lock);
	place = find(kfd, args->queue_id);
	/* All queues get their turns in rounds; priorities make no difference. */
	if (place)
		sg_cp_queue_set_active(place->queue, percentage && args->ring_size);
	pthread_mutex_unlock(&kfd->lock);
	return place ? 0 : EFAULT;
}

/* Which compute unit runs a workgroup changes nothing that a program can compute. */
int sg_kfd_set_cu_mask(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_set_cu_mask_args *args = args_;
	struct sg_kfd_queue *place;
	uint32_t word;

	if (!args->num_cu_mask || args->num_cu_mask % 32)
		return EINVAL;
	for (uint32_t i = 0; i < args->num_cu_mask / 32 && i < 32; i++)
		if (!sg_kfd_read(args->cu_mask_ptr + 4 * i, &word, sizeof(word)))
			return EFAULT;
	pthread_mutex_lock(&kfd->lock);
	place = find(kfd, args->queue_id);
	pthread_mutex_unlock(&kfd->lock);
	return place ? 0 : EFAULT;
}

int sg_kfd_alloc_gws(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_alloc_queue_gws_args *args = args_;
	struct sg_kfd_queue *place;

	if (args->num_gws > N_GWS)
		return EINVAL;
	pthread_mutex_lock(&kfd->lock);
	place = find(kfd, args->queue_id);
	if (place && args->num_gws)
		sg_cp_queue_use_gws(place->queue);
	pthread_mutex_unlock(&kfd->lock);
	args->first_gws = 0;
	return place ? 0 : EINVAL;
}
