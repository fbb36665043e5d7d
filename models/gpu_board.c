#include "models/gpu_board.h"

#include "base/file.h"
#include "softgpu/device/board_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Field 22 of /proc/PID/stat, behind the name, which may contain anything. */
static bool is_running(const struct sg_board_page *page)
{
	char path[32], text[1024], *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", page->pid);
	if (!ws_file_line(path, text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && strtoull(at, NULL, 10) == page->start_ticks;
}

static bool read_page(int folder, const char *name, struct sg_board_page *out)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool whole;

	if (fd < 0)
		return false;
	whole = read(fd, out, sizeof(*out)) == sizeof(*out) && out->magic == SG_BOARD_MAGIC &&
		out->version == SG_BOARD_VERSION && out->n_gpus <= SG_BOARD_GPUS;
	close(fd);
	return whole;
}

static DIR *open_folder(void)
{
	char path[64];
	struct stat st;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), SG_BOARD_FOLDER "%u", (unsigned)geteuid());
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	dir = fstat(fd, &st) == 0 && st.st_uid == geteuid() ? fdopendir(fd) : NULL;
	if (!dir)
		close(fd);
	return dir;
}

static uint64_t busy_ns(const struct sg_board_page *page, size_t gpu)
{
	uint64_t since_ns = atomic_load_explicit(&page->since_ns[gpu], memory_order_relaxed);
	uint64_t ns = atomic_load_explicit(&page->busy_ns[gpu], memory_order_relaxed);
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_BOOTTIME, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return since_ns && now_ns > since_ns ? ns + (now_ns - since_ns) : ns;
}

size_t mdl_gpu_board_read(struct mdl_gpu_use *out_uses, size_t n_gpus)
{
	DIR *dir = open_folder();
	struct dirent *entry;
	struct stat space;
	size_t n = 0;

	memset(out_uses, 0, n_gpus * sizeof(*out_uses));
	if (!dir)
		return 0;
	if (stat("/proc/self/ns/pid", &space))
		space.st_ino = 0;
	while ((entry = readdir(dir))) {
		struct sg_board_page page;

		if (entry->d_name[0] == '.' || !read_page(dirfd(dir), entry->d_name, &page) ||
		    page.pid_space != space.st_ino || !is_running(&page))
			continue;
		n++;
		for (size_t i = 0; i < page.n_gpus && i < n_gpus; i++) {
			out_uses[i].used_bytes +=
				atomic_load_explicit(&page.used_bytes[i], memory_order_relaxed);
			out_uses[i].busy_ns += busy_ns(&page, i);
		}
	}
	closedir(dir);
	return n;
}
