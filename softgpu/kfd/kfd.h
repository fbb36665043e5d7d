/*
 * kfd: the software GPU behind the interface of AMD's kernel driver (amdgpu, /dev/kfd and
 * /dev/dri/renderD*).
 *
 * A request and its argument go in, an errno comes out. How the call was caught is not known
 * here: a preloaded library hands over the program's ioctl() calls (interpose_*.c), and AMD's
 * model interface of later ROCr versions hands over the same pairs.
 *
 * Answers are the driver's, also for wrong requests; docs/kernel-driver.md lists what is
 * supported. Structures of callers may be shorter or longer than those known here: what is
 * missing is zero, what is unknown is ignored.
 *
 * A caller maps memory from the file of sg_kfd_file(), at sg_kfd_file_offset() of the offset that a
 * request returned; imported memory from that of sg_kfd_foreign_open().
 *
 * Threads  any. AMDKFD_IOC_WAIT_EVENTS blocks.
 * Memory   pointers of the caller may be bad: EFAULT.
 */
#ifndef WS_SOFTGPU_KFD_KFD_H
#define WS_SOFTGPU_KFD_KFD_H

#include <stdbool.h>
#include <stdint.h>

struct sg_kfd;
struct sg_machine;

/* What the dispatcher needs to know about the caller's file descriptors. */
struct sg_kfd_files {
	/* The GPU node of an open render node; 0: it is something else. */
	uint32_t (*render_node)(int fd);
	/* A descriptor of the dispatcher's own, which the program must not close; or not any more.
	 * NULL: nobody closes it. */
	void (*keep)(int fd, bool keep);
};

/* From the environment, as sg_machine_read_environment() reads it. NULL: a message has been
 * logged. */
struct sg_kfd *sg_kfd_create(const struct sg_kfd_files *files);
void sg_kfd_destroy(struct sg_kfd *kfd);

/* A request on /dev/kfd, and one on the render or card node of a GPU. 0 or an errno. */
int sg_kfd_ioctl(struct sg_kfd *kfd, unsigned long request, void *arg);
int sg_kfd_drm_ioctl(struct sg_kfd *kfd, uint32_t node, unsigned long request, void *arg);

/* The file behind all memory; owned by the machine. */
int sg_kfd_file(const struct sg_kfd *kfd);
/* Where in it an mmap offset leads; doorbells have the driver's own encoding. */
uint64_t sg_kfd_file_offset(const struct sg_kfd *kfd, uint64_t mmap_offset);
/* A new descriptor of another process's memory, if the offset that the GPU's render node returned leads to so
 * much of it; -1: it does not. */
int sg_kfd_foreign_open(struct sg_kfd *kfd, uint32_t node, uint64_t mmap_offset, uint64_t size,
			uint64_t *out_offset);
/* The memory behind an exported descriptor, of any process: a new descriptor of its file, and where
 * in it. -1: it is something else. */
int sg_kfd_dmabuf_open(int dmabuf, uint64_t *out_offset, uint64_t *out_size);
struct sg_machine *sg_kfd_machine(struct sg_kfd *kfd);

/* Address space that the runtime reserves for GPU memory, see device/reserve.h. 0: there is
 * none left. */
uint64_t sg_kfd_reserve(struct sg_kfd *kfd, uint64_t size, bool for_user_pointer);
void sg_kfd_release(struct sg_kfd *kfd, uint64_t start, uint64_t size);
/* Memory has been allocated or mapped there by a request. */
bool sg_kfd_is_shown(struct sg_kfd *kfd, uint64_t addr, uint64_t size);
/* The aperture: addresses in it are the machine's to map and unmap. */
void sg_kfd_aperture(const struct sg_kfd *kfd, uint64_t *out_start, uint64_t *out_end);

#endif
