/* Occupancy queries follow from the kernel's registers and LDS and from the device's limits. */
#include <algorithm>

#include "hiptest.h"

__global__ void light(unsigned *x) { x[threadIdx.x] = 1; }

__global__ void heavy_lds(unsigned *x)
{
	__shared__ unsigned a[5000]; /* 20000 of 65536 bytes: three fit */

	a[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	x[threadIdx.x] = a[(threadIdx.x * 13) % 256];
}

/* All accumulation registers behind few others: their last granule reaches beyond the 256th. */
__global__ void __launch_bounds__(64) accumulate(unsigned *x)
{
	unsigned value = x[threadIdx.x], back;

	asm volatile("v_accvgpr_write_b32 a255, %1\n\ts_nop 2\n\tv_accvgpr_read_b32 %0, a255"
		     : "=v"(back)
		     : "v"(value)
		     : "a255");
	x[threadIdx.x] = back + 1;
}

static void all_accumulation_registers_can_be_had()
{
	std::vector<unsigned> values(64), want(64);

	for (unsigned i = 0; i < 64; i++) {
		values[i] = i * 77;
		want[i] = i * 77 + 1;
	}
	device_buffer<unsigned> x(values);
	accumulate<<<1, 64>>>(x.ptr);
	HIP_OK(hipDeviceSynchronize());
	check_equal("a255 written and read", x.download(), want);
}

int main()
{
	hipDeviceProp_t prop;
	hipFuncAttributes attr;
	int n;

	HIP_OK(hipGetDeviceProperties(&prop, 0));
	CHECK(prop.warpSize == 64, "%d", prop.warpSize);
	CHECK(prop.multiProcessorCount > 0, "%d", prop.multiProcessorCount);
	size_t lds_bytes = strstr(prop.gcnArchName, "gfx950") ? 163840 : 65536;
	CHECK(prop.sharedMemPerBlock == lds_bytes, "%zu", prop.sharedMemPerBlock);
	CHECK(prop.maxThreadsPerBlock == 1024, "%d", prop.maxThreadsPerBlock);

	/* HIP counts with eight waves per SIMD, also on MI100, which has room for ten. */
	int waves_per_cu = std::min(prop.maxThreadsPerMultiProcessor / prop.warpSize, 32);
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, light, 64, 0));
	CHECK(n == waves_per_cu, "%d workgroups of one wave, %d waves per CU", n, waves_per_cu);
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, light, 256, 0));
	CHECK(n == waves_per_cu / 4, "%d workgroups of four waves", n);
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, light, 64, lds_bytes / 2));
	CHECK(n == 2, "%d with half of the LDS each", n);
	HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&n, heavy_lds, 64, 0));
	CHECK(n == (int)(lds_bytes / 20480), "%d with 20000 bytes of static LDS, by granules", n);

	int grid, block;
	HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, light, 0, 0));
	CHECK(block > 0 && block % 64 == 0 && block <= 1024, "block %d", block);
	CHECK(grid > 0 && grid % prop.multiProcessorCount == 0, "grid %d", grid);

	HIP_OK(hipFuncGetAttributes(&attr, (const void *)heavy_lds));
	CHECK(attr.sharedSizeBytes == 20000, "%zu", attr.sharedSizeBytes);
	CHECK(attr.maxThreadsPerBlock == 1024, "%d", attr.maxThreadsPerBlock);
	CHECK(attr.numRegs > 0, "%d", attr.numRegs);
	all_accumulation_registers_can_be_had();
	return finish();
}
