#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include "softgpu/kfd/interpose_proc.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/device/model.h"
#include "softgpu/device/vm.h"
#include "softgpu/kfd/interpose.h"
#include "softgpu/kfd/live_process.h"

#define MEMORY_LINK "/memfd:" SG_VM_MEMFD_NAME
#define MARK_SHIFT 8

void sg_proc_mark(int fd, struct sg_file file)
{
	lseek(fd, (off_t)(file.kind << MARK_SHIFT | file.node), SEEK_SET);
}

/* The text of a small file of /proc; empty if there is none. */
static size_t read_all(const char *path, char *text, size_t size)
{
	int fd = SG_NEXT(open)(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		SG_NEXT(close)(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* What /proc says of a descriptor whose link leads to a machine's memory. */
static struct sg_file device_of(const char *info)
{
	unsigned long mark = strncmp(info, "pos:", 4) ? 0 : strtoul(info + 4, NULL, 10);
	struct sg_file file = { mark >> MARK_SHIFT, mark & ((1u << MARK_SHIFT) - 1) };

	if (mark >> MARK_SHIFT < SG_FILE_KFD || mark >> MARK_SHIFT > SG_FILE_CARD)
		file.kind = SG_FILE_OTHER;
	return file;
}

/* Splits /proc/PID/FOLDER/N. False: it is another path. */
static bool split(const char *path, const char *folder, char process[16], char number[16])
{
	char name[16], rest;

	return path && !strncmp(path, "/proc/", 6) &&
	       sscanf(path, "/proc/%15[^/]/%15[^/]/%15[0-9]%c", process, name, number, &rest) ==
		       3 &&
	       !strcmp(name, folder);
}

ssize_t sg_proc_link(const char *path, char *target, size_t size, ssize_t n)
{
	char process[16], number[16], info[64], text[256];
	struct sg_file file;
	int length;

	if (n < (ssize_t)sizeof(MEMORY_LINK) - 1 ||
	    memcmp(target, MEMORY_LINK, sizeof(MEMORY_LINK) - 1) ||
	    !split(path, "fd", process, number))
		return n;
	snprintf(info, sizeof(info), "/proc/%s/fdinfo/%s", process, number);
	read_all(info, text, sizeof(text));
	file = device_of(text);
	if (file.kind == SG_FILE_OTHER)
		return n;
	length = sg_file_name(file, text, sizeof(text));
	length = (size_t)length < size ? length : (int)size;
	memcpy(target, text, (size_t)length);
	return length;
}

bool sg_proc_is_fdinfo(const char *path)
{
	char process[16], number[16];

	return strstr(path, "/fdinfo/") && split(path, "fdinfo", process, number);
}

struct search_use {
	uint32_t pid, gpu;
	struct sg_board_use use;
};

static void find_process(void *ctx, uint32_t pid, const struct sg_board_use *uses, uint32_t n_gpus)
{
	struct search_use *search = ctx;

	if (pid == search->pid && search->gpu < n_gpus)
		search->use = uses[search->gpu];
}

static int add_drm(char *text, size_t size, const struct sg_gpu *gpu,
		   const struct search_use *search)
{
	unsigned long long vram_kib = search->use.used_bytes >> 10;

	return snprintf(text, size,
			"drm-driver:\tamdgpu\ndrm-client-id:\t%u\ndrm-pdev:\t0000:%02x:00.0\n"
			"pasid:\t%u\ndrm-total-vram:\t%llu KiB\ndrm-resident-vram:\t%llu KiB\n"
			"drm-memory-vram:\t%llu KiB\ndrm-memory-gtt:\t0 KiB\n"
			"drm-memory-cpu:\t0 KiB\n",
			search->pid, gpu->location >> 8, sg_live_pasid(search->pid), vram_kib,
			vram_kib, vram_kib);
}

bool sg_proc_fdinfo(const char *folder, const struct sg_topology *topology, const char *path,
		    char space[SG_SYSFS_PATH])
{
	char process[16], number[16], link[64], target[64] = "", text[2048];
	struct search_use search = { 0 };
	struct sg_file file;
	size_t n;

	if (!split(path, "fdinfo", process, number))
		return false;
	snprintf(link, sizeof(link), "/proc/%s/fd/%s", process, number);
	if (SG_NEXT(readlink)(link, target, sizeof(target) - 1) < 0 ||
	    strncmp(target, MEMORY_LINK, sizeof(MEMORY_LINK) - 1))
		return false;
	n = read_all(path, text, sizeof(text) / 2);
	file = device_of(text);
	if (file.kind != SG_FILE_RENDER && file.kind != SG_FILE_CARD)
		return false;
	if (!file.node || file.node > topology->n_gpus)
		return false;
	search.pid =
		strcmp(process, "self") ? (uint32_t)strtoul(process, NULL, 10) : (uint32_t)getpid();
	search.gpu = file.node - 1;
	sg_board_each(find_process, &search);
	n += (size_t)add_drm(text + n, sizeof(text) - n, &topology->gpus[search.gpu], &search);
	return sg_live_put_fdinfo(folder, search.pid, number, text, n, space);
}
