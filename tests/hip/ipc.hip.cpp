/*
 * IPC: two processes share device memory. The parent exports; the child, a fresh program that has
 * its own HIP, opens the handle, checks what it finds and writes; the parent sees it.
 */
#include "hiptest.h"
#include <sys/socket.h>

enum { N = 5000 };

__global__ void fill(unsigned *x, unsigned start)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		x[i] = start + i;
}

static std::vector<unsigned> counting(unsigned start)
{
	std::vector<unsigned> v(N);

	for (unsigned i = 0; i < N; i++)
		v[i] = start + i;
	return v;
}

static void send_all(int fd, const void *data, size_t n)
{
	if (write(fd, data, n) != (ssize_t)n)
		_exit(4);
}

static void receive_all(int fd, void *data, size_t n)
{
	if (read(fd, data, n) != (ssize_t)n)
		_exit(5);
}

static int child_main(int fd)
{
	hipIpcMemHandle_t handle;
	unsigned *x;
	std::vector<unsigned> got(N);
	char done = 1;

	receive_all(fd, &handle, sizeof(handle));
	HIP_OK(hipIpcOpenMemHandle((void **)&x, handle, hipIpcMemLazyEnablePeerAccess));
	HIP_OK(hipMemcpy(got.data(), x, N * sizeof(unsigned), hipMemcpyDeviceToHost));
	check_equal("child reads", got, counting(100));
	fill<<<(N + 255) / 256, 256>>>(x, 7000);
	LAUNCH_OK();
	HIP_OK(hipIpcCloseMemHandle(x));
	send_all(fd, &done, 1);
	return n_failed_checks ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return child_main(atoi(argv[1]));

	int ends[2], status;
	char number[16], done;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		perror("socketpair");
		return 1;
	}
	snprintf(number, sizeof(number), "%d", ends[1]);
	pid_t pid = fork(); /* before HIP starts here; the child starts over by exec */
	if (pid == 0) {
		close(ends[0]);
		execl("/proc/self/exe", argv[0], number, (char *)nullptr);
		_exit(127);
	}
	close(ends[1]);

	/* two buffers, so that the shared one is not the first of its block */
	device_buffer<unsigned> before(N), x(N);
	hipIpcMemHandle_t handle;
	fill<<<(N + 255) / 256, 256>>>(before.ptr, 1);
	fill<<<(N + 255) / 256, 256>>>(x.ptr, 100);
	LAUNCH_OK();
	HIP_OK(hipIpcGetMemHandle(&handle, x.ptr));
	send_all(ends[0], &handle, sizeof(handle));
	receive_all(ends[0], &done, 1);
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: 0x%x", status);
	check_equal("parent reads", x.download(), counting(7000));
	check_equal("the neighbour is untouched", before.download(), counting(1));
	return finish();
}
