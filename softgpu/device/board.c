#include "softgpu/device/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder, open; -1: others could have put something there, or it cannot be made. */
static int open_folder(void)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), SG_BOARD_FOLDER "%u", (unsigned)geteuid());
	if (mkdir(path, 0700) && errno != EEXIST)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 077))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Field 22 of /proc/PID/stat, behind the name, which may contain anything; 0: no such process. */
static uint64_t start_ticks_of(uint32_t pid)
{
	char path[32], text[1024], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (unsigned field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static uint64_t pid_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static bool has_ended(int folder, const char *name)
{
	struct sg_board_page page;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool ended = false;

	if (fd < 0)
		return false;
	if (read(fd, &page, sizeof(page)) == sizeof(page) && page.magic == SG_BOARD_MAGIC)
		ended = page.pid_space == pid_space() &&
			start_ticks_of(page.pid) != page.start_ticks;
	close(fd);
	return ended;
}

static void remove_ended(int folder)
{
	int copy = dup(folder);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    has_ended(folder, entry->d_name))
			unlinkat(folder, entry->d_name, 0);
	closedir(dir);
}

struct sg_board_page *sg_board_open(const uint64_t *memory_bytes, uint32_t n_gpus)
{
	struct sg_board_page page = {
		.magic = SG_BOARD_MAGIC,
		.version = SG_BOARD_VERSION,
		.pid = (uint32_t)getpid(),
		.n_gpus = n_gpus < SG_BOARD_GPUS ? n_gpus : SG_BOARD_GPUS,
		.pid_space = pid_space(),
	};
	struct sg_board_page *mapped = MAP_FAILED;
	int folder = open_folder(), fd;
	char name[16];

	if (folder < 0)
		return NULL;
	remove_ended(folder);
	page.start_ticks = start_ticks_of(page.pid);
	memcpy(page.memory_bytes, memory_bytes, page.n_gpus * sizeof(*memory_bytes));
	snprintf(name, sizeof(name), "%u", page.pid);
	unlinkat(folder, name, 0); /* of the program that this process executed before */
	fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* Written and not truncated, so that a full file system fails here and not at a later store. */
	if (fd >= 0 && write(fd, &page, sizeof(page)) == sizeof(page))
		mapped = mmap(NULL, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED && fd >= 0)
		unlinkat(folder, name, 0);
	if (fd >= 0)
		close(fd);
	close(folder);
	return mapped == MAP_FAILED ? NULL : mapped;
}
