/*
 * Requests of a program to the kernel driver's interface: any number, size and argument. Input is
 * a list of requests: number, size, and that many bytes.
 *
 * The driver writes where a program says, also into memory that the program needs itself. So
 * arguments that are pointers lead to a stretch of memory with nothing around it, to that of the
 * GPU, or nowhere.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/core/machine.h"
#include "softgpu/device/peek.h"
#include "softgpu/kfd/abi.h"
#include "softgpu/kfd/kfd.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES 128u
#define WAIT_EVENTS 0x0c
#define DRM 0x80 /* of a number: a request of the render node */
#define AMD 0x70 /* from here on: those of AMD's own kernel packages, which begin with 0x80 */
#define NOWHERE 8
#define N_PAGES 16
#define AROUND (1ull << 30)

static uint64_t scratchpad; /* in the middle of its pages: some structures begin before a pointer */
static uint64_t reserved, reserved_for_user; /* address space of the GPU */
static uint32_t gpu_id;
static int dmabuf;

static uint32_t render_node(int fd)
{
	return fd == 3 ? 1 : 0;
}

/* Requests that answer with a new descriptor, and the word of the argument that has it. */
static const struct {
	uint8_t nr, word;
} opens[] = {
	{ SG_KFD_NR_EXPORT_DMABUF, 3 },
	{ 0x1f, 1 },       /* SMI_EVENTS */
	{ DRM | 0x2d, 2 }, /* PRIME_HANDLE_TO_FD */
};

/* ... and with an id that later requests need. */
enum learnt { MEMORY, EVENT, N_LEARNT };
static const struct {
	uint8_t nr, word;
	bool wide;
} tells[N_LEARNT] = {
	[MEMORY] = { 0x16, 4, true }, /* ALLOC_MEMORY_OF_GPU */
	[EVENT] = { 0x08, 6, false }, /* CREATE_EVENT */
};
static uint64_t learnt[N_LEARNT];

static void make_scratchpad(void)
{
	char *hole = mmap(NULL, 2 * AROUND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);

	CHECK(hole != MAP_FAILED &&
	      !mprotect(hole + AROUND, N_PAGES * 4096, PROT_READ | PROT_WRITE));
	scratchpad = (uint64_t)hole + AROUND + N_PAGES / 2 * 4096;
}

/* Small words become ids and addresses that exist, so that requests get past their first check;
 * addresses of the test's own memory become nothing. */
static void make_likely(const struct sg_kfd *kfd, uint64_t *args, size_t n)
{
	uint64_t start, end;
	char byte;

	sg_kfd_aperture(kfd, &start, &end);

	const uint64_t likely[] = {
		0,
		scratchpad,
		reserved,
		4096,
		(uint64_t)KFD_IOC_ALLOC_MEM_FLAGS_VRAM << 32 | gpu_id,
		(uint64_t)KFD_IOC_ALLOC_MEM_FLAGS_GTT << 32 | gpu_id,
		reserved_for_user,
		(uint64_t)gpu_id << 32 | gpu_id,
		(uint64_t)dmabuf << 32 | gpu_id, /* IMPORT_DMABUF */
		(uint64_t)dmabuf << 32,          /* GET_DMABUF_INFO */
		(uint64_t)dmabuf,                /* PRIME_FD_TO_HANDLE */
		(uint64_t)gpu_id << 32 | 4096,   /* the ring of a queue */
		reserved + 8192,                 /* ... and its pointers */
		learnt[MEMORY],
		learnt[EVENT],
	};

	for (size_t i = 0; i < n; i++) {
		if (args[i] < sizeof(likely) / sizeof(likely[0]))
			args[i] = likely[args[i]];
		else if ((args[i] < start || args[i] >= end) &&
			 args[i] - (scratchpad - AROUND) >= 2 * AROUND &&
			 sg_peek_bytes((const void *)args[i], &byte, 1))
			args[i] = NOWHERE;
	}
}

static void use_answer(uint8_t nr, const uint64_t *args)
{
	const uint32_t *words = (const uint32_t *)args;

	for (size_t i = 0; i < N_LEARNT; i++)
		if (tells[i].nr == nr)
			learnt[i] = tells[i].wide ? args[tells[i].word / 2] : words[tells[i].word];
	for (size_t i = 0; i < sizeof(opens) / sizeof(opens[0]); i++) {
		int fd = (int)words[opens[i].word];

		if (opens[i].nr == nr && fd > dmabuf)
			close(fd);
	}
}

static void request(struct sg_kfd *kfd, uint8_t nr, uint8_t size, const uint64_t *args)
{
	uint64_t copy[MAX_BYTES / 8];
	int error;

	memcpy(copy, args, sizeof(copy));
	make_likely(kfd, copy, MAX_BYTES / 8);
	if (nr == WAIT_EVENTS) /* the third word: how long, and the answer */
		copy[2] = 0;
	error = nr & DRM
			? sg_kfd_drm_ioctl(kfd, 1,
					   _IOC(_IOC_READ | _IOC_WRITE, 'd', nr & 0x7f, size), copy)
			: sg_kfd_ioctl(kfd,
				       _IOC(_IOC_READ | _IOC_WRITE, AMDKFD_IOCTL_BASE,
					    nr < AMD ? nr : nr + (0x80 - AMD), size),
				       copy);
	CHECK(error >= 0 && error <= SG_KFD_ENOTSUPP);
	if (!error)
		use_answer(nr, copy);
}

static void learn_gpu_id(struct sg_kfd *kfd)
{
	struct kfd_process_device_apertures entry;
	struct kfd_ioctl_get_process_apertures_new_args args = { .kfd_process_device_apertures_ptr =
									 (uint64_t)&entry,
								 .num_of_nodes = 1 };

	CHECK(!sg_kfd_ioctl(kfd, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &args));
	gpu_id = entry.gpu_id;
}

static void export_some_memory(struct sg_kfd *kfd)
{
	struct kfd_ioctl_alloc_memory_of_gpu_args alloc = { .size = 8192,
							    .gpu_id = gpu_id,
							    .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM };
	struct sg_kfd_export_dmabuf_args args = { 0 };

	CHECK(!sg_kfd_ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc));
	args.handle = alloc.handle;
	CHECK(!sg_kfd_ioctl(kfd,
			    _IOWR(AMDKFD_IOCTL_BASE, SG_KFD_NR_EXPORT_DMABUF,
				  struct sg_kfd_export_dmabuf_args),
			    &args));
	dmabuf = (int)args.dmabuf_fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct sg_kfd_files files = { .render_node = render_node };
	static struct sg_kfd
		*kfd; /* one for all: what a request leaves behind is part of the test */

	if (!kfd) {
		setenv("WAVESCOPE_WORKERS", "1", 1);
		setenv("WAVESCOPE_LOG", "none", 1);
		kfd = sg_kfd_create(&files);
		CHECK(kfd && (reserved = sg_kfd_reserve(kfd, 16 << 20, false)) &&
		      (reserved_for_user = sg_kfd_reserve(kfd, 1 << 20, true)));
		learn_gpu_id(kfd);
		make_scratchpad();
		export_some_memory(kfd);
	}
	while (n >= 2) {
		uint64_t args[MAX_BYTES / 8] = { 0 };
		uint8_t nr = bytes[0], size = bytes[1] % MAX_BYTES;
		size_t given = size < n - 2 ? size : n - 2;

		memcpy(args, bytes + 2, given);
		request(kfd, nr, size, args);
		bytes += 2 + given;
		n -= 2 + given;
	}
	return 0;
}
