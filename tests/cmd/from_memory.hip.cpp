/*
 * Kernels whose code is in no file when the program has ended: compiled at run time and loaded
 * from memory that is released at once, loaded a second time, loaded from a file that is removed,
 * and HIP's own that fills memory. "kill" ends the program by SIGKILL.
 */
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#define OK(call)                                                                                   \
	do {                                                                                       \
		int status = (int)(call);                                                          \
		if (status) {                                                                      \
			fprintf(stderr, "%s: %d\n", #call, status);                                \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static const char source[] = "extern \"C\" __global__ void NAME(float *y, int n)\n"
			     "{\n"
			     "	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
			     "	for (int k = 0; k < n; k++)\n"
			     "		y[i] = y[i] * 1.5f + k;\n"
			     "}\n";

static std::vector<char> compile(const char *name)
{
	hiprtcProgram program;
	hipDeviceProp_t prop;
	size_t size = 0;

	OK(hipGetDeviceProperties(&prop, 0));
	std::string arch = std::string("--gpu-architecture=") + prop.gcnArchName;
	std::string define = std::string("-DNAME=") + name;
	const char *flags[] = { arch.c_str(), define.c_str(), "-g" };

	OK(hiprtcCreateProgram(&program, source, "typed.cu", 0, nullptr, nullptr));
	OK(hiprtcCompileProgram(program, 3, flags));
	OK(hiprtcGetCodeSize(program, &size));
	std::vector<char> code(size);
	OK(hiprtcGetCode(program, code.data()));
	OK(hiprtcDestroyProgram(&program));
	return code;
}

static void launch(hipModule_t module, const char *name)
{
	hipFunction_t function;
	float *y;
	int n = 50;

	OK(hipModuleGetFunction(&function, module, name));
	OK(hipMalloc((void **)&y, 4096 * sizeof(*y)));
	void *args[] = { &y, &n };
	OK(hipModuleLaunchKernel(function, 16, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
	OK(hipDeviceSynchronize());
	OK(hipFree(y));
}

static hipModule_t load_and_forget(const std::vector<char> &code)
{
	char *copy = new char[code.size()];
	hipModule_t module;

	memcpy(copy, code.data(), code.size());
	OK(hipModuleLoadData(&module, copy));
	memset(copy, 0, code.size());
	delete[] copy;
	return module;
}

int main(int argc, char **argv)
{
	const char *file = "removed.co";
	std::vector<char> code = compile("in_memory");
	hipModule_t module, again;
	void *filled;

	module = load_and_forget(code);
	launch(module, "in_memory");
	again = load_and_forget(code);
	launch(again, "in_memory");

	std::vector<char> other = compile("in_a_file");
	FILE *to = fopen(file, "w");
	if (!to || fwrite(other.data(), 1, other.size(), to) != other.size() || fclose(to))
		return 1;
	OK(hipModuleLoad(&module, file));
	unlink(file);
	launch(module, "in_a_file");

	OK(hipMalloc(&filled, 1 << 20));
	OK(hipMemset(filled, 7, 1 << 20));
	OK(hipDeviceSynchronize());
	if (argc > 1 && strcmp(argv[1], "kill") == 0)
		raise(SIGKILL);
	return 0;
}
