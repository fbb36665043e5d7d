#undef _FILE_OFFSET_BITS /* open() and open64() are two functions here */
#include "softgpu/kfd/interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/core/companion.h"
#include "softgpu/core/machine.h"
#include "softgpu/device/symbols.h"
#include "softgpu/kfd/files.h"
#include "softgpu/kfd/interpose_proc.h"
#include "softgpu/kfd/kfd.h"

#define MAX_RUNTIMES 8

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_kfd *_Atomic machine; /* kept until exit: device threads outlive exit handlers */
static _Atomic uint64_t aperture_start, aperture_end;
static pid_t owner;
static _Atomic bool forked;
static dev_t memory_device;
static ino_t memory_inode;

/* Code of libraries that opened a device. */
static struct {
	_Atomic uintptr_t start, end;
} runtimes[MAX_RUNTIMES];
static _Atomic uint32_t n_runtimes;

void *sg_interpose_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		fprintf(stderr,
			"wavescope: the C library has no %s(): this program cannot run on the "
			"software GPU\n",
			name);
		abort();
	}
	return found;
}

struct sg_kfd *sg_interpose_kfd(void)
{
	return atomic_load_explicit(&machine, memory_order_acquire);
}

bool sg_interpose_in_aperture(uint64_t addr)
{
	return addr >= atomic_load_explicit(&aperture_start, memory_order_relaxed) &&
	       addr < atomic_load_explicit(&aperture_end, memory_order_relaxed);
}

bool sg_interpose_in_child(void)
{
	return atomic_load(&forked);
}

bool sg_interpose_may_note(void)
{
	return !sg_interpose_kfd() || getpid() == owner;
}

bool sg_interpose_is_memory(int fd)
{
	struct stat st;

	return !SG_NEXT(fstat)(fd, &st) && st.st_ino == memory_inode && st.st_dev == memory_device;
}

/* --- who the runtime is --- */

struct search {
	uintptr_t code, start, end;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *s = ctx;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || s->code < start ||
		    s->code - start >= info->dlpi_phdr[i].p_memsz)
			continue;
		s->start = start;
		s->end = start + info->dlpi_phdr[i].p_memsz;
		return 1;
	}
	return 0;
}

bool sg_interpose_is_runtime(const void *code)
{
	uint32_t n = atomic_load_explicit(&n_runtimes, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if ((uintptr_t)code >=
			    atomic_load_explicit(&runtimes[i].start, memory_order_relaxed) &&
		    (uintptr_t)code < atomic_load_explicit(&runtimes[i].end, memory_order_relaxed))
			return true;
	return false;
}

/* Locked. */
static void remember_runtime(const void *code)
{
	struct search s = { .code = (uintptr_t)code };
	uint32_t n = atomic_load(&n_runtimes);

	if (sg_interpose_is_runtime(code) || n == MAX_RUNTIMES || !dl_iterate_phdr(look_at, &s))
		return;
	atomic_store(&runtimes[n].start, s.start);
	atomic_store(&runtimes[n].end, s.end);
	atomic_store_explicit(&n_runtimes, n + 1, memory_order_release);
}

/* The list that debuggers read. ROCr announces it to the driver only when the driver supports
 * debugging. */
void sg_interpose_find_code(void)
{
	static _Atomic bool looked;
	void *rocr;

	if (atomic_exchange(&looked, true))
		return;
	rocr = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (rocr)
		sg_symbols_set_list(dlsym(rocr, "_amdgpu_r_debug"));
}

/* --- the machine --- */

static uint32_t render_node(int fd)
{
	struct sg_file file = sg_fd_find(fd);

	return file.kind == SG_FILE_RENDER || file.kind == SG_FILE_CARD ? file.node : 0;
}

static void keep(int fd, bool keep)
{
	if (keep)
		sg_fd_add(fd, (struct sg_file){ SG_FILE_OWN, 0 });
	else
		sg_fd_remove(fd);
}

/* The device threads and the memory stay with the parent; its descriptors are still known, to
 * be refused. */
static void in_child(void)
{
	if (atomic_exchange(&machine, NULL))
		atomic_store(&forked, true);
	atomic_store(&aperture_start, 0);
	atomic_store(&aperture_end, 0);
	sg_machine_set_current(NULL);
	pthread_mutex_init(&open_lock, NULL);
}

/* Locked. */
static struct sg_kfd *open_machine(void)
{
	static const struct sg_kfd_files files = { .render_node = render_node, .keep = keep };
	static bool watching_forks;
	struct sg_kfd *kfd = sg_interpose_kfd();
	uint64_t start, end;
	struct stat st;

	if (kfd)
		return kfd;
	kfd = sg_kfd_create(&files);
	if (!kfd)
		return NULL;
	if (!watching_forks)
		watching_forks = !pthread_atfork(NULL, NULL, in_child);
	if (!SG_NEXT(fstat)(sg_kfd_file(kfd), &st)) {
		memory_device = st.st_dev;
		memory_inode = st.st_ino;
	}
	owner = getpid();
	atomic_store(&forked, false);
	sg_fd_add(sg_kfd_file(kfd), (struct sg_file){ SG_FILE_OWN, 0 });
	sg_kfd_aperture(kfd, &start, &end);
	atomic_store(&aperture_start, start);
	atomic_store(&aperture_end, end);
	sg_machine_set_current(sg_kfd_machine(kfd));
	atomic_store_explicit(&machine, kfd, memory_order_release);
	return kfd;
}

/* A descriptor of the memory of its own, so that the program maps from it what the driver
 * would give it. */
static int new_descriptor(const struct sg_kfd *kfd, struct sg_file file, int flags)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", sg_kfd_file(kfd));
	fd = SG_NEXT(open)(path, O_RDWR | (flags & O_CLOEXEC));
	if (fd >= 0)
		sg_proc_mark(fd, file);
	else /* without /proc */
		fd = SG_NEXT(fcntl)(sg_kfd_file(kfd), flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD,
				    0);
	return fd;
}

int sg_interpose_open(const char *path, int flags, const void *caller)
{
	struct sg_file file = sg_path_device(path);
	struct sg_kfd *kfd;
	int fd;

	if (flags & O_DIRECTORY) {
		errno = ENOTDIR;
		return -1;
	}
	pthread_mutex_lock(&open_lock);
	kfd = open_machine();
	if (kfd)
		remember_runtime(caller);
	pthread_mutex_unlock(&open_lock);
	if (!kfd) {
		errno = ENODEV; /* the reason has been logged */
		return -1;
	}
	sg_companion_load();
	fd = new_descriptor(kfd, file, flags);
	if (fd >= 0 && !sg_fd_add(fd, file)) {
		SG_NEXT(close)(fd);
		errno = EMFILE;
		return -1;
	}
	return fd;
}
