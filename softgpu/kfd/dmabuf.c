/*
 * Sharing: an exported object is a descriptor that can be sent to other processes.
 *
 * The descriptor is a socket with one message in its queue, which whoever imports it reads and
 * leaves there. The message holds two descriptors: the exporter's memory file, so that the memory
 * outlives the exporter, and a ticket. That is a small file which says where in the memory the object
 * is; behind it are the metadata that users attach.
 *
 * The memory stays as long as anybody has the descriptor: an open description of the ticket holds a
 * shared lock, also while it is in a message, and the exporter tries for an exclusive one before
 * it gives memory back. Importers keep the ticket.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/kfd/kfd_priv.h"

#define FLAG(name) KFD_IOC_ALLOC_MEM_FLAGS_##name
#define MAGIC 0x62616d6457534731ull

#define SEALS (F_SEAL_GROW | F_SEAL_SHRINK)
#define METADATA_AT 1024
#define TICKET_BYTES SG_KFD_PAGE

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

/* --- messages --- */

/* What a message holds. */
struct parcel {
	int memory, ticket;
	struct ticket what;
};

#define N_ENCLOSED 2
union enclosed {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(N_ENCLOSED * sizeof(int))];
};

static int pack(int memory, int ticket)
{
	uint64_t magic = MAGIC;
	struct iovec text = { &magic, sizeof(magic) };
	union enclosed enclosed = { .head = { .cmsg_len = CMSG_LEN(N_ENCLOSED * sizeof(int)),
					      .cmsg_level = SOL_SOCKET,
					      .cmsg_type = SCM_RIGHTS } };
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &enclosed,
				  .msg_controllen = sizeof(enclosed) };
	int fds[N_ENCLOSED] = { memory, ticket }, ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	memcpy(CMSG_DATA(&enclosed.head), fds, sizeof(fds));
	if (sendmsg(ends[1], &message, MSG_NOSIGNAL) != sizeof(magic)) {
		close(ends[0]);
		ends[0] = -1;
	}
	close(ends[1]);
	return ends[0];
}

static void close_parcel(struct parcel *parcel)
{
	if (parcel->memory >= 0)
		close(parcel->memory);
	if (parcel->ticket >= 0)
		close(parcel->ticket);
	parcel->memory = parcel->ticket = -1;
}

/* Any descriptor may come here, and the message stays: others read it, too. */
static bool unpack(int fd, struct parcel *out)
{
	uint64_t magic = 0;
	struct iovec text = { &magic, sizeof(magic) };
	union enclosed enclosed;
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &enclosed,
				  .msg_controllen = sizeof(enclosed) };
	int fds[N_ENCLOSED] = { -1, -1 };
	struct cmsghdr *head;
	ssize_t n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n >= 0 && (head = CMSG_FIRSTHDR(&message)) && head->cmsg_level == SOL_SOCKET &&
	    head->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	*out = (struct parcel){ .memory = fds[0], .ticket = fds[1] };
	if (n == sizeof(magic) && magic == MAGIC && fds[1] >= 0)
		return true;
	close_parcel(out);
	return false;
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
	int fd, error = 0;

	/* Memory of the program cannot be shared, neither can doorbells. */
	if (!(bo->flags & (FLAG(VRAM) | FLAG(GTT))))
		return EINVAL;
	if (bo->export >= 0) {
		fd = reopen(bo->export, O_RDWR);
	} else {
		fd = memfd_create("wavescope-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (fd >= 0 && (pwrite(fd, &ticket, sizeof(ticket), 0) != sizeof(ticket) ||
				ftruncate(fd, TICKET_BYTES) || fcntl(fd, F_ADD_SEALS, SEALS) ||
				(bo->export = reopen(fd, O_RDWR)) < 0)) {
			close(fd);
			fd = -1;
		}
		sg_kfd_keep(kfd, bo->export);
	}
	if (fd >= 0)
		flock(fd, LOCK_SH);
	*out_fd = fd >= 0 ? pack(memory, fd) : -1;
	if (*out_fd < 0)
		error = errno == EMFILE || errno == ETOOMANYREFS ? EMFILE : ENOMEM;
	if (fd >= 0)
		close(fd);
	return error;
}

/* Of the size it had, and with nothing in it that cannot be. */
static bool read_ticket(int fd, struct ticket *out)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS &&
	       pread(fd, out, sizeof(*out), 0) == sizeof(*out) && out->magic == MAGIC &&
	       out->size && !(out->size % SG_KFD_PAGE) && !(out->offset % SG_KFD_PAGE) &&
	       out->offset <= INT64_MAX - out->size && out->pid > 0 && out->fd >= 0;
}

/* The file that the ticket is for, and nothing leads outside of it. */
static bool is_memory(int fd, const struct ticket *ticket)
{
	struct stat st;

	return fcntl(fd, F_GET_SEALS) >= 0 && !fstat(fd, &st) && st.st_ino == ticket->inode &&
	       ticket->size <= (uint64_t)st.st_size &&
	       ticket->offset <= (uint64_t)st.st_size - ticket->size;
}

static bool open_parcel(int dmabuf, struct parcel *out)
{
	if (!unpack(dmabuf, out))
		return false;
	if (read_ticket(out->ticket, &out->what) && is_memory(out->memory, &out->what))
		return true;
	close_parcel(out);
	return false;
}

int sg_kfd_dmabuf_open(int dmabuf, uint64_t *out_offset, uint64_t *out_size)
{
	struct parcel parcel;

	if (!open_parcel(dmabuf, &parcel))
		return -1;
	close(parcel.ticket);
	*out_offset = parcel.what.offset;
	*out_size = parcel.what.size;
	return parcel.memory;
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

/* Takes the descriptors over. */
static struct sg_kfd_bo *import(struct sg_kfd *kfd, struct parcel *parcel)
{
	struct sg_kfd_bo *bo = calloc(1, sizeof(*bo));

	if (!bo)
		return NULL;
	*bo = (struct sg_kfd_bo){ .size = parcel->what.size,
				  .flags = parcel->what.flags,
				  .node = parcel->what.node,
				  .offset = parcel->what.offset,
				  .n_holders = 1,
				  .file = parcel->memory,
				  .export = parcel->ticket };
	parcel->memory = parcel->ticket = -1;
	sg_kfd_keep(kfd, bo->file);
	sg_kfd_keep(kfd, bo->export);
	return bo;
}

static int bo_of_parcel(struct sg_kfd *kfd, struct parcel *parcel, struct sg_kfd_bo **out_bo)
{
	struct sg_kfd_bo *bo = NULL;

	if (!sg_machine_is_node(&kfd->machine, parcel->what.node))
		return EINVAL;
	if (!parcel->what.node)
		parcel->what.node = 1;
	if (parcel->what.inode == inode_of(sg_vm_file(kfd->machine.vm))) {
		pthread_mutex_lock(&kfd->lock);
		bo = own(kfd, &parcel->what);
		if (bo)
			bo->n_holders++;
		pthread_mutex_unlock(&kfd->lock);
	}
	if (!bo)
		bo = import(kfd, parcel);
	*out_bo = bo;
	return bo ? 0 : ENOMEM;
}

int sg_kfd_bo_of_dmabuf(struct sg_kfd *kfd, int fd, struct sg_kfd_bo **out_bo)
{
	struct parcel parcel;
	int error;

	if (!open_parcel(fd, &parcel))
		return EINVAL;
	error = bo_of_parcel(kfd, &parcel, out_bo);
	close_parcel(&parcel);
	return error;
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
	struct parcel parcel;
	uint32_t node;

	if (!open_parcel((int)args->dmabuf_fd, &parcel))
		return EINVAL;
	close_parcel(&parcel);
	node = parcel.what.node;
	if (!sg_machine_is_node(&kfd->machine, node))
		return EINVAL;
	args->size = parcel.what.size;
	args->metadata_size = 0;
	args->gpu_id = sg_kfd_gpu_id(&kfd->machine.topology, node ? node : 1);
	args->flags = parcel.what.flags & (FLAG(VRAM) | FLAG(GTT));
	return 0;
}

/* Shows the object at the address that the runtime has reserved, and gives it a handle. */
static int receive(struct sg_kfd *kfd, struct parcel *parcel, uint64_t va, uint64_t *out_handle,
		   uint64_t *out_offset, uint32_t *out_flags)
{
	struct sg_kfd_bo *source, *bo;
	int error = bo_of_parcel(kfd, parcel, &source);

	if (error)
		return error;
	/* One of this process's own gets another name: its pages, at another address. */
	bo = source;
	if (source->place) {
		bo = import(kfd, parcel);
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
	struct parcel parcel;
	uint64_t handle, offset;
	uint32_t flags;
	int error;

	if (!sg_kfd_node_of(kfd, args->gpu_id) || !open_parcel((int)args->dmabuf_fd, &parcel))
		return EINVAL;
	error = receive(kfd, &parcel, args->va_addr, &handle, &offset, &flags);
	close_parcel(&parcel);
	if (!error)
		args->handle = handle;
	return error;
}

/* --- AMD's older way, with 16 bytes that any transport carries: where the exporter keeps its
 * ticket. It must be running, as with the driver --- */

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
		close(fd); /* importers open the exporter's own ticket */
	}
	pthread_mutex_unlock(&kfd->lock);
	return error;
}

static int open_of(uint32_t pid, uint32_t fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, fd);
	return open(path, flags | O_CLOEXEC);
}

static bool open_shared(const uint32_t handle[4], struct parcel *out)
{
	*out = (struct parcel){ .memory = -1, .ticket = open_of(handle[1], handle[2], O_RDWR) };
	if (out->ticket >= 0) {
		flock(out->ticket, LOCK_SH);
		if ((uint32_t)inode_of(out->ticket) == handle[3] &&
		    read_ticket(out->ticket, &out->what))
			out->memory =
				open_of((uint32_t)out->what.pid, (uint32_t)out->what.fd, O_RDWR);
		/* The exporter may have another file there by now. */
		if (out->memory >= 0 && is_memory(out->memory, &out->what))
			return true;
	}
	close_parcel(out);
	return false;
}

int sg_kfd_ipc_import(struct sg_kfd *kfd, void *args_, size_t size)
{
	struct sg_kfd_ipc_import_args *args = args_;
	struct parcel parcel;
	int error;

	if (!sg_kfd_node_of(kfd, args->gpu_id) || args->share_handle[0] != SHARE_MAGIC ||
	    (int32_t)args->share_handle[1] <= 0 || (int32_t)args->share_handle[2] < 0 ||
	    !open_shared(args->share_handle, &parcel))
		return EINVAL;
	error = receive(kfd, &parcel, args->va_addr, &args->handle, &args->mmap_offset,
			&args->flags);
	close_parcel(&parcel);
	return error;
}
