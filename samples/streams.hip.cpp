/*
 * streams: several streams at once, tied together by events.
 *
 * Every lane of the pipeline has a stream and a pinned buffer: copy in, two
 * kernels, copy out, all asynchronous. At the end one more stream waits for an
 * event of each lane and sums what they left behind. A trace of this program
 * shows copies and kernels of different streams side by side.
 */
#include "check.h"

enum { BLOCK = 256 };

__global__ void square(float *x, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		x[i] = x[i] * x[i];
}

__global__ void add(float *x, float what, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		x[i] += what;
}

__global__ void gather(float *sum, const float *x, int n)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	if (i < n)
		sum[i] += x[i];
}

struct lane {
	hipStream_t stream;
	hipEvent_t started, done;
	float *host, *device;
};

int main(int argc, char **argv)
{
	long n = 20000, n_lanes = 4;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements per stream" },
		{ 's', &n_lanes, 1, "streams" },
	};
	options(argc, argv, "overlapping streams tied together by events", rows);

	size_t n_bytes = n * sizeof(float);
	int grid = (n + BLOCK - 1) / BLOCK;
	std::vector<lane> lanes(n_lanes);
	for (long s = 0; s < n_lanes; s++) {
		lane &l = lanes[s];

		HIP_OK(hipStreamCreateWithFlags(&l.stream, hipStreamNonBlocking));
		HIP_OK(hipEventCreate(&l.started));
		HIP_OK(hipEventCreate(&l.done));
		HIP_OK(hipHostMalloc((void **)&l.host, n_bytes, hipHostMallocDefault));
		HIP_OK(hipMalloc(&l.device, n_bytes));
		for (long i = 0; i < n; i++)
			l.host[i] = (float)((i + s) % 100);
	}
	hipStream_t join;
	hipEvent_t joined;
	HIP_OK(hipStreamCreateWithFlags(&join, hipStreamNonBlocking));
	HIP_OK(hipEventCreate(&joined));
	device_buffer<float> sum(n);
	HIP_OK(hipMemsetAsync(sum.ptr, 0, n_bytes, join));

	for (long s = 0; s < n_lanes; s++) {
		lane &l = lanes[s];

		HIP_OK(hipEventRecord(l.started, l.stream));
		HIP_OK(hipMemcpyAsync(l.device, l.host, n_bytes, hipMemcpyHostToDevice, l.stream));
		square<<<grid, BLOCK, 0, l.stream>>>(l.device, (int)n);
		add<<<grid, BLOCK, 0, l.stream>>>(l.device, (float)s, (int)n);
		HIP_OK(hipMemcpyAsync(l.host, l.device, n_bytes, hipMemcpyDeviceToHost, l.stream));
		HIP_OK(hipEventRecord(l.done, l.stream));
		HIP_OK(hipStreamWaitEvent(join, l.done, 0));
		gather<<<grid, BLOCK, 0, join>>>(sum.ptr, l.device, (int)n);
		HIP_OK(hipGetLastError());
	}
	HIP_OK(hipEventRecord(joined, join));
	HIP_OK(hipEventSynchronize(joined));

	std::vector<float> want_sum(n, 0.0f);
	bool pass = true;
	for (long s = 0; s < n_lanes; s++) {
		lane &l = lanes[s];
		std::vector<float> want(n);
		float alone_ms, until_join_ms;

		for (long i = 0; i < n; i++) {
			want[i] = (float)((i + s) % 100) * (float)((i + s) % 100) + (float)s;
			want_sum[i] += want[i];
		}
		pass &= !count_wrong("stream", std::vector<float>(l.host, l.host + n), want, 0.0);
		HIP_OK(hipEventElapsedTime(&alone_ms, l.started, l.done));
		HIP_OK(hipEventElapsedTime(&until_join_ms, l.started, joined));
		if (alone_ms < 0.0f || until_join_ms < alone_ms) {
			fprintf(stderr, "stream %ld: joined before it was done: %g ms, %g ms\n", s,
				(double)alone_ms, (double)until_join_ms);
			pass = false;
		}
	}
	pass &= !count_wrong("sum", sum.download(), want_sum, 0.0);

	for (lane &l : lanes) {
		HIP_OK(hipFree(l.device));
		HIP_OK(hipHostFree(l.host));
		HIP_OK(hipEventDestroy(l.started));
		HIP_OK(hipEventDestroy(l.done));
		HIP_OK(hipStreamDestroy(l.stream));
	}
	HIP_OK(hipEventDestroy(joined));
	HIP_OK(hipStreamDestroy(join));
	printf("%ld streams of %ld elements\n", n_lanes, n);
	return verdict(pass);
}
