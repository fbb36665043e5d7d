/* Descriptors of memory, handles for other processes, mappings through a render node. */
#include "tests/kfd/kfd_rig.h"

#include <dirent.h>
#include <sys/socket.h>

/* --- sharing --- */

#define MAX_SENT 2
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(MAX_SENT * sizeof(int))];
};

static int send_fds(int to, const int *fds, size_t n)
{
	struct iovec text = { "1GSWdmab", 8 };
	union control control = { .head = { .cmsg_len = CMSG_LEN(n * sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	return sendmsg(to, &message, 0) == 8 ? 0 : -1;
}

static int receive_fd(int from)
{
	char bytes[8];
	struct iovec text = { bytes, sizeof(bytes) };
	union control control;
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(from, &message, 0) != sizeof(bytes) || !CMSG_FIRSTHDR(&message))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static int export(uint64_t handle)
{
	struct sg_kfd_export_dmabuf_args args = { .handle = handle, .flags = O_CLOEXEC };

	assert_int_equal(CALL(SG_KFD_NR_EXPORT_DMABUF, &args), 0);
	return (int)args.dmabuf_fd;
}

static uint64_t size_of(int fd)
{
	uint64_t offset, size = 0;
	int memory = sg_kfd_dmabuf_open(fd, &offset, &size);

	close(memory);
	return memory >= 0 ? size : 0;
}

static void a_descriptor_keeps_memory_that_was_freed(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 2 * PAGE, false), before = available();
	struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va, PAGE, VRAM_FLAGS);
	struct kfd_ioctl_get_dmabuf_info_args info = { 0 };
	struct kfd_ioctl_import_dmabuf_args import = { .va_addr = va + PAGE, .gpu_id = gpu_ids[0] };
	int fd = export(vram.handle);

	assert_int_equal(size_of(fd), PAGE);
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

/* A socket of another kind, and messages that are not ours: they stay for whom they are for. */
static void messages_of_the_program_are_not_imported(void **state)
{
	struct kfd_ioctl_import_dmabuf_args import = { .gpu_id = gpu_ids[0] };
	char text[16] = "";
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	import.dmabuf_fd = (uint32_t)ends[0];
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	assert_int_equal(write(ends[1], "1GSWdmab", 8), 8); /* with nothing enclosed */
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	assert_int_equal(read(ends[0], text, sizeof(text)), 8);
	assert_int_equal(send_fds(ends[1], (int[]){ 0, 0 }, 2), 0); /* neither memory nor ticket */
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	assert_int_equal(send_fds(ends[1], (int[]){ 0 }, 1), 0);
	assert_int_equal(CALL(0x1d, &import), EINVAL);
	close(ends[0]);
	close(ends[1]);
}

/* Exports memory, sends the descriptor to the parent, and ends. */
static int export_and_end(const char *to)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args vram;
	uint64_t va;
	int fd;

	if (kfd_rig_open(NULL))
		return 3;
	va = sg_kfd_reserve(kfd, 2 * PAGE, false);
	vram = alloc_at(va, 2 * PAGE, VRAM_FLAGS);
	strcpy((char *)va + PAGE, "from one that has ended");
	fd = export(vram.handle);
	if (send_fds(atoi(to), &fd, 1))
		return 1;
	_exit(0); /* nothing is given back: it could have been killed */
}

/* ROCr asks for the mmap offset before it maps an imported object. */
static void map_through_the_render_node(int fd)
{
	struct sg_drm_prime prime = { .fd = fd };
	struct sg_drm_gem_mmap map = { 0 };
	struct sg_drm_gem_close close_handle = { 0 };
	uint64_t at = 0, offset;
	char text[64] = "";
	int memory;

	assert_int_equal(DRM(SG_DRM_PRIME_FD_TO_HANDLE, &prime), 0);
	map.handle_or_offset = close_handle.handle = prime.handle;
	assert_int_equal(DRM(SG_DRM_AMDGPU_GEM_MMAP, &map), 0);
	offset = map.handle_or_offset;
	memory = sg_kfd_foreign_open(kfd, 1, offset + PAGE, PAGE, &at);
	assert_true(memory >= 0);
	assert_true(pread(memory, text, sizeof(text) - 1, (off_t)at) > 0);
	assert_string_equal(text, "from one that has ended");
	close(memory);
	assert_int_equal(sg_kfd_foreign_open(kfd, 1, offset + PAGE, 2 * PAGE, &at), -1);
	assert_int_equal(sg_kfd_foreign_open(kfd, 2, offset, PAGE, &at), -1); /* the other GPU's */
	assert_int_equal(sg_kfd_foreign_open(kfd, 1, PAGE, PAGE, &at), -1);
	assert_int_equal(DRM(SG_DRM_GEM_CLOSE, &close_handle), 0);
	assert_int_equal(sg_kfd_foreign_open(kfd, 1, offset, PAGE, &at), -1);
}

static void memory_outlives_the_process_that_exported_it(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 4 * PAGE, false);
	struct kfd_ioctl_import_dmabuf_args import = { .va_addr = va, .gpu_id = gpu_ids[0] };
	struct kfd_ioctl_import_dmabuf_args again = { .va_addr = va + 2 * PAGE,
						      .gpu_id = gpu_ids[0] };
	int ends[2], status, fd;
	char number[16];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	snprintf(number, sizeof(number), "%d", ends[1]);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "test_kfd", number, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fd = receive_fd(ends[0]);
	assert_true(fd >= 0);
	assert_int_equal(size_of(fd), 2 * PAGE);
	import.dmabuf_fd = again.dmabuf_fd = (uint32_t)fd;
	assert_int_equal(CALL(0x1d, &import), 0);
	assert_int_equal(CALL(0x1d, &again), 0);
	map_through_the_render_node(fd);
	close(fd);
	assert_string_equal((char *)va + PAGE, "from one that has ended");
	strcpy((char *)va, "two views, one memory");
	assert_string_equal((char *)va + 2 * PAGE, "two views, one memory");
	release(import.handle);
	release(again.handle);
	close(ends[0]);
	close(ends[1]);
	sg_kfd_release(kfd, va, 4 * PAGE);
}

static unsigned n_descriptors(void)
{
	unsigned n = 0;
	DIR *all = opendir("/proc/self/fd");

	assert_non_null(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

static void descriptors_are_given_back(void **state)
{
	uint64_t va = sg_kfd_reserve(kfd, 2 * PAGE, false);
	unsigned before = n_descriptors();

	for (int i = 0; i < 20; i++) {
		struct kfd_ioctl_alloc_memory_of_gpu_args vram = alloc_at(va, PAGE, VRAM_FLAGS);
		struct sg_kfd_ipc_export_args shared = { .handle = vram.handle,
							 .gpu_id = gpu_ids[0] };
		struct kfd_ioctl_import_dmabuf_args import = { .va_addr = va + PAGE,
							       .gpu_id = gpu_ids[0] };
		struct sg_drm_prime prime = { .fd = export(vram.handle) };
		struct sg_drm_gem_close handle = { 0 };
		int second = export(vram.handle);

		import.dmabuf_fd = (uint32_t)prime.fd;
		assert_int_equal(CALL(SG_KFD_NR_IPC_EXPORT, &shared), 0);
		assert_int_equal(CALL(0x1d, &import), 0);
		assert_int_equal(DRM(SG_DRM_PRIME_FD_TO_HANDLE, &prime), 0);
		handle.handle = prime.handle;
		assert_int_equal(DRM(SG_DRM_GEM_CLOSE, &handle), 0);
		close(prime.fd);
		close(second);
		release(import.handle);
		release(vram.handle);
	}
	/* What is lent is looked at when memory is allocated. */
	release(alloc_at(va, PAGE, VRAM_FLAGS).handle);
	assert_int_equal(n_descriptors(), before);
	sg_kfd_release(kfd, va, 2 * PAGE);
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
		cmocka_unit_test(messages_of_the_program_are_not_imported),
		cmocka_unit_test(memory_outlives_the_process_that_exported_it),
		cmocka_unit_test(descriptors_are_given_back),
		cmocka_unit_test(another_process_imports_memory),
		cmocka_unit_test(an_object_can_be_shown_where_the_runtime_wants_it),
		cmocka_unit_test(the_render_node_describes_its_gpu),
	};

	if (argc == 2)
		return export_and_end(argv[1]);
	if (argc == 5)
		return import_and_answer(argv + 1);
	return cmocka_run_group_tests(tests, kfd_rig_open, kfd_rig_close);
}
