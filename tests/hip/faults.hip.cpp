/*
 * What a kernel can do wrong. Each case runs in a child, which must end by SIGABRT with the text
 * that ROCr or HIP prints on hardware, and with ours: which kernel, where, and what was wrong; none may hang.
 */
#include "hiptest.h"

#include <cstdarg>

/* Each on one line, so that the line is known: the test is compiled with -g. */
/* clang-format off */
__global__ void store_at(unsigned *p) { *p = 1; } enum { STORE_LINE = __LINE__ };
__global__ void load_from(const unsigned *p, unsigned *out) { *out = *p; } enum { LOAD_LINE = __LINE__ };
__device__ static inline void put(unsigned *p) { *p = threadIdx.x; } enum { PUT_LINE = __LINE__ };
__global__ void add_to(unsigned *p) { atomicAdd(p, 1u); } enum { ADD_LINE = __LINE__ };
/* clang-format on */

__global__ void one_bad_lane(unsigned *good, unsigned *bad)
{
	bool is_bad = blockIdx.x == 2 && blockIdx.y == 1 && threadIdx.x == 101;

	put(is_bad ? bad : good + threadIdx.x);
}

__global__ void illegal(unsigned *out)
{
	/* VOP1 with an opcode that no gfx9 has */
	asm volatile(".long 0x7e01fe00");
	*out = 1;
}

__global__ void sample(hipTextureObject_t t, float *out)
{
#if defined(__gfx942__) || defined(__gfx950__) /* have no image instructions, and HIP refuses to compile them */
	(void)t;
	out[threadIdx.x] = 0;
#else
	out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);
#endif
}

__global__ void give_up(unsigned *out)
{
	if (threadIdx.x == 3)
		__builtin_trap();
	*out = 1;
}

__global__ void far_jump(unsigned *out)
{
	unsigned long long nowhere = 0x10;

	asm volatile("s_setpc_b64 %0" ::"s"(nowhere));
	*out = 1;
}

__global__ void beyond_lds(unsigned *out, unsigned index)
{
	__shared__ unsigned words[64];
	unsigned *p = words;

	words[threadIdx.x] = *out;
	asm volatile("" : "+v"(p)); /* now a pointer to anything */
	p[threadIdx.x == 5 ? index : threadIdx.x] = 7;
	*out = words[1];
}

/* A text that the parent has to find in what this child prints on stderr. */
__attribute__((format(printf, 1, 2))) static void expect(const char *format, ...)
{
	va_list args;

	printf("expect: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

#define FILE_NAME "faults.hip.cpp"

static int wait_for_the_end()
{
	hipError_t e = hipGetLastError();

	if (e == hipSuccess)
		e = hipDeviceSynchronize();
	printf("came back with %s\n", hipGetErrorName(e));
	return 3;
}

/* The first address behind a block of its own; what follows it is no memory. */
static int store_out_of_bounds()
{
	const size_t bytes = 64 << 20;
	char *p;

	HIP_OK(hipMalloc(&p, bytes));
	expect("memory fault: store_at(unsigned int*) cannot write to %p: it is not mapped "
	       "on the GPU\n",
	       p + bytes + 400);
	expect("nearest allocation: %p, %zu bytes of device memory; the address is 400 bytes "
	       "past its end\n",
	       p, bytes);
	expect("instruction: global_store_dword v");
	expect(FILE_NAME ":%d (pc 0x", STORE_LINE);
	expect(", store_at(unsigned int*) + 0x");
	expect("workgroup (0, 0, 0) of 1x1x1, wave 0, lane 0, on node 1\n");
	store_at<<<1, 1>>>((unsigned *)(p + bytes + 400));
	return wait_for_the_end();
}

static int load_out_of_bounds()
{
	device_buffer<unsigned> x(64);

	expect("memory fault: load_from(unsigned int const*, unsigned int*) cannot read from "
	       "0x7000000000: it is not");
	expect("instruction: s_load_dword s");
	expect(FILE_NAME ":%d (pc 0x", LOAD_LINE);
	expect("workgroup (0, 0, 0) of 1x1x1, wave 0, on node 1\n"); /* a scalar load is no lane's */
	load_from<<<1, 1>>>((const unsigned *)0x7000000000ull, x.ptr);
	return wait_for_the_end();
}

static int null_pointer()
{
	expect("memory fault: store_at(unsigned int*) cannot write to 0x0: a null pointer\n");
	store_at<<<1, 1>>>(nullptr);
	return wait_for_the_end();
}

static int host_pointer()
{
	unsigned *host =
		(unsigned *)malloc(1 << 22); /* never registered: no GPU without XNACK can see it */

	memset(host, 0, 1 << 22);
	expect("cannot write to %p: it is not mapped on the GPU\n", host + 1000);
	store_at<<<1, 1>>>(host + 1000);
	int code = wait_for_the_end();
	free(host);
	return code;
}

static int freed_memory()
{
	unsigned *x;

	HIP_OK(hipMalloc(&x,
			 64 << 20)); /* large: it has a block of its own that really goes away */
	store_at<<<1, 1>>>(x);
	LAUNCH_OK();
	HIP_OK(hipFree(x));
	expect("cannot write to %p: it is not mapped on the GPU\n", x);
	store_at<<<1, 1>>>(x);
	return wait_for_the_end();
}

static int lane_out_of_bounds()
{
	device_buffer<unsigned> x(128);

	expect("one_bad_lane(unsigned int*, unsigned int*) cannot write to 0x6000000000: it is not "
	       "mapped on the GPU\n");
	expect(FILE_NAME ":%d -> ", PUT_LINE); /* inlined, and from where */
	expect("workgroup (2, 1, 0) of 3x2x1, wave 1, lane 37, on node 1\n");
	one_bad_lane<<<dim3(3, 2), 128>>>(x.ptr, (unsigned *)0x6000000000ull);
	return wait_for_the_end();
}

static int misaligned()
{
	device_buffer<unsigned> x(64);

	expect("cannot write to %p: it is not aligned to the size of the access\n",
	       (char *)(x.ptr + 1) + 2);
	expect("; the address is at byte ");
	expect("instruction: global_atomic_add v");
	expect(FILE_NAME ":%d (pc 0x", ADD_LINE);
	add_to<<<1, 1>>>((unsigned *)((char *)(x.ptr + 1) + 2));
	return wait_for_the_end();
}

static int lds_out_of_bounds()
{
	device_buffer<unsigned> x(64);

	expect("aperture violation: beyond_lds(unsigned int*, unsigned int) cannot write byte "
	       "400000 of LDS: its "
	       "workgroup has 256 bytes\n");
	expect("instruction: flat_store_dword v");
	expect("workgroup (0, 0, 0) of 1x1x1, wave 0, lane 5, on node 1\n");
	beyond_lds<<<1, 64>>>(x.ptr, 100000);
	return wait_for_the_end();
}

static int illegal_instruction()
{
	device_buffer<unsigned> x(64);

	expect("illegal instruction in illegal(unsigned int*)\n");
	expect("instruction: 0x7e01fe00, which gfx9");
	expect("workgroup (0, 0, 0) of 1x1x1, wave 0, on node 1\n");
	illegal<<<1, 64>>>(x.ptr);
	return wait_for_the_end();
}

static int image_instruction()
{
	hipChannelFormatDesc format = hipCreateChannelDesc<float>();
	hipTextureDesc how = {};
	hipResourceDesc what = {};
	hipTextureObject_t t;
	int images = 0;

	HIP_OK(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0));
	if (!images)
		return EXIT_SKIP;
	device_buffer<float> x(64);
	what.resType = hipResourceTypeArray;
	HIP_OK(hipMallocArray(&what.res.array.array, &format, 64, 4));
	HIP_OK(hipCreateTextureObject(&t, &what, &how, nullptr));
	expect("image instruction: sample(__hip_texture*, float*) uses a texture or surface, "
	       "which the software GPU does not support");
	expect("instruction: image_sample");
	sample<<<1, 64>>>(t, x.ptr);
	return wait_for_the_end();
}

static int device_trap()
{
	device_buffer<unsigned> x(64);

	expect("trap 2: give_up(unsigned int*) called abort() or __builtin_trap(), or an assertion "
	       "failed\n");
	expect("instruction: s_trap 2 at ");
	give_up<<<1, 64>>>(x.ptr);
	return wait_for_the_end();
}

static int jump_to_nowhere()
{
	device_buffer<unsigned> x(64);

	expect("memory fault: far_jump(unsigned int*) cannot execute at 0x10: no memory "
	       "is mapped there\n");
	far_jump<<<1, 64>>>(x.ptr);
	return wait_for_the_end();
}

static int silent()
{
	setenv("WAVESCOPE_LOG", "none", 1);
	store_at<<<1, 1>>>(nullptr);
	return wait_for_the_end();
}

struct fault_case {
	const char *name;
	int (*body)();
	const char *says;
};

static const fault_case cases[] = {
	{ "store out of bounds", store_out_of_bounds, "Memory access fault by GPU node" },
	{ "load out of bounds", load_out_of_bounds, "Memory access fault by GPU node" },
	{ "null pointer", null_pointer, "Memory access fault by GPU node" },
	{ "one bad lane", lane_out_of_bounds, "Memory access fault by GPU node" },
	{ "host pointer", host_pointer, "Memory access fault by GPU node" },
	{ "freed memory", freed_memory, "Memory access fault by GPU node" },
	{ "jump to nowhere", jump_to_nowhere, "Memory access fault by GPU node" },
	{ "illegal instruction", illegal_instruction, "ILLEGAL_INSTRUCTION" },
	{ "misaligned", misaligned, "Memory access fault by GPU node" },
	{ "LDS out of bounds", lds_out_of_bounds, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION" },
	{ "image instruction", image_instruction, "ILLEGAL_INSTRUCTION" },
	{ "trap", device_trap, "HSA_STATUS_ERROR_EXCEPTION" },
	{ "silent", silent, "Memory access fault by GPU node" },
};

/* The texts that the child announced are there, beside the announcement; without any, we say nothing. */
static void check_expected(const fault_case &c, const child_result &r)
{
	static const std::string mark = "expect: ";
	size_t at = 0, n = 0;

	while ((at = r.text.find(mark, at)) != std::string::npos) {
		size_t end = r.text.find('\n', at += mark.size());
		std::string want = r.text.substr(at, end - at);
		bool ends_line = r.text[end + 1] == '\n'; /* announced with its own end of line */

		if (ends_line)
			want += '\n';
		/* the first one is the announcement */
		size_t found = r.text.find(want, end + 1);
		CHECK(found != std::string::npos, "%s: no '%s'", c.name, want.c_str());
		n++;
	}
	CHECK(n || !r.says("wavescope gpu"), "%s: says something", c.name);
}

int main(int argc, char **argv)
{
	/* one case by its name, in this process: to look at it by hand */
	for (const fault_case &c : cases)
		if (argc == 2 && !strcmp(argv[1], c.name))
			return c.body();

	for (const fault_case &c : cases) {
		int n_before = n_failed_checks;
		child_result r = run_child(c.body);

		if (r.exited(EXIT_SKIP)) {
			printf("%s: not on this GPU\n", c.name);
			continue;
		}
		CHECK(r.aborted(), "%s: status 0x%x", c.name, r.status);
		CHECK(r.says(c.says), "%s: no '%s'", c.name, c.says);
		check_expected(c, r);
		if (n_failed_checks != n_before)
			show_child(c.name, r);
		else
			printf("%s: ok\n", c.name);
	}
	return finish();
}
