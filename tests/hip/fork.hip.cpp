/*
 * fork: before HIP starts both sides may use it; after that, a child that leaves HIP alone ends
 * cleanly and at once, and the parent goes on.
 */
#include "hiptest.h"
#include <ctime>

__global__ void square(unsigned *x) { x[threadIdx.x] *= x[threadIdx.x]; }

static int use_gpu()
{
	std::vector<unsigned> host(64), want(64);

	for (unsigned i = 0; i < 64; i++) {
		host[i] = i;
		want[i] = i * i;
	}
	device_buffer<unsigned> x(host);
	square<<<1, 64>>>(x.ptr);
	LAUNCH_OK();
	check_equal("square", x.download(), want);
	return n_failed_checks ? 1 : 0;
}

static double now_s()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Leaves by exit(): libraries' exit handlers run in the child, where no device thread is. */
static void child_exits_cleanly(bool by_exit)
{
	double start = now_s();
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		alarm(30);
		if (by_exit)
			exit(9);
		_exit(9);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9, "by %s: status 0x%x",
	      by_exit ? "exit" : "_exit", status);
	CHECK(now_s() - start < 20, "the child took %g s to end", now_s() - start);
}

int main()
{
	child_result first = run_child(use_gpu);
	CHECK(first.exited(0), "fork before HIP: child status 0x%x", first.status);
	if (!first.exited(0))
		show_child("first", first);

	use_gpu();
	child_exits_cleanly(false);
	child_exits_cleanly(true);

	/* what the launcher of a profiler does: fork and exec while HIP is in use */
	pid_t pid = fork();
	int status = -1;
	if (pid == 0) {
		execl("/bin/true", "true", (char *)nullptr);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "exec: status 0x%x", status);
	use_gpu();
	return finish();
}
