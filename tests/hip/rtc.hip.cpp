/* hiprtc: compile from text, launch, lowered names, and a log for a program that is wrong. */
#include "hiptest.h"
#include <hip/hiprtc.h>

#define RTC_OK(call)                                                                               \
	do {                                                                                       \
		hiprtcResult rtc_status = (call);                                                  \
		if (rtc_status != HIPRTC_SUCCESS) {                                                \
			fprintf(stderr, "%s: %s\n", #call, hiprtcGetErrorString(rtc_status));      \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static const char source[] =
	"template <class T> __global__ void axpy(T a, const T *x, T *y, int n)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n)\n"
	"		y[i] += a * x[i] + OFFSET;\n"
	"}\n";

static std::string log_of(hiprtcProgram program)
{
	size_t size = 0;

	RTC_OK(hiprtcGetProgramLogSize(program, &size));
	std::string text(size, '\0');
	if (size)
		RTC_OK(hiprtcGetProgramLog(program, &text[0]));
	return text;
}

int main()
{
	enum { N = 1000 };
	hipDeviceProp_t prop;
	hiprtcProgram program;

	HIP_OK(hipGetDeviceProperties(&prop, 0));
	std::string arch = std::string("--gpu-architecture=") + prop.gcnArchName;
	const char *flags[] = { arch.c_str(), "-DOFFSET=3" };

	RTC_OK(hiprtcCreateProgram(&program, source, "axpy.cu", 0, nullptr, nullptr));
	RTC_OK(hiprtcAddNameExpression(program, "axpy<float>"));
	RTC_OK(hiprtcAddNameExpression(program, "axpy<int>"));
	if (hiprtcCompileProgram(program, 2, flags) != HIPRTC_SUCCESS) {
		fprintf(stderr, "%s\n", log_of(program).c_str());
		return 1;
	}
	size_t size = 0;
	RTC_OK(hiprtcGetCodeSize(program, &size));
	std::vector<char> code(size);
	RTC_OK(hiprtcGetCode(program, code.data()));

	const char *name;
	hipModule_t module;
	hipFunction_t axpy;
	RTC_OK(hiprtcGetLoweredName(program, "axpy<int>", &name));
	HIP_OK(hipModuleLoadData(&module, code.data()));
	HIP_OK(hipModuleGetFunction(&axpy, module, name));

	std::vector<int> x(N), y(N), want(N);
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = 1000 - i;
		want[i] = y[i] + 7 * x[i] + 3;
	}
	device_buffer<int> dx(x), dy(y);
	int a = 7, n = N;
	void *args[] = { &a, &dx.ptr, &dy.ptr, &n };
	HIP_OK(hipModuleLaunchKernel(axpy, (N + 127) / 128, 1, 1, 128, 1, 1, 0, 0, args, nullptr));
	HIP_OK(hipDeviceSynchronize());
	check_equal("axpy<int>", dy.download(), want);
	HIP_OK(hipModuleUnload(module));
	RTC_OK(hiprtcDestroyProgram(&program));

	RTC_OK(hiprtcCreateProgram(&program, "__global__ void k() { undeclared = 1; }", "bad.cu", 0,
				   nullptr, nullptr));
	CHECK(hiprtcCompileProgram(program, 1, flags) == HIPRTC_ERROR_COMPILATION, "bad program");
	CHECK(log_of(program).find("undeclared") != std::string::npos, "log: %s",
	      log_of(program).c_str());
	RTC_OK(hiprtcDestroyProgram(&program));
	return finish();
}
