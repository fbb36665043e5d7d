/* Blocks shared between processes: the exporter's memfd, opened through the proc file system. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/device/log.h"
#include "softgpu/device/vm_priv.h"

enum sg_vm_status sg_vm_export(struct sg_vm *vm, uint64_t addr, struct sg_vm_handle *out_handle)
{
	struct sg_vm_block *block;
	enum sg_vm_status status = SG_VM_NOT_FOUND;

	pthread_mutex_lock(&vm->lock);
	block = sg_vm_block_at(vm, addr);
	if (block && block->start == addr && block->kind != SG_VM_IMPORTED) {
		*out_handle = (struct sg_vm_handle){
			.pid = getpid(),
			.fd = vm->memfd,
			.offset = block->start - vm->start,
			.size = block->size,
			.node = block->node,
		};
		status = SG_VM_OK;
	}
	pthread_mutex_unlock(&vm->lock);
	return status;
}

/* A descriptor of the exporter's memory; the number may by now be something else: look at it. */
static int open_exporter(const struct sg_vm_handle *handle)
{
	static const char expected[] = "/memfd:" SG_VM_MEMFD_NAME;
	char path[64], target[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->pid, handle->fd);
	n = readlink(path, target, sizeof(target) - 1);
	if (n >= 0) {
		target[n] = '\0';
		if (strncmp(target, expected, sizeof(expected) - 1)) {
			errno = ENOENT;
			return -1;
		}
		fd = open(path, O_RDWR | O_CLOEXEC);
		/* The exporter may have put another file there since: only a memfd has seals. */
		if (fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0)
			return fd;
		if (fd >= 0) {
			close(fd);
			errno = ENOENT;
		}
	}
	return -1;
}

enum sg_vm_status sg_vm_import(struct sg_vm *vm, const struct sg_vm_handle *handle,
			       uint64_t *out_addr)
{
	struct sg_vm_block *block;
	enum sg_vm_status status;
	struct stat st;
	int fd;

	if (handle->pid <= 0 || handle->fd < 0 || !handle->size || handle->size % 4096 ||
	    handle->offset % 4096)
		return SG_VM_BAD_ARGUMENT;
	fd = open_exporter(handle);
	if (fd < 0) {
		sg_gpu_log(SG_GPU_LOG_ERROR,
			   "cannot import memory of process %d: %s (it must be running, of the "
			   "same user, and in the same PID namespace)",
			   handle->pid, strerror(errno));
		return SG_VM_NO_ACCESS;
	}
	if (fstat(fd, &st) || handle->offset > (uint64_t)st.st_size ||
	    handle->size > (uint64_t)st.st_size - handle->offset) {
		close(fd);
		return SG_VM_BAD_ARGUMENT;
	}
	block = calloc(1, sizeof(*block));
	if (!block) {
		close(fd);
		return SG_VM_NO_MEMORY;
	}
	*block = (struct sg_vm_block){ .kind = SG_VM_IMPORTED,
				       .size = handle->size,
				       .node = handle->node < vm->n_nodes ? handle->node : 1 };
	pthread_mutex_lock(&vm->lock);
	status = sg_vm_place(vm, block, 2ull << 20, fd, handle->offset);
	pthread_mutex_unlock(&vm->lock);
	close(fd); /* the mapping keeps the memory */
	if (status) {
		free(block);
		return status;
	}
	*out_addr = block->start;
	return SG_VM_OK;
}
