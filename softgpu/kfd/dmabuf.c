/*
 * Sharing: an exported object is a descriptor that can be sent to other processes.
 *
 * The descriptor is a sparse file as large as the object, because users ask for its size by
 * seeking to its end. Its first bytes say whose memory it is and where; behind them are the
 * metadata that users attach. Who imports it opens the exporter's memory file, so the exporter
 * must be running then.
 *
 * The memory stays as long as anybody has the descriptor: an open description of the file holds a
 * shared lock, in whichever processes it is, and the exporter tries for an exclusive one before
 * it gives memory back. Importers keep the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/kfd/kfd_priv.h"

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name
#define MAGIC 0x62616d6457534731ull

#define SEALS (F_SEAL_GROW | F_SEAL_SHRINK)
#define METADATA_AT 1024

struct ticket {
	uint64_t magic;
	uint64_t offset, size;
	int32_t pid, fd; /* of the memory file */
	uint32_t node, flags;
	uint64_t inode; /* of the memory file: pids and descriptors are reused */
};

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_ino;
}

bool sg_kfd_is_lent(const struct sg_kfd_bo *bo)
{
	if (flock(bo->export, LOCK_EX | LOCK_NB))
		return true;
	flock(bo->export, LOCK_UN);
	return false;
}

/* Another open description of the same file. */
static int reopen(int fd, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

int sg_kfd_dmabuf_of_bo(struct sg_kfd *kfd, struct sg_kfd_bo *bo, int *out_fd)
{
	int memory = bo->file >= 0 ? bo->file : sg_vm_file(kfd->machine.vm);
	struct ticket ticket = { .magic = MAGIC,
				 .offset = bo->offset,
				 .size = bo->size,
				 .pid = getpid(),
				 .fd = memory,
				 .node = bo->node,
				 .flags = bo->flags,
				 .inode = inode_of(memory) };
	int fd;

	/* Memory of the program cannot be shared, neither can doorbells. */
	if (!(bo->flags & (FLAG(VRAM) | FLAG(GTT))))
		return EINVAL;
	if (bo->export >= 0) {
		fd = reopen(bo->export, O_RDWR);
	} else {
		fd = memfd_create("wavescope-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (fd >= 0 && (pwrite(fd, &ticket, sizeof(ticket), 0) != sizeof(ticket) ||
				ftruncate(fd, (off_t)bo->size) || fcntl(fd, F_ADD_SEALS, SEALS) ||
				(bo->export = reopen(fd, O_RDWR)) < 0)) {
			close(fd);
			fd = -1;
		}
		sg_kfd_keep(kfd, bo->export);
	}
	if (fd < 0)
		return errno == EMFILE ? EMFILE : ENOMEM;
	flock(fd, LOCK_SH);
	*out_fd = fd;
	return 0;
}

/* Of the size it had, and nothing in it can lead outside of the memory file. */
static bool read_ticket(int fd, struct ticket *out)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS &&
	       pread(fd, out, sizeof(*out), 0) == sizeof(*out) && out->magic == MAGIC &&
	       out->size && !(out->size % SG_KFD_PAGE) && !(out->offset % SG_KFD_PAGE) &&
	       out->offset <= INT64_MAX - out->size && out->pid > 0 && out->fd >= 0;
}

static int open_memory(const struct ticket *ticket)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", ticket->pid, ticket->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* The exporter may have another file there by now: only a memory file has seals. */
	if (fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0 && !fstat(fd, &st) &&
	    st.st_ino == ticket->inode && ticket->size <= (uint64_t)st.st_size &&
	    ticket->offset <= (uint64_t)st.st_size - ticket->size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Locked. An object of this process, by where its memory is. */
static struct sg_kfd_bo *own(struct sg_kfd *kfd, const struct ticket *ticket)
{
	for (uint32_t i = 0; i < kfd->n_bos; i++) {
		struct sg_kfd_bo *bo = kfd->bos[i];

		if (bo && bo->place && bo->offset == ticket->offset && bo->size == ticket->size)
			return bo;
	}
	return NULL;
}

static struct sg_kfd_bo *import(struct sg_kfd *kfd, const struct ticket *ticket, int dmabuf)
{
	struct sg_kfd_bo *bo = calloc(1, sizeof(*bo));

	if (!bo)
		return NULL;
	*bo = (struct sg_kfd_bo){ .size = ticket->size,
				  .flags = ticket->flags,
				  .node = ticket->node,
				  .offset = ticket->offset,
				  .n_holders = 1,
				  .file = open_memory(ticket),
				  .export = fcntl(dmabuf, F_DUPFD_CLOEXEC, 0) };
	if (bo->file >= 0 && bo->export >= 0) {
		sg_kfd_keep(kfd, bo->file);
		sg_kfd_keep(kfd, bo->export);
		return bo;
	}
	if (bo->file >= 0)
		close(bo->file);
	if (bo->export >= 0)
		close(bo->export);
	free(bo);
	return NULL;
}

int sg_kfd_bo_of_dmabuf(struct sg_kfd *kfd, int fd, struct sg_kfd_bo **out_bo)
{
	struct sg_kfd_bo *bo = NULL;
	struct ticket ticket;

	if (!read_ticket(fd, &ticket) || !sg_machine_is_node(&kfd->machine, ticket.node))
		return EINVAL;
	if (!ticket.node)
		ticket.node = 1;
	if (ticket.pid == getpid() && ticket.inode == inode_of(sg_vm_file(kfd->machine.vm))) {
		pthread_mutex_lock(&kfd->lock);
		bo = own(kfd, &ticket);
		if (bo)
			bo->n_holders++;
		pthread_mutex_unlock(&kfd->lock);
	}
	if (!bo)
		bo = import(kfd, &ticket, fd);
	*out_bo = bo;
	return bo ? 0 : EACCES;
}

int sg_kfd_set_metadata(struct sg_kfd *kfd, struct sg_kfd_bo *bo, const void *bytes, size_t n)
{
	int fd, error = 0;

	if (bo->export < 0) {
		error = sg_kfd_dmabuf_of_bo(kfd, bo, &fd);
		if (error)
			return error;
		close(fd);
	}
	return pwrite(bo->export, bytes, n, METADATA_AT) == (ssize_t)n ? 0 : EIO;
}

bool sg_kfd_get_metadata(const struct sg_kfd_bo *bo, void *bytes, size_t n)
{
	return bo->export >= 0 && pread(bo->export, bytes, n, METADATA_AT) == (ssize_t)n;
}

/* --- requests --- */

int sg_kfd_export_dmabuf(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_export_dmabuf_args *args = args_;
	struct sg_kfd_bo *bo;
	int fd = -1, error = EINVAL;

	if (args->flags & ~(uint32_t)(O_CLOEXEC | O_RDWR))
		return EINVAL;
	pthread_mutex_lock(&kfd->lock);
	bo = sg_kfd_bo_find(kfd, args->handle);
	if (bo)
		error = sg_kfd_dmabuf_of_bo(kfd, bo, &fd);
	pthread_mutex_unlock(&kfd->lock);
	args->dmabuf_fd = (uint32_t)fd;
	return error;
}

/* Metadata are the exporter's own bytes, which only graphics stacks attach. */
int sg_kfd_dmabuf_info(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_get_dmabuf_info_args *args = args_;
	struct ticket ticket;

	if (!read_ticket((int)args->dmabuf_fd, &ticket) ||
	    !sg_machine_is_node(&kfd->machine, ticket.node))
		return EINVAL;
	args->size = ticket.size;
	args->metadata_size = 0;
	args->gpu_id = sg_kfd_gpu_id(&kfd->machine.topology, ticket.node ? ticket.node : 1);
	args->flags = ticket.flags & (FLAG(VRAM) | FLAG(GTT));
	return 0;
}

/* Shows the object at the address that the runtime has reserved, and gives it a handle. */
static int receive(struct sg_kfd *kfd, int fd, uint64_t va, uint64_t *out_handle,
		   uint64_t *out_offset, uint32_t *out_flags)
{
	struct sg_kfd_bo *source, *bo;
	int error = sg_kfd_bo_of_dmabuf(kfd, fd, &source);

	if (error)
		return error;
	/* One of this process's own gets another name: its pages, at another address. */
	bo = source;
	if (source->place) {
		struct ticket ticket = { .size = source->size,
					 .flags = source->flags,
					 .node = source->node,
					 .offset = source->offset,
					 .pid = getpid(),
					 .fd = sg_vm_file(kfd->machine.vm),
					 .inode = inode_of(sg_vm_file(kfd->machine.vm)) };

		bo = import(kfd, &ticket, fd);
		sg_kfd_bo_put(kfd, source);
		if (!bo)
			return ENOMEM;
	}
	bo->va = va;
	error = va ? sg_kfd_bo_show(kfd, bo, va, 0, bo->size) : 0;
	if (!error) {
		pthread_mutex_lock(&kfd->lock);
		error = sg_kfd_bo_add(kfd, bo, out_handle);
		pthread_mutex_unlock(&kfd->lock);
	}
	if (error) {
		sg_kfd_bo_put(kfd, bo);
		return error;
	}
	*out_offset = bo->offset;
	*out_flags = bo->flags;
	return 0;
}

int sg_kfd_import_dmabuf(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct kfd_ioctl_import_dmabuf_args *args = args_;
	uint64_t handle, offset;
	uint32_t flags;
	int error;

	if (!sg_kfd_node_of(kfd, args->gpu_id))
		return EINVAL;
	error = receive(kfd, (int)args->dmabuf_fd, args->va_addr, &handle, &offset, &flags);
	if (!error)
		args->handle = handle;
	return error;
}

/* --- AMD's older way, with 16 bytes that any transport carries: where the exporter keeps its
 * descriptor --- */

#define SHARE_MAGIC 0x57534950u

int sg_kfd_ipc_export(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_ipc_export_args *args = args_;
	struct sg_kfd_bo *bo;
	int fd = -1, error = EINVAL;

	pthread_mutex_lock(&kfd->lock);
	bo = sg_kfd_bo_find(kfd, args->handle);
	if (bo)
		error = sg_kfd_dmabuf_of_bo(kfd, bo, &fd);
	if (!error) {
		args->share_handle[0] = SHARE_MAGIC;
		args->share_handle[1] = (uint32_t)getpid();
		args->share_handle[2] = (uint32_t)bo->export;
		args->share_handle[3] = (uint32_t)inode_of(bo->export);
		close(fd); /* the exporter's own one is what importers open */
	}
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

int sg_kfd_ipc_import(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_ipc_import_args *args = args_;
	char path[64];
	int fd, error;

	if (!sg_kfd_node_of(kfd, args->gpu_id) || args->share_handle[0] != SHARE_MAGIC ||
	    (int32_t)args->share_handle[1] <= 0 || (int32_t)args->share_handle[2] < 0)
		return EINVAL;
	snprintf(path, sizeof(path), "/proc/%u/fd/%u", args->share_handle[1],
		 args->share_handle[2]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return EINVAL;
	flock(fd, LOCK_SH);
	error = (uint32_t)inode_of(fd) == args->share_handle[3]
			? receive(kfd, fd, args->va_addr, &args->handle, &args->mmap_offset,
				  &args->flags)
			: EINVAL;
	close(fd);
	return error;
}
