/* hipModule: a code object from a file and from memory, kernels, globals, errors. */
#include "hiptest.h"

static void use(hipModule_t module, const char *how)
{
	enum { N = 1000 };
	hipFunction_t weigh, reverse;
	std::vector<unsigned> in(N), want(N);

	for (int i = 0; i < N; i++) {
		in[i] = i;
		want[i] = ((i * (i % 4 + 1) - 3) << 2) + 5;
	}
	HIP_OK(hipModuleGetFunction(&weigh, module, "weigh"));
	HIP_OK(hipModuleGetFunction(&reverse, module, "reverse"));

	device_buffer<unsigned> din(in), dout(N);
	char add = -3;
	short shift = 2;
	double half = 2.5;
	int n = N;
	void *args[] = { &din.ptr, &dout.ptr, &add, &shift, &half, &n };
	HIP_OK(hipModuleLaunchKernel(weigh, 4, 1, 1, 256, 1, 1, 0, 0, args, nullptr));
	HIP_OK(hipDeviceSynchronize());
	check_equal(how, dout.download(), want);

	/* the packed form of the arguments, with the alignment C would give them */
	struct {
		unsigned *in, *out;
		char add;
		short shift;
		double half;
		int n;
	} packed = { din.ptr, dout.ptr, add, shift, half, n };
	size_t size = sizeof(packed);
	void *extra[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			  &size, HIP_LAUNCH_PARAM_END };
	dout.clear();
	HIP_OK(hipModuleLaunchKernel(weigh, 4, 1, 1, 256, 1, 1, 0, 0, nullptr, extra));
	HIP_OK(hipDeviceSynchronize());
	check_equal("packed arguments", dout.download(), want);

	hipDeviceptr_t where;
	size_t bytes;
	unsigned value;
	HIP_OK(hipModuleGetGlobal(&where, &bytes, module, "counter"));
	HIP_OK(hipMemcpyDtoH(&value, where, sizeof(value)));
	CHECK(bytes == 4 && value == 44, "%zu bytes, %u after two launches", bytes, value);

	std::vector<unsigned> line(128), back(128);
	for (unsigned i = 0; i < 128; i++) {
		line[i] = i;
		back[i] = 127 - i;
	}
	device_buffer<unsigned> dline(line);
	void *reverse_args[] = { &dline.ptr };
	HIP_OK(hipModuleLaunchKernel(reverse, 1, 1, 1, 128, 1, 1, 128 * 4, 0, reverse_args,
				     nullptr));
	HIP_OK(hipDeviceSynchronize());
	check_equal("dynamic LDS", dline.download(), back);

	hipFunction_t none;
	CHECK(hipModuleGetFunction(&none, module, "no_such_kernel") == hipErrorNotFound, "%s", how);
	(void)hipGetLastError();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: module CODE_OBJECT\n");
		return 2;
	}
	hipModule_t module;
	HIP_OK(hipInit(0));
	HIP_OK(hipModuleLoad(&module, argv[1]));
	use(module, "from a file");
	HIP_OK(hipModuleUnload(module));

	std::vector<char> image = read_all(argv[1]);
	HIP_OK(hipModuleLoadData(&module, image.data()));
	use(module, "from memory");
	HIP_OK(hipModuleUnload(module));

	CHECK(hipModuleLoad(&module, "/nonexistent.co") == hipErrorFileNotFound, "no such file");
	(void)hipGetLastError();
	return finish();
}
