#include "softgpu/device/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/device/clock.h"

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

static bool is_running(const struct sg_board_page *page)
{
	return start_ticks_of(page->pid) == page->start_ticks;
}

/* Of any version: where they begin, they are alike. */
static bool has_ended(int folder, const char *name)
{
	const size_t common = offsetof(struct sg_board_page, memory_bytes);
	struct sg_board_page page;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool ended = false;

	if (fd < 0)
		return false;
	if (read(fd, &page, common) == (ssize_t)common && page.magic == SG_BOARD_MAGIC)
		ended = page.pid_space == pid_space() && !is_running(&page);
	close(fd);
	return ended;
}

/* Calls it for each page of the folder, by name. */
static void each_page(int folder, void (*page)(int folder, const char *name, void *ctx), void *ctx)
{
	int copy = dup(folder);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (copy >= 0)
			close(copy);
		return;
	}
	rewinddir(dir); /* the copy shares its place with the folder */
	while ((entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			page(folder, entry->d_name, ctx);
	closedir(dir);
}

static void remove_ended(int folder, const char *name, void *ctx)
{
	if (has_ended(folder, name))
		unlinkat(folder, name, 0);
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
	each_page(folder, remove_ended, NULL);
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

/* --- load --- */

static double after(double load, bool running, uint64_t elapsed_ns, double constant_ns)
{
	double kept = exp(-(double)elapsed_ns / constant_ns);

	return running ? 1 - (1 - load) * kept : load * kept;
}

void sg_board_set_running(struct sg_board_page *page, uint32_t gpu, uint64_t now_ns, bool running)
{
	struct sg_board_load *load = &page->load[gpu];
	uint64_t at_ns = atomic_load_explicit(&load->at_ns, memory_order_relaxed);
	uint64_t elapsed_ns = at_ns && now_ns > at_ns ? now_ns - at_ns : 0;
	bool was_running = atomic_load_explicit(&load->is_running, memory_order_relaxed);
	double recent = atomic_load_explicit(&load->recent, memory_order_relaxed),
	       lasting = atomic_load_explicit(&load->lasting, memory_order_relaxed);

	recent = after(recent / SG_BOARD_WHOLE, was_running, elapsed_ns, SG_BOARD_RECENT_NS);
	lasting = after(lasting / SG_BOARD_WHOLE, was_running, elapsed_ns, SG_BOARD_LASTING_NS);
	atomic_fetch_add(&load->turn, 1);
	atomic_store(&load->is_running, running);
	atomic_store(&load->at_ns, now_ns);
	atomic_store(&load->recent, (uint32_t)(recent * SG_BOARD_WHOLE));
	atomic_store(&load->lasting, (uint32_t)(lasting * SG_BOARD_WHOLE));
	atomic_fetch_add(&load->turn, 1);
}

#define MOST_TRIES 1000 /* a process that was killed in between leaves an odd turn */

static void read_load(struct sg_board_load *load, uint64_t now_ns, struct sg_board_use *out)
{
	uint32_t turn, recent = 0, lasting = 0;
	uint64_t at_ns = 0, elapsed_ns;

	for (int i = 0; i < MOST_TRIES; i++) {
		turn = atomic_load(&load->turn);
		out->is_running = atomic_load(&load->is_running);
		at_ns = atomic_load(&load->at_ns);
		recent = atomic_load(&load->recent);
		lasting = atomic_load(&load->lasting);
		if (!(turn & 1) && atomic_load(&load->turn) == turn)
			break;
	}
	elapsed_ns = at_ns && now_ns > at_ns ? now_ns - at_ns : 0;
	out->recent = after((double)recent / SG_BOARD_WHOLE, out->is_running, elapsed_ns,
			    SG_BOARD_RECENT_NS);
	out->lasting = after((double)lasting / SG_BOARD_WHOLE, out->is_running, elapsed_ns,
			     SG_BOARD_LASTING_NS);
}

/* --- the pages of all processes --- */

struct visit {
	sg_board_process *process;
	void *ctx;
	uint64_t now_ns;
};

static void visit_page(int folder, const char *name, void *ctx)
{
	const struct visit *visit = ctx;
	struct sg_board_use uses[SG_BOARD_GPUS] = { 0 };
	struct sg_board_page *page = MAP_FAILED;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size >= (off_t)sizeof(*page))
		page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return;
	if (page->magic == SG_BOARD_MAGIC && page->version == SG_BOARD_VERSION &&
	    page->n_gpus <= SG_BOARD_GPUS && page->pid_space == pid_space() && is_running(page)) {
		for (uint32_t g = 0; g < page->n_gpus; g++) {
			read_load(&page->load[g], visit->now_ns, &uses[g]);
			uses[g].used_bytes = atomic_load(&page->used_bytes[g]);
			uses[g].n_queues = atomic_load(&page->n_queues[g]);
		}
		visit->process(visit->ctx, page->pid, uses, page->n_gpus);
	}
	munmap(page, sizeof(*page));
}

void sg_board_each(sg_board_process *process, void *ctx)
{
	struct visit visit = { process, ctx, sg_clock_system_ns() };
	int folder = open_folder();

	if (folder < 0)
		return;
	each_page(folder, visit_page, &visit);
	close(folder);
}

struct sum {
	struct sg_board_use *uses;
	uint32_t n_gpus;
};

static void add_process(void *ctx, uint32_t pid, const struct sg_board_use *uses, uint32_t n_gpus)
{
	const struct sum *sum = ctx;

	for (uint32_t g = 0; g < n_gpus && g < sum->n_gpus; g++) {
		struct sg_board_use *total = &sum->uses[g];

		total->used_bytes += uses[g].used_bytes;
		total->n_queues += uses[g].n_queues;
		total->is_running |= uses[g].is_running;
		total->recent = fmin(total->recent + uses[g].recent, 1);
		total->lasting = fmin(total->lasting + uses[g].lasting, 1);
	}
}

void sg_board_sum(struct sg_board_use *out_uses, uint32_t n_gpus)
{
	struct sum sum = { out_uses, n_gpus };

	memset(out_uses, 0, n_gpus * sizeof(*out_uses));
	sg_board_each(add_process, &sum);
}
