/*
 * Requests of a program to the kernel driver's interface: any number, size and argument. Input is
 * a list of requests: number, size, and that many bytes. Arguments that are pointers lead to
 * memory of the test or nowhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "softgpu/core/machine.h"
#include "softgpu/kfd/abi.h"
#include "softgpu/kfd/kfd.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BYTES 128u
#define WAIT_EVENTS 0x0c

static uint64_t scratchpad[512];
static uint32_t gpu_id;

static uint32_t render_node(int fd)
{
	return fd == 3 ? 1 : 0;
}

/* Small words become ids and addresses that exist, so that requests get past their first check. */
static void make_likely(uint64_t *args, size_t n, const uint64_t *likely, size_t n_likely)
{
	for (size_t i = 0; i < n; i++)
		if (args[i] < n_likely)
			args[i] = likely[args[i]];
}

static void request(struct sg_kfd *kfd, uint8_t nr, uint8_t size, const uint64_t *args)
{
	uint64_t start, end, likely[8], copy[MAX_BYTES / 8];
	int error;

	sg_kfd_aperture(kfd, &start, &end);
	likely[0] = 0;
	likely[1] = (uint64_t)scratchpad;
	likely[2] = start;
	likely[3] = 4096;
	likely[4] = (uint64_t)KFD_IOC_ALLOC_MEM_FLAGS_VRAM << 32 | gpu_id;
	likely[5] = (uint64_t)KFD_IOC_ALLOC_MEM_FLAGS_GTT << 32 | gpu_id;
	likely[6] = end - 4096;
	likely[7] = (uint64_t)gpu_id << 32 | gpu_id;
	memcpy(copy, args, sizeof(copy));
	make_likely(copy, MAX_BYTES / 8, likely, 8);
	if (nr == WAIT_EVENTS) /* the third word: how long, and the answer */
		copy[2] = 0;
	error = nr & 0x80
			? sg_kfd_drm_ioctl(kfd, 1,
					   _IOC(_IOC_READ | _IOC_WRITE, 'd', nr & 0x7f, size), copy)
			: sg_kfd_ioctl(kfd,
				       _IOC(_IOC_READ | _IOC_WRITE, AMDKFD_IOCTL_BASE, nr, size),
				       copy);
	CHECK(error >= 0 && error <= SG_KFD_ENOTSUPP);
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct sg_kfd_files files = { .render_node = render_node };
	static struct sg_kfd
		*kfd; /* one for all: what a request leaves behind is part of the test */

	if (!kfd) {
		setenv("WAVESCOPE_WORKERS", "1", 1);
		setenv("WAVESCOPE_LOG", "none", 1);
		kfd = sg_kfd_create(&files);
		CHECK(kfd && sg_kfd_reserve(kfd, 16 << 20, false) &&
		      sg_kfd_reserve(kfd, 1 << 20, true));
		learn_gpu_id(kfd);
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
