// aborts N [terminate | SIGNAL]: kernels that have ended, and then the program does: by abort(), by a failed
// check, or by a signal.
#include <hip/hip_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

__global__ void nothing() {}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++)
		hipLaunchKernelGGL(nothing, dim3(1), dim3(64), 0, nullptr);
	if (hipDeviceSynchronize() != hipSuccess)
		return 2;
	if (argc > 2 && argv[2] == std::string("terminate"))
		std::terminate();
	if (argc > 2 && atoi(argv[2]) > 0)
		raise(atoi(argv[2]));
	abort();
}
