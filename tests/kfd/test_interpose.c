/*
 * The preloaded library under a program that knows nothing of it: what is the machine's is found,
 * everything else is left alone. Run with LD_PRELOAD.
 */
#undef _FILE_OFFSET_BITS

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softgpu/kfd/abi.h"
#include "softgpu/kfd/drm_abi.h"

#define PCI_DEVICES "/sys/bus/pci/devices"
#define NODES "/sys/class/kfd/kfd/topology/nodes"

static int version_of(int fd)
{
	struct kfd_ioctl_get_version_args args = { 0 };

	return ioctl(fd, AMDKFD_IOC_GET_VERSION, &args) ? -errno : (int)args.major_version;
}

static int open_kfd(void)
{
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* --- paths --- */

static void devices_look_like_devices(void **state)
{
	struct stat st;
	struct statx stx;
	int fd = open("/dev/dri/renderD128", O_RDWR);

	assert_int_equal(stat("/dev/kfd", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(lstat("/dev/dri/card0", &st), 0);
	assert_int_equal(st.st_rdev, makedev(226, 0));
	assert_int_equal(statx(AT_FDCWD, "/dev/dri/renderD128", 0, STATX_BASIC_STATS, &stx), 0);
	assert_int_equal(stx.stx_rdev_minor, 128);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(226, 128));
	close(fd);
	assert_int_equal(open("/dev/dri/renderD129", O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
}

static void files_of_the_machine_are_read_as_any_others(void **state)
{
	char text[64] = "", path[PATH_MAX];
	struct dirent *entry;
	int n_nodes = 0, fd, dir;
	FILE *file = fopen(NODES "/1/gpu_id", "r");
	DIR *nodes = opendir(NODES);

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_in_range(atoi(text), 1, 65535);
	fclose(file);
	assert_non_null(nodes);
	while ((entry = readdir(nodes)))
		n_nodes += entry->d_name[0] != '.';
	assert_int_equal(n_nodes, 2);
	closedir(nodes);
	assert_int_equal(access(NODES "/1/properties", R_OK), 0);
	/* Relative to a folder of the machine. */
	dir = open(NODES, O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "0/gpu_id", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, 1), 1);
	assert_int_equal(text[0], '0');
	close(fd);
	close(dir);
	assert_true(readlink("/sys/class/drm/card0/device/driver", path, sizeof(path)) > 0);
	assert_non_null(realpath("/sys/class/drm/card0", path));
	assert_non_null(strstr(path, "/sys/devices/pci0000:00/0000:03:00.0/drm/card0"));
}

/* Entries of the folder behind a descriptor, which it takes; *out_gpus: those that have video memory. */
static unsigned count_entries(int fd, unsigned *out_gpus)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	unsigned n = 0;
	char path[PATH_MAX];

	assert_non_null(dir);
	*out_gpus = 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		n++;
		snprintf(path, sizeof(path), PCI_DEVICES "/%s/mem_info_vram_total", entry->d_name);
		*out_gpus += !access(path, F_OK);
		/* from the folder as well as by its path */
		snprintf(path, sizeof(path), "%s/vendor", entry->d_name);
		assert_int_equal(faccessat(dirfd(dir), path, F_OK, 0), 0);
	}
	closedir(dir);
	return n;
}

static void gpus_are_listed_among_the_systems_pci_devices(void **state)
{
	long real = syscall(SYS_openat, AT_FDCWD, PCI_DEVICES, O_RDONLY | O_DIRECTORY, 0);
	unsigned n_real_gpus = 0, n_real = real < 0 ? 0 : count_entries((int)real, &n_real_gpus), n;

	assert_int_equal(count_entries(open(PCI_DEVICES, O_RDONLY | O_DIRECTORY), &n), n_real + 1);
	assert_int_equal(n, n_real_gpus + 1);
	/* as hwloc does */
	assert_int_equal(count_entries(openat(-1, PCI_DEVICES "/", O_RDONLY | O_DIRECTORY), &n),
			 n_real + 1);
	assert_int_equal(n, n_real_gpus + 1);
}

/* lspci reads the first 64 bytes, as root 256. */
static void a_gpu_has_a_configuration_space(void **state)
{
	uint8_t bytes[512];
	int fd = open(PCI_DEVICES "/0000:03:00.0/config", O_RDONLY);

	assert_int_equal(pread(fd, bytes, sizeof(bytes), 0), 256);
	close(fd);
	assert_int_equal(bytes[0] | bytes[1] << 8, 0x1002);
	assert_int_equal(bytes[2] | bytes[3] << 8, 0x740f); /* MI210 */
	assert_int_equal(bytes[8], 2);                      /* revision */
	assert_int_equal(bytes[10] | bytes[11] << 8, 0x0380);
	assert_int_equal(bytes[0x2e] | bytes[0x2f] << 8, 0x0c34);
}

static void everything_else_is_the_systems(void **state)
{
	const char *volatile nowhere = NULL;
	struct stat ours, theirs;

	assert_int_equal(stat("/dev/null", &ours), 0);
	assert_int_equal(syscall(SYS_newfstatat, AT_FDCWD, "/dev/null", &theirs, 0), 0);
	assert_int_equal(ours.st_ino, theirs.st_ino);
	assert_int_equal(stat("/dev/kfd2", &ours), -1);
	assert_int_equal(stat("/dev/driver", &ours), -1);
	assert_int_equal(stat("/sys/class/kfdx", &ours), -1);
	assert_int_equal(access("/sys/module/amdgpux", F_OK), -1);
	assert_int_equal(open(nowhere, O_RDONLY), -1);
	assert_int_equal(errno, EFAULT);
}

/* --- descriptors --- */

static void copies_of_a_descriptor_are_the_device(void **state)
{
	int fd = open_kfd(),
	    copies[] = { dup(fd), dup2(fd, 200), dup3(fd, 201, O_CLOEXEC), fcntl(fd, F_DUPFD, 100),
			 fcntl(fd, F_DUPFD_CLOEXEC, 100) };

	close(fd);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		assert_int_equal(version_of(copies[i]), 1);
		close(copies[i]);
		assert_int_equal(version_of(copies[i]), -EBADF);
	}
}

static void a_number_that_is_reused_is_another_file(void **state)
{
	int fd = open_kfd(), other = open("/dev/null", O_RDWR);

	assert_int_equal(dup2(other, fd), fd);
	assert_int_equal(version_of(fd), -ENOTTY);
	close(fd);
	fd = open_kfd();
	/* Without the library noticing. */
	assert_int_equal(syscall(SYS_dup2, other, fd), fd);
	assert_int_equal(version_of(fd), -ENOTTY);
	close(fd);
	close(other);
}

static void a_program_may_close_everything(void **state)
{
	int fd = open_kfd();

	assert_int_equal(close_range(3, UINT_MAX, 0), 0);
	assert_int_equal(version_of(fd), -EBADF);
	fd = open_kfd();
	assert_int_equal(version_of(fd), 1);
	for (int i = 3; i < 1024; i++)
		close(i);
	fd = open_kfd();
	assert_int_equal(version_of(fd), 1);
	closefrom(3);
	fd = open_kfd();
	assert_int_equal(version_of(fd), 1);
	close(fd);
}

static int export_memory(int kfd, uint64_t size)
{
	struct kfd_process_device_apertures gpu = { 0 };
	struct kfd_ioctl_get_process_apertures_new_args gpus = { .kfd_process_device_apertures_ptr =
									 (uint64_t)&gpu,
								 .num_of_nodes = 1 };
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {
		.size = size, .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC
	};
	struct sg_kfd_export_dmabuf_args export = { .flags = O_CLOEXEC };

	assert_int_equal(ioctl(kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &gpus), 0);
	alloc.gpu_id = gpu.gpu_id;
	assert_int_equal(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc), 0);
	export.handle = alloc.handle;
	assert_int_equal(ioctl(kfd,
			       _IOWR(AMDKFD_IOCTL_BASE, SG_KFD_NR_EXPORT_DMABUF,
				     struct sg_kfd_export_dmabuf_args),
			       &export),
			 0);
	return (int)export.dmabuf_fd;
}

static void exported_memory_has_a_size_and_can_be_mapped(void **state)
{
	int kfd = open_kfd(), fd = export_memory(kfd, 8192), ends[2];
	char *all = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	char *second = mmap64(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);

	/* As the driver answers. */
	assert_int_equal(lseek64(fd, 0, SEEK_END), 8192);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(lseek(fd, 1, SEEK_SET), -1);
	assert_int_equal(errno, EINVAL);
	assert_ptr_not_equal(all, MAP_FAILED);
	assert_ptr_not_equal(second, MAP_FAILED);
	strcpy(all + 4096, "the same memory");
	assert_string_equal(second, "the same memory");
	assert_ptr_equal(mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 4096), MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	munmap(all, 8192);
	munmap(second, 4096);
	close(fd);
	close(kfd);
	/* Of other files the system decides. */
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(lseek(ends[0], 0, SEEK_END), -1);
	assert_int_equal(errno, ESPIPE);
	assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, ends[0], 0), MAP_FAILED);
	assert_int_equal(errno, ENODEV);
	close(ends[0]);
	close(ends[1]);
}

#define DRM_CALL(fd, nr, args) ioctl(fd, _IOWR(SG_DRM_TYPE, nr, __typeof__(*(args))), args)

/* As ROCr attaches a signal of another process: libdrm maps it, and the GPU gets it at that address. */
static void an_object_that_is_mapped_anywhere_can_be_shown_to_the_gpu_there(void **state)
{
	int kfd = open_kfd(), exported = export_memory(kfd, 8192);
	int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	struct sg_drm_prime import = { .fd = exported };
	struct sg_drm_gem_mmap place = { 0 };
	struct sg_drm_gem_va show = { .operation = SG_DRM_VA_MAP, .size = 8192, .flags = 0xe };
	char *same, *mapped;

	assert_true(node >= 0);
	assert_int_equal(DRM_CALL(node, SG_DRM_PRIME_FD_TO_HANDLE, &import), 0);
	place.handle_or_offset = show.handle = import.handle;
	assert_int_equal(DRM_CALL(node, SG_DRM_AMDGPU_GEM_MMAP, &place), 0);
	mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, node,
		      (off_t)place.handle_or_offset);
	same = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, exported, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	assert_ptr_not_equal(same, MAP_FAILED);
	show.va = (uint64_t)mapped;
	assert_int_equal(DRM_CALL(node, SG_DRM_AMDGPU_GEM_VA, &show), 0);
	strcpy(mapped, "signal");
	assert_string_equal(same, "signal");
	show.operation = SG_DRM_VA_UNMAP;
	assert_int_equal(DRM_CALL(node, SG_DRM_AMDGPU_GEM_VA, &show), 0);
	assert_int_equal(munmap(mapped, 8192), 0);
	munmap(same, 8192);
	close(node);
	close(exported);
	close(kfd);
}

/* --- processes --- */

static int child_uses(int inherited)
{
	int fd;

	/* The driver says so, too: a context belongs to one process. */
	if (version_of(inherited) != -EBADF)
		return 1;
	/* Its number is free for another file. */
	if (close_range((unsigned)inherited, (unsigned)inherited, 0) ||
	    dup2(0, inherited) != inherited || version_of(inherited) != -ENOTTY)
		return 3;
	fd = open("/dev/kfd", O_RDWR);
	return fd < 0 || version_of(fd) != 1 ? 2 : 0;
}

static void a_child_has_to_open_the_device_itself(void **state)
{
	int fd = open_kfd(), status;
	pid_t pid = fork();

	if (!pid)
		_exit(child_uses(fd));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(version_of(fd), 1);
	close(fd);
}

static void a_program_started_by_this_one_gets_its_own(void **state)
{
	int fd = open("/dev/kfd", O_RDWR), status; /* inherited */
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", fd);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "test_interpose", number, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
}

/* subprocess.run() of Python does this: the child shares the parent's memory until it starts
 * the program. */
static void a_child_that_shares_memory_closes_its_own(void **state)
{
	int fd = open_kfd(), status;
	pid_t pid = vfork();

	if (!pid) {
		close_range(3, UINT_MAX, 0);
		close(fd);
		dup2(0, fd);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(version_of(fd), 1);
	close(fd);
}

/* What the new program finds: the old number leads nowhere, a new one works. */
static int after_exec(int inherited)
{
	int old = version_of(inherited), fd = open("/dev/kfd", O_RDWR);

	return old == -ENOTTY && fd >= 0 && version_of(fd) == 1 ? 0 : 1;
}

/* --- many threads --- */

#define N_THREADS 4
#define N_ROUNDS 1500

static _Atomic int n_wrong;

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			atomic_fetch_add(&n_wrong, 1);                                             \
	} while (0)

/* Everyday calls, none of them about GPUs. */
static void *work(void *arg)
{
	for (int i = 0; i < N_ROUNDS; i++) {
		int fd = open("/dev/null", O_RDWR), copy = dup(fd), n;
		struct stat st;
		char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		MUST(fd >= 0 && copy >= 0 && map != MAP_FAILED);
		MUST(version_of(fd) == -ENOTTY && version_of(copy) == -ENOTTY);
		MUST(!fstat(copy, &st) && st.st_rdev == makedev(1, 3));
		MUST(ioctl(fd, FIONREAD, &n) == -1 && errno == ENOTTY);
		map[i % 8192] = 1;
		MUST(!munmap(map, 8192) && !close(fd) && !close(copy));
	}
	return NULL;
}

static void *use_devices(void *arg)
{
	for (int i = 0; i < N_ROUNDS / 5; i++) {
		int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC), copy = dup(fd);

		MUST(version_of(fd) == 1 && !close(fd));
		MUST(version_of(copy) == 1 && !close(copy));
	}
	return NULL;
}

static void threads_with_other_files_are_not_disturbed(void **state)
{
	pthread_t threads[N_THREADS];

	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i ? work : use_devices, NULL),
				 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(n_wrong, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_look_like_devices),
		cmocka_unit_test(files_of_the_machine_are_read_as_any_others),
		cmocka_unit_test(gpus_are_listed_among_the_systems_pci_devices),
		cmocka_unit_test(a_gpu_has_a_configuration_space),
		cmocka_unit_test(everything_else_is_the_systems),
		cmocka_unit_test(copies_of_a_descriptor_are_the_device),
		cmocka_unit_test(a_number_that_is_reused_is_another_file),
		cmocka_unit_test(a_program_may_close_everything),
		cmocka_unit_test(exported_memory_has_a_size_and_can_be_mapped),
		cmocka_unit_test(an_object_that_is_mapped_anywhere_can_be_shown_to_the_gpu_there),
		cmocka_unit_test(a_child_has_to_open_the_device_itself),
		cmocka_unit_test(a_program_started_by_this_one_gets_its_own),
		cmocka_unit_test(a_child_that_shares_memory_closes_its_own),
		cmocka_unit_test(threads_with_other_files_are_not_disturbed),
	};

	if (argc == 2)
		return after_exec(atoi(argv[1]));
	if (!dlsym(RTLD_DEFAULT, "softgpu_wave_instructions")) {
		fprintf(stderr, "test_interpose: run it with LD_PRELOAD=libwavescope-kfd.so\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
