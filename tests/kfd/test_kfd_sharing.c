/* Descriptors of memory, handles for other processes, mappings through a render node. */
#include "tests/kfd/kfd_rig.h"

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

/* The other process, started with the four words of a handle: its own machine, the parent's
 * memory. */
static int import_and_answer(char **words)
{
	struct sg_kfd_ipc_import_args args = { 0 };
	uint64_t va;

	if (kfd_rig_open(NULL))
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
	return kfd_rig_close(NULL);
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
	/* What a user attaches stays with the object; ROCr tells by it whether a handle is the
	 * right one. */
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_descriptor_keeps_memory_that_was_freed),
		cmocka_unit_test(other_descriptors_are_not_imported),
		cmocka_unit_test(another_process_imports_memory),
		cmocka_unit_test(an_object_can_be_shown_where_the_runtime_wants_it),
		cmocka_unit_test(the_render_node_describes_its_gpu),
	};

	if (argc == 5)
		return import_and_answer(argv + 1);
	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
