/* Cooperative launch: grid.sync() many times, over as many workgroups as fit; too many is an error.
 */
#include "hiptest.h"
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

/* Every round each workgroup adds to its neighbour's cell, then all must see all of it. */
__global__ void rounds(unsigned *cells, unsigned *n_wrong, int n_rounds)
{
	cg::grid_group grid = cg::this_grid();
	unsigned me = blockIdx.x, n = gridDim.x;

	for (int r = 1; r <= n_rounds; r++) {
		if (threadIdx.x == 0)
			atomicAdd(&cells[(me + r) % n], 1u);
		grid.sync();
		if (threadIdx.x < n && __hip_atomic_load(&cells[threadIdx.x], __ATOMIC_RELAXED,
							 __HIP_MEMORY_SCOPE_AGENT) != (unsigned)r)
			atomicAdd(n_wrong, 1u);
		grid.sync();
	}
}

__global__ void ranks(unsigned *out)
{
	cg::grid_group grid = cg::this_grid();
	cg::thread_block block = cg::this_thread_block();

	out[grid.thread_rank()] = grid.size() * 1000 + block.thread_rank();
	grid.sync();
	out[grid.thread_rank()] += grid.is_valid();
}

static void run(int grid, int block, int n_rounds)
{
	device_buffer<unsigned> cells(grid), n_wrong(1);

	cells.clear();
	n_wrong.clear();
	void *args[] = { &cells.ptr, &n_wrong.ptr, &n_rounds };
	HIP_OK(hipLaunchCooperativeKernel((void *)rounds, dim3(grid), dim3(block), args, 0, 0));
	LAUNCH_OK();
	CHECK(n_wrong.download()[0] == 0, "%d x %d: %u wrong", grid, block, n_wrong.download()[0]);
	check_equal("cells", cells.download(), std::vector<unsigned>(grid, n_rounds));
}

int main()
{
	hipDeviceProp_t prop;
	HIP_OK(hipGetDeviceProperties(&prop, 0));
	if (!prop.cooperativeLaunch)
		skip("the device has no cooperative launch");

	run(1, 64, 3);
	run(7, 128, 10);
	run(64, 256, 10);

	int per_cu = 0;
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, rounds, 256, 0));
	int most = per_cu * prop.multiProcessorCount;
	run(most < 300 ? most : 300, 256, 3);

	device_buffer<unsigned> out(6 * 64);
	void *args[] = { &out.ptr };
	HIP_OK(hipLaunchCooperativeKernel((void *)ranks, dim3(6), dim3(64), args, 0, 0));
	LAUNCH_OK();
	std::vector<unsigned> want(6 * 64);
	for (unsigned i = 0; i < want.size(); i++)
		want[i] = 6 * 64 * 1000 + i % 64 + 1;
	check_equal("ranks", out.download(), want);

	device_buffer<unsigned> cells(most + 1), n_wrong(1);
	int one = 1;
	void *too_many[] = { &cells.ptr, &n_wrong.ptr, &one };
	hipError_t e = hipLaunchCooperativeKernel((void *)rounds, dim3(most + 1), dim3(256),
						  too_many, 0, 0);
	CHECK(e == hipErrorCooperativeLaunchTooLarge, "%d workgroups: %s", most + 1,
	      hipGetErrorName(e));
	(void)hipGetLastError();
	return finish();
}
