#include "tests/kfd/kfd_rig.h"

struct sg_kfd *kfd;
uint32_t gpu_ids[2];

static uint32_t render_node(int fd)
{
	return fd >= RENDER_FD && fd < RENDER_FD + 2 ? (uint32_t)(fd - RENDER_FD + 1) : 0;
}

static const struct sg_kfd_files files = { .render_node = render_node };

int kfd_rig_open(void **state)
{
	return kfd_rig_open_gpus("mi210,mi100");
}

int kfd_rig_open_gpus(const char *gpus)
{
	struct kfd_process_device_apertures entries[4];
	struct kfd_ioctl_get_process_apertures_new_args args = { .kfd_process_device_apertures_ptr =
									 (uint64_t)entries,
								 .num_of_nodes = 4 };

	setenv("WAVESCOPE_GPU", gpus, 1);
	setenv("WAVESCOPE_WORKERS", "1", 1);
	kfd = sg_kfd_create(&files);
	if (!kfd || CALL(0x14, &args) || args.num_of_nodes != 2)
		return -1;
	gpu_ids[0] = entries[0].gpu_id;
	gpu_ids[1] = entries[1].gpu_id;
	return 0;
}

int kfd_rig_close(void **state)
{
	sg_kfd_destroy(kfd);
	return 0;
}

struct kfd_ioctl_alloc_memory_of_gpu_args alloc_at(uint64_t va, uint64_t size, uint32_t flags)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = va, .size = size, .gpu_id = gpu_ids[0], .flags = flags
	};

	assert_int_equal(CALL(0x16, &args), 0);
	return args;
}

void release(uint64_t handle)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = handle };

	assert_int_equal(CALL(0x17, &args), 0);
}

uint64_t available(void)
{
	struct kfd_ioctl_get_available_memory_args args = { .gpu_id = gpu_ids[0] };

	assert_int_equal(CALL(0x23, &args), 0);
	return args.available;
}

bool is_accessible(uint64_t addr)
{
	return sg_vm_accessible(sg_kfd_machine(kfd)->vm, addr, 8);
}
