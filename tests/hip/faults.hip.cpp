/*
 * What a kernel can do wrong. Each case runs in a child, which must end by SIGABRT with the text
 * that ROCr or HIP prints on hardware; none may hang.
 */
#include "hiptest.h"

__global__ void store_at(unsigned *p) { *p = 1; }

__global__ void load_from(const unsigned *p, unsigned *out) { *out = *p; }

__global__ void one_bad_lane(unsigned *good, unsigned *bad)
{
	unsigned *p = threadIdx.x == 37 ? bad : good + threadIdx.x;

	*p = threadIdx.x;
}

__global__ void illegal(unsigned *out)
{
	/* VOP1 with an opcode that no gfx9 has */
	asm volatile(".long 0x7e01fe00");
	*out = 1;
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

static int wait_for_the_end()
{
	hipError_t e = hipGetLastError();

	if (e == hipSuccess)
		e = hipDeviceSynchronize();
	printf("came back with %s\n", hipGetErrorName(e));
	return 3;
}

static int store_out_of_bounds()
{
	device_buffer<unsigned> x(64);

	store_at<<<1, 1>>>(x.ptr + (1ull << 38)); /* 1 TiB further: nothing is there */
	return wait_for_the_end();
}

static int load_out_of_bounds()
{
	device_buffer<unsigned> x(64);

	load_from<<<1, 1>>>((const unsigned *)0x7000000000ull, x.ptr);
	return wait_for_the_end();
}

static int null_pointer()
{
	store_at<<<1, 1>>>(nullptr);
	return wait_for_the_end();
}

static int host_pointer()
{
	unsigned *host =
		(unsigned *)malloc(1 << 22); /* never registered: no GPU without XNACK can see it */

	memset(host, 0, 1 << 22);
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
	store_at<<<1, 1>>>(x);
	return wait_for_the_end();
}

static int lane_out_of_bounds()
{
	device_buffer<unsigned> x(64);

	one_bad_lane<<<1, 64>>>(x.ptr, (unsigned *)0x6000000000ull);
	return wait_for_the_end();
}

static int illegal_instruction()
{
	device_buffer<unsigned> x(64);

	illegal<<<1, 64>>>(x.ptr);
	return wait_for_the_end();
}

static int device_trap()
{
	device_buffer<unsigned> x(64);

	give_up<<<1, 64>>>(x.ptr);
	return wait_for_the_end();
}

static int jump_to_nowhere()
{
	device_buffer<unsigned> x(64);

	far_jump<<<1, 64>>>(x.ptr);
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
	{ "trap", device_trap, "HSA_STATUS_ERROR_EXCEPTION" },
};

int main(int argc, char **argv)
{
	/* one case by its name, in this process: to look at it by hand */
	for (const fault_case &c : cases)
		if (argc == 2 && !strcmp(argv[1], c.name))
			return c.body();

	for (const fault_case &c : cases) {
		int n_before = n_failed_checks;
		child_result r = run_child(c.body);

		CHECK(r.aborted(), "%s: status 0x%x", c.name, r.status);
		CHECK(r.says(c.says), "%s: no '%s'", c.name, c.says);
		if (n_failed_checks != n_before)
			show_child(c.name, r);
		else
			printf("%s: ok\n", c.name);
	}
	return finish();
}
