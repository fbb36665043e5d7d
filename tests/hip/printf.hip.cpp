/* Device printf: every kind of argument, all lanes, more output than one buffer holds. */
#include "hiptest.h"

__global__ void speak(const char *, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		printf("line %d of %u: %s %c %.3f %lld 0x%llx%%\n", i, (unsigned)n,
		       i % 2 ? "odd" : "even", 'a' + i % 26, i * 0.5, -10000000000ll - i,
		       0x123456789abcdefull + i);
}

__global__ void flood() { printf("flood %u\n", blockIdx.x * blockDim.x + threadIdx.x); }

static int speak_child()
{
	speak<<<2, 64>>>(nullptr, 100);
	LAUNCH_OK();
	return 0;
}

static int flood_child()
{
	flood<<<32, 64>>>();
	LAUNCH_OK();
	return 0;
}

int main()
{
	child_result r = run_child(speak_child);
	CHECK(r.exited(0), "status 0x%x", r.status);
	for (int i = 0; i < 100; i++) {
		char want[200];

		snprintf(want, sizeof(want), "line %d of 100: %s %c %.3f %lld 0x%llx%%\n", i,
			 i % 2 ? "odd" : "even", 'a' + i % 26, i * 0.5, -10000000000ll - i,
			 0x123456789abcdefull + i);
		CHECK(r.says(want), "missing: %s", want);
	}
	if (n_failed_checks)
		show_child("speak", r);

	r = run_child(flood_child);
	CHECK(r.exited(0), "status 0x%x", r.status);
	int n_missing = 0;
	for (int i = 0; i < 32 * 64; i++)
		n_missing += !r.says(("flood " + std::to_string(i) + "\n").c_str());
	CHECK(n_missing == 0, "%d lines are missing", n_missing);
	return finish();
}
