#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include "softgpu/kfd/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "softgpu/device/model.h"
#include "softgpu/kfd/interpose.h"
#include "softgpu/kfd/interpose_proc.h"
#include "softgpu/kfd/live.h"

#define MAX_FDS 65536
#define DRM_DEVICES 226
#define KFD_DEVICE 238
#define FIRST_RENDER_MINOR 128

/* --- paths --- */

/*
 * What the machine's folder has instead of the system. A prefix ends where a component does, or,
 * with `open_end`, anywhere.
 */
static const struct {
	const char *prefix;
	bool open_end;
} redirected[] = {
	{ "/sys/devices/virtual/kfd", false },
	{ "/sys/class/kfd", false },
	{ "/sys/class/drm", false },
	{ "/sys/module/amdgpu", false },
	{ "/sys/bus/pci/drivers/amdgpu", false },
	{ "/sys/dev/char/226:", true },
	{ "/sys/devices/platform/amdgpu_xcp_", true },
	{ "/dev/dri", false },
	{ "/proc/modules", false },
};

/* The GPUs' own folders, of those that PCI has. */
static const char *const gpu_folders[] = {
	"/sys/bus/pci/devices/0000:%02x:00.0",
	"/sys/devices/pci0000:00/0000:%02x:00.0",
};

/* The list of all PCI devices: the machine's folder has links to those of the system, too. */
#define PCI_DEVICES "/sys/bus/pci/devices"

static pthread_once_t described = PTHREAD_ONCE_INIT;
static struct sg_topology topology;
static bool has_folder;
static char folder[SG_SYSFS_PATH];

/* By system calls: the functions for it come back here. */
static void describe_pci(struct sg_sysfs *tree)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, PCI_DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			      0);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			sg_sysfs_add_pci(tree, &topology, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		syscall(SYS_close, fd);
}

static void describe(void)
{
	struct sg_sysfs tree = { 0 };
	char error[240];

	/* A wrong description is reported when the device is opened. */
	if (!sg_topology_parse(&topology, getenv("WAVESCOPE_GPU"), error, sizeof(error)))
		return;
	sg_sysfs_describe(&tree, &topology);
	describe_pci(&tree);
	has_folder = sg_sysfs_folder(&tree, folder);
	sg_sysfs_fini(&tree);
}

static bool has_prefix(const char *path, const char *prefix, bool open_end)
{
	size_t n = strlen(prefix);

	return !strncmp(path, prefix, n) && (open_end || !path[n] || path[n] == '/');
}

static bool is_device_list(const char *path)
{
	return has_prefix(path, PCI_DEVICES, false) &&
	       !path[strlen(PCI_DEVICES) + strspn(path + strlen(PCI_DEVICES), "/")];
}

static bool is_gpu_folder(const char *path)
{
	char prefix[80];

	if (!has_prefix(path, "/sys/bus/pci/devices/0000:", true) &&
	    !has_prefix(path, "/sys/devices/pci0000:00/0000:", true))
		return false;
	pthread_once(&described, describe);
	for (uint32_t g = 0; g < topology.n_gpus; g++) {
		for (size_t i = 0; i < sizeof(gpu_folders) / sizeof(gpu_folders[0]); i++) {
			snprintf(prefix, sizeof(prefix), gpu_folders[i],
				 topology.gpus[g].location >> 8);
			if (has_prefix(path, prefix, false))
				return true;
		}
	}
	return false;
}

/* "/dev/", "/sys/", "/proc/m" or a process's fdinfo: most paths end here. */
static bool may_be_ours(const char *path)
{
	return path && path[0] == '/' &&
	       ((path[1] == 'd' && path[2] == 'e' && path[3] == 'v' && path[4] == '/') ||
		(path[1] == 's' && path[2] == 'y' && path[3] == 's' && path[4] == '/') ||
		(path[1] == 'p' && (!strncmp(path, "/proc/m", 7) || sg_proc_is_fdinfo(path))));
}

static bool is_redirected(const char *path)
{
	for (size_t i = 0; i < sizeof(redirected) / sizeof(redirected[0]); i++)
		if (has_prefix(path, redirected[i].prefix, redirected[i].open_end))
			return true;
	return is_device_list(path) || is_gpu_folder(path);
}

const char *sg_path_redirect(const char *path, char space[SG_SYSFS_PATH])
{
	bool is_fdinfo;

	if (__builtin_expect(!may_be_ours(path), 1))
		return path;
	is_fdinfo = path[1] == 'p' && path[6] != 'm';
	if (!is_fdinfo && !is_redirected(path))
		return path;
	pthread_once(&described, describe);
	if (is_fdinfo)
		return has_folder && sg_proc_fdinfo(folder, &topology, path, space) ? space : path;
	if (!has_folder ||
	    snprintf(space, SG_SYSFS_PATH, "%s%s", folder, path) >= (int)SG_SYSFS_PATH)
		return path;
	if (sg_live_is_one(path))
		sg_live_refresh(folder, &topology, space);
	return space;
}

/* "renderD129" with 129 and so on; -1: something else. */
static int number_behind(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);
	char *end;
	long number;

	if (strncmp(path, prefix, n) || path[n] < '0' || path[n] > '9')
		return -1;
	number = strtol(path + n, &end, 10);
	return *end || number > 1 << 20 ? -1 : (int)number;
}

struct sg_file sg_path_device(const char *path)
{
	struct sg_file file = { SG_FILE_OTHER, 0 };
	int number;

	if (__builtin_expect(!may_be_ours(path), 1) || path[1] != 'd')
		return file;
	if (!strcmp(path, "/dev/kfd"))
		return (struct sg_file){ SG_FILE_KFD, 0 };
	if ((number = number_behind(path, "/dev/dri/renderD")) >= 0)
		file = (struct sg_file){ SG_FILE_RENDER,
					 (uint32_t)(number - FIRST_RENDER_MINOR + 1) };
	else if ((number = number_behind(path, "/dev/dri/card")) >= 0)
		file = (struct sg_file){ SG_FILE_CARD, (uint32_t)number + 1 };
	if (file.kind == SG_FILE_OTHER)
		return file;
	pthread_once(&described, describe);
	if (!file.node || file.node > topology.n_gpus)
		file = (struct sg_file){ SG_FILE_OTHER, 0 };
	return file;
}

static unsigned minor_of(struct sg_file file)
{
	return file.kind == SG_FILE_RENDER ? FIRST_RENDER_MINOR + file.node - 1
	       : file.kind == SG_FILE_CARD ? file.node - 1
					   : 0;
}

int sg_file_name(struct sg_file file, char *out, size_t size)
{
	if (file.kind == SG_FILE_KFD)
		return snprintf(out, size, "/dev/kfd");
	return snprintf(out, size, "/dev/dri/%s%u",
			file.kind == SG_FILE_RENDER ? "renderD" : "card", minor_of(file));
}

const char *sg_path_original(const char *path)
{
	size_t n = has_folder ? strlen(folder) : 0;

	return n && !strncmp(path, folder, n) && path[n] == '/' ? path + n : path;
}

void sg_file_stat(struct sg_file file, struct stat *st)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = makedev(file.kind == SG_FILE_KFD ? KFD_DEVICE : DRM_DEVICES, minor_of(file));
	st->st_size = 0;
	st->st_blocks = 0;
}

/* --- descriptors: kind in the upper three bits, node in the lower five --- */

static _Atomic uint8_t table[MAX_FDS];

bool sg_fd_add(int fd, struct sg_file file)
{
	if (fd < 0 || fd >= MAX_FDS)
		return false;
	atomic_store_explicit(&table[fd], (uint8_t)(file.kind << 5 | file.node),
			      memory_order_release);
	return true;
}

void sg_fd_remove(int fd)
{
	if (fd >= 0 && fd < MAX_FDS && atomic_load_explicit(&table[fd], memory_order_relaxed))
		atomic_store_explicit(&table[fd], 0, memory_order_release);
}

struct sg_file sg_fd_quick(int fd)
{
	uint8_t entry = fd >= 0 && fd < MAX_FDS
				? atomic_load_explicit(&table[fd], memory_order_acquire)
				: 0;

	return (struct sg_file){ entry >> 5, entry & 31 };
}

void sg_fd_copy(int from, int to)
{
	struct sg_file file = sg_fd_quick(from);

	if (file.kind == SG_FILE_OWN)
		file.kind = SG_FILE_OTHER;
	if (file.kind != SG_FILE_OTHER)
		sg_fd_add(to, file);
	else
		sg_fd_remove(to);
}

struct sg_file sg_fd_find(int fd)
{
	struct sg_file file = sg_fd_quick(fd);

	/* Own ones have several files behind them. */
	if (file.kind == SG_FILE_OTHER || file.kind == SG_FILE_OWN || sg_interpose_is_memory(fd))
		return file;
	sg_fd_remove(fd);
	return (struct sg_file){ SG_FILE_OTHER, 0 };
}
