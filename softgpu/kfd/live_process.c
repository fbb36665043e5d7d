#include "softgpu/kfd/live_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/device/board.h"
#include "softgpu/kfd/kfd_priv.h"

#define LIST "/kfd/kfd/proc"
#define MOST_PROCESSES 4096u
#define FIRST_PASID 0x8000u

struct listing {
	const char *folder;
	const struct sg_topology *topology;
	char list[PATH_MAX]; /* the folder of processes */
	uint32_t pids[MOST_PROCESSES];
	uint32_t n;
};

bool sg_live_is_process_list(const char *path)
{
	const char *at = strstr(path, LIST);

	return at && (!at[sizeof(LIST) - 1] || at[sizeof(LIST) - 1] == '/');
}

__attribute__((format(printf, 3, 4))) static void put(const struct listing *l, const char *path,
						      const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sg_live_replace(l->folder, path, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The queues of a process: which GPU they are of is what tools want to know. */
static void put_queues(const struct listing *l, const char *process,
		       const struct sg_board_use *uses, uint32_t n_gpus)
{
	char queues[PATH_MAX + 32], path[PATH_MAX + 64];
	uint32_t n = 0;

	snprintf(queues, sizeof(queues), "%s/queues", process);
	mkdir(queues, 0700);
	for (uint32_t g = 0; g < n_gpus; g++) {
		for (uint32_t i = 0; i < uses[g].n_queues; i++, n++) {
			snprintf(path, sizeof(path), "%s/%u", queues, n);
			mkdir(path, 0700);
			snprintf(path, sizeof(path), "%s/%u/gpuid", queues, n);
			put(l, path, "%u", sg_kfd_gpu_id(l->topology, g + 1));
		}
	}
	for (struct stat st;; n++) { /* those that it had before */
		snprintf(path, sizeof(path), "%s/%u", queues, n);
		if (lstat(path, &st))
			break;
		remove_tree(path);
	}
}

/* One that only looked at the GPUs, as tools do, has no context in the driver. */
static bool uses_gpus(const struct sg_board_use *uses, uint32_t n_gpus)
{
	for (uint32_t g = 0; g < n_gpus; g++)
		if (uses[g].n_queues || uses[g].used_bytes)
			return true;
	return false;
}

static void put_process(void *ctx, uint32_t pid, const struct sg_board_use *uses, uint32_t n_gpus)
{
	struct listing *l = ctx;
	char process[PATH_MAX + 16], path[PATH_MAX + 64];

	if (l->n == MOST_PROCESSES || !uses_gpus(uses, n_gpus))
		return;
	l->pids[l->n++] = pid;
	snprintf(process, sizeof(process), "%s/%u", l->list, pid);
	mkdir(process, 0700);
	snprintf(path, sizeof(path), "%s/pasid", process);
	put(l, path, "%u\n", sg_live_pasid(pid));
	n_gpus = n_gpus < l->topology->n_gpus ? n_gpus : l->topology->n_gpus;
	for (uint32_t g = 0; g < n_gpus; g++) {
		uint32_t id = sg_kfd_gpu_id(l->topology, g + 1);

		snprintf(path, sizeof(path), "%s/vram_%u", process, id);
		put(l, path, "%llu\n", (unsigned long long)uses[g].used_bytes);
		/* Not measured; without it tools do not show the memory either. */
		snprintf(path, sizeof(path), "%s/sdma_%u", process, id);
		put(l, path, "0\n");
		snprintf(path, sizeof(path), "%s/stats_%u", process, id);
		mkdir(path, 0700);
		snprintf(path, sizeof(path), "%s/stats_%u/evicted_ms", process, id);
		put(l, path, "0\n"); /* queues are never evicted */
	}
	put_queues(l, process, uses, n_gpus);
}

static bool is_listed(const struct listing *l, const char *name)
{
	uint32_t pid = (uint32_t)strtoul(name, NULL, 10);

	for (uint32_t i = 0; i < l->n; i++)
		if (l->pids[i] == pid)
			return true;
	return false;
}

/* What is left of processes that have ended. */
static void remove_ended(const struct listing *l, const char *folder)
{
	DIR *dir = opendir(folder);
	char path[PATH_MAX + 300];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || is_listed(l, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		remove_tree(path);
	}
	if (dir)
		closedir(dir);
}

void sg_live_refresh_processes(const char *folder, const struct sg_topology *topology)
{
	struct listing *l = malloc(sizeof(*l));
	char fdinfo[PATH_MAX];

	if (!l)
		return;
	l->folder = folder;
	l->topology = topology;
	l->n = 0;
	snprintf(l->list, sizeof(l->list), "%s/sys/devices/virtual" LIST, folder);
	sg_board_each(put_process, l);
	remove_ended(l, l->list);
	snprintf(fdinfo, sizeof(fdinfo), "%s/proc", folder);
	remove_ended(l, fdinfo);
	free(l);
}

unsigned sg_live_pasid(unsigned pid)
{
	return FIRST_PASID + pid % FIRST_PASID;
}

bool sg_live_put_fdinfo(const char *folder, unsigned pid, const char *number, const char *text,
			size_t n, char out_path[SG_SYSFS_PATH])
{
	int length = snprintf(out_path, SG_SYSFS_PATH, "%s/proc/%u", folder, pid);

	if (length < 0 || length > (int)SG_SYSFS_PATH - 32)
		return false;
	mkdir(out_path, 0700);
	snprintf(out_path + length, SG_SYSFS_PATH - (size_t)length, "/fdinfo-%s", number);
	sg_live_replace(folder, out_path, text, n);
	return true;
}
