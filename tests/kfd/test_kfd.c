/* The kernel driver's requests: right answers, and the driver's errno for wrong ones. Kernels play no part here. */
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

static struct sg_kfd *kfd;
static uint32_t gpu_ids[2];

static uint32_t render_node(int fd)
{
	return fd >= RENDER_FD && fd < RENDER_FD + 2 ? (uint32_t)(fd - RENDER_FD + 1) : 0;
}

static const struct sg_kfd_files files = { .render_node = render_node };

#define CALL(nr, args) sg_kfd_ioctl(kfd, _IOWR(AMDKFD_IOCTL_BASE, nr, __typeof__(*(args))), args)
#define DRM(nr, args) sg_kfd_drm_ioctl(kfd, 1, _IOWR(SG_DRM_TYPE, nr, __typeof__(*(args))), args)

static int setup(void **state)
{
	struct kfd_process_device_apertures entries[4];
	struct kfd_ioctl_get_process_apertures_new_args args = { .kfd_process_device_apertures_ptr =
									 (uint64_t)entries,
								 .num_of_nodes = 4 };

	setenv("WAVESCOPE_GPU", "mi210,mi100", 1);
	setenv("WAVESCOPE_WORKERS", "1", 1);
	kfd = sg_kfd_create(&files);
	if (!kfd || CALL(0x14, &args) || args.num_of_nodes != 2)
		return -1;
	gpu_ids[0] = entries[0].gpu_id;
	gpu_ids[1] = entries[1].gpu_id;
	return 0;
}

static int teardown(void **state)
{
	sg_kfd_destroy(kfd);
	return 0;
}

/* --- helpers --- */

static struct kfd_ioctl_alloc_memory_of_gpu_args alloc_at(uint64_t va, uint64_t size,
							  uint32_t flags)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = va, .size = size, .gpu_id = gpu_ids[0], .flags = flags
	};

	assert_int_equal(CALL(0x16, &args), 0);
	return args;
}

static void release(uint64_t handle)
{
	struct kfd_ioctl_free_memory_of_gpu_args args = { .handle = handle };

	assert_int_equal(CALL(0x17, &args), 0);
}

static uint64_t available(void)
{
	struct kfd_ioctl_get_available_memory_args args = { .gpu_id = gpu_ids[0] };

	assert_int_equal(CALL(0x23, &args), 0);
	return args.available;
}

static bool is_accessible(uint64_t addr)
{
	return sg_vm_accessible(sg_kfd_machine(kfd)->vm, addr, 8);
}

/* --- the process --- */

static void version_and_apertures_are_those_of_gfx9(void **state)
{
	struct kfd_ioctl_get_version_args version = { 0 };
	struct kfd_process_device_apertures entry = { 0 };
	struct kfd_ioctl_get_process_apertures_new_args one = { .kfd_process_device_apertures_ptr =
									(uint64_t)&entry,
								.num_of_nodes = 1 };
	struct kfd_ioctl_get_process_apertures_new_args count = { 0 };

	assert_int_equal(CALL(0x01, &version), 0);
	assert_int_equal(version.major_version, 1);
	assert_in_range(version.minor_version, 15, 18);
	assert_int_equal(CALL(0x14, &count), 0);
	assert_int_equal(count.num_of_nodes, 2);
	assert_int_equal(CALL(0x14, &one), 0);
	assert_int_equal(one.num_of_nodes, 1);
	assert_int_equal(entry.gpuvm_limit, (1ull << 47) - 1);
	assert_int_equal(entry.lds_base, 1ull << 48);
	assert_int_equal(entry.scratch_limit - entry.scratch_base, (4ull << 30) - 1);
	assert_int_not_equal(gpu_ids[0], gpu_ids[1]);
}

static void arguments_of_other_sizes_are_cut_or_filled(void **state)
{
	struct {
		struct kfd_ioctl_get_clock_counters_args known;
		uint64_t later[4];
	} longer = { .known.gpu_id = gpu_ids[0], .later = { 1, 2, 3, 4 } };
	uint64_t shorter[2] = { 0, 77 };

	assert_int_equal(CALL(0x05, &longer), 0);
	assert_int_equal(longer.known.system_clock_freq, 1000000000);
	assert_in_range(longer.known.gpu_clock_counter, 1, longer.known.system_clock_counter / 10);
	assert_int_equal(longer.later[3], 4);
	/* Only the first field fits: what is behind it is not written. */
	assert_int_equal(sg_kfd_ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, AMDKFD_IOCTL_BASE, 0x05, 8),
				      shorter),
			 0);
	assert_int_equal(shorter[1], 77);
}

static void bad_memory_and_unknown_requests_are_refused(void **state)
{
	struct kfd_ioctl_get_process_apertures_new_args args = { .kfd_process_device_apertures_ptr =
									 8,
								 .num_of_nodes = 2 };

	assert_int_equal(CALL(0x01, (struct kfd_ioctl_get_version_args *)8), EFAULT);
	assert_int_equal(CALL(0x14, &args), EFAULT);
	assert_int_equal(CALL(0x3f, &args), ENOTTY);
	assert_int_equal(CALL(0x82, &args), ENOTTY);
	assert_int_equal(CALL(0x00, &args), ENOTTY);
	assert_int_equal(CALL(SG_KFD_NR_DBG_TRAP, &args), EPERM);
	assert_int_equal(sg_kfd_ioctl(kfd, _IOR('X', 1, int), &args), ENOTTY);
}

static void requests_for_gpus_that_do_not_exist_fail(void **state)
{
	struct kfd_ioctl_set_memory_policy_args policy = { .gpu_id = 3 };
	struct kfd_ioctl_get_tile_config_args tiles = { .gpu_id = 3 };
	struct kfd_ioctl_set_trap_handler_args trap = { .gpu_id = 3 };
	struct kfd_ioctl_set_scratch_backing_va_args scratch = { .gpu_id = 3 };
	struct kfd_ioctl_get_available_memory_args memory = { .gpu_id = 3 };
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = { .gpu_id = 3,
							    .size = PAGE,
							    .flags = VRAM_FLAGS };
	struct kfd_ioctl_acquire_vm_args vm = { .gpu_id = 3, .drm_fd = RENDER_FD };

	assert_int_equal(CALL(0x04, &policy), EINVAL);
	assert_int_equal(CALL(0x12, &tiles), EINVAL);
	assert_int_equal(CALL(0x13, &trap), EINVAL);
	assert_int_equal(CALL(0x11, &scratch), EINVAL);
	assert_int_equal(CALL(0x23, &memory), EINVAL);
	assert_int_equal(CALL(0x16, &alloc), EINVAL);
	assert_int_equal(CALL(0x15, &vm), EINVAL);
}

static void a_gpu_is_acquired_once(void **state)
{
	struct kfd_ioctl_acquire_vm_args wrong = { .gpu_id = gpu_ids[0], .drm_fd = RENDER_FD + 1 };
	struct kfd_ioctl_acquire_vm_args right = { .gpu_id = gpu_ids[0], .drm_fd = RENDER_FD };

	assert_int_equal(CALL(0x15, &wrong), EINVAL); /* the other GPU's render node */
	assert_int_equal(CALL(0x15, &right), 0);
	assert_int_equal(CALL(0x15, &right), 0);
}

static void xnack_is_for_gfx90a_alone(void **state)
{
	struct kfd_ioctl_set_xnack_mode_args ask = { .xnack_enabled = -1 };
	struct kfd_ioctl_set_xnack_mode_args on = { .xnack_enabled = 1 };

	assert_int_equal(CALL(0x21, &ask), 0);
	assert_int_equal(ask.xnack_enabled, 0);
	assert_int_equal(CALL(0x21, &on), EPERM); /* the second GPU is an mi100 */
}

/* --- memory --- */

static void memory_appears_at_the_address_that_was_reserved(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 8 * PAGE, false), before = available();
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va + PAGE, 4 * PAGE, VRAM_FLAGS);
	uint64_t *there = (uint64_t *)(va + PAGE), *view;

	assert_int_equal(available(), before - 4 * PAGE);
	assert_true(is_accessible(va + PAGE));
	assert_false(is_accessible(va));
	assert_false(is_accessible(va + 5 * PAGE));
	there[3] = 42;
	view = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, sg_kfd_file(kfd),
		    (off_t)vram.mmap_offset);
	assert_ptr_not_equal(view, MAP_FAILED);
	assert_int_equal(view[3], 42);
	munmap(view, 4 * PAGE);
	release(vram.handle);
	assert_int_equal(available(), before);
	assert_false(is_accessible(va + PAGE));
	/* The address is reserved still, and the next memory there is zero. */
	vram = alloc_at(va + PAGE, 6 * PAGE, VRAM_FLAGS);
	assert_int_equal(there[3], 0);
	release(vram.handle);
	sg_kfd_release(kfd, va, 8 * PAGE);
}

static void memory_outside_of_reservations_is_refused(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 2 * PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = {
		.va_addr = va, .size = 4 * PAGE, .gpu_id = gpu_ids[0], .flags = VRAM_FLAGS
	};

	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.va_addr = 64 * PAGE;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.va_addr = va;
	args.size = 0;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.size = PAGE;
	args.flags = 0;
	assert_int_equal(CALL(0x16, &args), EINVAL);
	args.flags = KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;
	assert_int_equal(CALL(0x16, &args), ENOMEM);
	args.flags = KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL; /* of the wrong size */
	assert_int_equal(CALL(0x16, &args), EINVAL);
	sg_kfd_release(kfd, va, 2 * PAGE);
}

static void more_than_the_gpu_has_is_refused(void **state)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .size = available() + PAGE,
							   .gpu_id = gpu_ids[0],
							   .flags = VRAM_FLAGS };

	assert_int_equal(CALL(0x16, &args), ENOMEM);
}

static void released_address_space_is_reused(void **state)
{
	uint64_t first = sg_kfd_reserve(kfd, 64 * PAGE, false), second, again;

	sg_kfd_release(kfd, first, 16 * PAGE);
	second = sg_kfd_reserve(kfd, 16 * PAGE, false);
	assert_int_equal(second, first);
	sg_kfd_release(kfd, first + 16 * PAGE, 48 * PAGE);
	sg_kfd_release(kfd, second, 16 * PAGE);
	again = sg_kfd_reserve(kfd, 64 * PAGE, false);
	assert_int_equal(again, first);
	sg_kfd_release(kfd, again, 64 * PAGE);
}

static void user_pointers_are_two_names_of_one_memory(void **state)
{
	uint64_t alias = sg_kfd_reserve(kfd, 4 * PAGE, true);
	char *program =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .va_addr = alias + PAGE,
							   .size = 2 * PAGE,
							   .mmap_offset = (uint64_t)program,
							   .gpu_id = gpu_ids[0],
							   .flags = USER_FLAGS };
	struct sg_vm *vm = sg_kfd_machine(kfd)->vm;

	assert_int_equal(CALL(0x16, &args), 0);
	assert_true(is_accessible(alias + PAGE + 100));
	assert_int_equal(sg_vm_host_of(vm, alias + PAGE + 100), (uint64_t)program + 100);
	release(args.handle);
	assert_false(is_accessible(alias + PAGE + 100));
	sg_kfd_release(kfd, alias, 4 * PAGE);
	munmap(program, 2 * PAGE);
}

static void mapping_counts_the_gpus(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args gtt = alloc_at(va, PAGE, GTT_FLAGS);
	uint32_t ids[] = { gpu_ids[0], gpu_ids[1], 9 };
	struct kfd_ioctl_map_memory_to_gpu_args args = { .handle = gtt.handle,
							 .device_ids_array_ptr = (uint64_t)ids,
							 .n_devices = 2 };

	assert_int_equal(CALL(0x18, &args), 0);
	assert_int_equal(args.n_success, 2);
	args.n_success = 0;
	args.n_devices = 3;
	assert_int_equal(CALL(0x18, &args), EINVAL);
	args.n_devices = 0;
	assert_int_equal(CALL(0x18, &args), EINVAL);
	args.n_devices = 2;
	args.n_success = 3;
	assert_int_equal(CALL(0x19, &args), EINVAL);
	args.n_success = 0;
	args.device_ids_array_ptr = 8;
	assert_int_equal(CALL(0x19, &args), EFAULT);
	args.device_ids_array_ptr = (uint64_t)ids;
	args.handle ^= 1ull << 40;
	assert_int_equal(CALL(0x19, &args), EINVAL);
	args.handle = gtt.handle;
	assert_int_equal(CALL(0x19, &args), 0);
	release(gtt.handle);
	assert_int_equal(CALL(0x17, &gtt.handle), EINVAL);
	sg_kfd_release(kfd, va, PAGE);
}

/* --- sharing --- */

static int export(uint64_t handle)
{
	struct sg_kfd_export_dmabuf_args args = { .handle = handle, .flags = O_CLOEXEC };

	assert_int_equal(CALL(SG_KFD_NR_EXPORT_DMABUF, &args), 0);
	return (int)args.dmabuf_fd;
}

static void a_descriptor_keeps_memory_that_was_freed(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 2 * PAGE, false), before = available();
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va, PAGE, VRAM_FLAGS);
	struct kfd_ioctl_get_dmabuf_info_args info = { 0 };
	struct kfd_ioctl_import_dmabuf_args import = { .va_addr = va + PAGE, .gpu_id = gpu_ids[0] };
	int fd = export(vram.handle);

	assert_int_equal(lseek(fd, 0, SEEK_END), PAGE);
	info.dmabuf_fd = import.dmabuf_fd = (uint32_t)fd;
	assert_int_equal(CALL(0x1c, &info), 0);
	assert_int_equal(info.size, PAGE);
	assert_int_equal(info.gpu_id, gpu_ids[0]);
	strcpy((char *)va, "kept");
	release(vram.handle);
	assert_int_equal(CALL(0x1d, &import), 0);
	assert_string_equal((char *)(va + PAGE), "kept");
	close(fd);
	release(import.handle);
	/* Given back at the next allocation, when nobody has it any more. */
	release(alloc_at(va, PAGE, VRAM_FLAGS).handle);
	assert_int_equal(available(), before);
	sg_kfd_release(kfd, va, 2 * PAGE);
}

static void other_descriptors_are_not_imported(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, PAGE, false);
	struct kfd_ioctl_import_dmabuf_args import = { .va_addr = va, .gpu_id = gpu_ids[0] };
	int fd = memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	import.dmabuf_fd = (uint32_t)fd;
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	assert_int_equal(write(fd, "1GSWdmab with nothing sensible behind it, and enough of it all",
			       62),
			 62);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK), 0);
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	import.dmabuf_fd = 9999;
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	close(fd);
	sg_kfd_release(kfd, va, PAGE);
}

/* The other process, started with the four words of a handle: its own machine, the parent's memory. */
static int import_and_answer(char **words)
{
	struct sg_kfd_ipc_import_args args = { 0 };
	uint64_t va;

	if (setup(NULL))
		return 3;
	va = sg_kfd_reserve(kfd, PAGE, false);
	args.va_addr = va;
	args.gpu_id = gpu_ids[0];
	for (int i = 0; i < 4; i++)
		args.share_handle[i] = (uint32_t)strtoul(words[i], NULL, 10);
	if (!va || CALL(SG_KFD_NR_IPC_IMPORT, &args))
		return 1;
	if (strcmp((char *)va, "from the parent"))
		return 2;
	strcpy((char *)va, "from the child");
	return teardown(NULL);
}

static void another_process_imports_memory(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va, PAGE, VRAM_FLAGS);
	struct sg_kfd_ipc_export_args exported = { .handle = vram.handle, .gpu_id = gpu_ids[0] };
	char words[4][16];
	int status;
	pid_t pid;

	strcpy((char *)va, "from the parent");
	assert_int_equal(CALL(SG_KFD_NR_IPC_EXPORT, &exported), 0);
	for (int i = 0; i < 4; i++)
		snprintf(words[i], sizeof(words[i]), "%u", exported.share_handle[i]);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "test_kfd", words[0], words[1], words[2], words[3],
		      (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal((char *)va, "from the child");
	release(vram.handle);
	sg_kfd_release(kfd, va, PAGE);
}

static void an_object_can_be_shown_where_the_runtime_wants_it(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 4 * PAGE, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(0, 2 * PAGE, VRAM_FLAGS);
	struct sg_drm_prime prime = { .fd = export(vram.handle) };
	struct sg_drm_gem_va map = {
		.operation = SG_DRM_VA_MAP, .va = va, .offset = PAGE, .size = PAGE
	};
	struct sg_drm_gem_metadata set = { .op = 1, .n_bytes = 4, .data = { 99 } };
	struct sg_drm_gem_metadata get = { .op = 2 };
	struct sg_drm_gem_va again;
	struct sg_drm_gem_close handle = { 0 };

	assert_int_equal(DRM(SG_DRM_PRIME_FD_TO_HANDLE, &prime), 0);
	close(prime.fd);
	map.handle = handle.handle = prime.handle;
	/* What a user attaches stays with the object; ROCr tells by it whether a handle is the right one. */
	set.handle = get.handle = prime.handle;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_METADATA, &set), 0);
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_METADATA, &get), 0);
	assert_int_equal(get.n_bytes, 4);
	assert_int_equal(get.data[0], 99);
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), 0);
	assert_true(is_accessible(va));
	assert_false(is_accessible(va + PAGE));
	*(uint32_t *)va = 7;
	again = map;
	again.va = va + 2 * PAGE;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &again), 0);
	assert_int_equal(*(uint32_t *)(va + 2 * PAGE), 7);
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), EINVAL); /* taken */
	map.offset = 2 * PAGE;
	map.va = va + 3 * PAGE;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), EINVAL); /* behind its end */
	/* Handles go, mappings stay. */
	release(vram.handle);
	assert_int_equal(DRM(SG_DRM_GEM_CLOSE, &handle), 0);
	assert_int_equal(DRM(SG_DRM_GEM_CLOSE, &handle), EINVAL);
	assert_int_equal(*(uint32_t *)va, 7);
	map.operation = SG_DRM_VA_UNMAP;
	map.va = va;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), 0);
	assert_false(is_accessible(va));
	map.va = again.va;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), 0);
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_VA, &map), ENOENT);
	sg_kfd_release(kfd, va, 4 * PAGE);
}

static void the_render_node_describes_its_gpu(void **state)
{
	char name[16] = "";
	struct sg_drm_version version = { .name_bytes = sizeof(name), .name = (uint64_t)name };
	struct sg_drm_device device = { 0 };
	struct sg_drm_info info = { .answer = (uint64_t)&device,
				    .answer_bytes = sizeof(device),
				    .query = SG_DRM_DEV_INFO };
	struct sg_drm_info unknown = { .answer = (uint64_t)&device,
				       .answer_bytes = 4,
				       .query = 0x77 };

	assert_int_equal(DRM(SG_DRM_VERSION, &version), 0);
	assert_string_equal(name, "amdgpu");
	assert_int_equal(version.major, 3);
	assert_int_equal(DRM(SG_DRM_AMDGPU_INFO, &info), 0);
	assert_int_equal(device.device_id, 0x740f);
	assert_int_equal(device.n_cus, 104);
	assert_int_equal(DRM(SG_DRM_AMDGPU_INFO, &unknown), EINVAL);
	assert_int_equal(DRM(0x3f, &unknown), EINVAL);
}

/* --- events and queues --- */

static uint32_t new_event(uint32_t type)
{
	struct kfd_ioctl_create_event_args args = { .event_type = type, .auto_reset = 1 };

	assert_int_equal(CALL(0x08, &args), 0);
	assert_in_range(args.event_id, 1, KFD_SIGNAL_EVENT_LIMIT - 1);
	return args.event_id;
}

static int wait_for(struct kfd_event_data *data, uint32_t n, uint32_t timeout_ms,
		    uint32_t *out_result)
{
	struct kfd_ioctl_wait_events_args args = { .events_ptr = (uint64_t)data,
						   .num_events = n,
						   .timeout = timeout_ms };
	int error = CALL(0x0c, &args);

	*out_result = args.wait_result;
	return error;
}

static void a_known_age_ends_a_wait_that_came_too_late(void **state)
{
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct kfd_ioctl_set_event_args set = { .event_id = data.event_id };
	uint64_t *age = (uint64_t *)&data;
	uint32_t result;

	*age = 1;
	assert_int_equal(wait_for(&data, 1, 1, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
	assert_int_equal(CALL(0x0a, &set), 0);
	assert_int_equal(wait_for(&data, 1, 1000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(*age, 2);
	/* Somebody who has seen an older state does not sleep, though the event is not set any more. */
	*age = 1;
	assert_int_equal(wait_for(&data, 1, 1000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(wait_for(&data, 1, 1, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
	assert_int_equal(CALL(0x09, &set), 0);
}

static void events_that_do_not_exist_are_refused(void **state)
{
	struct kfd_event_data data = { .event_id = 4000 };
	struct kfd_ioctl_set_event_args event = { .event_id = 4000 };
	struct kfd_ioctl_create_event_args create = { .event_type = 77 };
	uint32_t result;

	assert_int_equal(CALL(0x0a, &event), EINVAL);
	assert_int_equal(CALL(0x0b, &event), EINVAL);
	assert_int_equal(CALL(0x09, &event), EINVAL);
	assert_int_equal(CALL(0x08, &create), EINVAL);
	assert_int_equal(wait_for(&data, 1, 1, &result), EINVAL);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_FAIL);
	assert_int_equal(wait_for((struct kfd_event_data *)8, 1, 1, &result), EFAULT);
}

/* Memory for a ring, its pointers and a signal, in one block of system memory that the runtime has mapped. */
static uint64_t system_memory(uint64_t size, uint64_t *out_handle)
{
	uint64_t va = sg_kfd_reserve(kfd, size, false);
	struct kfd_ioctl_alloc_memory_of_gpu_args args = { .va_addr = va,
							   .size = size,
							   .mmap_offset = va,
							   .gpu_id = gpu_ids[0],
							   .flags = USER_FLAGS };

	assert_ptr_not_equal(mmap((void *)va, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	assert_int_equal(CALL(0x16, &args), 0);
	*out_handle = args.handle;
	return va;
}

static void a_packet_ends_with_the_event_of_its_signal(void **state)
{
	uint64_t handle, va = system_memory(4 * PAGE, &handle);
	struct sg_amd_queue *amd = (struct sg_amd_queue *)(va + PAGE);
	struct sg_amd_signal *signal = (struct sg_amd_signal *)(va + 2 * PAGE);
	union sg_aql_packet *ring = (union sg_aql_packet *)va;
	struct kfd_ioctl_create_queue_args args = {
		.ring_base_address = va,
		.ring_size = PAGE,
		.write_pointer_address = (uint64_t)&amd->write_dispatch_id,
		.read_pointer_address = (uint64_t)&amd->read_dispatch_id,
		.gpu_id = gpu_ids[0],
		.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.queue_percentage = 100,
	};
	struct kfd_event_data data = { .event_id = new_event(KFD_IOC_EVENT_SIGNAL) };
	struct kfd_ioctl_destroy_queue_args destroy = { 0 };
	_Atomic uint64_t *doorbells;
	uint32_t result;

	for (size_t i = 0; i < PAGE / sizeof(*ring); i++)
		ring[i].dispatch.header = SG_AQL_INVALID;
	assert_int_equal(CALL(0x02, &args), 0);
	doorbells =
		mmap(NULL, SG_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, sg_kfd_file(kfd),
		     (off_t)(args.doorbell_offset & ~(SG_DOORBELL_BYTES - 1ull)));
	assert_ptr_not_equal(doorbells, MAP_FAILED);
	*signal = (struct sg_amd_signal){
		.kind = 1, .value = 1, .event_mailbox = va + 3 * PAGE, .event_id = data.event_id
	};
	ring[0].barrier.completion = (uint64_t)signal;
	atomic_store(&ring[0].dispatch.header, SG_AQL_BARRIER_AND);
	atomic_store(&amd->write_dispatch_id, 1);
	atomic_store(&doorbells[args.doorbell_offset % SG_DOORBELL_BYTES / 8], 0);
	assert_int_equal(wait_for(&data, 1, 10000, &result), 0);
	assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
	assert_int_equal(atomic_load(&signal->value), 0);
	assert_int_equal(*(uint64_t *)(va + 3 * PAGE), data.event_id);
	destroy.queue_id = args.queue_id;
	assert_int_equal(CALL(0x03, &destroy), 0);
	assert_int_equal(CALL(0x03, &destroy), EINVAL);
	munmap((void *)doorbells, SG_DOORBELL_BYTES);
	release(handle);
	sg_kfd_release(kfd, va, 4 * PAGE);
}

static void wrong_queues_are_refused_as_the_driver_does(void **state)
{
	uint64_t handle, va = system_memory(2 * PAGE, &handle);
	const struct kfd_ioctl_create_queue_args good = {
		.ring_base_address = va,
		.ring_size = PAGE,
		.write_pointer_address = va + PAGE,
		.read_pointer_address = va + PAGE + 64,
		.gpu_id = gpu_ids[0],
		.queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
		.queue_percentage = 100,
	};
	struct kfd_ioctl_create_queue_args args;
	struct kfd_ioctl_update_queue_args update = { .queue_id = 999, .ring_size = PAGE };
	struct kfd_ioctl_set_cu_mask_args mask = { .queue_id = 999,
						   .num_cu_mask = 31,
						   .cu_mask_ptr = (uint64_t)&update };
	struct kfd_ioctl_alloc_queue_gws_args gws = { .queue_id = 999, .num_gws = 1 };

#define REFUSED(field, value, error)                                                               \
	do {                                                                                       \
		args = good;                                                                       \
		args.field = value;                                                                \
		assert_int_equal(CALL(0x02, &args), error);                                        \
	} while (0)
	REFUSED(queue_percentage, 101, EINVAL);
	REFUSED(queue_priority, 16, EINVAL);
	REFUSED(ring_size, 3000, EINVAL);
	REFUSED(ring_base_address, 8, EFAULT);
	REFUSED(read_pointer_address, 8, EFAULT);
	REFUSED(write_pointer_address, 0, EFAULT);
	REFUSED(gpu_id, 1, EINVAL);
	REFUSED(queue_type, KFD_IOC_QUEUE_TYPE_COMPUTE, SG_KFD_ENOTSUPP);
	REFUSED(queue_type, 9, SG_KFD_ENOTSUPP);
	assert_int_equal(CALL(0x07, &update), EFAULT);
	assert_int_equal(CALL(0x1a, &mask), EINVAL);
	mask.num_cu_mask = 32;
	assert_int_equal(CALL(0x1a, &mask), EFAULT);
	assert_int_equal(CALL(0x1e, &gws), EINVAL);
	release(handle);
	sg_kfd_release(kfd, va, 2 * PAGE);
}

/* --- shared virtual memory --- */

static void attributes_name_gpus_by_their_ids(void **state)
{
	void *pages =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct {
		struct kfd_ioctl_svm_args head;
		struct kfd_ioctl_svm_attribute attrs[2];
	} set = { .head = { .start_addr = (uint64_t)pages,
			    .size = 4 * PAGE,
			    .op = KFD_IOCTL_SVM_OP_SET_ATTR,
			    .nattr = 2 },
		  .attrs = { { KFD_IOCTL_SVM_ATTR_PREFERRED_LOC, gpu_ids[1] },
			     { KFD_IOCTL_SVM_ATTR_ACCESS, gpu_ids[0] } } },
	  get = set;

	assert_int_equal(CALL(0x20, &set), 0);
	assert_true(sg_vm_reachable(sg_kfd_machine(kfd)->vm, (uint64_t)pages, 4 * PAGE));
	get.head.op = KFD_IOCTL_SVM_OP_GET_ATTR;
	get.attrs[0].value = 0;
	assert_int_equal(CALL(0x20, &get), 0);
	assert_int_equal(get.attrs[0].value, gpu_ids[1]);
	assert_int_equal(get.attrs[1].type, KFD_IOCTL_SVM_ATTR_ACCESS);
	assert_int_equal(get.attrs[1].value, gpu_ids[0]);
	set.head.nattr = 3; /* more than the request has space for */
	assert_int_equal(CALL(0x20, &set), EINVAL);
	set.head.nattr = 2;
	set.attrs[0].value = 5;
	assert_int_equal(CALL(0x20, &set), EINVAL);
	set.attrs[0].value = gpu_ids[0];
	set.head.start_addr = 64 * PAGE;
	assert_int_equal(CALL(0x20, &set), EFAULT);
	munmap(pages, 4 * PAGE);
}

/* --- sysfs --- */

static uint64_t property(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	assert_non_null(line);
	return strtoull(line + strlen(name), NULL, 10);
}

static void files_describe_the_machine(void **state)
{
	struct sg_sysfs tree = { 0 };
	struct sg_topology topology;
	char error[240], folder[SG_SYSFS_PATH], path[SG_SYSFS_PATH + 128], bytes[64] = "";
	const char *gpu, *link;
	struct stat st;
	int fd;

	assert_true(sg_topology_parse(&topology, "mi210,mi210", error, sizeof(error)));
	sg_sysfs_describe(&tree, &topology);
	gpu = sg_sysfs_text(&tree, "sys/devices/virtual/kfd/kfd/topology/nodes/2/properties");
	link = sg_sysfs_text(&tree,
			     "sys/devices/virtual/kfd/kfd/topology/nodes/2/io_links/1/properties");
	assert_non_null(gpu);
	assert_non_null(link);
	assert_int_equal(property(gpu, "simd_count "), 104 * 4);
	assert_int_equal(property(gpu, "gfx_target_version "), 90010);
	assert_int_equal(property(gpu, "capability "), 0xc502288);
	assert_int_equal(property(gpu, "io_links_count "), 2);
	assert_int_equal(property(link, "type "), 11); /* xGMI */
	assert_int_equal(property(link, "node_to "), 1);
	assert_null(
		sg_sysfs_text(&tree, "sys/devices/virtual/kfd/kfd/topology/nodes/3/properties"));
	assert_string_equal(
		sg_sysfs_text(&tree, "sys/devices/pci0000:00/0000:06:00.0/hwmon/hwmon1/power1_cap"),
		"300000000\n");
	assert_true(sg_sysfs_folder(&tree, folder));
	assert_int_equal(lstat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	snprintf(path, sizeof(path), "%s/sys/class/drm/card1/device/device", folder);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes) - 1), 7);
	assert_string_equal(bytes, "0x740f\n");
	close(fd);
	sg_sysfs_fini(&tree);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_and_apertures_are_those_of_gfx9),
		cmocka_unit_test(arguments_of_other_sizes_are_cut_or_filled),
		cmocka_unit_test(bad_memory_and_unknown_requests_are_refused),
		cmocka_unit_test(requests_for_gpus_that_do_not_exist_fail),
		cmocka_unit_test(a_gpu_is_acquired_once),
		cmocka_unit_test(xnack_is_for_gfx90a_alone),
		cmocka_unit_test(memory_appears_at_the_address_that_was_reserved),
		cmocka_unit_test(memory_outside_of_reservations_is_refused),
		cmocka_unit_test(more_than_the_gpu_has_is_refused),
		cmocka_unit_test(released_address_space_is_reused),
		cmocka_unit_test(user_pointers_are_two_names_of_one_memory),
		cmocka_unit_test(mapping_counts_the_gpus),
		cmocka_unit_test(a_descriptor_keeps_memory_that_was_freed),
		cmocka_unit_test(other_descriptors_are_not_imported),
		cmocka_unit_test(another_process_imports_memory),
		cmocka_unit_test(an_object_can_be_shown_where_the_runtime_wants_it),
		cmocka_unit_test(the_render_node_describes_its_gpu),
		cmocka_unit_test(a_known_age_ends_a_wait_that_came_too_late),
		cmocka_unit_test(events_that_do_not_exist_are_refused),
		cmocka_unit_test(a_packet_ends_with_the_event_of_its_signal),
		cmocka_unit_test(wrong_queues_are_refused_as_the_driver_does),
		cmocka_unit_test(attributes_name_gpus_by_their_ids),
		cmocka_unit_test(files_describe_the_machine),
	};

	if (argc == 5)
		return import_and_answer(argv + 1);
	return cmocka_run_group_tests(tests, setup, teardown);
}
