/*
 * calls: a HIP program whose every API call is known in advance. Says what HIP answered, so that
 * two runs can be compared; the test knows the list of calls.
 */
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <thread>

__global__ void fill(int *to, int value)
{
	to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void in_a_thread(int *buffer)
{
	hipStream_t mine;

	printf("thread: last error %d\n", hipGetLastError());
	printf("thread: create %d\n", hipStreamCreateWithFlags(&mine, hipStreamNonBlocking));
	fill<<<dim3(2, 1, 1), dim3(64, 1, 1), 0, mine>>>(buffer, 5);
	printf("thread: launch %d\n", hipGetLastError());
	printf("thread: sync %d\n", hipStreamSynchronize(mine));
	printf("thread: destroy %d\n", hipStreamDestroy(mine));
}

int main()
{
	hipExtent extent = make_hipExtent(64, 4, 2);
	hipPitchedPtr pitched;
	hipDeviceProp_t properties;
	hipEvent_t start, stop;
	hipStream_t stream;
	float ms = -1;
	int host[128];
	int *buffer, n = 0;

	printf("count %d", hipGetDeviceCount(&n));
	printf(" %d\n", n);
	printf("properties %d\n", hipGetDeviceProperties(&properties, 0));
	printf("malloc %d\n", hipMalloc((void **)&buffer, sizeof(host)));
	printf("stream %d\n", hipStreamCreate(&stream));
	printf("events %d", hipEventCreate(&start));
	printf(" %d\n", hipEventCreate(&stop));
	printf("record %d\n", hipEventRecord(start, stream));
	fill<<<dim3(2, 1, 1), dim3(64, 1, 1), 0, stream>>>(buffer, 3);
	printf("launch %d\n", hipGetLastError());
	printf("record %d\n", hipEventRecord(stop, stream));
	printf("copy %d\n", hipMemcpyAsync(host, buffer, sizeof(host), hipMemcpyDeviceToHost, stream));
	printf("sync %d\n", hipStreamSynchronize(stream));
	printf("elapsed %d", hipEventElapsedTime(&ms, start, stop));
	printf(" %d\n", ms >= 0);
	printf("values %d %d\n", host[0], host[127]);
	/* errors, and what is left of them */
	printf("bad device %d\n", hipSetDevice(77));
	printf("peek %d", hipPeekAtLastError());
	printf(" get %d", hipGetLastError());
	printf(" get %d\n", hipGetLastError());
	printf("bad free %d", hipFree((void *)0x10));
	printf(" get %d\n", hipGetLastError());
	printf("name %s", hipGetErrorName(hipErrorInvalidDevice));
	printf(" string %s\n", hipGetErrorString(hipErrorInvalidDevice));
	/* by value and by name */
	printf("3d %d", hipMalloc3D(&pitched, extent));
	printf(" %d\n", hipMemset3D(pitched, 1, extent));
	printf("module %d\n", hipModuleLoad((hipModule_t *)host, "/nowhere/at all.co"));
	printf("get %d\n", hipGetLastError());
	std::thread(in_a_thread, buffer).join();
	printf("free %d %d\n", hipFree(pitched.ptr), hipFree(buffer));
	printf("events %d", hipEventDestroy(start));
	printf(" %d\n", hipEventDestroy(stop));
	printf("stream %d\n", hipStreamDestroy(stream));
	return 3;
}
