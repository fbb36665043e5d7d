/*
 * allreduce: the sum of a buffer over all GPUs of the machine, by RCCL.
 *
 * RCCL is opened when the program runs, so that it is built where there is none. Where it is not
 * installed, the program says so and runs peer, which moves data by copies.
 */
#include "check.h"

#include <dlfcn.h>
#include <string>
#include <unistd.h>

typedef void *comm_t;
enum { NCCL_FLOAT = 7, NCCL_SUM = 0 };

template <typename T> static T find(void *rccl, const char *name)
{
	T function = (T)dlsym(rccl, name);

	if (!function) {
		fprintf(stderr, "allreduce: librccl.so.1 has no %s\n", name);
		exit(1);
	}
	return function;
}

/* The program beside this one, with the same options. */
static int run_peer(char **argv)
{
	std::string path(argv[0]);
	size_t slash = path.rfind('/');

	path = (slash == std::string::npos ? std::string() : path.substr(0, slash + 1)) + "peer";
	printf("librccl.so.1 is not installed: copies around a ring of GPUs instead\n");
	fflush(stdout);
	if (slash == std::string::npos)
		execvp(path.c_str(), argv);
	else
		execv(path.c_str(), argv);
	perror(path.c_str());
	return 1;
}

int main(int argc, char **argv)
{
	long n = 50000;
	const option_row rows[] = { { 'n', &n, 1, "elements" } };
	void *rccl = dlopen("librccl.so.1", RTLD_NOW);

	if (!rccl)
		return run_peer(argv);
	options(argc, argv, "all-reduce over all GPUs, by RCCL", rows);

	auto init = find<int (*)(comm_t *, int, const int *)>(rccl, "ncclCommInitAll");
	auto start = find<int (*)()>(rccl, "ncclGroupStart"),
	     end = find<int (*)()>(rccl, "ncclGroupEnd");
	auto reduce = find<int (*)(const void *, void *, size_t, int, int, comm_t, hipStream_t)>(
		rccl, "ncclAllReduce");
	auto destroy = find<int (*)(comm_t)>(rccl, "ncclCommDestroy");
	auto error = find<const char *(*)(int)>(rccl, "ncclGetErrorString");
	auto must = [&](const char *what, int status) {
		if (status) {
			fprintf(stderr, "allreduce: %s: %s\n", what, error(status));
			exit(1);
		}
	};

	int n_devices;
	HIP_OK(hipGetDeviceCount(&n_devices));
	std::vector<comm_t> comms(n_devices);
	std::vector<float *> buffer(n_devices);
	std::vector<float> host(n);

	must("ncclCommInitAll", init(comms.data(), n_devices, nullptr));
	for (int d = 0; d < n_devices; d++) {
		for (long i = 0; i < n; i++)
			host[i] = (float)(d + i % 64);
		HIP_OK(hipSetDevice(d));
		HIP_OK(hipMalloc(&buffer[d], n * sizeof(float)));
		HIP_OK(hipMemcpy(buffer[d], host.data(), n * sizeof(float), hipMemcpyHostToDevice));
	}
	must("ncclGroupStart", start());
	for (int d = 0; d < n_devices; d++)
		must("ncclAllReduce", reduce(buffer[d], buffer[d], (size_t)n, NCCL_FLOAT, NCCL_SUM,
					     comms[d], nullptr));
	must("ncclGroupEnd", end());
	long wrong = 0;
	for (int d = 0; d < n_devices; d++) {
		HIP_OK(hipSetDevice(d));
		HIP_OK(hipDeviceSynchronize());
		HIP_OK(hipMemcpy(host.data(), buffer[d], n * sizeof(float), hipMemcpyDeviceToHost));
		for (long i = 0; i < n; i++)
			wrong += host[i] !=
				 (float)(n_devices * (i % 64) + n_devices * (n_devices - 1) / 2);
		HIP_OK(hipFree(buffer[d]));
	}
	for (int d = 0; d < n_devices; d++)
		must("ncclCommDestroy", destroy(comms[d]));
	printf("%ld elements on %d GPUs, %ld wrong\n", n, n_devices, wrong);
	return verdict(wrong == 0);
}
