/*
 * gridsync: one cooperative kernel whose workgroups wait for each other.
 *
 * All time steps of a ring of cells run in a single launch. Between steps the
 * whole grid synchronises, because each cell needs its neighbours' new values,
 * also across workgroups. As many workgroups are launched as fit on the device
 * at once, up to -g; that is what a cooperative launch requires.
 */
#include "check.h"
#include <hip/hip_cooperative_groups.h>

enum { BLOCK = 128 };

__global__ void ring(unsigned *a, unsigned *b, int n, int n_steps)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;

	for (int s = 0; s < n_steps; s++) {
		for (int i = first; i < n; i += stride)
			b[i] = a[i] + 3 * a[(i + 1) % n] + 5 * a[(i + n - 1) % n];
		grid.sync();
		unsigned *t = a;
		a = b;
		b = t;
	}
}

int main(int argc, char **argv)
{
	long n = 5000, n_steps = 8, grid = 16;
	const option_row rows[] = {
		{ 'n', &n, 1, "cells" },
		{ 's', &n_steps, 1, "time steps, each ends in a grid sync" },
		{ 'g', &grid, 1, "workgroups of 128" },
	};
	options(argc, argv, "grid synchronisation in a cooperative launch", rows);

	hipDeviceProp_t prop;
	HIP_OK(hipGetDeviceProperties(&prop, 0));
	if (!prop.cooperativeLaunch) {
		fprintf(stderr, "gridsync: this device has no cooperative launch\n");
		return verdict(false);
	}
	int per_cu = 0;
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, ring, BLOCK, 0));
	if (grid > (long)per_cu * prop.multiProcessorCount)
		grid = (long)per_cu * prop.multiProcessorCount;

	std::vector<unsigned> host(n), next(n);
	number_source numbers;
	for (unsigned &x : host)
		x = numbers.next();

	device_buffer<unsigned> a(host), b(n);
	b.clear(0xff);
	int n_int = (int)n, steps_int = (int)n_steps;
	void *args[] = { &a.ptr, &b.ptr, &n_int, &steps_int };
	HIP_OK(hipLaunchCooperativeKernel((void *)ring, dim3(grid), dim3(BLOCK), args, 0, 0));
	LAUNCH_OK();

	for (long s = 0; s < n_steps; s++) {
		for (long i = 0; i < n; i++)
			next[i] = host[i] + 3 * host[(i + 1) % n] + 5 * host[(i + n - 1) % n];
		host.swap(next);
	}
	bool pass = !count_wrong("ring", n_steps % 2 ? b.download() : a.download(), host, 0.0);
	printf("%ld workgroups, %ld grid syncs\n", grid, n_steps);
	return verdict(pass);
}
