/*
 * vcopy: copy a vector of doubles, one element per work-item.
 *
 * The lines on stdout, the kernel's name and its arguments are the ones that
 * profiler guides show for this workload, so that their examples can be typed
 * as they stand. PASS or FAIL therefore goes to stderr.
 */
#include "check.h"

/*
 * workgroup_size_x, not blockDim.x: the latter caters for partial workgroups
 * and costs four scalar instructions more. With it the kernel runs the 24
 * instructions per wave that the public hardware recordings of this workload
 * show, so counters can be compared with them.
 */
__global__ void vecCopy(double *a, double *b, double *c, int n, int stride)
{
	int id = blockIdx.x * __builtin_amdgcn_workgroup_size_x() + threadIdx.x;

	(void)b;
	(void)stride;
	if (id < n)
		c[id] = a[id];
}

int main(int argc, char **argv)
{
	long n = 1048576, block = 256, iterations = 1, device = 0;
	const option_row rows[] = {
		{ 'n', &n, 1, "elements to copy" },
		{ 'b', &block, 1, "work-items per workgroup" },
		{ 'i', &iterations, 1, "kernel launches" },
		{ 'd', &device, 0, "device to run on" },
	};
	options(argc, argv, "copy a vector of doubles on the GPU", rows);

	HIP_OK(hipSetDevice((int)device));
	printf("vcopy testing on GCD %ld\n", device);

	size_t n_bytes = n * sizeof(double);
	double *host_in = (double *)malloc(n_bytes);
	double *host_out = (double *)calloc(n, sizeof(double));
	if (!host_in || !host_out) {
		fprintf(stderr, "vcopy: no host memory for %ld elements\n", n);
		return 1;
	}
	for (long i = 0; i < n; i++)
		host_in[i] = i * 0.5 + 1.0;
	printf("Finished allocating vectors on the CPU\n");

	double *in, *spare, *out;
	HIP_OK(hipMalloc(&in, n_bytes));
	HIP_OK(hipMalloc(&spare, n_bytes));
	HIP_OK(hipMalloc(&out, n_bytes));
	printf("Finished allocating vectors on the GPU\n");

	HIP_OK(hipMemcpy(in, host_in, n_bytes, hipMemcpyHostToDevice));
	printf("Finished copying vectors to the GPU\n");

	long grid = (n + block - 1) / block;
	printf("sw thinks it moved %f KB per wave\n", 64 * 2 * sizeof(double) / 1024.0);
	printf("Total threads: %ld, Grid Size: %ld block Size:%ld, Wavefronts:%ld:\n", n, grid,
	       block, (n + 63) / 64);

	printf("Launching the  kernel on the GPU\n");
	for (long i = 0; i < iterations; i++)
		vecCopy<<<grid, block>>>(in, spare, out, (int)n, 1);
	LAUNCH_OK();
	printf("Finished executing kernel\n");

	HIP_OK(hipMemcpy(host_out, out, n_bytes, hipMemcpyDeviceToHost));
	printf("Finished copying the output vector from the GPU to the CPU\n");

	long n_wrong = 0;
	for (long i = 0; i < n; i++)
		n_wrong += host_out[i] != host_in[i];

	printf("Releasing GPU memory\n");
	HIP_OK(hipFree(in));
	HIP_OK(hipFree(spare));
	HIP_OK(hipFree(out));
	printf("Releasing CPU memory\n");
	free(host_in);
	free(host_out);

	if (n_wrong)
		fprintf(stderr, "vcopy: %ld of %ld elements differ\n", n_wrong, n);
	fprintf(stderr, n_wrong ? "FAIL\n" : "PASS\n");
	return n_wrong ? 1 : 0;
}
