/* Memory that a process exports and another one imports when the first has ended. HIP 6 and later. */
#include "samples/check.h"
#include <sys/socket.h>
#include <sys/wait.h>

#if HIP_VERSION_MAJOR < 6
int main()
{
	printf("virtual memory management is not in this HIP\n");
	return 77;
}
#else

static const unsigned FIRST = 1000;
static hipMemAllocationProp prop;
static size_t granule;

__global__ void fill(unsigned *p, unsigned n, unsigned first)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = first + i;
}

static void start()
{
	int supported = 0;

	HIP_OK(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported,
				     0));
	if (!supported)
		_exit(77);
	prop.type = hipMemAllocationTypePinned;
	prop.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
	prop.location.type = hipMemLocationTypeDevice;
	HIP_OK(hipMemGetAllocationGranularity(&granule, &prop, hipMemAllocationGranularityMinimum));
}

static void *show(hipMemGenericAllocationHandle_t handle)
{
	hipMemAccessDesc access = {};
	void *at;

	access.location = prop.location;
	access.flags = hipMemAccessFlagsProtReadWrite;
	HIP_OK(hipMemAddressReserve(&at, granule, 0, nullptr, 0));
	HIP_OK(hipMemMap(at, granule, 0, handle, 0));
	HIP_OK(hipMemSetAccess(at, granule, &access, 1));
	return at;
}

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The exporter: it fills the memory, sends the descriptor, and ends without giving anything back. */
static void leave(int to)
{
	hipMemGenericAllocationHandle_t handle;
	char byte = 0;
	struct iovec text = { &byte, 1 };
	union control control = {};
	struct msghdr message = {};
	int fd = -1;

	start();
	HIP_OK(hipMemCreate(&handle, granule, &prop, 0));
	fill<<<(unsigned)(granule / 4 / 256), 256>>>((unsigned *)show(handle),
						     (unsigned)(granule / 4), FIRST);
	HIP_OK(hipDeviceSynchronize());
	HIP_OK(hipMemExportToShareableHandle(&fd, handle, hipMemHandleTypePosixFileDescriptor, 0));
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	message.msg_iov = &text;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	_exit(sendmsg(to, &message, 0) == 1 ? 0 : 1);
}

static int receive(int from)
{
	char byte;
	struct iovec text = { &byte, 1 };
	union control control;
	struct msghdr message = {};
	int fd = -1;

	message.msg_iov = &text;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	if (recvmsg(from, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

int main()
{
	hipMemGenericAllocationHandle_t handle;
	int ends[2], status, fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	pid = fork(); /* before HIP starts: no context goes to the child */
	if (!pid)
		leave(ends[1]);
	if (waitpid(pid, &status, 0) != pid || status)
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	start();
	fd = receive(ends[0]);
	/* HIP 6 takes a pointer to the descriptor, HIP 7 the descriptor itself, as CUDA does. */
	HIP_OK(hipMemImportFromShareableHandle(
		&handle, HIP_VERSION_MAJOR < 7 ? (void *)&fd : (void *)(uintptr_t)fd,
		hipMemHandleTypePosixFileDescriptor));
	close(fd);

	std::vector<unsigned> back(granule / 4);

	void *at = show(handle);

	HIP_OK(hipMemcpy(back.data(), at, granule, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < back.size(); i++)
		if (back[i] != FIRST + i) {
			printf("wrong at %u: %u\n", i, back[i]);
			return 1;
		}
	HIP_OK(hipMemUnmap(at, granule));
	HIP_OK(hipMemRelease(handle));
	HIP_OK(hipMemAddressFree(at, granule));
	printf("PASS\n");
	return 0;
}
#endif
